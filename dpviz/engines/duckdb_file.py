"""Counting in a DuckDB file, opened for reading. Temporary tables are in memory; what spills goes to a folder of this user.

What a killed session has left there is removed when the next one begins.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir
from time import time
from typing import Any, ClassVar

import numpy as np
from sqlglot.expressions import Expression

from dpviz.engines.address import Address
from dpviz.engines.connection import ROWS_AT_ONCE, SQLConnection, asked, in_our_words, new_name
from dpviz.engines.expressions import Words
from dpviz.engines.kinds import ColumnKind
from dpviz.engines.statements import blocks, written
from dpviz.errors import EngineError, place

if sys.platform != "win32":
    import fcntl

_PREFIX = "dpviz-duckdb-"
#: A folder that nobody holds for so many seconds after it was made or filled is a killed session's.
_LEFT_BEHIND = 60.0
_WHOLE = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "UTINYINT": 9, "USMALLINT": 17, "UINTEGER": 33}
_OTHERS = {"FLOAT": "single", "DOUBLE": "double", "VARCHAR": "text", "BOOLEAN": "boolean", "DATE": "date"}
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")


class DuckDBFile(SQLConnection):
    """A session in a DuckDB file."""

    words: ClassVar = Words("duckdb", "ISODOW", "binary")
    temporary: ClassVar = "temp"

    def __init__(self, address: Address) -> None:
        import duckdb

        if not Path(address.database).is_file():
            what = f"There is no DuckDB file {place(address.database)!r}."
            remedy = (
                "Give the path of a file that exists; one that begins with / has four slashes: duckdb:////FOLDER/FILE?table=NAME."
            )
            raise EngineError("address", what, remedy=remedy)
        _remove_left_behind()
        self._folder = TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
        self._held = _hold(Path(self._folder.name))
        settings = {"temp_directory": self._folder.name, "autoinstall_known_extensions": "false"}
        try:
            with in_our_words("DuckDB"):
                self._base = duckdb.connect(address.database, read_only=True, config=settings)
                self._base.execute("SET enable_external_access = false")
                self._base.execute("SET lock_configuration = true")
        except BaseException:
            self._end()
            raise

    def kinds(self, table: Sequence[str]) -> dict[str, ColumnKind | str]:
        """Types of the columns."""
        names = ("table_name", "schema_name", "database_name")
        wanted = " AND ".join(f"{name} = ?" for name, _ in zip(names, table, strict=False))
        if len(table) == 1:
            wanted += " AND schema_name = current_schema() AND database_name = current_database()"
        select = f"SELECT column_name, data_type FROM duckdb_columns() WHERE {wanted} ORDER BY column_index"
        return {name: _kind(kind) for name, kind in self._execute(select, list(reversed(table)))}

    def _make_assignment(self, parts: np.ndarray) -> str:
        assignment = new_name()
        first, digits = zip(*blocks(parts), strict=True) if len(parts) else ((), ())
        self._execute(f"CREATE TEMP TABLE {assignment} (first BIGINT, parts VARCHAR)")
        filled = f"INSERT INTO {assignment} SELECT unnest(?::BIGINT[]), unnest(?::VARCHAR[])"
        self._execute(filled, [list(first), list(digits)])
        return assignment

    def _execute(self, statement: str, parameters: list[Any] | None = None) -> list[Any]:
        with in_our_words("DuckDB"):
            return asked(lambda: self._base.execute(statement, parameters).fetchall(), self._base.interrupt)

    def columns(self, statement: str | Expression) -> Sequence[np.ndarray]:
        """Whole numbers, as arrays."""
        with in_our_words("DuckDB"):
            counting = written(statement, self.words.dialect)
            return list(asked(lambda: self._base.execute(counting).fetchnumpy(), self._base.interrupt).values())

    def batches(self, statement: str | Expression) -> Iterator[Any]:
        """Rows, in Arrow batches."""
        with in_our_words("DuckDB"):
            found = self._base.sql(written(statement, "duckdb"))
            read = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader  # its name before version 2
            reader = asked(lambda: read(ROWS_AT_ONCE), self._base.interrupt)
            while (batch := asked(lambda: next(reader, None), self._base.interrupt)) is not None:
                yield batch

    def close(self) -> None:
        """End the session: temporary tables live no longer."""
        with suppress(Exception):
            self._base.close()
        self._end()

    def _end(self) -> None:
        self._folder.cleanup()
        if self._held is not None:
            os.close(self._held)
            self._held = None


def _hold(folder: Path) -> int | None:
    """A handle that says, until it is closed or its process ends, that somebody uses the folder; None where another has it."""
    if sys.platform == "win32":
        return None
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _remove_left_behind() -> None:
    """What killed sessions of this user have spilled."""
    for folder in Path(gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another session is faster, or it is no folder
            found = folder.lstat()
            is_old = time() - found.st_mtime > _LEFT_BEHIND
            if sys.platform != "win32" and found.st_uid == os.getuid() and is_old and (handle := _hold(folder)) is not None:
                rmtree(folder, ignore_errors=True)
                os.close(handle)


def _kind(name: str) -> ColumnKind | str:
    decimal = _DECIMAL.fullmatch(name)
    if decimal is not None:
        return ColumnKind("decimal", digits=int(decimal[1]), scale=int(decimal[2]))
    if name in _WHOLE:
        return ColumnKind.signed(_WHOLE[name])
    if name in _OTHERS:
        return ColumnKind(_OTHERS[name])  # type: ignore[arg-type]
    return name.partition("(")[0]  # what follows ENUM( may be the texts of all cells
