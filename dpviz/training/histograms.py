"""Class counts per bin, and the rows of one node.

These counts are exact. They exist only inside `fit`, and leave it only through a mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.table.candidates import CandidateGrid
from dpviz.table.dataset import EncodedDataset


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


@dataclass(frozen=True, eq=False)
class NodeRows:
    """The rows that reach a node. `rows` is None at the root; `level` is its depth (root = 0)."""

    binned: BinnedRows
    rows: np.ndarray | None
    level: int
    cache: NodeCache | None = None  # shared by all fits of a sweep; None for a single fit
    _is_held: bool = False  # by `cache`
    _parent: tuple[NodeRows, NodeRows] | None = None  # (parent, sibling): the larger child subtracts instead of counting

    @property
    def n_rows(self) -> int:
        """Exact number of rows. Private."""
        return len(self.binned.target) if self.rows is None else len(self.rows)

    @cached_property
    def histogram(self) -> np.ndarray:
        """Class counts per bin, int64 of shape (grid.n_bins, n_classes)."""
        if self._parent is not None:
            parent, sibling = self._parent
            if sibling.n_rows < self.n_rows:
                return parent.histogram - sibling.histogram
        return self.binned.histogram(self.rows)

    @cached_property
    def class_counts(self) -> np.ndarray:
        """Rows per class, int64 of shape (n_classes,)."""
        target = self.binned.target if self.rows is None else self.binned.target[self.rows]
        return np.bincount(target, minlength=self.binned.n_classes)

    @cached_property
    def left_counts(self) -> np.ndarray:
        """Class counts of the left child under every candidate, int64 of shape (n_candidates, n_classes)."""
        return left_counts(self.binned.grid, self.histogram)

    def children(self, feature: int, left_bins: np.ndarray) -> tuple[NodeRows, NodeRows]:
        """(left, right): rows whose bin of `feature` is in `left_bins` (bool of shape (n_bins,)) go left."""
        if self.cache is None:
            return self._divide(feature, left_bins)
        return self.cache.children(self, feature, left_bins)

    def _divide(self, feature: int, left_bins: np.ndarray) -> tuple[NodeRows, NodeRows]:
        goes_left = np.repeat(left_bins, self.binned.n_classes)
        codes = self.binned.codes[feature]
        mask = goes_left[codes if self.rows is None else codes[self.rows]]
        left = np.flatnonzero(mask) if self.rows is None else self.rows[mask]
        right = np.flatnonzero(~mask) if self.rows is None else self.rows[~mask]
        return _siblings(self, left, right)


def _siblings(parent: NodeRows, left: np.ndarray, right: np.ndarray) -> tuple[NodeRows, NodeRows]:
    level, cache = parent.level + 1, parent.cache
    plain_left, plain_right = (NodeRows(parent.binned, rows, level, cache) for rows in (left, right))
    if len(left) <= len(right):
        return plain_left, NodeRows(parent.binned, right, level, cache, _parent=(parent, plain_left))
    return NodeRows(parent.binned, left, level, cache, _parent=(parent, plain_right)), plain_right


@dataclass(frozen=True, eq=False)
class _RowsLeft(NodeRows):
    """The rows of a node whose counts are remembered, without some that are counted and taken off."""

    whole: NodeRows | None = None
    without: NodeRows | None = None

    @property
    def n_rows(self) -> int:
        """Exact number of rows. Private."""
        return self._whole.n_rows - self._without.n_rows

    @property
    def _whole(self) -> NodeRows:
        assert self.whole is not None
        return self.whole

    @property
    def _without(self) -> NodeRows:
        assert self.without is not None
        return self.without

    @cached_property
    def histogram(self) -> np.ndarray:
        """Class counts per bin, int64 of shape (grid.n_bins, n_classes)."""
        return self._whole.histogram - self._without.histogram

    @cached_property
    def class_counts(self) -> np.ndarray:
        """Rows per class, int64 of shape (n_classes,)."""
        return self.histogram[: self.binned.grid.features[0].n_bins].sum(axis=0)  # every row is in one bin of a feature

    def children(self, feature: int, left_bins: np.ndarray) -> tuple[NodeRows, NodeRows]:
        """(left, right), as for any node."""
        pairs = zip(self._whole.children(feature, left_bins), self._without.children(feature, left_bins), strict=True)
        left, right = (_RowsLeft(self.binned, None, self.level + 1, whole=whole, without=without) for whole, without in pairs)
        return left, right


def rows_left(root: NodeRows, kept: np.ndarray) -> NodeRows:
    """The rows of `root` where `kept` (bool of shape (n_rows,)) is true. Remembered counts stay of use."""
    if root.cache is None:
        return NodeRows(root.binned, np.flatnonzero(kept), root.level)
    without = NodeRows(root.binned, np.flatnonzero(~kept), root.level)
    return _RowsLeft(root.binned, None, root.level, whole=root, without=without)


class NodeCache:
    """Child nodes that earlier fits of a sweep counted, up to a total number of rows; the rest is counted again."""

    def __init__(self, rows_held: int = 16_000_000) -> None:
        self._room = rows_held
        self._known: dict[tuple[int, int, bytes], tuple[NodeRows, NodeRows]] = {}

    def children(self, node: NodeRows, feature: int, left_bins: np.ndarray) -> tuple[NodeRows, NodeRows]:
        """As NodeRows.children."""
        key = id(node), feature, left_bins.tobytes()  # parents hold the nodes in the cache, so ids are not reused
        if key in self._known:
            return self._known[key]
        pair = node._divide(feature, left_bins)
        if self._room >= node.n_rows and (node.rows is None or node._is_held):
            self._known[key] = pair
            self._room -= node.n_rows
            for child in pair:
                object.__setattr__(child, "_is_held", True)
        return pair


def root_rows(data: EncodedDataset, grid: CandidateGrid) -> NodeRows:
    """All rows, binned. Fits on one data set that `caches_counts` share their counts."""
    if not (data.caches_counts and grid.is_reused):
        return NodeRows(BinnedRows.of(data, grid), None, 0)
    return data.binning(("root", grid.key), lambda: NodeRows(BinnedRows.of(data, grid), None, 0, NodeCache()))


def left_counts(grid: CandidateGrid, histogram: np.ndarray) -> np.ndarray:
    """Class counts of the left child under every candidate, shape (n_candidates, n_classes), in the histogram's dtype."""
    counts = np.empty((grid.n_candidates, histogram.shape[1]), dtype=histogram.dtype)
    below = np.concatenate([np.zeros_like(histogram[:1]), histogram.cumsum(axis=0)])
    numbers, starts, ends = grid.ranges
    counts[numbers] = below[ends] - below[starts]
    for candidates, bins, membership in grid.subsets:
        counts[candidates] = membership @ histogram[bins]  # float64, exact below 2^53
    return counts
