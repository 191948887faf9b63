"""Counting rows that are in memory: what every other way of counting is compared with."""

from __future__ import annotations

import math

import numpy as np

from dpviz.models.packed_forest import PackedTrees, values_of
from dpviz.models.tree import Node, Tree
from dpviz.privacy.leaf_labels import LeafCounts
from dpviz.table.candidates import CandidateGrid
from dpviz.table.dataset import EncodedDataset
from dpviz.training.counting.contract import CountedRows, Measure, Rows
from dpviz.training.counting.on_disk import slices
from dpviz.training.forests.random_trees import row_order
from dpviz.training.halving import in_bands
from dpviz.training.histograms import NodeRows, root_rows


class InMemory(CountedRows):
    """The rows of an `EncodedDataset`."""

    def __init__(self, data: EncodedDataset) -> None:
        self.data, self.schema = data, data.schema
        self.not_row_wise, self.rows_per_person, self.report = data.not_row_wise, data.rows_per_person, data.report

    @property
    def n_rows(self) -> int:
        """Exact number of rows. Private."""
        return self.data.n_rows

    @property
    def identity(self) -> str:
        """What the register knows these rows by. Private."""
        return self.data.identity

    def class_counts(self) -> np.ndarray:
        """Rows per class."""
        return self.data.class_counts()

    def root(self, grid: CandidateGrid) -> NodeRows:
        """All rows, binned."""
        return root_rows(self.data, grid)

    def leaf_counts(self, root: Node, parts: np.ndarray | None, n_parts: int) -> np.ndarray:
        """Rows by part, leaf and class."""
        parts = np.ones(self.n_rows, dtype=np.uint8) if parts is None else parts
        tree, rows, n_classes = Tree(self.schema, root), np.flatnonzero(parts), self.data.n_classes
        shape = n_parts, tree.n_leaves, n_classes
        part = parts[rows].astype(np.int64) - 1
        cells = (part * tree.n_leaves + tree.leaf_of_rows(self.data, rows)) * n_classes + self.data.target[rows]
        return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)

    def forest_counts(self, trees: PackedTrees, tree_of: np.ndarray | None) -> LeafCounts:
        """Rows by leaf and class."""
        data, values, n_leaves = self.data, values_of(self.data), len(trees.leaves)
        if tree_of is None:
            leaves = [trees.leaf_of(values, np.full(data.n_rows, root)) for root in trees.roots]
            return LeafCounts.of(np.concatenate(leaves), np.tile(data.target, trees.n_trees), n_leaves, data.n_classes)
        order = row_order(data)
        leaf = trees.leaf_of(values[order], trees.roots[tree_of])
        return LeafCounts.of(leaf, data.target[order], n_leaves, data.n_classes)

    def banded(self, cuts: np.ndarray) -> InMemory:
        """The same rows, whose class is the band of their number."""
        return InMemory(in_bands(self.data, cuts))

    def sums(self, measure: Measure, root: Node, parts: np.ndarray | None, part: int) -> np.ndarray:
        """Sums over the rows of a part, by leaf."""
        tree = Tree(self.schema, root)
        rows = np.arange(self.n_rows) if parts is None else np.flatnonzero(parts == part)
        leaf = tree.leaf_of_rows(self.data, rows)
        return _summed(measure, self.data.target[rows], leaf, tree.n_leaves)


def _summed(measure: Measure, target: np.ndarray, leaf: np.ndarray, n_leaves: int) -> np.ndarray:
    """Sums of a measure over rows, by leaf: int64 of shape (n_leaves, measure.width)."""
    found = np.zeros((n_leaves, measure.width), dtype=np.int64)
    for here in slices(len(target)):  # few enough for sums in float64 to be exact
        numbers = measure(target[here], leaf[here])
        parts = (np.bincount(leaf[here], weights=column, minlength=n_leaves) for column in numbers.T)
        found += np.stack(list(parts), axis=1).astype(np.int64)
    return found


def counted(rows: Rows) -> CountedRows:
    """Whoever counts these rows."""
    return InMemory(rows) if isinstance(rows, EncodedDataset) else rows
