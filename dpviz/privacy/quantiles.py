"""The joint exponential mechanism: all quantiles of a column in one selection.

Source: Gillenwater, Joseph & Kulesza 2021, "Differentially private quantiles" (JointExp). Their dynamic programme runs here in
the log domain and without a Fourier transform, because the weights of a zero-inflated column span more than the range of floats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.errors import DpvizError, ParameterError, no_exact_sampler
from dpviz.privacy.sensitivity import Sensitivity, check_epsilon
from dpviz.privacy.source import NoiseSource, Output, record_sampler

#: Intervals processed at once: memory stays near m numbers per distinct value.
_CHUNK_SIZE = 1024


@dataclass(frozen=True, slots=True)
class JointQuantiles:
    """P(o) proportional to exp(a u(o)) over increasing o in [low, high]^m, u = -sum_j abs(n_j - n/(m+1)), a = eps/(2 Delta).

    n_j counts the values between o_(j-1) and o_j, so `o` estimates the quantiles j/(m+1). Values outside the range are clipped
    to it. Utility: epsilon -> 0 gives m sorted uniform points, epsilon -> infinity points that split the values evenly.
    """

    epsilon: float
    #: low, high: public range in the units of the values.
    low: float
    high: float
    n_quantiles: int = 9  #: m; 9 gives deciles
    title: ClassVar[str] = "joint exponential quantiles"

    def __post_init__(self) -> None:
        check_epsilon("JointQuantiles", self.epsilon)
        if not (self.low < self.high and math.isfinite(self.high - self.low)):
            raise ParameterError("JointQuantiles", "high", self.high, f"finite and above low = {self.low!r}")
        if self.n_quantiles < 1:
            raise ParameterError("JointQuantiles", "n_quantiles", self.n_quantiles, "at least 1")

    @property
    def exponent(self) -> float:
        """a, the factor on the utility."""
        return self._sensitivity.exponent(self.epsilon)

    @property
    def _sensitivity(self) -> Sensitivity:
        return add_remove_sensitivity(self.n_quantiles)

    def release(
        self, values: np.ndarray | Trellis, *, source: NoiseSource, part: str = "quantile", level: int | None = None
    ) -> Output[np.ndarray]:
        """Estimated quantiles of `values` (shape (n,), private) or of their `trellis`, shape (m,), never decreasing."""
        event = self._sensitivity.event(self.epsilon, self.title, part, level, bounded_range=True)
        return Output(source.draw(self, values), record_sampler(source, event))

    def sample(self, values: np.ndarray | Trellis, rng: np.random.Generator) -> np.ndarray:
        """One draw: intervals by the dynamic programme, then a uniform point in each."""
        trellis = values if isinstance(values, Trellis) else self.trellis(values)
        assert trellis.mechanism == self
        cells, intervals = list(trellis.draw_cells(rng)), trellis.intervals
        points = intervals.left[cells] + intervals.width[cells] * rng.random(len(cells))
        return np.sort(points.clip(self.low, self.high))

    def sample_exactly(self, values: np.ndarray | Trellis) -> np.ndarray:
        """Always raises RefusedRelease: there is no exact sampler for this continuous distribution."""
        raise no_exact_sampler(self.title)

    def log_normaliser(self, values: np.ndarray) -> float:
        """ln of the integral of exp(a u) over all increasing points of the range."""
        return float(_log_sum(self.trellis(values).log_ends()))

    def log_density(self, values: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
        """Exact log density at `quantiles` (last axis m); -inf outside the range or out of order."""
        quantiles = np.asarray(quantiles, dtype=np.float64)
        clipped = np.sort(self._clip(values))
        below = np.searchsorted(clipped, quantiles, side="right")
        counts = np.diff(below, axis=-1, prepend=0, append=len(clipped))
        utility = -np.abs(counts - len(clipped) / (self.n_quantiles + 1)).sum(axis=-1)
        inside = (quantiles >= self.low) & (quantiles <= self.high)
        allowed = inside.all(axis=-1) & (np.diff(quantiles, axis=-1) >= 0).all(axis=-1)
        return np.where(allowed, self.exponent * utility - self.log_normaliser(values), -np.inf)

    def trellis(self, values: np.ndarray) -> Trellis:
        """What every draw from `values` begins with, for many of them. Private."""
        return Trellis(self, _Intervals.between(self._clip(values), self.low, self.high, self.n_quantiles + 1))

    def _clip(self, values: np.ndarray) -> np.ndarray:
        values = np.asarray(values, dtype=np.float64)
        if np.isnan(values).any():
            raise DpvizError("Quantiles need values without gaps.", remedy="Fill missing values by a public rule first.")
        return values.clip(self.low, self.high)


def add_remove_sensitivity(n_quantiles: int) -> Sensitivity:
    """Delta = 2 (1 - 1/(m+1)): 1.8 for deciles. The authors have 2, for replacing a row."""
    value = 2 * (1 - 1 / (n_quantiles + 1))
    because = "one row moves its own n_j by 1 - 1/(m+1) against n/(m+1) and each of the other m by 1/(m+1)"
    return Sensitivity(value, monotone=False, source=f"{because} (Gillenwater et al. 2021)")


@dataclass(frozen=True, slots=True)
class _Intervals:
    """The gaps between neighbouring distinct values; the utility is constant within a gap.

    `ranks` is m+1 times the number of values at or left of a gap. Comparing ranks with n, which is m+1 times the number of values
    wanted between two quantiles, is exact. Ranks increase strictly.
    """

    left: np.ndarray
    width: np.ndarray
    ranks: np.ndarray
    n: int

    @classmethod
    def between(cls, values: np.ndarray, low: float, high: float, parts: int) -> _Intervals:
        distinct, counts = np.unique(values, return_counts=True)
        edges = np.concatenate(([low], distinct, [high]))
        below = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        width = np.diff(edges)
        real = width > 0
        return cls(edges[:-1][real], width[real], parts * below[real], len(values))


class Trellis:
    """Log weights of all ways to put the first j of m quantiles into intervals. Private.

    `opened[j-1]` (by interval): quantile j is the first in its interval. `placed[j-1]`: quantile j lies there, with any number of
    those before it. k quantiles in one interval have volume width^k / k!, hence

        opened(j, i) = width_i * sum over i' < i of placed(j-1, i') * step(i', i)
        run(j, k, i) = opened(j-k+1, i) * (width_i * step(i, i))^(k-1) / k!
        placed(j, i) = sum over k of run(j, k, i)

    with step(i', i) = exp(-rate * abs(rank_i - rank_i' - n)).
    """

    def __init__(self, mechanism: JointQuantiles, intervals: _Intervals) -> None:
        self.mechanism, self.intervals = mechanism, intervals
        n_quantiles = self._m = mechanism.n_quantiles
        rate = self._rate = mechanism.exponent / (n_quantiles + 1)
        width, ranks, n = intervals.width, intervals.ranks, intervals.n
        kernel = _StepSums(ranks, n, rate)
        self._opened = np.empty((n_quantiles, len(width)))
        self._opened[0] = self._log_step(ranks)
        log_width, more = np.log(width), np.arange(n_quantiles)
        self._stays = log_width + self._log_step(np.zeros(1, dtype=np.int64))  # of every further quantile in an interval
        self._more, self._log_factorials = more[:, None], np.array([math.lgamma(k + 2) for k in more])[:, None]
        for j in range(n_quantiles):
            self._opened[j] += log_width
            self._last = self._placed(j + 1, len(width))
            if j + 1 < n_quantiles:
                self._opened[j + 1] = kernel.log_sums(self._last)

    def draw_cells(self, rng: np.random.Generator) -> Iterator[int]:
        """Interval of each quantile, last quantile first."""
        ends = self.log_ends()
        j = self._m
        while j:
            cell = _choose(ends, rng)
            run = 1 + _choose(self._runs(j, slice(cell, cell + 1))[:, 0], rng)
            yield from [cell] * run
            j -= run
            if j:
                to_cell = self._log_step(self.intervals.ranks[cell] - self.intervals.ranks[:cell])
                ends = self._placed(j, cell) + to_cell

    def log_ends(self) -> np.ndarray:
        """Log weight of all ways that end in each interval, including the last step to the upper end of the range."""
        total = (self._m + 1) * self.intervals.n
        return self._last + self._log_step(total - self.intervals.ranks)

    def _placed(self, j: int, end: int) -> np.ndarray:
        """placed(j) of the intervals before `end`, computed in blocks and not kept: a column has up to n intervals."""
        log_weights = np.empty(end)
        for start in range(0, end, _CHUNK_SIZE):
            part = slice(start, min(start + _CHUNK_SIZE, end))
            log_weights[part] = _log_sum(self._runs(j, part), axis=0)
        return log_weights

    def _runs(self, j: int, part: slice) -> np.ndarray:
        """Log weight by number of quantiles in the same interval (k = 1..j, first axis) and by interval of `part`."""
        return self._opened[:j, part][::-1] + self._more[:j] * self._stays[part] - self._log_factorials[:j]

    def _log_step(self, ranks: np.ndarray) -> np.ndarray:
        return -self._rate * np.abs(ranks - self.intervals.n)


class _StepSums:
    """ln of sum over i' < i of exp(w_i' - rate abs(r_i - r_i' - n)) for all i at once, in linear time and without subtraction.

    Gaps of at least n are a running sum. Smaller gaps are a window of ranks shorter than n. With the ranks cut into blocks of
    length n, such a window is the tail of one block, the head of the next, or both (van Herk 1992), so running sums from both
    ends of each block suffice. There are at most m + 2 blocks.
    """

    def __init__(self, ranks: np.ndarray, n: int, rate: float) -> None:
        here = np.arange(len(ranks))
        first = np.minimum(np.searchsorted(ranks, ranks - n, side="right"), here)  # n = 0: nothing lies to the left
        blocks = ranks // max(n, 1)
        starts = np.flatnonzero(np.diff(blocks, prepend=-1))
        self._blocks = [slice(*ends) for ends in zip(starts, [*starts[1:], len(ranks)], strict=True)]
        self._ranks, self._n, self._rate = ranks, n, rate
        self._far = first.astype(np.int32)
        self._tail, self._head = _window_ends(first, here - 1, blocks, np.isin(first, starts))

    def log_sums(self, log_weights: np.ndarray) -> np.ndarray:
        terms = log_weights + self._rate * self._ranks
        far = np.concatenate(([-np.inf], np.logaddexp.accumulate(terms, out=terms)))[self._far]
        near = self._window_sums(log_weights - self._rate * self._ranks)
        shift = self._rate * self._ranks - self._rate * self._n
        far -= shift
        near += shift
        return np.logaddexp(far, near, out=far)

    def _window_sums(self, terms: np.ndarray) -> np.ndarray:
        ends = np.full(len(terms) + 1, -np.inf)
        for block in self._blocks:
            ends[block] = np.logaddexp.accumulate(terms[block])
        heads = ends[self._head]
        for block in self._blocks:
            ends[block] = np.logaddexp.accumulate(terms[block][::-1])[::-1]
        return np.logaddexp(ends[self._tail], heads, out=heads)


def _window_ends(first: np.ndarray, last: np.ndarray, blocks: np.ndarray, at_start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where to read the tail and the head of each window first..last; position len(blocks) means nothing."""
    nothing = len(blocks)
    empty = first > last
    two_blocks = blocks[first] != blocks[last]
    tail = np.where(~empty & (two_blocks | ~at_start), first, nothing)
    head = np.where(~empty & (two_blocks | at_start), last, nothing)
    return tail.astype(np.int32), head.astype(np.int32)


def _log_sum(terms: np.ndarray, axis: int | None = None) -> np.ndarray:
    """ln sum exp; at least one term along the axis is finite."""
    top = terms.max(axis=axis, keepdims=True)
    return np.log(np.exp(terms - top).sum(axis=axis)) + np.squeeze(top, axis=axis)


def _choose(log_weights: np.ndarray, rng: np.random.Generator) -> int:
    """Index with probability proportional to exp(log weight)."""
    sums = np.cumsum(np.exp(log_weights - log_weights.max()))
    return int(np.searchsorted(sums, (1 - rng.random()) * sums[-1]))  # 1 - random() > 0, so a weight of 0 is never chosen
