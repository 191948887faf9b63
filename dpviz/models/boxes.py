"""The boxes of random trees: what the path to a node has left of every declared range and list of categories, and the splits
that are drawn in them.

A box starts as declared and shrinks along the path, so no side is ever empty. Categories and whole numbers lie between codes; a
category that has one child per value is left with one.

A split looks at its box alone. So it has one law, whether the nodes of a level are drawn together or a node is drawn when a row
meets it.
"""

import numpy as np

from dpviz.errors import SchemaError
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import UniformChoice, UniformPoint
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema


class Boxes:
    """The boxes of many nodes: `low` and `high`, float64 of shape (n_boxes, n_features), as declared at first.

    A category has one child per value; `in_order`: it is cut like a whole number, by the place of a value in its list.
    """

    def __init__(self, schema: Schema, count: int, *, in_order: bool = False) -> None:
        are_categories = np.array([isinstance(feature, CategoricalFeature) for feature in schema.features])
        self.many = are_categories & (not in_order)
        self.whole = np.array([_is_cut_between(feature) for feature in schema.features]) | (are_categories & in_order)
        self.low, self.high = (np.tile(side, (count, 1)) for side in _starting_box(schema))

    @property
    def free(self) -> np.ndarray:
        """Which features can be split: bool of shape (n_boxes, n_features)."""
        return self.high > self.low

    def split(self, source: NoiseSource, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Feature and cut of every box, int16 and float64 of shape (n_boxes,): -1 and NaN where nothing can be split.

        A feature is drawn among those that can, uniformly or by whole `weights`, shape (n_features,). Its cut is a uniform point
        of what is left, for whole numbers between two of them; NaN for a category with one child per value. Every box has a draw
        of its own of each kind, of one outcome where it needs none.
        """
        ends = (self.free if weights is None else self.free * weights).cumsum(axis=1)
        can = ends[:, -1] > 0
        drawn = UniformChoice().choose(np.maximum(ends[:, -1], 1), source=source)
        feature = np.where(can, (ends > drawn[:, None]).argmax(axis=1), -1)
        low, high = (side[np.arange(len(feature)), feature] for side in (self.low, self.high))
        whole, real = can & self.whole[feature], can & ~(self.whole | self.many)[feature]
        cut = np.full(len(feature), np.nan)
        if whole.any():
            counts = np.where(whole, high - low, 1).astype(np.int64)
            cut = np.where(whole, low + 0.5 + UniformChoice().choose(counts, source=source), cut)
        if real.any():
            points = UniformPoint().choose(np.where(real, low, 0.0), np.where(real, high, 0.0), source=source)
            cut = np.where(real, points, cut)
        return feature.astype(np.int16), cut

    def narrow(self, rows: np.ndarray, feature: np.ndarray, cut: np.ndarray, above: np.ndarray) -> None:
        """Leave of a feature of some boxes what lies on one side of a cut; of a category one value."""
        low, high, many = self.low[rows, feature], self.high[rows, feature], self.many[feature]
        ceiling, floor = (np.where(self.whole[feature], cut + side, cut) for side in (-0.5, 0.5))
        self.high[rows, feature] = np.where(many, low, np.where(above, high, ceiling))
        self.low[rows, feature] = np.where(many, low, np.where(above, floor, low))


def _starting_box(schema: Schema) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of every feature at a root: the declared range, whole numbers inside it, or the first and last code."""
    sides = [_side(feature) for feature in schema.features]
    return np.array([low for low, _ in sides]), np.array([high for _, high in sides])


def _side(feature: NumericFeature | CategoricalFeature) -> tuple[float, float]:
    if isinstance(feature, CategoricalFeature):
        return 0.0, float(len(feature.categories) - 1)
    if _is_cut_between(feature):
        return float(np.ceil(feature.low)), float(np.floor(feature.high))
    return feature.low, feature.high


def _is_cut_between(feature: NumericFeature | CategoricalFeature) -> bool:
    """True for whole numbers that doubles can distinguish: thresholds lie between two of them."""
    return isinstance(feature, NumericFeature) and feature.whole and feature.high - feature.low < 2**53


def split_features(schema: Schema) -> list[int]:
    """The places of the features that can be split. Raises SchemaError without any."""
    low, high = _starting_box(schema)
    if not (high > low).any():
        raise SchemaError(
            "No feature can be split: every feature has a single category.",
            remedy="Declare at least one feature with a range or with two categories.",
        )
    return np.flatnonzero(high > low).tolist()
