"""Random trees for boosting: their splits depend on the schema alone, and no row is looked at.

Three shapes. *One feature*: every tree uses a single feature; all features take turns in random order (as in explainable
boosting). *Two features*: random pairs. *Random*: every node of a complete tree draws a feature and a point of its declared
range, or one category against the rest, as in the paper. In the first two, cuts lie at uniform points of the declared range or,
in a share `multiscale` of the trees, on the public multi-scale grid, which follows long tails; where `histograms` were released,
cuts are their quantiles. Every category has a child of its own; in pairs, random groups of categories share a cell.

`FollowingTrees` follow what earlier rounds released: features with more left to learn are asked for more often. All features take
turns once. Then a feature is drawn in proportion to how much its latest noisy sums of gradients vary over its cells, less what
noise alone contributes; a quarter of the draws are uniform. The second feature of a pair is drawn alike. These sums are released
anyway, so the choice costs nothing.

Source: Kirschte et al. 2023, Algorithm 5; Nori et al. 2021 (features in turn); this project (pairs, grid, groups, following).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

import numpy as np

from dpviz.models.boxes import Boxes, split_features
from dpviz.models.packed_forest import LEAF, PackedTrees, children_by_feature
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import UniformChoice, UniformPoint
from dpviz.table.candidates import multiscale_grid
from dpviz.table.schema import CategoricalFeature, Feature, NumericFeature, Schema
from dpviz.training.boosting.histograms import FeatureHistograms

#: (feature, threshold or NaN, children), or the cell of a leaf.
NestedNode = tuple[int, float, "list[NestedNode]"] | int
#: Which features a tree uses.
SHAPES = ("one feature", "two features", "random")


@dataclass(frozen=True, eq=False)
class BoostingTrees:
    """Random trees, and which leaves share a cell: the leaves of a cell always get the same value."""

    splits: PackedTrees
    cell: np.ndarray  #: int64 of shape (n_leaves,): cell of each leaf, numbered from 0 within its tree

    @cached_property
    def n_cells(self) -> np.ndarray:
        """Cells of every tree, shape (n_trees,)."""
        counts = np.zeros(self.splits.n_trees, dtype=np.int64)
        np.maximum.at(counts, self.splits.tree[self.splits.leaves], self.cell + 1)
        return counts

    def cells_of(self, rows: np.ndarray, tree: int) -> np.ndarray:
        """The cell that each of `rows` (n_rows, n_features) falls into in one tree."""
        return self.cell[self.splits.leaf_of(rows, self.splits.roots[tree])]

    def draw(self, tree: int) -> None:
        """Nothing: all were drawn beforehand."""

    def learn(self, noisy: np.ndarray, scale: float) -> None:
        """Nothing: trees that were drawn beforehand follow nothing that is released."""

    def all(self) -> BoostingTrees:
        """The trees themselves."""
        return self

    def cells_by_tree(self) -> list[np.ndarray]:
        """The cells of the leaves of every tree."""
        of_tree = self.splits.tree[self.splits.leaves]
        return np.split(self.cell, np.flatnonzero(np.diff(of_tree)) + 1)


def draw_boosting_trees(
    schema: Schema, shape: str, count: int, depth: int, multiscale: float, *, numeric_weight: float = 1.0, source: NoiseSource
) -> BoostingTrees:
    """`count` trees of one of SHAPES; a random node draws a number `numeric_weight` times as often as a category.

    Raises SchemaError if no feature can be split.
    """
    features = split_features(schema)
    if shape == "random":
        return pack(schema, _complete_trees(schema, count, depth, numeric_weight, source))
    both = shape == "two features" and depth > 1 and len(features) > 1
    order = in_turn(features, count, both, source)
    drawing = Drawing(schema, multiscale, None, source)
    cells = cells_by_part(depth, both)
    each = [[drawing.parts([f], [n], grouped=both)[0] for f, n in zip(asked, cells, strict=True)] for asked in order]
    return _pack_parts(schema, each)


def cells_by_part(depth: int, both: bool) -> tuple[int, ...]:
    """At most so many cells of each feature that a tree of this depth asks for."""
    return (2 ** ((depth + 1) // 2), 2 ** (depth // 2)) if both else (2**depth,)


def _complete_trees(schema: Schema, count: int, depth: int, numeric_weight: float, source: NoiseSource) -> list[NestedNode]:
    """`count` trees with 2^depth cells, numbered from left to right. Every node is cut in the declared ranges."""
    is_categorical = [isinstance(feature, CategoricalFeature) for feature in schema.features]
    weights = np.where(is_categorical, 100, max(1, round(100 * numeric_weight)))  # in hundredths of a category's
    n_nodes = 2**depth - 1
    asked, cuts = Boxes(schema, count * n_nodes).split(source, weights)
    one = np.isnan(cuts)
    cuts[one] = UniformChoice().choose(children_by_feature(schema)[asked[one]], source=source)  # the code of a category
    trees = zip(asked.reshape(count, n_nodes), cuts.reshape(count, n_nodes), strict=True)
    return [_complete(schema, of_tree.tolist(), at.tolist()) for of_tree, at in trees]


def _complete(schema: Schema, asked: list[int], cuts: list[float], node: int = 0) -> NestedNode:
    """The part of a tree below a node; the children of node n are 2n + 1 and 2n + 2."""
    if node >= len(asked):
        return node - len(asked)
    inside, outside = (_complete(schema, asked, cuts, 2 * node + step) for step in (1, 2))
    return two_sided(schema.features[asked[node]], asked[node], cuts[node], inside, outside)


def in_turn(features: list[int], count: int, both: bool, source: NoiseSource) -> list[list[int]]:
    """The features of each tree: all in random order, then all again, ...; the second of a pair is drawn uniformly."""
    cycles = math.ceil(count / len(features))
    keys = UniformPoint().shares(cycles * len(features), source=source).reshape(cycles, len(features))
    firsts = np.array(features)[np.argsort(keys, axis=1)].ravel()[:count].tolist()
    if not both:
        return [[first] for first in firsts]
    shares = UniformPoint().shares(count, source=source).tolist()
    others = [[feature for feature in features if feature != first] for first in firsts]
    return [[one, rest[min(int(s * len(rest)), len(rest) - 1)]] for one, rest, s in zip(firsts, others, shares, strict=True)]


@dataclass(frozen=True, eq=False)
class Part:
    """How one feature is cut: increasing `cuts` of a number, or the cell of every category in `groups`."""

    feature: int
    n_cells: int
    cuts: tuple[float, ...] = ()
    groups: tuple[int, ...] = ()

    def cells(self, values: np.ndarray, kind: np.dtype) -> np.ndarray:
        """The cell of each value, whole numbers of this kind; a number equal to a cut lies below it."""
        if self.groups:
            return np.array(self.groups, dtype=kind).take(values.astype(np.intp))
        cells = np.zeros(len(values), dtype=kind)
        for cut in self.cuts:
            cells += values > cut
        return cells


class Drawing:
    """Draws how a feature is cut."""

    def __init__(self, schema: Schema, multiscale: float, histograms: FeatureHistograms | None, source: NoiseSource) -> None:
        self.schema, self.multiscale, self.histograms, self.source = schema, multiscale, histograms, source
        self.grid = multiscale_grid(schema)

    def parts(self, asked: Sequence[int], cells: Sequence[int], *, grouped: bool) -> list[Part]:
        """How every feature that is asked for is cut: into at most so many cells, each category with its own unless `grouped`.

        One draw is for all: a key per category, and a share that places the quantiles of a number.
        """
        declared = [self.schema.features[feature] for feature in asked]
        sizes = [len(one.categories) if isinstance(one, CategoricalFeature) else 1 for one in declared]
        drawn, parts, start = UniformPoint().shares(sum(sizes), source=self.source), list[Part](), 0
        for feature, one, size, most in zip(asked, declared, sizes, cells, strict=True):
            own = drawn[start : start + size]
            start += size
            if isinstance(one, CategoricalFeature):
                n_cells = min(size, most) if grouped else size
                parts.append(Part(feature, n_cells, groups=tuple((own.argsort() % n_cells).tolist())))
            else:
                parts.append(self._cut(feature, one, most, float(own[0])))
        return parts

    def _cut(self, feature: int, declared: NumericFeature, cells: int, share: float) -> Part:
        thresholds = self.grid.features[feature].thresholds
        if self.histograms is None and share < self.multiscale:
            assert thresholds is not None
            cuts = thresholds[np.argsort(UniformPoint().shares(len(thresholds), source=self.source))[: cells - 1]].tolist()
        else:
            if self.histograms is None:
                shares = UniformPoint().shares(cells - 1, source=self.source)
            else:  # about as many rows between any two
                shares = self.histograms.quantiles(feature, [(share + cut) / (cells - 1) for cut in range(cells - 1)])
            cuts = [declared.low + place * (declared.high - declared.low) for place in shares.tolist()]
            if declared.whole:
                cuts = [math.floor(cut) + 0.5 for cut in cuts]  # between two whole numbers, where rounding changes nothing
        inside = sorted({cut for cut in cuts if declared.low < cut < declared.high})
        return Part(feature, len(inside) + 1, cuts=tuple(inside))


def _nest(parts: Sequence[Part], cell: int = 0) -> NestedNode:
    """NestedNode nodes: the cells of the first part, each cut by the next part."""
    if not parts:
        return cell
    part, rest = parts[0], parts[1:]
    below = [_nest(rest, cell * part.n_cells + number) for number in range(part.n_cells)]
    if part.groups:
        return part.feature, math.nan, [below[group] for group in part.groups]
    return _balanced_tree(part.feature, part.cuts, below)


def _balanced_tree(feature: int, cuts: Sequence[float], below: list[NestedNode]) -> NestedNode:
    if not cuts:
        return below[0]
    middle = len(cuts) // 2
    left, right = (cuts[:middle], below[: middle + 1]), (cuts[middle + 1 :], below[middle + 1 :])
    return feature, cuts[middle], [_balanced_tree(feature, *left), _balanced_tree(feature, *right)]


def two_sided(declared: Feature, place: int, cut: float, inside: NestedNode, outside: NestedNode) -> NestedNode:
    """A node about the feature at `place`: numbers up to `cut`, or the one category with the code `cut`, go inside.

    Packed trees hold thresholds, so two of them cut a category out of its list, and the cells of `outside` stand on both sides.
    """
    if not isinstance(declared, CategoricalFeature):
        return place, cut, [inside, outside]
    upwards: NestedNode = inside if cut == len(declared.categories) - 1 else (place, cut + 0.5, [inside, outside])
    return upwards if cut == 0 else (place, cut - 0.5, [outside, upwards])


def pack(schema: Schema, trees: Sequence[NestedNode]) -> BoostingTrees:
    """NestedNode trees one after another, each breadth first."""
    nodes, cells = _breadth_first(trees)
    return BoostingTrees(PackedTrees.of(schema, nodes), np.array(cells, dtype=np.int64))


def _breadth_first(trees: Sequence[NestedNode]) -> tuple[list[tuple[int, float]], list[int]]:
    """(what every node asks for, the cell of every leaf)."""
    nodes: list[tuple[int, float]] = []
    cells: list[int] = []
    for root in trees:
        waiting: deque[NestedNode] = deque([root])
        while waiting:
            node = waiting.popleft()
            if isinstance(node, int):
                nodes.append((LEAF, math.nan))
                cells.append(node)
                continue
            nodes.append(node[:2])
            waiting.extend(node[2])
    return nodes, cells


def _pack_parts(schema: Schema, trees: Sequence[Sequence[Part]]) -> BoostingTrees:
    """The trees of these parts, one after another: the cells of the first part, each cut by the next part."""
    feature, threshold, cell = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
    for parts in trees:
        asked, cut, place = _outline(tuple((len(part.cuts), len(part.groups)) for part in parts))
        feature.append(np.array([*(part.feature for part in parts), LEAF], dtype=np.int16).take(asked))
        threshold.append(np.array([*(cut for part in parts for cut in part.cuts), math.nan]).take(cut))
        cell.append(np.array(_cells_by_place(parts)).take(place))
    return BoostingTrees(PackedTrees(schema, np.concatenate(feature), np.concatenate(threshold)), np.concatenate(cell))


def _cells_by_place(parts: Sequence[Part]) -> list[int]:
    """The cell of every combination of an interval, or category, of each part; that of the last part varies fastest."""
    cells = [0]
    for part in parts:
        cells = [cell * part.n_cells + own for cell in cells for own in part.groups or range(part.n_cells)]
    return cells


@lru_cache(maxsize=128)
def _outline(shape: tuple[tuple[int, int], ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What trees share whose parts have as many (cuts, categories): breadth first, which part and which cut every node asks for.

    Cuts are numbered through all parts; -1 stands for none. Third comes the place of every leaf among all combinations.
    """
    parts: list[Part] = []
    for n_cuts, n_categories in shape:
        first = sum(len(part.cuts) for part in parts)
        cuts = tuple(range(first, first + n_cuts))
        parts.append(Part(len(parts), n_categories or n_cuts + 1, cuts, tuple(range(n_categories))))
    nodes, cells = _breadth_first([_nest(parts)])
    asked, cut = zip(*nodes, strict=True)
    return np.array(asked), np.nan_to_num(np.array(cut), nan=-1).astype(np.int64), np.array(cells)


#: The share of draws in which all features are as likely, and what a round keeps of the memory of a feature.
_UNIFORM, _MEMORY = 0.25, 0.7


class FollowingTrees:
    """Trees of one or two features, drawn when their turn comes."""

    def __init__(self, drawing: Drawing, cells: tuple[int, ...], source: NoiseSource) -> None:
        self.drawing, self.source = drawing, source
        self.features = split_features(drawing.schema)
        self.cells = cells[: len(self.features)]
        self.grouped = len(cells) > 1
        self.first = [first for (first,) in in_turn(self.features, len(self.features), False, source)]
        self.signal, self.memory = dict.fromkeys(self.features, 0.0), dict.fromkeys(self.features, 0.0)
        self.worth = dict.fromkeys(self.features, 0.0)  #: Signal by memory, of features whose sums are known
        self.unknown = set(self.features)
        self.trees: list[list[Part]] = []
        self.n_cells: list[int] = []  #: Of every tree drawn so far
        self.asked: list[int] = []  #: The features of the last tree
        self.shape: tuple[int, ...] = ()  #: Cells of the last tree by each of its features

    def cells_of(self, rows: np.ndarray, tree: int) -> np.ndarray:
        """The cell of each of `rows` (n_rows, n_features) in the last tree."""
        assert tree == len(self.trees) - 1, "trees are drawn in order"
        kind, (first, *others) = np.min_scalar_type(self.n_cells[-1]), self.trees[-1]
        cells = first.cells(rows[:, first.feature], kind)
        for part in others:  # as ravel_multi_index, in narrow numbers
            cells *= part.n_cells
            cells += part.cells(rows[:, part.feature], kind)
        return cells.astype(np.intp)

    def draw(self, tree: int) -> None:
        """Draw the next tree."""
        self.asked = self.first[tree : tree + 1]
        for share in UniformPoint().shares(len(self.cells) - len(self.asked), source=self.source).tolist():
            self.asked.append(self._draw_feature(share))
        parts = self.drawing.parts(self.asked, self.cells, grouped=self.grouped)
        self.shape = tuple(part.n_cells for part in parts)
        self.trees.append(parts)
        self.n_cells.append(math.prod(self.shape))

    def _draw_feature(self, share: float) -> int:
        """A feature that is not yet asked for: the one at this share of all chances."""
        free = [feature for feature in self.features if feature not in self.asked]
        worth = [self.worth[feature] for feature in free]
        total, alike = sum(worth), 1 / len(free)
        followed = [one / total for one in worth] if total > 0 and not self.unknown else [alike] * len(free)
        ends = list(accumulate(_UNIFORM * alike + (1 - _UNIFORM) * one for one in followed))
        return free[min(bisect_right(ends, share), len(free) - 1)]

    def learn(self, noisy: np.ndarray, scale: float) -> None:
        """Take note of the noisy sums of gradients of the last tree, (n_cells, n_scores), whose noise has deviation `scale`."""
        cells = noisy.reshape(*self.shape, -1)
        for axis, feature in enumerate(self.asked):
            sums = cells if len(self.shape) == 1 else np.add.reduce(cells, axis=1 - axis)
            total = np.add.reduce(sums)
            by_noise = (len(sums) - 1) * noisy.size / len(sums) * scale**2
            signal = float(np.vdot(sums, sums) - np.vdot(total, total) / len(sums)) - by_noise
            self.signal[feature] = _MEMORY * self.signal[feature] + signal
            self.memory[feature] = _MEMORY * self.memory[feature] + 1
            self.worth[feature] = max(self.signal[feature], 0.0) / self.memory[feature]
            self.unknown.discard(feature)

    def all(self) -> BoostingTrees:
        """The trees drawn so far."""
        return _pack_parts(self.drawing.schema, self.trees)
