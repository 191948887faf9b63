"""Tables in DuckDB and PostgreSQL: their rows come to this computer, in batches that are not kept.

A database is asked for columns, whole and in an order if one is named, and for nothing else. What it says about a failure may
hold a cell, so errors quote nothing.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from dpviz.errors import DpvizError, SchemaError, TableError, path_text, replace_errors
from dpviz.io.options import ReadOptions
from dpviz.io.tables.arrow import POINTS, flat_columns, table_of_batch
from dpviz.progress import Progress
from dpviz.rows.address import Address, identifier
from dpviz.rows.sources import Batches
from dpviz.table.columns import EXTENSION
from dpviz.table.raw import RawTable
from dpviz.training.nodes import rows_per_chunk

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
#: Digits of the numbers that Arrow has.
_MAX_DIGITS = 38


class Database(ABC):
    """A session in a database, which reads."""

    title: ClassVar[str]
    _mark = '"'  #: Around names
    _lost: tuple[type[Exception], ...] = ()  #: Errors of a connection that is gone
    _base: Any

    @abstractmethod
    def _stream(self, statement: str, n_rows: int) -> AbstractContextManager[tuple[Any, Callable[[], None]]]:
        """(an Arrow reader of what a statement answers, about so many rows at a time; what cancels it)."""

    def _typed(self, rows: Any) -> Any:
        """The rows of a batch or table, as they are meant."""
        return rows

    def schema(self, table: Sequence[str]) -> pa.Schema:
        """Columns with their types; raises TableError where there is no such table."""
        statement = f"SELECT * FROM {self._named(table)} LIMIT 0"
        with self.errors(is_table=True), self._stream(statement, 1) as (reader, _):
            columns: pa.Schema = reader.schema
            return columns

    def batches(self, statement: str, n_rows: int) -> Iterator[pa.RecordBatch]:
        """The rows of a statement, in order and about so many at a time."""
        with self.errors(), self._stream(statement, n_rows) as (reader, cancel):
            while (batch := run_cancellable(lambda: next(reader, None), cancel)) is not None:
                yield self._typed(batch)

    def statement(self, table: Sequence[str], columns: Sequence[str], order: str) -> str:
        """What asks for these columns of every row, in the order of a column unless that is empty."""
        wanted = ", ".join(identifier(name, self._mark) for name in columns)
        ordered = f" ORDER BY {identifier(order, self._mark)}" if order else ""
        return f"SELECT {wanted} FROM {self._named(table)}{ordered}"

    def read(self, table: Sequence[str], columns: Sequence[str], order: str = "") -> Iterator[pa.RecordBatch]:
        """These columns of every row, some rows at a time."""
        return self.batches(self.statement(table, columns, order), rows_per_chunk(len(columns)))

    def count(self, table: Sequence[str]) -> int:
        """How many rows there are."""
        (batch,) = self.batches(f"SELECT COUNT(*) AS n FROM {self._named(table)}", 1)
        return int(batch.column(0)[0].as_py())

    def errors(self, *, is_table: bool = False) -> AbstractContextManager[None]:
        """Whatever a driver raises is one error that quotes nothing. `is_table`: what is asked is whether there is a table."""

        def in_words(error: Exception) -> DpvizError:
            if isinstance(error, self._lost):
                what = f"The connection to {self.title} is lost, or could not be made."
                return TableError("lost", what, remedy="Check that it is running and accepts your login, then try again.")
            if is_table:
                what = "There is no such table or view, or it may not be read."
                return TableError("table", what, remedy="Give the name as the engine writes it, with its schema if need be.")
            what = f"{self.title} could not do what was asked ({type(error).__name__})."
            return TableError("failed", what, remedy="Its own log says why. It may lack rights or memory.")

        return replace_errors(in_words)

    def _named(self, table: Sequence[str]) -> str:
        return ".".join(identifier(part, self._mark) for part in table)

    def close(self) -> None:
        """End the session; never raises."""
        with suppress(Exception):
            self._base.close()


def require_columns(names: Sequence[str], wanted: Iterable[str]) -> None:
    """Raise SchemaError where a table with columns of these names lacks one that is wanted."""
    for name in wanted:
        if name not in names:
            what = f"The table has no such column among its {len(names):,}."
            raise SchemaError(what, field=name, remedy="Leave the column out of the schema, or add it in a view.")


def readable_columns(schema: pa.Schema, wanted: Sequence[str] | None, order: str) -> list[str]:
    """The columns that are wanted (None: all that can be read). Raises TableError or SchemaError, before a row is read."""
    if order and order not in schema.names:
        raise TableError("table", "The table has no column to number its rows by.", remedy="Name another one behind 'order='.")
    readable = flat_columns(schema)
    columns = list(wanted or readable or schema.names)
    require_columns(schema.names, columns)
    for name in columns:
        if name not in readable:
            field = schema.field(name)
            kind = (field.metadata or {}).get(EXTENSION, str(field.type).encode()).decode().partition("<")[0]
            remedy = "Read the table through a view that casts it to a number, text, boolean or date."
            raise SchemaError(f"Columns of the type {kind} are not read.", field=name, remedy=remedy)
    return columns


def batches_at(database: Database, address: Address, wanted: Sequence[str]) -> Batches:
    """A table, ready to be read. Raises TableError or SchemaError."""
    import pyarrow as pa

    schema = database.schema(address.table)
    columns = readable_columns(schema, wanted, address.order)
    # what is empty here may have a cell elsewhere
    reading = ReadOptions(str(address), keep_empty=not {*columns} >= {*flat_columns(schema)})

    def read(step: Progress) -> Iterator[RawTable]:
        none = pa.schema([schema.field(name) for name in columns]).empty_table()  # of all columns there may be no such table
        for batch in chain(database.read(address.table, columns, address.order), [none]):
            step(0.0)  # nobody counts the rows of a table before
            yield table_of_batch(batch, reading)

    return Batches(tuple(schema.names), read, end=database.close)


class DuckDB(Database):
    """A file of DuckDB, opened for reading. It may open no other, and writes none: what it sorts has to fit into memory."""

    title = "DuckDB"
    #: Types that come as other values: numbers from 2^127 below 0, bits as bytes behind their number.
    _NOT_OF_ARROW = frozenset(("UHUGEINT", "BIT"))

    def __init__(self, path: str) -> None:
        import duckdb

        if not os.path.isfile(path):
            what = f"There is no DuckDB file {path_text(path)!r}."
            remedy = "Give the path of a file; one that begins with / has four slashes: duckdb:////FOLDER/FILE?table=NAME."
            raise TableError("address", what, remedy=remedy)
        names = ("enable_external_access", "autoinstall_known_extensions", "python_enable_replacements")
        settings = dict.fromkeys(names, "false") | {"temp_directory": "", "lock_configuration": "true"}
        settings["TimeZone"] = "UTC"  # of moments with a zone, for which a file holds none: as PostgreSQL's driver hands them out
        with self.errors():
            self._base = duckdb.connect(path, read_only=True, config=settings)

    def schema(self, table: Sequence[str]) -> pa.Schema:
        """Columns with their types, those of types that Arrow does not have as types of a library."""
        import pyarrow as pa

        columns = super().schema(table)
        with self.errors(is_table=True):
            kinds = map(str, self._base.sql(f"SELECT * FROM {self._named(table)} LIMIT 0").types)
        return pa.schema(
            field.with_metadata({EXTENSION: kind}) if kind in self._NOT_OF_ARROW else field
            for field, kind in zip(columns, kinds, strict=True)
        )

    @contextmanager
    def _stream(self, statement: str, n_rows: int) -> Iterator[tuple[Any, Callable[[], None]]]:
        def reader() -> Any:
            answer = self._base.sql(statement)
            return (getattr(answer, "to_arrow_reader", None) or answer.fetch_arrow_reader)(n_rows)  # its name before version 2

        yield run_cancellable(reader, self._base.interrupt), self._base.interrupt


class PostgreSQL(Database):
    """A session on a PostgreSQL server, which changes nothing there. Rows come in the order in which they are stored."""

    title = "PostgreSQL"
    _SETTINGS: ClassVar = {"default_transaction_read_only": "on", "synchronize_seqscans": "off", "client_min_messages": "error"}
    #: Columns of decimals whose digits are declared, with what PostgreSQL keeps of them.
    _DIGITS = """
        SELECT attname::text, atttypmod - 4 FROM pg_attribute
        WHERE attrelid = to_regclass($1) AND atttypid = 'numeric'::regtype AND atttypmod >= 4 AND NOT attisdropped
    """

    def __init__(self, address: Address) -> None:
        from adbc_driver_postgresql import dbapi

        self._lost, self._decimals = (dbapi.OperationalError, dbapi.InterfaceError), dict[str, Any]()
        settings = {"user": address.user, "host": address.host, "port": address.port, "dbname": address.database}
        settings |= {"application_name": "dpviz", "client_encoding": "utf8"}
        connection = " ".join(f"{name}={_quote(str(value))}" for name, value in settings.items() if value)
        with self.errors():
            self._base = dbapi.connect(connection, autocommit=True)
            for name, value in self._SETTINGS.items():
                with self._stream(f"SET {name} = {value}", 1):
                    pass

    @contextmanager
    def _stream(self, statement: str, n_rows: int) -> Iterator[tuple[Any, Callable[[], None]]]:
        with self._base.cursor() as cursor:
            run_cancellable(lambda: cursor.execute(statement), cursor.adbc_cancel)
            yield cursor.fetch_record_batch(), cursor.adbc_cancel

    def schema(self, table: Sequence[str]) -> pa.Schema:
        """Columns with their types; raises TableError where there is no such table."""
        import pyarrow as pa

        with self.errors(), self._base.cursor() as cursor:
            cursor.execute(self._DIGITS, [self._named(table)])
            for name, kept in cursor.fetchall():
                digits, scale = kept >> 16 & 0xFFFF, kept & 0x7FF
                if scale <= digits <= _MAX_DIGITS:
                    self._decimals[name] = pa.decimal128(digits, scale)
        return self._typed(super().schema(table).empty_table()).schema

    def _typed(self, rows: Any) -> Any:
        """The same with decimals, which come as texts: as numbers where their digits are declared, one that is no number missing;
        else as texts of numbers.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        for at, field in enumerate(rows.schema):
            if (field.metadata or {}).get(b"ADBC:postgresql:typname") == b"numeric":
                column = rows.column(at).cast(pa.string())
                if (kind := self._decimals.get(field.name)) is None:
                    field = field.with_metadata(POINTS)
                else:
                    column = pc.if_else(pc.equal(pc.utf8_lower(column), "nan"), None, column).cast(kind)
                rows = rows.set_column(at, field.with_type(column.type), column)
        return rows


def _quote(value: str) -> str:
    """A value of a connection string."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def run_cancellable(ask: Callable[[], T], cancel: Callable[[], None]) -> T:
    """`ask()`, which Ctrl-C ends by `cancel`: in the main thread DuckDB would not notice, and ADBC would call it a timeout."""
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(ask)
        try:
            return answer.result()
        except KeyboardInterrupt:
            cancel()
            raise
