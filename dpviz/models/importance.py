"""Which features matter in a forest: how much their splits part the released labels.

Post-processing of released labels: it costs nothing, and says nothing about rows that the labels do not say.
"""

from __future__ import annotations

import sys

import numpy as np

from dpviz.models.packed_forest import LEAF, PackedForest, PackedTrees, ranges


def importance(forest: PackedForest) -> np.ndarray:
    """Share of each feature in the fall of Gini impurity of the labels, float64 of shape (n_features,).

    Every child of a split counts as equally likely: how many rows go where is not released. The sum is 1, or 0 where no
    split parts any labels.
    """
    splits = forest.splits
    levels, counts = _levels(splits), splits.n_children()
    mix, reach = _class_mix(forest, levels, counts), _reach(splits, levels, counts)
    parted = (1 - np.square(mix).sum(axis=1)) * reach
    weights = np.zeros(forest.schema.n_features)
    for level in levels:
        falls = parted[level] - _sums(parted[ranges(splits.first_child[level], counts[level])], counts[level])
        weights += np.bincount(splits.feature[level], weights=np.maximum(falls, 0), minlength=len(weights))
    return weights / max(weights.sum(), sys.float_info.min)


def _levels(splits: PackedTrees) -> list[np.ndarray]:
    """Splits by depth, the roots first."""
    counts, here = splits.n_children(), splits.roots
    levels = []
    while len(here := here[splits.feature[here] != LEAF]):
        levels.append(here)
        here = ranges(splits.first_child[here], counts[here])
    return levels


def _class_mix(forest: PackedForest, levels: list[np.ndarray], counts: np.ndarray) -> np.ndarray:
    """Share of each class below every node, shape (n_nodes, n_classes)."""
    mix = np.zeros((len(counts), len(forest.schema.classes)))
    mix[forest.splits.leaves, forest.labels] = 1
    for level in reversed(levels):
        children = ranges(forest.splits.first_child[level], counts[level])
        mix[level] = _sums(mix[children], counts[level]) / counts[level][:, None]
    return mix


def _reach(splits: PackedTrees, levels: list[np.ndarray], counts: np.ndarray) -> np.ndarray:
    """Chance of reaching every node from its root."""
    reach = np.ones(len(counts))
    for level in levels:
        reach[ranges(splits.first_child[level], counts[level])] = np.repeat(reach[level] / counts[level], counts[level])
    return reach


def _sums(values: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Sums of consecutive runs of these lengths, along the first axis."""
    return np.add.reduceat(values, lengths.cumsum() - lengths, axis=0)
