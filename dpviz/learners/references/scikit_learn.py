"""scikit-learn's tree, regression tree, random forest and boosting, without privacy, for comparison. Epsilon is infinite.

Categories are split as prefixes of their declared order (the integer coding of the papers' baselines); boosting puts values into
at most 255 bins. Rows come in an order that depends on their values alone, and ties are broken the same way every time; the
randomness of a forest has nothing to do with privacy.

Source: Breiman, Friedman, Olshen & Stone 1984; Breiman 2001; Friedman 2001; Ke et al. 2017 (LightGBM).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.accounting.events import Step
from dpviz.accounting.plan import BudgetPlan, Share
from dpviz.errors import SchemaError
from dpviz.models.base import Model, n_scores
from dpviz.models.boosted import BoostedTrees
from dpviz.models.packed_forest import LEAF, PackedForest, PackedTrees, UnpackedTrees, values_of
from dpviz.models.tree import End, Leaf, NumberLeaf, Tree
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import SecretKeys
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, NumericTarget, Schema
from dpviz.training.contract import FitOutput, LearnerSpec, always_claims
from dpviz.training.forests.random_trees import row_order
from dpviz.training.params import NoParams, Settings, number, whole

#: scikit-learn's single trees compute in single precision.
LARGEST = 3.4e38
#: Numeric targets are squared, and boosting holds them in single precision.
LARGEST_TARGET = 1e18
#: The score of a class without training rows, below every other score.
NEVER = -1e9


@dataclass(frozen=True, slots=True)
class ForestParams:
    """How many trees vote."""

    trees: int = whole(100, "Trees", "Each has one vote.", low=1, high=1000)


@dataclass(frozen=True, slots=True)
class BoostingParams:
    """How many trees, and how much each contributes."""

    trees: int = whole(100, "Trees", "One after the other; one per class each time if there are more than two.", low=1, high=500)
    learning_rate: float = number(0.1, "Learning rate", "How much of each tree counts.", low=0.01, high=1)


def reference_learner(
    found: str, grow: Callable[[EncodedDataset, BudgetPlan, Any, NoiseSource], Model], **about: Any
) -> LearnerSpec:
    """A learner without privacy: no budget, because splits and what is `found` are exact, and no claim. `about`: of its spec."""

    def fit(data: EncodedDataset, plan: BudgetPlan, params: Any, source: NoiseSource) -> FitOutput:
        return FitOutput(grow(data, plan, params, source), Step.unbounded(f"exact splits and {found}", "tree"))

    claim = always_claims("none", "none", "Splits and labels are exact; there is no privacy.")
    return LearnerSpec(plan=_no_budget, fit=fit, claim=claim, role="reference", **about)


def _no_budget(schema: Schema, settings: Settings, params: object) -> BudgetPlan:
    return BudgetPlan(math.inf, settings.fixed_or_max_depth, (Share("tree", None, math.inf, set_by="no privacy"),))


def grow_tree(data: EncodedDataset, depth: int, *, shares: bool = True) -> Tree:
    """The ordinary tree. `shares`: those of the classes stand at the leaves."""
    from sklearn.tree import DecisionTreeClassifier

    if not data.n_rows:
        return Tree(data.schema, Leaf(0))
    _require_single_precision(data.schema, "cart")
    grower = DecisionTreeClassifier(max_depth=depth, random_state=0)
    grower.fit(values_of(data), data.target)

    def leaf(held: np.ndarray) -> Leaf:
        every = np.zeros(data.n_classes)
        every[grower.classes_] = held[0]
        return Leaf(int(every.argmax()), shares=tuple(every.tolist()) if shares else None)

    return _tree_of(data.schema, grower.tree_, leaf)


def _grow_cart(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> Tree:
    return grow_tree(data, plan.depth)


def _grow_regression_tree(data: EncodedDataset, plan: BudgetPlan, params: NoParams, source: NoiseSource) -> Tree:
    from sklearn.tree import DecisionTreeRegressor

    if not data.n_rows:
        return Tree(data.schema, NumberLeaf(_middle_of(data.schema)))
    _require_single_precision(data.schema, "cart-regression")
    _require_numbers_to_square(data.schema, "cart-regression")
    grower = DecisionTreeRegressor(max_depth=plan.depth, random_state=0).fit(*_in_order(data))
    return _tree_of(data.schema, grower.tree_, lambda held: NumberLeaf(float(held[0, 0])))


def _grow_forest(data: EncodedDataset, plan: BudgetPlan, params: ForestParams, source: NoiseSource) -> PackedForest:
    from sklearn.ensemble import RandomForestClassifier

    _require_single_precision(data.schema, "random-forest")
    if not data.n_rows:
        return PackedForest(_single_leaf(data.schema), np.zeros(1, dtype=np.uint8))
    seed = int(SecretKeys().choose(1, source=source)[0] % 2**32)
    grower = RandomForestClassifier(params.trees, max_depth=plan.depth, random_state=seed).fit(*_in_order(data))
    packed = [(_packed_of(data.schema, tree.tree_), tree.tree_) for tree in grower.estimators_]
    labels = np.concatenate([grown.value[leaves, 0].argmax(axis=1) for (_, leaves), grown in packed])
    splits = PackedTrees.concatenate([trees for (trees, _), _ in packed])
    return PackedForest(splits, grower.classes_[labels].astype(np.uint8))


def _in_order(data: EncodedDataset) -> tuple[np.ndarray, np.ndarray]:
    """Features and target, in an order that depends on their values alone."""
    order = row_order(data)
    return values_of(data)[order], data.target[order]


def _middle_of(schema: Schema) -> float:
    assert isinstance(schema.target, NumericTarget)
    return schema.target.low / 2 + schema.target.high / 2


def _require_single_precision(schema: Schema, learner: str) -> None:
    for feature in schema.features:
        if isinstance(feature, NumericFeature) and max(-feature.low, feature.high) > LARGEST:
            what = f"{learner!r} computes in single precision and cannot hold this range."
            raise SchemaError(what, field=feature.name, remedy="Declare bounds below 1e38, for example in a larger unit.")


def _require_numbers_to_square(schema: Schema, learner: str) -> None:
    target = schema.target
    if isinstance(target, NumericTarget) and max(-target.low, target.high) > LARGEST_TARGET:
        what = f"{learner!r} squares the target and cannot hold this range."
        raise SchemaError(what, field=target.name, remedy="Declare bounds below 1e18, for example in a larger unit.")


# --- scikit-learn's trees as trees of dpviz


def _tree_of(schema: Schema, grown: Any, leaf_of: Callable[[Any], End]) -> Tree:
    """The tree in a grower's `tree_`; `leaf_of` makes a leaf of the value there."""
    splits, leaves = _packed_of(schema, grown)
    return UnpackedTrees(splits, lambda number: leaf_of(grown.value[leaves[number]]))[0]


def _packed_of(schema: Schema, grown: Any) -> tuple[PackedTrees, np.ndarray]:
    """The same packed, and the place in it of each of the leaves."""
    left = grown.children_left
    return _packed(schema, grown.feature, grown.threshold, left, grown.children_right, left == -1)


def _packed(
    schema: Schema, feature: np.ndarray, threshold: np.ndarray, left: np.ndarray, right: np.ndarray, is_leaf: np.ndarray
) -> tuple[PackedTrees, np.ndarray]:
    """The tree with root 0 in which node k has the children left[k] and right[k]; the node k of each of its leaves."""
    levels = [np.zeros(1, dtype=np.int64)]
    while len(levels[-1]):
        inner = levels[-1][~is_leaf[levels[-1]]]
        levels.append(np.column_stack([left[inner], right[inner]]).astype(np.int64).ravel())
    order = np.concatenate(levels)
    ends = is_leaf[order]
    features = np.where(ends, LEAF, feature[order]).astype(np.int16)
    return PackedTrees(schema, features, np.where(ends, np.nan, threshold[order])), order[ends]


def _single_leaf(schema: Schema) -> PackedTrees:
    return PackedTrees.of(schema, [(LEAF, math.nan)])


# --- boosting

#: A tree, and the values of its leaves.
_Grown = tuple[PackedTrees, np.ndarray]


def _boost(data: EncodedDataset, plan: BudgetPlan, params: BoostingParams, source: NoiseSource) -> BoostedTrees:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    if not isinstance(data.schema.target, NumericTarget):
        return _boost_classes(data, lambda: _boosted(HistGradientBoostingClassifier, data, plan, params))
    _require_numbers_to_square(data.schema, "gbdt")
    if not data.n_rows:
        return _model(data.schema, [], _middle_of(data.schema))
    grower = _boosted(HistGradientBoostingRegressor, data, plan, params)
    trees = [_boosted_tree(data.schema, rounds[0]) for rounds in grower._predictors]
    return _model(data.schema, trees, float(grower._baseline_prediction[0, 0]))


def _boost_classes(data: EncodedDataset, boosted: Callable[[], Any]) -> BoostedTrees:
    """Scores of the classes that occur come from scikit-learn; a class that does not occur is never predicted."""
    present = np.unique(data.target) if data.n_rows else np.zeros(1, dtype=np.uint8)
    start = np.full(data.n_classes, NEVER)
    start[present] = 0.0
    if len(present) == 1:
        return _scored(data.schema, start, [])
    grower = boosted()
    learned = present[-grower._baseline_prediction.shape[1] :]  # the second of two classes, or all that occur
    start[learned] = grower._baseline_prediction[0]
    grown = ([_boosted_tree(data.schema, predictor) for predictor in rounds] for rounds in grower._predictors)
    return _scored(data.schema, start, [dict(zip(learned.tolist(), trees, strict=True)) for trees in grown])


def _boosted(kind: Callable[..., Any], data: EncodedDataset, plan: BudgetPlan, params: BoostingParams) -> Any:
    from threadpoolctl import threadpool_limits

    settings = {"max_iter": params.trees, "learning_rate": params.learning_rate, "max_depth": plan.depth}
    with threadpool_limits(1):  # threads slow small tables down, and pages and sweeps have workers of their own
        return kind(**settings, early_stopping=False, random_state=0).fit(*_in_order(data))


def _boosted_tree(schema: Schema, predictor: Any) -> _Grown:
    nodes = predictor.nodes
    feature, threshold, left, right = (nodes[name] for name in ("feature_idx", "num_threshold", "left", "right"))
    tree, leaves = _packed(schema, feature, threshold, left, right, nodes["is_leaf"] == 1)
    return tree, nodes["value"][leaves]


def _constant(schema: Schema, value: float) -> _Grown:
    return _single_leaf(schema), np.array([value])


def _scored(schema: Schema, start: np.ndarray, rounds: list[dict[int, _Grown]]) -> BoostedTrees:
    """Class `code` starts from start[code]; each round adds a tree per class, one that adds nothing where it has none."""
    if n_scores(schema) == 1:
        return _model(schema, [found[1] for found in rounds], float(start[1] - start[0]))
    nothing = _constant(schema, 0.0)
    first = [_constant(schema, score) for score in start.tolist()]
    return _model(schema, [*first, *(found.get(code, nothing) for found in rounds for code in range(len(start)))], 0.0)


def _model(schema: Schema, trees: list[_Grown], initial: float) -> BoostedTrees:
    nodes, values = zip(*(trees or [_constant(schema, 0.0)]), strict=True)
    return BoostedTrees(PackedTrees.concatenate(nodes), np.concatenate(values), initial)


CART = reference_learner(
    "labels",
    _grow_cart,
    name="cart",
    title="Decision tree (not private)",
    idea="The ordinary decision tree.",
    citation="Breiman, Friedman, Olshen & Stone 1984",
)
CART_OF_NUMBERS = reference_learner(
    "means",
    _grow_regression_tree,
    name="cart-regression",
    title="Regression tree (not private)",
    idea="The ordinary regression tree.",
    citation="Breiman, Friedman, Olshen & Stone 1984",
    task="number",
)
RANDOM_FOREST = reference_learner(
    "labels",
    _grow_forest,
    name="random-forest",
    title="Random forest (not private)",
    idea="The ordinary random forest.",
    citation="Breiman 2001, Machine Learning 45",
    Params=ForestParams,
)
GBDT = reference_learner(
    "values",
    _boost,
    name="gbdt",
    title="Boosted trees (not private)",
    idea="Ordinary gradient boosting: every tree corrects the errors of those before.",
    citation="Friedman 2001; Ke et al. 2017",
    Params=BoostingParams,
    task="any",
)
