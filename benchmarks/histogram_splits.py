"""Comparators in the style of Maddock et al. (CCS 2022), built from this project's parts; they are not their code.

*Splits by noisy histograms* (their HIST): at every level of a tree, noise is added to the sums of gradients and of weights in
every bin of every feature and node. Each node takes the cut with the largest noisy gain, of a number between two bins, of
categories one against the rest; the sums on both sides of the last cuts become the leaves' values. A row is in one bin of each of
n features, so a level costs as much as a round of boosting with sqrt(n) times less noise.

*Random splits* (their TR): each node draws a feature and one of the same cuts, and only sums by leaf are released.

Bins of numbers follow a noisy Hessian-weighted histogram, as theirs do, here released once, before the first tree. First score,
clipping, Newton's step and smoothing are those of `s-gbdt`, so that only the trees differ. Their batches of trees are left out.

Source: Maddock, Cormode, Wang, Maple & Jha 2022, "Federated boosted decision trees with differential privacy".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpviz.accounting.gaussian import price_rounds
from dpviz.learners.native import s_gbdt
from dpviz.models.boosted import BoostedTrees
from dpviz.privacy.gaussian import contributions
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import UniformPoint
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Schema
from dpviz.training.boosting.histograms import FeatureHistograms, numbers_of, release_histograms
from dpviz.training.boosting.loss import Loss, initial_score, loss_of
from dpviz.training.boosting.rounds import GRADIENTS, WEIGHTS, Recipe, boosted_model
from dpviz.training.boosting.trees import NestedNode, pack, split_features, two_sided

#: Share of epsilon for the first score, and of the levels' rounds for the histogram of numbers.
_START, _COUNTED = 0.05, 0.1

#: A feature, and the threshold or the category that goes to the first side.
Cut = tuple[int, float]


@dataclass(frozen=True, slots=True)
class Style:
    """How many trees, levels of splits, and bins of a number; whether splits are drawn at random instead of chosen."""

    trees: int
    depth: int
    bins: int
    drawn: bool = False


#: By name; chosen on california and magic at epsilon .1 and .5.
STYLES = {"histogram-splits": Style(trees=50, depth=2, bins=16), "random-splits": Style(256, depth=4, bins=32, drawn=True)}


def fit_by_histograms(data: EncodedDataset, style: Style, *, epsilon: float, delta: float, source: NoiseSource) -> BoostedTrees:
    """The model; at most two classes, or a number, and a declared row count."""
    schema = data.schema
    rounds = style.trees * (1 if style.drawn else style.depth)
    counted = math.ceil(_COUNTED * rounds) if numbers_of(schema) else 0
    cost = price_rounds((1 - _START) * epsilon, delta, sampling=1.0, rounds=rounds + counted, filtered=False)
    loss = loss_of(schema, newton=True)
    initial, _ = initial_score(loss, data.target, schema.n_public or 1, _START * epsilon, source)
    histograms = release_histograms(data, cost.noise_multiplier, counted, source=source) if counted else None
    bins = _bins(schema, histograms, style.bins)
    recipe = replace(s_gbdt.recipe(cost, loss, s_gbdt.Params(), schema.n_public), rounds=style.trees)
    if not style.drawn:  # a row is in one bin of every feature
        recipe = replace(recipe, noise_multiplier=recipe.noise_multiplier * math.sqrt(len(bins)))
    growing = _Grower(data, bins, recipe, loss, source)
    scores = np.full((data.n_rows, loss.n_scores), initial)
    trees, values = [], []
    for _ in range(style.trees):
        tree, of_cells, cells = growing.tree(scores, style)
        trees.append(tree)
        values.append(of_cells)
        scores += of_cells[cells]
    return boosted_model(pack(schema, trees), loss, initial, values)


@dataclass(frozen=True, eq=False)
class _Bins:
    """One feature: `cuts` between its bins, or None for a bin per category."""

    feature: int
    n_bins: int
    cuts: np.ndarray | None

    @property
    def n_cuts(self) -> int:
        """In how many ways the feature can be cut in two."""
        return self.n_bins - (self.cuts is not None)

    def cut(self, place: int) -> Cut:
        """One of them."""
        return self.feature, float(place if self.cuts is None else self.cuts[place])


def _bins(schema: Schema, histograms: FeatureHistograms | None, count: int) -> list[_Bins]:
    found = []
    for place in split_features(schema):
        declared = schema.features[place]
        if isinstance(declared, CategoricalFeature):
            found.append(_Bins(place, len(declared.categories), None))
            continue
        assert histograms is not None
        cuts = declared.low + histograms.quantiles(place, np.arange(1, count) / count) * (declared.high - declared.low)
        cuts = np.unique(np.floor(cuts) + 0.5 if declared.whole else cuts)
        cuts = cuts[(cuts > declared.low) & (cuts < declared.high)]
        found.append(_Bins(place, len(cuts) + 1, cuts))
    return found


class _Grower:
    """Grows trees on the rows of `data`. Private."""

    def __init__(self, data: EncodedDataset, bins: list[_Bins], recipe: Recipe, loss: Loss, source: NoiseSource) -> None:
        self.data, self.bins, self.recipe, self.loss, self.source = data, bins, recipe, loss, source
        self.binned = [_bin_numbers(part, data.columns[part.feature]) for part in bins]

    def tree(self, scores: np.ndarray, style: Style) -> tuple[NestedNode, np.ndarray, np.ndarray]:
        """(a tree, values of its cells, (n_cells, n_scores), the cell of every row)."""
        downhill, weights = self.loss.gradients(scores, self.data.target)
        steps = np.column_stack([contributions(downhill, self.recipe.clip), contributions(weights, 1.0)])
        node, sums = np.zeros(self.data.n_rows, dtype=np.int64), np.zeros((0, steps.shape[1] + 1))
        levels: list[list[Cut]] = []
        for level in range(style.depth):
            if style.drawn:
                levels.append([self._random_cut() for _ in range(2**level)])
            else:
                histograms = [
                    self._noisy(node * part.n_bins + rows, 2**level * part.n_bins, steps).reshape(2**level, part.n_bins, -1)
                    for part, rows in zip(self.bins, self.binned, strict=True)
                ]
                chosen = [self._best([of_feature[each] for of_feature in histograms]) for each in range(2**level)]
                levels.append([cut for cut, _ in chosen])
                sums = np.concatenate([of_sides for _, of_sides in chosen])
            node = 2 * node + ~self._first_side(levels[-1], node)
        if style.drawn:
            sums = self._noisy(node, 2**style.depth, steps)
        values = self.recipe.learning_rate * sums[:, :-2] / self._denominators(sums)[:, None]
        return self._nested_tree(levels, 0, 0), values, node

    def _random_cut(self) -> Cut:
        place, share = UniformPoint().shares(2, source=self.source)
        part = self.bins[min(int(place * len(self.bins)), len(self.bins) - 1)]
        return part.cut(min(int(share * part.n_cuts), part.n_cuts - 1))

    def _first_side(self, cuts: list[Cut], node: np.ndarray) -> np.ndarray:
        """Which rows go to the first side of the cut of their node, bool."""
        inside = np.zeros(len(node), dtype=bool)
        for each, (feature, cut) in enumerate(cuts):
            column, declared = self.data.columns[feature], self.data.schema.features[feature]
            inside |= (node == each) & (column == cut if isinstance(declared, CategoricalFeature) else column <= cut)
        return inside

    def _noisy(self, cells: np.ndarray, n_cells: int, steps: np.ndarray) -> np.ndarray:
        """Noisy sums by cell, shape (n_cells, n_scores + 2); weights come next to last, and a 1 for each cell last."""
        sums, grid = np.column_stack([np.bincount(cells, column, n_cells) for column in steps.T]), self.recipe.grid
        gradients = grid.noisy(sums[:, :-1], GRADIENTS, source=self.source)
        weights = grid.noisy(sums[:, -1:], WEIGHTS, source=self.source)
        return np.concatenate([gradients, weights, np.ones((n_cells, 1))], axis=1)

    def _best(self, histograms: list[np.ndarray]) -> tuple[Cut, np.ndarray]:
        """((feature, threshold or category), noisy sums on both sides) of the cut with the largest gain."""
        sides = [_sides(part, sums) for part, sums in zip(self.bins, histograms, strict=True)]
        gains = [(np.square(each[..., :-2]).sum(axis=-1) / self._denominators(each)).sum(axis=0) for each in sides]
        place = int(np.argmax([gain.max(initial=-math.inf) for gain in gains]))
        cut, part = int(np.argmax(gains[place])), self.bins[place]
        return part.cut(cut), sides[place][:, cut]

    def _denominators(self, sums: np.ndarray) -> np.ndarray:
        """What gradients are divided by: a side of several bins has the noise of all of them, and is smoothed accordingly."""
        return self.loss.curvature * np.maximum(sums[..., -2], 0.0) + self.recipe.smoothing * np.sqrt(sums[..., -1])

    def _nested_tree(self, levels: list[list[Cut]], level: int, node: int) -> NestedNode:
        if level == len(levels):
            return node
        feature, cut = levels[level][node]
        inside, outside = (self._nested_tree(levels, level + 1, 2 * node + side) for side in (0, 1))
        return two_sided(self.data.schema.features[feature], feature, cut, inside, outside)


def _bin_numbers(part: _Bins, column: np.ndarray) -> np.ndarray:
    return column.astype(np.int64) if part.cuts is None else np.searchsorted(part.cuts, column)


def _sides(part: _Bins, sums: np.ndarray) -> np.ndarray:
    """Sums on the two sides of every cut, shape (2, n_cuts, n_scores + 2)."""
    inside = sums if part.cuts is None else np.cumsum(sums, axis=0)[:-1]
    return np.stack([inside, sums.sum(axis=0) - inside])
