"""What fresh draws of a tree have in common: which features they ask about, and where they predict the same.

Counted on the rows, so for simulated and public rows only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.evaluation.compare.redraws import Redraws
from dpviz.models.tree import Branch, Tree, said_by
from dpviz.table.dataset import EncodedDataset


@dataclass(frozen=True, slots=True)
class FeatureUse:
    """In how many draws a feature is asked about: `anywhere`, and `at_level[d]` at depth d."""

    feature: int
    anywhere: int
    at_level: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A leaf of the tree on screen.

    Attributes
    ----------
    path : str
    label : int
    rows : float
        Share of all rows that stand there.
    agreement : float
        Share of (row there, draw) pairs in which the draw predicts the leaf's label; NaN for a leaf without rows.
    """

    path: str
    label: int
    rows: float
    agreement: float


def feature_use(drawn: Redraws) -> tuple[FeatureUse, ...]:
    """Every feature that is asked about in any draw, most frequent first. Draws that are no tree ask about none."""
    trees = [model for model in drawn.models if isinstance(model, Tree)]
    asked = [
        {(placed.node.rule.feature, placed.depth) for placed in tree.nodes() if isinstance(placed.node, Branch)} for tree in trees
    ]
    deepest = max((depth for pairs in asked for _, depth in pairs), default=-1)
    found = [
        FeatureUse(
            feature,
            sum(any(place == feature for place, _ in pairs) for pairs in asked),
            tuple(sum((feature, depth) in pairs for pairs in asked) for depth in range(deepest + 1)),
        )
        for feature in {feature for pairs in asked for feature, _ in pairs}
    ]
    return tuple(sorted(found, key=lambda use: (-use.anywhere, use.feature)))


def regions(tree: Tree, drawn: Redraws, data: EncodedDataset) -> tuple[Region, ...]:
    """How far the draws agree with each leaf of `tree`, left to right."""
    agreeing = agreement(tree.predict(data), drawn, data)
    return tuple(
        Region(path, label, len(rows) / max(1, data.n_rows), float(agreeing[rows].mean()) if len(rows) else float("nan"))
        for path, label, rows in _leaf_rows(tree, data)
    )


def agreement(labels: Sequence[int] | np.ndarray, drawn: Redraws, data: EncodedDataset) -> np.ndarray:
    """Per row the share of draws that predict its label in `labels`; NaN without draws."""
    said = np.array([model.predict(data) == labels for model in drawn.models])
    return said.mean(axis=0) if len(said) else np.full(data.n_rows, np.nan)


def _leaf_rows(tree: Tree, data: EncodedDataset) -> list[tuple[str, int, np.ndarray]]:
    """(path, label, positions of the rows) of each leaf, left to right."""
    found: list[tuple[str, int, np.ndarray]] = []
    stack = [("", tree.root, np.arange(data.n_rows))]
    while stack:
        path, node, rows = stack.pop()
        if not isinstance(node, Branch):
            found.append((path, int(said_by(node)), rows))
            continue
        left = node.rule.goes_left(data.columns[node.rule.feature][rows])
        stack += [(path + "R", node.right, rows[~left]), (path + "L", node.left, rows[left])]
    return found
