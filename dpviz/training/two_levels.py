"""Utilities of every tree of two levels, as exact integers, with a proof of their width.

A tree parts the rows of a node into four leaves, and its utility is a sum over them. So it is uL(r, a) + uR(r, b) for a root r,
a split a of its left and b of its right child (`dpviz.privacy.two_levels`). Per leaf, with 0 <= lambda <= 1,

    lambda * (rows with the leaf's label) - (1 - lambda) * (half the impurity of the leaf, see `dpviz.training.scores`),

where a leaf that is not labelled yet has the label of its largest class.

**Width.** One row more falls into one leaf of every tree. There the first term grows by 0 to lambda (a count, or the largest of
several counts of which one grows) and half the impurity by 0 to 1. So the utility of every tree changes by something in
[lambda - 1, lambda]: width 1, for any lambda, the same for all trees. It is a convex combination for *every* tree; one term for
some trees and the other for others would have width 2, and so would their plain sum.

**Integers.** With S = 1024 units per row, lambda is a whole number C of 1,024ths. The first term is C times a count. Half the
impurity times S - C is rounded down per leaf; when it grows by something in [0, S - C], a whole number of units, so does its
floor. So a utility changes by C - S to C units: width S, exactly. With weighted classes (`Weighing`) both bounds are at most
max w times larger.

**Labels.** Where the leaves below are labelled, a and b are splits together with two different labels, or one label for the whole
child, which is then one leaf. Above the last block there are no labels and lambda is 0.

Source: this project.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.privacy.sensitivity import BoundedRangeSensitivity
from dpviz.privacy.two_levels import LogWeights, Parts, Sides, TwoLevelUtilities
from dpviz.table.candidates import CandidateGrid, FeatureCandidates
from dpviz.training.nodes import CountedNode, left_counts
from dpviz.training.scores import SCALE, Weighing, half_impurity, label_pairs, locate_labelled, require_scorable

#: In units of a log weight: float32 holds those below to about .01.
_CLOSE_IN_FLOAT32 = 1e5
#: In a simulation, roots whose trees are weighed together: their counts stay in the processor's cache.
_CHUNK_ROOTS = 64


@dataclass(frozen=True)
class TreeScore:
    """The utility of a tree of two levels.

    `correct` is lambda in units of 1/1024; `repeats`: with labels, one label for a whole child is a candidate so many times.
    """

    weighing: Weighing
    correct: int = 0
    repeats: int | None = None

    @property
    def width(self) -> BoundedRangeSensitivity:
        """How much one row changes it."""
        because = "one leaf gains a row: correct rows and minus half the impurity, in a convex combination"
        return BoundedRangeSensitivity(SCALE * self.weighing.largest, because)

    def utilities(self, node: CountedNode) -> TwoLevelUtilities:
        """Of all trees at a node."""
        n_roots, n_classes = node.grid.n_candidates, node.n_classes
        n_below = n_roots if self.repeats is None else n_roots * len(label_pairs(n_classes)[0]) + self.repeats * n_classes
        trees = _Trees(self, node)
        return TwoLevelUtilities(n_roots, n_below, trees.of_roots, trees.log_weights)


def locate_below(below: int, n_candidates: int, n_classes: int, repeats: int) -> tuple[int | None, tuple[int, int]]:
    """As `locate_labelled`, of what stands below a root: pair of labels by pair of labels, then one label for everyone."""
    n_pairs = len(label_pairs(n_classes)[0])
    pair, candidate = divmod(below, n_candidates)
    return locate_labelled(candidate * n_pairs + pair if pair < n_pairs else below, n_candidates, n_classes, repeats)


class _Trees:
    """The trees of two levels at a node. Counts have the classes on the first axis."""

    def __init__(self, score: TreeScore, node: CountedNode) -> None:
        self._score, self._units, self._node = score, score.weighing.units, node
        if "distinct pairs" not in node.arrays:
            node.counts("pairs")  # first: the other counts follow from them
        require_scorable(int(score.weighing.counts(node.class_counts).sum()))

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, np.ndarray]:
        return distinct_pairs(self._node)

    def of_roots(self, roots: slice) -> Sides:
        """(uL, uR), int64 of shape (roots, n_below)."""
        pairs, stands = self._distinct
        own = pairs.take(stands[roots], axis=1).take(stands, axis=2), np.einsum("kii->ki", pairs)[:, stands]
        left, right = (self._side(*side) for side in self._sides(*own, roots, np.dtype(np.int64)))
        return left, right

    def log_weights(self, rate: float) -> LogWeights:
        """Log weights in floats: nothing is rounded down, and what is the same for all trees is left out."""
        pairs, stands = self._distinct
        alone = np.einsum("kii->ki", pairs)
        times = np.bincount(stands)
        is_near = rate * SCALE * self._node.n_rows < _CLOSE_IN_FLOAT32
        kind = np.dtype(np.float32 if is_near else np.float64)

        def blocks() -> Iterator[tuple[Parts, Parts]]:
            for start in range(0, len(times), _CHUNK_ROOTS):
                roots = slice(start, start + _CHUNK_ROOTS)
                sides = self._sides(pairs[:, roots], alone, roots, kind)
                left, right = (self._side_log_weights(*side, rate, times) for side in sides)
                yield left, right

        return blocks(), stands

    def _sides(self, both: np.ndarray, left: np.ndarray, roots: slice, kind: np.dtype) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Of either child of some roots: counts (n_classes, roots, n_candidates) of what goes left below, and (n_classes, roots).

        `both`: the first of these on the left; `left`: what goes left under every candidate, (n_classes, n_candidates).
        """
        both, left = self._weigh(both, kind), self._weigh(left, kind)
        yield both, left[:, roots]
        yield left[:, None, :] - both, self._weigh(self._node.class_counts[:, None], kind) - left[:, roots]

    def _weigh(self, counts: np.ndarray, kind: np.dtype) -> np.ndarray:
        counts = counts.astype(kind, copy=False)
        return counts if self._units is None else counts * self._units.astype(kind).reshape(-1, *[1] * (counts.ndim - 1))

    def _side(self, inside: np.ndarray, child: np.ndarray) -> np.ndarray:
        """Utilities below a child with these counts, of which `inside` go left."""
        units, repeats = self._score.correct, self._score.repeats
        outside = child[:, :, None] - inside
        impure = half_impurity(inside, SCALE - units, axis=0) + half_impurity(outside, SCALE - units, axis=0)
        if repeats is None:
            return units * (inside.max(axis=0) + outside.max(axis=0)) - impure if units else -impure
        pairs = zip(*label_pairs(len(child)), strict=True)
        named = [units * (inside[here] + outside[there]) - impure for here, there in pairs]
        alone = (units * child - half_impurity(child, SCALE - units, axis=0)).T
        return np.concatenate([*named, np.tile(alone, (1, repeats))], axis=1)

    def _side_log_weights(self, inside: np.ndarray, child: np.ndarray, rate: float, times: np.ndarray) -> Parts:
        """As `_side`. Half the impurity of n rows is n / 2 less sum n_k^2 / 2n, and all leaves of a tree have the same rows."""
        units, repeats = self._score.correct, self._score.repeats
        pure, per_row = (inside.dtype.type(rate * part) for part in ((SCALE - units) / 2, units))
        outside = child[:, :, None] - inside
        even = _evenness(inside)
        even += _evenness(outside)
        even *= pure
        if repeats is None:
            if units:
                even += per_row * (inside.max(axis=0) + outside.max(axis=0))
            return [(even, times)]
        inside, outside = per_row * inside, per_row * outside
        named = [(inside[here] + outside[there] + even, times) for here, there in zip(*label_pairs(len(child)), strict=True)]
        alone = (per_row * child + pure * _evenness(child)).T
        return [*named, (alone, np.full(len(child), repeats))]


def _evenness(counts: np.ndarray) -> np.ndarray:
    """sum n_k^2 / n over the classes, on the first axis; 0 where there are no rows."""
    squares = counts[0] * counts[0]
    rows = counts[0] + counts[1]
    squares += counts[1] * counts[1]
    for of_class in counts[2:]:
        squares += of_class * of_class
        rows += of_class
    squares /= np.maximum(rows, 1, out=rows)
    return squares


# --- class counts of every tree of two levels

# A row in bin i of one feature and bin j of another goes left at the root where i does and left below where j does. So the counts
# per pair of bins (`CountedNode.pair_counts`), summed along both axes, are the counts of every pair of candidates.

#: Counts per pair of bins of all nodes of a level, and per pair of candidates of one node, that are made at most: 512 and 64 MB.
MAX_PAIRS_OF_BINS, MAX_PAIRS_OF_CANDIDATES = 1 << 26, 1 << 23
#: float32 holds every whole number up to here.
_WHOLE_IN_FLOAT32 = 1 << 24
#: Pairs of features, each of which is counted by itself: those of 44 features.
MAX_PAIRS_OF_FEATURES = 1000


def fit_into_memory(grid: CandidateGrid, n_classes: int, depth: int) -> bool:
    """Whether the pairs of a grid can be counted in a tree of so many levels. A public rule: it looks at no row."""
    nodes = 2 ** max(0, depth - 2)  # where the last two levels begin
    bins, candidates = grid.n_bins**2 * n_classes, grid.n_candidates**2 * n_classes
    if math.comb(len(grid.features), 2) > MAX_PAIRS_OF_FEATURES:
        return False
    return nodes * bins <= MAX_PAIRS_OF_BINS and candidates <= MAX_PAIRS_OF_CANDIDATES


def distinct_pairs(node: CountedNode) -> tuple[np.ndarray, np.ndarray]:
    """Rows per class that go left under both of two candidates, and which of these candidates stands for each. Private.

    Candidates that differ by empty bins alone stand there once: (n_classes, n_distinct, n_distinct), much smaller where a node
    holds few values. Whole numbers, exact, in float32 where that holds them, else in float64.
    """
    is_held = np.any(node.histogram > 0, axis=1)
    grid, stands = _without_empty_bins(node.grid, is_held)

    def sums(pairs: np.ndarray) -> np.ndarray:  # over the first axis, bins, of which some go left
        totals = left_counts(grid, pairs.reshape(len(pairs), math.prod(pairs.shape[1:])))
        return totals.reshape(len(totals), *pairs.shape[1:])

    def counted() -> np.ndarray:
        kind = np.float32 if node.n_rows < _WHOLE_IN_FLOAT32 else np.float64
        held = np.searchsorted(node.occupied_bins, np.flatnonzero(is_held))
        pairs = node.pair_counts.take(held, axis=0).take(held, axis=1)
        first = sums(np.ascontiguousarray(pairs.swapaxes(1, 2), dtype=kind))
        return np.ascontiguousarray(sums(np.ascontiguousarray(first.transpose(2, 1, 0))).swapaxes(0, 1))

    return node.remember("distinct pairs", counted), stands


def _without_empty_bins(grid: CandidateGrid, is_held: np.ndarray) -> tuple[CandidateGrid, np.ndarray]:
    """The bins that hold rows and the candidates that part them, and which of these stands for each of the grid."""
    kept, stands, before = list[FeatureCandidates](), list[np.ndarray](), 0
    for feature, bins, _ in grid.slices:
        held = is_held[bins]
        rank = np.concatenate([[0], held.cumsum()])
        n_held = int(rank[-1])
        if feature.subsets is None:
            low, high = rank[feature.starts], rank[feature.ends]
            keys, stand = np.unique(np.where(low < high, low * (n_held + 1) + high, 0), return_inverse=True)
            kept.append(FeatureCandidates(n_held, None, *np.divmod(keys, n_held + 1)))
        else:
            masks = feature.subsets @ (held * (1 << np.arange(feature.n_bins)))
            _, first, stand = np.unique(masks, return_index=True, return_inverse=True)
            kept.append(FeatureCandidates(n_held, subsets=feature.subsets[first][:, held]))
        stands.append(stand + before)
        before += kept[-1].n_candidates
    return CandidateGrid(grid.schema, tuple(kept), grid.name, is_reused=False), np.concatenate(stands)
