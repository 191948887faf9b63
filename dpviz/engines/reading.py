"""Rows that leave an engine: to be predicted, with a column that tells them apart, or to be looked at on the Data page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dpviz.engines.address import Address, parse_address
from dpviz.engines.opening import require_driver
from dpviz.errors import EngineError, TableError
from dpviz.installation import require_extra

if TYPE_CHECKING:
    import pyarrow as pa


def read_rows(address: str, columns: Sequence[str]) -> Iterator[tuple[list[object], pa.RecordBatch]]:
    """(what the column named behind `order=` holds, the columns) of every row, in this column's order, some rows at a time.

    Nothing is kept of the rows here. Raises EngineError, SchemaError or MissingExtra: before a row is read, but for failures and
    for a key that is missing or stands in two rows.
    """
    found = parse_address(address)
    if not found.order:
        what = "A table in an engine has no lines, so a column must say which answer is whose."
        raise EngineError("order", what, remedy="Name one that tells the rows apart, such as a key: &order=COLUMN.")
    wanted = tuple(dict.fromkeys((*columns, found.order)))
    last: list[object] = [None]
    for _, batch in _read(found, wanted, None):
        keys = batch.column(found.order).to_pylist()
        if any(key is None or key != key or key == before for before, key in zip(last + keys, keys, strict=False)):
            what = "A row has no key, or two rows have the same, so nobody could tell which answer is whose."
            raise EngineError("order", what, remedy="Name a column that is different in every row: &order=COLUMN.")
        last = keys[-1:] or last
        yield keys, batch.select(list(columns))


def read_columns(address: str, most_rows: int) -> Iterator[tuple[float, pa.RecordBatch]]:
    """(share of the rows before these, some rows), with all columns of types that are read; at first no rows, with the columns.

    Raises as `read_rows`, and TableError where there are more rows than may be read.
    """
    return _read(parse_address(address), None, most_rows)


def _read(address: Address, columns: Sequence[str] | None, most_rows: int | None) -> Iterator[tuple[float, pa.RecordBatch]]:
    require_driver(address)
    require_extra("tables", "Reading rows of an engine", "pyarrow")
    import pyarrow as pa

    from dpviz.engines.rows import connect, kinds_of
    from dpviz.engines.statements import reading, table_rows

    connection = connect(address)
    try:
        kinds = kinds_of(connection, address.table, columns, address.order)
        ((n_rows,),) = [(0,)] if most_rows is None else connection.rows(table_rows(address.table))
        if most_rows is not None and n_rows > most_rows:
            what = f"The table has more than {most_rows:,} rows, the most for this machine's memory."
            raise TableError("too-many-rows", what, remedy="Train where its rows are: dpviz train ADDRESS --schema FILE.")
        done = 0
        yield 0.0, pa.RecordBatch.from_pydict({name: pa.nulls(0) for name in kinds})  # also a table without rows has columns
        for batch in connection.batches(reading(address.table, kinds, address.order)):
            yield min(done / max(n_rows, 1), 1.0), batch
            done += batch.num_rows
    finally:
        connection.close()
