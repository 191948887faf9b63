"""Small tables on which every learner must keep every promise."""

from __future__ import annotations

import numpy as np

from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

NUMBERS = (NumericFeature("height", -2.5, 7.5, unit="m"), NumericFeature("age", 0, 90, whole=True))
CATEGORIES = (
    CategoricalFeature("colour", ("red", "green", "blue", "grey")),
    CategoricalFeature("town", tuple(f"t{i}" for i in range(12))),
)
FEATURES = {"numbers": NUMBERS, "categories": CATEGORIES, "mixed": (NUMBERS[0], CATEGORIES[0], NUMBERS[1], CATEGORIES[1])}
HOSTILE = ('a"b\\', "<script>alert(1)</script>", "leaf", "ünï\ncödé 🌳\t", " spaced ", "{}[],:", "null", "-1")


def schema_of(kind: str = "mixed", n_classes: int = 2, n_public: int | None = 200) -> Schema:
    """A declared schema; `kind` is a key of FEATURES."""
    return Schema(FEATURES[kind], ClassTarget("y", tuple(f"c{k}" for k in range(n_classes))), n_public=n_public)


def table(schema: Schema, n_rows: int = 120, seed: int = 5) -> EncodedDataset:
    """Rows with a signal: the class leans on the first feature."""
    rng = np.random.default_rng(seed)
    columns = tuple(column_of(feature, n_rows, rng) for feature in schema.features)
    first = columns[0].astype(float)
    rank = first.argsort(kind="stable").argsort(kind="stable") * len(schema.classes) // max(n_rows, 1)
    noise = rng.integers(0, len(schema.classes), n_rows)
    target = np.where(rng.random(n_rows) < 0.75, rank, noise).astype(np.uint8)
    return EncodedDataset(schema, columns, target)


def column_of(feature, n_rows: int, rng) -> np.ndarray:
    """Random values of one feature, in the type that encoding gives."""
    if isinstance(feature, CategoricalFeature):
        return rng.integers(0, len(feature.categories), n_rows).astype(np.uint8)
    if feature.whole:
        return rng.integers(int(feature.low), int(feature.high) + 1, n_rows).astype(np.int16)
    return rng.uniform(feature.low, feature.high, n_rows)


def hostile_schema() -> Schema:
    """Names that would break a careless writer."""
    features = (NumericFeature(HOSTILE[0], 0, 1), CategoricalFeature(HOSTILE[1], HOSTILE), NumericFeature(HOSTILE[3], -1e6, 1e6))
    return Schema(features, ClassTarget("y\u2028", (HOSTILE[2], HOSTILE[6])), n_public=100)


def schema_with(numbers: int, sizes: tuple[int, ...], n_classes: int = 2, n_public: int | None = None) -> Schema:
    """So many numbers, and a category of each size."""
    features = [NumericFeature(f"n{i}", 0, 1) for i in range(numbers)]
    features += [CategoricalFeature(f"c{i}", tuple(f"v{k}" for k in range(size))) for i, size in enumerate(sizes)]
    return Schema(tuple(features), ClassTarget("y", tuple(f"k{k}" for k in range(n_classes))), n_public=n_public)


def reordered(data: EncodedDataset, order: np.ndarray) -> EncodedDataset:
    """The same rows in another order."""
    return EncodedDataset(data.schema, tuple(column[order] for column in data.columns), data.target[order])
