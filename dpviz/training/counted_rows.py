"""Rows that are counted: all that learners which need nothing but counts ask of rows, wherever these are.

In memory it is answered from arrays, some rows at a time; a source (`dpviz.rows`) answers by the same counts of its batches,
added up. Learners do not know which.

Every answer is an exact count, or an exact sum of whole numbers, and private: it leaves `fit` only through a mechanism. Each
usable row counts once per feature, whatever its values: nothing is sampled, estimated or counted twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container
from functools import partial
from typing import Literal, Self

import numpy as np

from dpviz.models.packed_forest import PackedTrees, values_of
from dpviz.models.tree import Branch, Node, Tree
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.privacy.source import NoiseSource
from dpviz.table.candidates import CandidateGrid
from dpviz.table.dataset import EncodedDataset, EncodingReport, Memo
from dpviz.table.schema import ClassTarget, Schema
from dpviz.table.sums import TableSums
from dpviz.training.nodes import BinnedRows, CountedNode, NodeCache, slices

#: What can be asked of rows: their classes; the bins of the public grid, and pairs of these, in the nodes of a tree; leaves of a
#: tree that asks for such bins, or for values of its own; leaves of many trees; sums over numeric targets.
Count = Literal["classes", "bins", "pairs", "leaves", "leaves by value", "leaves of forests", "sums"]
#: Adds what it counts of some rows, each by itself, and of their parts where these are told, to a sum.
Adding = Callable[[np.ndarray, EncodedDataset, np.ndarray | None], None]
#: Whole numbers that a row of a numeric target adds to sums, each row by itself: of numbers, float64, and leaves, int64, both of
#: shape (n_rows,), int64 of shape (n_rows, width). Of floats only additions, multiplications, divisions, comparisons and `floor`:
#: the same bits wherever they are computed.
Measure = Callable[[np.ndarray, np.ndarray], np.ndarray]


class CountedRows(ABC):
    """Encoded rows that are counted.

    Parts, where they are asked for, are those that `dpviz.privacy.random_assignment` drew: at random, in secret, per usable
    row or per person, in the order in which the rows are numbered, uint8 of shape (n_rows,). One fit gives the same array with
    every question.
    """

    schema: Schema
    not_row_wise: str = ""  #: Why one row of the source may have changed others; nothing is released from such rows
    whereabouts: str = ""  #: Where rows of a database or a cluster went to be counted, in words
    rows_per_person: int | None = None  #: The most rows of one person; None where the rows are not bound to persons
    persons: np.ndarray | None = None  #: Whose row each is, shape (n_rows,), private; None where they are not bound to persons
    most_rows_in_memory: int | None = None  #: How many rows could be read into memory instead; None where that is not known
    report: EncodingReport | None = None  #: What encoding did, for the owner's eyes only; None where that is not known

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:  # noqa: B027  (rows in memory have nothing to end)
        """Give up the rows, and end what was made for them. Leaving a `with` block does so."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Exact number of usable rows. Private."""

    def assign(self, assignment: RandomAssignment, source: NoiseSource) -> np.ndarray:
        """The part of every row, uint8 of shape (n_rows,): drawn in secret, those of a person together. Private."""
        return assignment.assign(self.n_rows, persons=self.persons, source=source)

    @property
    @abstractmethod
    def identity(self) -> str:
        """What the register knows these rows by, as `EncodedDataset.identity`. Private."""

    @property
    def table_sums(self) -> TableSums:
        """What the table is recognised by. Private."""
        return TableSums(0 if self.report is None else self.report.rows_read, (), is_known=False)

    @abstractmethod
    def _sum(self, totals: np.ndarray, add: Adding, parts: np.ndarray | None = None) -> np.ndarray:
        """`totals`, zeros at first, once every row is added to it, few at once."""

    def class_counts(self) -> np.ndarray:
        """Rows per class, int64 of shape (n_classes,)."""
        return self._sum(np.zeros(len(self.schema.classes), dtype=np.int64), _add_classes)

    @abstractmethod
    def root(self, grid: CandidateGrid, cuts: np.ndarray | None = None) -> CountedNode:
        """All rows, binned by `grid`: what a tree grows from.

        With `cuts`, of a numeric target: a row's class is the band of its number; band b holds (cuts[b-1], cuts[b]].
        """

    def leaf_counts(self, root: Node, parts: np.ndarray | None, n_parts: int) -> np.ndarray:
        """Rows by part, leaf of the tree (left to right) and class: int64, (n_parts, n_leaves, n_classes).

        Part 0 is not counted; without `parts` every row is in part 1.
        """
        shape = n_parts, Tree(self.schema, root).n_leaves, len(self.schema.classes)
        return self._sum(np.zeros(shape, dtype=np.int64), partial(_add_leaf_counts, root), parts)

    @abstractmethod
    def forest_counts(self, trees: PackedTrees, tree_of: np.ndarray | None) -> np.ndarray:
        """Rows by leaf of a forest and class: int64, (n_leaves, n_classes).

        On a cluster rows have no such order as below, and are told by their numbers.

        `tree_of[k]` is the tree that counts the k-th row *in order of values* (by the last feature first, then the one before
        it, ..., the target last: `row_order`), int64 of shape (n_rows,). None: every tree counts every row.
        """

    def sums(self, measure: Measure, root: Node, parts: np.ndarray | None, part: int) -> np.ndarray:
        """Of a numeric target: sums over the rows of a part (parts None: all rows), int64 of shape (n_leaves, width)."""
        width = measure(np.empty(0), np.empty(0, dtype=np.int64)).shape[1]
        totals = np.zeros((Tree(self.schema, root).n_leaves, width), dtype=np.int64)
        return self._sum(totals, partial(_add_sums, measure, root, part), parts)


def _add_classes(totals: np.ndarray, rows: EncodedDataset, parts: np.ndarray | None) -> None:
    """Rows per class."""
    totals += np.bincount(rows.target, minlength=len(totals))


def _add_leaf_counts(root: Node, totals: np.ndarray, rows: EncodedDataset, parts: np.ndarray | None) -> None:
    """Rows by part, leaf and class: `CountedRows.leaf_counts`."""
    leaf, target, chosen = _leaves(root, rows, None if parts is None else parts > 0)
    part = 0 if parts is None else parts[chosen].astype(np.int64) - 1
    place = (part * totals.shape[1] + leaf) * totals.shape[2] + target
    totals += np.bincount(place, minlength=totals.size).reshape(totals.shape)


def add_forest_counts(trees: PackedTrees, totals: np.ndarray, rows: EncodedDataset, parts: np.ndarray | None) -> None:
    """Rows by leaf of a forest and class; `parts`: the tree of each, None where every tree counts every row."""
    values = values_of(rows)
    for tree in range(trees.n_trees) if parts is None else (parts,):
        leaf = trees.leaf_of(values, trees.roots[tree])
        totals += np.bincount(leaf * totals.shape[1] + rows.target, minlength=totals.size).reshape(totals.shape)


def _add_sums(
    measure: Measure, root: Node, part: int, totals: np.ndarray, rows: EncodedDataset, parts: np.ndarray | None
) -> None:
    """Sums over the rows of a part, by leaf: of so few at once that they are exact in float64."""
    leaf, target, _ = _leaves(root, rows, None if parts is None else parts == part)
    sums = [np.bincount(leaf, weights=column, minlength=len(totals)) for column in measure(target, leaf).T]
    totals += np.stack(sums, axis=1).astype(np.int64)


def _leaves(root: Node, rows: EncodedDataset, chosen: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, slice | np.ndarray]:
    """(leaf, target, positions) of the chosen rows."""
    wanted = slice(None) if chosen is None else np.flatnonzero(chosen)
    piece = _piece_of(rows, wanted, features_of(root))
    return Tree(rows.schema, root).leaf_of_rows(piece), piece.target, wanted


#: What `fit` takes: rows in memory, or rows that are counted where they are.
Rows = EncodedDataset | CountedRows

#: Of a grid: the bins of rows, and what is known of nodes, for fits on rows that cache counts.
_BINNED_ROWS: Memo[BinnedRows] = Memo()
_CACHES: Memo[NodeCache] = Memo()
_BANDED_ROWS: Memo[EncodedDataset] = Memo()


class ArrayRows(CountedRows):
    """Rows in memory."""

    def __init__(self, rows: EncodedDataset) -> None:
        self.data = rows  #: The rows with their values. Private
        self.schema, self.report, self.not_row_wise = rows.schema, rows.report, rows.not_row_wise
        self.rows_per_person, self.persons = rows.rows_per_person, rows.persons

    @property
    def n_rows(self) -> int:
        """Exact number of rows. Private."""
        return self.data.n_rows

    @property
    def identity(self) -> str:
        """What the register knows these rows by: the same wherever they are. Private."""
        return self.data.identity

    @property
    def table_sums(self) -> TableSums:
        """What the table is recognised by."""
        return self.data.table_sums

    def _sum(self, totals: np.ndarray, add: Adding, parts: np.ndarray | None = None) -> np.ndarray:
        for here in slices(self.n_rows):
            add(totals, _piece_of(self.data, here), None if parts is None else parts[here])
        return totals

    def root(self, grid: CandidateGrid, cuts: np.ndarray | None = None) -> CountedNode:
        """All rows, binned. Fits on one data set that `caches_counts` share their counts."""
        rows = self.data if cuts is None else in_bands(self.data, cuts)
        if not grid.is_reused:
            return _bin_rows(rows, grid).root()
        binned = _BINNED_ROWS.of(rows, grid.key, lambda: _bin_rows(rows, grid))
        return binned.root(_CACHES.of(rows, grid.key, NodeCache).use() if rows.caches_counts else None)

    def forest_counts(self, trees: PackedTrees, tree_of: np.ndarray | None) -> np.ndarray:
        """Rows by leaf and class."""
        data = self.data
        totals = np.zeros((len(trees.leaves), data.n_classes), dtype=np.int64)
        own = None if tree_of is None else np.empty_like(tree_of)
        if own is not None:
            own[row_order(data)] = tree_of
        for here in slices(data.n_rows, data.n_features):
            add_forest_counts(trees, totals, _piece_of(data, here), None if own is None else own[here])
        return totals


def row_order(data: EncodedDataset) -> np.ndarray:
    """An order of the rows that depends on their values and not on their positions."""
    return np.lexsort((data.target, *data.columns))


def counter_of(rows: Rows) -> CountedRows:
    """These rows, which are counted."""
    return ArrayRows(rows) if isinstance(rows, EncodedDataset) else rows


def _bin_rows(rows: EncodedDataset, grid: CandidateGrid) -> BinnedRows:
    return BinnedRows(grid, grid.bin(rows), rows.target, rows.n_classes)


def in_bands(data: EncodedDataset, cuts: np.ndarray) -> EncodedDataset:
    """The same rows with the band of the target as their class: band b holds numbers in (cuts[b-1], cuts[b]]."""

    def banded() -> EncodedDataset:
        target = np.searchsorted(cuts, data.target).astype(np.uint8)
        return EncodedDataset(banded_schema(data.schema, cuts), data.columns, target, caches_counts=data.caches_counts)

    return _BANDED_ROWS.of(data, cuts.tobytes(), banded)


def banded_schema(schema: Schema, cuts: np.ndarray) -> Schema:
    """The schema whose classes are the bands between the cuts."""
    bands = ClassTarget(schema.target.name, tuple(map(str, range(len(cuts) + 1))))
    return Schema(schema.features, bands, schema.n_public)


def _piece_of(data: EncodedDataset, here: slice | np.ndarray, used: Container[int] | None = None) -> EncodedDataset:
    """Some of the rows. Columns that are not used are empty."""
    columns = (column[here if used is None or at in used else slice(0)] for at, column in enumerate(data.columns))
    return EncodedDataset(data.schema, tuple(columns), data.target[here])


def features_of(node: Node) -> frozenset[int]:
    """The features that a tree asks for."""
    return features_of(node.left) | features_of(node.right) | {node.rule.feature} if isinstance(node, Branch) else frozenset()
