"""How PrivaTree splits: noisy class histograms of every feature at every node, then the least Gini impurity.

A row is in one bin of *every* feature, so m histograms at eps_node each cost m * eps_node. The paper's proof of Theorem 3 counts
them once; the events here do not.

Source: Vos et al. 2023, Algorithm 1, lines 6 to 17.
"""

from dataclasses import dataclass

import numpy as np

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.events import Event, Sequential
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.source import NoiseSource
from dpviz.table.candidates import CandidateGrid, FeatureCandidates, prefix_candidates, thresholds_candidates
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema
from dpviz.training.growing import Decision, Label, OrderedSplit, Split, TreeRecipe, leaf_distribution
from dpviz.training.histograms import CountedNode, left_counts, root_rows
from dpviz.training.noisy_distribution import least_gini_distribution
from dpviz.training.privatree_budget import EpsilonSplit
from dpviz.training.scores import weighted_gini
from dpviz.training.stopping import is_finished, looked, stopped

#: A node with fewer rows becomes a leaf, unless the tree is grown complete.
LEAST_ROWS = 2


@dataclass(frozen=True, eq=False)
class NoisyHistogramGrower:
    """Grows a tree on noisy histograms."""

    grid: CandidateGrid  #: Quantile bins per numeric feature, prefixes of categories
    split: EpsilonSplit  #: Epsilon of one mechanism of each kind
    depth: int
    #: False: stop where the rows are of one class or there is at most one, as published (discloses exact counts).
    complete: bool
    source: NoiseSource

    def recipe(self, data: EncodedDataset, before: tuple[Event, ...], disclosures: tuple[Disclosure, ...]) -> TreeRecipe:
        """The tree to grow, after the events `before`."""
        return TreeRecipe(root_rows(data, self.grid), self.step, before, disclosures, self.distribution)

    def step(self, node: CountedNode) -> Decision:
        """What the node becomes."""
        if node.level == self.depth:
            return self._leaf(node)
        if self.complete:
            return self._split(node, ())
        if is_finished(node, LEAST_ROWS):
            return stopped(self._leaf(node), node.level)
        return self._split(node, (looked(node.level),))

    def _leaf(self, node: CountedNode) -> Label:
        chosen = PermuteAndFlip(self.split.leaf, COUNT).release(
            node.class_counts, source=self.source, part="leaf", level=node.level
        )
        return Label(chosen.value, chosen.event)

    def _split(self, node: CountedNode, before: tuple[Event, ...]) -> Split | OrderedSplit:
        noisy, events = self._noisy_histogram(node)
        order = _bin_order(self.grid, noisy)
        feature, index = self.grid.locate(int(_gini(self.grid, noisy[order]).argmin()))
        if self.grid.features[feature].thresholds is not None:
            return Split(feature, index, Sequential((*before, *events)))
        first = self.grid.offsets[feature]
        left_bins = np.zeros(self.grid.features[feature].n_bins, dtype=bool)
        left_bins[order[first : first + index + 1] - first] = True
        return OrderedSplit(feature, left_bins, Sequential((*before, *events)))

    def _noisy_histogram(self, node: CountedNode) -> tuple[np.ndarray, tuple[Event, ...]]:
        """Noisy counts, clipped at 0, float64 of shape (n_bins, n_classes), and their events."""
        noisy = np.zeros(node.histogram.shape)
        events = []
        groups = (self.split.numeric_node, False), (self.split.categorical_node, True)
        for epsilon, categorical in groups:
            bins, n_features = bins_of_kind(self.grid, categorical)
            if n_features:
                noise = GeometricNoise(epsilon * n_features, l1=n_features)  # one row is in one bin of each feature
                released = noise.release(node.histogram[bins], source=self.source, part="node", level=node.level)
                noisy[bins] = np.maximum(released.value, 0)
                events.append(released.event)
        return noisy, tuple(events)

    def distribution(self, node: CountedNode) -> tuple[list[tuple[Decision, float]], float]:
        """Exact distribution of `step`, and the mass cut off. Only for two classes and features of two categories."""
        if node.level == self.depth or (not self.complete and is_finished(node, LEAST_ROWS)):
            return leaf_distribution(PermuteAndFlip(self.split.leaf, COUNT), node)
        n_bins = tuple(feature.n_bins for feature in self.grid.features)
        return least_gini_distribution(node.histogram, n_bins, GeometricNoise(self.split.categorical_node))


def bins_of_kind(grid: CandidateGrid, categorical: bool) -> tuple[np.ndarray, int]:
    """(bool mask over bins, number of features) of the categorical or the numeric features."""
    chosen = [isinstance(feature, CategoricalFeature) == categorical for feature in grid.schema.features]
    return np.repeat(chosen, [feature.n_bins for feature in grid.features]), sum(chosen)


def _bin_order(grid: CandidateGrid, noisy: np.ndarray) -> np.ndarray:
    """Order of the bins of which prefixes go left: with two classes, categories by noisy share of class 1; else as declared.

    Source: Coppersmith et al. 1999 for two classes.
    """
    categorical, _ = bins_of_kind(grid, True)
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
