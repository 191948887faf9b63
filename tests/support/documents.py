"""The rows behind the golden documents."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

FOLDER = Path(__file__).resolve().parents[1] / "golden"
SCHEMA = Schema(
    (
        NumericFeature("age", 18, 90, unit="years", whole=True),
        NumericFeature("dose", 0, 2.5, unit="mg", missing_as=0),
        CategoricalFeature("ward", ("north", "south", "east & west"), unknown_as="north"),
    ),
    ClassTarget("outcome", ("well", "ill")),
    n_public=60,
)


def rows() -> EncodedDataset:
    """Sixty rows written as arithmetic, so that no generator's version matters."""
    place = np.arange(60)
    age = (18 + place * 7 % 73).astype(np.int16)
    dose = (place * 11 % 26) / 10.0
    ward = (place * 5 % 3).astype(np.uint8)
    ill = (age > 55) ^ (place % 9 == 0) | (ward == 2) & (dose > 1.8)
    return EncodedDataset(SCHEMA, (age, dose, ward), ill.astype(np.uint8))
