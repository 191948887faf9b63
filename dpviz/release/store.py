"""The register's file: SQLite with a write-ahead log, one writer at a time, migrations, and typed errors.

Every operation opens the file and closes it again, so that threads and processes share no connection. The file holds
fingerprints of private rows: only its owner may read it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic, sleep

from dpviz.errors import RegisterError

#: The environment variable that names the register's file.
VARIABLE = "DPVIZ_REGISTER"
#: SQLite's application id of our files: "dpvz".
APPLICATION = 0x6470767A
#: Seconds to wait for another writer.
PATIENCE = 20.0
_PAUSE = 0.005

_FIRST = """
CREATE TABLE data_set (
    name TEXT PRIMARY KEY NOT NULL,
    role TEXT NOT NULL,
    unit TEXT NOT NULL,
    rows_per_unit INTEGER NOT NULL CHECK (rows_per_unit >= 1),
    epsilon_cap REAL NOT NULL CHECK (epsilon_cap > 0),
    delta_cap REAL NOT NULL CHECK (delta_cap >= 0 AND delta_cap < 1),
    declared TEXT NOT NULL
);
CREATE TABLE cap_change (
    data_set TEXT NOT NULL REFERENCES data_set (name),
    at TEXT NOT NULL,
    epsilon_cap REAL NOT NULL,
    delta_cap REAL NOT NULL
);
CREATE TABLE fingerprint (
    fingerprint TEXT PRIMARY KEY NOT NULL,
    data_set TEXT NOT NULL REFERENCES data_set (name),
    assigned TEXT NOT NULL
);
CREATE TABLE release (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    token TEXT NOT NULL UNIQUE,
    data_set TEXT NOT NULL REFERENCES data_set (name),
    state TEXT NOT NULL CHECK (state IN ('started', 'released')),
    started TEXT NOT NULL,
    finished TEXT NOT NULL DEFAULT '',
    learner TEXT NOT NULL,
    settings TEXT NOT NULL,
    epsilon REAL NOT NULL CHECK (epsilon >= 0),
    delta REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
    disclosures TEXT NOT NULL,
    file TEXT NOT NULL,
    sha256 TEXT NOT NULL DEFAULT ''
);
CREATE TABLE exploration (
    fingerprint TEXT NOT NULL,
    what TEXT NOT NULL,
    learner TEXT NOT NULL,
    settings TEXT NOT NULL,
    times INTEGER NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (fingerprint, what, learner, settings)
);
CREATE TRIGGER release_is_for_good BEFORE DELETE ON release BEGIN SELECT RAISE (ABORT, 'a release is never undone'); END;
CREATE TRIGGER fingerprint_stays BEFORE DELETE ON fingerprint BEGIN SELECT RAISE (ABORT, 'an assignment is never undone'); END;
CREATE TRIGGER fingerprint_keeps BEFORE UPDATE ON fingerprint BEGIN SELECT RAISE (ABORT, 'an assignment is never undone'); END;
CREATE TRIGGER cost_stays BEFORE UPDATE OF number, token, data_set, epsilon, delta ON release
BEGIN SELECT RAISE (ABORT, 'what was spent stays spent'); END;
CREATE TRIGGER released_stays BEFORE UPDATE ON release WHEN OLD.state = 'released'
BEGIN SELECT RAISE (ABORT, 'a release is never undone'); END;
"""
#: Script number k brings a file of version k to version k + 1. Old scripts are never edited.
MIGRATIONS: tuple[str, ...] = (_FIRST,)

_KINDS = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_NOTADB: "foreign",
    sqlite3.SQLITE_CORRUPT: "damaged",
}
_WORDS = {
    "locked": ("Another program holds the release register.", "Wait for the other release to end, then try again."),
    "foreign": ("This file is not a release register.", f"Choose another path ({VARIABLE}), or move the file away."),
    "damaged": ("The release register is damaged.", "Put back a copy. Do not start a new one: what was spent stays spent."),
    "unreadable": (
        "The release register cannot be read or written.",
        f"Check the permissions of its folder, or set {VARIABLE}.",
    ),
    "newer": ("The release register was made by a newer version of dpviz.", "Update dpviz."),
}


def default_path() -> Path:
    """The file that DPVIZ_REGISTER names, else releases.db in the user's data folder."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else Path.home() / ".local" / "share" / "dpviz" / "releases.db"


def refusal(code: str, path: Path) -> RegisterError:
    """The error of this kind."""
    what, remedy = _WORDS[code]
    return RegisterError(code, what, where=str(path), remedy=remedy)


class Store:
    """One register file, closed between calls."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees a consistent snapshot of the file."""
        with self._opened() as connection:
            _patiently(lambda: _begin_reading(connection))
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The only writer: its changes are committed and synced together, or not at all."""
        with self._opened() as connection, _immediately(connection):
            yield connection

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(self._connect()) as connection:
                _patiently(lambda: self._prepare(connection))
                yield connection
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise  # a bug of ours, not a problem of the file
        except sqlite3.DatabaseError as error:
            raise refusal(_kind(error), self.path) from error

    def _connect(self) -> sqlite3.Connection:
        """Open the file; a new one is readable by its owner only."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except (OSError, ValueError) as error:
            raise refusal("unreadable", self.path) from error
        return _connection(self.path)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that is not ours; migrate an old one."""
        if _number(connection, "user_version") == len(MIGRATIONS) and _number(connection, "application_id") == APPLICATION:
            return
        connection.execute("PRAGMA journal_mode = WAL")
        with _immediately(connection):
            version = self._version(connection)
            for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
                _run(connection, script)
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")

    def _version(self, connection: sqlite3.Connection) -> int:
        is_empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        version = _number(connection, "user_version")
        if not is_empty and _number(connection, "application_id") != APPLICATION:
            raise refusal("foreign", self.path)
        if version > len(MIGRATIONS):
            raise refusal("newer", self.path)
        return version


def _connection(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")  # a commit is on disk before anything is released
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


@contextmanager
def _immediately(connection: sqlite3.Connection) -> Iterator[None]:
    _patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _begin_reading(connection: sqlite3.Connection) -> None:
    """Take the snapshot: from here on the connection sees the file as it is now."""
    connection.execute("BEGIN")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError:
        connection.execute("ROLLBACK")
        raise


def _patiently(step: Callable[[], object]) -> None:
    """Repeat `step` while others hold the file: SQLite itself does not wait when the log is created, cleared or recovered."""
    deadline = monotonic() + PATIENCE
    while True:
        try:
            step()
            return
        except sqlite3.OperationalError as error:
            if _kind(error) != "locked" or monotonic() > deadline:
                raise
            sleep(_PAUSE)


def _kind(error: sqlite3.DatabaseError) -> str:
    return _KINDS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "unreadable")


def _run(connection: sqlite3.Connection, script: str) -> None:
    """Run every statement of a script inside the open transaction (`executescript` would commit it)."""
    statement = ""
    for line in script.splitlines():
        statement += f"{line}\n"
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
