"""The register's file: SQLite with a write-ahead log, one writer at a time, migrations, and typed errors.

Every operation opens the file and closes it again, so that threads and processes share no connection. The file holds keyed
fingerprints of private rows; only its owner may read it. Beside it stands the key, with a counter of changes
(`dpviz.release.sidecar`). What is written on a register with fewer changes than that is refused: it is an old copy.
"""

import errno
import hashlib
import json
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TypeVar

from dpviz.errors import RegisterError, place
from dpviz.installation import lessons_only
from dpviz.release import sidecar

T = TypeVar("T")

#: The tables: script number k brings a file of version k - 1 to version k.
MIGRATIONS: tuple[str, ...] = tuple(
    Path(__file__).with_name(f"register_{number}.sql").read_text(encoding="utf-8") for number in (1, 2, 3, 4)
)
#: Of the first version without a chain of entries.
_WITHOUT_CHAIN = 4
#: The environment variable that names the register's file.
VARIABLE = "DPVIZ_REGISTER"
#: SQLite's application id of our files: "dpvz".
APPLICATION = 0x6470767A
#: Seconds to wait for another writer.
PATIENCE = 20.0
_PAUSE = 0.005

_KINDS = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_NOTADB: "foreign",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_FULL: "full",
}
#: SQLite's smallest database has one page of this size; what is shorter, and not empty, is another kind of file.
_SMALLEST = 512
#: By code: what is wrong with the file, and what to do.
_REFUSALS: dict[str, tuple[str, str]] = json.loads(Path(__file__).with_name("refusals.json").read_text(encoding="utf-8"))


def default_path() -> Path:
    """The file that DPVIZ_REGISTER names, else releases.db in the user's data folder."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else Path.home() / ".local" / "share" / "dpviz" / "releases.db"


def refusal(code: str, path: Path) -> RegisterError:
    """The error of this kind."""
    what, remedy = _REFUSALS[code]
    return RegisterError(code, what, where=place(path), remedy=remedy)


class Store:
    """One register file, closed between calls."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._key = b""

    def keyed(self, fingerprint: str) -> str:
        """A fingerprint as the register holds it. Only inside `reading` or `writing`."""
        return sidecar.keyed_digest(self._key, fingerprint)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees a consistent snapshot of the file."""
        with self._opened() as connection:
            _patiently(lambda: _begin_reading(connection))
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def writing(self, *, on_old_copy: bool = False) -> Iterator[sqlite3.Connection]:
        """The only writer: its changes are committed and synced together, or not at all; then their count is kept with the key.

        A kill in between leaves the kept count behind, never ahead. Refuses a register with fewer changes than were kept, but for
        `on_old_copy`.
        """
        with self._opened() as connection:
            with _immediately(connection):
                kept = self._with_sidecar(lambda: sidecar.read_counter(self.path))
                counter = counter_of(connection)
                if not on_old_copy and kept > counter:
                    raise refusal("behind", self.path)
                yield connection
                counter = max(kept, counter) + 1
                connection.execute("UPDATE register SET counter = ?", (counter,))
            self._with_sidecar(lambda: sidecar.keep_counter(self.path, counter))

    def _with_sidecar(self, step: Callable[[], T]) -> T:
        try:
            return step()
        except OSError as error:
            raise refusal(_kind_on_disk(error), self.path) from error

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        if lessons_only():
            raise refusal("lessons", self.path)
        try:
            with closing(self._connect()) as connection:
                _patiently(lambda: self._prepare(connection))
                yield connection
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise  # a bug of ours, not a problem of the file
        except sqlite3.DatabaseError as error:
            raise refusal(_kind(error), self.path) from error

    def _connect(self) -> sqlite3.Connection:
        """Open the file; a new one is readable by its owner only. Refuses what is too short to be one."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                found = os.fstat(handle)
            finally:
                os.close(handle)
        except (OSError, ValueError) as error:
            raise refusal(_kind_on_disk(error), self.path) from None  # whose words quote the path
        if not stat.S_ISREG(found.st_mode) or 0 < found.st_size < _SMALLEST:
            raise refusal("foreign", self.path)
        return _connection(self.path)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that is not ours; migrate an old one."""
        is_ours = _number(connection, "application_id") == APPLICATION
        if not (is_ours and _number(connection, "user_version") == len(MIGRATIONS)):
            self._migrate(connection)
        self._require_closed()
        self._key = self._with_sidecar(lambda: sidecar.read_key(self.path)) or b""
        first = connection.execute("SELECT item, keyed FROM register").fetchone()
        if first is None or self.keyed(first[0]) != first[1]:
            raise refusal("key", self.path)

    def _migrate(self, connection: sqlite3.Connection) -> None:
        self._version(connection)  # nothing of a file that is refused is changed
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA secure_delete = ON")  # nothing of fingerprints without a key stays in free pages
        with _immediately(connection):
            version = self._version(connection)
            key = self._with_sidecar(lambda: sidecar.read_key(self.path) or sidecar.make_key(self.path))
            connection.create_function("keyed", 1, lambda text: sidecar.keyed_digest(key, text))
            is_old = version < _WITHOUT_CHAIN and self._with_sidecar(lambda: _is_behind_its_head(connection, version, self.path))
            for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
                _run(connection, script)
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self._with_sidecar(lambda: sidecar.keep_counter(self.path, counter_of(connection) + is_old))
        self._with_sidecar(lambda: sidecar.forget_head(self.path))
        with suppress(sqlite3.OperationalError):  # somebody reads: then it is done when they have ended
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _require_closed(self) -> None:
        """Refuse a register, or a key, that others than its owner may use."""
        if self._with_sidecar(lambda: sidecar.is_open_to_others(self.path)):
            raise refusal("open", self.path)

    def _version(self, connection: sqlite3.Connection) -> int:
        is_empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        version = _number(connection, "user_version")
        if not is_empty and _number(connection, "application_id") != APPLICATION:
            raise refusal("foreign", self.path)
        if version > len(MIGRATIONS):
            raise refusal("newer", self.path)
        self._require_closed()
        return version


def digest(*values: object) -> str:
    """SHA-256 of some values of a row, hexadecimal."""
    return hashlib.sha256(json.dumps(values, ensure_ascii=True).encode()).hexdigest()


def counter_of(connection: sqlite3.Connection) -> int:
    """How many changes were made to a register."""
    return int(connection.execute("SELECT counter FROM register").fetchone()[0])


def _is_behind_its_head(connection: sqlite3.Connection, version: int, path: Path) -> bool:
    """Whether a register with a chain, or an empty file in the place of one, is an old copy: by the file with its latest head."""
    kept = sidecar.read_head(path)
    if version < 2:
        return bool(kept)
    if not kept:
        return bool(connection.execute("SELECT count(*) > 1 FROM entry").fetchone()[0])
    lost = [json.loads(lost) for (lost,) in connection.execute("SELECT lost FROM restoration")]
    known = connection.execute("SELECT 1 FROM entry WHERE head = ?", (kept,)).fetchone()
    return known is None and not any(kept in heads for heads in lost)


def _connection(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    try:
        connection.create_function("digest", -1, digest, deterministic=True)
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


def _kind_on_disk(error: Exception) -> str:
    return "full" if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) else "unreadable"


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
