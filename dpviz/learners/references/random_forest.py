"""The ordinary random forest, without privacy; see `scikit_learn.py`. Its randomness has nothing to do with privacy.

Source: Breiman 2001.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpviz.accounting.plan import BudgetPlan
from dpviz.learners.references.scikit_learn import in_order, packed_of, reference_learner, require_single_precision
from dpviz.models.packed_forest import LEAF, PackedForest, PackedTrees
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import SecretKeys
from dpviz.table.dataset import EncodedDataset
from dpviz.training.params import whole


@dataclass(frozen=True, slots=True)
class Params:
    """How many trees vote."""

    trees: int = whole(100, "Trees", "Each has one vote.", low=1, high=1000)


def _grow_forest(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> PackedForest:
    from sklearn.ensemble import RandomForestClassifier

    require_single_precision(data.schema, "random-forest")
    if not data.n_rows:
        return PackedForest(PackedTrees.of(data.schema, [(LEAF, math.nan)]), np.zeros(1, dtype=np.uint8))
    seed = int(SecretKeys().choose(1, source=source)[0] % 2**32)
    grower = RandomForestClassifier(params.trees, max_depth=plan.depth, random_state=seed).fit(*in_order(data))
    packed = [(packed_of(data.schema, tree.tree_), tree.tree_) for tree in grower.estimators_]
    labels = np.concatenate([grown.value[leaves, 0].argmax(axis=1) for (_, leaves), grown in packed])
    splits = PackedTrees.concatenate([trees for (trees, _), _ in packed])
    return PackedForest(splits, grower.classes_[labels].astype(np.uint8))


LEARNER = reference_learner(
    "labels",
    _grow_forest,
    name="random-forest",
    title="Random forest (not private)",
    idea="The ordinary random forest.",
    citation="Breiman 2001, Machine Learning 45",
    Params=Params,
)
