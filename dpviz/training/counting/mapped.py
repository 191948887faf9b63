"""Counting rows that are larger than memory: encoded once into files, binned once into one byte per cell, counted in pieces.

A level is one pass over the bins. Which open node a row has reached is kept in memory, a byte or two per row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from dpviz.errors import DpvizError
from dpviz.models.packed_forest import PackedTrees, values_of
from dpviz.models.tree import Node
from dpviz.privacy.leaf_labels import LeafCounts
from dpviz.progress import Progress, Stop, watched
from dpviz.table.candidates import CandidateGrid, bin_column
from dpviz.table.dataset import EncodedDataset
from dpviz.training.counting.contract import CountedRows, Measure
from dpviz.training.counting.in_memory import InMemory
from dpviz.training.counting.levels import Division, LevelNode, level_root
from dpviz.training.counting.on_disk import ColumnFile, slices
from dpviz.training.forests.random_trees import row_order
from dpviz.training.halving import banded_schema


class MappedRows(CountedRows):
    """Encoded rows whose columns are on disk. Leaving its `with` block, or `close`, ends its use and its temporary files.

    Attributes
    ----------
    names : tuple of str
        All columns of the source, in its order. Public.
    notes : tuple of str
        What the reader assumed. For the owner's eyes.
    """

    def __init__(
        self, data: EncodedDataset, names: tuple[str, ...] = (), notes: tuple[str, ...] = (), stop: Stop | None = None
    ) -> None:
        self._data: EncodedDataset | None = data
        self.schema, self.names, self.notes = data.schema, names, notes
        self._stop = stop
        self.not_row_wise, self.rows_per_person, self.report = data.not_row_wise, data.rows_per_person, data.report

    def __enter__(self) -> MappedRows:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Give up the rows. Their temporary files end once nothing uses their columns any more."""
        self._data = None

    @property
    def data(self) -> EncodedDataset:
        """The rows; whoever asks for a column as a whole reads it as a whole. Raises DpvizError once they are closed."""
        if self._data is None:
            raise DpvizError("These rows were closed.", remedy="Use them inside their `with` block.")
        return self._data

    @property
    def n_rows(self) -> int:
        """Exact number of rows. Private."""
        return self.data.n_rows

    @property
    def identity(self) -> str:
        """What the register knows these rows by: the same as if they had been in memory. Private."""
        return self.data.identity

    def _pieces(self) -> list[tuple[slice, InMemory]]:
        data = self.data
        return [(here, InMemory(_piece(data, here))) for here in slices(data.n_rows)]

    def class_counts(self) -> np.ndarray:
        """Rows per class."""
        return sum((piece.class_counts() for _, piece in self._pieces()), np.zeros(self.data.n_classes, dtype=np.int64))

    def root(self, grid: CandidateGrid) -> LevelNode:
        """All rows, binned."""
        step = watched(None, self._stop)
        return level_root(_Levels(self.data, _codes(self.data, grid, step), step), grid)

    def leaf_counts(self, root: Node, parts: np.ndarray | None, n_parts: int) -> np.ndarray:
        """Rows by part, leaf and class."""
        found = InMemory(_piece(self.data, slice(0, 0))).leaf_counts(root, None, n_parts)
        for here, piece in self._pieces():
            found += piece.leaf_counts(root, None if parts is None else parts[here], n_parts)
        return found

    def forest_counts(self, trees: PackedTrees, tree_of: np.ndarray | None) -> LeafCounts:
        """Rows by leaf and class."""
        n_leaves, n_classes = len(trees.leaves), self.data.n_classes
        found = np.zeros(n_leaves * n_classes, dtype=np.int64)
        own = None if tree_of is None else np.empty_like(tree_of)
        if own is not None:
            own[row_order(self.data)] = tree_of
        for here, piece in self._pieces():
            values = values_of(piece.data)
            for tree in range(trees.n_trees) if own is None else (own[here],):
                leaf = trees.leaf_of(values, np.broadcast_to(trees.roots[tree], len(values)))
                found += np.bincount(leaf * n_classes + piece.data.target, minlength=len(found))
        counts = found.reshape(n_leaves, n_classes)
        held = np.flatnonzero(counts.any(axis=1))
        return LeafCounts(n_leaves, held, counts[held])

    def banded(self, cuts: np.ndarray) -> MappedRows:
        """The same rows, whose class is the band of their number."""
        data = self.data
        with ColumnFile(np.dtype(np.uint8)) as bands:
            for here in slices(data.n_rows):
                bands.append(np.searchsorted(cuts, data.target[here]))
            of_bands = EncodedDataset(banded_schema(data.schema, cuts), data.columns, bands.column())
        return MappedRows(of_bands, self.names, self.notes, self._stop)

    def sums(self, measure: Measure, root: Node, parts: np.ndarray | None, part: int) -> np.ndarray:
        """Sums over the rows of a part, by leaf."""
        found = InMemory(_piece(self.data, slice(0, 0))).sums(measure, root, None, part)
        for here, piece in self._pieces():
            found += piece.sums(measure, root, None if parts is None else parts[here], part)
        return found


def _piece(data: EncodedDataset, here: slice) -> EncodedDataset:
    return EncodedDataset(data.schema, tuple(column[here] for column in data.columns), data.target[here])


def _codes(data: EncodedDataset, grid: CandidateGrid, step: Progress) -> list[np.ndarray]:
    """Per feature the bin of every row times the number of classes, plus its class, on disk, in one byte where that holds it."""
    codes: list[np.ndarray] = []
    pieces = slices(data.n_rows)
    for feature, column in zip(grid.features, data.columns, strict=True):
        with ColumnFile(np.min_scalar_type(feature.n_bins * data.n_classes - 1)) as file:
            for here in pieces:
                step(len(codes) / len(data.columns))
                bins = bin_column(feature, column[here]).astype(file.dtype, copy=False)
                file.append(bins * file.dtype.type(data.n_classes) + data.target[here].astype(file.dtype))
            codes.append(file.column())
    return codes


@dataclass(frozen=True)
class _Move:
    """Where the rows of one open node go: by the code of `feature`, to the place of a child among the next open nodes."""

    feature: int
    to: np.ndarray


class _Levels:
    """Counts the levels of one tree, one after another.

    `_slot` holds, for every row, the place of its node among the open ones of the level that was counted last; as many as these
    are where the row is in none of them.
    """

    def __init__(self, data: EncodedDataset, codes: list[np.ndarray], step: Progress) -> None:
        self._codes, self._n_rows, self._n_classes, self._step = codes, data.n_rows, data.n_classes, step
        self._places: tuple[int, ...] = ()
        self._slot = np.empty(0, dtype=np.uint8)

    def count_level(
        self, grid: CandidateGrid, parts: np.ndarray | None, divisions: Mapping[int, Division], places: Sequence[int]
    ) -> np.ndarray:
        """Class counts per bin of the nodes at `places`: the root, or children of the nodes that were counted last."""
        width, n_nodes = max(feature.n_bins for feature in grid.features) * self._n_classes, len(places)
        counts = np.zeros((len(self._codes), (n_nodes + 1) * width), dtype=np.int64)
        moves = [self._move(divisions[place], place, places) if place in divisions else None for place in self._places]
        slots, pieces = np.empty(self._n_rows, dtype=np.min_scalar_type(n_nodes)), slices(self._n_rows)
        for number, here in enumerate(pieces):
            self._step(number / len(pieces))
            codes = [column[here] for column in self._codes]
            if 1 in places:
                slots[here] = 0 if parts is None else np.minimum(parts[here], 1)
            else:
                _follow(self._slot[here], codes, moves, slots[here], n_nodes)
            first = slots[here].astype(np.int64) * width
            for feature, column in enumerate(codes):
                counts[feature] += np.bincount(first + column, minlength=counts.shape[1])
        self._places, self._slot = tuple(places), slots
        by_feature = counts.reshape(len(self._codes), n_nodes + 1, width)[:, :n_nodes]
        own = [by_feature[at, :, : feature.n_bins * self._n_classes] for at, feature in enumerate(grid.features)]
        return np.concatenate(own, axis=1).reshape(n_nodes, -1, self._n_classes)

    def _move(self, division: Division, place: int, places: Sequence[int]) -> _Move:
        left, right = (places.index(2 * place + side) for side in (0, 1))
        return _Move(division.feature, np.repeat(np.where(division.left_bins, left, right), self._n_classes))


def _follow(slot: np.ndarray, codes: list[np.ndarray], moves: list[_Move | None], to: np.ndarray, none: int) -> None:
    """Write to `to` the open node that every row reaches from its last one; `none` where it reaches none."""
    to[:] = none
    for last, move in enumerate(moves):
        if move is not None:
            rows = np.flatnonzero(slot == last)
            to[rows] = move.to[codes[move.feature][rows]]
