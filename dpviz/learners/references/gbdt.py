"""Gradient boosting without privacy, for comparison with the private boosted trees. Epsilon is infinite.

Every tree is fitted to the errors of those before it and adds to the score: the number itself, the log-odds of two classes, or
one score per class if there are more. Categories are split as prefixes of their declared order; values are put into at most
255 bins, as scikit-learn does.

Source: Friedman 2001; Ke et al. 2017 (LightGBM), through scikit-learn's HistGradientBoosting.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.accounting.events import Step
from dpviz.accounting.plan import BudgetPlan
from dpviz.models.base import n_scores
from dpviz.models.boosted import BoostedTrees
from dpviz.models.packed_forest import PackedTrees, values_of
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget, Schema
from dpviz.training.contract import FitOutput
from dpviz.training.exact_trees import packed_tree, reference_learner, require_numbers_to_square, single_leaf
from dpviz.training.forests.random_trees import row_order
from dpviz.training.params import number, whole

NAME = "gbdt"
#: The score of a class without training rows, below every other score.
NEVER = -1e9

#: A tree, and the values of its leaves.
_Tree = tuple[PackedTrees, np.ndarray]


@dataclass(frozen=True, slots=True)
class Params:
    """How many trees, and how much each contributes."""

    trees: int = whole(100, "Trees", "One after the other; one per class each time if there are more than two.", low=1, high=500)
    learning_rate: float = number(0.1, "Learning rate", "How much of each tree counts.", low=0.01, high=1)


def fit(data: EncodedDataset, plan: BudgetPlan, params: Params, source: NoiseSource) -> FitOutput:
    """Boost with scikit-learn on rows in an order that depends on their values alone."""
    event = Step.unbounded("exact splits and values", "tree")
    if isinstance(data.schema.target, NumericTarget):
        return FitOutput(_of_numbers(data, plan, params), event)
    return FitOutput(_of_classes(data, plan, params), event)


def _of_numbers(data: EncodedDataset, plan: BudgetPlan, params: Params) -> BoostedTrees:
    from sklearn.ensemble import HistGradientBoostingRegressor

    target = data.schema.target
    assert isinstance(target, NumericTarget)
    require_numbers_to_square(data.schema, NAME)
    if not data.n_rows:
        return _model(data.schema, [], target.low / 2 + target.high / 2)
    grower = _boosted(HistGradientBoostingRegressor, data, plan, params)
    return _model(
        data.schema, [_tree(data.schema, rounds[0]) for rounds in grower._predictors], float(grower._baseline_prediction[0, 0])
    )


def _of_classes(data: EncodedDataset, plan: BudgetPlan, params: Params) -> BoostedTrees:
    """Scores of the classes that occur come from scikit-learn; a class that does not occur is never predicted."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    present = np.unique(data.target) if data.n_rows else np.zeros(1, dtype=np.uint8)
    start = np.full(data.n_classes, NEVER)
    start[present] = 0.0
    if len(present) == 1:
        return _scored(data.schema, start, [])
    grower = _boosted(HistGradientBoostingClassifier, data, plan, params)
    learned = present[-grower._baseline_prediction.shape[1] :]  # the second of two classes, or all that occur
    start[learned] = grower._baseline_prediction[0]
    grown = ([_tree(data.schema, predictor) for predictor in rounds] for rounds in grower._predictors)
    found = [dict(zip(learned.tolist(), trees, strict=True)) for trees in grown]
    return _scored(data.schema, start, found)


def _boosted(kind: Callable[..., Any], data: EncodedDataset, plan: BudgetPlan, params: Params) -> Any:
    from threadpoolctl import threadpool_limits

    order, settings = row_order(data), {"max_iter": params.trees, "learning_rate": params.learning_rate, "max_depth": plan.depth}
    grower = kind(**settings, early_stopping=False, random_state=0)
    with threadpool_limits(1):  # threads slow small tables down, and pages and sweeps have workers of their own
        return grower.fit(values_of(data)[order], data.target[order])


def _tree(schema: Schema, predictor: Any) -> _Tree:
    nodes = predictor.nodes
    feature, threshold, left, right = (nodes[name] for name in ("feature_idx", "num_threshold", "left", "right"))
    tree, leaves = packed_tree(schema, feature, threshold, left, right, nodes["is_leaf"] == 1)
    return tree, nodes["value"][leaves]


def _constant(schema: Schema, value: float) -> _Tree:
    return single_leaf(schema), np.array([value])


def _scored(schema: Schema, start: np.ndarray, rounds: list[dict[int, _Tree]]) -> BoostedTrees:
    """Class `code` starts from start[code]; each round adds a tree per class, one that adds nothing where it has none."""
    if n_scores(schema) == 1:
        return _model(schema, [found[1] for found in rounds], float(start[1] - start[0]))
    nothing = _constant(schema, 0.0)
    first = [_constant(schema, score) for score in start.tolist()]
    return _model(schema, [*first, *(found.get(code, nothing) for found in rounds for code in range(len(start)))], 0.0)


def _model(schema: Schema, trees: list[_Tree], initial: float) -> BoostedTrees:
    nodes, values = zip(*(trees or [_constant(schema, 0.0)]), strict=True)
    return BoostedTrees(PackedTrees.concatenate(nodes), np.concatenate(values), initial)


LEARNER = reference_learner(
    name=NAME,
    title="Boosted trees (not private)",
    idea="Ordinary gradient boosting: every tree corrects the errors of those before.",
    citation="Friedman 2001; Ke et al. 2017",
    fit=fit,
    Params=Params,
    task="any",
)
