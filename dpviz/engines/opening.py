"""`open_table`: rows in DuckDB, PostgreSQL or Spark, to train on where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpviz.engines.address import Address, parse_address
from dpviz.installation import require_extra
from dpviz.table.schema import Schema

if TYPE_CHECKING:
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
        The table lacks a column, or a column's type cannot be read as the schema says.
    MissingExtra
        The engine's driver is not installed.
    """
    found = parse_address(address)
    require_driver(found)
    from dpviz.engines.rows import open_rows

    return open_rows(found, schema)


def require_driver(address: Address) -> None:
    """Raise MissingExtra where the driver of the address's engine is not installed."""
    require_extra(address.engine, "A table in an engine", *_PACKAGES[address.engine])
