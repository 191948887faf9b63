"""Every learner, every flag, three epsilons: the run behind everything that is said about claims."""

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from dpviz.errors import Cancelled, DpvizError
from dpviz.evaluation.audit.by_attack import AuditedBound, audit
from dpviz.evaluation.audit.candidate_pairs import lone_pair, small_pair
from dpviz.evaluation.audit.findings import AuditResult, worst_of
from dpviz.evaluation.audit.planned import typical
from dpviz.evaluation.audit.verdicts import Facts, SearchedPlace, StoredRun
from dpviz.evaluation.audit.verify import COUNTEREXAMPLES, QUICK_UNIVERSES, UNIVERSES, Place, verify_each
from dpviz.evaluation.audit.white_box import Wanted
from dpviz.learners import get_learner, registry
from dpviz.progress import Stop
from dpviz.results.verdict import right_guesses
from dpviz.training.contract import LearnerSpec
from dpviz.training.params import controls_of
from dpviz.version import VERSION

EPSILONS = (0.1, 1.0, 3.0)
#: Where epsilon changes nothing.
_ANY_EPSILON = (1.0,)
#: Seeds of the attacks that choose how to attack, and of those that count: whoever repeats the run sees the same numbers.
PILOT_SEED, AUDIT_SEED = 20260102, 20260101
#: Canaries in one run, from which the pilots choose.
CANARY_COUNTS = (8, 32)
#: Pilots have this share of the draws, and only compare.
PILOT_SHARE, PILOT_BETA = 0.2, 0.2
#: Draws of an attack: of one tree, of a forest, of boosted trees (a draw of which takes as long as hundreds of trees), and of a
#: learner without privacy, which gives itself away at once.
DRAWS, FOREST_DRAWS, BOOSTED_DRAWS, OPEN_DRAWS = 8000, 800, 160, 80
#: A white-box attack shows this share of what is proved, and may take so many times as many draws.
UNTIL, TIMES = 0.8, 20

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

    def _attack(self, stop: Stop | None) -> AuditedBound:
        """White-box where a proved loss can be shown so; else by what is published, beside what could be shown."""
        planned, draws = typical(self.spec, epsilon=self.epsilon, **self.params), TIMES * draws_of(self.spec)
        if not self.spec.spends_epsilon or planned.claim.verdict != "holds":
            return self._attack_published(stop)
        how: dict[str, Any] = {"epsilon": self.epsilon, "seed": AUDIT_SEED, "stop": stop, **self.params}
        found, _ = _or_reason(lambda: audit(self.spec, until=UNTIL, draws=draws, **how))
        if found is None:
            found = self._attack_published(stop)
            found = replace(found, ceiling=Wanted.of(planned, UNTIL).ceiling(draws, beta=1 - found.confidence))
        return found

    def _attack_published(self, stop: Stop | None) -> AuditedBound:
        """On the pair, or with as many canaries, as a pilot on draws of its own finds best."""
        task, fits = self.spec.tasks[0], draws_of(self.spec)
        ways: list[dict[str, Any]] = [{"pair": small_pair(task)}]
        if self.spec.spends_epsilon:
            ways += [{"pair": lone_pair(task)}, *({"canaries": canaries} for canaries in CANARY_COUNTS)]

        def attack(way: dict[str, Any], fits: int, **how: Any) -> AuditedBound:
            draws = fits // 2 if "pair" in way else fits
            return audit(self.spec, epsilon=self.epsilon, draws=draws, stop=stop, **way, **how, **self.params)

        def pilot(way: dict[str, Any]) -> float:
            found, _ = _or_reason(lambda: attack(way, max(4, int(PILOT_SHARE * fits)), seed=PILOT_SEED, beta=PILOT_BETA))
            return -1.0 if found is None else found.bound  # such as a learner that needs more than one row

        return attack(max(ways, key=pilot) if len(ways) > 1 else ways[0], fits, seed=AUDIT_SEED)


def _or_reason(work: Callable[[], Any]) -> tuple[Any, str]:
    """What `work` returns and "", or None and why it cannot."""
    try:
        return work(), ""
    except Cancelled:
        raise
    except DpvizError as reason:
        return None, str(reason)


def draws_of(spec: LearnerSpec) -> int:
    """Fits of one attack on this learner."""
    about = controls_of(spec.Params)
    if not spec.spends_epsilon:
        return OPEN_DRAWS
    return BOOSTED_DRAWS if "rounds" in about else FOREST_DRAWS if "trees" in about else DRAWS


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
