"""The register's file: SQLite with a write-ahead log and one writer at a time.

Every transaction opens it and closes it again, so threads and processes share no connection. Only its owner may read it.
"""

import errno
import hmac
import json
import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar

from dpviz.errors import DocumentError, RegisterError, path_text
from dpviz.installation import lessons_only
from dpviz.release.files import keep_counter, key_path, make_key, read_key
from dpviz.release.migration import convert
from dpviz.table.strict_json import parse_json, read

T = TypeVar("T")
#: The version of the tables; those of before are converted.
VERSION = 6
#: SQLite's application id of our files: "dpvz".
APPLICATION = 0x6470767A
#: Seconds to wait for another writer, and between two attempts.
PATIENCE, _PAUSE = 20.0, 0.005
#: SQLite's smallest database has one page of this size; what is shorter, and not empty, is another kind of file.
_PAGE_BYTES = 512
_KINDS = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_NOTADB: "foreign",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_FULL: "full",
}
#: By code: what is wrong with the file, and what to do.
_REFUSALS: dict[str, tuple[str, str]] = json.loads(Path(__file__).with_name("refusals.json").read_text(encoding="utf-8"))


class Store:
    """The file at `path`. Methods raise RegisterError where it cannot be used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._now = threading.local()

    def refusal(self, code: str) -> RegisterError:
        """The error of this kind."""
        what, remedy = _REFUSALS[code]
        return RegisterError(what, where=path_text(self.path), remedy=remedy, code=code)

    def keyed_hash(self, text: str) -> str:
        """HMAC-SHA256 under the register's key, hexadecimal (RFC 2104). Only inside `reading` or `writing`."""
        return hmac.digest(self._now.key, text.encode(), "sha256").hex()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees a consistent snapshot of the file; inside another transaction of this thread, that one's."""
        connection = getattr(self._now, "connection", None)
        if connection is not None:
            yield connection
            return
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self, *, on_old_copy: bool = False) -> Iterator[sqlite3.Connection]:
        """The only writer: its changes are committed and synced together, or not at all; then their count is kept with the key.

        A kill in between leaves the kept count behind, never ahead. Refuses a register with fewer changes than were kept, but for
        `on_old_copy`.
        """
        with self._transaction("BEGIN IMMEDIATE") as connection:
            missing = self.missing_changes()
            if missing and not on_old_copy:
                raise self.refusal("behind")
            yield connection
            connection.execute("UPDATE register SET counter = counter + ? + 1", (missing,))
            (counter,) = connection.execute("SELECT counter FROM register").fetchone()
        with self._disk_errors():
            keep_counter(self.path, counter)

    def missing_changes(self) -> int:
        """How many changes an old copy has not had; 0 where it is none, as far as the file with the key tells."""
        with self.reading() as connection, self._disk_errors():
            return max(0, read_key(self.path)[1] - int(connection.execute("SELECT counter FROM register").fetchone()[0]))

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        if lessons_only():
            raise self.refusal("lessons")
        try:
            with closing(self._begin(begin)) as connection:  # what is not committed is undone
                self._now.connection = connection
                yield connection
                connection.execute("COMMIT")
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise  # a bug of ours, not a problem of the file
        except sqlite3.DatabaseError as error:
            raise self.refusal(_kind(error)) from error
        finally:
            self._now.connection = None

    def _begin(self, begin: str) -> sqlite3.Connection:
        """A connection with an open transaction, which sees the file as it is from now on.

        Waits while others hold the file: SQLite itself does not when the log is created, cleared or recovered.
        """
        deadline = monotonic() + PATIENCE
        while True:
            self._require_file()
            connection = _connection(self.path)
            try:
                if self._version(connection) < VERSION:
                    self._migrate(connection)
                self._require_key(connection)
                connection.execute(begin)
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                return connection
            except BaseException as error:
                connection.close()
                if not isinstance(error, sqlite3.OperationalError) or _kind(error) != "locked" or monotonic() > deadline:
                    raise
            sleep(_PAUSE)

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            is_full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
            raise self.refusal("full" if is_full else "unreadable") from None  # whose words quote the path

    def _require_file(self) -> None:
        """Make the file where there is none, readable by its owner only. Refuses what is too short to be a database."""
        with self._disk_errors():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                status = os.fstat(handle)
            finally:
                os.close(handle)
        if not stat.S_ISREG(status.st_mode) or 0 < status.st_size < _PAGE_BYTES:
            raise self.refusal("foreign")

    def _version(self, connection: sqlite3.Connection) -> int:
        """Refuses a file of another program or a newer version, and one that others than its owner may use."""
        version = _pragma(connection, "user_version")
        is_ours = _pragma(connection, "application_id") == APPLICATION
        if not is_ours and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise self.refusal("foreign")
        if version > VERSION:
            raise self.refusal("newer")
        with self._disk_errors():
            paths = (path for path in (self.path, key_path(self.path)) if path.exists())
            if os.name != "nt" and any(path.stat().st_mode & 0o077 for path in paths):  # Windows keeps such rights elsewhere
                raise self.refusal("open")
        return version

    def _require_key(self, connection: sqlite3.Connection) -> None:
        with self._disk_errors():
            self._now.key, _ = read_key(self.path)
        first = connection.execute("SELECT item, keyed FROM register").fetchone()
        if first is None or self.keyed_hash(first[0]) != first[1]:
            raise self.refusal("key")

    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Make the tables, with what those of an older version hold, in one transaction."""
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA secure_delete = ON")  # nothing of fingerprints without a key stays in free pages
        head = self.path.with_name(f"{self.path.name}.head")  # of a register that had a chain of entries
        connection.execute("BEGIN IMMEDIATE")
        version = self._version(connection)
        if version < VERSION:  # else another process has done it
            with self._disk_errors():
                self._now.key = read_key(self.path)[0] or (make_key(self.path) if version < 2 else b"")
                kept_head = head.read_text(encoding="ascii").strip() if head.is_file() else ""
            try:
                counter = convert(connection, version, self.keyed_hash, kept_head)
            except (ValueError, LookupError, TypeError, StopIteration) as error:
                raise self.refusal("damaged") from error
            self._require_key(connection)  # without it what was changed outside could not be told from what was booked
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            if version < 4:
                with self._disk_errors():
                    keep_counter(self.path, counter)
        connection.execute("COMMIT")
        with self._disk_errors():
            head.unlink(missing_ok=True)
        with suppress(sqlite3.OperationalError):  # another connection reads: then it is done when that has ended
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def insert(self, table: str, **values: Any) -> None:
        """A row of a table, in the open transaction."""
        with self.reading() as connection:
            marks = ", ".join("?" * len(values))
            connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))

    def records(self, kind: type[T], sql: str, *values: Any) -> tuple[T, ...]:
        """What a query finds, as records; columns of JSON are parsed, epsilon and delta are one loss."""
        with self.reading() as connection:
            cursor = connection.execute(sql, values)
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row, strict=True)) for row in cursor]
        try:
            for row in rows:
                row |= {name: parse_json(read(str, row[name])) for name in ("settings", "disclosures") if name in row}
                row["loss"] = {"epsilon": row.get("epsilon"), "delta": row.get("delta")}
            return tuple(read(kind, row) for row in rows)
        except DocumentError as error:
            raise self.refusal("damaged") from error


def _connection(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")  # a commit is on disk before anything is released
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def _kind(error: sqlite3.DatabaseError) -> str:
    return _KINDS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "unreadable")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
