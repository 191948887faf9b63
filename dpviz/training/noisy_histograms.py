"""How PrivaTree splits: noisy class histograms of every feature at every node, then the least Gini impurity.

A row is in one bin of *every* feature, so m histograms at eps_node each cost m * eps_node. The paper's proof of Theorem 3 counts
them once; the events here do not.

**The exact distribution** of a split is known for features of two categories and two classes, and used by verification.
Histograms of different features have independent noise, so that of each feature's impurity is computed separately, by enumerating
its four noisy counts. The least impurity wins (the first feature among equals).

Source: Vos et al. 2023, Algorithm 1, lines 6 to 17.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.events import Event, Sequential
from dpviz.accounting.plan import BudgetPlan
from dpviz.errors import UnsupportedError
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.source import NoiseSource
from dpviz.table.candidates import CandidateGrid, FeatureCandidates, prefix_candidates, thresholds_candidates
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema
from dpviz.training.counted_rows import counter_of
from dpviz.training.growing import (
    ENUMERATION,
    Decision,
    Label,
    Split,
    TreeRecipe,
    leaf_distribution,
    meets_stopping_rule,
    stopped_leaf,
    stopping_event,
)
from dpviz.training.nodes import CountedNode, left_counts
from dpviz.training.scores import weighted_gini

#: Exact class counts of a feature's two categories.
Table = tuple[tuple[int, ...], ...]

#: Noise above this is cut off (and the mass reported), because four counts are enumerated at once.
MAX_NOISE = 20

#: Added to the mass cut off: more than all rounding errors in sums of probabilities, so that bounds remain bounds.
ROUNDING = 1e-12
#: A node with fewer rows becomes a leaf, unless the tree is grown complete.
MIN_ROWS = 2


@dataclass(frozen=True, eq=False)
class NoisyHistogramGrower:
    """Grows a tree on noisy histograms."""

    grid: CandidateGrid  #: Quantile bins per numeric feature, prefixes of categories
    plan: BudgetPlan
    #: False: stop where the rows are of one class or there is at most one, as published (discloses exact counts).
    complete: bool
    source: NoiseSource

    def recipe(self, data: EncodedDataset, before: tuple[Event, ...], disclosures: tuple[Disclosure, ...]) -> TreeRecipe:
        """The tree to grow, after the events `before`."""
        return TreeRecipe(counter_of(data).root(self.grid), self.step, before, disclosures, self.distribution)

    def step(self, node: CountedNode) -> Decision:
        """What the node becomes."""
        if node.level == self.plan.depth:
            return self._leaf(node)
        if self.complete:
            return self._split(node, ())
        if meets_stopping_rule(node, MIN_ROWS):
            return stopped_leaf(self._leaf(node), node.level)
        return self._split(node, (stopping_event(node.level),))

    def _leaf(self, node: CountedNode) -> Label:
        chosen = self._labels.release(node.class_counts, source=self.source, part="leaf", level=node.level)
        return Label(chosen.value, chosen.event)

    @property
    def _labels(self) -> PermuteAndFlip:
        return PermuteAndFlip(self.plan.of("leaf", self.plan.depth), COUNT)

    def _split(self, node: CountedNode, before: tuple[Event, ...]) -> Split:
        noisy, events = self._noisy_histogram(node)
        order = _bin_order(self.grid, noisy)
        feature, index = self.grid.locate(int(_gini(self.grid, noisy[order]).argmin()))
        codes = None
        if self.grid.features[feature].thresholds is None:  # prefixes of the order found here
            first = self.grid.offsets[feature]
            codes = tuple(sorted((order[first : first + index + 1] - first).tolist()))
        return Split(feature, index, Sequential((*before, *events)), codes=codes)

    def _noisy_histogram(self, node: CountedNode) -> tuple[np.ndarray, tuple[Event, ...]]:
        """Noisy counts, clipped at 0, float64 of shape (n_bins, n_classes), and their events."""
        noisy = np.zeros(node.histogram.shape)
        events = []
        for kind in ("numeric", "categorical"):
            bins, n_features = _bins_of_kind(self.grid, kind == "categorical")
            if n_features:
                epsilon = self.plan.of("node", node.level, kind)
                noise = GeometricNoise(epsilon * n_features, l1=n_features)  # one row is in one bin of each feature
                released = noise.release(node.histogram[bins], source=self.source, part="node", level=node.level)
                noisy[bins] = np.maximum(released.value, 0)
                events.append(released.event)
        return noisy, tuple(events)

    def distribution(self, node: CountedNode) -> tuple[list[tuple[Decision, float]], float]:
        """Exact distribution of `step`, and the mass cut off. Only for two classes and features of two categories."""
        if node.level == self.plan.depth or (not self.complete and meets_stopping_rule(node, MIN_ROWS)):
            return leaf_distribution(self._labels, node)
        n_bins = tuple(feature.n_bins for feature in self.grid.features)
        return least_gini_distribution(node.histogram, n_bins, GeometricNoise(self.plan.of("node", node.level, "categorical")))


def _bins_of_kind(grid: CandidateGrid, categorical: bool) -> tuple[np.ndarray, int]:
    """(bool mask over bins, number of features) of the categorical or the numeric features."""
    chosen = [isinstance(feature, CategoricalFeature) == categorical for feature in grid.schema.features]
    return np.repeat(chosen, [feature.n_bins for feature in grid.features]), sum(chosen)


def _bin_order(grid: CandidateGrid, noisy: np.ndarray) -> np.ndarray:
    """Order of the bins of which prefixes go left: with two classes, categories by noisy share of class 1; else as declared.

    Source: Coppersmith et al. 1999 for two classes.
    """
    categorical, _ = _bins_of_kind(grid, True)
    feature_of_bin = np.repeat(np.arange(len(grid.features)), np.diff(grid.offsets))
    key = np.zeros(len(noisy))
    if noisy.shape[1] == 2:
        share = noisy[:, 1] / np.maximum(noisy.sum(axis=1), 1)
        key = np.where(categorical, share, 0.0)
    return np.lexsort((np.arange(len(noisy)), key, feature_of_bin))


def _gini(grid: CandidateGrid, noisy: np.ndarray) -> np.ndarray:
    """Weighted Gini impurity of every candidate on its own feature's noisy histogram, float64 of shape (n_candidates,)."""
    left = left_counts(grid, noisy)
    per_feature = np.add.reduceat(noisy, grid.offsets[:-1], axis=0)
    total = np.repeat(per_feature, [feature.n_candidates for feature in grid.features], axis=0)
    return weighted_gini(left, total)


def quantile_grid(schema: Schema, thresholds: dict[str, np.ndarray], name: str) -> CandidateGrid:
    """Bins between the given thresholds (clipped to the range) per numeric feature; prefixes of categories."""

    def of(feature: NumericFeature | CategoricalFeature) -> FeatureCandidates:
        if isinstance(feature, CategoricalFeature):
            return prefix_candidates(len(feature.categories))
        return thresholds_candidates(np.clip(thresholds[feature.name], feature.low, feature.high))

    return CandidateGrid(schema, tuple(map(of, schema.features)), name, is_reused=False)


def least_gini_distribution(
    histogram: np.ndarray, n_bins: tuple[int, ...], noise: GeometricNoise
) -> tuple[list[tuple[Decision, float]], float]:
    """Every split with its probability, and the mass cut off.

    `histogram`: shape (2 * n_features, 2), int64; exact class counts of two categories per feature. Private.
    `n_bins`: categories of each feature; anything but 2 raises UnsupportedError.
    `noise`: noise on each count.
    """
    if histogram.shape[1] != 2 or set(n_bins) != {2}:
        what = "The exact distribution is known only for two classes and features of two categories."
        raise UnsupportedError(what, remedy="Use a universe of such features.")
    tables = [tuple(map(tuple, table)) for table in histogram.reshape(-1, 2, 2).tolist()]
    decisions: list[tuple[Decision, float]] = []
    for feature in range(len(tables)):
        wins = _wins(tables, feature, noise)
        for left in range(2):
            decisions.append((Split(feature, 0, ENUMERATION, codes=(left,)), float(wins[left])))
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
    """Distribution of max(0, count + noise) on 0 .. count + MAX_NOISE."""
    distribution = noise.pmf(np.arange(count + MAX_NOISE + 1) - count)
    distribution[0] = noise.tail(count)
    return distribution
