"""Counting the levels of one tree over binned rows: a level is one pass, and of two children only the smaller one is counted.

Which open node a row has reached is kept in memory, a byte or two per row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dpviz.progress import Progress
from dpviz.table.candidates import CandidateGrid
from dpviz.training.counting.binned import Binned
from dpviz.training.counting.levels import Division
from dpviz.training.counting.on_disk import slices

#: So many counts of a column stay in the processor's cache; beyond them its features are counted one by one.
_MOST_COUNTS = 1 << 17
#: Pieces that are counted at once, so that adding up their counts costs little.
_PIECES = 4


class _Children(NamedTuple):
    """Two open nodes. All are places among the open nodes: of the parent among those counted last, of the others now."""

    parent: int
    division: Division
    left: int
    right: int
    counted: int
    other: int


class Levels:
    """Counts the levels of one tree, one after another.

    `_slot` holds, for every row, the place of its node among the open ones of the level that was counted last, `_places`, whose
    counts are `_found`; as many as these are where the row is in none of them.
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
            slot = np.zeros(n_rows, dtype=np.uint8) if parts is None else np.minimum(parts, 1)
            found = self._counts(slot, np.arange(2))
        else:
            children = [
                self._children(grid, at, divisions[place], places) for at, place in enumerate(self._places) if place in divisions
            ]
            slot = self._followed(children, len(places))
            own = np.full(len(places) + 1, len(children))
            own[[pair.counted for pair in children]] = np.arange(len(children))
            counts = self._counts(slot, own)
            found = np.empty((len(places), *counts.shape[1:]), dtype=np.int64)
            for pair, of_smaller in zip(children, counts, strict=True):
                found[pair.counted], found[pair.other] = of_smaller, self._found[pair.parent] - of_smaller
        self._places, self._slot, self._found = tuple(places), slot, found
        return found

    def _children(self, grid: CandidateGrid, parent: int, division: Division, places: Sequence[int]) -> _Children:
        left, right = (places.index(2 * self._places[parent] + side) for side in (0, 1))
        of_bins = self._found[parent, slice(*grid.offsets[division.feature : division.feature + 2])].sum(axis=1)
        pair = (left, right) if 2 * of_bins[division.left_bins].sum() <= of_bins.sum() else (right, left)
        return _Children(parent, division, left, right, *pair)

    def _followed(self, children: Sequence[_Children], none: int) -> np.ndarray:
        """The place of the open node that every row reaches from its last one; `none` where it reaches none."""
        slot = np.full(len(self._slot), none, dtype=np.min_scalar_type(none))
        moves: dict[int, np.ndarray] = {}  # by column: place of the last node, code -> place of the next
        for pair in children:
            at, bins = self._binned.column_of(pair.division.feature)
            table = moves.setdefault(at, np.full((len(self._places) + 1, len(bins)), none, dtype=slot.dtype))
            table[pair.parent] = np.where(pair.division.left_bins[bins], pair.left, pair.right)
        pieces = slices(len(slot))
        for number, here in enumerate(pieces):
            self._step(number / len(pieces))
            last = self._slot[here].astype(np.intp)
            for at, table in moves.items():
                reached = table.ravel()[last * table.shape[1] + self._binned.rows.columns[at][here]]
                np.minimum(slot[here], reached, out=slot[here])
        return slot

    def _counts(self, slot: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Class counts per bin of nodes 0, 1, ... (rows of node own[slot]), below the largest, which stands for none of them."""
        rows, packs = self._binned.rows, self._binned.packs
        shape = int(own.max()), rows.n_classes, max(pack.size for pack in packs)
        is_joint = math.prod(shape) <= _MOST_COUNTS
        if not is_joint:
            shape = *shape[:2], max(max(pack.shape) for pack in packs)
        counted = [(at, of_code) for at, pack in enumerate(packs) for of_code in ((None,) if is_joint else pack.bins)]
        counts, pieces = np.zeros((len(counted), math.prod(shape)), dtype=np.int64), slices(rows.n_rows, _PIECES)
        own = own.astype(np.min_scalar_type(shape[0]))
        for number, here in enumerate(pieces):
            node = own[slot[here]]
            chosen = np.flatnonzero(node < shape[0])
            first = (node[chosen].astype(np.int64) * shape[1] + rows.target[here][chosen]) * shape[2]
            for place, (at, of_code) in enumerate(counted):
                self._step((number + place / len(counted)) / len(pieces))
                codes = rows.columns[at][here][chosen]
                counts[place] += np.bincount(first + (codes if of_code is None else of_code[codes]), minlength=counts.shape[1])
        by_code = counts.reshape(len(counted), *shape)
        if is_joint:
            each = [one for pack, joint in zip(packs, by_code, strict=True) for one in pack.by_feature(joint[..., : pack.size])]
        else:
            sizes = (n_bins for pack in packs for n_bins in pack.shape)
            each = [one[..., :n_bins] for one, n_bins in zip(by_code, sizes, strict=True)]
        return np.concatenate([one.swapaxes(1, 2) for one in each], axis=1)
