"""How much each feature matters in a model, from what was released with it alone."""

import numpy as np

from dpviz.models.base import Model
from dpviz.models.constant import as_tree
from dpviz.models.tree import Branch, End, NumberLeaf, Tree


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
    found = gains if gains.sum() > 0 else splits
    return found / max(found.sum(), 1.0) if found is splits else found / found.sum()


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
