"""What privacy proves about poisoning: bounds on a mean after an attacker added or removed k rows.

Let M be (epsilon, delta)-private under add/remove one row and A(M(D)) lie in [0, 1], for example accuracy on a fixed clean
test set. An event of probability u has probability at most T(u) = min(e^eps u, 1 - e^-eps (1 - u)) after one row, and at most T
applied k times after k rows. Over the events {A <= a} this bounds the mean of A from below, and an explicit chain of
distributions attains the bound (this project). It is never below the published bound e^(-k eps) E[A] (PrivaTree, Corollaries 2
and 3).

That is all epsilon and delta tell. What a learner's steps tell is more (`dpviz.accounting.risk`): by their trade-off curve for k
rows an event of probability u has at most the power of a test at level u. With a delta, or where losses have a bounded range, far
more is kept.

An upper bound on something bad, such as the success of a backdoor, is 1 minus the lower bound on its absence.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.evaluation.intervals import clopper_pearson
from dpviz.evaluation.robustness.draws import Draws
from dpviz.models.tree import Forest
from dpviz.table.checked_numbers import checked_delta, checked_loss
from dpviz.table.dataset import EncodedDataset

#: Order statistics of a band, fixed before anything is drawn.
BAND_POINTS = 12
#: Up to so many rows every group is composed; then each is larger than the one before by this factor.
ALL_GROUPS, GROUP_STEP = 10, 1.1

#: (values, increasing; probability of at most each of them)
Distribution = tuple[np.ndarray, np.ndarray]


def survival(below: np.ndarray, rows: int, epsilon: float) -> np.ndarray:
    """1 - T^k(u): the least probability that an event of probability 1 - u keeps.

    `below`: probabilities u in [0, 1].
    `rows`: k, rows added or removed.
    `epsilon`: privacy loss per row; nothing survives an infinite one.

    Notes
    -----
    While u <= 1/(1 + e^eps) a row multiplies u by e^eps, from then on it multiplies 1 - u by e^-eps. Any split of the k rows
    into these two is an upper bound on T^k, so a rounding error of the turning point can only make the result smaller.
    """
    checked_loss("survival", "epsilon", epsilon)
    u = np.asarray(below, dtype=np.float64)
    if rows == 0 or epsilon == 0:
        return 1 - u
    if math.isinf(epsilon):
        return np.zeros_like(u)
    with np.errstate(divide="ignore"):
        log_u = np.log(u)
    turning = np.ceil((-np.logaddexp(0.0, epsilon) - log_u) / epsilon)
    growing = np.clip(turning, 0, rows)
    left = np.maximum(0.0, -np.expm1(log_u + growing * epsilon))
    return np.where(growing > 0, left, 1 - u) * np.exp(-(rows - growing) * epsilon)


def group_delta(rows: int, epsilon: float, delta: float) -> float:
    """The delta of k rows together: delta (e^(k eps) - 1) / (e^eps - 1), at most 1."""
    PrivacyLoss(epsilon, delta)  # raises where it is none
    if delta == 0 or rows == 0:
        return 0.0
    if epsilon == 0:
        return min(1.0, rows * delta)
    if rows * epsilon > 700:  # beyond floating point, and far beyond 1
        return 1.0
    return min(1.0, delta * math.expm1(rows * epsilon) / math.expm1(epsilon))


def tight_bound(distribution: Distribution, rows: int, epsilon: float, delta: float = 0.0, risk: Risk | None = None) -> float:
    """Lower bound on the mean after `rows` additions and removals, given the distribution of A on the clean rows.

    With delta the k rows are taken in one step (group privacy) and the group's delta is subtracted from every event. `risk` is
    what the steps of the learner let one row change: composed to a group of k rows it says of every event what it keeps, and
    the larger of the two counts. Decreasing in `rows`; the mean itself at 0 rows; the value itself for a constant.
    """
    values, at_most = distribution
    before = np.concatenate([[0.0], at_most[:-1]])
    return float(np.diff(values, prepend=0.0) @ remains(before, rows, PrivacyLoss(epsilon, delta), risk))


def remains(below: np.ndarray, rows: int, loss: PrivacyLoss, risk: Risk | None) -> np.ndarray:
    """The least probability that events keep, which had probability 1 - `below` (increasing), after so many rows."""
    epsilon = loss.epsilon
    if loss.delta:
        kept = np.clip(survival(below, min(rows, 1), rows * epsilon) - group_delta(rows, epsilon, loss.delta), 0, 1)
    else:
        kept = survival(below, rows, epsilon)
    if risk is not None and rows:
        kept = np.maximum(kept, risk.for_rows(_composed_rows(rows)).remains(below))
    return kept


def _composed_rows(rows: int) -> int:
    """From `ALL_GROUPS` on groups are composed at some sizes only: the next of them."""
    if rows <= ALL_GROUPS:
        return rows
    return math.ceil(ALL_GROUPS * GROUP_STEP ** math.ceil(math.log(rows / ALL_GROUPS, GROUP_STEP) - 1e-9) - 1e-9)


def published_bound(mean: float, rows: int, epsilon: float, delta: float = 0.0) -> float:
    """e^(-k eps) E[A]: Corollary 2 (and 3 for 1 minus attack success); with delta, e^(-k eps) (E[A] - the group's delta)."""
    checked_delta("published_bound", "mean", mean)
    checked_loss("published_bound", "epsilon", epsilon)
    return math.exp(-rows * epsilon) * max(0.0, mean - group_delta(rows, epsilon, delta))


def most_rows(bound: Callable[[int], float], above: float, n_rows: int) -> int:
    """The most rows, up to `n_rows`, with which a bound that only falls stays above a value; 0 also when none do."""
    return bisect_left(range(1, n_rows + 1), True, key=lambda rows: not bound(rows) > above)


def distribution_of(draws: np.ndarray) -> Distribution:
    """The empirical distribution of the draws."""
    values, counts = np.unique(draws, return_counts=True)
    at_most = counts.cumsum() / len(draws)
    at_most[-1] = 1.0
    return values, at_most


def band_distribution(draws: np.ndarray, beta: float) -> Distribution:
    """A distribution below the true one everywhere, with confidence 1 - beta: its bounds hold for all k at once.

    The probability of falling below the i-th smallest of R draws is at most the (1 - beta/m) quantile of Beta(i, R - i + 1),
    at each of m order statistics (log-spaced, fixed before drawing) with confidence 1 - beta/m. Probability below the smallest
    one is moved to 0.
    """
    draws = np.sort(draws)
    places = np.unique(np.round(np.geomspace(1, len(draws), BAND_POINTS)).astype(np.int64))
    _, quantiles = clopper_pearson(places - 1, len(draws), beta / len(places))
    at_most = np.append(np.maximum.accumulate(quantiles), 1.0)
    return np.append(0.0, draws[places - 1]), at_most


def certified_rows(votes: np.ndarray) -> np.ndarray:
    """Additions and removals that cannot change each prediction of a vote in which a row reaches one voter only.

    `votes`: shape (n_rows, n_classes); the prediction is the class with the most votes, the lowest code among equals.

    Per row, int64 of shape (n_rows,): min over c' != c of floor((n_c - n_c' - [c' < c]) / 2). Source: Levine & Feizi 2021,
    Theorem 1. A voter without rows abstains; a row makes it vote, moving a gap by one instead of two: the bound covers it.
    """
    votes = votes.astype(np.int64)
    chosen = votes.argmax(axis=1)
    classes = np.arange(votes.shape[1])
    gap = votes.max(axis=1, keepdims=True) - votes - (classes[None, :] < chosen[:, None])
    gap[classes[None, :] == chosen[:, None]] = np.iinfo(np.int64).max
    return gap.min(axis=1) // 2


@dataclass(frozen=True)
class Certificate:
    """Lower bounds on a mean that privacy proves, from draws on one split."""

    #: Shape (n_draws,). One number in [0, 1] per draw on the clean training rows: accuracy, or 1 minus attack success.
    draws: np.ndarray
    #: epsilon, delta: proved privacy loss, add/remove one row.
    epsilon: float
    delta: float
    claimed: float  #: The paper's epsilon
    reason: str  #: Why nothing is proved; empty when something is
    beta: float  #: The band fails with at most this probability
    risk: Risk | None = None  #: What the steps let one row change; None where no more is known than epsilon and delta

    @classmethod
    def of(cls, found: Draws, beta: float, *, test: int = 0) -> Certificate:
        """The certificate of draws on one of their test sets."""
        return cls(found.of(test), found.epsilon, found.delta, found.first.claim.epsilon, found.reason, beta, found.risk)

    @property
    def accuracy(self) -> float:
        """Mean over the draws."""
        return float(self.draws.mean())

    def published(self, rows: int) -> float:
        """e^(-k eps) times the mean, with the claimed epsilon; NaN where none is claimed."""
        if not math.isfinite(self.claimed):
            return math.nan
        return published_bound(self.accuracy, rows, self.claimed, self.delta)

    def tight(self, rows: int) -> float:
        """The tight bound, taking the draws for the true distribution; NaN with a reason."""
        return math.nan if self.reason else tight_bound(self._empirical, rows, self.epsilon, self.delta, self.risk)

    def low(self, rows: int) -> float:
        """The tight bound with confidence, for all numbers of rows at once; NaN with a reason."""
        return math.nan if self.reason else tight_bound(self._band, rows, self.epsilon, self.delta, self.risk)

    @cached_property
    def _empirical(self) -> Distribution:
        return distribution_of(self.draws)

    @cached_property
    def _band(self) -> Distribution:
        return band_distribution(self.draws, self.beta)


@dataclass(frozen=True)
class VoteCertificate:
    """The accuracy that a vote on disjoint rows keeps for certain, test row by test row; without noise."""

    #: Shape (n_rows,), int64. Poisoned rows that cannot change the prediction; -1 where it is wrong already.
    withstands: np.ndarray
    reason: str = ""

    @classmethod
    def of(cls, forest: Forest, test: EncodedDataset) -> VoteCertificate:
        """From the votes on test rows."""
        votes = forest.votes(test)
        return cls(np.where(votes.argmax(axis=1) == test.target, certified_rows(votes), -1))

    @property
    def accuracy(self) -> float:
        """Share of test rows predicted correctly."""
        return self.low(0)

    def low(self, rows: int) -> float:
        """Share of test rows predicted correctly whatever `rows` additions and removals do."""
        return float(np.mean(self.withstands >= rows))

    published = tight = low


Bounds = Certificate | VoteCertificate
