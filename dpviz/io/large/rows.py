"""Encoded rows in files, which are read as they are used.

Rows are binned while they are read, in files of about a byte per cell. The bins are those of PF-tree's grid, which follows from
the schema alone. Values are written too only where something is asked that bins do not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np

from dpviz.errors import DpvizError
from dpviz.io.large.binned import Binned, by_bins, in_pieces, with_bins, written
from dpviz.io.large.levels import Levels
from dpviz.models.tree import Node, Tree
from dpviz.progress import Stop, watched
from dpviz.table.candidates import CandidateGrid
from dpviz.table.dataset import EncodedDataset, EncodingReport
from dpviz.table.sums import TableSums
from dpviz.training.counted_rows import ArrayRows, banded_schema, features_of
from dpviz.training.nodes import CountedNode, slices
from dpviz.training.source_nodes import SourceNode


class FileRows(ArrayRows):
    """Encoded rows in temporary files. Leaving its `with` block, or `close`, ends their use."""

    def __init__(
        self,
        binned: Binned,
        values: Callable[[], EncodedDataset],
        *,
        report: EncodingReport | None = None,
        names: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
        table_sums: TableSums | None = None,
        stop: Stop | None = None,
    ) -> None:
        """Of a source.

        Parameters
        ----------
        binned
            Its rows.
        values
            Writes them with their values, where these are needed.
        report
            What encoding did.
        names
            All columns of the source, in its order: public.
        notes
            What its reader assumed: for the owner's eyes.
        table_sums
            What the table is recognised by.
        stop
            Ends the counting.
        """
        super().__init__(binned.rows)
        self.report, self.names, self.notes = report, names, notes
        self._stop, self._table_sums = stop, table_sums
        self._open: tuple[Binned, Callable[[], EncodedDataset]] | None = (binned, cache(values))

    def close(self) -> None:
        """Give up the rows. Their temporary files end once nothing uses their columns any more."""
        self._open = None
        del self._rows

    def _opened(self) -> tuple[Binned, Callable[[], EncodedDataset]]:
        if self._open is None:
            raise DpvizError("These rows were closed.", remedy="Use them inside their `with` block.")
        return self._open

    @property
    def data(self) -> EncodedDataset:
        """The rows with their values; whoever asks for a column as a whole reads it as a whole.

        Raises DpvizError once they are closed, and where the source has changed since it was read first.
        """
        return self._opened()[1]()

    @property
    def n_rows(self) -> int:
        """Exact number of rows. Private."""
        return self._opened()[0].rows.n_rows

    @property
    def table_sums(self) -> TableSums:
        """What the table is recognised by."""
        return self._table_sums if self._table_sums is not None else self.data.table_sums

    def class_counts(self) -> np.ndarray:
        """Rows per class."""
        self._opened()
        return super().class_counts()

    def root(self, grid: CandidateGrid) -> CountedNode:
        """All rows, binned."""
        binned = self._opened()[0]
        if not binned.is_by(grid):
            pieces = (with_bins(piece, grid.features) for piece in in_pieces(self.data))
            binned = Binned.of(pieces, grid.features, self.schema)
        return SourceNode(grid, binned.rows.n_classes, partial(Levels, binned, grid, watched(None, self._stop)))

    def _leaves(self, root: Node, chosen: np.ndarray | None) -> Iterator[tuple[slice | np.ndarray, np.ndarray, np.ndarray]]:
        """(rows, leaf, target): by bins, where these tell the leaf that a row reaches."""
        binned = self._opened()[0]
        by_bin = by_bins(root, binned.features)
        if by_bin is None:
            yield from super()._leaves(root, chosen)
            return
        tree, used = Tree(self.schema, by_bin), features_of(root)
        for here in slices(self.n_rows):
            wanted = here if chosen is None else here.start + np.flatnonzero(chosen[here])
            piece = binned.bins_of(used, wanted)
            yield wanted, tree.leaf_of_rows(piece), piece.target

    def banded(self, cuts: np.ndarray) -> FileRows:
        """The same rows, whose class is the band of their number."""
        binned = self._opened()[0]
        rows, schema = binned.rows, banded_schema(binned.rows.schema, cuts)
        codes = (np.searchsorted(cuts, rows.target[here]).astype(np.uint8) for here in slices(rows.n_rows))
        bands = written(EncodedDataset(schema, (), code) for code in codes).target
        banded = replace(binned, rows=EncodedDataset(schema, rows.columns, bands))
        return FileRows(banded, lambda: EncodedDataset(schema, self.data.columns, bands), stop=self._stop)
