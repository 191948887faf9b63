"""DPBoost's trees: every split is chosen by the exponential mechanism over *all* thresholds of the declared ranges at once.

All thresholds between two neighbouring values of a node's rows have the same gain, so the mechanism over a whole range chooses an
interval, weighted by its width, and then a uniform point in it. One category is split from the rest. Every category weighs 1, a
whole number line `numeric_weight`. Nodes without rows are split by weight alone, so every tree is complete.

Source: Kirschte et al. 2023, Algorithms 2 and 3 (gridless); Li, Wu, Wen & He 2020, Theorem 1 (the gain's sensitivity).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.accounting.events import Event
from dpviz.models.boxes import split_features
from dpviz.privacy.selection import ExponentialMechanism
from dpviz.privacy.sensitivity import Sensitivity
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import UniformPoint
from dpviz.table.schema import CategoricalFeature, Feature, Schema
from dpviz.training.boosting.trees import NestedNode, two_sided


@dataclass(frozen=True, eq=False)
class Places:
    """Where one feature can be cut at a node: intervals of equal gain, increasing. All arrays have the shape (n_places,)."""

    #: low, high: thresholds in [low, high) send the same rows left; of categories the code that goes left, and the next one.
    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray  #: Public for a category: 1. Of a number in proportion to width; adds up to `numeric_weight`
    #: first, end: rows first .. end - 1 in sorted order go left, int64. Private.
    first: np.ndarray
    end: np.ndarray


def places(feature: Feature, ordered: np.ndarray, numeric_weight: float = 1.0) -> Places:
    """Cuts of a feature whose values at the node are `ordered` (increasing)."""
    if isinstance(feature, CategoricalFeature):
        codes = np.arange(len(feature.categories))
        first, end = (np.searchsorted(ordered, codes, side=side) for side in ("left", "right"))  # type: ignore[call-overload]
        return Places(codes.astype(np.float64), codes + 1.0, np.ones(len(codes)), first, end)
    bounds = np.concatenate([[feature.low], ordered, [feature.high]]).astype(np.float64)
    width = np.diff(bounds / 2) / (feature.high / 2 - feature.low / 2)  # halves: a range may be as wide as numbers go
    wide = np.flatnonzero(width > 0)
    return Places(bounds[wide], bounds[wide + 1], numeric_weight * width[wide], np.zeros_like(wide), wide)


#: Every cut of every feature that can be split, feature after feature: (places, gains, log weights). Private.
_Offer = tuple[list[Places], np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class GreedyTree:
    """One tree on some rows."""

    schema: Schema
    columns: tuple[np.ndarray, ...]  #: Values of the tree's rows, per feature
    gradients: np.ndarray  #: Shape (n_rows,), at most `clip` in size
    clip: float
    ridge: float  #: Added to every count
    epsilons: tuple[float, ...]  #: For the splits of each level, root first
    numeric_weight: float  #: Of the cuts of a number, all together; one category weighs 1. Public
    source: NoiseSource

    @property
    def sensitivity(self) -> Sensitivity:
        """Of the gain: in the worst case a gradient joins a side full of gradients of the other sign."""
        return Sensitivity(3 * self.clip**2, monotone=False, source="Li et al. 2020, Theorem 1: 3 times the limit squared")

    def tree(self) -> tuple[NestedNode, list[np.ndarray]]:
        """(nested splits with leaves numbered from left to right, the rows of every leaf)."""
        leaves: list[np.ndarray] = []
        return self._node(np.arange(len(self.gradients)), 0, leaves), leaves

    def events(self) -> tuple[Event, ...]:
        """One event per level of splits, because the nodes of a level hold disjoint rows."""
        return tuple(self._mechanism(level, None).event("node", level) for level in range(len(self.epsilons)))

    def _mechanism(self, level: int, log_weights: np.ndarray | None) -> ExponentialMechanism:
        return ExponentialMechanism(self.epsilons[level], self.sensitivity, log_weights)

    def _node(self, rows: np.ndarray, level: int, leaves: list[np.ndarray]) -> NestedNode:
        if level == len(self.epsilons):
            leaves.append(rows)
            return len(leaves) - 1
        feature, cut = self._split(rows, level)
        declared, values = self.schema.features[feature], self.columns[feature][rows]
        left = values == cut if isinstance(declared, CategoricalFeature) else values <= cut
        inside, outside = (self._node(part, level + 1, leaves) for part in (rows[left], rows[~left]))
        return two_sided(declared, feature, cut, inside, outside)

    def _split(self, rows: np.ndarray, level: int) -> tuple[int, float]:
        """(feature, threshold or the code of a category)."""
        cuts_by_feature, gains, log_weights = self._offer(rows) if len(rows) else self._offer_to_nobody
        chosen = self._mechanism(level, log_weights).release(gains, source=self.source, part="node", level=level).value
        ends = np.cumsum([len(cuts.low) for cuts in cuts_by_feature])
        place = int(np.searchsorted(ends, chosen, side="right"))
        cuts = cuts_by_feature[place]
        return self._free[place], self._point(self._free[place], cuts, int(chosen - (ends[place] - len(cuts.low))), level)

    @cached_property
    def _free(self) -> list[int]:
        return split_features(self.schema)

    def _offer(self, rows: np.ndarray) -> _Offer:
        cuts_by_feature, gains = [], []
        for feature in self._free:
            order = rows[np.argsort(self.columns[feature][rows], kind="stable")]
            cuts_by_feature.append(places(self.schema.features[feature], self.columns[feature][order], self.numeric_weight))
            gains.append(self._gains(self.gradients[order], cuts_by_feature[-1]))
        return cuts_by_feature, np.concatenate(gains), np.log(np.concatenate([cuts.weight for cuts in cuts_by_feature]))

    @cached_property
    def _offer_to_nobody(self) -> _Offer:
        """The offer of a node without rows, which is the same for all of them."""
        return self._offer(np.arange(0))

    def _gains(self, gradients: np.ndarray, cuts: Places) -> np.ndarray:
        """(sum left)^2 / (rows left + ridge) + the same on the right; 0 for a side without rows."""
        sums, n_left = np.concatenate([[0.0], np.cumsum(gradients)]), cuts.end - cuts.first
        left, n_right = sums[cuts.end] - sums[cuts.first], len(gradients) - n_left
        right = sums[-1] - left
        return left**2 / np.maximum(n_left + self.ridge, 1e-12) + right**2 / np.maximum(n_right + self.ridge, 1e-12)

    def _point(self, feature: int, cuts: Places, number: int, level: int) -> float:
        declared, low, high = self.schema.features[feature], float(cuts.low[number]), float(cuts.high[number])
        if isinstance(declared, CategoricalFeature):
            return low
        point = UniformPoint().release((low, high), source=self.source, part="node", level=level).value
        inside = min(point, float(np.nextafter(high, low)))
        return float(np.floor(inside)) + 0.5 if declared.whole else inside
