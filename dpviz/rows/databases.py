"""Tables in DuckDB and PostgreSQL: their rows come to this computer, in batches that are not kept.

A database is asked for columns, whole and in an order if one is named, and for nothing else. What it says about a failure may
hold a cell, so errors quote nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from dpviz.errors import DpvizError, EngineError, SchemaError, cells_stay_inside, place
from dpviz.io.options import ReadOptions
from dpviz.io.tables.arrow import flat_columns, table_of_batch
from dpviz.progress import Progress
from dpviz.rows.address import Address, identifier
from dpviz.rows.sources import Batches
from dpviz.table.raw import RawTable
from dpviz.training.nodes import rows_at_once

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
#: Digits of the numbers that Arrow has.
_MOST_DIGITS = 38
_NOT_NUMERIC = -2


class Database(ABC):
    """A session in a database, which reads."""

    @abstractmethod
    def schema(self, table: Sequence[str]) -> pa.Schema:
        """Columns with their types; raises EngineError where there is no such table."""

    @abstractmethod
    def batches(self, statement: str, n_rows: int) -> Iterator[pa.RecordBatch]:
        """The rows of a statement, in order and about so many at a time."""

    @abstractmethod
    def close(self) -> None:
        """End the session; never raises."""

    def read(self, table: Sequence[str], columns: Sequence[str], order: str = "") -> Iterator[pa.RecordBatch]:
        """These columns of every row, some rows at a time."""
        ordered = f" ORDER BY {identifier(order)}" if order else ""
        statement = f"SELECT {', '.join(map(identifier, columns))} FROM {_named(table)}{ordered}"
        return self.batches(statement, rows_at_once(len(columns)))

    def count(self, table: Sequence[str]) -> int:
        """How many rows there are."""
        (batch,) = self.batches(f"SELECT COUNT(*) AS n FROM {_named(table)}", 1)
        return int(batch.column(0)[0].as_py())


def _named(table: Sequence[str]) -> str:
    return ".".join(map(identifier, table))


def require_table(columns: object) -> None:
    """Raise EngineError where nothing was found of a table."""
    if not columns:
        what = "There is no such table or view, or it may not be read."
        raise EngineError("table", what, remedy="Give the name as the engine writes it, with its schema if need be.")


def checked_columns(schema: pa.Schema, wanted: Iterable[str] | None, order: str) -> list[str]:
    """The columns that are wanted (None: all that can be read). Raises EngineError or SchemaError, before a row is read."""
    if order and order not in schema.names:
        raise EngineError("table", "The table has no column to number its rows by.", remedy="Name another one behind 'order='.")
    readable = flat_columns(schema)
    for name in wanted or (() if readable else schema.names):
        if name not in schema.names:
            what = f"The table has no such column among its {len(schema.names):,}."
            raise SchemaError(what, field=name, remedy="Leave the column out of the schema, or add it in a view.")
        if name not in readable:
            kind = str(schema.field(name).type).partition("<")[0]
            remedy = "Read the table through a view that casts it to a number, text, boolean or date."
            raise SchemaError(f"Columns of the type {kind} are not read.", field=name, remedy=remedy)
    return [*readable] if wanted is None else [*wanted]


def batches_at(database: Database, address: Address, wanted: Sequence[str]) -> Batches:
    """A table, ready to be read. Raises EngineError or SchemaError."""
    schema = database.schema(address.table)
    columns = checked_columns(schema, wanted, address.order)
    # what is empty here may have a cell elsewhere
    reading = ReadOptions(str(address), keep_empty=not {*columns} >= {*flat_columns(schema)})

    def read(step: Progress) -> Iterator[RawTable]:
        n_batches = 0
        for batch in database.read(address.table, columns, address.order):
            step(0.0)  # nobody counts the rows of a table before
            n_batches += 1
            yield table_of_batch(batch, reading)
        if not n_batches:
            yield table_of_batch(schema.empty_table().select(columns), reading)

    return Batches(reading.title, tuple(schema.names), read, end=database.close)


class DuckDB(Database):
    """A file of DuckDB, opened for reading. It may open no other, and writes none: what it sorts has to fit into memory."""

    def __init__(self, path: str) -> None:
        import duckdb

        if not Path(path).is_file():
            what = f"There is no DuckDB file {place(path)!r}."
            remedy = (
                "Give the path of a file that exists; one that begins with / has four slashes: duckdb:////FOLDER/FILE?table=NAME."
            )
            raise EngineError("address", what, remedy=remedy)
        names = ("enable_external_access", "autoinstall_known_extensions", "python_enable_replacements")
        settings = dict.fromkeys(names, "false") | {"temp_directory": "", "lock_configuration": "true"}
        with redact_database_errors("DuckDB"):
            self._base = duckdb.connect(path, read_only=True, config=settings)

    def schema(self, table: Sequence[str]) -> pa.Schema:
        """Types of the columns."""
        wanted = " AND ".join(f"{name} = ?" for name in ("table_name", "schema_name", "database_name")[: len(table)])
        if len(table) == 1:
            wanted += " AND schema_name = current_schema() AND database_name = current_database()"
        with redact_database_errors("DuckDB"):
            require_table(self._base.execute(f"SELECT 1 FROM duckdb_columns() WHERE {wanted}", list(reversed(table))).fetchall())
            return self._reader(f"SELECT * FROM {_named(table)} LIMIT 0", 1).schema

    def batches(self, statement: str, n_rows: int) -> Iterator[pa.RecordBatch]:
        """Rows, in Arrow batches."""
        with redact_database_errors("DuckDB"):
            reader = asked(lambda: self._reader(statement, n_rows), self._base.interrupt)
            while (batch := asked(lambda: next(reader, None), self._base.interrupt)) is not None:
                yield batch

    def _reader(self, statement: str, n_rows: int) -> Any:
        found = self._base.sql(statement)
        return (getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader)(n_rows)  # its name before version 2

    def close(self) -> None:
        """End the session."""
        with suppress(Exception):
            self._base.close()


class PostgreSQL(Database):
    """A session on a PostgreSQL server, which changes nothing there. Rows come in the order in which they are stored."""

    _SETTINGS: ClassVar = {"default_transaction_read_only": "on", "synchronize_seqscans": "off", "client_min_messages": "error"}
    #: Of every column, its digits where they are declared.
    _COLUMNS = """
        SELECT a.attname::text, CASE WHEN CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END = 'numeric'::regtype
            THEN a.atttypmod ELSE -2 END  -- _NOT_NUMERIC
        FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
        WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
    """

    def __init__(self, address: Address) -> None:
        from adbc_driver_postgresql import dbapi

        self._lost = (dbapi.OperationalError, dbapi.InterfaceError)
        self._decimals = dict[str, Any]()
        given = {"user": address.user, "host": address.host, "port": address.port, "dbname": address.database}
        given |= {"application_name": "dpviz", "client_encoding": "utf8"}
        wanted = " ".join(f"{name}={_quoted(str(value))}" for name, value in given.items() if value)
        with redact_database_errors("PostgreSQL", *self._lost):
            self._base = dbapi.connect(wanted, autocommit=True)
            for name, value in self._SETTINGS.items():
                self._execute(f"SET {name} = {value}")

    def _execute(self, statement: str, parameters: list[Any] | None = None) -> list[Any]:
        with self._base.cursor() as cursor:
            asked(lambda: cursor.execute(statement, parameters), cursor.adbc_cancel)
            return cursor.fetchall() if cursor.description else []

    def schema(self, table: Sequence[str]) -> pa.Schema:
        """Types of the columns; decimals come as texts, and are made numbers here where their digits are declared."""
        import pyarrow as pa

        with redact_database_errors("PostgreSQL", *self._lost):
            columns = self._execute(self._COLUMNS, [_named(table)])
            require_table(columns)
            for name, modifier in columns:
                digits, scale = (modifier - 4) >> 16 & 0xFFFF, (modifier - 4) & 0x7FF
                if modifier != _NOT_NUMERIC:
                    is_short = modifier >= 4 and scale <= digits <= _MOST_DIGITS
                    self._decimals[name] = pa.decimal128(digits, scale) if is_short else pa.string()
            with self._base.cursor() as cursor:
                cursor.execute(f"SELECT * FROM {_named(table)} LIMIT 0")
                return self._typed(cursor.fetch_arrow_table()).schema

    def batches(self, statement: str, n_rows: int) -> Iterator[pa.RecordBatch]:
        """Rows, in Arrow batches."""
        with redact_database_errors("PostgreSQL", *self._lost), self._base.cursor() as cursor:
            asked(lambda: cursor.execute(statement), cursor.adbc_cancel)
            reader = cursor.fetch_record_batch()
            while (batch := asked(lambda: next(reader, None), cursor.adbc_cancel)) is not None:
                yield self._typed(batch)

    def _typed(self, rows: Any) -> Any:
        """The same with decimals as such, and missing where they are no number, for Arrow has none such."""
        import pyarrow as pa
        import pyarrow.compute as pc

        for at, name in enumerate(rows.schema.names):
            if (kind := self._decimals.get(name)) is not None:
                texts = rows.column(at).cast(pa.string())
                numbers = pc.if_else(pc.equal(pc.utf8_lower(texts), "nan"), None, texts)
                rows = rows.set_column(at, name, numbers.cast(kind))
        return rows

    def close(self) -> None:
        """End the session."""
        with suppress(Exception):
            self._base.close()


def _quoted(value: str) -> str:
    """A value of a connection string."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def asked(ask: Callable[[], T], cancel: Callable[[], None]) -> T:
    """`ask()`, which Ctrl-C ends by `cancel`: in the main thread DuckDB would not notice, and ADBC would call it a timeout."""
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(ask)
        try:
            return answer.result()
        except KeyboardInterrupt:
            cancel()
            raise


def redact_database_errors(engine: str, *lost: type[Exception]) -> AbstractContextManager[None]:
    """Whatever a driver raises becomes one error that quotes nothing; `lost` are types of a connection that is gone."""

    def in_words(error: Exception) -> DpvizError:
        if isinstance(error, lost):
            what = f"The connection to {engine} is lost, or could not be made."
            remedy = "Check that it is running and accepts your login, then try again."
            return EngineError("lost", what, remedy=remedy)
        what = f"{engine} could not do what was asked ({type(error).__name__})."
        return EngineError("failed", what, remedy="Its own log says why. It may lack rights or memory.")

    return cells_stay_inside(in_words)
