"""Boosted trees: every tree adds the value of one leaf to a score, and the score is the prediction.

The score is a number in the units of the target, the log-odds of the second of two classes, or (more than two classes) one
score per class, to which the trees add in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.errors import no_probabilities
from dpviz.models.base import class_probabilities, n_scores, predict_class, require_same_columns
from dpviz.models.packed_forest import LEAF, OfPackedTrees, PackedTrees, values_of
from dpviz.models.tree import NumberLeaf
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericTarget

#: Rows that are worked on at once: their columns and sums stay close to the processor.
_AT_ONCE = 1 << 14
#: Cells of a table that is worked out once for two features.
_LARGEST = 1 << 18


@dataclass(frozen=True)
class _Table:
    """What trees that ask one feature (named twice) or two add to the scores."""

    features: tuple[int, int]
    width: int  #: Steps of the second
    added: np.ndarray  #: Float64 of shape (steps of the first * steps of the second, n_scores)


def _parts(splits: PackedTrees, tree: int) -> list[tuple[tuple[int, int], int | None]]:
    """(features, side of the root) of parts of a tree that ask two features at most; side None: the whole tree. Empty: none."""
    root = int(splits.roots[tree])
    whole = _asked(splits, root)
    if len(whole) <= 2:
        return [(_pair(whole), None)]
    found = [_asked(splits, child) | {int(splits.feature[root])} for child in splits.children(root)]
    return [(_pair(features), side) for side, features in enumerate(found)] if max(map(len, found)) <= 2 else []


def _pair(features: set[int]) -> tuple[int, int]:
    return (min(features), max(features)) if features else (0, 0)


def _asked(splits: PackedTrees, node: int) -> set[int]:
    """The features that are asked at a node or below it."""
    if splits.feature[node] == LEAF:
        return set()
    return {int(splits.feature[node])}.union(*(_asked(splits, child) for child in splits.children(node)))


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
        for start in range(0, data.n_rows, _AT_ONCE):
            self._add_rows(total[start : start + _AT_ONCE], [column[start : start + _AT_ONCE] for column in data.columns])
        return total[:, 0] if self.n_scores == 1 else total

    def predict(self, data: EncodedDataset) -> np.ndarray:
        """Numbers inside the declared range (float64), or class codes (uint8), of shape (n_rows,)."""
        scores, target = self.scores(data), self.schema.target
        if isinstance(target, NumericTarget):
            return np.clip(scores, target.low, target.high)
        return predict_class(scores)

    def predict_proba(self, data: EncodedDataset) -> np.ndarray:
        """What the scores mean (see `class_probabilities`), float64, (n_rows, n_classes). UnsupportedModel for a number."""
        if isinstance(self.schema.target, NumericTarget):
            raise no_probabilities(self.kind)
        return class_probabilities(self.scores(data))

    def _values(self, rows: np.ndarray, tree: int) -> np.ndarray:
        """What one tree adds to each row."""
        return self.values[self.splits.leaf_of(rows, np.full(len(rows), self.splits.roots[tree]))]

    def _add(self, total: np.ndarray, rows: np.ndarray, tree: int) -> None:
        total[:, tree % self.n_scores] += self._values(rows, tree)

    def _add_rows(self, total: np.ndarray, columns: list[np.ndarray]) -> None:
        """Add all trees. What depends on one feature or two is looked up, whichever tree it is of; the rest falls through."""
        tables, others = self._tables
        asked = {feature for table in tables for feature in table.features}
        step = {feature: self._step(feature, columns[feature]) for feature in sorted(asked)}
        for table in tables:
            first, second = table.features
            place = step[first] if first == second else step[first] * table.width + step[second]
            for score in range(self.n_scores):
                total[:, score] += table.added[:, score].take(place)
        if len(others):
            rows = np.column_stack([column.astype(np.float64) for column in columns])
            for tree in others:
                self._add(total, rows, tree)

    @cached_property
    def _cuts(self) -> tuple[np.ndarray, ...]:
        """Per feature the distinct thresholds of all trees, increasing."""
        every = (self.splits.threshold[self.splits.feature == feature] for feature in range(self.schema.n_features))
        return tuple(np.unique(found[~np.isnan(found)]) for found in every)

    def _step(self, feature: int, column: np.ndarray) -> np.ndarray:
        """The step of every row: its category, or between which thresholds it lies."""
        if isinstance(self.schema.features[feature], CategoricalFeature):
            return column.astype(np.int64)
        return np.searchsorted(self._cuts[feature], column)

    def _steps(self, feature: int) -> np.ndarray:
        """A value in every step."""
        declared = self.schema.features[feature]
        if isinstance(declared, CategoricalFeature):
            return np.arange(float(len(declared.categories)))
        return np.append(self._cuts[feature], np.inf)

    @cached_property
    def _tables(self) -> tuple[tuple[_Table, ...], np.ndarray]:
        """(what trees, or what lies on one side of a root, add, by the one or two features it asks; the trees that ask more)."""
        parts: dict[tuple[int, int], list[tuple[int, int | None]]] = {}
        others: list[int] = []
        for tree in range(self.splits.n_trees):
            found = _parts(self.splits, tree)
            sizes = [len(self._steps(first)) * len(self._steps(second)) for (first, second), _ in found if first != second]
            if not found or max(sizes, default=0) > _LARGEST:
                others.append(tree)
                continue
            for features, side in found:
                parts.setdefault(features, []).append((tree, side))
        return tuple(self._table(features, parts[features]) for features in sorted(parts)), np.array(others, dtype=np.int64)

    def _table(self, features: tuple[int, int], parts: list[tuple[int, int | None]]) -> _Table:
        first, second = features
        steps, width = self._steps(first), 1 if first == second else len(self._steps(second))
        rows = np.zeros((len(steps) * width, self.schema.n_features))
        rows[:, first] = np.repeat(steps, width)
        if first != second:
            rows[:, second] = np.tile(self._steps(second), len(steps))
        added = np.zeros((len(rows), self.n_scores))
        for tree, side in parts:
            values = self._values(rows, tree)
            if side is not None:
                values = np.where(self.splits.side(rows, int(self.splits.roots[tree])) == side, values, 0.0)
            added[:, tree % self.n_scores] += values
        return _Table(features, width, np.asfortranarray(added))

    def accumulated(self, data: EncodedDataset) -> Iterator[np.ndarray]:
        """The scores after no tree, after the first, ...: n_trees + 1 arrays, the same one filled further each time."""
        require_same_columns(self.schema, data.schema)
        rows, total = values_of(data), np.full((data.n_rows, self.n_scores), self.initial)
        shown = total[:, 0] if self.n_scores == 1 else total
        yield shown
        for tree in range(self.splits.n_trees):
            self._add(total, rows, tree)
            yield shown
