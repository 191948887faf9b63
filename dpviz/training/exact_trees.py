"""What the learners without privacy share: plan, claim, and scikit-learn's trees as trees of dpviz.

Categories are split as prefixes of their declared order (the integer coding of the papers' baselines).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.errors import SchemaError
from dpviz.models.packed_forest import LEAF, PackedTrees, UnpackedTrees
from dpviz.models.tree import End, Tree
from dpviz.table.schema import NumericFeature, NumericTarget, Schema
from dpviz.training.contract import LearnerSpec, always_claims
from dpviz.training.params import Settings

#: scikit-learn's single trees compute in single precision.
LARGEST = 3.4e38
#: Numeric targets are squared, and boosting holds them in single precision.
LARGEST_TARGET = 1e18


def reference_learner(**about: Any) -> LearnerSpec:
    """A learner without privacy: no budget, because everything is exact, and no claim. `about` holds the rest of its spec."""
    claim = always_claims("none", "none", "Splits and labels are exact; there is no privacy.")
    return LearnerSpec(plan=_no_budget, claim=claim, role="reference", **about)


def _no_budget(schema: Schema, settings: Settings, params: object) -> BudgetPlan:
    return BudgetPlan(math.inf, settings.fixed_or_max_depth, (Share("tree", None, math.inf, set_by="no privacy"),))


def require_single_precision(schema: Schema, learner: str) -> None:
    """Raise SchemaError for a feature whose range single precision cannot hold."""
    for feature in schema.features:
        if isinstance(feature, NumericFeature) and max(-feature.low, feature.high) > LARGEST:
            what = f"{learner!r} computes in single precision and cannot hold this range."
            raise SchemaError(what, field=feature.name, remedy="Declare bounds below 1e38, for example in a larger unit.")


def require_numbers_to_square(schema: Schema, learner: str) -> None:
    """Raise SchemaError for a numeric target whose squares do not fit."""
    target = schema.target
    if isinstance(target, NumericTarget) and max(-target.low, target.high) > LARGEST_TARGET:
        what = f"{learner!r} squares the target and cannot hold this range."
        raise SchemaError(what, field=target.name, remedy="Declare bounds below 1e18, for example in a larger unit.")


def tree_of(schema: Schema, grown: Any, leaf_of: Callable[[Any], End]) -> Tree:
    """The tree in scikit-learn's `grower.tree_`; `leaf_of` makes a leaf of the value there (`tree_.value[node]`)."""
    splits, leaves = packed_of(schema, grown)
    return UnpackedTrees(splits, lambda number: leaf_of(grown.value[leaves[number]]))[0]


def packed_of(schema: Schema, grown: Any) -> tuple[PackedTrees, np.ndarray]:
    """The same packed, and the place in it of each of the leaves."""
    left = grown.children_left
    return packed_tree(schema, grown.feature, grown.threshold, left, grown.children_right, left == -1)


def packed_tree(
    schema: Schema, feature: np.ndarray, threshold: np.ndarray, left: np.ndarray, right: np.ndarray, is_leaf: np.ndarray
) -> tuple[PackedTrees, np.ndarray]:
    """The tree with root 0 in which node k has the children left[k] and right[k]; the node k of each of its leaves."""
    levels = [np.zeros(1, dtype=np.int64)]
    while len(levels[-1]):
        inner = levels[-1][~is_leaf[levels[-1]]]
        levels.append(np.column_stack([left[inner], right[inner]]).astype(np.int64).ravel())
    order = np.concatenate(levels)
    ends = is_leaf[order]
    features = np.where(ends, LEAF, feature[order]).astype(np.int16)
    return PackedTrees(schema, features, np.where(ends, np.nan, threshold[order])), order[ends]


def single_leaf(schema: Schema) -> PackedTrees:
    """A tree of a single leaf."""
    return PackedTrees.of(schema, [(LEAF, math.nan)])
