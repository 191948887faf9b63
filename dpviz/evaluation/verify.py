"""Exhaustive verification: the exact law of whole outputs on every data set of a small universe, against the claim.

For neighbours D and D + row, the log ratio of a tree is the sum of the log ratios of the decisions on the path of that
row: everywhere else the same rows meet the same law. So the largest ratio over all trees is found level by level, over
all data sets at once, without listing trees. Where noise was cut off, probabilities are bounds and the ratio is a
certified lower bound: ln p_D(o) - ln(p_D'(o) + cut).

Source: `privacy.md` section 6; this project.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.errors import NotListed
from dpviz.evaluation.laws import LevelLaw, level_laws
from dpviz.evaluation.universe import Universe
from dpviz.learners import fit, get_learner
from dpviz.models.document import model_body
from dpviz.models.tree import Branch, Node, Tree
from dpviz.training.contract import LearnerSpec
from dpviz.training.params import Settings, make_params

#: What verification says. "holds" speaks of what was searched only; "ledger violated" is a bug in dpviz.
Finding = Literal["holds", "unproven", "violated", "ledger violated", "none"]

#: Relative slack for floating point: a ratio must exceed a bound by more to count against it.
SLACK = 1e-9


@dataclass(frozen=True)
class WorstPair:
    """Two neighbouring data sets (rows in words, the second has one row more) and how likely each makes `output`."""

    columns: tuple[str, ...]
    first: tuple[tuple[str, ...], ...]
    second: tuple[tuple[str, ...], ...]
    probabilities: tuple[float, float]


@dataclass(frozen=True)
class AuditResult:
    """What was found about a learner at one epsilon.

    Attributes
    ----------
    log_ratio : float
        Largest log ratio of the probability of an output on neighbouring data sets; a certified lower bound on epsilon.
    claimed, composed : float
        The paper's epsilon, and what the learner's own steps compose to.
    verdict : str
        "holds" (on what was searched), "unproven" (composed exceeds claimed), "violated" (a counterexample to the claim),
        "ledger violated" (a counterexample to our own ledger), "none" (nothing is claimed).
    worst_pair : WorstPair or None
    output : dict
        The model body that separates the pair.
    searched : str
        The universe in words; `n_sets` data sets and `n_pairs` neighbouring pairs in it.
    """

    learner: str
    epsilon: float
    params: dict[str, Any]
    log_ratio: float
    claimed: float
    composed: float
    verdict: Finding
    because: str
    worst_pair: WorstPair | None
    output: dict[str, Any]
    searched: str
    n_sets: int
    n_pairs: int
    seconds: float


#: Where learners are searched, quickest first.
UNIVERSES = (
    Universe((2, 2), depth=1, max_rows=5),
    Universe((2, 2), depth=2, max_rows=4),
    Universe((3,), numeric=True, depth=2, max_rows=5),
    Universe((3,), n_classes=3, depth=2, max_rows=4),
    Universe((3, 3), depth=2, max_rows=3),
    Universe((2, 2), copies=2, depth=1, max_rows=4),
    Universe((2, 2), copies=4, depth=1, max_rows=4),
)


def verify(
    learner: str,
    *,
    epsilon: float = 1.0,
    universes: tuple[Universe, ...] | None = None,
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
    **params: Any,
) -> AuditResult:
    """Search every data set of small universes and return the worst that was found.

    Parameters
    ----------
    learner : str
        One of `learners()`.
    epsilon : float
        Claimed privacy loss under add/remove one row.
    universes : tuple of Universe, optional
        Where to search; by default `UNIVERSES`. One whose laws cannot be listed for this learner is left out.
    progress : callable (share in [0, 1]), optional
    stop : callable () -> bool, optional
        Checked between data sets; raises Cancelled.
    **params
        The learner's own parameters.
    """
    results = verify_each(learner, epsilon=epsilon, universes=universes, progress=progress, stop=stop, **params)
    return max(results, key=lambda result: (SEVERITY[result.verdict], result.log_ratio))


SEVERITY: dict[str, int] = {"none": 0, "holds": 1, "unproven": 2, "violated": 3, "ledger violated": 4}


def verify_each(
    learner: str,
    *,
    epsilon: float = 1.0,
    universes: tuple[Universe, ...] | None = None,
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
    **params: Any,
) -> list[AuditResult]:
    """As `verify`, one result per universe that could be searched; raises NotListed when none could."""
    spec = get_learner(learner)
    places = universes or UNIVERSES
    results: list[AuditResult] = []
    refused: NotListed | None = None
    for number, universe in enumerate(places):
        try:
            results.append(_search(spec, epsilon, universe, params, stop))
        except NotListed as reason:
            refused = reason
        if progress is not None:
            progress((number + 1) / len(places))
    if not results and refused is not None:
        raise refused
    return results


def _search(spec: LearnerSpec, epsilon: float, universe: Universe, given: dict[str, Any], stop: Any) -> AuditResult:
    started = time.perf_counter()
    settings = Settings(epsilon=epsilon, max_depth=universe.depth, depth=universe.depth)
    params = make_params(spec.Params, spec.name, given)
    plan = spec.plan(universe.schema, settings, params)
    laws = level_laws(spec, plan, params, universe, stop)
    worst = _worst(universe, laws)
    sample = fit(spec.name, universe.kinds, epsilon=epsilon, depth=universe.depth, seed=0, **given)
    return AuditResult(
        learner=spec.name,
        epsilon=epsilon,
        params=given,
        log_ratio=worst.log_ratio,
        claimed=sample.claim.epsilon,
        composed=sample.ledger.guarantee.epsilon,
        verdict=judge(worst.log_ratio, sample.claim, sample.ledger.guarantee),
        because=sample.claim.because,
        worst_pair=_pair_in_words(universe, worst),
        output=worst.output,
        searched=universe.title,
        n_sets=len(universe.keys),
        n_pairs=int((universe.plus_one >= 0).sum()),
        seconds=time.perf_counter() - started,
    )


def judge(log_ratio: float, claim: Claim, composed: PrivacyLoss) -> Finding:
    """The verdict on a certified lower bound of epsilon."""
    if exceeds(log_ratio, composed.epsilon):
        return "ledger violated"
    if not claim.is_private:
        return "none"
    if exceeds(log_ratio, claim.epsilon):
        return "violated"
    return "unproven" if exceeds(composed.epsilon, claim.epsilon) else "holds"


def exceeds(ratio: float, bound: float) -> bool:
    """True when `ratio` is above `bound` by more than rounding."""
    return ratio > bound * (1 + SLACK) + SLACK * 1e-3


@dataclass(frozen=True)
class _Worst:
    log_ratio: float
    smaller: int
    kind: int
    grows: bool  # the output is likelier on the larger data set
    output: dict[str, Any]
    probabilities: tuple[float, float]


def _worst(universe: Universe, laws: list[LevelLaw]) -> _Worst:
    ratios = {grows: _largest_ratios(universe, laws, grows) for grows in (True, False)}
    best = {grows: np.unravel_index(ratio[0].argmax(), ratio[0].shape) for grows, ratio in ratios.items()}
    grows = bool(ratios[True][0][best[True]] >= ratios[False][0][best[False]])
    smaller, kind = map(int, best[grows])
    trace = _Trace(universe, laws, ratios[grows], grows)
    output, low, high = trace.follow(0, smaller, kind)
    probabilities = (math.exp(high), math.exp(low)) if grows else (math.exp(low), math.exp(high))
    return _Worst(float(ratios[grows][0][smaller, kind]), smaller, kind, grows, output, probabilities)


def _largest_ratios(universe: Universe, laws: list[LevelLaw], grows: bool) -> list[np.ndarray]:
    """Per level: largest log ratio over subtrees, for each data set and each kind of row added; shape (n_sets, n_kinds).

    grows: ln P(D + row) - ln P(D); else the other way round. -inf where D is already as large as the universe allows.
    """
    ratios: list[np.ndarray] = []
    for law in reversed(laws):
        below = ratios[0] if ratios else None
        best = np.full(universe.plus_one.shape, -np.inf)
        for number in range(len(law.outcomes)):
            np.maximum(best, _outcome_ratio(universe, law, number, below, grows), out=best)
        ratios.insert(0, best)
    return ratios


def _outcome_ratio(universe: Universe, law: LevelLaw, number: int, below: np.ndarray | None, grows: bool) -> np.ndarray:
    """Log ratio of one outcome and the best that may follow it, shape (n_sets, n_kinds)."""
    low, high = law.low[:, number], law.high[:, number]
    larger = universe.plus_one
    with np.errstate(invalid="ignore"):
        ratio = low[larger] - high[:, None] if grows else low[:, None] - high[larger]
    ratio[np.isnan(ratio) | (larger < 0)] = -np.inf  # impossible on both, or no such neighbour
    goes_left = law.outcomes[number].goes_left
    if goes_left is not None:
        assert below is not None
        left, right = below[universe.part(goes_left)], below[universe.part(~goes_left)]
        follows = np.where(goes_left[None, :], left, right)
        possible = np.isfinite(ratio) | (ratio > 0)
        ratio = np.where(possible, ratio, 0) + np.where(possible, follows, -np.inf)
    return ratio


@dataclass(frozen=True)
class _Trace:
    """Finds the output that reaches a largest ratio again."""

    universe: Universe
    laws: list[LevelLaw]
    ratios: list[np.ndarray]
    grows: bool

    def follow(self, level: int, smaller: int, kind: int) -> tuple[dict[str, Any], float, float]:
        """(model body, log probability on the likelier data set, on the other)."""
        node, likelier, other = self._follow(level, smaller, kind)
        if isinstance(node, dict):
            return node, likelier, other
        return model_body(Tree(self.universe.schema, node)), likelier, other

    def _follow(self, level: int, smaller: int, kind: int) -> tuple[Any, float, float]:
        law = self.laws[level]
        below = self.ratios[level + 1] if level + 1 < len(self.laws) else None
        number = int(np.argmax([self._ratio(law, n, below, smaller, kind) for n in range(len(law.outcomes))]))
        outcome = law.outcomes[number]
        larger = int(self.universe.plus_one[smaller, kind])
        likelier, other = (larger, smaller) if self.grows else (smaller, larger)
        chances = float(law.low[likelier, number]), float(law.high[other, number])
        if outcome.goes_left is None:
            return outcome.ends, *chances
        sides = [int(self.universe.part(mask)[smaller]) for mask in (outcome.goes_left, ~outcome.goes_left)]
        row_side = 0 if outcome.goes_left[kind] else 1
        changed, up, down = self._follow(level + 1, sides[row_side], kind)
        same, log_chance = self._likeliest(level + 1, sides[1 - row_side])
        children = (changed, same) if row_side == 0 else (same, changed)
        return Branch(outcome.rule, *children), chances[0] + up + log_chance, chances[1] + down + log_chance

    def _ratio(self, law: LevelLaw, number: int, below: np.ndarray | None, smaller: int, kind: int) -> float:
        return float(_outcome_ratio(self.universe, law, number, below, self.grows)[smaller, kind])

    def _likeliest(self, level: int, index: int) -> tuple[Node, float]:
        law = self.laws[level]
        number = int(law.low[index].argmax())
        outcome, chance = law.outcomes[number], float(law.low[index, number])
        if outcome.goes_left is None:
            return outcome.ends, chance  # type: ignore[return-value]
        left, left_chance = self._likeliest(level + 1, int(self.universe.part(outcome.goes_left)[index]))
        right, right_chance = self._likeliest(level + 1, int(self.universe.part(~outcome.goes_left)[index]))
        return Branch(outcome.rule, left, right), chance + left_chance + right_chance  # type: ignore[arg-type]


def _pair_in_words(universe: Universe, worst: _Worst) -> WorstPair:
    larger = int(universe.plus_one[worst.smaller, worst.kind])
    columns = (*universe.schema.feature_names, universe.schema.target.name)
    first, second = (tuple(_row_in_words(universe, kind) for kind in universe.rows(index)) for index in (worst.smaller, larger))
    return WorstPair(columns, first, second, worst.probabilities)


def _row_in_words(universe: Universe, kind: int) -> tuple[str, ...]:
    values = (column[kind] for column in universe.kinds.columns)
    words = (str(v) if universe.numeric else f.categories[v] for v, f in zip(values, universe.schema.features, strict=True))
    return (*words, universe.schema.classes[universe.kinds.target[kind]])


