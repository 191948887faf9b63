"""How a model's answer moves with each feature, from the model alone: partial dependence over the declared ranges.

No row is read. The other features are spread evenly over what the schema declares, so the effects cost no epsilon; what real rows
have in common (tall people weigh more) is not in them.

Source: Friedman 2001, section 8.2, with a declared background instead of the training rows.

And how much each feature matters, from what was released with the model alone: `feature_importances`.
"""

from dataclasses import dataclass

import numpy as np

from dpviz.errors import UnsupportedError
from dpviz.models.base import Model
from dpviz.models.tree import Branch, End, NumberLeaf, Tree, as_tree
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Feature, NumericTarget

#: Rows of the background, values of a number, and categories at most.
BACKGROUND, STEPS, MAX_CATEGORIES = 128, 25, 200
#: Features whose rows are predicted together, which is quicker than one by one.
_BATCH_SIZE = 3


@dataclass(frozen=True, eq=False)
class Effect:
    """What one feature does to the answer."""

    feature: int  #: Its position in the schema
    #: Shape (n_values,). Numbers over the declared range, or codes of categories.
    values: np.ndarray
    #: Shape (n_values, n_answers), float64. The mean answer at each value: the probability of every class (the share of rows that
    #: get it, for a model without probabilities), or the predicted number alone.
    answers: np.ndarray

    def size(self, answer: int = 0) -> float:
        """How far the feature alone moves this answer: its largest mean less its smallest."""
        return float(np.ptp(self.answers[:, answer]))


def effects(model: Model) -> tuple[Effect, ...]:
    """One effect per feature, in the order of the schema."""
    schema = model.schema
    background = [_spread(feature, place) for place, feature in enumerate(schema.features)]
    results: list[Effect] = []
    for start in range(0, schema.n_features, _BATCH_SIZE):
        some = range(start, min(start + _BATCH_SIZE, schema.n_features))
        values = [_values(schema.features[place]) for place in some]
        tables = [
            [np.repeat(own, BACKGROUND) if at == place else np.tile(column, len(own)) for at, column in enumerate(background)]
            for place, own in zip(some, values, strict=True)
        ]
        columns = tuple(np.concatenate(of_feature) for of_feature in zip(*tables, strict=True))
        said = _answers(model, EncodedDataset(schema, columns, np.zeros(len(columns[0]), dtype=np.uint8)))
        means = said.reshape(-1, BACKGROUND, said.shape[1]).mean(axis=1)
        results += map(Effect, some, values, np.split(means, np.cumsum([len(own) for own in values])[:-1]))
    return tuple(results)


def _answers(model: Model, data: EncodedDataset) -> np.ndarray:
    """Probabilities of the classes, else the predicted class as 0 and 1; or numbers, shape (n_rows, 1)."""
    if isinstance(model.schema.target, NumericTarget):
        return model.predict(data)[:, None]
    try:
        return model.predict_proba(data)
    except UnsupportedError:
        return np.eye(len(model.schema.classes))[model.predict(data)]


def _values(feature: Feature) -> np.ndarray:
    if isinstance(feature, CategoricalFeature):
        count = len(feature.categories)
        return np.unique(np.linspace(0, count - 1, min(count, MAX_CATEGORIES)).astype(np.uint16))
    steps = np.linspace(feature.low, feature.high, STEPS)
    return np.unique(np.clip(np.rint(steps), np.ceil(feature.low), np.floor(feature.high))) if feature.whole else steps


def _spread(feature: Feature, place: int) -> np.ndarray:
    """BACKGROUND values spread evenly, in an order that differs from feature to feature.

    The fractional parts of multiples of square roots of primes (Richtmyer 1951): even in every column and between any two.
    """
    shares = (np.arange(1, BACKGROUND + 1) * np.sqrt(_prime(place))) % 1
    if isinstance(feature, CategoricalFeature):
        return (shares * len(feature.categories)).astype(np.uint16)
    values = feature.low + shares * (feature.high - feature.low)
    return np.clip(np.rint(values), np.ceil(feature.low), np.floor(feature.high)) if feature.whole else values


def _prime(place: int) -> int:
    """The prime number with this place, 2 being the first."""
    n_primes, number = -1, 1
    while n_primes < place:
        number += 1
        n_primes += all(number % factor for factor in range(2, int(number**0.5) + 1))
    return number


def feature_importances(model: Model) -> np.ndarray | None:
    """The share of each feature in what splits gain; None for a model that is no tree or trees.

    A split gains the fall in impurity (Gini, or variance) times rows, over all trees. Rows of a leaf are its released
    noisy counts, those below 0 as 0; a leaf without counts stands for one row of what it predicts. Where no split gains anything,
    every split counts alike.

    Returns
    -------
    ndarray of shape (n_features,), float64
        Sums to 1; all 0 where no tree has a split.
    """
    tree = as_tree(model)
    trees = getattr(model, "trees", None) if tree is None else (tree,)
    if trees is None:
        return None
    gains, splits = (np.zeros(model.schema.n_features) for _ in range(2))
    for tree in trees:
        _add(tree, gains, splits)
    importances = gains if gains.sum() > 0 else splits
    return importances / max(importances.sum(), 1.0) if importances is splits else importances / importances.sum()


def _add(tree: Tree, gains: np.ndarray, splits: np.ndarray) -> None:
    sums: dict[str, np.ndarray] = {}
    for placed in reversed(list(tree.nodes())):  # children first
        if not isinstance(placed.node, Branch):
            sums[placed.path] = _sums(placed.node, tree)
            continue
        left, right = (sums.pop(placed.path + side) for side in "LR")
        both = sums[placed.path] = left + right
        feature = placed.node.rule.feature
        splits[feature] += 1
        gains[feature] += max(0.0, _within(left) + _within(right) - _within(both))


def _sums(leaf: End, tree: Tree) -> np.ndarray:
    """(rows, sum) of each class as a number 0 or 1, or of the number that is predicted: shape (n_classes or 1, 2)."""
    if isinstance(leaf, NumberLeaf):
        return np.array([[1.0, leaf.value]])
    rows = np.eye(len(tree.schema.classes))[leaf.label] if leaf.shares is None else np.array(leaf.shares)
    if leaf.counts is not None:
        rows = np.maximum(np.array(leaf.counts, dtype=np.float64), 0)
    return np.stack([np.full(len(rows), rows.sum()), rows], axis=1)


def _within(sums: np.ndarray) -> float:
    """Rows times squared mean: what is left of the squares is impurity, and the squares of two sides add up."""
    rows, totals = sums.T
    return float(np.sum(totals**2 / np.where(rows > 0, rows, 1)))
