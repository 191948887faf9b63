"""The exact law of PrivaTree's split on noisy histograms, for features of two categories and two classes.

Histograms of different features carry independent noise, so the law of each feature's impurity is found on its own, by
listing its four noisy counts, and the least impurity wins (the first feature among equals). Used by verification.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dpviz.errors import DpvizError
from dpviz.privacy.geometric import GeometricNoise
from dpviz.training.growing import UNPRICED, Decision, OrderedSplit
from dpviz.training.scores import weighted_gini

#: Noisy counts above the exact count by more than this are cut off (and reported): four counts are listed at once.
MOST_NOISE = 20


def least_gini_law(histogram: np.ndarray, noise: GeometricNoise) -> tuple[list[tuple[Decision, float]], float]:
    """Every split with its probability, and the probability cut off.

    Parameters
    ----------
    histogram : ndarray of shape (2 * n_features, 2), int64
        Exact class counts of two categories per feature. Private.
    noise : GeometricNoise
        Noise on each count.
    """
    if histogram.shape[1] != 2 or len(histogram) % 2:
        raise DpvizError("The exact law is listed for two classes and features of two categories only.")
    laws = [_feature_law(tuple(map(tuple, table)), noise) for table in histogram.reshape(-1, 2, 2).tolist()]
    decisions: list[tuple[Decision, float]] = []
    for feature in range(len(laws)):
        wins = _wins(laws, feature)
        for left in range(2):
            decisions.append((OrderedSplit(feature, np.arange(2) == left, UNPRICED), float(wins[left])))
    return decisions, 1 - sum(chance for _, chance in decisions)


def _wins(laws: list[tuple[np.ndarray, np.ndarray]], feature: int) -> np.ndarray:
    """Probability that `feature` has the least impurity, by category that goes left."""
    ginis, masses = laws[feature]
    others = np.ones(len(ginis))
    for index, (theirs, mass) in enumerate(laws):
        if index != feature:  # an earlier feature must be strictly worse, a later one may be equal
            above = np.append(mass.sum(axis=1)[::-1].cumsum()[::-1], 0.0)
            others *= above[np.searchsorted(theirs, ginis, side="right" if index < feature else "left")]
    return others @ masses


@lru_cache(maxsize=4096)
def _feature_law(table: tuple[tuple[int, int], ...], noise: GeometricNoise) -> tuple[np.ndarray, np.ndarray]:
    """(increasing impurities, probability of each by category that goes left: shape (n, 2)) of one feature."""
    laws = [_clipped_law(count, noise) for count in (*table[0], *table[1])]
    grid = np.meshgrid(*(np.arange(len(law)) for law in laws), indexing="ij", sparse=True)
    noisy = np.stack(np.broadcast_arrays(*grid), axis=-1).reshape(-1, 2, 2)
    mass = np.einsum("a,b,c,d->abcd", *laws).ravel()
    share = noisy[:, :, 1] / np.maximum(noisy.sum(axis=2), 1)
    left = (share[:, 1] < share[:, 0]).astype(np.int64)  # equal shares keep the declared order
    rows = np.arange(len(noisy))
    ginis, place = np.unique(weighted_gini(noisy[rows, left], noisy.sum(axis=1)), return_inverse=True)
    return ginis, np.bincount(place * 2 + left, weights=mass, minlength=2 * len(ginis)).reshape(-1, 2)


def _clipped_law(count: int, noise: GeometricNoise) -> np.ndarray:
    """Law of max(0, count + noise) on 0 .. count + MOST_NOISE."""
    law = noise.pmf(np.arange(count + MOST_NOISE + 1) - count)
    law[0] = noise.tail(count) if count else 1 - noise.tail(1)
    return law
