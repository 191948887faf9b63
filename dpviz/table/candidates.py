"""Candidate splits that come from the schema alone, and rows binned for counting them.

A grid gives every feature some bins and a list of ways to send bins left. Two forms cover everything: a *range* of
consecutive bins goes left (thresholds, prefixes, one category against the rest), or any *subset* of at most ten
categories does. A grid never looks at rows.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from itertools import pairwise

import numpy as np

from dpviz.errors import SchemaError
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Feature, NumericTarget, Schema

#: From this many rows on, looking for bins pays for making a table of cells.
FEW_ROWS = 1 << 14
#: Marks a cell that holds a threshold.
_THRESHOLD_CELL = 255
#: Thresholds farther from 0 have no cells: sums with them may be beyond all numbers.
_FARTHEST = 1e250
#: How many cells are tried: the finest of PF-tree's grid, 2^-16 of the range, still fit into the processor's cache.
_CELLS = tuple(1 << bits for bits in range(8, 19))
#: Up to this many categories every two-way partition is a candidate.
MAX_PARTITION_CATEGORIES = 10
#: Steps between two halvings of the distance to an end of the range, the second for targets that are numbers.
HALVES, QUARTERS = (1.0, 1.5), (1.0, 1.25, 1.5, 1.75)


@dataclass(frozen=True, eq=False)
class FeatureCandidates:
    """Bins of one feature and its candidate splits."""

    n_bins: int
    #: Increasing; bin b holds values in (thresholds[b-1], thresholds[b]]. None: one bin per category.
    thresholds: np.ndarray | None = None
    #: starts, ends: shape (n_candidates,). Bins starts[i] .. ends[i]-1 go left; empty when `subsets` is used.
    starts: np.ndarray = field(default_factory=partial(np.empty, 0, np.int64))
    ends: np.ndarray = field(default_factory=partial(np.empty, 0, np.int64))
    #: Shape (n_candidates, n_bins), bool, or None. Bins that go left.
    subsets: np.ndarray | None = None

    @property
    def n_candidates(self) -> int:
        """How many ways there are to split this feature."""
        return len(self.starts) if self.subsets is None else len(self.subsets)

    @cached_property
    def are_prefixes(self) -> bool:
        """Whether candidate i sends the first i + 1 bins left, and there is none more."""
        return self.subsets is None and not self.starts.any() and np.array_equal(self.ends, np.arange(1, self.n_bins))

    @cached_property
    def membership(self) -> np.ndarray:
        """Subsets as 0 and 1, float64 of shape (n_candidates, n_bins)."""
        assert self.subsets is not None
        return self.subsets.astype(np.float64)

    @cached_property
    def cells(self) -> ThresholdCells | None:
        """A faster way to find bins, where there is one."""
        return None if self.thresholds is None else ThresholdCells.of(self.thresholds)

    def left_bins(self, index: int) -> np.ndarray:
        """Bins that go left under candidate `index`, bool of shape (n_bins,)."""
        if self.subsets is not None:
            return self.subsets[index]
        bins = np.arange(self.n_bins)
        return (bins >= self.starts[index]) & (bins < self.ends[index])


@dataclass(frozen=True, eq=False)
class ThresholdCells:
    """Equal cells of a range, of which few hold a threshold: elsewhere a value's cell tells its bin.

    To `shift`, a large number, no more of a value can be added than whole cells; the bits of the sum count them. This is the same
    for thresholds and values, and never falls as the value grows. So a threshold in a lower cell is below the value and one in a
    higher cell above it, whatever is rounded on the way. Values in the cell of a threshold are searched for. Bins are those of a
    search, to the bit.
    """

    shift: float
    first: int  # the bits of the sum of `shift` and the first threshold
    below: np.ndarray  # per cell: thresholds in lower cells; _THRESHOLD_CELL where the cell holds one
    thresholds: np.ndarray

    @classmethod
    def of(cls, thresholds: np.ndarray) -> ThresholdCells | None:
        """None where no such cells are few enough."""
        if not (0 < len(thresholds) < _THRESHOLD_CELL and np.abs(thresholds).max() < _FARTHEST):
            return None
        for n_cells in _CELLS:
            shift = _shift(thresholds, n_cells)
            bits = _bits(thresholds, shift)
            if len(np.unique(bits)) == len(thresholds):
                below = np.repeat(np.arange(len(bits) + 1, dtype=np.uint8), np.diff(bits, prepend=bits[0] - 1, append=bits[-1]))
                below[bits - bits[0]] = _THRESHOLD_CELL  # at both ends are numbers beyond all thresholds, and what is no number
                return cls(shift, int(bits[0]), below, thresholds)
        return None

    def bins(self, values: np.ndarray) -> np.ndarray:
        """How many thresholds are below each value; float64 or whole numbers, none missing."""
        cell = _bits(values, self.shift)
        cell -= self.first
        bins = self.below.take(cell, mode="clip")
        in_doubt = np.flatnonzero(bins == _THRESHOLD_CELL)
        bins[in_doubt] = np.searchsorted(self.thresholds, values[in_doubt])
        return bins


def _shift(thresholds: np.ndarray, n_cells: int) -> float:
    """What float64 adds numbers to in steps of a cell: so many cells, at most, lie between the first and the last threshold."""
    low, high = float(thresholds[0]), float(thresholds[-1])
    widths = (high - low) / n_cells, max(abs(low), abs(high)) * 2.0**-50
    return 1.5 * math.ldexp(2.0**52, max(math.frexp(width)[1] for width in widths))


def _bits(values: np.ndarray, shift: float) -> np.ndarray:
    """Of the sums, int64: more by one per cell. Those of what is no number, or farther away, are beyond either end."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.add(values, shift, dtype=np.float64).view(np.int64)


def thresholds_candidates(thresholds: Sequence[float] | np.ndarray) -> FeatureCandidates:
    """One candidate per threshold: `value <= threshold` goes left."""
    cuts = np.unique(np.asarray(thresholds, dtype=np.float64))
    ends = np.arange(1, len(cuts) + 1)
    return FeatureCandidates(len(cuts) + 1, cuts, np.zeros_like(ends), ends)


def prefix_candidates(n_categories: int) -> FeatureCandidates:
    """Categories before each place in declared order go left."""
    ends = np.arange(1, n_categories)
    return FeatureCandidates(n_categories, None, np.zeros_like(ends), ends)


def partition_candidates(n_categories: int) -> FeatureCandidates:
    """All 2^(c-1) - 1 two-way partitions up to ten categories; above that one against the rest, and prefixes."""
    if n_categories > MAX_PARTITION_CATEGORIES:
        one = [(category, category + 1) for category in range(n_categories)]
        prefixes = [(0, end) for end in range(2, n_categories - 1)]  # prefixes of 1 and n-1 are already there
        return FeatureCandidates(n_categories, None, *np.array(one + prefixes).T)
    masks = np.arange(1, 2 ** (n_categories - 1))[:, None]
    subsets = (masks >> np.arange(n_categories)[None, :]) & 1  # the last category always goes right
    return FeatureCandidates(n_categories, subsets=subsets.astype(bool))


@dataclass(frozen=True, eq=False)
class CandidateGrid:
    """Candidates of every feature, numbered through: feature by feature, in each feature's own order."""

    schema: Schema
    features: tuple[FeatureCandidates, ...]
    name: str
    is_reused: bool = True  # False: made anew by every fit, so its bin codes are not worth the memory

    def __post_init__(self) -> None:
        if not self.n_candidates:
            what = "No feature can be split: every feature has a single category."
            raise SchemaError(what, remedy="Declare at least one feature with a range or with two categories.")

    @cached_property
    def offsets(self) -> np.ndarray:
        """First bin of each feature in the concatenated histogram, and the total; shape (n_features + 1,)."""
        return np.concatenate([[0], np.cumsum([f.n_bins for f in self.features])]).astype(np.int64)

    @cached_property
    def first_candidates(self) -> np.ndarray:
        """Number of each feature's first candidate, and the total; shape (n_features + 1,)."""
        return np.concatenate([[0], np.cumsum([f.n_candidates for f in self.features])]).astype(np.int64)

    @property
    def n_candidates(self) -> int:
        """All candidates together."""
        return int(self.first_candidates[-1])

    @property
    def n_bins(self) -> int:
        """All bins together."""
        return int(self.offsets[-1])

    @cached_property
    def slices(self) -> tuple[tuple[FeatureCandidates, slice, slice], ...]:
        """(feature, its bins, its candidates), both numbered through."""
        ends = zip(pairwise(self.offsets.tolist()), pairwise(self.first_candidates.tolist()), strict=True)
        return tuple((feature, slice(*bins), slice(*own)) for feature, (bins, own) in zip(self.features, ends, strict=True))

    def locate(self, candidate: int) -> tuple[int, int]:
        """(feature, index within the feature) of a candidate number."""
        feature = bisect_right(self._firsts, candidate) - 1
        return feature, int(candidate - self._firsts[feature])

    @cached_property
    def _firsts(self) -> list[int]:
        return self.first_candidates.tolist()

    def bin(self, data: EncodedDataset) -> tuple[np.ndarray, ...]:
        """Bin of every row, per feature: uint8 or uint16 arrays of shape (n_rows,)."""
        return tuple(map(bin_column, self.features, data.columns))

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Equal for grids with the same bins."""
        return (self.name, *key_of(self.features))


def key_of(features: Sequence[FeatureCandidates]) -> tuple[object, ...]:
    """Equal for candidates with the same bins."""
    return tuple(one.n_bins if one.thresholds is None else one.thresholds.tobytes() for one in features)


def bin_column(feature: FeatureCandidates, column: np.ndarray) -> np.ndarray:
    """Bin of every value: category codes as they are; numbers by the thresholds (`<=` goes to the lower bin)."""
    if feature.thresholds is None:
        return column
    dtype = np.min_scalar_type(feature.n_bins - 1)
    if column.dtype.kind == "i" and len(column):
        low, high = int(column.min()), int(column.max())
        if high - low < len(column):  # a table of the values that occur is shorter than the column
            table = np.searchsorted(feature.thresholds, np.arange(low, high + 1)).astype(dtype)
            return table[np.subtract(column, low, dtype=np.int64)]  # in 16 bits the difference could wrap around
    if len(column) >= FEW_ROWS and feature.cells is not None:
        return feature.cells.bins(column)
    return np.searchsorted(feature.thresholds, column).astype(dtype)


@lru_cache(maxsize=64)
def multiscale_grid(schema: Schema) -> CandidateGrid:
    """PF-tree's grid: sixteenths of the range, and both ends approached by 2^-k and 1.5 * 2^-k for k = 1 .. 16.

    Long tails keep resolution where equal-width bins lose it. Where the target is a number, so do 1.25 * 2^-k and 1.75 * 2^-k:
    levels chosen one by one count no pairs of bins, and twice as many candidates cost a choice ln 2. Source: this project.
    """
    return CandidateGrid(schema, multiscale_candidates(schema), "multiscale")


def multiscale_candidates(schema: Schema) -> tuple[FeatureCandidates, ...]:
    """The candidates of PF-tree's grid, by feature; also where no feature can be split."""
    scales = QUARTERS if isinstance(schema.target, NumericTarget) else HALVES
    return tuple(_multiscale(feature, scales) for feature in schema.features)


@lru_cache(maxsize=64)
def equal_width_grid(schema: Schema, bins: int) -> CandidateGrid:
    """`bins` equal-width bins per numeric feature, categories split as prefixes in declared order (PrivaTree, corrected)."""

    def of(feature: Feature) -> FeatureCandidates:
        if isinstance(feature, CategoricalFeature):
            return prefix_candidates(len(feature.categories))
        inner = np.arange(1, bins) / bins
        return thresholds_candidates(feature.low + inner * (feature.high - feature.low))

    return CandidateGrid(schema, tuple(map(of, schema.features)), f"equal width {bins}")


def multiscale_fractions(scales: tuple[float, ...] = HALVES, parts: int = 16, halvings: int = 16) -> np.ndarray:
    """Fractions of the range, increasing, symmetric, strictly between 0 and 1: equal parts, and scale * 2^-k towards both ends.

    No two are closer than half the last 2^-k.
    """
    near = [scale * 2.0**-k for k in range(1, halvings + 1) for scale in scales]
    kept = [fraction for fraction in near if fraction < 1 and (fraction * 2.0 ** (halvings + 1)).is_integer()]
    lower = np.array([i / parts for i in range(1, parts)] + kept)
    return np.unique(np.concatenate([lower, 1 - lower]))


@lru_cache(maxsize=1024)  # a sweep makes the same grid for every fit
def _multiscale(feature: Feature, scales: tuple[float, ...]) -> FeatureCandidates:
    if isinstance(feature, CategoricalFeature):
        return partition_candidates(len(feature.categories))
    cuts = feature.low + multiscale_fractions(scales) * (feature.high - feature.low)
    if feature.whole:
        cuts = np.unique(np.floor(cuts)) + 0.5  # between two whole numbers, nothing is lost by rounding
        cuts = cuts[(cuts > math.ceil(feature.low)) & (cuts < math.floor(feature.high))]
        if not len(cuts):
            cuts = np.array([feature.low])
    return thresholds_candidates(cuts)
