"""SQL CASE for SQLite, checked in the SQLite that Python brings."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import lru_cache

from dpviz.io.exports.contract import Content, Target
from dpviz.io.exports.golden import Row
from dpviz.io.exports.sql import TABLE, Dialect, identifier, is_short, quotient, select
from dpviz.table.schema import CategoricalFeature, Schema


@lru_cache(maxsize=65_536)
def _number(value: float) -> str:
    """SQLite misreads about one in a thousand numbers of 17 digits by a last bit; those are written as a quotient."""
    written = repr(value)
    return written if is_short(value) or _read(written) == value else quotient(value)


def _read(written: str) -> float:
    with closing(sqlite3.connect(":memory:")) as base:
        return base.execute(f"SELECT {written}").fetchone()[0]


def _run(content: Content, schema: Schema, rows: Sequence[Row]) -> list[str | float]:
    assert isinstance(content, str)
    kinds = ["TEXT" if isinstance(feature, CategoricalFeature) else "REAL" for feature in schema.features]
    columns = ", ".join(f"{identifier(name)} {kind}" for name, kind in zip(schema.feature_names, kinds, strict=True))
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"CREATE TABLE {TABLE} ({columns})")
        base.executemany(f"INSERT INTO {TABLE} VALUES ({', '.join('?' * len(kinds))})", rows)
        return [answer for (answer,) in base.execute(content)]


TARGET = Target(
    name="sqlite",
    title="SQL for SQLite",
    suffix=".sql",
    mime="application/sql",
    about="One SELECT with CASE. Missing: NULL.",
    write=lambda given: select(given, Dialect(_number)),
    run=_run,
    ran_in=lambda: f"SQLite {sqlite3.sqlite_version}",
    language="sql",
    most_ends=25_000,
    order=30,
)
