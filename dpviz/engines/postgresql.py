"""Counting on a PostgreSQL server, in temporary tables of one session, which end with it, however it ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
from sqlglot.expressions import Expression

from dpviz.engines.address import Address
from dpviz.engines.connection import SQLConnection, asked, in_our_words, new_name
from dpviz.engines.expressions import Words
from dpviz.engines.kinds import ColumnKind
from dpviz.engines.statements import blocks, written

_KINDS = {
    "smallint": ColumnKind.signed(16),
    "integer": ColumnKind.signed(32),
    "bigint": ColumnKind.signed(64),
    "real": ColumnKind("single"),
    "double precision": ColumnKind("double"),
    "text": ColumnKind("text"),
    "character varying": ColumnKind("text"),
    "character": ColumnKind("text"),
    "boolean": ColumnKind("boolean"),
    "date": ColumnKind("date"),
}
_COLUMNS = """
SELECT a.attname::text, format_type(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, NULL), a.atttypmod
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
#: Rows come in the order in which they are stored; texts are read as the standard says; dates are ISO dates. With 512 MB
#: (here in kB) of memory groups are hashed; the planner knows nothing of how few bins there are, and would sort: twice the time.
_SETTINGS = {
    "jit": "off",
    "work_mem": "524288",
    "max_parallel_workers_per_gather": "0",
    "synchronize_seqscans": "off",
    "standard_conforming_strings": "on",
    "client_min_messages": "error",
}


class PostgreSQL(SQLConnection):
    """A session on a PostgreSQL server."""

    words: ClassVar = Words("postgres", "ISODOW", "C")
    temporary: ClassVar = "pg_temp"
    fence: ClassVar = " OFFSET 0"  # or every use of a bin would find it anew

    def __init__(self, address: Address) -> None:
        from adbc_driver_postgresql import dbapi

        self._lost = (dbapi.OperationalError, dbapi.InterfaceError)
        given = {"user": address.user, "host": address.host, "port": address.port, "dbname": address.database}
        given |= {"application_name": "dpviz", "client_encoding": "utf8"}
        wanted = " ".join(f"{name}={_quoted(str(value))}" for name, value in given.items() if value)
        with in_our_words("PostgreSQL", *self._lost):
            self._base = dbapi.connect(wanted, autocommit=True)
        for name, value in _SETTINGS.items():
            self._execute(f"SET {name} = {value}")

    def kinds(self, table: Sequence[str]) -> dict[str, ColumnKind | str]:
        """Types of the columns."""
        name = ".".join('"' + part.replace('"', '""') + '"' for part in table)
        return {column: _kind(kind, modifier) for column, kind, modifier in self._execute(_COLUMNS, [name])}

    def _make_assignment(self, parts: np.ndarray) -> str:
        """Copied, not written into a statement, so that no log holds them."""
        import pyarrow as pa

        assignment = new_name()
        first, digits = zip(*blocks(parts), strict=True) if len(parts) else ((), ())
        filled = pa.table({"first": pa.array(first, pa.int64()), "parts": pa.array(digits, pa.string())})
        with in_our_words("PostgreSQL", *self._lost), self._base.cursor() as cursor:
            cursor.adbc_ingest(assignment, filled, mode="create", temporary=True)
        return assignment

    def _execute(self, statement: str, parameters: list[Any] | None = None) -> list[Any]:
        with in_our_words("PostgreSQL", *self._lost), self._base.cursor() as cursor:
            asked(lambda: cursor.execute(statement, parameters), cursor.adbc_cancel)
            return cursor.fetchall() if cursor.description else []

    def columns(self, statement: str | Expression) -> Sequence[np.ndarray]:
        """Whole numbers, as arrays."""
        with in_our_words("PostgreSQL", *self._lost), self._base.cursor() as cursor:
            asked(lambda: cursor.execute(written(statement, self.words.dialect)), cursor.adbc_cancel)
            return [column.to_numpy() for column in asked(cursor.fetch_arrow_table, cursor.adbc_cancel).columns]

    def batches(self, statement: str | Expression) -> Iterator[Any]:
        """Rows, in Arrow batches."""
        with in_our_words("PostgreSQL", *self._lost), self._base.cursor() as cursor:
            asked(lambda: cursor.execute(written(statement, "postgres")), cursor.adbc_cancel)
            reader = cursor.fetch_record_batch()
            while (batch := asked(lambda: next(reader, None), cursor.adbc_cancel)) is not None:
                yield batch

    def close(self) -> None:
        """End the session; the server drops what it made."""
        with suppress(Exception):
            self._execute("DISCARD TEMP")
        with suppress(Exception):
            self._base.close()


def _quoted(value: str) -> str:
    """A value of a connection string."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _kind(name: str, modifier: int) -> ColumnKind | str:
    if name == "numeric" and modifier >= 4:
        digits, scale = (modifier - 4) >> 16 & 0xFFFF, (modifier - 4) & 0x7FF
        return ColumnKind("decimal", digits=digits, scale=scale, has_nan=True) if scale <= digits else name
    return _KINDS.get(name, name)
