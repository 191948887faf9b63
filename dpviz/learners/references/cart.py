"""CART: the ordinary decision tree, without privacy, for comparison. Epsilon is infinite.

Categories are split as prefixes of their declared order (the integer coding of the papers' baseline).

Source: Breiman et al. 1984, through scikit-learn's DecisionTreeClassifier.
"""

import numpy as np

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
    """The tree with the exact shares of the classes at its leaves."""
    return FitOutput(grow(data, plan.depth), NonPrivate("exact splits and labels", "tree"))


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


LEARNER = reference_learner(
    name=NAME,
    title="Decision tree (not private)",
    idea="The ordinary decision tree.",
    citation="Breiman, Friedman, Olshen & Stone 1984",
    fit=fit,
    published=("arXiv", "decision tree"),
)
