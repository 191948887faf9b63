"""CART: the ordinary decision tree, without privacy. Epsilon is infinite; it is the line to compare with.

Categories are split as prefixes of their declared order (the integer coding of the papers' baseline).

Source: Breiman et al. 1984, through scikit-learn's DecisionTreeClassifier.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpviz.accounting.claim import Claim
from dpviz.accounting.events import NonPrivate
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.errors import SchemaError
from dpviz.models.tree import Branch, Leaf, Node, Rule, SubsetRule, ThresholdRule, Tree
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema
from dpviz.training.contract import Grown, LearnerSpec
from dpviz.training.params import NoParams, Settings

NAME = "cart"
#: scikit-learn computes in single precision.
LARGEST = 3.4e38


def plan(schema: Schema, settings: Settings, params: NoParams) -> BudgetPlan:
    """No budget: everything is exact."""
    return BudgetPlan(math.inf, settings.fixed_or_max_depth, (Share("tree", None, math.inf, set_by="no privacy"),))


def fit(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> Grown:
    """Grow with scikit-learn, ties broken the same way every time."""
    from sklearn.tree import DecisionTreeClassifier

    event = NonPrivate("exact splits and labels", "tree")
    if not data.n_rows:
        return Grown(Tree(data.schema, Leaf(0)), event)
    _require_single_precision(data.schema)
    grower = DecisionTreeClassifier(max_depth=plan.depth, random_state=0)
    grower.fit(np.column_stack(data.columns).astype(np.float64), data.target)
    return Grown(Tree(data.schema, _convert(data.schema, grower, 0)), event)


def _require_single_precision(schema: Schema) -> None:
    for feature in schema.features:
        if isinstance(feature, NumericFeature) and max(-feature.low, feature.high) > LARGEST:
            raise SchemaError(
                f"{NAME!r} computes in single precision and cannot hold this range.",
                field=feature.name,
                remedy="Declare bounds below 1e38, for example in a larger unit.",
            )


def _convert(schema: Schema, grower: Any, index: int) -> Node:
    grown = grower.tree_
    if grown.children_left[index] == -1:
        return Leaf(int(grower.classes_[grown.value[index, 0].argmax()]))
    rule = _rule(schema, int(grown.feature[index]), float(grown.threshold[index]))
    return Branch(
        rule, _convert(schema, grower, grown.children_left[index]), _convert(schema, grower, grown.children_right[index])
    )


def _rule(schema: Schema, feature: int, threshold: float) -> Rule:
    declared = schema.features[feature]
    if isinstance(declared, CategoricalFeature):
        return SubsetRule(feature, tuple(code for code in range(len(declared.categories)) if code <= threshold))
    return ThresholdRule(feature, threshold)


def claim(plan: BudgetPlan, params: NoParams, schema: Schema) -> Claim:
    """Nothing is claimed."""
    return Claim(math.inf, "none", "none", "Splits and labels are exact; there is no privacy.")


LEARNER = LearnerSpec(
    name=NAME,
    title="Decision tree (not private)",
    idea="The ordinary decision tree.",
    citation="Breiman, Friedman, Olshen & Stone 1984",
    plan=plan,
    fit=fit,
    claim=claim,
    is_baseline=True,
    spends_epsilon=False,
    published=("arXiv", "decision tree"),
)
