"""Many random trees at once: their depth, their size, their splits, and which rows each gets.

At every node a feature is drawn uniformly among those that can still be split: a category once per path, with one child per
value; a number at a uniform point of what the path has left of its declared range (whole numbers between two of them).

Source: Fletcher & Islam 2017, Algorithm 2 and Theorem 2.
"""

from functools import reduce
from math import comb

import numpy as np

from dpviz.models.boxes import Boxes, nth_free
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
    products = reduce(np.convolve, [(1.0, float(size)) for size in sizes], np.ones(1))  # of all subsets of so many, added up
    return sum(
        chance * float(products[used]) / comb(len(sizes), used) * 2.0 ** ((depth if s else used) - used)
        for used, chance in enumerate(chances)
    )


def _chances_of_categories(s: int, r: int, depth: int) -> list[float]:
    """Probabilities that a path of `depth` splits uses 0, 1, ... of r categories, given s numbers."""
    chances = [1.0] + [0.0] * r
    for _ in range(depth):
        asked = [chance * (r - used) / max(s + r - used, 1) for used, chance in enumerate(chances)]
        chances = [chance - now + before for chance, now, before in zip(chances, asked, [0.0, *asked[:-1]], strict=True)]
    return chances


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

    def trees(self) -> PackedTrees:
        """All trees, one after another."""
        boxes, tree = Boxes(self.schema, self.n_trees), np.arange(self.n_trees, dtype=np.int32)
        levels: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for level in range(self.depth):
            feature, threshold = self._splits(boxes)
            levels.append((tree, feature, threshold))
            n_children = np.where(feature == LEAF, 0, np.where(np.isnan(threshold), self.sizes[feature], 2))
            parents = np.repeat(np.arange(len(tree)), n_children)
            tree = tree[parents]
            if level < self.depth - 1:
                place = np.arange(len(parents)) - (n_children.cumsum() - n_children)[parents]
                boxes.low, boxes.high = boxes.low[parents], boxes.high[parents]
                boxes.narrow(np.arange(len(parents)), feature[parents], threshold[parents], place > 0)
        levels.append((tree, np.full(len(tree), LEAF, dtype=np.int16), np.full(len(tree), np.nan)))
        of_tree, feature, threshold = map(np.concatenate, zip(*levels, strict=True))
        order = np.argsort(of_tree, kind="stable")
        return PackedTrees(self.schema, feature[order], threshold[order])

    def _splits(self, boxes: Boxes) -> tuple[np.ndarray, np.ndarray]:
        """Feature and threshold of every node of a level; NaN for a category."""
        free = boxes.free
        n_free = free.sum(axis=1)
        nodes = np.flatnonzero(n_free)
        feature, threshold = np.full(len(free), LEAF, dtype=np.int16), np.full(len(free), np.nan)
        feature[nodes] = nth_free(free[nodes], UniformChoice().choose(n_free[nodes], source=self.source))
        chosen = feature[nodes]
        whole, real = nodes[boxes.whole[chosen]], nodes[~boxes.whole[chosen] & ~boxes.many[chosen]]
        low, high = (side[whole, feature[whole]] for side in (boxes.low, boxes.high))
        threshold[whole] = low + 0.5 + UniformChoice().choose((high - low).astype(np.int64), source=self.source)
        low, high = (side[real, feature[real]] for side in (boxes.low, boxes.high))
        threshold[real] = UniformPoint().choose(low, high, source=self.source)
        return feature, threshold
