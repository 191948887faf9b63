"""Class counts per bin, and the rows of one node.

These counts are exact. They exist only inside `fit`, and leave it only through a mechanism.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dpviz.table.candidates import CandidateGrid
from dpviz.table.dataset import EncodedDataset
from dpviz.training.node_cache import NodeCache


@dataclass(frozen=True, eq=False)
class BinnedRows:
    """A data set binned by a grid: `codes[f][row] = bin * n_classes + class`, the smallest unsigned type that fits."""

    grid: CandidateGrid
    codes: tuple[np.ndarray, ...]
    target: np.ndarray
    n_classes: int

    @classmethod
    def of(cls, data: EncodedDataset, grid: CandidateGrid) -> BinnedRows:
        """Bin `data` (the data set may cache its bins) and join each bin with the row's class."""
        n_classes = data.n_classes
        target = data.target.astype(np.uint32)
        codes = []
        for feature, bins in zip(grid.features, grid.bin(data), strict=True):
            joint = bins * np.uint32(n_classes) + target
            codes.append(joint.astype(np.uint16 if feature.n_bins * n_classes <= 65536 else np.uint32))
        return cls(grid, tuple(codes), data.target, n_classes)

    def histogram(self, rows: np.ndarray | None) -> np.ndarray:
        """Class counts per bin, feature after feature: int64 of shape (grid.n_bins, n_classes)."""
        parts = []
        for feature, codes in zip(self.grid.features, self.codes, strict=True):
            here = codes if rows is None else codes[rows]
            parts.append(np.bincount(here, minlength=feature.n_bins * self.n_classes))
        return np.concatenate(parts).reshape(-1, self.n_classes)


class CountedNode(ABC):
    """What a learner's step may ask of the rows of a node: counts. Who counts, and where the rows are, it does not know."""

    #: Depth of the node; the root has 0. Public.
    level: int

    @property
    @abstractmethod
    def grid(self) -> CandidateGrid:
        """What the rows are binned by. Public."""

    @property
    def n_classes(self) -> int:
        """Number of classes. Public."""
        return self.histogram.shape[1]

    @property
    @abstractmethod
    def histogram(self) -> np.ndarray:
        """Class counts per bin, int64 of shape (grid.n_bins, n_classes). Private."""

    @property
    def n_rows(self) -> int:
        """Exact number of rows. Private."""
        return int(self.class_counts.sum())

    @cached_property
    def class_counts(self) -> np.ndarray:
        """Rows per class, int64 of shape (n_classes,). Private."""
        return self.histogram[: self.grid.features[0].n_bins].sum(axis=0)  # every row is in one bin of a feature

    @cached_property
    def left_counts(self) -> np.ndarray:
        """Class counts of the left child under every candidate, int64 of shape (n_candidates, n_classes). Private."""
        return left_counts(self.grid, self.histogram)

    def remembered(self, key: Hashable, make: Callable[[], np.ndarray]) -> np.ndarray:
        """`make()`, an array that follows from these rows and `key` alone."""
        return make()

    @abstractmethod
    def children(self, feature: int, left_bins: np.ndarray) -> tuple[CountedNode, CountedNode]:
        """(left, right): rows whose bin of `feature` is in `left_bins` (bool of shape (n_bins,)) go left."""

    @abstractmethod
    def of_part_0(self, parts: np.ndarray) -> CountedNode:
        """Of a root: its rows without those that coins set aside. `parts` holds the part of every row, uint8."""


@dataclass(frozen=True, eq=False)
class NodeRows(CountedNode):
    """The rows that reach a node, in memory. `rows` is None at the root; `level` is its depth (root = 0)."""

    binned: BinnedRows
    rows: np.ndarray | None
    level: int
    cache: NodeCache[NodeRows] | None = None  # shared by all fits of a sweep; None for a single fit
    is_held: bool = False  # by `cache`
    _parent: tuple[np.ndarray, NodeRows] | None = None  # (counts of the parent, sibling): the larger child subtracts

    @property
    def grid(self) -> CandidateGrid:
        """What the rows are binned by. Public."""
        return self.binned.grid

    @property
    def n_rows(self) -> int:
        """Exact number of rows. Private."""
        return len(self.binned.target) if self.rows is None else len(self.rows)

    @property
    def size(self) -> int:
        """Numbers that it holds once all has been counted."""
        grid, n_classes = self.binned.grid, self.binned.n_classes
        per_candidate = n_classes * n_classes  # counts, and utilities of labelled splits
        return (0 if self.rows is None else len(self.rows)) + grid.n_bins * n_classes + grid.n_candidates * per_candidate

    @cached_property
    def histogram(self) -> np.ndarray:  # type: ignore[override]
        """Class counts per bin, int64 of shape (grid.n_bins, n_classes)."""
        if self._parent is not None:
            of_parent, sibling = self._parent
            return of_parent - sibling.histogram
        return self.binned.histogram(self.rows)

    @cached_property
    def class_counts(self) -> np.ndarray:
        """Rows per class, int64 of shape (n_classes,)."""
        target = self.binned.target if self.rows is None else self.binned.target[self.rows]
        return np.bincount(target, minlength=self.binned.n_classes)

    @cached_property
    def _computed(self) -> dict[Hashable, np.ndarray]:
        return {}

    def remembered(self, key: Hashable, make: Callable[[], np.ndarray]) -> np.ndarray:
        """`make()`, an array that follows from these rows and `key` alone; remembered where the node is."""
        if key not in self._computed:
            self._computed[key] = make()
        return self._computed[key]

    def children(self, feature: int, left_bins: np.ndarray) -> tuple[NodeRows, NodeRows]:
        """(left, right): rows whose bin of `feature` is in `left_bins` (bool of shape (n_bins,)) go left."""
        if self.cache is None:
            return self.divide(feature, left_bins)
        return self.cache.children(self, feature, left_bins)

    def of_part_0(self, parts: np.ndarray) -> NodeRows:
        """A root's rows without those that coins set aside."""
        return rows_left(self, parts == 0)

    def divide(self, feature: int, left_bins: np.ndarray) -> tuple[NodeRows, NodeRows]:
        """Its children, made anew."""
        goes_left = np.repeat(left_bins, self.binned.n_classes)
        codes = self.binned.codes[feature]
        mask = goes_left[codes if self.rows is None else codes[self.rows]]
        left = np.flatnonzero(mask) if self.rows is None else self.rows[mask]
        right = np.flatnonzero(~mask) if self.rows is None else self.rows[~mask]
        return _siblings(self, left, right)


def _siblings(parent: NodeRows, left: np.ndarray, right: np.ndarray) -> tuple[NodeRows, NodeRows]:
    """Two children. The larger one holds its parent's counts, not the parent: growing by levels keeps whole levels of nodes."""
    level, cache, counts = parent.level + 1, parent.cache, vars(parent).get("histogram")
    plain_left, plain_right = (NodeRows(parent.binned, rows, level, cache) for rows in (left, right))
    if counts is None:
        return plain_left, plain_right
    if len(left) <= len(right):
        return plain_left, NodeRows(parent.binned, right, level, cache, _parent=(counts, plain_left))
    return NodeRows(parent.binned, left, level, cache, _parent=(counts, plain_right)), plain_right


@dataclass(frozen=True, eq=False)
class _RowsLeft(NodeRows):
    """The rows of a node whose counts are remembered, without some that are counted and taken off. Its own are remembered too."""

    whole: NodeRows = field(kw_only=True)
    without: NodeRows = field(kw_only=True)

    @property
    def n_rows(self) -> int:
        """Exact number of rows. Private."""
        return self.whole.n_rows - self.without.n_rows

    @cached_property
    def histogram(self) -> np.ndarray:
        """Class counts per bin, int64 of shape (grid.n_bins, n_classes)."""
        return self.whole.histogram - self.without.histogram

    class_counts = CountedNode.class_counts

    def divide(self, feature: int, left_bins: np.ndarray) -> tuple[NodeRows, NodeRows]:
        """Its children, made anew."""
        pairs = zip(self.whole.children(feature, left_bins), self.without.children(feature, left_bins), strict=True)
        level, cache = self.level + 1, self.cache
        left, right = (_RowsLeft(self.binned, None, level, cache, whole=whole, without=without) for whole, without in pairs)
        return left, right


def node_at(root: CountedNode, rows: np.ndarray, level: int) -> NodeRows:
    """The node that the rows at these positions reach, below a root in memory."""
    assert isinstance(root, NodeRows)
    return NodeRows(root.binned, rows, level)


def rows_left(root: NodeRows, kept: np.ndarray) -> NodeRows:
    """The rows of `root` where `kept` (bool of shape (n_rows,)) is true. Remembered counts stay of use.

    A seed's coins fall alike in every fit of a sweep, so what is left by them is remembered as well.
    """
    if root.cache is None:
        return NodeRows(root.binned, np.flatnonzero(kept), root.level)
    without = NodeRows(root.binned, np.flatnonzero(~kept), root.level)
    left = _RowsLeft(root.binned, None, root.level, root.cache, whole=root, without=without)
    return root.cache.same_rows(np.packbits(kept).tobytes(), left)


def root_rows(data: EncodedDataset, grid: CandidateGrid) -> NodeRows:
    """All rows, binned. Fits on one data set that `caches_counts` share their counts."""
    if not (data.caches_counts and grid.is_reused):
        return NodeRows(BinnedRows.of(data, grid), None, 0)
    root = data.binning(("root", grid.key), lambda: NodeRows(BinnedRows.of(data, grid), None, 0, NodeCache(), is_held=True))
    if root.cache is not None:
        root.cache.use()
    return root


def left_counts(grid: CandidateGrid, histogram: np.ndarray) -> np.ndarray:
    """Class counts of the left child under every candidate, shape (n_candidates, n_classes), in the histogram's dtype."""
    counts = np.empty((grid.n_candidates, histogram.shape[1]), dtype=histogram.dtype)
    below = np.concatenate([np.zeros_like(histogram[:1]), histogram.cumsum(axis=0)])
    numbers, starts, ends = grid.ranges
    counts[numbers] = below.take(ends, axis=0) - below.take(starts, axis=0)
    for candidates, bins, membership in grid.subsets:
        counts[candidates] = membership @ histogram[bins]  # float64, exact below 2^53
    return counts
