"""Rows to be predicted: a DataFrame, a table, or whatever a reader registers with `table_of`; their target is not needed."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from dpviz.errors import ParameterError
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import all_prepared, encoded_columns
from dpviz.table.raw import MISSING_MARKS, NumberColumn, RawColumn, RawTable
from dpviz.table.schema import Schema


@singledispatch
def table_of(rows: Any, names: Sequence[str]) -> RawTable:
    """The table of `rows`, one row each, in order; columns that are not in `names` may be left out.

    Takes a DataFrame of pandas or a RawTable; `dpviz.io.tables.read` adds paths, bytes and files. Raises ParameterError for
    anything else, and what a reader raises.
    """
    if not (hasattr(rows, "iloc") and hasattr(rows, "columns")):
        allowed = "a DataFrame, a table from read_table, or the path or bytes of a file (for encoded rows: result.model.predict)"
        raise ParameterError("predict", "rows", type(rows).__name__, allowed)
    wanted = frozenset(names)
    columns = {str(name): rows.iloc[:, place] for place, name in enumerate(rows.columns) if str(name) in wanted}
    return RawTable(tuple(_column(name, values) for name, values in columns.items()), "The DataFrame")


@table_of.register
def _(rows: RawTable, names: Sequence[str]) -> RawTable:
    return rows


def _column(name: str, values: Any) -> RawColumn:
    if values.dtype.kind in "iuf":
        return NumberColumn(name, values.to_numpy(np.float64, na_value=np.nan))
    codes, distinct = values.factorize()
    texts = [str(value).strip() for value in distinct]
    known = {text: place for place, text in enumerate(dict.fromkeys(texts)) if text not in MISSING_MARKS}
    code_of = np.array([*(known.get(text, -1) for text in texts), -1], dtype=np.int32)
    return RawColumn(name, tuple(dict.fromkeys(texts)), code_of[codes])


def encode_new(table: RawTable, schema: Schema) -> tuple[EncodedDataset, np.ndarray]:
    """(the rows that `schema` can use, whose target is 0; bool per record of `table`: which records these are).

    No column for the target is needed. Records that the reader left out count as ones that cannot be used.

    Raises SchemaError where a feature of the schema is not in the table.
    """
    columns = all_prepared(table, schema.features)
    kept = np.ones(table.n_rows, dtype=bool)
    for column in columns:
        column.drop(kept)
    encoded, _, _ = encoded_columns(columns, kept)
    usable = np.ones(table.n_rows + len(table.left_out), dtype=bool)
    usable[list(table.left_out)] = False
    usable[usable] = kept
    return EncodedDataset(schema, tuple(encoded), np.zeros(int(kept.sum()), dtype=np.uint8)), usable
