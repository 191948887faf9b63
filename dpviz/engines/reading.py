"""Rows that leave an engine, to be predicted: cells of the columns that are asked for, and of one that tells the rows apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dpviz.engines.address import parse_address
from dpviz.engines.opening import require_driver
from dpviz.errors import EngineError
from dpviz.installation import require_extra

if TYPE_CHECKING:
    import pyarrow as pa


def read_rows(address: str, columns: Sequence[str]) -> Iterator[tuple[list[object], pa.RecordBatch]]:
    """(what the column named behind `order=` holds, the columns) of every row, in this column's order, some rows at a time.

    Nothing is kept of the rows here. Raises EngineError, SchemaError or MissingExtra: before a row is read, but for failures.
    """
    found = parse_address(address)
    if not found.order:
        what = "A table in an engine has no lines, so a column must say which answer is whose."
        raise EngineError("order", what, remedy="Name one that tells the rows apart, such as a key: &order=COLUMN.")
    require_driver(found)
    require_extra("tables", "Reading rows of an engine", "pyarrow")
    import pyarrow as pa

    from dpviz.engines.rows import connect, kinds_of
    from dpviz.engines.statements import reading

    connection = connect(found)
    try:
        kinds = kinds_of(connection, found.table, dict.fromkeys((*columns, found.order)), found.order)
        yield [], pa.RecordBatch.from_pydict({name: pa.nulls(0) for name in columns})  # also a table without rows has columns
        for batch in connection.batches(reading(found.table, kinds, found.order)):
            yield batch.column(found.order).to_pylist(), batch.select(list(columns))
    finally:
        connection.close()
