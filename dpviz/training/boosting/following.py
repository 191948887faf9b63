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
        features = split_features(drawing.schema)
        self.features = np.array(features)
        self.first = [first for (first,) in in_turn(features, len(features), False, source)]
        self.signal, self.memory = np.zeros(len(drawing.schema.features)), np.zeros(len(drawing.schema.features))
        self.trees: list[Nested] = []
        self.n_cells: list[int] = []  #: Of every tree drawn so far
        self.parts: list[Part] = []  #: Of the last tree

    def cells_of(self, rows: np.ndarray, tree: int) -> np.ndarray:
        """The cell of each of `rows` (n_rows, n_features) in the last tree."""
        assert tree == len(self.trees) - 1, "trees are drawn in order"
        first, *others = self.parts
        cells = first.cells(rows[:, first.feature])
        for part in others:  # as ravel_multi_index, in narrow numbers
            kind = np.min_scalar_type(self.n_cells[-1])
            cells = cells.astype(kind) * kind.type(part.n_cells) + part.cells(rows[:, part.feature]).astype(kind)
        return cells.astype(np.intp)

    def draw(self, tree: int) -> None:
        """Draw the next tree."""
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
        free = self.features
        for feature in taken:
            free = free[free != feature]
        signal = np.maximum(self.signal[free], 0.0) / np.maximum(self.memory[free], 1.0)
        total = signal.sum()
        follows = total > 0 and self.memory[self.features].all()
        followed = signal / total if follows else np.full(len(free), 1 / len(free))
        chances = (_UNIFORM / len(free) + (1 - _UNIFORM) * followed).cumsum()
        return int(free[min(int(chances.searchsorted(uniform(1, self.source)[0], side="right")), len(free) - 1)])

    def learn(self, noisy: np.ndarray, scale: float) -> None:
        """Take note of the noisy sums of gradients of the last tree, (n_cells, n_scores), whose noise has deviation `scale`."""
        cells = noisy.reshape(*self.shape, -1)
        for axis, feature in enumerate(self.asked):
            sums = cells.sum(axis=tuple(other for other in range(len(self.shape)) if other != axis))
            by_noise = (len(sums) - 1) * noisy.size / len(sums) * scale**2
            found = float(np.square(sums - sums.sum(axis=0) / len(sums)).sum()) - by_noise
            self.signal[feature] = _MEMORY * self.signal[feature] + found
            self.memory[feature] = _MEMORY * self.memory[feature] + 1

    def all(self) -> BoostingTrees:
        """The trees drawn so far."""
        return pack(self.drawing.schema, self.trees)
