"""Counting rows that are larger than memory: binned while they are read, in files of a byte per cell, and counted in pieces.

The bins are those of PF-tree's grid, which follows from the schema alone. A level is one pass over them. Which open node a row
has reached is kept in memory, a byte or two per row. Values are written too only where something is asked that bins do not tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import TracebackType

import numpy as np

from dpviz.errors import DpvizError
from dpviz.models.packed_forest import PackedTrees, values_of
from dpviz.models.tree import Branch, Node, ThresholdRule
from dpviz.privacy.leaf_labels import LeafCounts
from dpviz.progress import Progress, Stop, watched
from dpviz.table.candidates import CandidateGrid, FeatureCandidates, bin_column
from dpviz.table.dataset import EncodedDataset, EncodingReport
from dpviz.training.counting.contract import CountedRows, Measure
from dpviz.training.counting.in_memory import InMemory
from dpviz.training.counting.levels import Division, LevelNode, level_root
from dpviz.training.counting.on_disk import in_pieces, piece_of, slices, written
from dpviz.training.forests.random_trees import row_order
from dpviz.training.halving import banded_schema


@dataclass(frozen=True, eq=False)
class Binned:
    """Rows in files whose columns hold the bins of `features`, in one byte where that holds them."""

    features: tuple[FeatureCandidates, ...]
    rows: EncodedDataset

    @classmethod
    def of(cls, pieces: Iterable[EncodedDataset], features: tuple[FeatureCandidates, ...]) -> Binned:
        """Bin rows as they come."""
        bins = (replace(piece, columns=tuple(map(bin_column, features, piece.columns))) for piece in pieces)
        return cls(features, written(bins))

    def is_by(self, grid: CandidateGrid) -> bool:
        """Whether these are the bins of a grid."""
        return grid.key == CandidateGrid(grid.schema, self.features, grid.name).key


class MappedRows(CountedRows):
    """Encoded rows that are on disk. Leaving its `with` block, or `close`, ends its use and its temporary files.

    Attributes
    ----------
    names : tuple of str
        All columns of the source, in its order. Public.
    notes : tuple of str
        What the reader assumed. For the owner's eyes.
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

    def __enter__(self) -> MappedRows:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

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
        binned = self._binned if self._binned.is_by(grid) else Binned.of(in_pieces(self.data), grid.features)
        return level_root(_Levels(binned.rows, watched(None, self._stop)), grid)

    def leaf_counts(self, root: Node, parts: np.ndarray | None, n_parts: int) -> np.ndarray:
        """Rows by part, leaf and class."""
        tree, rows = self._reaching(root)
        found = InMemory(piece_of(rows, slice(0, 0))).leaf_counts(tree, None, n_parts)
        for here in slices(rows.n_rows):
            found += InMemory(piece_of(rows, here)).leaf_counts(tree, None if parts is None else parts[here], n_parts)
        return found

    def _reaching(self, root: Node) -> tuple[Node, EncodedDataset]:
        """A tree and rows of which each reaches the leaf that it reaches in `root`: by its bins, where these tell."""
        tree = _by_bins(root, self._binned.features)
        return (root, self.data) if tree is None else (tree, self._binned.rows)

    def forest_counts(self, trees: PackedTrees, tree_of: np.ndarray | None) -> LeafCounts:
        """Rows by leaf and class."""
        data = self.data
        n_leaves, n_classes = len(trees.leaves), data.n_classes
        found = np.zeros(n_leaves * n_classes, dtype=np.int64)
        own = None if tree_of is None else np.empty_like(tree_of)
        if own is not None:
            own[row_order(data)] = tree_of
        for here in slices(data.n_rows):
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
        of_bands = Binned(self._binned.features, EncodedDataset(schema, rows.columns, bands))
        return MappedRows(of_bands, lambda: EncodedDataset(schema, self.data.columns, bands), stop=self._stop)

    def sums(self, measure: Measure, root: Node, parts: np.ndarray | None, part: int) -> np.ndarray:
        """Sums over the rows of a part, by leaf."""
        tree, rows = self._reaching(root)
        found = InMemory(piece_of(rows, slice(0, 0))).sums(measure, tree, None, part)
        for here in slices(rows.n_rows):
            found += InMemory(piece_of(rows, here)).sums(measure, tree, None if parts is None else parts[here], part)
        return found


def _by_bins(node: Node, features: Sequence[FeatureCandidates]) -> Node | None:
    """The tree that asks for bins where `node` asks for values; None where a rule divides a bin."""
    if not isinstance(node, Branch):
        return node
    left, right, rule = _by_bins(node.left, features), _by_bins(node.right, features), node.rule
    if isinstance(rule, ThresholdRule):
        cuts = features[rule.feature].thresholds
        assert cuts is not None
        places = np.flatnonzero(cuts == rule.threshold)
        if not len(places):
            return None
        rule = ThresholdRule(rule.feature, float(places[0]))  # bin b holds values in (thresholds[b-1], thresholds[b]]
    return None if left is None or right is None else Branch(rule, left, right)


@dataclass(frozen=True)
class _Move:
    """Where the rows of one open node go: by the bin of `feature`, to the place of a child among the next open nodes."""

    feature: int
    to: np.ndarray


class _Levels:
    """Counts the levels of one tree, one after another.

    `_slot` holds, for every row, the place of its node among the open ones of the level that was counted last; as many as these
    are where the row is in none of them.
    """

    def __init__(self, rows: EncodedDataset, step: Progress) -> None:
        self._rows, self._step = rows, step
        self._places: tuple[int, ...] = ()
        self._slot = np.empty(0, dtype=np.uint8)

    def count_level(
        self, grid: CandidateGrid, parts: np.ndarray | None, divisions: Mapping[int, Division], places: Sequence[int]
    ) -> np.ndarray:
        """Class counts per bin of the nodes at `places`: the root, or children of the nodes that were counted last."""
        rows, n_classes, n_nodes = self._rows, self._rows.n_classes, len(places)
        shape = n_nodes + 1, n_classes, max(feature.n_bins for feature in grid.features)
        counts = np.zeros((len(rows.columns), math.prod(shape)), dtype=np.int64)
        moves = [self._move(divisions[place], place, places) if place in divisions else None for place in self._places]
        slots, pieces = np.empty(rows.n_rows, dtype=np.min_scalar_type(n_nodes)), slices(rows.n_rows)
        for number, here in enumerate(pieces):
            self._step(number / len(pieces))
            columns = [column[here] for column in rows.columns]
            if 1 in places:
                slots[here] = 0 if parts is None else np.minimum(parts[here], 1)
            else:
                _follow(self._slot[here], columns, moves, slots[here], n_nodes)
            first = (slots[here].astype(np.int64) * n_classes + rows.target[here]) * shape[-1]
            for feature, bins in enumerate(columns):
                counts[feature] += np.bincount(first + bins, minlength=counts.shape[1])
        self._places, self._slot = tuple(places), slots
        found = counts.reshape(len(counts), *shape)[:, :n_nodes].swapaxes(2, 3)
        return np.concatenate([found[at, :, : feature.n_bins] for at, feature in enumerate(grid.features)], axis=1)

    def _move(self, division: Division, place: int, places: Sequence[int]) -> _Move:
        left, right = (places.index(2 * place + side) for side in (0, 1))
        return _Move(division.feature, np.where(division.left_bins, left, right))


def _follow(slot: np.ndarray, columns: list[np.ndarray], moves: list[_Move | None], to: np.ndarray, none: int) -> None:
    """Write to `to` the open node that every row reaches from its last one; `none` where it reaches none."""
    to[:] = none
    for last, move in enumerate(moves):
        if move is not None:
            rows = np.flatnonzero(slot == last)
            to[rows] = move.to[columns[move.feature][rows]]
