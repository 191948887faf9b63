"""Columns of arrays to encoded rows, each row by itself; NaN stands for a cell that is no number or is not declared."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, Schema, Target


def usable_rows(schema: Schema, values: list[np.ndarray], *, refuse: bool) -> EncodedDataset:
    """The rows without a NaN, each by itself; with `refuse`, ValueError if there are others. The target comes last."""
    declared = (*schema.features, schema.target)
    unusable = np.isnan(values)
    kept = ~unusable.any(axis=0)
    if refuse and not kept.all():
        first = declared[int(unusable.any(axis=1).argmax())]
        raise ValueError(f"The column {first.name!r} has a value that is not declared.")
    columns: list[np.ndarray] = [value[kept].astype(_dtype_of(column)) for column, value in zip(declared, values, strict=True)]
    return EncodedDataset(schema, tuple(columns[:-1]), columns[-1])


def _dtype_of(column: Feature | Target) -> type:
    if isinstance(column, CategoricalFeature):
        return np.uint16
    return np.uint8 if isinstance(column, ClassTarget) else np.float64


def codes_of(values: np.ndarray, known: Sequence[Any]) -> np.ndarray:
    """Position of every value in `known`, float64; NaN where it is none of them."""
    code = {value: place for place, value in enumerate(known)}
    return np.array([code.get(value, np.nan) for value in values.tolist()], dtype=np.float64)


def numbers_of(values: np.ndarray) -> np.ndarray:
    """As float64; NaN where a cell is no number."""
    try:
        return values.astype(np.float64) + 0.0
    except (TypeError, ValueError):
        return np.array([_number(value) for value in values.tolist()], dtype=np.float64)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def texts_of(values: Sequence[Any] | np.ndarray) -> tuple[str, ...]:
    """A name for each value; numbered where two would be alike or one has none."""
    texts = [str(value) for value in values]
    if len(set(texts)) == len(texts) and all(text.strip() for text in texts):
        return tuple(texts)
    return tuple(f"{place}: {text}" for place, text in enumerate(texts))
