"""The nodes of a tree while it grows: exact counts of their rows, for a learner's step.

These counts exist only inside `fit`, and leave it only through a mechanism. A node is a value: its rows and its level. Counts
follow from these when they are first asked for, or from those above where that costs less.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import ClassVar, Literal, Self
from weakref import WeakKeyDictionary

import numpy as np

from dpviz.table.candidates import CandidateGrid

#: Class counts per bin, and per pair of bins.
Kind = Literal["bins", "pairs"]
#: Rows that are read, encoded, binned or counted at once: their bins stay in the processor's cache, their sums exact in float64.
CHUNK_ROWS = 1 << 17
#: So many cells come unpacked at once; of wider tables fewer rows do, down to a quarter.
_CHUNK_CELLS = 1 << 21
#: Rows of a matrix that are added up one by one are at least so long.
_LONG = 128


class CountedNode(ABC):
    """What a learner's step may ask of the rows of a node. Where these are, it does not know.

    `arrays` holds what follows from the rows; `parent` is the node that was divided, None at a root and where it is needed
    no more.
    """

    def __init__(self, grid: CandidateGrid, n_classes: int, level: int, arrays: dict[Hashable, np.ndarray]) -> None:
        self.grid = grid  #: What the rows are binned by. Public
        self.n_classes = n_classes  #: Number of classes. Public
        self.level = level  #: Depth of the node; the root has 0. Public
        self.arrays = arrays
        self.parent: Self | None = None
        self.left_bins: np.ndarray | None = None  #: The bins of the rows that went left above, numbered through
        self.is_left = True

    @property
    @abstractmethod
    def occupied_bins(self) -> np.ndarray:
        """The bins that may hold rows, of this node or others: numbered through as in `histogram`, increasing. Private."""

    @abstractmethod
    def children(self, feature: int, left_bins: np.ndarray) -> tuple[Self, Self]:
        """(left, right): rows whose bin of `feature` is in `left_bins` (bool of shape (n_bins,)) go left."""

    @abstractmethod
    def without(self, held_out: np.ndarray) -> Self:
        """Of a root: its rows where `held_out`, an array of shape (n_rows,) in the order of the rows, is 0."""

    @abstractmethod
    def _count(self, kind: Kind) -> np.ndarray:
        """`histogram` or `pair_counts`."""

    def count_level(self, nodes: Sequence[CountedNode], kind: Kind) -> None:  # noqa: B027  (in memory nothing waits)
        """Count this node and the others that are open on its level, before any of them is asked for it."""

    @property
    def histogram(self) -> np.ndarray:
        """Class counts per bin, int64 of shape (grid.n_bins, n_classes). Private."""
        return self.counts("bins")

    @property
    def pair_counts(self) -> np.ndarray:
        """Class counts per pair of `occupied_bins`, exact: integers of shape (n_occupied, n_occupied, n_classes). Private.

        Entry (i, j, k) is the number of rows of class k in the i-th of these bins and, by another feature, in the j-th: symmetric
        in i and j. Two bins of one feature share no row, and entry (i, i) is that of `histogram`. Callers make sure by public
        values alone that there are few enough bins (`dpviz.training.two_levels.fit_into_memory`).
        """
        return self.counts("pairs")

    def counts(self, kind: Kind) -> np.ndarray:
        """`histogram` or `pair_counts`. Private."""
        if kind not in self.arrays:
            derived = self._from_pairs() if kind == "bins" else self._of_one_feature()
            self.keep(kind, self._count(kind) if derived is None else derived)
            self.parent = None  # growing by levels keeps whole levels of nodes
        return self.arrays[kind]

    def _from_pairs(self) -> np.ndarray | None:
        """The histogram, where pairs tell it: two bins of one feature share no row."""
        if "pairs" in self.arrays:
            return self._spread(np.einsum("iik->ik", self.arrays["pairs"]))
        if self.parent is None or self.left_bins is None or "pairs" not in self.parent.arrays:
            return None
        goes_left = np.isin(self.occupied_bins, self.left_bins)
        left = self._spread(self.parent.arrays["pairs"][goes_left].sum(axis=0))
        return left if self.is_left else self.parent.histogram - left

    def _of_one_feature(self) -> np.ndarray | None:
        """The pairs, where there is one feature."""
        bins = self.occupied_bins
        return self.histogram[bins, None] * np.eye(len(bins), dtype=int)[:, :, None] if len(self.grid.features) == 1 else None

    def _spread(self, of_occupied: np.ndarray) -> np.ndarray:
        """Something per bin that may hold rows as something per bin, 0 for the others."""
        per_bin = np.zeros((self.grid.n_bins, *of_occupied.shape[1:]), dtype=np.int64)
        per_bin[self.occupied_bins] = of_occupied
        return per_bin

    @property
    def class_counts(self) -> np.ndarray:
        """Rows per class, int64 of shape (n_classes,). Private."""
        return self.remember("classes", self._class_counts)

    @property
    def n_rows(self) -> int:
        """Exact number of rows. Private."""
        return int(self.class_counts.sum())

    @property
    def _has_bins(self) -> bool:
        parent_has_pairs = self.parent is not None and self.left_bins is not None and "pairs" in self.parent.arrays
        return parent_has_pairs or not {"bins", "pairs"}.isdisjoint(self.arrays)

    def _class_counts(self) -> np.ndarray:
        if "bins" not in self.arrays and self.parent is not None and self.left_bins is not None and self.parent._has_bins:
            left = self.parent.histogram[self.left_bins].sum(axis=0)
            return left if self.is_left else self.parent.class_counts - left
        return self.histogram[: self.grid.features[0].n_bins].sum(axis=0)  # every row is in one bin of a feature

    @property
    def left_counts(self) -> np.ndarray:
        """Class counts of the left child under every candidate, int64 of shape (n_candidates, n_classes). Private."""
        return self.remember("left", lambda: left_counts(self.grid, self.histogram))

    def remember(self, key: Hashable, make: Callable[[], np.ndarray]) -> np.ndarray:
        """`make()`, an array that follows from these rows and `key` alone."""
        if key not in self.arrays:
            self.keep(key, make())
        return self.arrays[key]

    def keep(self, key: Hashable, array: np.ndarray) -> None:
        """Hold what follows from these rows."""
        self.arrays[key] = array

    def _divide(self, children: tuple[Self, Self], feature: int, left_bins: np.ndarray) -> tuple[Self, Self]:
        """Tell the children where they come from."""
        bins = self.grid.offsets[feature] + np.flatnonzero(left_bins)
        for child, is_left in zip(children, (True, False), strict=True):
            child.parent, child.left_bins, child.is_left = self, bins, is_left
        return children


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """Where a node stands in its tree: which rows of the node above reach it, those in some bins of a feature or the others."""

    parent: Place | None = None  #: None at the root
    feature: int = -1
    left_bins: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=bool))  #: Shape (n_bins,)
    is_left: bool = True


@dataclass(frozen=True, eq=False)
class BinnedRows:
    """Rows in memory, as the bins of a grid. Private."""

    grid: CandidateGrid
    bins: tuple[np.ndarray, ...]  #: Per feature, whole numbers of shape (n_rows,)
    target: np.ndarray  #: Class codes, of shape (n_rows,)
    n_classes: int
    has_every_bin: bool = False  #: Whether all bins are counted, whichever hold rows: then counts of several tables add up

    def root(self, cache: NodeCache | None = None) -> CountedNode:
        """All rows. Roots with one cache share what is known of their nodes."""
        return _BinnedNode(self, 0, b"root", cache)

    @cached_property
    def occupied(self) -> tuple[np.ndarray, ...]:
        """Per feature the bins that may hold rows, increasing: all of them, where rows are so many that few would be missing."""
        sizes = [feature.n_bins for feature in self.grid.features]
        if self.has_every_bin or len(self.target) > CHUNK_ROWS:
            return tuple(map(np.arange, sizes))
        columns = zip(self.bins, sizes, strict=True)
        return tuple(np.flatnonzero(np.bincount(column, minlength=n_bins)) for column, n_bins in columns)

    @cached_property
    def occupied_bins(self) -> np.ndarray:
        """The same, numbered through."""
        return np.concatenate([bins + first for bins, first in zip(self.occupied, self.grid.offsets, strict=False)])

    @cached_property
    def _numbers(self) -> list[np.ndarray]:
        """Per feature the number of every row's bin among those that may hold rows."""
        if self.has_every_bin or len(self.target) > CHUNK_ROWS:
            return list(self.bins)
        columns = zip(self.grid.features, self.occupied, self.bins, strict=True)
        return [np.searchsorted(bins, np.arange(f.n_bins)).astype(column.dtype).take(column) for f, bins, column in columns]

    def count(self, kind: Kind, rows: np.ndarray | None) -> np.ndarray:
        """`CountedNode.histogram` or `pair_counts` of the rows at these positions, of all where there are none."""
        if kind == "bins":
            counts = np.zeros((self.grid.n_bins, self.n_classes), dtype=np.int64)
            self._add_histogram(counts, rows)
            return counts
        ends = ends_of(map(len, self.occupied))
        dtype = np.int32 if len(self.target) < 1 << 31 else np.int64
        counts = np.zeros((ends[-1].stop, ends[-1].stop, self.n_classes), dtype=dtype)
        self._add_pairs(counts, rows)
        return mirror_pairs(counts[None], ends)[0]

    def add(self, totals: np.ndarray, places: Sequence[Place], kind: Kind, held_out: np.ndarray | None) -> None:
        """Add the counts of the nodes at these places, of rows where `held_out` is 0, to `totals`, one node after another.

        Of pairs each feature's with those behind it alone: `mirror_pairs` makes the others of the sum.
        """
        reached: dict[Place | None, np.ndarray] = {}
        reached[None] = np.arange(len(self.target)) if held_out is None else np.flatnonzero(held_out == 0)
        for place, total in zip(places, totals, strict=True):
            rows = self._rows_at(place, reached)
            (self._add_histogram if kind == "bins" else self._add_pairs)(total, rows)

    def _rows_at(self, place: Place, reached: dict[Place | None, np.ndarray]) -> np.ndarray:
        """The positions of a node's rows; `reached`: those of all rows, None, and of nodes that were asked for before."""
        if place.parent is None:
            return reached[None]
        if place not in reached:
            rows = self._rows_at(place.parent, reached)
            reached[place] = rows[place.left_bins[self.bins[place.feature][rows]] == place.is_left]
        return reached[place]

    def _pieces(self, columns: Sequence[np.ndarray], rows: np.ndarray | None) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
        """(class codes, columns) of some rows at a time."""
        for piece in slices(len(self.target if rows is None else rows)):
            positions = piece if rows is None else rows[piece]
            yield self.target[positions], [column[positions] for column in columns]

    def _add_histogram(self, counts: np.ndarray, rows: np.ndarray | None) -> None:
        sizes = [feature.n_bins for feature in self.grid.features]
        for target, columns in self._pieces(self.bins, rows):
            for column, n_bins, first in zip(columns, sizes, self.grid.offsets, strict=False):
                cells = n_bins * self.n_classes
                place = target + column * np.min_scalar_type(cells).type(self.n_classes)
                counts[first : first + n_bins] += np.bincount(place, minlength=cells).reshape(n_bins, -1)

    def _add_pairs(self, pairs: np.ndarray, rows: np.ndarray | None) -> None:
        n_classes, n_bins = self.n_classes, [len(bins) for bins in self.occupied]
        kind = np.min_scalar_type(n_classes * int(np.prod(sorted(n_bins)[-2:]))).type
        ends = ends_of(n_bins)
        for target, columns in self._pieces(self._numbers, rows):
            firsts = [column.astype(kind) for column in columns]
            lasts = [column * kind(n_classes) + target for column in firsts]
            for f, first in enumerate(firsts):
                by_size = {size: first * kind(size * n_classes) for size in set(n_bins[f + 1 :])}
                for g in range(f + 1, len(n_bins)):
                    shape = n_bins[f], n_bins[g], n_classes
                    counts = np.bincount(by_size[n_bins[g]] + lasts[g], minlength=int(np.prod(shape)))
                    pairs[ends[f], ends[g]] += counts.reshape(shape)


class NodeCache:
    """What is known of the nodes of all trees from one root, by the path to each, for fits that share the rows.

    It holds arrays and no rows' owner: exact counts go with the rows they were made from. All that a process keeps is bounded
    in bytes. Beyond it the roots that were used longest ago are forgotten.
    """

    max_bytes: ClassVar[int] = 1 << 29
    #: Below a root, larger arrays are not kept: few fits pass the same node.
    MAX_INNER_BYTES: ClassVar[int] = 1 << 21
    _recent: ClassVar[WeakKeyDictionary[NodeCache, None]] = WeakKeyDictionary()  # those used last stand last
    _lock: ClassVar[Lock] = Lock()

    def __init__(self) -> None:
        self.nbytes = 0
        self._arrays: dict[bytes, dict[Hashable, np.ndarray]] = {}

    def use(self) -> NodeCache:
        """Put it behind all others, as the one used last."""
        with self._lock:
            self._recent.pop(self, None)
            self._recent[self] = None
        return self

    def of(self, path: bytes) -> dict[Hashable, np.ndarray]:
        """What is known of a node."""
        return dict(self._arrays.get(path, {}))

    def keep(self, path: bytes, key: Hashable, array: np.ndarray, *, is_root: bool) -> None:
        """Keep something of a node."""
        if array.nbytes > (self.max_bytes if is_root else self.MAX_INNER_BYTES):
            return
        with self._lock:
            arrays = self._arrays.setdefault(path, {})
            if key in arrays:
                return
            recent = list(self._recent)  # itself last
            total = array.nbytes + sum(cache.nbytes for cache in recent)
            for oldest in recent:
                if total <= self.max_bytes:
                    break
                total -= oldest.nbytes
                oldest.nbytes, oldest._arrays = 0, {}
            self._arrays.setdefault(path, {})[key] = array
            self.nbytes += array.nbytes


class _BinnedNode(CountedNode):
    """A node of rows in memory. Of two siblings the larger has the `smaller`, whose counts are taken off those above."""

    parent: _BinnedNode | None  # type: ignore[assignment]

    def __init__(
        self, rows: BinnedRows, level: int, path: bytes, cache: NodeCache | None, positions: np.ndarray | None = None
    ) -> None:
        super().__init__(rows.grid, rows.n_classes, level, cache.of(path) if cache else {})
        self.rows, self.positions, self._path, self._cache = rows, positions, path, cache
        self.smaller: _BinnedNode | None = None

    @property
    def occupied_bins(self) -> np.ndarray:
        """Those of the root."""
        return self.rows.occupied_bins

    def children(self, feature: int, left_bins: np.ndarray) -> tuple[_BinnedNode, _BinnedNode]:
        """(left, right)."""
        positions, column = self.positions, self.rows.bins[feature]
        goes_left = left_bins[column if positions is None else column[positions]]
        path = self._path + feature.to_bytes(2) + np.packbits(left_bins).tobytes()
        sides = [
            (np.flatnonzero(side) if positions is None else positions[side], path + name)
            for side, name in ((goes_left, b"L"), (~goes_left, b"R"))
        ]
        left, right = (_BinnedNode(self.rows, self.level + 1, child_path, self._cache, rows) for rows, child_path in sides)
        larger, smaller = (left, right) if len(sides[0][0]) > len(sides[1][0]) else (right, left)
        larger.smaller = smaller
        return self._divide((left, right), feature, left_bins)

    def without(self, held_out: np.ndarray) -> _BinnedNode:
        """The rows that are not held out; where all are counted for several fits, those held out are taken off."""
        is_kept = held_out == 0
        path = b"kept" + hashlib.blake2b(np.packbits(is_kept).tobytes(), digest_size=16).digest()
        node = _BinnedNode(self.rows, self.level, path, self._cache, np.flatnonzero(is_kept))
        if self._cache is not None:
            node.parent, node.smaller = self, _BinnedNode(self.rows, self.level, path, None, np.flatnonzero(~is_kept))
        return node

    def keep(self, key: Hashable, array: np.ndarray) -> None:
        """Hold what follows from these rows: for this fit, and in the cache."""
        super().keep(key, array)
        if self._cache is not None:
            self._cache.keep(self._path, key, array, is_root=not self.level)

    def _count(self, kind: Kind) -> np.ndarray:
        difference = self._parent_without_sibling(kind)
        return self.rows.count(kind, self.positions) if difference is None else difference

    def _parent_without_sibling(self, kind: Kind) -> np.ndarray | None:
        """What is left of the rows above without the smaller sibling, where the nearest counts above are of few more rows."""
        parent, smaller = self.parent, self.smaller
        if parent is None or smaller is None:
            return None
        if parent.level == self.level:
            parent.counts(kind)
        whole = parent.arrays[kind] if kind in parent.arrays else parent._parent_without_sibling(kind)
        return None if whole is None else whole - smaller.counts(kind)


#: Class counts of the nodes at some places, no two of which share a row, of the rows where an array is 0 (None: of all):
#: int64 of shape (len(places), n_bins, n_classes), or integers of shape (len(places), n_bins, n_bins, n_classes).
CountPlaces = Callable[[Sequence[Place], Kind, np.ndarray | None], np.ndarray]


class SourceNode(CountedNode):
    """A node of rows elsewhere: all that are open on a level are one question. What follows from counts is not asked.

    Which bins hold rows would be a question of its own: all count as occupied.
    """

    def __init__(
        self,
        grid: CandidateGrid,
        n_classes: int,
        count: CountPlaces,
        held_out: np.ndarray | None = None,
        level: int = 0,
        place: Place | None = None,
    ) -> None:
        super().__init__(grid, n_classes, level, {})
        self.place, self._ask, self._held_out = place or Place(), count, held_out

    @property
    def occupied_bins(self) -> np.ndarray:
        """All bins."""
        return np.arange(self.grid.n_bins)

    def children(self, feature: int, left_bins: np.ndarray) -> tuple[SourceNode, SourceNode]:
        """(left, right)."""
        common = self.grid, self.n_classes, self._ask, self._held_out, self.level + 1
        left, right = (SourceNode(*common, Place(self.place, feature, left_bins, is_left)) for is_left in (True, False))
        return self._divide((left, right), feature, left_bins)

    def without(self, held_out: np.ndarray) -> SourceNode:
        """The rows that are not held out."""
        return SourceNode(self.grid, self.n_classes, self._ask, held_out)

    def count_level(self, nodes: Sequence[CountedNode], kind: Kind) -> None:
        """One question."""
        if len(self.grid.features) == 1:
            kind = "bins"  # which tell its pairs
        source_nodes = [node for node in nodes if isinstance(node, SourceNode) and kind not in node.arrays]
        if source_nodes:
            places = [node.place for node in source_nodes]
            for node, counts in zip(source_nodes, self._ask(places, kind, self._held_out), strict=True):
                node.keep(kind, counts)
                node.parent = None

    def _count(self, kind: Kind) -> np.ndarray:
        self.count_level([self], kind)
        return self.arrays[kind]


def node_of(root: CountedNode, rows: np.ndarray, level: int) -> CountedNode:
    """The node that the rows at these positions reach, below a root of rows in memory."""
    assert isinstance(root, _BinnedNode)
    return _BinnedNode(root.rows, level, b"", None, rows)


def rows_per_chunk(n_columns: int) -> int:
    """How many rows are in memory at once where each of them has so many unpacked cells."""
    return min(CHUNK_ROWS, max(_CHUNK_CELLS // max(n_columns, 1), CHUNK_ROWS // 4))


def slices(n_rows: int, n_columns: int = 1) -> list[slice]:
    """The rows, some at a time, of which so many columns are unpacked; one empty slice where there are none."""
    most = rows_per_chunk(n_columns)
    return [slice(start, min(start + most, n_rows)) for start in range(0, max(n_rows, 1), most)]


def ends_of(n_bins: Iterable[int]) -> list[slice]:
    """Where the bins of each feature stand."""
    return [slice(*end) for end in pairwise(np.cumsum([0, *n_bins]).tolist())]


def mirror_pairs(pairs: np.ndarray, features: Sequence[slice]) -> np.ndarray:
    """`CountedNode.pair_counts` of several nodes, of which each feature's with those behind it are known; in place.

    `features`: where the bins of each stand.
    """
    for feature in features:
        pairs[:, feature.stop :, feature] = pairs[:, feature, feature.stop :].swapaxes(1, 2)
    last = features[-1]
    bins = np.arange(last.stop)
    pairs[:, bins, bins] = pairs[:, :, last].sum(axis=2)  # two bins of one feature share no row
    pairs[:, bins[last], bins[last]] = pairs[:, last, features[0]].sum(axis=2)
    return pairs


def left_counts(grid: CandidateGrid, histogram: np.ndarray) -> np.ndarray:
    """Sums over the bins that go left under every candidate, (n_candidates, n), of n numbers per bin, (n_bins, n)."""
    counts = np.empty((grid.n_candidates, histogram.shape[1]), dtype=histogram.dtype)
    for feature, bins, candidates in grid.slices:
        binned, left = histogram[bins], counts[candidates]
        if feature.are_prefixes:
            _sum_up(binned[:-1], left)
        elif feature.subsets is not None:
            kind = binned.dtype if binned.dtype.kind == "f" else np.float64  # which is exact below 2^53
            with np.errstate(invalid="ignore"):  # BLAS may flag an invalid number in small products where there is none
                left[:] = feature.membership.astype(kind, copy=False) @ binned
        else:
            sums = np.zeros((len(binned) + 1, binned.shape[1]), dtype=binned.dtype)
            _sum_up(binned, sums[1:])
            sums.take(feature.ends, axis=0, out=left)
            if feature.starts.any():
                left -= sums[feature.starts]
    return counts


def _sum_up(rows: np.ndarray, sums: np.ndarray) -> None:
    """Sums of the first rows, of the first two, ...: row by row where rows are long, which costs less than `cumsum`."""
    if rows.shape[1] < _LONG:
        rows.cumsum(axis=0, out=sums)
        return
    sums[:1] = rows[:1]
    for at in range(1, len(rows)):
        np.add(sums[at - 1], rows[at], out=sums[at])
