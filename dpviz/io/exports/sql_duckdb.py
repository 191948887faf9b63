"""SQL CASE for DuckDB, checked in DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from importlib.metadata import version

from dpviz.io.exports.contract import Content, Exportable, Target
from dpviz.io.exports.golden import Row
from dpviz.io.exports.sql import TABLE, Dialect, identifier, select
from dpviz.table.schema import CategoricalFeature, Schema

_LONG = 20_000


def _number(value: float) -> str:
    """With an exponent: DuckDB reads 0.1 as a decimal number and 0.1e0 as the floating-point number that a column holds."""
    written = repr(value)
    return written if "e" in written else f"{written}e0"


def _write(given: Exportable) -> str:
    """DuckDB's optimizer takes seconds to minutes over a statement of a hundred trees, for nothing."""
    content = select(given, Dialect(_number))
    return f"-- Long: after PRAGMA disable_optimizer it starts at once.\n{content}" if len(content) > _LONG else content


def _run(content: Content, schema: Schema, rows: Sequence[Row]) -> list[str | float]:
    import duckdb

    assert isinstance(content, str)
    kinds = ["VARCHAR" if isinstance(feature, CategoricalFeature) else "DOUBLE" for feature in schema.features]
    columns = ", ".join(f"{identifier(name)} {kind}" for name, kind in zip(schema.feature_names, kinds, strict=True))
    with closing(duckdb.connect(":memory:")) as base:
        base.execute("SET threads = 1")
        if len(content) > _LONG:
            base.execute("PRAGMA disable_optimizer")
        base.execute(f"CREATE TABLE {TABLE} ({columns})")
        _insert(base, rows, len(kinds))
        return [answer for (answer,) in base.execute(content).fetchall()]


def _insert(base: object, rows: Sequence[Row], width: int) -> None:
    """A hundred rows per statement: DuckDB plans each statement anew, and one statement for all is slow to bind."""
    for start in range(0, len(rows), 100):
        part = rows[start : start + 100]
        places = ", ".join([f"({', '.join('?' * width)})"] * len(part))
        base.execute(f"INSERT INTO {TABLE} VALUES {places}", [cell for row in part for cell in row])  # type: ignore[attr-defined]


TARGET = Target(
    name="duckdb",
    title="SQL for DuckDB",
    suffix=".sql",
    mime="application/sql",
    about="One SELECT with CASE. Missing: NULL.",
    write=_write,
    run=_run,
    ran_in=lambda: f"DuckDB {version('duckdb')}",
    language="sql",
    needs=("duckdb",),
    extra="duckdb",
    most_ends=25_000,
    order=31,
)
