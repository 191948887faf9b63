"""Ordinary gradient boosting, without privacy; see `scikit_learn.py`. It puts values into at most 255 bins.

Source: Friedman 2001; Ke et al. 2017 (LightGBM).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.accounting.plan import BudgetPlan
from dpviz.learners.references.scikit_learn import in_order, middle_of, packed, reference_learner, require_numbers_to_square
from dpviz.models.base import n_scores
from dpviz.models.boosted import BoostedTrees
from dpviz.models.packed_forest import LEAF, PackedTrees
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget, Schema
from dpviz.training.params import number, whole

#: The score of a class without training rows, below every other score.
IMPOSSIBLE_SCORE = -1e9


@dataclass(frozen=True, slots=True)
class Params:
    """How many trees, and how much each contributes."""

    trees: int = whole(100, "Trees", "One after the other; one per class each time if there are more than two.", low=1, high=500)
    learning_rate: float = number(0.1, "Learning rate", "How much of each tree counts.", low=0.01, high=1)


#: A tree, and the values of its leaves.
_TreeAndValues = tuple[PackedTrees, np.ndarray]


def _boost(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> BoostedTrees:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    if not isinstance(data.schema.target, NumericTarget):
        return _boost_classes(data, lambda: _boosted(HistGradientBoostingClassifier, data, plan, params))
    require_numbers_to_square(data.schema, "gbdt")
    if not data.n_rows:
        return _model(data.schema, [], middle_of(data.schema))
    grower = _boosted(HistGradientBoostingRegressor, data, plan, params)
    trees = [_boosted_tree(data.schema, rounds[0]) for rounds in grower._predictors]
    return _model(data.schema, trees, float(grower._baseline_prediction[0, 0]))


def _boost_classes(data: EncodedDataset, boosted: Callable[[], Any]) -> BoostedTrees:
    """Scores of the classes that occur come from scikit-learn; a class that does not occur is never predicted."""
    present = np.unique(data.target) if data.n_rows else np.zeros(1, dtype=np.uint8)
    start = np.full(data.n_classes, IMPOSSIBLE_SCORE)
    start[present] = 0.0
    if len(present) == 1:
        return _scored(data.schema, start, [])
    grower = boosted()
    learned = present[-grower._baseline_prediction.shape[1] :]  # the second of two classes, or all that occur
    start[learned] = grower._baseline_prediction[0]
    grown = ([_boosted_tree(data.schema, predictor) for predictor in rounds] for rounds in grower._predictors)
    return _scored(data.schema, start, [dict(zip(learned.tolist(), trees, strict=True)) for trees in grown])


def _boosted(kind: Callable[..., Any], data: EncodedDataset, plan: BudgetPlan, params: Params) -> Any:
    from threadpoolctl import threadpool_limits

    settings = {"max_iter": params.trees, "learning_rate": params.learning_rate, "max_depth": plan.depth}
    with threadpool_limits(1):  # threads slow small tables down, and pages and sweeps have workers of their own
        return kind(**settings, early_stopping=False, random_state=0).fit(*in_order(data))


def _boosted_tree(schema: Schema, predictor: Any) -> _TreeAndValues:
    nodes = predictor.nodes
    feature, threshold, left, right = (nodes[name] for name in ("feature_idx", "num_threshold", "left", "right"))
    tree, leaves = packed(schema, feature, threshold, left, right, nodes["is_leaf"] == 1)
    return tree, nodes["value"][leaves]


def _constant(schema: Schema, value: float) -> _TreeAndValues:
    return PackedTrees.of(schema, [(LEAF, math.nan)]), np.array([value])


def _scored(schema: Schema, start: np.ndarray, rounds: list[dict[int, _TreeAndValues]]) -> BoostedTrees:
    """Class `code` starts from start[code]; each round adds a tree per class, one that adds nothing where it has none."""
    if n_scores(schema) == 1:
        return _model(schema, [trees[1] for trees in rounds], float(start[1] - start[0]))
    nothing = _constant(schema, 0.0)
    first = [_constant(schema, score) for score in start.tolist()]
    return _model(schema, [*first, *(trees.get(code, nothing) for trees in rounds for code in range(len(start)))], 0.0)


def _model(schema: Schema, trees: list[_TreeAndValues], initial: float) -> BoostedTrees:
    nodes, values = zip(*(trees or [_constant(schema, 0.0)]), strict=True)
    return BoostedTrees(PackedTrees.concatenate(nodes), np.concatenate(values), initial)


LEARNER = reference_learner(
    "values",
    _boost,
    name="gbdt",
    title="Boosted trees (not private)",
    idea="Ordinary gradient boosting: every tree corrects the errors of those before.",
    citation="Friedman 2001; Ke et al. 2017",
    Params=Params,
    task="any",
)
