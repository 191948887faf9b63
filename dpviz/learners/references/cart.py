"""CART: the ordinary tree of classes or of numbers, without privacy, for comparison. Epsilon is infinite.

A split of numbers lowers the sum of squares the most; a leaf predicts the mean of its rows, without rows the middle of the
declared range. Categories are split as prefixes of their declared order (the integer coding of the papers' baseline).

Source: Breiman et al. 1984, through scikit-learn's DecisionTreeClassifier and DecisionTreeRegressor.
"""

import numpy as np

from dpviz.accounting.events import Step
from dpviz.accounting.plan import BudgetPlan
from dpviz.models.packed_forest import values_of
from dpviz.models.tree import Leaf, NumberLeaf, Tree
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget
from dpviz.training.contract import FitOutput
from dpviz.training.exact_trees import reference_learner, require_numbers_to_square, require_single_precision, tree_of
from dpviz.training.forests.random_trees import row_order
from dpviz.training.params import NoParams

NAME, OF_NUMBERS = "cart", "cart-regression"


def fit(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> FitOutput:
    """The tree with the exact shares of the classes at its leaves."""
    return FitOutput(grow(data, plan.depth), Step.unbounded("exact splits and labels", "tree"))


def grow(data: EncodedDataset, depth: int, *, shares: bool = True) -> Tree:
    """Grow with scikit-learn, ties broken the same way every time. `shares`: those of the classes stand at the leaves."""
    from sklearn.tree import DecisionTreeClassifier

    if not data.n_rows:
        return Tree(data.schema, Leaf(0))
    require_single_precision(data.schema, NAME)
    grower = DecisionTreeClassifier(max_depth=depth, random_state=0)
    grower.fit(values_of(data), data.target)

    def leaf(held: np.ndarray) -> Leaf:
        every = np.zeros(data.n_classes)
        every[grower.classes_] = held[0]
        return Leaf(int(every.argmax()), shares=tuple(every.tolist()) if shares else None)

    return tree_of(data.schema, grower.tree_, leaf)


def fit_numbers(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> FitOutput:
    """Grow with scikit-learn, ties broken the same way every time, on rows in an order that depends on their values alone."""
    from sklearn.tree import DecisionTreeRegressor

    event = Step.unbounded("exact splits and means", "tree")
    target = data.schema.target
    assert isinstance(target, NumericTarget)
    if not data.n_rows:
        return FitOutput(Tree(data.schema, NumberLeaf(target.low / 2 + target.high / 2)), event)
    require_single_precision(data.schema, OF_NUMBERS)
    require_numbers_to_square(data.schema, OF_NUMBERS)
    order = row_order(data)
    grower = DecisionTreeRegressor(max_depth=plan.depth, random_state=0)
    grower.fit(values_of(data)[order], data.target[order])
    return FitOutput(tree_of(data.schema, grower.tree_, lambda held: NumberLeaf(float(held[0, 0]))), event)


LEARNER = reference_learner(
    name=NAME,
    title="Decision tree (not private)",
    idea="The ordinary decision tree.",
    citation="Breiman, Friedman, Olshen & Stone 1984",
    fit=fit,
)
LEARNER_OF_NUMBERS = reference_learner(
    name=OF_NUMBERS,
    title="Regression tree (not private)",
    idea="The ordinary regression tree.",
    citation="Breiman, Friedman, Olshen & Stone 1984",
    fit=fit_numbers,
    task="number",
)
