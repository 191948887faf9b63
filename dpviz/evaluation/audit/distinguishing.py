"""What an attacker learns from draws on two data sets: a distinguishing event, and a lower confidence bound on epsilon.

The event is chosen on one half of the draws and tested on the other, so that choosing costs no confidence. So is the way in which
it is tested. Either by the ratio of its two probabilities, each of which gets half of beta; that is stronger for rare events. Or
by guessing: who takes every draw that shows the event for one of the likelier table is right with probability at most
(e^eps + delta) / (1 + e^eps), on average over both tables. One limit is enough for that, at beta, and both errors count; that is
stronger where each is common, as for randomised response.

Source: Clopper & Pearson 1934; Jagielski, Ullman & Oprea 2020 for epsilon >= ln((P(event) - delta) / P'(event)); Kairouz, Oh &
Viswanath 2015 for the two errors; Hoeffding 1956, Theorem 4: draws of two tables, whose guesses are right with different
probabilities, are right at least k times no more often than as many with the average one, for k above the mean by 1 or more.
"""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np

from dpviz.evaluation.intervals import clopper_pearson

#: What one draw shows: observable ("the rule at the root") -> its outcome. Floats are told apart by cells.
Shown = dict[str, Hashable]
#: Cells for an observable that is a float; their limits are quantiles of the half that chooses.
CELLS = 20


@dataclass(frozen=True)
class DistinguishingEvent:
    """An event, and how often it happened in the half of the draws it was tested on."""

    observed: str  #: The observable; empty when there were too few draws
    outcomes: frozenset[Hashable]  #: The event: the observable takes one of these values
    likelier_on: int  #: 0 or 1: the data set on which the event is likelier
    hits: tuple[int, int]  #: How often it happened on each data set
    n_draws: int  #: Draws it was tested on, per data set
    bound: float  #: Lower confidence bound on epsilon, at least 0


def distinguish(first: Sequence[Shown], second: Sequence[Shown], *, beta: float, delta: float = 0.0) -> DistinguishingEvent:
    """Choose an event on the first halves of the draws and bound epsilon on the second halves.

    `first`, `second`: independent draws on each data set, the same number.
    `beta`: the bound exceeds the true epsilon with at most this probability.
    `delta`: of the (epsilon, delta) guarantee under attack.
    """
    half = len(first) // 2
    if not half:
        return DistinguishingEvent("", frozenset(), 0, (0, 0), 0, 0.0)
    first, second = _in_cells(first, second, half)
    observed, outcomes, likelier_on, way = _choose(first[:half], second[:half], beta, delta)
    hits = [sum(shown[observed] in outcomes for shown in draws[half:]) for draws in (first, second)]
    n = len(first) - half
    bound = float(way(hits[likelier_on], hits[1 - likelier_on], n, beta=beta, delta=delta))
    return DistinguishingEvent(observed, outcomes, likelier_on, (hits[0], hits[1]), n, bound)


def _in_cells(first: Sequence[Shown], second: Sequence[Shown], half: int) -> tuple[list[Shown], list[Shown]]:
    """The same draws with the number of a cell for every float."""
    limits = {}
    for observed in (name for name, value in first[0].items() if isinstance(value, float)):
        values = np.array([shown[observed] for shown in (*first[:half], *second[:half])], dtype=np.float64)
        limits[observed] = np.unique(np.quantile(values, np.linspace(0, 1, CELLS + 1)))
    if not limits:
        return list(first), list(second)

    def cells(shown: Shown) -> Shown:
        numbers = {name: value for name, value in shown.items() if isinstance(value, float)}
        return shown | {name: int((limits[name] <= value).sum()) for name, value in numbers.items()}

    return list(map(cells, first)), list(map(cells, second))


def lower_bound(up: np.ndarray | int, down: np.ndarray | int, n: int, *, beta: float, delta: float = 0.0) -> np.ndarray:
    """max(0, ln((lower limit of up - delta) / upper limit of down)) for hits among n draws each, each limit at beta / 2."""
    at_least, _ = clopper_pearson(up, n, beta / 2)
    _, at_most = clopper_pearson(down, n, beta / 2)
    return np.log(np.maximum((at_least - delta) / at_most, 1.0))


def bound_by_guesses(up: np.ndarray | int, down: np.ndarray | int, n: int, *, beta: float, delta: float = 0.0) -> np.ndarray:
    """max(0, ln((m - delta) / (1 - m))) for a lower limit m, at beta, of the share of right guesses: `up` and n - `down` of n."""
    right = np.asarray(up) + (n - np.asarray(down))
    at_least, _ = clopper_pearson(right, 2 * n, beta)
    share = np.minimum(at_least, np.maximum(right - 1, 0) / (2 * n))  # at least 1 above the mean, as the theorem asks
    return np.log(np.maximum((share - delta) / (1 - share), 1.0))


class _Way(Protocol):
    """How a bound follows from the hits on the likelier table and on the other, of n draws each."""

    def __call__(
        self, up: np.ndarray | int, down: np.ndarray | int, n: int, *, beta: float, delta: float = 0.0
    ) -> np.ndarray: ...


_WAYS: tuple[_Way, ...] = (lower_bound, bound_by_guesses)


def most_that_shows(n: int, *, beta: float, delta: float = 0.0) -> float:
    """The largest bound n draws can give: that of an event that always happens on one data set and never on the other."""
    return max(float(way(n, 0, n, beta=beta, delta=delta)) for way in _WAYS) if n else 0.0


def _choose(
    first: Sequence[Shown], second: Sequence[Shown], beta: float, delta: float
) -> tuple[str, frozenset[Hashable], int, _Way]:
    best = (-math.inf, "", frozenset[Hashable](), 0, _WAYS[0])
    for observed in first[0]:
        counts = [Counter(shown[observed] for shown in draws) for draws in (first, second)]
        for likelier_on, way in product((0, 1), _WAYS):
            worth, outcomes = _best_prefix(counts[likelier_on], counts[1 - likelier_on], len(first), beta, delta, way)
            best = max(best, (worth, observed, outcomes, likelier_on, way), key=lambda item: item[0])
    return best[1:]


def _best_prefix(
    up: Counter[Hashable], down: Counter[Hashable], n: int, beta: float, delta: float, way: _Way
) -> tuple[float, frozenset[Hashable]]:
    """The event {likelihood ratio >= t} with the largest bound on these draws."""
    ranked = sorted(up, key=lambda outcome: ((up[outcome] + 0.5) / (down[outcome] + 0.5), up[outcome]), reverse=True)
    ups, downs = (np.cumsum([counts[outcome] for outcome in ranked]) for counts in (up, down))
    worth = way(ups, downs, n, beta=beta, delta=delta)
    last = int(worth.argmax())
    return float(worth[last]), frozenset(ranked[: last + 1])
