"""The boxes of random trees: what the path to a node has left of every declared range and list of categories.

A box starts as declared and shrinks along the path, so no side is ever empty. Categories and whole numbers lie between codes; a
category that has one child per value is left with one.
"""

import numpy as np

from dpviz.errors import SchemaError
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema


class Boxes:
    """The boxes of many nodes: `low` and `high`, float64 of shape (n_boxes, n_features), as declared at first."""

    def __init__(self, schema: Schema, count: int) -> None:
        self.many = np.array([isinstance(feature, CategoricalFeature) for feature in schema.features])
        self.whole = np.array([is_cut_between(feature) for feature in schema.features])
        self.low, self.high = (np.tile(side, (count, 1)) for side in starting_box(schema))

    @property
    def free(self) -> np.ndarray:
        """Which features can be split: bool of shape (n_boxes, n_features)."""
        return self.high > self.low

    def narrow(self, rows: np.ndarray, feature: np.ndarray, cut: np.ndarray, above: np.ndarray) -> None:
        """Leave of a feature of some boxes what lies on one side of a cut; of a category one value."""
        low, high, many = self.low[rows, feature], self.high[rows, feature], self.many[feature]
        ceiling, floor = (np.where(self.whole[feature], cut + side, cut) for side in (-0.5, 0.5))
        self.high[rows, feature] = np.where(many, low, np.where(above, high, ceiling))
        self.low[rows, feature] = np.where(many, low, np.where(above, floor, low))


def starting_box(schema: Schema) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of every feature at a root: the declared range, whole numbers inside it, or the first and last code."""
    sides = [_side(feature) for feature in schema.features]
    return np.array([low for low, _ in sides]), np.array([high for _, high in sides])


def _side(feature: NumericFeature | CategoricalFeature) -> tuple[float, float]:
    if isinstance(feature, CategoricalFeature):
        return 0.0, float(len(feature.categories) - 1)
    if is_cut_between(feature):
        return float(np.ceil(feature.low)), float(np.floor(feature.high))
    return feature.low, feature.high


def is_cut_between(feature: NumericFeature | CategoricalFeature) -> bool:
    """True for whole numbers that doubles can distinguish: thresholds lie between two of them."""
    return isinstance(feature, NumericFeature) and feature.whole and feature.high - feature.low < 2**53


def split_features(schema: Schema) -> list[int]:
    """The places of the features that can be split. Raises SchemaError without any."""
    low, high = starting_box(schema)
    if not (high > low).any():
        raise SchemaError(
            "No feature can be split: every feature has a single category.",
            remedy="Declare at least one feature with a range or with two categories.",
        )
    return np.flatnonzero(high > low).tolist()


def nth_free(free: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Position of the place-th (from 0) True in each row of `free`, shape (n_rows, n_features)."""
    return (free.cumsum(axis=1) == place[:, None] + 1).argmax(axis=1)
