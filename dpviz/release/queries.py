"""The register's questions and entries in SQL. Each works inside the transaction that its caller has opened."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from dpviz.errors import UnknownName
from dpviz.release.records import Balance, DataSet, Entry
from dpviz.release.rows import ENTRY, data_set_of, entry_of


def now() -> str:
    """ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def note_caps(connection: sqlite3.Connection, name: str, epsilon_cap: float, delta_cap: float) -> None:
    """Keep that these caps hold from now on."""
    connection.execute("INSERT INTO cap_change VALUES (?, ?, ?, ?)", (name, now(), float(epsilon_cap), float(delta_cap)))


def find_data_set(connection: sqlite3.Connection, name: str) -> DataSet | None:
    """The data set called `name`, if there is one."""
    row = connection.execute("SELECT * FROM data_set WHERE name = ?", (name,)).fetchone()
    return None if row is None else data_set_of(row)


def data_set(connection: sqlite3.Connection, name: str) -> DataSet:
    """The data set called `name`; raises UnknownName."""
    found = find_data_set(connection, name)
    if found is None:
        raise UnknownName("data set", name, [row[0] for row in connection.execute("SELECT name FROM data_set ORDER BY name")])
    return found


def data_set_of_rows(connection: sqlite3.Connection, fingerprint: str) -> DataSet | None:
    """The data set these rows belong to; None when nobody has said so."""
    row = connection.execute("SELECT data_set FROM fingerprint WHERE fingerprint = ?", (fingerprint,)).fetchone()
    return None if row is None else find_data_set(connection, row[0])


def find_entry(connection: sqlite3.Connection, token: str) -> Entry | None:
    """The release of this token, if it was begun."""
    row = connection.execute(f"{ENTRY} WHERE token = ?", (token,)).fetchone()
    return None if row is None else entry_of(row)


def add_entry(connection: sqlite3.Connection, values: tuple[object, ...]) -> None:
    """A release that is started: token, data set, when, learner, settings, epsilon, delta, disclosures, file."""
    columns = "token, data_set, started, learner, settings, epsilon, delta, disclosures, file, state"
    connection.execute(f"INSERT INTO release ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'started')", values)


def entries(connection: sqlite3.Connection, name: str | None) -> tuple[Entry, ...]:
    """All releases, or those of one data set, in the order they were begun."""
    where, values = ("", ()) if name is None else (" WHERE data_set = ?", (name,))
    return tuple(map(entry_of, connection.execute(f"{ENTRY}{where} ORDER BY number", values)))


def balance(connection: sqlite3.Connection, data_set: DataSet) -> Balance:
    """What was spent on a data set."""
    return Balance(data_set, entries(connection, data_set.name))


def finish(connection: sqlite3.Connection, token: str) -> None:
    """The sealed file stands."""
    sql = "UPDATE release SET state = 'released', finished = ? WHERE token = ? AND state = 'started' AND sha256 <> ''"
    connection.execute(sql, (now(), token))
