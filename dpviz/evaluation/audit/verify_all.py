"""Every learner, every flag, three epsilons: the run behind everything that is said about claims."""

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from dpviz.errors import Cancelled, DpvizError
from dpviz.evaluation.audit.attack import LowerBound, audit
from dpviz.evaluation.audit.findings import AuditResult, worst_of
from dpviz.evaluation.audit.planned import typical
from dpviz.evaluation.audit.verdicts import Facts, SearchedPlace, StoredRun
from dpviz.evaluation.audit.verify import COUNTEREXAMPLES, QUICK_UNIVERSES, UNIVERSES, Place, verify_each
from dpviz.learners import get_learner, registry
from dpviz.progress import Stop
from dpviz.results.verdict import right_guesses
from dpviz.training.contract import LearnerSpec
from dpviz.training.params import controls_of
from dpviz.version import VERSION

EPSILONS = (0.1, 1.0, 3.0)
#: Where epsilon changes nothing.
_ANY_EPSILON = (1.0,)
AUDIT_SEED = 20260101
#: Boosted trees whose laws tell one canary; those whose laws are not known, and how many canaries a draw of them has.
KNOWN_ROUNDS, UNKNOWN_ROUNDS, CANARIES = ("s-gbdt",), ("s-gbdt-published", "dpboost"), 32
#: Draws of an attack: of one tree, of a forest, of boosted trees with many canaries and with one (a draw of which takes as long
#: as hundreds of trees), and of a learner without privacy, which gives itself away at once.
DRAWS, FOREST_DRAWS, BOOSTED_DRAWS, ROUNDS_DRAWS, OPEN_DRAWS = 4000, 400, 160, 1600, 80
#: Of the quickest learners so many at epsilon 1, and more at a smaller one, which is harder to show: at most so many.
QUICK_DRAWS = 8000
MOST_DRAWS = {"majority": 512_000, "pf-tree": 192_000, "dp-mean": 96_000, "diffprivlib-tree": 96_000}

Tell = Callable[[float, str], None]


def verify_all(
    *,
    date: str,
    learners: Collection[str] = (),
    quick: bool = False,
    progress: Tell | None = None,
    stop: Stop | None = None,
) -> StoredRun:
    """The three facts of every plan of every registered learner.

    `date`: the day of the run.
    `learners`: only these; by default all.
    `quick`: smaller universes, and no attacks.
    `progress`: called with what is searched next.
    `stop`: raises Cancelled.
    """
    plans = list(_plans([get_learner(name) for name in learners] or list(registry().values())))
    facts = []
    for number, plan in enumerate(plans):
        if progress is not None:
            progress(number / len(plans), f"{plan.spec.title} at epsilon {plan.epsilon:g}")
        facts.append(plan.facts(date, quick, stop))
    return StoredRun(tuple(facts))


@dataclass(frozen=True)
class _Plan:
    spec: LearnerSpec
    epsilon: float
    params: dict[str, Any]

    def facts(self, date: str, quick: bool, stop: Stop | None) -> Facts:
        started = time.process_time()
        planned = typical(self.spec, epsilon=self.epsilon, **self.params)
        found, not_searched = _or_reason(lambda: self._search(quick, stop))
        attacked, not_attacked = _or_reason(lambda: self._attack(stop)) if not quick else (None, "Not asked for.")
        return Facts(
            self.spec.name,
            self.params,
            self.epsilon,
            VERSION,
            date,
            planned.claim,
            planned.composed_on_any(),
            right_guesses(planned.composed_on_any(), risk=planned.request.risk(planned.schema)),
            worst_of(found) if found else None,
            tuple(SearchedPlace(item.searched, item.n_sets, item.n_pairs, item.log_ratio) for item in found or ()),
            not_searched,
            attacked,
            not_attacked,
            time.process_time() - started,
        )

    def _search(self, quick: bool, stop: Stop | None) -> list[AuditResult]:
        """Forests are listed whole, run by run, and take smaller universes; without privacy there is little to search for."""
        places: tuple[Place, ...] = (*(QUICK_UNIVERSES if quick or "trees" in self.params else UNIVERSES), *COUNTEREXAMPLES)
        if not self.spec.spends_epsilon:
            places = (QUICK_UNIVERSES[0],)
        return verify_each(self.spec, epsilon=self.epsilon, universes=places, stop=stop, **self.params)

    def _attack(self, stop: Stop | None) -> LowerBound:
        """With one canary; with many, where trees are boosted and no laws are known that would tell one."""
        draws = draws_of(self.spec, self.epsilon) // (4 if self.params and self.spec.name in KNOWN_ROUNDS else 1)
        settings = {"epsilon": self.epsilon, "seed": AUDIT_SEED, "stop": stop, **self.params}
        if self.spec.name in UNKNOWN_ROUNDS:
            return audit(self.spec, canaries=CANARIES, draws=draws, **settings)
        return audit(self.spec, draws=draws, **settings)


def _or_reason(work: Callable[[], Any]) -> tuple[Any, str]:
    """What `work` returns and "", or None and why it cannot."""
    try:
        return work(), ""
    except Cancelled:
        raise
    except DpvizError as reason:
        return None, str(reason)


def draws_of(spec: LearnerSpec, epsilon: float) -> int:
    """Fits of one attack on this learner: as many more as a smaller epsilon is harder to show, where fits are quick."""
    about = controls_of(spec.Params)
    if not spec.spends_epsilon:
        return OPEN_DRAWS
    if spec.name in KNOWN_ROUNDS:
        return round(ROUNDS_DRAWS * min(1.0, epsilon / EPSILONS[-1]))
    if spec.name in MOST_DRAWS:
        return min(MOST_DRAWS[spec.name], round(QUICK_DRAWS * max(1.0, epsilon**-2)))
    if spec.name in UNKNOWN_ROUNDS:
        return BOOSTED_DRAWS
    return FOREST_DRAWS if "trees" in about else DRAWS


def _plans(specs: list[LearnerSpec]) -> Iterator[_Plan]:
    for spec in specs:
        for params in ({}, *_flipped(spec), *_single_tree(spec)):
            yield from (_Plan(spec, epsilon, params) for epsilon in (EPSILONS if spec.spends_epsilon else _ANY_EPSILON))


def _flipped(spec: LearnerSpec) -> list[dict[str, Any]]:
    """Each boolean parameter the other way round."""
    default = spec.Params()
    flags = [name for name, about in controls_of(spec.Params).items() if about.kind == "flag"]
    return [{name: not getattr(default, name)} for name in flags]


def _single_tree(spec: LearnerSpec) -> list[dict[str, Any]]:
    """The smallest forest: one tree can be listed where a hundred cannot."""
    trees = controls_of(spec.Params).get("trees")
    return [{"trees": 1}] if spec.spends_epsilon and trees is not None and trees.kind == "whole" else []
