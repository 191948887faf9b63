"""What is known of each learner's claim, as three facts with their own evidence: proved, searched, attacked.

The stored run is the only source of what is said about learners: the Audit page, the command line and the README show it, and
tests compare them. Format "dpviz-verdicts/3": readers ignore keys they do not know and refuse versions they do not know.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import NEIGHBOURS, PrivacyLoss
from dpviz.errors import Cancelled, DpvizError, path_text
from dpviz.evaluation.audit.attack import LowerBound, audit
from dpviz.evaluation.audit.evidence import AuditResult, typical, worst_of
from dpviz.evaluation.audit.verify import COUNTEREXAMPLES, QUICK_UNIVERSES, UNIVERSES, SearchSpace, verify_each
from dpviz.installation import bundled
from dpviz.learners import get_learner, registry
from dpviz.progress import Stop
from dpviz.results.verdict import right_guesses
from dpviz.table.strict_json import PlainValue, parse_json, read, require_format, with_infinity, without_infinity
from dpviz.training.contract import LearnerSpec
from dpviz.training.params import controls_of
from dpviz.version import VERSION

FORMAT = "dpviz-verdicts/3"
_FILE = "data/benchmarks/verdicts.json"


@dataclass(frozen=True)
class SearchedPlace:
    """A universe or pair that was searched: its name, its size, and the largest log ratio there."""

    where: str
    n_sets: int
    n_pairs: int
    log_ratio: float


@dataclass(frozen=True)
class LearnerEvidence:
    """What is known of one plan: a learner with its parameters at one epsilon (add/remove one row)."""

    learner: str
    params: dict[str, PlainValue]  #: Those that are not the default
    epsilon: float
    #: version, date: of dpviz, and the day (ISO 8601) of this entry.
    version: str
    date: str
    #: *Proved*: the verdict on the plan for the typical table, the reason, and where the proof or the counterexample stands.
    claim: Claim
    composed: PrivacyLoss  #: What the steps of that plan compose to: an upper bound
    guesses: float  #: The most right guesses of 100 about one row that those steps allow
    #: *Searched*: the largest log ratio over all data sets of small universes and some pairs, with its pair and output. A lower
    #: bound without doubt.
    searched: AuditResult | None = None
    places: tuple[SearchedPlace, ...] = ()  #: Everywhere it was searched
    not_searched: str = ""  #: Why not; empty where it was
    attacked: LowerBound | None = None  #: *Attacked*: a lower bound with its confidence
    not_attacked: str = ""  #: Why not; empty where it was
    processor_seconds: float = 0.0  #: What searching and attacking cost

    @property
    def plan(self) -> str:
        """Equal for the same plan."""
        return json.dumps([self.learner, self.params, self.epsilon], sort_keys=True)


@dataclass(frozen=True)
class StoredRun:
    """All entries, renewed ones last."""

    facts: tuple[LearnerEvidence, ...]

    @property
    def has_broken_ledger(self) -> bool:
        """True when a counterexample to one of our own ledgers was found: a bug in dpviz."""
        results = (item for fact in self.facts for item in (fact.searched, fact.attacked) if item is not None)
        return any(item.verdict == "ledger violated" for item in results)

    @property
    def processor_seconds(self) -> float:
        """What all entries cost."""
        return sum(fact.processor_seconds for fact in self.facts)

    @property
    def dates(self) -> tuple[str, ...]:
        """The days of the entries, each once, the first one first."""
        return tuple(sorted({fact.date for fact in self.facts}))

    def of(self, learner: str, epsilon: float) -> LearnerEvidence | None:
        """The entry of a learner with its defaults; None where there is none."""
        return next((fact for fact in self.facts if (fact.learner, fact.params, fact.epsilon) == (learner, {}, epsilon)), None)

    def update(self, newer: StoredRun) -> StoredRun:
        """The same run, with the entries of a newer one for the learners in that."""
        renewed = {fact.learner for fact in newer.facts}
        others = [fact for fact in self.facts if fact.learner not in renewed]
        return StoredRun((*others, *newer.facts))


def run_to_json(run: StoredRun) -> str:
    """JSON text, one entry per line."""
    head = {"format": FORMAT, "neighbours": NEIGHBOURS, "processor_seconds": round(run.processor_seconds)}
    parts = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    entries = [json.dumps(_short(asdict(fact)), ensure_ascii=False, allow_nan=False) for fact in run.facts]
    facts = "\n  " + ",\n  ".join(entries) + "\n " if entries else ""
    return "{\n" + ",\n".join((*parts, f' "facts": [{facts}]')) + "\n}\n"


def _short(value: Any, name: str = "") -> Any:
    """Numbers to ten digits, seconds to three: a file of this size is read by people too."""
    match value:
        case dict():
            return {key: _short(item, key) for key, item in value.items()}
        case list() | tuple():
            return [_short(item, name) for item in value]
        case float():
            return round(value, 3) if "seconds" in name else without_infinity(float(f"{value:.10g}"))
        case _:
            return without_infinity(value)


def run_from_json(text: str | bytes) -> StoredRun:
    """The run in a JSON text; raises DocumentError naming the path of what is wrong."""
    document = with_infinity(parse_json(text), "log_ratio", "claimed", "composed", "bound", "epsilon", "perfect")
    require_format(document, FORMAT)
    return read(StoredRun, document)


def stored_run(path: Path | None = None) -> StoredRun:
    """The run at `path`, or the one that comes with dpviz. Raises DpvizError when the file is missing or damaged."""
    path = path or bundled(_FILE)
    if not path.is_file():
        raise DpvizError(
            "There is no stored run of verification.",
            where=path_text(path),
            remedy=f"Make one: dpviz verify --all --out {path.name}",
        )
    return run_from_json(path.read_bytes())


# --- scripts: each refutes a claim alone, reads nothing of dpviz, and needs NumPy at most

#: Learner -> the script that refutes its claim. Learners with one flaw share one.
SCRIPTS = {
    "bdpt": "exact_stopping",
    "dpgdf": "smooth_sensitivity",
    "privatree": "exact_stopping",
    "privatree-corrected": "noisy_sensitivity",
    "privatree-star": "exact_stopping",
    "rgv-forest": "trees_add_up",
    "smooth-forest": "smooth_sensitivity",
}


def script_of(learner: str) -> Path | None:
    """The file of the script that refutes a learner's claim; None where there is none."""
    if learner not in SCRIPTS:
        return None
    return bundled(f"data/counterexamples/{SCRIPTS[learner]}.py")


# --- Every learner, every flag, three epsilons: the run behind everything that is said about claims.

EPSILONS = (0.1, 1.0, 3.0)
#: Where epsilon changes nothing.
_ANY_EPSILON = (1.0,)
AUDIT_SEED = 20260101
#: Boosted trees that release Gaussian sums: a draw takes as long as hundreds of trees.
ROUNDS = ("s-gbdt", "s-gbdt-published")
#: Draws of an attack: of one tree, of a forest, of such rounds, and of a learner without privacy, which is seen at once.
DRAWS, FOREST_DRAWS, ROUNDS_DRAWS, OPEN_DRAWS = 8000, 4000, 1000, 80


def verify_all(
    *,
    date: str,
    learners: Collection[str] = (),
    quick: bool = False,
    progress: Callable[[float, str], None] | None = None,
    stop: Stop | None = None,
) -> StoredRun:
    """The three facts of every plan of every registered learner.

    `date`: the day of the run.
    `learners`: only these; by default all.
    `quick`: smaller universes, and no attacks.
    `progress`: called with what is searched next.
    `stop`: raises Cancelled.
    """
    specs = [get_learner(name) for name in learners] or registry().values()
    plans = [plan for spec in specs for plan in _plans(spec)]
    facts = []
    for number, (spec, epsilon, params) in enumerate(plans):
        if progress is not None:
            progress(number / len(plans), f"{spec.title} at epsilon {epsilon:g}")
        facts.append(_evidence(spec, epsilon, params, date, quick, stop))
    return StoredRun(tuple(facts))


def _evidence(
    spec: LearnerSpec, epsilon: float, params: dict[str, Any], date: str, quick: bool, stop: Stop | None
) -> LearnerEvidence:
    """Forests are listed whole, run by run, and take smaller universes; without privacy there is little to search for.

    A flag of rounds that is flipped is attacked with a quarter of the draws.
    """
    started = time.process_time()
    planned = typical(spec, epsilon=epsilon, **params)
    places: tuple[SearchSpace, ...] = (*(QUICK_UNIVERSES if quick or "trees" in params else UNIVERSES), *COUNTEREXAMPLES)
    if not spec.spends_epsilon:
        places = (QUICK_UNIVERSES[0],)
    draws = draws_of(spec) // (4 if params and spec.name in ROUNDS else 1)
    results, not_searched = _or_reason(lambda: verify_each(spec, epsilon=epsilon, universes=places, stop=stop, **params))
    attacked, not_attacked = None, "Not asked for."
    if not quick:
        attacked, not_attacked = _or_reason(
            lambda: audit(spec, epsilon=epsilon, seed=AUDIT_SEED, draws=draws, stop=stop, **params)
        )
    return LearnerEvidence(
        spec.name,
        params,
        epsilon,
        VERSION,
        date,
        planned.claim,
        planned.composed,
        right_guesses(planned.composed, risk=planned.request.risk(planned.schema)),
        worst_of(results) if results else None,
        tuple(SearchedPlace(item.searched, item.n_sets, item.n_pairs, item.log_ratio) for item in results or ()),
        not_searched,
        attacked,
        not_attacked,
        time.process_time() - started,
    )


def _or_reason(work: Callable[[], Any]) -> tuple[Any, str]:
    """What `work` returns and "", or None and why it cannot."""
    try:
        return work(), ""
    except Cancelled:
        raise
    except DpvizError as reason:
        return None, str(reason)


def draws_of(spec: LearnerSpec) -> int:
    """Fits of one attack on this learner, at every epsilon: the smaller it is, the more rows are in or out together."""
    if not spec.spends_epsilon:
        return OPEN_DRAWS
    if spec.name in ROUNDS:
        return ROUNDS_DRAWS
    return FOREST_DRAWS if "trees" in controls_of(spec.Params) else DRAWS


def _plans(spec: LearnerSpec) -> Iterator[tuple[LearnerSpec, float, dict[str, Any]]]:
    """Its defaults, each boolean parameter the other way round, and the smallest forest, at every epsilon.

    One tree can be listed where a hundred cannot.
    """
    default, about = spec.Params(), controls_of(spec.Params)
    settings: list[dict[str, Any]] = [{}]
    settings += [{name: not getattr(default, name)} for name, control in about.items() if control.kind == "flag"]
    if spec.spends_epsilon and "trees" in about and about["trees"].kind == "whole":
        settings.append({"trees": 1})
    for params in settings:
        yield from ((spec, epsilon, params) for epsilon in (EPSILONS if spec.spends_epsilon else _ANY_EPSILON))
