"""The exact distribution of PrivaTree's split on noisy histograms, for features of two categories and two classes.

Histograms of different features have independent noise, so the distribution of each feature's impurity is computed separately,
by enumerating its four noisy counts. The least impurity wins (the first feature among equals). Used by verification.
"""

from collections import Counter
from functools import lru_cache

import numpy as np

from dpviz.errors import NotEnumerable
from dpviz.privacy.geometric import GeometricNoise
from dpviz.training.growing import UNPRICED, Decision, OrderedSplit
from dpviz.training.scores import weighted_gini

#: Exact class counts of a feature's two categories.
Table = tuple[tuple[int, ...], ...]

#: Noise above this is cut off (and the mass reported), because four counts are enumerated at once.
MOST_NOISE = 20

#: Added to the mass cut off: more than all rounding errors in sums of probabilities, so that bounds remain bounds.
ROUNDING = 1e-12


def least_gini_distribution(
    histogram: np.ndarray, n_bins: tuple[int, ...], noise: GeometricNoise
) -> tuple[list[tuple[Decision, float]], float]:
    """Every split with its probability, and the mass cut off.

    `histogram`: shape (2 * n_features, 2), int64; exact class counts of two categories per feature. Private.
    `n_bins`: categories of each feature; anything but 2 raises NotEnumerable.
    `noise`: noise on each count.
    """
    if histogram.shape[1] != 2 or set(n_bins) != {2}:
        raise NotEnumerable("The exact distribution is known only for two classes and features of two categories.")
    tables = [tuple(map(tuple, table)) for table in histogram.reshape(-1, 2, 2).tolist()]
    decisions: list[tuple[Decision, float]] = []
    for feature in range(len(tables)):
        wins = _wins(tables, feature, noise)
        for left in range(2):
            decisions.append((OrderedSplit(feature, np.arange(2) == left, UNPRICED), float(wins[left])))
    return decisions, max(0.0, 1 - sum(chance for _, chance in decisions)) + ROUNDING


def _wins(tables: list[Table], feature: int, noise: GeometricNoise) -> np.ndarray:
    """Probability that `feature` has the least impurity, by category that goes left."""
    ginis, masses, _ = _feature_distribution(tables[feature], noise)
    others = np.ones(len(ginis))
    for table, count in Counter(tables[:feature]).items():  # identical columns have the same distribution
        others *= _chance_above(table, tables[feature], noise, strictly=True) ** count
    for table, count in Counter(tables[feature + 1 :]).items():
        others *= _chance_above(table, tables[feature], noise, strictly=False) ** count
    return others @ masses


@lru_cache(maxsize=256)  # each holds some 0.2 MB
def _chance_above(table: Table, of: Table, noise: GeometricNoise, *, strictly: bool) -> np.ndarray:
    """Probability that the impurity of a feature with `table` is above (or equal to) each impurity of a feature with `of`."""
    theirs, _, above = _feature_distribution(table, noise)
    return above[np.searchsorted(theirs, _feature_distribution(of, noise)[0], side="right" if strictly else "left")]


@lru_cache(maxsize=256)  # each holds about 1 MB
def _feature_distribution(table: Table, noise: GeometricNoise) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(increasing impurities, probabilities by category that goes left, shape (n, 2), probabilities of each or more)."""
    distributions = [_clipped_distribution(count, noise) for count in (*table[0], *table[1])]
    noisy = np.moveaxis(np.indices([len(distribution) for distribution in distributions]), 0, -1).reshape(-1, 2, 2)
    mass = np.einsum("a,b,c,d->abcd", *distributions).ravel()
    share = noisy[:, :, 1] / np.maximum(noisy[:, :, 0] + noisy[:, :, 1], 1)
    left = (share[:, 1] < share[:, 0]).astype(np.int64)  # equal shares keep the declared order
    rows = np.arange(len(noisy))
    ginis, place = np.unique(weighted_gini(noisy[rows, left], noisy[:, 0] + noisy[:, 1]), return_inverse=True)
    masses = np.bincount(place * 2 + left, weights=mass, minlength=2 * len(ginis)).reshape(-1, 2)
    above = np.append((masses[:, 0] + masses[:, 1])[::-1].cumsum()[::-1], 0.0)
    return ginis, masses, above


def _clipped_distribution(count: int, noise: GeometricNoise) -> np.ndarray:
    """Distribution of max(0, count + noise) on 0 .. count + MOST_NOISE."""
    distribution = noise.pmf(np.arange(count + MOST_NOISE + 1) - count)
    distribution[0] = noise.tail(count)
    return distribution
