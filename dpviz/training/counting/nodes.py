"""The nodes of a tree while it grows: what a learner's step may ask of their rows, counted level by level.

These counts are exact. They exist only inside `fit`, and leave it only through a mechanism.

Whoever counts (`Counter`) is asked once per level, when its first node is looked at. Of nodes that part the rows of one above
them all but the largest are counted: its counts are what is left. What follows from counts above is never asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from dpviz.table.candidates import CandidateGrid
from dpviz.training.counting.remembered import Remembered

#: Class counts per bin, and per pair of bins.
Kind = Literal["bins", "pairs"]
#: Below the root, only arrays of fewer bytes are remembered for other fits: few of these pass the same node.
_MOST_REMEMBERED = 1 << 21
#: Rows of a matrix that are added up one by one are at least so long.
_LONG = 128


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """Where a node stands in its tree: which rows of the node above reach it, those in some bins of a feature or the others."""

    above: Place | None = None  #: None at the root
    feature: int = -1
    left_bins: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=bool))  #: Shape (n_bins,)
    is_left: bool = True

    @property
    def way(self) -> list[Place]:
        """From here up to the root."""
        return [self] if self.above is None else [self, *self.above.way]


class Counter(Protocol):
    """Counts the nodes of one tree."""

    @property
    def held(self) -> np.ndarray:
        """The bins that may hold rows, numbered through, increasing: every pair that is counted is one of these. Private."""

    def count(self, places: Sequence[Place], others: Sequence[Place], kind: Kind) -> np.ndarray:
        """Class counts of the nodes at `places`, no two of which share a row. Private.

        int64 of shape (len(places), n_bins, n_classes), or integers of shape (len(places), n_held, n_held, n_classes) of pairs.
        `others` are the other open nodes of the tree: what is below them may be asked for next.
        """


#: Makes whoever counts the rows of part 0; of all rows where there are no parts.
MakeCounter = Callable[[np.ndarray | None], Counter]


@dataclass(frozen=True, eq=False)
class _Growth:
    """What the nodes of one tree share."""

    grid: CandidateGrid
    n_classes: int
    make_counter: MakeCounter
    counter: Counter
    remembered: Remembered | None = None
    #: All rows, counted before, and who counts those held out of them.
    whole: tuple[CountedNode, Counter] | None = None
    open: dict[CountedNode, None] = field(default_factory=dict)  #: Nodes that are not divided: no two share a row
    divided: set[Place] = field(default_factory=set)

    def count(self, asked: CountedNode, kind: Kind) -> None:
        """The counts of a node: of all that are open at once on its level."""
        if self.whole and asked.place.above is None:
            whole, held_out = self.whole
            asked.keep(kind, whole.counts(kind) - held_out.count([asked.place], (), kind)[0])
            return
        for ended in [node for node in self.open if node.level < asked.level]:
            del self.open[ended]
        wanted = [node for node in self.open if node.level == asked.level and kind not in node.known]
        wanted = wanted if asked in wanted else [asked]
        largest = dict[CountedNode, tuple[CountedNode, list[CountedNode]]]()
        for above, parts in _families(wanted, kind):
            if all(part.is_sized for part in parts) and sum(part.n_rows for part in parts) == above.n_rows:
                most = max(parts, key=lambda part: part.n_rows)
                largest[most] = above, [part for part in parts if part is not most]
        counted = [node for node in wanted if node not in largest]
        others = [node.place for node in self.open if node not in counted]
        if counted:
            for node, counts in zip(counted, self.counter.count([node.place for node in counted], others, kind), strict=True):
                node.keep(kind, counts)
        for node, (above, parts) in largest.items():
            node.keep(kind, above.known[kind] - sum(part.known[kind] for part in parts))


def _families(nodes: Sequence[CountedNode], kind: Kind) -> Iterator[tuple[CountedNode, list[CountedNode]]]:
    """The nearest nodes above these whose counts are known, each with those below it."""
    families = dict[CountedNode, list[CountedNode]]()
    for node in nodes:
        above = node.above
        while above is not None and kind not in above.known:
            above = above.above
        if above is not None:
            families.setdefault(above, []).append(node)
    yield from families.items()


class CountedNode:
    """What a learner's step may ask of the rows of a node: counts. Who counts, and where the rows are, it does not know."""

    def __init__(self, growth: _Growth, place: Place, level: int, way: bytes, above: CountedNode | None = None) -> None:
        self._growth, self.place, self._way, self.above = growth, place, way, above
        self.level = level  #: Depth of the node; the root has 0. Public
        self.known = growth.remembered.of(way) if growth.remembered else {}
        growth.open[self] = None

    @property
    def counter(self) -> Counter:
        """Who counts the rows."""
        return self._growth.counter

    @property
    def grid(self) -> CandidateGrid:
        """What the rows are binned by. Public."""
        return self._growth.grid

    @property
    def n_classes(self) -> int:
        """Number of classes. Public."""
        return self._growth.n_classes

    @property
    def histogram(self) -> np.ndarray:
        """Class counts per bin, int64 of shape (grid.n_bins, n_classes). Private."""
        if "bins" not in self.known:
            if "pairs" in self.known:  # two bins of one feature share no row
                self.keep("bins", self._spread(np.einsum("iik->ik", self.known["pairs"])))
            elif self.above is not None and "pairs" in self.above.known:
                left = self._spread(self.above.known["pairs"][np.isin(self.held, self._bins)].sum(axis=0))
                self.keep("bins", left if self.place.is_left else self.above.histogram - left)
        return self.counts("bins")

    @property
    def held(self) -> np.ndarray:
        """The bins that may hold rows, of this node or others: numbered through as in `histogram`, increasing. Private."""
        return self.counter.held

    @property
    def held_pairs(self) -> np.ndarray:
        """Class counts per pair of `held` bins, exact: integers of shape (n_held, n_held, n_classes). Private.

        Entry (i, j, k) is the number of rows of class k in the i-th of these bins and, by another feature, in the j-th: symmetric
        in i and j. Two bins of one feature share no row, and entry (i, i) is that of `histogram`. Callers make sure by public
        values alone that there are few enough bins (`dpviz.training.two_levels.fit_into_memory`).
        """
        return self.counts("pairs")

    @property
    def pairs(self) -> np.ndarray:
        """`held_pairs` among those of all bins: int64 of shape (grid.n_bins, grid.n_bins, n_classes). Private."""
        return self._spread(self._spread(self.held_pairs).swapaxes(0, 1)).swapaxes(0, 1)

    def _spread(self, of_held: np.ndarray) -> np.ndarray:
        """Something per bin that may hold rows as something per bin, 0 for the others."""
        found = np.zeros((self.grid.n_bins, *of_held.shape[1:]), dtype=np.int64)
        found[self.held] = of_held
        return found

    def counts(self, kind: Kind) -> np.ndarray:
        """`histogram` or `held_pairs`. Private."""
        if kind not in self.known and kind == "pairs" and len(self.grid.features) == 1:
            self.keep(kind, self.histogram[self.held, None] * np.eye(len(self.held), dtype=np.int64)[:, :, None])
        if kind not in self.known:
            self._growth.count(self, kind)
        return self.known[kind]

    @property
    def n_rows(self) -> int:
        """Exact number of rows. Private."""
        return int(self.class_counts.sum())

    @property
    def class_counts(self) -> np.ndarray:
        """Rows per class, int64 of shape (n_classes,). Private."""
        return self.remembered("classes", self._class_counts)

    @property
    def has_bins(self) -> bool:
        """Whether `histogram` follows from what was counted."""
        return bool({"bins", "pairs"} & self.known.keys()) or (self.above is not None and "pairs" in self.above.known)

    @property
    def is_sized(self) -> bool:
        """Whether `class_counts` follows from what was counted."""
        return "classes" in self.known or self.has_bins or (self.above is not None and self.above.has_bins)

    def _class_counts(self) -> np.ndarray:
        if "bins" not in self.known and self.above is not None and self.above.has_bins:
            left = self.above.histogram[self._bins].sum(axis=0)
            return left if self.place.is_left else self.above.class_counts - left
        return self.histogram[: self.grid.features[0].n_bins].sum(axis=0)  # every row is in one bin of a feature

    @property
    def _bins(self) -> np.ndarray:
        """The bins of the rows that go left with or without those of this node, numbered through."""
        return self.grid.offsets[self.place.feature] + np.flatnonzero(self.place.left_bins)

    @property
    def left_counts(self) -> np.ndarray:
        """Class counts of the left child under every candidate, int64 of shape (n_candidates, n_classes). Private."""
        return self.remembered("left", lambda: left_counts(self.grid, self.histogram))

    def remembered(self, key: Hashable, make: Callable[[], np.ndarray]) -> np.ndarray:
        """`make()`, an array that follows from these rows and `key` alone."""
        if key not in self.known:
            self.keep(key, make())
        return self.known[key]

    def keep(self, key: Hashable, found: np.ndarray) -> None:
        """Hold what was found out about these rows: for this fit, and as long as there is room for others."""
        self.known[key] = found
        if key == "bins":
            self.above = None  # growing by levels keeps whole levels of nodes
        if self._growth.remembered and (not self.level or found.nbytes <= _MOST_REMEMBERED):
            self._growth.remembered.keep(self._way, key, found, is_root=not self.level)

    def children(self, feature: int, left_bins: np.ndarray) -> tuple[CountedNode, CountedNode]:
        """(left, right): rows whose bin of `feature` is in `left_bins` (bool of shape (n_bins,)) go left."""
        growth = self._growth
        if self.place in growth.divided:  # another division was tried before
            for node in [node for node in growth.open if self.place in node.place.way]:
                del growth.open[node]
        growth.divided.add(self.place)
        growth.open.pop(self, None)
        way = self._way + feature.to_bytes(2) + np.packbits(left_bins).tobytes()
        left, right = (
            CountedNode(growth, Place(self.place, feature, left_bins, is_left), self.level + 1, way + side, self)
            for is_left, side in ((True, b"L"), (False, b"R"))
        )
        return left, right

    def of_part_0(self, parts: np.ndarray) -> CountedNode:
        """Of a root: its rows without those held out at random. `parts` holds the part of every row, uint8.

        Where all rows were counted before, those that are set aside are counted and taken off.
        """
        grid, n_classes, make, remembered = self.grid, self.n_classes, self._growth.make_counter, self._growth.remembered
        if remembered is None:
            return root_of(grid, n_classes, make, parts=parts)
        kept = parts == 0
        whole = self, make(kept.astype(np.uint8))
        way = b"kept" + hashlib.blake2b(np.packbits(kept).tobytes(), digest_size=16).digest()
        return CountedNode(_Growth(grid, n_classes, make, make(parts), remembered, whole), Place(), 0, way)


def root_of(
    grid: CandidateGrid,
    n_classes: int,
    make_counter: MakeCounter,
    *,
    parts: np.ndarray | None = None,
    level: int = 0,
    remembered: Remembered | None = None,
) -> CountedNode:
    """The root of a tree whose levels are counted; of a subtree, where it is on another level."""
    return CountedNode(_Growth(grid, n_classes, make_counter, make_counter(parts), remembered), Place(), level, b"all")


def mirrored(pairs: np.ndarray, features: Sequence[slice]) -> np.ndarray:
    """`CountedNode.held_pairs` of several nodes, of which each feature's with those behind it are known; in place.

    `features`: where the bins of each stand.
    """
    for own in features:
        pairs[:, own.stop :, own] = pairs[:, own, own.stop :].swapaxes(1, 2)
    last = features[-1]
    bins = np.arange(last.stop)
    pairs[:, bins, bins] = pairs[:, :, last].sum(axis=2)  # two bins of one feature share no row
    pairs[:, bins[last], bins[last]] = pairs[:, last, features[0]].sum(axis=2)
    return pairs


def left_counts(grid: CandidateGrid, histogram: np.ndarray) -> np.ndarray:
    """Sums over the bins that go left under every candidate, (n_candidates, n), of n numbers per bin, (n_bins, n)."""
    counts = np.empty((grid.n_candidates, histogram.shape[1]), dtype=histogram.dtype)
    for feature, bins, candidates in grid.slices:
        own, left = histogram[bins], counts[candidates]
        if feature.are_prefixes:
            sum_up(own[:-1], left)
        elif feature.subsets is not None:
            left[:] = feature.membership @ own  # float64, exact below 2^53
        else:
            below = np.concatenate([np.zeros_like(own[:1]), own.cumsum(axis=0)])
            left[:] = below[feature.ends] - below[feature.starts]
    return counts


def sum_up(rows: np.ndarray, sums: np.ndarray) -> None:
    """Sums of the first rows, of the first two, ...: row by row where rows are long, which costs less than `cumsum`."""
    if rows.shape[1] < _LONG:
        rows.cumsum(axis=0, out=sums)
        return
    sums[:1] = rows[:1]
    for at in range(1, len(rows)):
        np.add(sums[at - 1], rows[at], out=sums[at])
