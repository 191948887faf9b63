"""CART for numbers: the ordinary regression tree, without privacy, for comparison. Epsilon is infinite.

Every split lowers the sum of squares the most; a leaf predicts the mean of its rows. Without rows the tree predicts the middle of
the declared range. Categories are split as prefixes of their declared order.

Source: Breiman et al. 1984, through scikit-learn's DecisionTreeRegressor.
"""

from dpviz.accounting.events import NonPrivate
from dpviz.accounting.plan import BudgetPlan
from dpviz.models.packed_forest import values_of
from dpviz.models.tree import NumberLeaf, Tree
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget
from dpviz.training.contract import FitOutput
from dpviz.training.exact_trees import reference_learner, require_numbers_to_square, require_single_precision, tree_of
from dpviz.training.forests.random_trees import row_order
from dpviz.training.params import NoParams

NAME = "cart-regression"


def fit(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> FitOutput:
    """Grow with scikit-learn, ties broken the same way every time, on rows in an order that depends on their values alone."""
    from sklearn.tree import DecisionTreeRegressor

    event = NonPrivate("exact splits and means", "tree")
    target = data.schema.target
    assert isinstance(target, NumericTarget)
    if not data.n_rows:
        return FitOutput(Tree(data.schema, NumberLeaf(target.low / 2 + target.high / 2)), event)
    require_single_precision(data.schema, NAME)
    require_numbers_to_square(data.schema, NAME)
    order = row_order(data)
    grower = DecisionTreeRegressor(max_depth=plan.depth, random_state=0)
    grower.fit(values_of(data)[order], data.target[order])
    return FitOutput(tree_of(data.schema, grower.tree_, lambda held: NumberLeaf(float(held[0, 0]))), event)


LEARNER = reference_learner(
    name=NAME,
    title="Regression tree (not private)",
    idea="The ordinary regression tree.",
    citation="Breiman, Friedman, Olshen & Stone 1984",
    fit=fit,
    task="number",
)
