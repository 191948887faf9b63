"""CART: the ordinary decision tree, without privacy, for comparison. Epsilon is infinite.

Categories are split as prefixes of their declared order (the integer coding of the papers' baseline).

Source: Breiman et al. 1984, through scikit-learn's DecisionTreeClassifier.
"""

from __future__ import annotations

from dpviz.accounting.events import NonPrivate
from dpviz.accounting.plan import BudgetPlan
from dpviz.models.packed_forest import values_of
from dpviz.models.tree import Leaf, Tree
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.training.contract import FitOutput
from dpviz.training.exact_trees import reference_learner, require_single_precision, tree_of
from dpviz.training.params import NoParams

NAME = "cart"


def fit(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> FitOutput:
    """Grow with scikit-learn, ties broken the same way every time."""
    from sklearn.tree import DecisionTreeClassifier

    event = NonPrivate("exact splits and labels", "tree")
    if not data.n_rows:
        return FitOutput(Tree(data.schema, Leaf(0)), event)
    require_single_precision(data.schema, NAME)
    grower = DecisionTreeClassifier(max_depth=plan.depth, random_state=0)
    grower.fit(values_of(data), data.target)
    return FitOutput(tree_of(data.schema, grower.tree_, lambda held: Leaf(int(grower.classes_[held[0].argmax()]))), event)


LEARNER = reference_learner(
    name=NAME,
    title="Decision tree (not private)",
    idea="The ordinary decision tree.",
    citation="Breiman, Friedman, Olshen & Stone 1984",
    fit=fit,
    published=("arXiv", "decision tree"),
)
