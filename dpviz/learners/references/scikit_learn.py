"""What references without privacy share, most of which scikit-learn trains. Epsilon is infinite.

Categories are split as prefixes of their declared order (the integer coding of the papers' baselines). Rows come in an order that
depends on their values alone, and ties are broken the same way every time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpviz.accounting.events import Step
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.errors import SchemaError
from dpviz.models.base import Model
from dpviz.models.packed_forest import LEAF, PackedTrees, values_of
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, NumericTarget, Schema
from dpviz.training.contract import FitOutput, LearnerSpec, always_claims
from dpviz.training.counted_rows import row_order
from dpviz.training.params import Settings

#: scikit-learn's single trees compute in single precision.
MAX_NUMBER = 3.4e38
#: Numeric targets are squared, and boosting holds them in single precision.
MAX_TARGET = 1e18


def reference_learner(
    found: str, grow: Callable[[EncodedDataset, BudgetPlan, Any, NoiseSource], Model], **about: Any
) -> LearnerSpec:
    """A learner without privacy: no budget, because splits and what is `found` are exact, and no claim. `about`: of its spec."""

    def fit(data: EncodedDataset, plan: BudgetPlan, params: Any, source: NoiseSource) -> FitOutput:
        return FitOutput(grow(data, plan, params, source), Step.unbounded(f"exact splits and {found}", "tree"))

    claim = always_claims("none", "none", "Splits and labels are exact; there is no privacy.")
    return LearnerSpec(plan=_no_budget, fit=fit, claim=claim, role="reference", **about)


def _no_budget(schema: Schema, settings: Settings, params: object) -> BudgetPlan:
    return BudgetPlan(math.inf, settings.fixed_or_max_depth, (Share("tree", None, math.inf, set_by="no privacy"),))


def in_order(data: EncodedDataset) -> tuple[np.ndarray, np.ndarray]:
    """Features and target, in an order that depends on their values alone."""
    order = row_order(data)
    return values_of(data)[order], data.target[order]


def middle_of(schema: Schema) -> float:
    """The middle of the target's declared range: the answer of a model without rows."""
    assert isinstance(schema.target, NumericTarget)
    return schema.target.low / 2 + schema.target.high / 2


def require_single_precision(schema: Schema, learner: str) -> None:
    """Raise SchemaError for features that it cannot hold."""
    for feature in schema.features:
        if isinstance(feature, NumericFeature) and max(-feature.low, feature.high) > MAX_NUMBER:
            what = f"{learner!r} computes in single precision and cannot hold this range."
            raise SchemaError(what, field=feature.name, remedy="Declare bounds below 1e38, for example in a larger unit.")


def require_numbers_to_square(schema: Schema, learner: str) -> None:
    """Raise SchemaError for a target that it cannot square."""
    target = schema.target
    if isinstance(target, NumericTarget) and max(-target.low, target.high) > MAX_TARGET:
        what = f"{learner!r} squares the target and cannot hold this range."
        raise SchemaError(what, field=target.name, remedy="Declare bounds below 1e18, for example in a larger unit.")


# --- scikit-learn's trees as trees of dpviz


def packed_of(schema: Schema, grown: Any) -> tuple[PackedTrees, np.ndarray]:
    """The tree in a grower's `tree_`, and the place in it of each of the leaves."""
    left = grown.children_left
    return packed(schema, grown.feature, grown.threshold, left, grown.children_right, left == -1)


def packed(
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
