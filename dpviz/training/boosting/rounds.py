"""The rounds of boosting: gradients are added up by leaf, Gaussian noise is added, and the sums become leaf values.

A round releases, for every cell of a random tree, the noisy sum of clipped gradients (share r2 = 1 - r1 of the precision) and the
noisy sum of weights (share r1), with variances sigma^2/(2 r2) and sigma^2/(2 r1). A row reaches one cell, so a round costs as
much as a Gaussian of noise multiplier z = sigma / sqrt(2 (r1 + r2 clip^2)). The value is

    learning rate * gradients / (curvature * weights + smoothing),

where `smoothing` follows a public rule: over all rounds together, noise alone moves no score by more than `spread` (one standard
deviation). The same settings therefore suit any epsilon and any number of rows.

Source: Kirschte et al. 2023, Algorithms 4 to 8; the rule for smoothing is this project's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from os import cpu_count
from typing import Any, TypeVar

import numpy as np

from dpviz.accounting.events import GaussianRounds
from dpviz.models.boosted import BoostedTrees
from dpviz.models.packed_forest import PackedTrees
from dpviz.privacy.gaussian import CONTRIBUTION_BITS, GaussianNoise, NoiseGrid, contributions
from dpviz.privacy.random_assignment import PoissonSample
from dpviz.privacy.source import NoiseSource
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget
from dpviz.training.boosting.filter import RowAccounts
from dpviz.training.boosting.loss import Loss
from dpviz.training.boosting.trees import BoostingTrees, FollowingTrees
from dpviz.training.counted_rows import row_order

T = TypeVar("T")

_STEPS = 2.0**CONTRIBUTION_BITS
#: The kinds of sums, as numbered by the grid of the noise.
GRADIENTS, WEIGHTS = 0, 1
#: Rows of a block. Of fewer, threads wait for one another longer than they gain; of more, for memory.
_BLOCK_ROWS = 2**17


@dataclass(frozen=True)
class Recipe:
    """How to boost, in public numbers."""

    rounds: int  #: Number of trees, including the extra rounds of a filter
    noise_multiplier: float  #: z: noise over the largest change a row makes in a round
    learning_rate: float
    clip: float  #: The largest gradient of a row
    sampling: float  #: The probability that a row is drawn
    support_share: float  #: r1, in (0, 1)
    spread: float  #: How far noise may move a score over all rounds, in scores
    least_support: float  #: Rows added to every leaf's weight
    filter: GaussianRounds | None = None  #: The cost of rounds in which every row has an account; None: no row has one
    #: Instead, noise on the leaf's exact value, scaled to the worst case however many rows the leaf holds (an ablation).
    static_noise: bool = False
    #: Instead of added rows and smoothing, a leaf's noisy weight is raised to `least_support`, as published; with static noise
    #: `least_support` rows are added.
    bounded: bool = False

    @property
    def sigma(self) -> float:
        """The noise, in the paper's units."""
        return self.noise_multiplier * math.sqrt(2 * self._size(1.0, self.clip**2))

    def _size(self, weight_squared: Any, gradient_squared: Any) -> Any:
        return self.support_share * weight_squared + (1 - self.support_share) * gradient_squared

    @cached_property
    def grid(self) -> NoiseGrid:
        """Noise of sums of gradients, and of weights."""
        shares = (1 - self.support_share, self.support_share)
        return NoiseGrid(tuple(self.sigma / math.sqrt(2 * share) for share in shares))

    @cached_property
    def smoothing(self) -> float:
        """What is added to the curvature of a leaf."""
        if self.static_noise:
            return self.least_support
        return self.grid.scales[GRADIENTS] * self.learning_rate * math.sqrt(self.rounds) / self.spread

    def sizes(self, gradients: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Each row's contribution as a share of the largest, from whole steps of the grid; shape (n_rows,)."""
        square = self._size(np.square(weights / _STEPS), np.square(gradients / _STEPS).sum(axis=1))
        return np.minimum(1.0, np.sqrt(square / self._size(1.0, self.clip**2)))


class Rounds:
    """The state of training: scores and accounts of the rows, and which are `present` (a mask; None: all). Private."""

    def __init__(
        self,
        data: EncodedDataset,
        trees: BoostingTrees | FollowingTrees,
        loss: Loss,
        initial: float,
        recipe: Recipe,
        source: NoiseSource,
    ) -> None:
        self.rows = np.array([column.astype(np.float64) for column in data.columns]).T  # a column lies together
        self.target, self.trees, self.loss = data.target, trees, loss
        self.recipe, self.source, self.initial = recipe, source, initial
        self.scores = np.full((data.n_rows, loss.n_scores), initial)
        self.cells = np.zeros(data.n_rows, dtype=np.int32)  # in the last tree
        self.order = row_order(data) if recipe.sampling < 1 else None
        self.accounts = None if recipe.filter is None else RowAccounts(recipe.filter, data.n_rows)
        self.present: np.ndarray | None = None

    def run_all(self) -> BoostedTrees:
        """All rounds, and the model they make, of released values only."""
        values = [self.run(tree) for tree in range(self.recipe.rounds)]
        return boosted_model(self.trees.all(), self.loss, self.initial, values)

    def run(self, tree: int) -> np.ndarray:
        """One round: the values of the tree's cells, shape (n_cells, n_scores)."""
        values = self.release(tree)
        self.learn(values)
        return values

    def release(self, tree: int) -> np.ndarray:
        """The released values of the tree's cells, shape (n_cells, n_scores)."""
        sums, support = self._sums(tree)
        if self.recipe.static_noise:
            return self._static(sums, support)
        grid = self.recipe.grid  # the more rows a leaf holds, the less the noise on both sums moves its value
        noisy = grid.noisy(sums, GRADIENTS, source=self.source)
        self.trees.learn(noisy, grid.scales[GRADIENTS])
        return leaf_values(self.recipe, self.loss, noisy, grid.noisy(support, WEIGHTS, source=self.source))

    def learn(self, values: np.ndarray) -> None:
        """Add the values of their cells in the last tree to the scores of the rows."""

        def learn_rows(some: slice) -> None:
            scores = self.scores[some]
            scores += values.take(self.cells[some], axis=0)

        self._by_blocks(learn_rows)

    def _sums(self, tree: int) -> tuple[np.ndarray, np.ndarray]:
        """(exact sums of gradients by cell, exact sums of weights by cell), in whole steps; (n_cells, n_scores) and (n_cells,).

        Private. Charges the accounts of the rows that take part.
        """
        drawn = self._sample_rows()
        self.trees.draw(tree)
        gradients, weights = zip(*self._by_blocks(lambda some: self._sums_of(some, tree, drawn)), strict=True)
        return reduce(np.add, gradients), reduce(np.add, weights)  # of whole numbers: their order changes nothing

    def _by_blocks(self, function: Callable[[slice], T]) -> list[T]:
        """The function of every block of rows."""
        return [function(self._blocks[0])] if len(self._blocks) == 1 else list(self._threads.map(function, self._blocks))

    @cached_property
    def _blocks(self) -> list[slice]:
        """Rows that are added up at once: as many blocks for every thread; all rows where they are few or have accounts."""
        n_rows, n_threads = len(self.target), cpu_count() or 1
        alone = self.accounts is not None or n_rows <= _BLOCK_ROWS
        n_blocks = 1 if alone else n_threads * math.ceil(n_rows / (n_threads * _BLOCK_ROWS))
        return [slice(first, end) for first, end in pairwise(np.linspace(0, n_rows, n_blocks + 1, dtype=int).tolist())]

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        """NumPy computes in them without Python's lock. They end with the last reference to these rounds."""
        return ThreadPoolExecutor(cpu_count())

    def _sums_of(self, some: slice, tree: int, drawn: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """The sums of some of the rows, whose cells are noted."""
        downhill, weights = self.loss.gradients(self.scores[some], self.target[some])
        gradients, weights = contributions(downhill, self.recipe.clip), contributions(weights, 1.0)
        if self.present is not None:  # absent rows add nothing and are charged nothing
            gradients, weights = gradients * self.present[some, None], weights * self.present[some]
        taking = None if drawn is None else drawn[some]
        if self.accounts is not None:
            within = self.accounts.admit(self.recipe.sizes(gradients, weights))
            taking = within if taking is None else within & taking
        if taking is not None:
            gradients, weights = gradients * taking[:, None], weights * taking
        here, n_cells = self.trees.cells_of(self.rows[some], tree), int(self.trees.n_cells[tree])
        self.cells[some] = here
        sums = np.array([np.bincount(here, column, n_cells) for column in gradients.T]).T
        return sums, np.bincount(here, weights, n_cells)

    def _sample_rows(self) -> np.ndarray | None:
        """Which rows are drawn at random. None: all."""
        if self.order is None:
            return None
        drawn = np.empty(len(self.order), dtype=bool)
        drawn[self.order] = PoissonSample(self.recipe.sampling).participants(len(drawn), source=self.source)
        return drawn

    def _static(self, sums: np.ndarray, support: np.ndarray) -> np.ndarray:
        """Noise on the value itself, which one row moves by at most clip / (smoothing + 1): sums are at most clip times counts.

        Rounding to the grid moves it by one more step per score.
        """
        recipe = self.recipe
        exact = sums / _STEPS / (support / _STEPS + recipe.smoothing)[:, None]
        bits = 34 - max(0, math.floor(math.log2(recipe.noise_multiplier)))
        finer = 2.0 ** (bits + math.ceil(math.log2(recipe.smoothing + 1)))
        change = recipe.clip / (recipe.smoothing + 1) * finer + math.sqrt(self.loss.n_scores)
        noise = GaussianNoise(recipe.noise_multiplier * change)
        return recipe.learning_rate * noise.add(np.rint(exact * finer).astype(np.int64), source=self.source) / finer


def leaf_values(recipe: Recipe, loss: Loss, gradients: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Values of cells, (n_cells, n_scores), from noisy sums of gradients, (n_cells, n_scores), and weights, (n_cells,)."""
    if recipe.bounded:
        return recipe.learning_rate * gradients / (loss.curvature * np.maximum(weights, recipe.least_support))[:, None]
    held = np.maximum(weights, 0.0) + recipe.least_support
    return recipe.learning_rate * gradients / (loss.curvature * held + recipe.smoothing)[:, None]


def boosted_model(trees: BoostingTrees, loss: Loss, initial: float, values: list[np.ndarray]) -> BoostedTrees:
    """The model with the values of cells at their leaves, in the units of the target; one copy of every tree per score."""
    of_leaves = [cells[of_tree] for cells, of_tree in zip(values, trees.cells_by_tree(), strict=True)]
    by_score = np.concatenate([leaves.T.ravel() for leaves in of_leaves])
    return in_target_units(_repeat_trees(trees.splits, loss.n_scores), by_score, initial)


def in_target_units(splits: PackedTrees, values: np.ndarray, initial: float) -> BoostedTrees:
    """The model for leaf values in scores; for a number, scores from -1 to 1 span its declared range."""
    target = splits.schema.target
    if not isinstance(target, NumericTarget):
        return BoostedTrees(splits, values, initial)
    half = (target.high - target.low) / 2
    return BoostedTrees(splits, half * values, target.low + half * (initial + 1))


def _repeat_trees(splits: PackedTrees, times: int) -> PackedTrees:
    """Every tree repeated `times` times in a row."""
    if times == 1:
        return splits
    trees = np.split(np.arange(len(splits.feature)), splits.roots[1:])
    nodes = np.concatenate([nodes for nodes in trees for _ in range(times)])
    return PackedTrees(splits.schema, splits.feature[nodes], splits.threshold[nodes])
