"""Rows with a number to predict, some of which follow two features, and rows of either target."""

import numpy as np

from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, NumericTarget, Schema
from tests.support.tables import FEATURES, column_of, schema_of, table

SLOPE_AND_STEP = Schema((NumericFeature("x", 0, 1), NumericFeature("z", 0, 1)), NumericTarget("y", 10, 30), n_public=400)


def schema_of_numbers(kind: str = "mixed", n_public: int | None = 200) -> Schema:
    return Schema(FEATURES[kind], NumericTarget("rent", -10, 90), n_public=n_public)


def rows(schema: Schema, n_rows: int = 120, seed: int = 5) -> EncodedDataset:
    """Rows with a signal: the number leans on the first feature."""
    rng = np.random.default_rng(seed)
    columns = tuple(column_of(feature, n_rows, rng) for feature in schema.features)
    rank = columns[0].argsort(kind="stable").argsort(kind="stable") / max(n_rows, 1)
    return EncodedDataset(schema, columns, np.clip(80 * rank + 6 * rng.standard_normal(n_rows), -10, 90))


def slope_and_step(n_rows: int = 400, seed: int = 3) -> EncodedDataset:
    """The number rises with x, and jumps in z."""
    rng = np.random.default_rng(seed)
    x, z = rng.random(n_rows), rng.random(n_rows)
    return EncodedDataset(SLOPE_AND_STEP, (x, z), 10 + 12 * x + 8 * (z > 0.6))


def rows_of(kind: str, n_classes: int, n_rows: int, seed: int = 5) -> EncodedDataset:
    """Rows of so many classes; of 0 classes: with a number to predict."""
    return table(schema_of(kind, n_classes), n_rows, seed) if n_classes else rows(schema_of_numbers(kind), n_rows, seed)
