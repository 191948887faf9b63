"""Boosted trees: every tree adds the value of one leaf to a score, and the score is the prediction.

The score is a number in the units of the target, the log-odds of the second of two classes, or (more than two classes) one
score per class, to which the trees add in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.errors import NoProbabilities
from dpviz.models.base import chances_by, classes_by, n_scores, require_same_columns
from dpviz.models.packed_forest import LEAF, OfPackedTrees, PackedTrees, values_of
from dpviz.models.tree import NumberLeaf
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericTarget


@dataclass(frozen=True, eq=False)
class BoostedTrees(OfPackedTrees):
    """Packed trees with a value at every leaf; the values of the leaves that a row reaches add up."""

    splits: PackedTrees
    #: Shape (n_leaves,), float64. In the order of `splits.leaves`, already multiplied by the learning rate.
    values: np.ndarray
    initial: float  #: What every score starts from

    kind = "boosted"

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.splits.leaves),):
            raise ValueError(f"{len(self.splits.leaves)} leaves need as many values, not {self.values.shape}")
        super().__post_init__()

    @property
    def n_scores(self) -> int:
        """How many scores a row has: one, or one per class where there are more than two. Tree t adds to score t mod n_scores."""
        return n_scores(self.schema)

    def leaf(self, number: int) -> NumberLeaf:
        """As of a tree: what it adds to the score."""
        return NumberLeaf(float(self.values[number]))

    def scores(self, data: EncodedDataset) -> np.ndarray:
        """The sum per row, float64: not clipped, or log-odds of the second class, shape (n_rows,); else (n_rows, n_classes)."""
        require_same_columns(self.schema, data.schema)
        total = np.full((data.n_rows, self.n_scores), self.initial)
        for feature, trees in enumerate(self._trees_of_one_feature):
            self._add_looked_up(total, data, feature, trees)
        if len(self._other_trees):
            rows = values_of(data)
            for tree in self._other_trees:
                self._add(total, rows, tree)
        return total[:, 0] if self.n_scores == 1 else total

    def predict(self, data: EncodedDataset) -> np.ndarray:
        """Numbers inside the declared range (float64), or class codes (uint8), of shape (n_rows,)."""
        scores, target = self.scores(data), self.schema.target
        if isinstance(target, NumericTarget):
            return np.clip(scores, target.low, target.high)
        return classes_by(scores)

    def predict_proba(self, data: EncodedDataset) -> np.ndarray:
        """What the scores mean (see `chances_by`), float64 of shape (n_rows, n_classes). NoProbabilities for a number."""
        if isinstance(self.schema.target, NumericTarget):
            raise NoProbabilities(self.kind)
        return chances_by(self.scores(data))

    def contributions(self, data: EncodedDataset) -> np.ndarray:
        """What each tree adds to each row, float64 of shape (n_rows, n_trees). For a few rows."""
        require_same_columns(self.schema, data.schema)
        rows = values_of(data)
        added = [self._values(rows, tree) for tree in range(self.splits.n_trees)]
        return np.column_stack(added) if added else np.zeros((data.n_rows, 0))

    def _values(self, rows: np.ndarray, tree: int) -> np.ndarray:
        """What one tree adds to each row."""
        return self.values[self.splits.leaf_of(rows, np.full(len(rows), self.splits.roots[tree]))]

    def _add(self, total: np.ndarray, rows: np.ndarray, tree: int) -> None:
        total[:, tree % self.n_scores] += self._values(rows, tree)

    @cached_property
    def _uses(self) -> np.ndarray:
        """Which tree uses which feature, bool of shape (n_trees, n_features)."""
        inner = self.splits.feature != LEAF
        uses = np.zeros((self.splits.n_trees, self.schema.n_features), dtype=bool)
        uses[self.splits.tree[inner], self.splits.feature[inner]] = True
        return uses

    @cached_property
    def _trees_of_one_feature(self) -> tuple[np.ndarray, ...]:
        """Per feature the trees that use no other."""
        alone = self._uses & (self._uses.sum(axis=1, keepdims=True) == 1)
        return tuple(map(np.flatnonzero, alone.T))

    @cached_property
    def _other_trees(self) -> np.ndarray:
        return np.flatnonzero(self._uses.sum(axis=1) != 1)

    def _add_looked_up(self, total: np.ndarray, data: EncodedDataset, feature: int, trees: np.ndarray) -> None:
        """Add trees of one feature: together they are a step function, worked out once per step instead of once per row."""
        if len(trees):
            steps, step = self._steps(feature, trees, data.columns[feature])
            rows = np.zeros((len(steps), self.schema.n_features))
            rows[:, feature] = steps
            table = np.zeros((len(steps), self.n_scores))
            for tree in trees:
                self._add(table, rows, tree)
            total += table[step]

    def _steps(self, feature: int, trees: np.ndarray, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(a value per step, the step of every row) for a feature: categories, or the intervals between thresholds."""
        declared = self.schema.features[feature]
        if isinstance(declared, CategoricalFeature):
            return np.arange(len(declared.categories)), column
        cuts = np.unique(self.splits.threshold[np.isin(self.splits.tree, trees) & (self.splits.feature == feature)])
        return np.append(cuts, np.inf), np.searchsorted(cuts, column)

    def accumulated(self, data: EncodedDataset) -> Iterator[np.ndarray]:
        """The scores after no tree, after the first, ...: n_trees + 1 arrays, the same one filled further each time."""
        require_same_columns(self.schema, data.schema)
        rows, total = values_of(data), np.full((data.n_rows, self.n_scores), self.initial)
        shown = total[:, 0] if self.n_scores == 1 else total
        yield shown
        for tree in range(self.splits.n_trees):
            self._add(total, rows, tree)
            yield shown
