"""Who counts: all that learners which need nothing but counts ask of rows, wherever these are.

In memory and out of core (`arrays.py`) it is answered from arrays, some rows at a time, which is what every other answer is
compared with; an engine answers from a table that never leaves it. Learners do not know which.

Every answer is an exact count, or an exact sum of whole numbers, and private: it leaves `fit` only through a mechanism. Each
usable row counts once per feature, whatever its values: nothing is sampled, estimated or counted twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, Protocol, Self, get_args

import numpy as np

from dpviz.models.packed_forest import PackedTrees
from dpviz.models.tree import Node
from dpviz.privacy.leaf_labels import LeafCounts
from dpviz.table.candidates import CandidateGrid
from dpviz.table.dataset import EncodedDataset, EncodingReport
from dpviz.table.schema import Schema
from dpviz.table.sums import TableSums
from dpviz.training.counting.nodes import CountedNode

#: What can be asked of rows: their classes; the bins of the public grid, and pairs of these, in the nodes of a tree; leaves of a
#: tree that asks for such bins, or for values of its own; leaves of many trees; sums over numeric targets.
Count = Literal["classes", "bins", "pairs", "leaves", "leaves by value", "leaves of forests", "sums"]
EVERY_COUNT: frozenset[Count] = frozenset(get_args(Count))


class Measure(Protocol):
    """Whole numbers of one row of a numeric target, which are added up: see `measures.py`."""

    @property
    def width(self) -> int:
        """How many."""

    def __call__(self, target: np.ndarray, leaf: np.ndarray) -> np.ndarray:
        """int64 of shape (n_rows, width), each row by itself; `target` float64 and `leaf` int64, of shape (n_rows,)."""


class CountedRows(ABC):
    """Rows, encoded by a schema, that somebody counts.

    Parts, where they are asked for, are those that `dpviz.privacy.random_assignment` drew: at random, in secret, per usable
    row or per person, in the order in which the rows are numbered, uint8 of shape (n_rows,). One fit gives the same array with
    every question.
    """

    schema: Schema
    not_row_wise: str = ""  #: Why one row of the source may have changed others; nothing is released from such rows
    rows_per_person: int | None = None  #: The most rows of one person; None where the rows are not bound to persons
    persons: np.ndarray | None = None  #: Whose row each is, shape (n_rows,), private; None where they are not bound to persons
    report: EncodingReport | None = None  #: What encoding did, for the owner's eyes only; None where that is not known

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:  # noqa: B027  (rows in memory have nothing to end)
        """Give up the rows, and end what was made for them. Leaving a `with` block does so."""

    @property
    def answers(self) -> frozenset[Count]:
        """What may be asked of these rows. `fit` compares it with what a learner asks before any row is looked at."""
        return EVERY_COUNT

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Exact number of usable rows. Private."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """What the register knows these rows by, as `EncodedDataset.identity`. Private."""

    @property
    def table_sums(self) -> TableSums:
        """What the table is recognised by; unknown where rows are counted in an engine, but for their number. Private."""
        return TableSums(0 if self.report is None else self.report.rows_read, (), is_known=False)

    @abstractmethod
    def class_counts(self) -> np.ndarray:
        """Rows per class, int64 of shape (n_classes,)."""

    @abstractmethod
    def root(self, grid: CandidateGrid) -> CountedNode:
        """All rows, binned by `grid`: what a tree grows from."""

    @abstractmethod
    def leaf_counts(self, root: Node, parts: np.ndarray | None, n_parts: int) -> np.ndarray:
        """Rows by part, leaf of the tree (left to right) and class: int64, (n_parts, n_leaves, n_classes).

        Part 0 is not counted; without `parts` every row is in part 1.
        """

    @abstractmethod
    def forest_counts(self, trees: PackedTrees, tree_of: np.ndarray | None) -> LeafCounts:
        """Rows by leaf and class.

        `tree_of[k]` is the tree that counts the k-th row *in order of values* (by the last feature first, then the one before
        it, ..., the target last: `row_order`), int64 of shape (n_rows,). None: every tree counts every row.
        """

    @abstractmethod
    def banded(self, cuts: np.ndarray) -> CountedRows:
        """Of a numeric target: the same rows, whose class is the band of their number; band b holds (cuts[b-1], cuts[b]]."""

    @abstractmethod
    def sums(self, measure: Measure, root: Node, parts: np.ndarray | None, part: int) -> np.ndarray:
        """Of a numeric target: sums over the rows of a part (parts None: all rows), int64 of shape (n_leaves, measure.width)."""


#: What `fit` takes: rows in memory, or rows that somebody counts.
Rows = EncodedDataset | CountedRows
