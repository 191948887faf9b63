"""What an attacker learns from draws on two data sets: an event that tells them apart, and a lower confidence bound on epsilon.

The event is chosen on one half of the draws and bounded on the other, so that choosing costs no confidence. Each of the two
probabilities gets half of beta.

Source: Clopper & Pearson 1934; Jagielski, Ullman & Oprea 2020 for epsilon >= ln((P(event) - delta) / P'(event)).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

#: What one draw shows, by what is looked at ("the rule at the root" -> ...).
Shown = dict[str, Hashable]


@dataclass(frozen=True)
class DistinguishingEvent:
    """An event and how often it happened on the half of the draws that did not choose it.

    Attributes
    ----------
    observed : str
        Key into what a draw shows; empty when there were too few draws.
    outcomes : frozenset
        The event: what is shown is one of these.
    likelier_on : int
        0 or 1: the data set on which the event is likelier.
    hits : (int, int)
        How often it happened on either data set.
    n_draws : int
        Draws on each data set.
    bound : float
        Lower confidence bound on epsilon, at least 0.
    """

    observed: str
    outcomes: frozenset[Hashable]
    likelier_on: int
    hits: tuple[int, int]
    n_draws: int
    bound: float


def distinguish(first: Sequence[Shown], second: Sequence[Shown], *, beta: float, delta: float = 0.0) -> DistinguishingEvent:
    """Choose an event on the first halves of the draws and bound epsilon on the second halves.

    Parameters
    ----------
    first, second : sequence of Shown
        Independent draws on either data set, equally many.
    beta : float
        The bound exceeds the true epsilon with at most this probability.
    delta : float
        Of the (epsilon, delta) guarantee that is attacked.
    """
    half = len(first) // 2
    if not half:
        return DistinguishingEvent("", frozenset(), 0, (0, 0), 0, 0.0)
    observed, outcomes, likelier_on = _choose(first[:half], second[:half], beta, delta)
    hits = [sum(shown[observed] in outcomes for shown in draws[half:]) for draws in (first, second)]
    n = len(first) - half
    bound = float(lower_bound(hits[likelier_on], hits[1 - likelier_on], n, beta=beta, delta=delta))
    return DistinguishingEvent(observed, outcomes, likelier_on, (hits[0], hits[1]), n, bound)


def lower_bound(up: np.ndarray | int, down: np.ndarray | int, n: int, *, beta: float, delta: float = 0.0) -> np.ndarray:
    """max(0, ln((CP_low(up) - delta) / CP_up(down))) for hits among n draws each, either side at beta/2."""
    from scipy.special import betaincinv

    up, down = np.asarray(up, dtype=np.float64), np.asarray(down, dtype=np.float64)
    at_least = np.where(up > 0, betaincinv(np.maximum(up, 1), n - up + 1, beta / 2), 0.0)
    at_most = np.where(down < n, betaincinv(down + 1, np.maximum(n - down, 1), 1 - beta / 2), 1.0)
    return np.log(np.maximum((at_least - delta) / at_most, 1.0))


def most_that_shows(n: int, *, beta: float, delta: float = 0.0) -> float:
    """The largest bound that n draws on each data set can give: an event that always happens on one and never on the other."""
    return float(lower_bound(n, 0, n, beta=beta, delta=delta)) if n else 0.0


def _choose(first: Sequence[Shown], second: Sequence[Shown], beta: float, delta: float) -> tuple[str, frozenset[Hashable], int]:
    best = (-math.inf, "", frozenset[Hashable](), 0)
    for observed in first[0]:
        counts = [Counter(shown[observed] for shown in draws) for draws in (first, second)]
        for likelier_on in (0, 1):
            worth, outcomes = _best_prefix(counts[likelier_on], counts[1 - likelier_on], len(first), beta, delta)
            best = max(best, (worth, observed, outcomes, likelier_on), key=lambda item: item[0])
    return best[1:]


def _best_prefix(
    up: Counter[Hashable], down: Counter[Hashable], n: int, beta: float, delta: float
) -> tuple[float, frozenset[Hashable]]:
    """The event {likelihood ratio >= t} with the largest bound on the draws that choose it."""
    ranked = sorted(up, key=lambda outcome: ((up[outcome] + 0.5) / (down[outcome] + 0.5), up[outcome]), reverse=True)
    ups, downs = (np.cumsum([counts[outcome] for outcome in ranked]) for counts in (up, down))
    worth = lower_bound(ups, downs, n, beta=beta, delta=delta)
    last = int(worth.argmax())
    return float(worth[last]), frozenset(ranked[: last + 1])
