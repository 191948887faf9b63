"""Prices that follow three features, and the same rows with classes in place of the price."""

from __future__ import annotations

import numpy as np

from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

NUMBER = Schema(
    (NumericFeature("x", 0, 1), NumericFeature("z", 0, 1), CategoricalFeature("c", ("a", "b", "c"))),
    NumericTarget("price", -20, 60),
    n_public=2000,
)


def prices(n_rows: int = 2000, seed: int = 1) -> EncodedDataset:
    rng = np.random.default_rng(seed)
    x, z, c = rng.random(n_rows), rng.random(n_rows), rng.integers(0, 3, n_rows).astype(np.uint8)
    return EncodedDataset(NUMBER, (x, z, c), 20 * x - 10 * (z > 0.4) + 5.0 * c + 10 * x * z + rng.normal(0, 1, n_rows))


def classes(n_rows: int = 2000, n_classes: int = 2, seed: int = 1) -> EncodedDataset:
    data = prices(n_rows, seed)
    target = ClassTarget("dear", tuple(f"k{k}" for k in range(n_classes)))
    cuts = np.quantile(data.target, np.arange(1, n_classes) / n_classes)
    codes = np.searchsorted(cuts, data.target).astype(np.uint8)
    return EncodedDataset(Schema(NUMBER.features, target, n_public=2000), data.columns, codes)
