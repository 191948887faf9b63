"""Utilities of two levels from both arrays in full, and pair counts among all bins."""

import numpy as np

from dpviz.privacy.two_levels import LogWeights, Parts, TwoLevelUtilities
from dpviz.training.nodes import CountedNode


def utilities_of(left: np.ndarray, right: np.ndarray) -> TwoLevelUtilities:
    n_roots, n_below = left.shape

    def log_weights(rate: float) -> LogWeights:
        sides: list[Parts] = [[(rate * side, np.ones(n_below))] for side in (left, right)]
        return iter([(sides[0], sides[1])]), np.arange(n_roots)

    return TwoLevelUtilities(n_roots, n_below, lambda roots: (left[roots], right[roots]), log_weights)


def all_pair_counts(node: CountedNode) -> np.ndarray:
    """Shape (grid.n_bins, grid.n_bins, n_classes)."""
    found = np.zeros((node.grid.n_bins, node.grid.n_bins, node.n_classes), dtype=np.int64)
    found[np.ix_(node.occupied_bins, node.occupied_bins)] = node.pair_counts
    return found
