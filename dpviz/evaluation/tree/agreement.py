"""What fresh draws of a tree have in common: the features they split on, and the rows they predict alike.

Computed from exact rows, so for simulated and public rows only.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.evaluation.tree.redraws import Redraws
from dpviz.models.tree import Branch, Tree
from dpviz.table.dataset import EncodedDataset


@dataclass(frozen=True, slots=True)
class FeatureUse:
    """How many draws split on a feature: `anywhere`, and `at_level[d]` at depth d."""

    feature: int
    anywhere: int
    at_level: tuple[int, ...]


def feature_use(drawn: Redraws) -> tuple[FeatureUse, ...]:
    """Every feature that some draw splits on, most frequent first. A draw that is a constant splits on none."""
    trees = [model for model in drawn.models if isinstance(model, Tree)]
    splits = [{(p.node.rule.feature, p.depth) for p in tree.nodes() if isinstance(p.node, Branch)} for tree in trees]
    at_level = Counter(split for tree in splits for split in tree)
    anywhere = Counter(feature for tree in splits for feature in {feature for feature, _ in tree})
    levels = range(max((depth for _, depth in at_level), default=-1) + 1)
    found = (FeatureUse(feature, n, tuple(at_level[feature, depth] for depth in levels)) for feature, n in anywhere.items())
    return tuple(sorted(found, key=lambda use: (-use.anywhere, use.feature)))


def agreement(labels: Sequence[int] | np.ndarray, drawn: Redraws, data: EncodedDataset) -> np.ndarray:
    """Per row the share of draws that predict its label in `labels`; NaN without draws."""
    agree = np.array([model.predict(data) == labels for model in drawn.models])
    return agree.mean(axis=0) if len(agree) else np.full(data.n_rows, np.nan)
