"""Counting the levels of one tree over binned rows: a level is one pass, and of two children only the smaller one is counted.

Which open node a row has reached is kept in memory, a byte or two per row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dpviz.progress import Progress
from dpviz.table.candidates import CandidateGrid
from dpviz.training.counting.binned import Binned, Pack
from dpviz.training.counting.levels import Division
from dpviz.training.counting.on_disk import slices

#: So many counts of a column stay in the processor's cache; beyond them its features are counted one by one.
_MOST_COUNTS = 1 << 17
#: From this share of a piece on, counting all its rows costs less than choosing some of them.
_MOST = 0.7


class _Pair(NamedTuple):
    """The children of a node: its place among the open ones counted last, how it is divided, and the child with fewer rows."""

    parent: int
    division: Division
    counted: int
    other: int


class Levels:
    """Counts the levels of one tree, one after another.

    `_slot` holds, for every row, which of the open nodes `_places` of the level that was counted last it has reached; as many as
    these are where it has reached none of them. Their counts are `_found`.
    """

    def __init__(self, binned: Binned, step: Progress) -> None:
        self._binned, self._step = binned, step
        self._places: tuple[int, ...] = ()
        self._slot = self._found = np.empty(0, dtype=np.uint8)

    def count_level(
        self, grid: CandidateGrid, parts: np.ndarray | None, divisions: Mapping[int, Division], places: Sequence[int]
    ) -> np.ndarray:
        """Class counts per bin of the nodes at `places`: the root, or children of the nodes that were counted last."""
        if 1 in places:
            n_rows = self._binned.rows.n_rows
            self._slot = np.zeros(n_rows, dtype=np.uint8) if parts is None else np.minimum(parts, 1)
            self._places, self._found = (1,), self._counts(((here, self._slot[here]) for here in slices(n_rows)), 1)
            return self._found
        pairs = [self._pair(grid, at, divisions[place]) for at, place in enumerate(self._places) if place in divisions]
        counts = self._counts(self._moved(pairs), len(pairs))
        self._found = np.concatenate([counts, self._found[[pair.parent for pair in pairs]] - counts])
        self._places = (*(pair.counted for pair in pairs), *(pair.other for pair in pairs))
        return self._found[[self._places.index(place) for place in places]]

    def _pair(self, grid: CandidateGrid, parent: int, division: Division) -> _Pair:
        left, right = (2 * self._places[parent] + side for side in (0, 1))
        of_bins = self._found[parent, slice(*grid.offsets[division.feature : division.feature + 2])].sum(axis=1)
        fewer_left = 2 * of_bins[division.left_bins].sum() <= of_bins.sum()
        return _Pair(parent, division, *((left, right) if fewer_left else (right, left)))

    def _moved(self, pairs: Sequence[_Pair]) -> Iterator[tuple[slice, np.ndarray]]:
        """The rows in pieces, each with the slots that it moves to: children that are counted, then the others, then none."""
        none, moves = 2 * len(pairs), self._moves(pairs)
        moved = np.empty(len(self._slot), dtype=np.min_scalar_type(none))
        for here in slices(len(moved)):
            last, slot = self._slot[here], moved[here]
            slot[:] = none
            for column, table in moves.items():
                kind = np.min_scalar_type(table.size - 1).type
                code = last * kind(table.shape[1]) + self._binned.rows.columns[column][here]
                np.minimum(slot, table.ravel().take(code), out=slot)
            yield here, slot
        self._slot = moved

    def _moves(self, pairs: Sequence[_Pair]) -> dict[int, np.ndarray]:
        """By column: last slot, code -> next slot; none where this column does not tell it."""
        moves: dict[int, np.ndarray] = {}
        none = 2 * len(pairs)
        for at, (parent, division, counted, other) in enumerate(pairs):
            column, bins = self._binned.column_of(division.feature)
            table = moves.setdefault(column, np.full((len(self._places) + 1, len(bins)), none, dtype=np.min_scalar_type(none)))
            table[parent] = np.where(division.left_bins[bins] == (counted < other), at, len(pairs) + at)
        return moves

    def _counts(self, pieces: Iterable[tuple[slice, np.ndarray]], n_nodes: int) -> np.ndarray:
        """Class counts per bin of the first open nodes, of rows that come in pieces with their slots."""
        rows, packs = self._binned.rows, self._binned.packs
        counted: list[tuple[int, Pack, np.ndarray | None]] = [(at, pack, None) for at, pack in enumerate(packs)]
        if n_nodes * rows.n_classes * max(pack.size for pack in packs) > _MOST_COUNTS:
            counted = [(at, one, bins) for at, pack in enumerate(packs) for one, bins in zip(pack.alone, pack.bins, strict=True)]
        shape = n_nodes, rows.n_classes, max(pack.size for _, pack, _ in counted)
        found = np.zeros((len(counted), math.prod(shape)), dtype=np.int64)
        for here, slot in pieces:
            self._step(here.start / max(rows.n_rows, 1))
            first, chosen = _first_counts(slot, rows.target[here], shape)
            for of_column, (at, _, bins) in zip(found, counted, strict=True):
                codes = rows.columns[at][here] if chosen is None else rows.columns[at][here].take(chosen)
                place = first + (codes if bins is None else bins[codes])
                of_column += np.bincount(place, minlength=len(of_column))[: len(of_column)]
        by_code = zip(counted, found.reshape(-1, *shape), strict=True)
        each = [one for (_, pack, _), counts in by_code for one in pack.by_feature(counts[..., : pack.size])]
        return np.concatenate([one.swapaxes(1, 2) for one in each], axis=1)


def _first_counts(slot: np.ndarray, target: np.ndarray, shape: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray | None]:
    """(places of the counts of code 0, the chosen rows): the rows of the nodes that are counted.

    All rows, None, where that costs less; those of no such node are then counted behind the others.
    """
    n_nodes, n_classes, n_codes = shape
    kind = np.min_scalar_type((n_nodes + 1) * n_classes * n_codes).type
    node = np.minimum(slot, n_nodes)
    first = (node * kind(n_classes) + target) * kind(n_codes)
    chosen = np.flatnonzero(node < n_nodes)
    return (first, None) if len(chosen) > _MOST * len(slot) else (first.take(chosen), chosen)
