"""Counting rows that are larger than memory: binned while they are read, in files of about a byte per cell.

The bins are those of PF-tree's grid, which follows from the schema alone. Values are written too only where something is asked
that bins do not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np

from dpviz.errors import DpvizError
from dpviz.models.packed_forest import PackedTrees, values_of
from dpviz.models.tree import Node
from dpviz.privacy.leaf_labels import LeafCounts
from dpviz.progress import Stop, watched
from dpviz.table.candidates import CandidateGrid
from dpviz.table.dataset import EncodedDataset, EncodingReport
from dpviz.training.counting.binned import Binned, by_bins, features_of, with_bins
from dpviz.training.counting.binned_levels import Levels
from dpviz.training.counting.contract import CountedRows, Measure
from dpviz.training.counting.in_memory import InMemory
from dpviz.training.counting.levels import LevelNode, level_root
from dpviz.training.counting.on_disk import in_pieces, piece_of, slices, written
from dpviz.training.forests.random_trees import row_order
from dpviz.training.halving import banded_schema


class MappedRows(CountedRows):
    """Encoded rows that are on disk. Leaving its `with` block, or `close`, ends its use and its temporary files.

    `names` are all columns of the source, in its order: public. `notes` say what the reader assumed: for the owner's eyes.
    """

    def __init__(
        self,
        binned: Binned,
        values: Callable[[], EncodedDataset],
        *,
        report: EncodingReport | None = None,
        names: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
        stop: Stop | None = None,
    ) -> None:
        """`values` writes the same rows with their values; it is called once, where they are needed."""
        self._open: tuple[Binned, Callable[[], EncodedDataset]] | None = binned, cache(values)
        self.schema, self.report, self.names, self.notes = binned.rows.schema, report, names, notes
        self._stop = stop

    def close(self) -> None:
        """Give up the rows. Their temporary files end once nothing uses their columns any more."""
        self._open = None

    def _opened(self) -> tuple[Binned, Callable[[], EncodedDataset]]:
        if self._open is None:
            raise DpvizError("These rows were closed.", remedy="Use them inside their `with` block.")
        return self._open

    @property
    def _binned(self) -> Binned:
        return self._opened()[0]

    @property
    def data(self) -> EncodedDataset:
        """The rows with their values; whoever asks for a column as a whole reads it as a whole.

        Raises DpvizError once they are closed, and where the source has changed since it was read first.
        """
        return self._opened()[1]()

    @property
    def n_rows(self) -> int:
        """Exact number of rows. Private."""
        return self._binned.rows.n_rows

    @property
    def identity(self) -> str:
        """What the register knows these rows by: the same as if they had been in memory. Private."""
        return self.data.identity

    def class_counts(self) -> np.ndarray:
        """Rows per class."""
        rows = self._binned.rows
        return np.sum([np.bincount(piece.target, minlength=rows.n_classes) for piece in in_pieces(rows)], axis=0)

    def root(self, grid: CandidateGrid) -> LevelNode:
        """All rows, binned."""
        binned = self._binned
        if not binned.is_by(grid):
            bins = (with_bins(piece, grid.features) for piece in in_pieces(self.data))
            binned = Binned.of(bins, grid.features, self.schema)
        return level_root(Levels(binned, watched(None, self._stop)), grid)

    def leaf_counts(self, root: Node, parts: np.ndarray | None, n_parts: int) -> np.ndarray:
        """Rows by part, leaf and class."""
        tree, pieces = self._reaching(root, None if parts is None else parts > 0)
        counts = [piece.leaf_counts(tree, None if parts is None else parts[rows], n_parts) for rows, piece in pieces]
        return np.sum(counts, axis=0)

    def _reaching(self, root: Node, chosen: np.ndarray | None) -> tuple[Node, Iterator[tuple[slice | np.ndarray, InMemory]]]:
        """A tree, and the chosen rows in pieces: of bins, where these tell the leaf that a row reaches in `root`."""
        binned = self._binned
        tree = by_bins(root, binned.features)
        take = partial(piece_of, self.data) if tree is None else partial(binned.bins_of, features_of(tree))
        every = slices(binned.rows.n_rows)
        wanted = every if chosen is None else (here.start + np.flatnonzero(chosen[here]) for here in every)
        return tree or root, ((rows, InMemory(take(rows))) for rows in wanted)

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

    def banded(self, cuts: np.ndarray) -> MappedRows:
        """The same rows, whose class is the band of their number."""
        rows = self._binned.rows
        schema, numbers = banded_schema(rows.schema, cuts), rows.target
        codes = (np.searchsorted(cuts, numbers[here]).astype(np.uint8) for here in slices(rows.n_rows))
        bands = written(EncodedDataset(schema, (), code) for code in codes).target
        of_bands = replace(self._binned, rows=EncodedDataset(schema, rows.columns, bands))
        return MappedRows(of_bands, lambda: EncodedDataset(schema, self.data.columns, bands), stop=self._stop)

    def sums(self, measure: Measure, root: Node, parts: np.ndarray | None, part: int) -> np.ndarray:
        """Sums over the rows of a part, by leaf."""
        tree, pieces = self._reaching(root, None if parts is None else parts == part)
        return np.sum([piece.sums(measure, tree, None, part) for _, piece in pieces], axis=0)
