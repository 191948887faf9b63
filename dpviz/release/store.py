"""The register's file and the key beside it: SQLite with a write-ahead log, one writer at a time, and typed errors.

Every transaction opens the file and closes it again, so that threads and processes share no connection. A fingerprint in it is a
keyed digest, so whoever has the register alone cannot check a guess at somebody's row. The file with the key also keeps how many
changes the register has had: what is written on a register with fewer is refused, for it is an old copy. Only their owner may
read the two.
"""

import errno
import hashlib
import hmac
import json
import math
import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from time import monotonic, sleep, time
from typing import Any

from dpviz.accounting.guarantee import PrivacyLoss, for_unit, round_down
from dpviz.errors import RegisterError, place
from dpviz.files import left_behind, write_whole
from dpviz.installation import lessons_only
from dpviz.randomness import random_128_bits

#: The version of the tables; those of before are imported.
VERSION = 6
_SCHEMA = Path(__file__).with_name("register.sql")
#: The environment variable that names the register's file.
VARIABLE = "DPVIZ_REGISTER"
#: SQLite's application id of our files: "dpvz".
APPLICATION = 0x6470767A
#: Seconds to wait for another writer.
PATIENCE = 20.0
_PAUSE = 0.005
#: A part of the key's file that was not changed for so many seconds was left by a kill: to write it takes milliseconds.
_LEFT_BEHIND = 60.0

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


def digest(*values: object) -> str:
    """SHA-256 of some values of a row, hexadecimal."""
    return hashlib.sha256(json.dumps(values, ensure_ascii=True).encode()).hexdigest()


# --- the key and the counter


def key_path(register: Path) -> Path:
    """The file with the key."""
    return register.with_name(f"{register.name}.key")


def read_key(register: Path) -> tuple[bytes, int]:
    """The key, empty where there is none, and how many changes were kept."""
    try:
        key, counter = (*key_path(register).read_text(encoding="ascii").split(), "0")[:2]
        return bytes.fromhex(key), int(counter)
    except (FileNotFoundError, ValueError):
        return b"", 0


def make_key(register: Path) -> bytes:
    """A new key of 256 bits. Only for whoever holds the register: two at once would make two."""
    key = b"".join(random_128_bits().to_bytes(16, "big") for _ in range(2))
    write_whole(key_path(register), f"{key.hex()}\n", mode=0o600)
    return key


def keep_counter(register: Path, counter: int) -> None:
    """Keep that the register has had so many changes, unless more are known."""
    key, kept = read_key(register)
    if key and counter > kept:
        write_whole(key_path(register), f"{key.hex()}\n{counter}\n", mode=0o600)
        for part in left_behind(key_path(register)):
            with suppress(OSError):  # another process has removed it
                if time() - part.stat().st_mtime > _LEFT_BEHIND:
                    part.unlink()


# --- the file


class Store:
    """One register file, closed between transactions."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._now = threading.local()

    def keyed(self, text: str) -> str:
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
            with self._disk_errors():
                _, kept = read_key(self.path)
            counter = counter_of(connection)
            if not on_old_copy and kept > counter:
                raise refusal("behind", self.path)
            yield connection
            counter = max(kept, counter) + 1
            connection.execute("UPDATE register SET counter = ?", (counter,))
        with self._disk_errors():
            keep_counter(self.path, counter)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        if lessons_only():
            raise refusal("lessons", self.path)
        try:
            with closing(self._connect()) as connection:
                _patiently(lambda: self._prepare(connection))
                with _committed(connection, begin):
                    self._now.connection = connection
                    yield connection
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise  # a bug of ours, not a problem of the file
        except sqlite3.DatabaseError as error:
            raise refusal(_kind(error), self.path) from error
        finally:
            self._now.connection = None

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            is_full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
            raise refusal("full" if is_full else "unreadable", self.path) from None  # whose words quote the path

    def _connect(self) -> sqlite3.Connection:
        """Open the file; a new one is readable by its owner only. Refuses what is too short to be one."""
        with self._disk_errors():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                found = os.fstat(handle)
            finally:
                os.close(handle)
        if not stat.S_ISREG(found.st_mode) or 0 < found.st_size < _SMALLEST:
            raise refusal("foreign", self.path)
        return _connection(self.path)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that is not ours; bring an old or empty one to this version."""
        if (_pragma(connection, "application_id"), _pragma(connection, "user_version")) != (APPLICATION, VERSION):
            self._migrate(connection)
        self._require_closed()
        with self._disk_errors():
            self._now.key, _ = read_key(self.path)
        self._require_key(connection)

    def _require_key(self, connection: sqlite3.Connection) -> None:
        first = connection.execute("SELECT item, keyed FROM register").fetchone()
        if first is None or self.keyed(first[0]) != first[1]:
            raise refusal("key", self.path)

    def _require_closed(self) -> None:
        """Refuse a register, or a key, that others than its owner may use. Windows keeps such rights elsewhere."""
        with self._disk_errors():
            found = (path for path in (self.path, key_path(self.path)) if path.exists())
            if os.name != "nt" and any(path.stat().st_mode & 0o077 for path in found):
                raise refusal("open", self.path)

    def _version(self, connection: sqlite3.Connection) -> int:
        is_empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        version = _pragma(connection, "user_version")
        if not is_empty and _pragma(connection, "application_id") != APPLICATION:
            raise refusal("foreign", self.path)
        if version > VERSION:
            raise refusal("newer", self.path)
        self._require_closed()
        return version

    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Make the tables, and import what those of an older version hold, in one transaction."""
        self._version(connection)  # nothing of a file that is refused is changed
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA secure_delete = ON")  # nothing of fingerprints without a key stays in free pages
        head = self.path.with_name(f"{self.path.name}.head")  # of a register that had a chain of entries
        with _committed(connection, "BEGIN IMMEDIATE"):
            version = self._version(connection)
            if version == 4:
                connection.execute("ALTER TABLE release ADD COLUMN text TEXT NOT NULL DEFAULT ''")
            elif version < 4:
                with self._disk_errors():
                    self._now.key = read_key(self.path)[0] or make_key(self.path)
                    kept_head = head.read_text(encoding="ascii").strip() if head.is_file() else ""
                is_old = _is_behind_its_head(connection, version, kept_head)
                _import(connection, version, self.keyed)
                with self._disk_errors():
                    keep_counter(self.path, counter_of(connection) + is_old)
            if version < 6:
                with self._disk_errors():
                    self._now.key, _ = read_key(self.path)
                self._require_key(connection)  # without it what was changed outside could not be told from what was booked
                count_units(connection, self.keyed)
            if version < VERSION:  # else another process has done it
                connection.execute(f"PRAGMA user_version = {VERSION}")
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
        with self._disk_errors():
            head.unlink(missing_ok=True)
        with suppress(sqlite3.OperationalError):  # another connection reads: then it is done when that has ended
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def counter_of(connection: sqlite3.Connection) -> int:
    """How many changes were made to a register."""
    return int(connection.execute("SELECT counter FROM register").fetchone()[0])


def _import(connection: sqlite3.Connection, version: int, keyed: Callable[[str], str]) -> None:
    """The tables of this version, with what those of versions 1 to 3 held: no epsilon is given back.

    Version 1 had fingerprints without a key; 2 and 3 had a chain of entries, of which the identity of the register and what its
    files print stay; 3 had accounts of Renyi losses, which become sums of epsilon.
    """
    old: dict[str, list[dict[str, Any]]] = {}
    names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid DESC"
    last = 0
    for (name,) in connection.execute(names).fetchall():  # what refers to another table comes before it
        if name == "release":
            last = (connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'release'").fetchone() or (0,))[0]
        cursor = connection.execute(f"SELECT * FROM {name} ORDER BY rowid")
        columns = [column[0] for column in cursor.description]
        old[name] = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
        connection.execute(f"DROP TABLE {name}")  # with its triggers
    _run(connection, _SCHEMA.read_text(encoding="utf-8"))
    if version < 2:
        for row in (*old.get("fingerprint", ()), *old.get("exploration", ())):
            row["fingerprint"] = keyed(row["fingerprint"])
        item = f"{random_128_bits():032X}"
        first = {"item": item, "content": keyed(item), "head": digest("", 1, "register", item, keyed(item))}
    else:
        first = next(row for row in old["entry"] if row["number"] == 1)
    heads = {row["item"]: row["head"] for row in reversed(old.get("entry", [])) if row["kind"] == "release"}
    for row in old.get("release", ()):
        row |= {"digest": keyed(digest(*map(row.__getitem__, BOOKED.split(", ")))), "seal": heads.get(digest(row["token"]), "")}
    about = (first["head"][:16], first["item"], first["content"], max(1, len(old.get("entry", ()))))
    connection.execute("INSERT INTO register VALUES (?, ?, ?, ?)", about)
    for name in ("data_set", "cap_change", "fingerprint", "release", "exploration", "restoration"):
        for row in old.get(name, ()):
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {name} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    connection.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'release'", (last,))


# --- from version 5 on to 6: caps and costs, which were those of one row, are those of one unit

#: Columns of a release whose content its digest keeps.
BOOKED = "token, data_set, started, learner, settings, epsilon, delta, disclosures"
#: The largest delta that the tables hold.
_MOST_DELTA = math.nextafter(1.0, 0.0)


def count_units(connection: sqlite3.Connection, keyed: Callable[[str], str]) -> None:
    """Convert caps and costs of data sets whose units have several rows, in the open transaction.

    A cost becomes that of a unit by group privacy (`for_unit`), and so does a cap; but of a cap on delta what is left is no more
    than what was left for a unit before. A release that was changed outside stays one that was.
    """
    units = "SELECT name, rows_per_unit, epsilon_cap, delta_cap FROM data_set WHERE rows_per_unit > 1"
    found = connection.execute(units).fetchall()
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall() if found else []
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for name, rows, *cap in found:
        releases = connection.execute(f"SELECT number, digest, {BOOKED} FROM release WHERE data_set = ?", (name,)).fetchall()
        losses = [PrivacyLoss(*content[5:7]) for _, _, *content in releases]
        for (number, mark, *content), loss in zip(releases, losses, strict=True):
            now = [*content[:4], _settings_of_unit(content[4], rows), *_of_unit(loss, rows), content[7]]
            seal = keyed(digest(*now)) if keyed(digest(*content)) == mark else mark
            values = (*now[4:7], seal, number)
            connection.execute("UPDATE release SET settings = ?, epsilon = ?, delta = ?, digest = ? WHERE number = ?", values)
        caps = "SELECT number, epsilon_cap, delta_cap FROM cap_change WHERE data_set = ?"
        for number, *before in connection.execute(caps, (name,)).fetchall():
            after = _cap_of_unit(PrivacyLoss(*before), losses if before == cap else [], rows)
            connection.execute("UPDATE cap_change SET epsilon_cap = ?, delta_cap = ? WHERE number = ?", (*after, number))
        after = _cap_of_unit(PrivacyLoss(*cap), losses, rows)
        connection.execute("UPDATE data_set SET epsilon_cap = ?, delta_cap = ? WHERE name = ?", (*after, name))
    for _, sql in triggers:
        connection.execute(sql)


def _of_unit(loss: PrivacyLoss, rows: int) -> tuple[float, float]:
    found = for_unit(loss, rows)
    return found.epsilon, min(found.delta, _MOST_DELTA)


def _cap_of_unit(cap: PrivacyLoss, losses: list[PrivacyLoss], rows: int) -> tuple[float, float]:
    """At most what the cap was for a unit: what was spent of delta, and what was left."""
    epsilon = sum((Fraction(loss.epsilon) for loss in losses), Fraction(0))
    delta = sum((Fraction(loss.delta) for loss in losses), Fraction(0))
    left = [max(0.0, round_down(Fraction(most) - spent)) for most, spent in ((cap.epsilon, epsilon), (cap.delta, delta))]
    known = sum((Fraction(_of_unit(loss, rows)[1]) for loss in losses), Fraction(_of_unit(PrivacyLoss(*left), rows)[1]))
    return round_down(Fraction(cap.epsilon) * rows), min(_of_unit(cap, rows)[1], round_down(known), _MOST_DELTA)


def _settings_of_unit(settings: str, rows: int) -> str:
    """Arguments of a fit: their epsilon and delta, if any, of a unit too."""
    given = json.loads(settings)
    if "epsilon" in given:
        given["epsilon"], delta = _of_unit(PrivacyLoss(given["epsilon"], given.get("delta") or 0.0), rows)
        given |= {"delta": delta} if given.get("delta") else {}
    return json.dumps(given, sort_keys=True)


def _is_behind_its_head(connection: sqlite3.Connection, version: int, kept: str) -> bool:
    """Whether a register with a chain, or an empty file in the place of one, is an old copy: by the file with its latest head."""
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
        connection.create_function("digest", -1, digest, deterministic=True)  # triggers of old versions call it
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")  # a commit is on disk before anything is released
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


@contextmanager
def _committed(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    """What is done within is committed, or undone after an error. From its begin on it sees the file as it is then."""

    def start() -> None:
        connection.execute(begin)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.DatabaseError:
            connection.execute("ROLLBACK")
            raise

    _patiently(start)
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


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


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
