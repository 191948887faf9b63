"""Trees that follow what earlier rounds released: features with more left to learn are asked for more often.

All features take turns once. Then a feature is drawn in proportion to how much its latest noisy sums of gradients vary over its
cells, less what noise alone contributes; a quarter of the draws are uniform. The second feature of a pair is drawn alike. These
sums are released anyway, so the choice costs nothing.

Source: this project.
"""

from __future__ import annotations

import math

import numpy as np

from dpviz.privacy.source import NoiseSource
from dpviz.training.boosting.trees import BoostingTrees, Drawing, Nested, Part, in_turn, nest, pack, split_features, uniform

#: The share of draws in which all features are as likely, and what a round keeps of the memory of a feature.
_UNIFORM, _MEMORY = 0.25, 0.7


class FollowingTrees:
    """Trees of one or two features, drawn when their turn comes."""

    def __init__(self, drawing: Drawing, cells: tuple[int, ...], source: NoiseSource) -> None:
        self.drawing, self.cells, self.source = drawing, cells, source
        self.features = split_features(drawing.schema)
        self.first = [first for (first,) in in_turn(self.features, len(self.features), False, source)]
        self.signal, self.memory = np.zeros(len(drawing.schema.features)), np.zeros(len(drawing.schema.features))
        self.trees: list[Nested] = []
        self.n_cells: list[int] = []  #: Of every tree drawn so far
        self.parts: list[Part] = []  #: Of the last tree

    def cells_of(self, rows: np.ndarray, tree: int) -> np.ndarray:
        """The cell of each of `rows` (n_rows, n_features) in the last tree, or in the next one, which is then drawn."""
        if tree == len(self.trees):
            self._draw(tree)
        assert tree == len(self.trees) - 1, "trees are drawn in order"
        kind, cells = np.min_scalar_type(self.n_cells[-1]), np.zeros(1, dtype=np.uint8)
        for part in self.parts:  # as ravel_multi_index, in narrow numbers
            cells = cells.astype(kind) * kind.type(part.n_cells) + part.cells(rows[:, part.feature]).astype(kind)
        return cells.astype(np.intp)

    def _draw(self, tree: int) -> None:
        asked = [self.first[tree]] if tree < len(self.first) else [self._drawn([])]
        while len(asked) < min(len(self.cells), len(self.features)):
            asked.append(self._drawn(asked))
        grouped = len(self.cells) > 1
        self.parts = [
            self.drawing.part(feature, cells, grouped=grouped) for feature, cells in zip(asked, self.cells, strict=False)
        ]
        self.trees.append(nest(self.parts))
        self.n_cells.append(math.prod(self.shape))

    @property
    def asked(self) -> list[int]:
        """The features of the last tree."""
        return [part.feature for part in self.parts]

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells of the last tree by each of its features."""
        return tuple(part.n_cells for part in self.parts)

    def _drawn(self, taken: list[int]) -> int:
        """A feature that is not yet `taken`."""
        free = [feature for feature in self.features if feature not in taken]
        signal = np.maximum(self.signal[free], 0.0) / np.maximum(self.memory[free], 1.0)
        followed = signal / signal.sum() if signal.sum() > 0 and self.memory[self.features].all() else 1 / len(free)
        chances = np.cumsum(_UNIFORM / len(free) + (1 - _UNIFORM) * followed * np.ones(len(free)))
        return free[min(int(np.searchsorted(chances, uniform(1, self.source)[0], side="right")), len(free) - 1)]

    def learn(self, noisy: np.ndarray, scale: float) -> None:
        """Take note of the noisy sums of gradients of the last tree, (n_cells, n_scores), whose noise has deviation `scale`."""
        cells = noisy.reshape(*self.shape, -1)
        for axis, feature in enumerate(self.asked):
            sums = cells.sum(axis=tuple(other for other in range(len(self.shape)) if other != axis))
            by_noise = (len(sums) - 1) * noisy.size / len(sums) * scale**2
            found = float(np.square(sums - sums.mean(axis=0)).sum()) - by_noise
            self.signal[feature] = _MEMORY * self.signal[feature] + found
            self.memory[feature] = _MEMORY * self.memory[feature] + 1

    def all(self) -> BoostingTrees:
        """The trees drawn so far."""
        return pack(self.drawing.schema, self.trees)
