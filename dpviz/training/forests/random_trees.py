"""Many random trees at once: their depth, their size, their splits, and which rows each gets.

At every node a feature is drawn uniformly among those that can still be split: a category once per path, with one child per
value; a number at a uniform point of what the path has left of its declared range (whole numbers between two of them).

Source: Fletcher & Islam 2017, Algorithm 2 and Theorem 2.
"""

from math import comb

import numpy as np

from dpviz.models.hashed_forest import is_cut_between, nth_free, starting_box
from dpviz.models.packed_forest import LEAF, PackedTrees
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import UniformChoice, UniformPoint
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Schema

#: Numbers of boxes times features held at once while drawing.
_CELLS_AT_ONCE = 8_000_000


def theorem_2_depth(schema: Schema) -> int:
    """The published depth: 1 + (least d with s ((s-1)/s)^d < s/2) + r/2, or r/2 without a numeric feature.

    s features are numeric, r are categorical. Theorem 2 as printed lacks the 1; Table 4 includes it.
    """
    s, r = _kinds(schema)
    if not s:
        return max(1, r // 2)
    depth = 0
    while s * ((s - 1) / s) ** depth >= s / 2:
        depth += 1
    return 1 + depth + r // 2


def _kinds(schema: Schema) -> tuple[int, int]:
    r = sum(isinstance(feature, CategoricalFeature) for feature in schema.features)
    return schema.n_features - r, r


def mean_leaves(schema: Schema, depth: int) -> float:
    """Leaves of a random tree of this depth, on average over its splits. Public: no row is looked at.

    The categories on a path are a uniform subset of all, so only their number matters; numbers count as always splittable.
    """
    sizes = [len(f.categories) for f in schema.features if isinstance(f, CategoricalFeature) and len(f.categories) > 1]
    s, _ = _kinds(schema)
    chances = _chances_of_categories(s, len(sizes), depth)
    products = _elementary(sizes)
    return sum(
        chance * products[used] / comb(len(sizes), used) * 2.0 ** ((depth if s else used) - used)
        for used, chance in enumerate(chances)
    )


def _chances_of_categories(s: int, r: int, depth: int) -> list[float]:
    """Probabilities that a path of `depth` splits uses 0, 1, ... of r categories, given s numbers."""
    chances = [1.0] + [0.0] * r
    for _ in range(depth):
        asked = [chance * (r - used) / max(s + r - used, 1) for used, chance in enumerate(chances)]
        chances = [chance - now + before for chance, now, before in zip(chances, asked, [0.0, *asked[:-1]], strict=True)]
    return chances


def _elementary(sizes: list[int]) -> list[float]:
    """Sums of the products of all subsets of 0, 1, ... sizes."""
    sums = [1.0] + [0.0] * len(sizes)
    for size in sizes:
        sums = [old + size * before for old, before in zip(sums, [0.0, *sums[:-1]], strict=True)]
    return sums


def deepest_within(schema: Schema, depth: int, most_leaves: float) -> int:
    """The largest depth up to `depth` at which a tree has at most `most_leaves` leaves on average; at least 1."""
    fitting = (level for level in range(1, depth + 1) if mean_leaves(schema, level) <= most_leaves)
    return max(fitting, default=1)


def row_order(data: EncodedDataset) -> np.ndarray:
    """An order of the rows that depends on their values and not on their positions."""
    return np.lexsort((data.target, *data.columns))


def rows_to_trees(data: EncodedDataset, n_trees: int, source: NoiseSource) -> np.ndarray:
    """The tree of every row, int64 of shape (n_rows,): an independent uniform draw per row.

    Adding or removing a row does not change the distribution of any other row's tree, so parallel composition holds.
    Draws are assigned in `row_order`, so that a seed gives the same forest whatever the order of the rows.
    """
    trees = np.empty(data.n_rows, dtype=np.int64)
    trees[row_order(data)] = trees_of_rows(data.n_rows, n_trees, source)
    return trees


def trees_of_rows(n_rows: int, n_trees: int, source: NoiseSource) -> np.ndarray:
    """The trees of the rows in `row_order`, int64 of shape (n_rows,): an independent uniform draw per row."""
    return UniformChoice().choose(np.full(n_rows, n_trees), source=source)


def draw_trees(schema: Schema, n_trees: int, depth: int, source: NoiseSource) -> PackedTrees:
    """`n_trees` random trees."""
    boxes = mean_leaves(schema, max(0, depth - 1)) * schema.n_features
    at_once = int(max(1, min(n_trees, _CELLS_AT_ONCE // max(boxes, 1))))
    starts = range(0, n_trees, at_once)
    return PackedTrees.concatenate([_Drawing(schema, min(at_once, n_trees - s), depth, source).trees() for s in starts])


class _Drawing:
    """Draws trees level by level."""

    def __init__(self, schema: Schema, n_trees: int, depth: int, source: NoiseSource) -> None:
        self.schema, self.n_trees, self.depth, self.source = schema, n_trees, depth, source
        self.sizes = np.array([len(f.categories) if isinstance(f, CategoricalFeature) else 0 for f in schema.features])
        self.whole = np.array([is_cut_between(feature) for feature in schema.features])
        self.feature: list[np.ndarray] = []
        self.threshold: list[np.ndarray] = []
        self.first: list[np.ndarray] = []

    def trees(self) -> PackedTrees:
        """All trees, one after another."""
        tree, trees = np.arange(self.n_trees), []
        low, high = (np.tile(side, (self.n_trees, 1)) for side in starting_box(self.schema))
        met = 0
        for level in range(self.depth + 1):
            trees.append(tree)
            met += len(tree)
            free = (high > low) if level < self.depth else np.zeros_like(low, dtype=bool)
            parents, place = self._split(free, low, high, met)
            tree = tree[parents]
            low, high = self._boxes(low, high, parents, place, level)
        by_level = np.concatenate(trees).astype(np.int32)
        order = np.argsort(by_level, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        feature, threshold, first = (np.concatenate(arrays)[order] for arrays in (self.feature, self.threshold, self.first))
        return PackedTrees(self.schema, self.n_trees, by_level[order], feature, threshold, np.where(first > 0, place[first], 0))

    def _split(self, free: np.ndarray, low: np.ndarray, high: np.ndarray, met: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw the splits of a level; returns (parent, place among its children) of every node of the next level."""
        n_free = free.sum(axis=1)
        nodes = np.flatnonzero(n_free)
        feature = np.full(len(free), LEAF, dtype=np.int16)
        chosen = UniformChoice().choose(n_free[nodes], source=self.source)
        feature[nodes] = nth_free(free[nodes], chosen)
        threshold = np.full(len(free), np.nan)
        threshold[nodes] = self._cuts(feature[nodes], low[nodes, feature[nodes]], high[nodes, feature[nodes]])
        n_children = np.where(feature == LEAF, 0, np.where(np.isnan(threshold), self.sizes[feature], 2))
        ends = n_children.cumsum()
        self.feature.append(feature)
        self.threshold.append(threshold)
        self.first.append(np.where(feature == LEAF, 0, met + ends - n_children))
        parents = np.repeat(np.arange(len(free)), n_children)
        return parents, np.arange(len(parents)) - (ends - n_children)[parents]

    def _cuts(self, feature: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Thresholds; NaN for a category."""
        cuts = np.full(len(feature), np.nan)
        whole = np.flatnonzero(self.whole[feature])
        cuts[whole] = low[whole] + 0.5 + UniformChoice().choose((high - low)[whole].astype(np.int64), source=self.source)
        other = np.flatnonzero(~self.whole[feature] & (self.sizes[feature] == 0))
        cuts[other] = UniformPoint().choose(low[other], high[other], source=self.source)
        return cuts

    def _boxes(
        self, low: np.ndarray, high: np.ndarray, parents: np.ndarray, place: np.ndarray, level: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The boxes of the next level."""
        if level >= self.depth - 1:
            empty = np.empty((len(parents), self.schema.n_features))  # nothing below is split, so the contents do not matter
            return empty, empty
        feature, cut = self.feature[-1][parents], self.threshold[-1][parents]
        rows, many, whole = np.arange(len(parents)), np.isnan(cut), self.whole[feature]
        low, high = low[parents], high[parents]
        ceiling, floor = (np.where(whole, cut + side, cut) for side in (-0.5, 0.5))
        here_low, here_high = low[rows, feature], high[rows, feature]
        high[rows, feature] = np.where(many, here_low, np.where(place > 0, here_high, ceiling))
        low[rows, feature] = np.where(many, here_low, np.where(place > 0, floor, here_low))
        return low, high
