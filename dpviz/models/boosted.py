"""Boosted trees: every tree adds the value of one leaf to a score, and the score is the prediction.

The score is a number in the units of the target, the log-odds of the second of two classes, or (more than two classes) one
score per class, to which the trees add in turn.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.errors import no_probabilities
from dpviz.models.base import ScoreMixin, class_probabilities, n_scores, require_same_columns
from dpviz.models.packed_forest import LEAF, PackedTrees, PackedTreesMixin, values_of
from dpviz.models.tree import NumberLeaf
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericTarget

#: Rows that are worked on at once: their columns and sums stay close to the processor.
_CHUNK_SIZE = 1 << 14
#: Cells of a table that is worked out once for two features.
_MAX_CELLS = 1 << 18


#: What depends on one feature (named twice) or two: trees, and of some only what lies on one side (0, 1) of the root.
_Parts = dict[tuple[int, int], list[tuple[int, int | None]]]


def _parts_by_features(splits: PackedTrees) -> tuple[_Parts, list[int]]:
    """(what asks two features at most, by these; the trees that ask more on a side of their root)."""
    asks = np.zeros((splits.n_trees, splits.schema.n_features), dtype=bool)
    inner = splits.feature != LEAF
    asks[splits.tree[inner], splits.feature[inner]] = True
    parts, others = _Parts(), list[int]()
    for tree, asked in enumerate(asks):
        whole = np.flatnonzero(asked).tolist()
        if len(whole) <= 2:
            parts.setdefault(_pair(whole), []).append((tree, None))
            continue
        root = int(splits.roots[tree])
        sides = [_features_below(splits, child) | {int(splits.feature[root])} for child in splits.children(root)]
        if max(map(len, sides)) > 2:
            others.append(tree)
            continue
        for side, features in enumerate(sides):
            parts.setdefault(_pair(features), []).append((tree, side))
    return dict(sorted(parts.items())), others


def _pair(features: Collection[int]) -> tuple[int, int]:
    return (min(features), max(features)) if features else (0, 0)


def _features_below(splits: PackedTrees, node: int) -> set[int]:
    """The features that are asked at a node or below it."""
    if splits.feature[node] == LEAF:
        return set()
    return {int(splits.feature[node])}.union(*(_features_below(splits, child) for child in splits.children(node)))


@dataclass(frozen=True, eq=False)
class BoostedTrees(PackedTreesMixin, ScoreMixin):
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
        self.__dict__["_n_scored"] = self._n_scored + data.n_rows
        for start in range(0, data.n_rows, _CHUNK_SIZE):
            some = slice(start, start + _CHUNK_SIZE)
            self._add_rows(total[some], [column[some] for column in data.columns])
        return total[:, 0] if self.n_scores == 1 else total

    def predict(self, data: EncodedDataset) -> np.ndarray:
        """Numbers inside the declared range (float64), or class codes (uint8), of shape (n_rows,)."""
        target = self.schema.target
        if isinstance(target, NumericTarget):
            return np.clip(self.scores(data), target.low, target.high)
        return super().predict(data)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """What scores mean (see `class_probabilities`), float64, (n_rows, n_classes). Raises UnsupportedError for a number."""
        if isinstance(self.schema.target, NumericTarget):
            raise no_probabilities(self.kind)
        return class_probabilities(scores)

    def _add(self, total: np.ndarray, rows: np.ndarray, tree: int) -> None:
        """Add one tree."""
        total[:, tree % self.n_scores] += self.values[self.splits.leaf_of(rows, self.splits.roots[tree])]

    @cached_property
    def _n_scored(self) -> int:
        """Rows scored so far: a table is made once there were as many as it has places."""
        return 0

    def _add_rows(self, total: np.ndarray, columns: list[np.ndarray]) -> None:
        """Add all trees. What depends on one feature or two is looked up once a table is worth its making."""
        parts, others = self._parts
        asked = {feature for features in parts for feature in features}
        step = {feature: self._step(feature, columns[feature]) for feature in sorted(asked)}
        rows = np.column_stack([column.astype(np.float64) for column in columns])
        for features, some in parts.items():
            if self._n_places(features) > min(self._n_scored, _MAX_CELLS):
                total += self._add_trees(rows, some)
                continue
            first, second = features
            place = step[first] if first == second else step[first] * len(self._steps[second]) + step[second]
            table = self._table(features)
            for score in range(self.n_scores):
                total[:, score] += table[:, score].take(place)
        for tree in others:
            self._add(total, rows, tree)

    @cached_property
    def _steps(self) -> tuple[np.ndarray, ...]:
        """Per feature a value in every step: its categories, or the distinct thresholds of all trees and one beyond."""
        return tuple(
            np.arange(float(len(feature.categories)))
            if isinstance(feature, CategoricalFeature)
            else np.append(np.unique(self.splits.threshold[self.splits.feature == place]), np.inf)
            for place, feature in enumerate(self.schema.features)
        )

    def _step(self, feature: int, column: np.ndarray) -> np.ndarray:
        """The step of every row: its category, or between which thresholds it lies."""
        if isinstance(self.schema.features[feature], CategoricalFeature):
            return column.astype(np.int64)
        return np.searchsorted(self._steps[feature][:-1], column)

    def _n_places(self, features: tuple[int, int]) -> int:
        """Of all pairs of steps of two features, or of the steps of one."""
        return math.prod(len(self._steps[feature]) for feature in {*features})

    @cached_property
    def _parts(self) -> tuple[_Parts, list[int]]:
        return _parts_by_features(self.splits)

    @cached_property
    def _tables(self) -> dict[tuple[int, int], np.ndarray]:
        return {}

    def _table(self, features: tuple[int, int]) -> np.ndarray:
        """What trees that ask one feature (named twice) or two add at every place, shape (n_places, n_scores)."""
        if features not in self._tables:
            first, second = features
            width = 1 if first == second else len(self._steps[second])
            rows = np.zeros((self._n_places(features), self.schema.n_features))
            rows[:, first] = np.repeat(self._steps[first], width)
            if first != second:
                rows[:, second] = np.tile(self._steps[second], len(self._steps[first]))
            self._tables[features] = np.asfortranarray(self._add_trees(rows, self._parts[0][features]))
        return self._tables[features]

    def _add_trees(self, rows: np.ndarray, parts: list[tuple[int, int | None]]) -> np.ndarray:
        """What parts of trees add to each of `rows`, shape (n_rows, n_scores)."""
        added = np.zeros((len(rows), self.n_scores))
        at_once = max(1, _CHUNK_SIZE // max(1, len(rows)))
        for start in range(0, len(parts), at_once):
            some = parts[start : start + at_once]
            roots = self.splits.roots[[tree for tree, _ in some]]
            leaves = self.splits.leaf_of(np.tile(rows, (len(some), 1)), np.repeat(roots, len(rows)))
            for (tree, side), values in zip(some, self.values[leaves].reshape(len(some), -1), strict=True):
                if side is not None:
                    values = np.where(self.splits.side(rows, int(self.splits.roots[tree])) == side, values, 0.0)
                added[:, tree % self.n_scores] += values
        return added

    def accumulated(self, data: EncodedDataset) -> Iterator[np.ndarray]:
        """The scores after no tree, after the first, ...: n_trees + 1 arrays, the same one filled further each time."""
        require_same_columns(self.schema, data.schema)
        rows, total = values_of(data), np.full((data.n_rows, self.n_scores), self.initial)
        shown = total[:, 0] if self.n_scores == 1 else total
        yield shown
        for tree in range(self.splits.n_trees):
            self._add(total, rows, tree)
            yield shown
