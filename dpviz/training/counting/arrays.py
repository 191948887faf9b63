"""Counting rows whose columns are arrays: in memory, or in files that are read as they are used (`binned.py`).

Out of core, rows are binned while they are read, in files of about a byte per cell. The bins are those of PF-tree's grid, which
follows from the schema alone. Values are written too only where something is asked that bins do not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np

from dpviz.errors import DpvizError
from dpviz.models.packed_forest import PackedTrees, values_of
from dpviz.models.tree import Node, Tree
from dpviz.privacy.leaf_labels import LeafCounts
from dpviz.progress import Stop, watched
from dpviz.table.candidates import CandidateGrid
from dpviz.table.dataset import EncodedDataset, EncodingReport, Memo
from dpviz.table.sums import TableSums
from dpviz.training.counting.binned import Binned, by_bins, features_of, in_pieces, piece_of, slices, with_bins, written
from dpviz.training.counting.contract import CountedRows, Measure, Rows
from dpviz.training.counting.levels import Levels
from dpviz.training.counting.nodes import CountedNode, root_of
from dpviz.training.counting.remembered import Remembered
from dpviz.training.forests.random_trees import row_order
from dpviz.training.median_splits import banded_schema, in_bands

#: By the bins of a grid: fits on one data set that caches counts share them.
_REMEMBERED: Memo[Remembered] = Memo()
#: Bins, and which of them hold rows, are found out once.
_BINNED: Memo[Binned] = Memo()


class ArrayRows(CountedRows):
    """Encoded rows. Leaving its `with` block, or `close`, ends its use and its temporary files.

    `names` are all columns of a source out of core, in its order: public. `notes` say what its reader assumed: for the owner's
    eyes.
    """

    def __init__(
        self,
        rows: EncodedDataset,
        *,
        binned: Binned | None = None,
        values: Callable[[], EncodedDataset] | None = None,
        report: EncodingReport | None = None,
        names: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
        table_sums: TableSums | None = None,
        stop: Stop | None = None,
    ) -> None:
        """Out of core `rows` have the columns of `binned`, and `values` writes them with their values, where these are needed."""
        self._open: tuple[EncodedDataset, Binned | None, Callable[[], EncodedDataset]] | None
        self._open = rows, binned, cache(values or (lambda: rows))
        self.schema, self.report, self.names, self.notes = rows.schema, report or rows.report, names, notes
        self.not_row_wise, self.rows_per_person, self.persons = rows.not_row_wise, rows.rows_per_person, rows.persons
        self._stop, self._table_sums = stop, table_sums

    def close(self) -> None:
        """Give up the rows. Their temporary files end once nothing uses their columns any more."""
        self._open = None

    def _opened(self) -> tuple[EncodedDataset, Binned | None, Callable[[], EncodedDataset]]:
        if self._open is None:
            raise DpvizError("These rows were closed.", remedy="Use them inside their `with` block.")
        return self._open

    @property
    def data(self) -> EncodedDataset:
        """The rows with their values; whoever asks for a column as a whole reads it as a whole.

        Raises DpvizError once they are closed, and where the source has changed since it was read first.
        """
        return self._opened()[2]()

    @property
    def n_rows(self) -> int:
        """Exact number of rows. Private."""
        return self._opened()[0].n_rows

    @property
    def identity(self) -> str:
        """What the register knows these rows by: the same wherever they are. Private."""
        return self.data.identity

    @property
    def table_sums(self) -> TableSums:
        """What the table is recognised by."""
        return self._table_sums if self._table_sums is not None else self.data.table_sums

    def class_counts(self) -> np.ndarray:
        """Rows per class."""
        rows = self._opened()[0]
        return np.sum([np.bincount(rows.target[here], minlength=rows.n_classes) for here in slices(rows.n_rows)], axis=0)

    def root(self, grid: CandidateGrid) -> CountedNode:
        """All rows, binned. Fits on one data set that `caches_counts` share their counts."""
        rows, binned, _ = self._opened()
        remembered = None
        if binned is None:
            bins = partial(Binned.in_memory, rows, grid)
            binned = _BINNED.of(rows, grid.key, bins) if grid.is_reused else bins()
            if rows.caches_counts and grid.is_reused:
                remembered = _REMEMBERED.of(rows, grid.key, Remembered)
                remembered.use()
        elif not binned.is_by(grid):
            pieces = (with_bins(piece, grid.features) for piece in in_pieces(self.data))
            binned = Binned.of(pieces, grid.features, self.schema)
        counter = partial(Levels, binned, grid, watched(None, self._stop))
        return root_of(grid, rows.n_classes, counter, remembered=remembered)

    def leaf_counts(self, root: Node, parts: np.ndarray | None, n_parts: int) -> np.ndarray:
        """Rows by part, leaf and class."""
        shape = n_parts, Tree(self.schema, root).n_leaves, len(self.schema.classes)
        found = np.zeros(shape, dtype=np.int64)
        for rows, leaf, target in self._leaves(root, None if parts is None else parts > 0):
            part = 0 if parts is None else parts[rows].astype(np.int64) - 1
            found += np.bincount((part * shape[1] + leaf) * shape[2] + target, minlength=found.size).reshape(shape)
        return found

    def sums(self, measure: Measure, root: Node, parts: np.ndarray | None, part: int) -> np.ndarray:
        """Sums over the rows of a part, by leaf: of so few at once that they are exact in float64."""
        n_leaves = Tree(self.schema, root).n_leaves
        found = np.zeros((n_leaves, measure.width), dtype=np.int64)
        for _, leaf, target in self._leaves(root, None if parts is None else parts == part):
            sums = (np.bincount(leaf, weights=column, minlength=n_leaves) for column in measure(target, leaf).T)
            found += np.stack(list(sums), axis=1).astype(np.int64)
        return found

    def _leaves(self, root: Node, chosen: np.ndarray | None) -> Iterator[tuple[slice | np.ndarray, np.ndarray, np.ndarray]]:
        """(rows, leaf, target) of the chosen rows in pieces: by bins, where these tell the leaf that a row reaches."""
        rows, binned, _ = self._opened()
        by_bin = binned and by_bins(root, binned.features)
        tree, used = Tree(self.schema, by_bin or root), features_of(root)
        data = None if by_bin else self.data
        for here in slices(rows.n_rows):
            wanted = here if chosen is None else here.start + np.flatnonzero(chosen[here])
            piece = piece_of(data, wanted, used) if data else binned.bins_of(used, wanted)  # type: ignore[union-attr]
            yield wanted, tree.leaf_of_rows(piece), piece.target

    def forest_counts(self, trees: PackedTrees, tree_of: np.ndarray | None) -> LeafCounts:
        """Rows by leaf and class."""
        data = self.data
        n_leaves, n_classes = len(trees.leaves), data.n_classes
        found = np.zeros(n_leaves * n_classes, dtype=np.int64)
        own = None if tree_of is None else np.empty_like(tree_of)
        if own is not None:
            own[row_order(data)] = tree_of
        for here in slices(data.n_rows, data.n_features):
            piece = piece_of(data, here)
            values = values_of(piece)
            for tree in range(trees.n_trees) if own is None else (own[here],):
                leaf = trees.leaf_of(values, np.broadcast_to(trees.roots[tree], len(values)))
                found += np.bincount(leaf * n_classes + piece.target, minlength=len(found))
        counts = found.reshape(n_leaves, n_classes)
        held = np.flatnonzero(counts.any(axis=1))
        return LeafCounts(n_leaves, held, counts[held])

    def banded(self, cuts: np.ndarray) -> ArrayRows:
        """The same rows, whose class is the band of their number."""
        rows, binned, _ = self._opened()
        if binned is None:
            return ArrayRows(in_bands(rows, cuts))
        schema = banded_schema(rows.schema, cuts)
        codes = (np.searchsorted(cuts, rows.target[here]).astype(np.uint8) for here in slices(rows.n_rows))
        bands = written(EncodedDataset(schema, (), code) for code in codes).target
        own = EncodedDataset(schema, rows.columns, bands)
        with_values = lambda: EncodedDataset(schema, self.data.columns, bands)  # noqa: E731
        return ArrayRows(own, binned=replace(binned, rows=own), values=with_values, stop=self._stop)


def counter_of(rows: Rows) -> CountedRows:
    """Whoever counts these rows."""
    return ArrayRows(rows) if isinstance(rows, EncodedDataset) else rows


def node_of(root: CountedNode, rows: np.ndarray, level: int) -> CountedNode:
    """The node that the rows at these positions reach, below a root of rows in memory."""
    counter = root.counter
    assert isinstance(counter, Levels)
    taken = partial(Levels, counter.binned.taken(rows), root.grid, watched(None, None))
    return root_of(root.grid, root.n_classes, taken, level=level)
