"""An attack on the first split: it adds rows, a few at a time, that make a useless split look better than the best one.

White box and greedy. Each step tries every row of a pool in each class: existing rows, and existing rows with one feature moved
to an end of its range. It adds the one that narrows the lead of the best useful split over the best decoy most. A decoy is a
split that classifies hardly more clean rows correctly than no split does; all others are useful.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpviz.table.candidates import CandidateGrid, multiscale_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature
from dpviz.training.counting.arrays import counter_of
from dpviz.training.counting.nodes import CountedNode, left_counts
from dpviz.training.scores import best_correct_rows, half_impurity

#: Existing rows in the pool.
POOL = 64
#: Steps in which the rows are added.
STEPS = 10
#: Useful splits, and decoys, that are compared: the best of each.
WATCHED = 150
#: A decoy gains at most this share of what the best split gains over no split.
USELESS = 0.2


def move_root(data: EncodedDataset, rows: int, rng: np.random.Generator, max_depth: int) -> EncodedDataset:
    """`rows` rows added against the root of an impurity-growing tree."""
    if not rows or not data.n_rows:
        return data
    scene = _Scene.of(data, rng)
    positions, classes = scene.chosen(rows)
    return with_rows(data, [column[positions] for column in scene.pool.columns], classes)


def with_rows(data: EncodedDataset, columns: Sequence[np.ndarray], target: np.ndarray) -> EncodedDataset:
    """`data` and these encoded rows after it."""
    together = (np.concatenate(both) for both in zip(data.columns, columns, strict=True))
    target = np.concatenate([data.target, target.astype(data.target.dtype)])
    return replace(data, columns=tuple(together), target=target, report=None)


@dataclass(frozen=True)
class _Scene:
    """Clean counts at the root, and which candidates send which rows of the pool left."""

    pool: EncodedDataset
    left: np.ndarray  # (n_watched, n_classes): useful splits first, then decoys
    n_useful: int
    total: np.ndarray  # (n_classes,)
    goes_left: np.ndarray  # (n_watched, n_pool), int64

    @classmethod
    def of(cls, data: EncodedDataset, rng: np.random.Generator) -> _Scene:
        grid = multiscale_grid(data.schema)
        root = counter_of(data).root(grid)
        pool = _pool(data, rng)
        useful, decoys = _watched(root)
        watched = np.concatenate([useful, decoys])
        return cls(pool, root.left_counts[watched], len(useful), root.class_counts, _goes_left(grid, pool)[watched])

    def chosen(self, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """(positions in the pool, classes) of the rows to add, shape (rows,)."""
        left, total = self.left.copy(), self.total.copy()
        positions, classes = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
        for part in np.array_split(np.arange(rows), min(rows, STEPS)):
            position, label = self._best(left, total, len(part))
            positions[part], classes[part] = position, label
            left[:, label] += len(part) * self.goes_left[:, position]
            total[label] += len(part)
        return positions, classes

    def _best(self, left: np.ndarray, total: np.ndarray, count: int) -> tuple[int, int]:
        """(position in the pool, class) whose addition, `count` times, leaves the useful splits the smallest lead."""
        n_classes = len(total)
        leads = np.empty((n_classes, self.pool.n_rows))
        for label in range(n_classes):
            new_total = total + count * (np.arange(n_classes) == label)
            new_left = np.repeat(left[:, None, :], self.pool.n_rows, axis=1)
            new_left[:, :, label] += count * self.goes_left
            scores = -(half_impurity(new_left) + half_impurity(new_total - new_left))
            decoy = scores[self.n_useful :].max(axis=0, initial=scores.min())
            leads[label] = scores[: self.n_useful].max(axis=0) - decoy
        best_label, position = np.unravel_index(leads.argmin(), leads.shape)
        return int(position), int(best_label)


def _watched(root: CountedNode) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the best useful candidates by impurity (at least one), and of the best decoys."""
    left, total = root.left_counts, root.class_counts
    order = np.argsort(half_impurity(left) + half_impurity(total - left), kind="stable")
    gain = (best_correct_rows(left, total) - total.max())[order]
    is_useful = gain > USELESS * gain[0]
    is_useful[0] = True
    return order[is_useful][:WATCHED], order[~is_useful][:WATCHED]


def _pool(data: EncodedDataset, rng: np.random.Generator) -> EncodedDataset:
    """Existing rows, then one of them with each feature in turn at its lowest and at its highest value."""
    rows = rng.permutation(data.n_rows)[:POOL]
    n_rows, n_features = len(rows), data.n_features
    columns = [np.concatenate([column[rows], np.repeat(column[rows[:1]], 2 * n_features)]) for column in data.columns]
    for place, feature in enumerate(data.schema.features):
        last = len(feature.categories) - 1 if isinstance(feature, CategoricalFeature) else feature.high
        columns[place][n_rows + 2 * place] = 0 if isinstance(feature, CategoricalFeature) else feature.low
        columns[place][n_rows + 2 * place + 1] = last
    return EncodedDataset(data.schema, tuple(columns), np.zeros(n_rows + 2 * n_features, dtype=data.target.dtype))


def _goes_left(grid: CandidateGrid, pool: EncodedDataset) -> np.ndarray:
    """Whether each candidate sends each row of the pool left, int64 of shape (n_candidates, n_pool)."""
    shown = np.zeros((grid.n_bins, pool.n_rows), dtype=np.int64)
    for offset, bins in zip(grid.offsets, grid.bin(pool), strict=False):
        shown[offset + bins.astype(np.int64), np.arange(pool.n_rows)] = 1
    return left_counts(grid, shown)
