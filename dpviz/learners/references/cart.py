"""The ordinary decision tree and regression tree, without privacy; see `scikit_learn.py`.

Source: Breiman, Friedman, Olshen & Stone 1984.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpviz.accounting.plan import BudgetPlan
from dpviz.learners.references.scikit_learn import (
    in_order,
    middle_of,
    packed_of,
    reference_learner,
    require_numbers_to_square,
    require_single_precision,
)
from dpviz.models.packed_forest import UnpackedTrees, values_of
from dpviz.models.tree import End, Leaf, NumberLeaf, Tree
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema
from dpviz.training.params import NoParams


def grow_tree(data: EncodedDataset, depth: int, *, shares: bool = True) -> Tree:
    """The ordinary tree. `shares`: those of the classes stand at the leaves."""
    from sklearn.tree import DecisionTreeClassifier

    if not data.n_rows:
        return Tree(data.schema, Leaf(0))
    require_single_precision(data.schema, "cart")
    grower = DecisionTreeClassifier(max_depth=depth, random_state=0)
    grower.fit(values_of(data), data.target)

    def leaf(held: np.ndarray) -> Leaf:
        every = np.zeros(data.n_classes)
        every[grower.classes_] = held[0]
        return Leaf(int(every.argmax()), shares=tuple(every.tolist()) if shares else None)

    return _tree_of(data.schema, grower.tree_, leaf)


def _grow_regression_tree(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> Tree:
    from sklearn.tree import DecisionTreeRegressor

    if not data.n_rows:
        return Tree(data.schema, NumberLeaf(middle_of(data.schema)))
    require_single_precision(data.schema, "cart-regression")
    require_numbers_to_square(data.schema, "cart-regression")
    grower = DecisionTreeRegressor(max_depth=plan.depth, random_state=0).fit(*in_order(data))
    return _tree_of(data.schema, grower.tree_, lambda held: NumberLeaf(float(held[0, 0])))


def _tree_of(schema: Schema, grown: Any, leaf_of: Callable[[Any], End]) -> Tree:
    """The tree in a grower's `tree_`; `leaf_of` makes a leaf of the value there."""
    splits, leaves = packed_of(schema, grown)
    return UnpackedTrees(splits, lambda number: leaf_of(grown.value[leaves[number]]))[0]


LEARNER = reference_learner(
    "labels",
    lambda data, plan, params, source: grow_tree(data, plan.depth),
    name="cart",
    title="Decision tree (not private)",
    idea="The ordinary decision tree.",
    citation="Breiman, Friedman, Olshen & Stone 1984",
)
LEARNER_OF_NUMBERS = reference_learner(
    "means",
    _grow_regression_tree,
    name="cart-regression",
    title="Regression tree (not private)",
    idea="The ordinary regression tree.",
    citation="Breiman, Friedman, Olshen & Stone 1984",
    task="number",
)
