"""Random forests: how many trees are drawn at once, which rows each gets, and how their leaves are labelled.

At every node a feature is drawn uniformly among those that can still be split: a category once per path, with one child per
value; a number at a uniform point of what the path has left of its declared range (whole numbers between two of them).

The trees cost nothing. The leaves of a tree hold disjoint rows, so its labels cost epsilon once, however many leaves there are.
Trees on disjoint rows cost that once altogether; trees that see every row add up.

Source: Fletcher & Islam 2017, Algorithm 2 and Theorem 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import comb
from typing import Any

import numpy as np

from dpviz.accounting.events import Event, Free, Parallel, PureDP, Sequential, Step, Unbounded
from dpviz.accounting.guarantee import round_down
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.models.boxes import Boxes
from dpviz.models.hashed_forest import HashedForest, leaves_reached
from dpviz.models.packed_forest import LEAF, PackedForest, PackedTrees, children_by_feature, values_of
from dpviz.privacy.leaf_labels import LabelLeaves, LabelRule
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import SecretKeys, UniformChoice
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Schema
from dpviz.training.counted_rows import CountedRows, row_order
from dpviz.training.params import Settings, flag

#: Numbers of boxes times features held at once while drawing.
_CHUNK_CELLS = 8_000_000


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
    r = len(sizes)
    chances = [1.0] + [0.0] * r  # that a path uses 0, 1, ... of the categories
    for _ in range(depth):
        asked = [chance * (r - used) / max(s + r - used, 1) for used, chance in enumerate(chances)]
        chances = [chance - now + before for chance, now, before in zip(chances, asked, [0.0, *asked[:-1]], strict=True)]
    products = reduce(np.convolve, [(1.0, float(size)) for size in sizes], np.ones(1))  # of all subsets of so many, added up
    return sum(
        chance * float(products[used]) / comb(len(sizes), used) * 2.0 ** ((depth if s else used) - used)
        for used, chance in enumerate(chances)
    )


def rows_to_trees(data: EncodedDataset, n_trees: int, source: NoiseSource) -> np.ndarray:
    """The tree of every row, int64 of shape (n_rows,): an independent uniform draw per row.

    Adding or removing a row does not change the distribution of any other row's tree, so parallel composition holds.
    Draws are assigned in `row_order`, so that a seed gives the same forest whatever the order of the rows.
    """
    trees = np.empty(data.n_rows, dtype=np.int64)
    trees[row_order(data)] = _trees_of_rows(data.n_rows, n_trees, source)
    return trees


def _trees_of_rows(n_rows: int, n_trees: int, source: NoiseSource) -> np.ndarray:
    """The trees of the rows in `row_order`, int64 of shape (n_rows,): an independent uniform draw per row."""
    return UniformChoice().choose(np.full(n_rows, n_trees), source=source)


#: The event of splits drawn without the rows.
RANDOM_SPLITS = Step(Free(), "node")


def draw_trees(schema: Schema, n_trees: int, depth: int, source: NoiseSource, *, in_order: bool = False) -> PackedTrees:
    """`n_trees` random trees; `in_order`: categories are cut by their places in the list instead of having a child each."""
    boxes = mean_leaves(schema, max(0, depth - 1)) * schema.n_features
    at_once = int(max(1, min(n_trees, _CHUNK_CELLS // max(boxes, 1))))
    some = (Boxes(schema, min(at_once, n_trees - start), in_order=in_order) for start in range(0, n_trees, at_once))
    return PackedTrees.concatenate([_draw(schema, boxes, depth, source) for boxes in some])


def _draw(schema: Schema, boxes: Boxes, depth: int, source: NoiseSource) -> PackedTrees:
    """Trees from the boxes of their roots, level by level."""
    sizes = children_by_feature(schema)
    tree = np.arange(len(boxes.low), dtype=np.int32)
    levels: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for level in range(depth):
        feature, threshold = boxes.split(source)
        levels.append((tree, feature, threshold))
        n_children = np.where(feature == LEAF, 0, np.where(np.isnan(threshold), sizes[feature], 2))
        parents = np.repeat(np.arange(len(tree)), n_children)
        tree = tree[parents]
        if level < depth - 1:
            place = np.arange(len(parents)) - (n_children.cumsum() - n_children)[parents]
            boxes.low, boxes.high = boxes.low[parents], boxes.high[parents]
            boxes.narrow(np.arange(len(parents)), feature[parents], threshold[parents], place > 0)
    levels.append((tree, np.full(len(tree), LEAF, dtype=np.int16), np.full(len(tree), np.nan)))
    of_tree, feature, threshold = map(np.concatenate, zip(*levels, strict=True))
    order = np.argsort(of_tree, kind="stable")
    return PackedTrees(schema, feature[order], threshold[order])


#: A forest with more leaves (on average) is too large to publish, because every leaf needs a label.
MAX_LEAVES = 4_000_000


def disjoint_field() -> Any:
    """The field `disjoint` of learners whose trees can divide the rows."""
    meaning = "Each tree has its own rows and all of epsilon. Off: every tree sees every row, for its part of epsilon."
    return flag(True, "Rows divided among the trees", meaning)


def publishable_depth(
    schema: Schema, settings: Settings, rule: int, n_trees: int
) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """(depth, a note that explains it, what it replaces): by the rule or as set, but so that it can be published."""
    wanted = min(rule, settings.max_depth) if settings.depth == "auto" else int(settings.depth)
    depth = max((level for level in range(1, wanted + 1) if mean_leaves(schema, level) <= MAX_LEAVES / n_trees), default=1)
    how = f"rule {rule}, at most {settings.max_depth}" if settings.depth == "auto" else f"set by you: {settings.depth}"
    limit = f", held to what {MAX_LEAVES:,} leaves can hold" if depth < wanted else ""
    replaced = settings.depth != "auto" and depth < wanted
    said = f"depth = {wanted} was replaced by {depth}: a forest is published with at most {MAX_LEAVES:,} leaves."
    return depth, (f"Depth {depth} ({how}{limit}).",), (said,) if replaced else ()


def label_plan(
    epsilon: float,
    shape: ForestShape,
    notes: tuple[str, ...],
    replaced: tuple[str, ...],
    kind: type[Any] = PureDP,
    exact: bool = True,
) -> BudgetPlan:
    """All of epsilon for the labels of each disjoint tree; equal parts for trees that share rows. `kind`: of cost of a label."""
    if shape.disjoint:
        part, times, rule = epsilon, 1, "rule: splits are free, trees hold disjoint rows"
    else:
        part, times = round_down(Fraction(epsilon) / shape.n_trees), shape.n_trees
        rule = "rule: equal parts, trees share rows"
    cost = Unbounded() if kind is Unbounded else kind(part)
    share = Share("leaf", shape.depth, part, times, rule, costs=(cost,), exact=exact)
    return BudgetPlan(epsilon, shape.depth, (share,), (*notes, *replaced), replaced=replaced)


@dataclass(frozen=True)
class ForestShape:
    """How many trees of which depth, on disjoint rows or each on all rows."""

    n_trees: int
    depth: int
    disjoint: bool

    def event(self, labels: Event) -> Event:
        """The event of a forest whose trees cost `labels` each: in parallel on disjoint rows, in sequence on shared ones."""
        one = Sequential((RANDOM_SPLITS, labels))
        return Parallel((one,) * self.n_trees) if self.disjoint else Sequential((one,) * self.n_trees)


def fit_packed(
    rows: CountedRows, shape: ForestShape, rule: LabelRule, source: NoiseSource
) -> tuple[PackedForest, Event, np.ndarray]:
    """A forest of which every leaf is held and labelled, its event, and the exact counts behind its labels (private)."""
    splits = draw_trees(rows.schema, shape.n_trees, shape.depth, source)
    counts = rows.forest_counts(splits, _trees_of_rows(rows.n_rows, shape.n_trees, source) if shape.disjoint else None)
    labels = LabelLeaves(rule).release(counts, source=source, part="leaf", level=shape.depth)
    return PackedForest(splits, labels.value), shape.event(labels.event), counts


def fit_hashed(
    data: EncodedDataset, shape: ForestShape, rule: LabelRule, source: NoiseSource
) -> tuple[HashedForest, Event, np.ndarray]:
    """The same for trees too large to hold: only leaves with rows are listed and counted."""
    keys = SecretKeys().choose(shape.n_trees + 1, source=source)
    keys, label_key = keys[:-1], int(keys[-1])
    values, target = values_of(data), data.target
    if shape.disjoint:
        leaf = leaves_reached(data.schema, shape.depth, values, keys[rows_to_trees(data, shape.n_trees, source)])
    else:
        reached = [leaves_reached(data.schema, shape.depth, values, np.full(data.n_rows, key)) for key in keys]
        leaf, target = np.concatenate(reached), np.tile(target, shape.n_trees)
    leaves, place = np.unique(leaf, return_inverse=True)
    counts = np.bincount(place * data.n_classes + target, minlength=len(leaves) * data.n_classes).reshape(len(leaves), -1)
    labels = LabelLeaves(rule).release(counts, source=source, part="leaf", level=shape.depth)
    model = HashedForest(data.schema, shape.depth, keys, leaves, labels.value, label_key)
    return model, shape.event(labels.event), counts
