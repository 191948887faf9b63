"""Breiman's random forest, without privacy: the line the private forests are compared with. Epsilon is infinite.

Ordinary trees on resampled rows, each split chosen among some features; the trees vote. Its chance has nothing to do with
privacy. Categories are split as prefixes of
their declared order.

Source: Breiman 2001, through scikit-learn's RandomForestClassifier.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.accounting.claim import Claim
from dpviz.accounting.events import NonPrivate
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.errors import SchemaError
from dpviz.learners.cart import LARGEST
from dpviz.models.packed_forest import LEAF, PackedForest, PackedTrees, values_of
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform_arrays import SecretKeys
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, Schema
from dpviz.training.contract import Grown, LearnerSpec
from dpviz.training.params import Settings, control
from dpviz.training.random_trees import row_order

NAME = "random-forest"


@dataclass(frozen=True, slots=True)
class Params:
    """How many trees vote."""

    trees: int = control(100, label="Trees", help="Each has one vote.", kind="whole", low=1, high=1000)


def plan(schema: Schema, settings: Settings, params: Params) -> BudgetPlan:
    """No budget: everything is exact."""
    return BudgetPlan(math.inf, settings.fixed_or_max_depth, (Share("tree", None, math.inf, set_by="no privacy"),))


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> Grown:
    """Grow with scikit-learn on the rows in an order of their own, so that theirs does not matter."""
    from sklearn.ensemble import RandomForestClassifier

    event = NonPrivate("exact splits and labels", "tree")
    _require_single_precision(data.schema)
    if not data.n_rows:
        return Grown(_pack(data.schema, []), event)
    order = row_order(data)
    seed = int(SecretKeys().choose(1, source=source)[0] % 2**32)
    grower = RandomForestClassifier(params.trees, max_depth=plan.depth, random_state=seed)
    grower.fit(values_of(data)[order], data.target[order])
    trees = [_Nodes.of(tree.tree_, grower.classes_) for tree in grower.estimators_]
    return Grown(_pack(data.schema, trees), event)


def _require_single_precision(schema: Schema) -> None:
    for feature in schema.features:
        if isinstance(feature, NumericFeature) and max(-feature.low, feature.high) > LARGEST:
            raise SchemaError(
                f"{NAME!r} computes in single precision and cannot hold this range.",
                field=feature.name,
                remedy="Declare bounds below 1e38, for example in a larger unit.",
            )


@dataclass(frozen=True, eq=False)
class _Nodes:
    """One tree breadth first: feature, threshold, first child of every node, and labels of its leaves."""

    feature: np.ndarray
    threshold: np.ndarray
    first_child: np.ndarray
    labels: np.ndarray

    @classmethod
    def of(cls, tree: Any, classes: np.ndarray) -> _Nodes:
        order = _breadth_first(tree.children_left, tree.children_right)
        is_leaf = tree.children_left[order] == -1
        first = np.where(is_leaf, 0, 1 + 2 * ((~is_leaf).cumsum() - 1))
        labels = classes[tree.value[order[is_leaf], 0].argmax(axis=1)]
        return cls(np.where(is_leaf, LEAF, tree.feature[order]), tree.threshold[order], first, labels)


def _breadth_first(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    levels = [np.zeros(1, dtype=np.int64)]
    while len(levels[-1]):
        inner = levels[-1][left[levels[-1]] != -1]
        levels.append(np.column_stack([left[inner], right[inner]]).ravel())
    return np.concatenate(levels)


def _pack(schema: Schema, trees: list[_Nodes]) -> PackedForest:
    """The trees one after the other; without any, one leaf of the first class."""
    trees = trees or [_Nodes(np.array([LEAF]), np.array([np.nan]), np.zeros(1, dtype=np.int64), np.zeros(1))]
    sizes = [len(tree.feature) for tree in trees]
    offsets = np.cumsum([0, *sizes[:-1]])
    feature = np.concatenate([tree.feature for tree in trees]).astype(np.int16)
    threshold = np.where(feature == LEAF, np.nan, np.concatenate([tree.threshold for tree in trees]))
    first = [np.where(tree.first_child > 0, tree.first_child + start, 0) for tree, start in zip(trees, offsets, strict=True)]
    number = np.repeat(np.arange(len(trees), dtype=np.int32), sizes)
    splits = PackedTrees(schema, len(trees), number, feature, threshold, np.concatenate(first))
    return PackedForest(splits, np.concatenate([tree.labels for tree in trees]).astype(np.uint8))


def claim(plan: BudgetPlan, params: Params, schema: Schema) -> Claim:
    """Nothing is claimed."""
    return Claim(math.inf, "none", "none", "Splits and labels are exact; there is no privacy.")


LEARNER = LearnerSpec(
    name=NAME,
    title="Random forest (not private)",
    idea="The ordinary random forest.",
    citation="Breiman 2001, Machine Learning 45",
    plan=plan,
    fit=fit,
    claim=claim,
    Params=Params,
    is_baseline=True,
    spends_epsilon=False,
)
