"""Planning and fitting a random forest: draw the trees, send each row down, label the leaves.

The trees cost nothing. The leaves of a tree hold disjoint rows, so its labels cost epsilon once, however many leaves there are.
Trees on disjoint rows cost that once altogether; trees that see every row add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np

from dpviz.accounting.events import Event, Free, Parallel, PureDP, Sequential, Step, Unbounded
from dpviz.accounting.guarantee import round_down
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.models.hashed_forest import HashedForest, leaves_reached
from dpviz.models.packed_forest import PackedForest, PackedTrees, values_of
from dpviz.privacy.leaf_labels import LabelLeaves, LabelRule, LeafCounts
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import SecretKeys
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema
from dpviz.training.counted_rows import CountedRows
from dpviz.training.forests.random_trees import deepest_within, draw_trees, rows_to_trees, trees_of_rows
from dpviz.training.params import Settings, flag

#: A forest with more leaves (on average) is too large to publish, because every leaf needs a label.
MOST_LEAVES = 4_000_000

M = TypeVar("M")


def disjoint_field() -> Any:
    """The field `disjoint` of learners whose trees can divide the rows."""
    meaning = "Each tree has its own rows and all of epsilon. Off: every tree sees every row, for its part of epsilon."
    return flag(True, "Rows divided among the trees", meaning)


def publishable_depth(
    schema: Schema, settings: Settings, rule: int, n_trees: int
) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """(depth, a note that explains it, what it replaces): by the rule or as set, but so that it can be published."""
    wanted = min(rule, settings.max_depth) if settings.depth == "auto" else int(settings.depth)
    depth = deepest_within(schema, wanted, MOST_LEAVES / n_trees)
    how = f"rule {rule}, at most {settings.max_depth}" if settings.depth == "auto" else f"set by you: {settings.depth}"
    limit = f", held to what {MOST_LEAVES:,} leaves can hold" if depth < wanted else ""
    replaced = settings.depth != "auto" and depth < wanted
    said = f"depth = {wanted} was replaced by {depth}: a forest is published with at most {MOST_LEAVES:,} leaves."
    return depth, (f"Depth {depth} ({how}{limit}).",), (said,) if replaced else ()


def label_plan(
    epsilon: float,
    shape: ForestShape,
    notes: tuple[str, ...],
    replaced: tuple[str, ...] = (),
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
        one = Sequential((Step(Free(), "node"), labels))
        return Parallel((one,) * self.n_trees) if self.disjoint else Sequential((one,) * self.n_trees)


@dataclass(frozen=True)
class FittedForest(Generic[M]):
    """A forest, its event, and the exact counts behind its labels (private)."""

    model: M
    event: Event
    counts: LeafCounts


def fit_packed(rows: CountedRows, shape: ForestShape, rule: LabelRule, source: NoiseSource) -> FittedForest[PackedForest]:
    """A forest of which every leaf is held and labelled."""
    splits = draw_trees(rows.schema, shape.n_trees, shape.depth, source)
    counts = leaf_counts(rows, splits, shape.disjoint, source)
    labels = LabelLeaves(rule).release(counts, source=source, part="leaf", level=shape.depth)
    return FittedForest(PackedForest(splits, labels.value), shape.event(labels.event), counts)


def leaf_counts(rows: CountedRows, splits: PackedTrees, disjoint: bool, source: NoiseSource) -> LeafCounts:
    """Exact class counts of every leaf that holds rows: each row's own tree counts it, or every tree does."""
    return rows.forest_counts(splits, trees_of_rows(rows.n_rows, splits.n_trees, source) if disjoint else None)


def fit_hashed(data: EncodedDataset, shape: ForestShape, rule: LabelRule, source: NoiseSource) -> FittedForest[HashedForest]:
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
    counts = LeafCounts.of(place, target, len(leaves), data.n_classes)
    labels = LabelLeaves(rule).release(counts, source=source, part="leaf", level=shape.depth)
    model = HashedForest(data.schema, shape.depth, keys, leaves, labels.value, label_key)
    return FittedForest(model, shape.event(labels.event), counts)
