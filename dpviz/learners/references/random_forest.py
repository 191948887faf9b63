"""Breiman's random forest, without privacy, for comparison with the private forests. Epsilon is infinite.

Ordinary trees on resampled rows, each split chosen among some of the features; the trees vote. Its randomness has nothing to do
with privacy. Categories are split as prefixes of their declared order.

Source: Breiman 2001, through scikit-learn's RandomForestClassifier.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.accounting.events import Step
from dpviz.accounting.plan import BudgetPlan
from dpviz.models.packed_forest import PackedForest, PackedTrees, values_of
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import SecretKeys
from dpviz.table.dataset import EncodedDataset
from dpviz.training.contract import FitOutput
from dpviz.training.exact_trees import packed_of, reference_learner, require_single_precision, single_leaf
from dpviz.training.forests.random_trees import row_order
from dpviz.training.params import whole

NAME = "random-forest"


@dataclass(frozen=True, slots=True)
class Params:
    """How many trees vote."""

    trees: int = whole(100, "Trees", "Each has one vote.", low=1, high=1000)


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """Grow with scikit-learn on rows in an order that depends on their values alone."""
    from sklearn.ensemble import RandomForestClassifier

    event = Step.unbounded("exact splits and labels", "tree")
    require_single_precision(data.schema, NAME)
    if not data.n_rows:
        return FitOutput(PackedForest(single_leaf(data.schema), np.zeros(1, dtype=np.uint8)), event)
    order = row_order(data)
    seed = int(SecretKeys().choose(1, source=source)[0] % 2**32)
    grower = RandomForestClassifier(params.trees, max_depth=plan.depth, random_state=seed)
    grower.fit(values_of(data)[order], data.target[order])
    trees, labels = zip(*(_tree(data, tree.tree_) for tree in grower.estimators_), strict=True)
    codes = grower.classes_[np.concatenate(labels)].astype(np.uint8)
    return FitOutput(PackedForest(PackedTrees.concatenate(trees), codes), event)


def _tree(data: EncodedDataset, grown: Any) -> tuple[PackedTrees, np.ndarray]:
    packed, leaves = packed_of(data.schema, grown)
    return packed, grown.value[leaves, 0].argmax(axis=1)


LEARNER = reference_learner(
    name=NAME,
    title="Random forest (not private)",
    idea="The ordinary random forest.",
    citation="Breiman 2001, Machine Learning 45",
    fit=fit,
    Params=Params,
)
