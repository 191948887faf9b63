"""`open_table`: rows in DuckDB, PostgreSQL or Spark, to train on where they are; and rows that leave them.

Those are predicted, with a column that tells them apart, or looked at on the Data page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dpviz.engines.address import Address, parse_address
from dpviz.errors import EngineError, TableError
from dpviz.installation import require_extra
from dpviz.table.schema import Schema, require_no_persons

if TYPE_CHECKING:
    import pyarrow as pa

    from dpviz.engines.rows import EngineRows

#: Packages of each engine; the extra has the engine's name.
_PACKAGES = {
    "duckdb": ("duckdb", "sqlglot"),
    "postgresql": ("adbc_driver_postgresql", "pyarrow", "sqlglot"),
    "spark": ("pyspark", "sqlglot"),
}


def open_table(address: str, schema: Schema) -> EngineRows:
    """Rows that an engine counts, for `fit`: only counts leave it. Close them, or use `with`.

    >>> with dpviz.open_table("postgresql://clinic.example/records?table=visits", schema) as rows:
    ...     result = dpviz.fit("pf-tree", rows, epsilon=0.5)

    Nothing is read before `fit` asks for a count, and what cannot be counted is refused before that. Columns have types: numbers
    in a column of text are refused. A view is read as it is: each of its rows must come from one row of the data.

    Parameters
    ----------
    address : str
        postgresql://user@host:port/database?table=NAME, duckdb:///path/of/the/file?table=NAME or spark:///?table=NAME, where NAME
        may be schema.table. Without a password: PostgreSQL's own password file, service file and PG* variables are used, and
        Spark's own configuration. `&order=COLUMN` numbers the rows by a column, so that a seed gives the same tree as for a file
        in this order; otherwise they are numbered as they are stored.
    schema : Schema
        Public, and declared before anything is read.

    Raises
    ------
    EngineError
        The address is wrong or holds a password; the engine cannot be reached, or has no such table.
    SchemaError
        The table lacks a column, or a column's type cannot be read as the schema says; the schema has a person's column, for rows
        of persons are not limited here.
    MissingExtra
        The engine's driver is not installed.
    """
    found = parse_address(address)
    require_no_persons(schema)
    require_driver(found)
    from dpviz.engines.rows import open_rows

    return open_rows(found, schema)


def require_driver(address: Address) -> None:
    """Raise MissingExtra where the driver of the address's engine is not installed."""
    require_extra(address.engine, "A table in an engine", *_PACKAGES[address.engine])


def read_rows(address: str, columns: Sequence[str]) -> Iterator[tuple[pa.Array, pa.RecordBatch]]:
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
        yield batch.column(found.order), batch.select(list(columns))


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
