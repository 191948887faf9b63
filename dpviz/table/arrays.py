"""Columns of arrays to encoded rows, each row by itself; NaN stands for a cell that is no number or is not declared."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpviz.errors import RowsError
from dpviz.table.cells import Declared, clean, text_of
from dpviz.table.dataset import EncodedDataset, EncodingReport
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema, Target


def usable_rows(schema: Schema, values: list[np.ndarray], *, refuse: bool) -> EncodedDataset:
    """The rows without a NaN, each by itself, numbers clipped into the declared range; the target comes last.

    With `refuse`, raises RowsError if there are others.
    """
    declared = (*schema.features, schema.target)
    unusable = np.isnan(values)
    kept = np.logical_not(unusable.any(axis=0))
    if refuse and not kept.all():
        first = declared[int(unusable.any(axis=1).argmax())]
        what = f"The column {first.name!r} has a value that is not declared."
        raise RowsError("undeclared", what, remedy="Declare it, or leave such rows out.")
    used = [value[kept] for value in values]
    clipped = [_clipped(column, value) for column, value in zip(declared, used, strict=True)]
    unchanged = np.logical_and.reduce([value == before for value, before in zip(clipped, used, strict=True)])
    columns: list[np.ndarray] = [value.astype(_dtype_of(column)) for column, value in zip(declared, clipped, strict=True)]
    of_columns = np.bincount(unusable.argmax(axis=0)[~kept], minlength=len(declared)).tolist()  # a row counts for the first
    dropped = tuple((column.name, count) for column, count in zip(declared, of_columns, strict=True) if count)
    report = EncodingReport(len(kept), int(kept.sum()), dropped_unknown=dropped, unchanged=int(unchanged.sum()))
    return EncodedDataset(schema, tuple(columns[:-1]), columns[-1], report)


def _clipped(column: Feature | Target, values: np.ndarray) -> np.ndarray:
    return np.clip(values, column.low, column.high) if isinstance(column, (NumericFeature, NumericTarget)) else values


def _dtype_of(column: Feature | Target) -> type:
    if isinstance(column, CategoricalFeature):
        return np.uint16
    return np.uint8 if isinstance(column, ClassTarget) else np.float64


def codes_of(values: np.ndarray, known: Sequence[Any]) -> np.ndarray:
    """Position of every value in `known`, float64; NaN where it is none of them.

    A value is the one that it equals (1, 1.0 and True are equal), else the one whose text it has (`dpviz.table.cells.Declared`).
    """
    code: dict[Any, float] = {_named(value): place for place, value in enumerate(known)}
    declared = Declared({text_of(value): place for place, value in enumerate(known)})

    def of(value: Any) -> float:
        if _is_plain(value) and value in code:
            return code[value]
        place = int(declared.find([clean(text_of(value))])[0])
        return np.nan if place < 0 else place

    return np.array([*map(of, map(_named, values.tolist()))], dtype=np.float64)


def with_named_moments(rows: Any) -> Any:
    """A frame or an array with texts for moments and seconds for durations, which scikit-learn would read by their units."""
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "mM":
        return rows / np.timedelta64(1, "s") if rows.dtype.kind == "m" else rows.astype(str)
    if hasattr(rows, "iloc") and hasattr(rows, "isetitem"):
        found = rows.copy(deep=False)
        for place, kind in enumerate(rows.dtypes):
            if getattr(kind, "kind", "") in ("m", "M"):
                found.isetitem(place, rows.iloc[:, place].astype(object).map(_named))
            elif not isinstance(kind, np.dtype) and getattr(kind, "kind", "") == "O":  # scikit-learn tries numbers beside others
                found.isetitem(place, rows.iloc[:, place].astype(object))
        return found
    if hasattr(rows, "with_columns") and hasattr(rows, "iter_columns"):
        moments = [column for column in rows.iter_columns() if column.dtype.is_temporal()]
        return rows.with_columns(type(column)(column.name, list(map(_named, column.to_list()))) for column in moments)
    return rows


def _named(value: Any) -> Any:
    """A day or a moment as readers of files write it, as its clock shows it, a duration as seconds; anything else as it is."""
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if not isinstance(value, dt.date) or value != value:
        return value
    return text_of(value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value)


def _is_plain(value: Any) -> bool:
    """Whether it can be looked up: a list cannot, nor a tuple that holds one."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def numbers_of(values: np.ndarray) -> np.ndarray:
    """As float64, a duration as its seconds; NaN where a cell is no number."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64) + 0.0
    if values.dtype.kind in "mM":
        return values / np.timedelta64(1, "s") if values.dtype.kind == "m" else np.full(values.shape, np.nan)
    return np.array([_number(value) for value in values.tolist()], dtype=np.float64) + 0.0


def _number(value: Any) -> float:
    try:
        if isinstance(value, (dt.timedelta, np.timedelta64)):
            return value / np.timedelta64(1, "s")
        return float(value)
    except OverflowError:  # a whole number of more than 308 digits
        return np.inf if value > 0 else -np.inf
    except (TypeError, ValueError):
        return np.nan


def texts_of(values: Sequence[Any] | np.ndarray) -> tuple[str, ...]:
    """A name for each value; numbered where two would be alike or one has none."""
    texts = [str(_named(value)) for value in values]
    if len(set(texts)) == len(texts) and all(text.strip() for text in texts):
        return tuple(texts)
    return tuple(f"{place}: {text}" for place, text in enumerate(texts))
