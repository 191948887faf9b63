"""Counting the levels of one tree over binned rows in files: a level is one pass.

Which open node a row has reached is kept in memory, a byte or two per row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from dpviz.io.large.binned import Binned, Pack
from dpviz.progress import Progress
from dpviz.table.candidates import CandidateGrid
from dpviz.training.nodes import Kind, mirrored, slices
from dpviz.training.source_nodes import Place

#: So many counts of a column stay in the processor's cache; beyond them its features are counted one by one.
_MOST_COUNTS = 1 << 17
#: From this share of a piece on, counting all its rows costs less than choosing some of them.
_MOST = 0.7
#: Where slots go: those that stay; then, by column, last slot and code -> next slot, none where the column does not tell it.
_Move = tuple[np.ndarray, dict[int, np.ndarray]]


class Levels:
    """Counts the nodes of one tree.

    `_slot` holds, for every row, which of the nodes `_at` it has reached; as many as these are where it has reached none of them.
    """

    def __init__(self, binned: Binned, grid: CandidateGrid, step: Progress, parts: np.ndarray | None) -> None:
        self.binned, self._grid, self._step, self._parts = binned, grid, step, parts
        self._at: dict[Place, int] = {}
        self._slot = np.empty(0, dtype=np.uint8)

    @property
    def occupied_bins(self) -> np.ndarray:
        """The bins that may hold rows, numbered through."""
        each = zip(self.binned.held, self._grid.offsets, strict=False)
        return np.concatenate([bins + first for bins, first in each])

    def count(self, places: Sequence[Place], kind: Kind) -> np.ndarray:
        """Class counts of the nodes at `places`."""
        pieces = self._moved(places)
        return self._pair_counts(pieces, len(places)) if kind == "pairs" else self._counts(pieces, len(places))

    def _moved(self, wanted: Sequence[Place]) -> Iterator[tuple[slice, np.ndarray]]:
        """The rows in pieces, each with the places that its rows reach, numbered in this order."""
        ways = [self._way(place) for place in wanted]
        if not all(ways):
            self._at = {wanted[0].way[-1]: 0}
            n_rows = self.binned.rows.n_rows
            self._slot = np.zeros(n_rows, dtype=np.uint8) if self._parts is None else np.minimum(self._parts, 1)
            ways = [self._way(place) for place in wanted]
        at, moves = self._at, list[_Move]()
        for depth in range(1, max(2, *map(len, ways))):
            below = {way[min(depth, len(way) - 1)]: None for way in ways}
            moves.append(self._move(at, list(below)))
            at = {place: slot for slot, place in enumerate(below)}
        moved = np.empty(len(self._slot), dtype=np.min_scalar_type(len(at)))
        for here in slices(len(moved)):
            slot = self._slot[here]
            for move in moves:
                slot = self._next(slot, here, *move)
            moved[here] = slot
            yield here, moved[here]
        self._at, self._slot = at, moved

    def _way(self, place: Place) -> list[Place]:
        """From one of the nodes that rows have reached down to a place; empty where it is below none of them."""
        way = place.way
        known = next((at for at, above in enumerate(way) if above in self._at), -1)
        return way[known::-1] if known >= 0 else []

    def _move(self, at: dict[Place, int], below: Sequence[Place]) -> _Move:
        """From the nodes at which rows are to others, each one of them or a child."""
        none = len(below)
        kind = np.min_scalar_type(none)
        stays, moves = np.full(len(at) + 1, none, dtype=kind), dict[int, np.ndarray]()
        for slot, place in enumerate(below):
            if place in at:
                stays[at[place]] = slot
            elif place.above is not None:
                column, bins = self.binned.column_of(place.feature)
                table = moves.setdefault(column, np.full((len(at) + 1, len(bins)), none, dtype=kind))
                table[at[place.above], place.left_bins[bins] == place.is_left] = slot
        return stays, moves

    def _next(self, last: np.ndarray, here: slice, stays: np.ndarray, moves: dict[int, np.ndarray]) -> np.ndarray:
        slot = stays.take(last)
        for column, table in moves.items():
            kind = np.min_scalar_type(table.size - 1).type
            code = last * kind(table.shape[1]) + self.binned.rows.columns[column][here]
            np.minimum(slot, table.ravel().take(code), out=slot)
        return slot

    def _counts(self, pieces: Iterator[tuple[slice, np.ndarray]], n_nodes: int) -> np.ndarray:
        """Class counts per bin of the first nodes, of rows that come in pieces with their slots."""
        rows, packs = self.binned.rows, self.binned.packs
        counted: list[tuple[int, Pack, np.ndarray | None]] = [(at, pack, None) for at, pack in enumerate(packs)]
        if n_nodes * rows.n_classes * max(pack.size for pack in packs) > _MOST_COUNTS:
            counted = [(at, one, bins) for at, pack in enumerate(packs) for one, bins in zip(pack.alone, pack.bins, strict=True)]
        found = [np.zeros(n_nodes * rows.n_classes * pack.size, dtype=np.int64) for _, pack, _ in counted]
        for here, cell, chosen in self._cells(pieces, n_nodes):
            first: dict[int, np.ndarray] = {}
            for of_column, (at, pack, bins) in zip(found, counted, strict=True):
                codes = _chosen(rows.columns[at][here], chosen)
                if pack.size not in first:
                    kind = np.min_scalar_type((n_nodes + 1) * rows.n_classes * pack.size).type
                    first[pack.size] = cell * kind(pack.size)
                place = first[pack.size] + (codes if bins is None else bins[codes])
                of_column += np.bincount(place, minlength=len(of_column))[: len(of_column)]
        of_packs = (counts.reshape(n_nodes, rows.n_classes, -1) for counts in found)
        each = [one for (_, pack, _), counts in zip(counted, of_packs, strict=True) for one in pack.by_feature(counts)]
        return np.ascontiguousarray(np.concatenate(each, axis=2).swapaxes(1, 2))

    def _pair_counts(self, pieces: Iterator[tuple[slice, np.ndarray]], n_nodes: int) -> np.ndarray:
        """Class counts per pair of bins of the first nodes: of bins that may hold rows, and of these the numbers."""
        n_classes, n_bins = self.binned.rows.n_classes, [len(bins) for bins in self.binned.held]
        kind = np.min_scalar_type((n_nodes + 1) * math.prod(sorted(n_bins)[-2:]) * n_classes).type
        columns = map(self.binned.column_of, range(len(n_bins)))
        numbers = [
            (at, np.searchsorted(bins, of_code).astype(kind))
            for (at, of_code), bins in zip(columns, self.binned.held, strict=True)
        ]
        ends = [slice(*end) for end in pairwise(np.cumsum([0, *n_bins]).tolist())]
        kept = np.int32 if self.binned.rows.n_rows < 1 << 31 else np.int64
        found = np.zeros((n_nodes, ends[-1].stop, ends[-1].stop, n_classes), dtype=kept)
        for here, cell, chosen in self._cells(pieces, n_nodes):
            node, code = (part.astype(kind) for part in np.divmod(cell, cell.dtype.type(n_classes)))
            bins = [number[_chosen(self.binned.rows.columns[at][here], chosen)] for at, number in numbers]
            last = [column * kind(n_classes) + code for column in bins]
            for f, column in enumerate(bins):
                first, by_size = node * kind(n_bins[f]) + column, dict[int, np.ndarray]()
                for g in range(f + 1, len(bins)):
                    size = n_bins[g] * n_classes
                    by_size[size] = by_size[size] if size in by_size else first * kind(size)
                    counts = np.bincount(by_size[size] + last[g], minlength=n_nodes * n_bins[f] * size)
                    shape = n_nodes, n_bins[f], n_bins[g], n_classes
                    found[:, ends[f], ends[g]] += counts[: math.prod(shape)].reshape(shape)
        return mirrored(found, ends)

    def _cells(
        self, pieces: Iterator[tuple[slice, np.ndarray]], n_nodes: int
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray | None]]:
        """The rows of the first nodes in pieces: (a piece, node and class of its rows, those chosen of them).

        All rows, None, where that costs less; those of no such node are then behind the others.
        """
        rows = self.binned.rows
        kind = np.min_scalar_type((n_nodes + 1) * rows.n_classes).type
        for here, slot in pieces:
            self._step(here.start / max(rows.n_rows, 1))
            node = np.minimum(slot, n_nodes)
            cell = node * kind(rows.n_classes) + rows.target[here]
            chosen = np.flatnonzero(node < n_nodes)
            yield (here, cell, None) if len(chosen) > _MOST * len(slot) else (here, cell.take(chosen), chosen)


def _chosen(column: np.ndarray, chosen: np.ndarray | None) -> np.ndarray:
    return column if chosen is None else column.take(chosen)
