"""Exhaustive verification: the exact distribution of outputs on every data set of small universes, against the claim.

For neighbours D and D + row, the log ratio of a tree is the sum of the log ratios of the decisions on the path of that row:
elsewhere the same rows meet the same distribution. So the largest ratio over all trees of a universe is found level by level,
over all data sets at once, without listing trees. Where noise was cut off, probabilities are bounds and the ratio is a certified
lower bound: ln p_D(o) - ln(p_D'(o) + cut). Chosen pairs are in `candidate_pairs.py`.

Source: this project.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.errors import NotEnumerable
from dpviz.evaluation.audit.candidate_pairs import COUNTEREXAMPLES, CandidatePair, verify_pair
from dpviz.evaluation.audit.distributions import Level, level_distributions
from dpviz.evaluation.audit.findings import AuditResult, Separation, WorstPair, worst_of
from dpviz.evaluation.audit.held_out_parts import partings, separation_with_held_out
from dpviz.evaluation.audit.planned import PlannedLearner, spec_of
from dpviz.evaluation.audit.universe import Universe
from dpviz.models.document import model_body
from dpviz.models.tree import Tree
from dpviz.progress import Progress, Stop, part_of, watched
from dpviz.training.contract import LearnerSpec

#: Where to search.
Place = Universe | CandidatePair

#: The default universes, quickest first.
UNIVERSES = (
    Universe((2, 2), depth=1, max_rows=5),
    Universe((2, 2), depth=2, max_rows=4),
    Universe((3,), numeric=True, depth=2, max_rows=5),
    Universe((3,), n_classes=3, depth=2, max_rows=4),
    Universe((3, 3), depth=2, max_rows=3),
    Universe((2, 2), copies=2, depth=1, max_rows=4),
    Universe((2, 2), copies=4, depth=1, max_rows=4),
    Universe((3,), n_classes=0, depth=1, max_rows=3),
    Universe((2,), n_classes=0, depth=2, max_rows=3),
)

#: Where rows are held out at random, every row has three fates: larger tables would take too long.
MOST_ROWS_HELD_OUT = 3

#: Smaller ones, for quick checks.
QUICK_UNIVERSES = (
    Universe((2, 2), depth=1, max_rows=3),
    Universe((2, 2), depth=2, max_rows=3),
    Universe((3,), numeric=True, depth=2, max_rows=3),
)


def verify(
    learner: str | LearnerSpec,
    *,
    epsilon: float = 1.0,
    universes: tuple[Place, ...] | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **params: Any,
) -> AuditResult:
    """Search every data set of small universes and return the worst that was found.

    Parameters
    ----------
    learner : str or LearnerSpec
        One of `learner_names()`.
    epsilon : float
        Claimed privacy loss under add/remove one row, in [0.001, 20].
    universes : tuple of Universe and CandidatePair, optional
        Where to search; by default `UNIVERSES` and `COUNTEREXAMPLES`. Those that cannot be listed for this learner are left out.
    progress : callable (share in [0, 1]), optional
    stop : callable () -> bool, optional
        Asked between data sets; raises Cancelled.
    **params
        The learner's own parameters.

    Raises
    ------
    NotEnumerable
        The distributions cannot be listed on any of the universes.
    """
    return worst_of(verify_each(learner, epsilon=epsilon, universes=universes, progress=progress, stop=stop, **params))


def verify_each(
    learner: str | LearnerSpec,
    *,
    epsilon: float = 1.0,
    universes: tuple[Place, ...] | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    **params: Any,
) -> list[AuditResult]:
    """As `verify`, one result per universe or pair that could be searched."""
    spec = spec_of(learner)
    places = universes or (*UNIVERSES, *COUNTEREXAMPLES)
    results: list[AuditResult] = []
    refused: list[NotEnumerable] = []
    for number, place in enumerate(places):
        tick = watched(part_of(progress, number, len(places)), stop)
        tick(0.0)
        try:
            results.append(_search(spec, epsilon, place, params, tick))
        except NotEnumerable as reason:
            refused.append(reason)
    if not results:
        raise refused[-1]
    if progress is not None:
        progress(1.0)
    return results


def _search(spec: LearnerSpec, epsilon: float, place: Place, given: dict[str, Any], tick: Progress) -> AuditResult:
    if isinstance(place, CandidatePair):
        return verify_pair(spec, place.first, place.second, epsilon=epsilon, depth=place.depth, title=place.title, **given)
    planned = PlannedLearner.of(spec, place.schema, epsilon=epsilon, depth=place.depth, **given)
    if planned.plan.held_out:
        place = replace(place, max_rows=min(place.max_rows, MOST_ROWS_HELD_OUT))
        single = replace(place, max_rows=1)  # what cannot be searched is refused here, before much is listed
        few = PlannedLearner.of(spec, single.schema, epsilon=epsilon, depth=place.depth, **given)
        partings(single, level_distributions(few, single), int((place.plus_one >= 0).sum()))
        found = separation_with_held_out(place, level_distributions(planned, place, tick), planned.plan.held_out)
    else:
        found = separation(place, level_distributions(planned, place, tick))
    n_sets, n_pairs = len(place.keys), int((place.plus_one >= 0).sum())
    composed = planned.composed(place.kinds, place.dataset(0))
    return planned.result(found, composed, searched=place.title, n_sets=n_sets, n_pairs=n_pairs)


def separation(universe: Universe, levels: list[Level]) -> Separation:
    """The output, over all neighbouring pairs of the universe, with the largest log ratio."""
    ways = [_Way(universe, levels, grows) for grows in (True, False)]
    worst = max(ways, key=lambda way: way.ratios[0].max())
    smaller, kind = _fewest_rows(universe, worst.ratios[0])
    node, likelier, other = worst.follow(0, smaller, kind)
    output = node if isinstance(node, dict) else model_body(Tree(universe.schema, node))
    chances = (math.exp(other), math.exp(likelier)) if worst.grows else (math.exp(likelier), math.exp(other))
    larger = int(universe.plus_one[smaller, kind])
    pair = WorstPair.of(universe.dataset(smaller), universe.dataset(larger), chances)
    return Separation(float(worst.ratios[0][smaller, kind]), output, pair)


def _fewest_rows(universe: Universe, ratios: np.ndarray) -> tuple[int, int]:
    """(data set, kind of row added) of the largest ratio; among equals the pair with fewest rows, which is easiest to read."""
    n_rows = universe.counts.sum(axis=1)[:, None]
    smaller, kind = np.unravel_index(np.where(_ties(ratios), -n_rows, -np.inf).argmax(), ratios.shape)
    return int(smaller), int(kind)


def _ties(ratios: np.ndarray) -> np.ndarray:
    """True where a ratio is the largest, rounding aside."""
    largest = ratios.max()
    return ratios >= (largest - 1e-12 if np.isfinite(largest) else largest)


@dataclass(frozen=True)
class _Way:
    """One of two ways to compare neighbours. grows: by ln P(D + row) - ln P(D); else the other way round."""

    universe: Universe
    levels: list[Level]
    grows: bool

    @cached_property
    def ratios(self) -> list[np.ndarray]:
        """Per level: largest log ratio over subtrees, for each data set and each kind of row added; shape (n_sets, n_kinds).

        -inf where D is already as large as the universe allows.
        """
        ratios: list[np.ndarray] = []
        for distribution in reversed(self.levels):
            below = ratios[0] if ratios else None
            best = np.full(self.universe.plus_one.shape, -np.inf)
            for number in range(len(distribution.outcomes)):
                np.maximum(best, self._outcome_ratio(distribution, number, below), out=best)
            ratios.insert(0, best)
        return ratios

    def _outcome_ratio(self, distribution: Level, number: int, below: np.ndarray | None) -> np.ndarray:
        """Log ratio of one outcome and the best that may follow it, shape (n_sets, n_kinds)."""
        low, high = distribution.low[:, number], distribution.high[:, number]
        larger = self.universe.plus_one
        with np.errstate(invalid="ignore"):
            ratio = low[larger] - high[:, None] if self.grows else low[:, None] - high[larger]
        ratio[np.isnan(ratio) | (larger < 0)] = -np.inf  # impossible on both, or no such neighbour
        for part in distribution.outcomes[number].open:
            assert below is not None
            follows = np.where(part[None, :], below[self.universe.part(part)], 0.0)
            possible = np.isfinite(ratio) | (ratio > 0)
            ratio = np.where(possible, ratio, 0) + np.where(possible, follows, -np.inf)
        return ratio

    def follow(self, level: int, smaller: int, kind: int) -> tuple[Any, float, float]:
        """The output with a largest ratio: (node or model body, log probability on the likelier data set, on the other)."""
        distribution = self.levels[level]
        follows = self.ratios[level + 1] if level + 1 < len(self.levels) else None
        larger = int(self.universe.plus_one[smaller, kind])
        likelier, other = (larger, smaller) if self.grows else (smaller, larger)
        numbers = range(len(distribution.outcomes))
        each = [self._outcome_ratio(distribution, number, follows)[smaller, kind] for number in numbers]
        number = int(np.where(_ties(np.array(each)), distribution.low[likelier], -np.inf).argmax())
        outcome = distribution.outcomes[number]
        chances = float(distribution.low[likelier, number]), float(distribution.high[other, number])
        below, up, down = [], *chances
        for part in outcome.open:
            place = int(self.universe.part(part)[smaller])
            if part[kind]:
                node, more, less = self.follow(level + 1, place, kind)
            else:
                node, more = self._likeliest(level + 1, place)
                less = more
            below.append(node)
            up, down = up + more, down + less
        return outcome.complete(below), up, down

    def _likeliest(self, level: int, index: int) -> tuple[Any, float]:
        distribution = self.levels[level]
        number = int(distribution.low[index].argmax())
        outcome, chance = distribution.outcomes[number], float(distribution.low[index, number])
        below = []
        for part in outcome.open:
            node, more = self._likeliest(level + 1, int(self.universe.part(part)[index]))
            below.append(node)
            chance += more
        return outcome.complete(below), chance
