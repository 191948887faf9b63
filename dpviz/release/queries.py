"""The register in SQL: what is read comes back as records. Each function works inside the transaction its caller has opened."""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import astuple, fields
from datetime import UTC, datetime
from typing import Any, TypeVar

from dpviz.errors import DocumentError, RegisterError, UnknownName
from dpviz.release.records import Balance, CapChange, DataSet, Entry, Exploration
from dpviz.release.store import digest
from dpviz.table.strict_json import parse_json, read

T = TypeVar("T")
#: What the column of names holds for a digest that is no assignment of rows (`dpviz.release.recognition`).
MARK = '[""]'


def now() -> str:
    """ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def note_caps(connection: sqlite3.Connection, change: CapChange) -> None:
    """Keep that these caps hold from now on."""
    sql = "INSERT INTO cap_change (data_set, at, epsilon_cap, delta_cap, reason, made_by) VALUES (?, ?, ?, ?, ?, ?)"
    connection.execute(sql, astuple(change))


def cap_changes(connection: sqlite3.Connection, name: str) -> tuple[CapChange, ...]:
    """Every cap a data set has had, oldest first."""
    columns = ", ".join(field.name for field in fields(CapChange))
    sql = f"SELECT {columns} FROM cap_change WHERE data_set = ? ORDER BY number"
    return _records(connection, CapChange, sql, (name,))


def has_recorded_caps(connection: sqlite3.Connection, known: DataSet) -> bool:
    """Whether a data set is under the caps of its last recorded change."""
    caps = [(change.epsilon_cap, change.delta_cap) for change in cap_changes(connection, known.name)]
    return caps[-1:] == [(known.epsilon_cap, known.delta_cap)]


def data_sets(connection: sqlite3.Connection, where: str = "", *values: str) -> tuple[DataSet, ...]:
    """All data sets, or those that meet a condition, by name."""
    return _records(connection, DataSet, f"SELECT * FROM data_set {where} ORDER BY name", values)


def find_data_set(connection: sqlite3.Connection, name: str) -> DataSet | None:
    """The data set called `name`, if there is one."""
    return next(iter(data_sets(connection, "WHERE name = ?", name)), None)


def data_set(connection: sqlite3.Connection, name: str) -> DataSet:
    """The data set called `name`; raises UnknownName."""
    found = find_data_set(connection, name)
    if found is None:
        raise UnknownName("data set", name, [known.name for known in data_sets(connection)])
    return found


def data_set_of_rows(connection: sqlite3.Connection, fingerprint: str) -> DataSet | None:
    """The data set these rows are assigned to; None when they are not assigned yet."""
    where = "WHERE name = (SELECT data_set FROM fingerprint WHERE fingerprint = ?)"
    return next(iter(data_sets(connection, where, fingerprint)), None)


def columns_of(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Data set -> every name of a column of the rows assigned to it."""
    found: dict[str, dict[str, None]] = {}
    sql = "SELECT data_set, columns FROM fingerprint WHERE columns <> ? ORDER BY rowid"
    for name, columns in connection.execute(sql, (MARK,)):
        found.setdefault(name, {}).update(dict.fromkeys(read(tuple[str, ...], parse_json(columns))))
    return {name: tuple(columns) for name, columns in found.items()}


def entries(connection: sqlite3.Connection, where: str = "", *values: str) -> tuple[Entry, ...]:
    """All releases, or those that meet a condition, in the order they were started."""
    return _records(connection, Entry, f"SELECT * FROM release {where} ORDER BY number", values)


def find_entry(connection: sqlite3.Connection, token: str) -> Entry | None:
    """The release with this token, if it was started."""
    return next(iter(entries(connection, "WHERE token = ?", token)), None)


def add_entry(connection: sqlite3.Connection, values: tuple[Any, ...], keyed: Callable[[str], str]) -> None:
    """A release that is started: token, data set, when, learner, settings, epsilon, delta, disclosures, file."""
    columns = "token, data_set, started, learner, settings, epsilon, delta, disclosures, file, seal, digest, state"
    mark = keyed(digest(*values[:5], *map(float, values[5:7]), values[7]))
    connection.execute(
        f"INSERT INTO release ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'started')", (*values, mark, mark)
    )


def changed_releases(connection: sqlite3.Connection, keyed: Callable[[str], str]) -> Iterator[str]:
    """Releases that are not as they were booked, or are gone, a sentence each."""
    booked = "number, digest, token, data_set, started, learner, settings, epsilon, delta, disclosures"
    numbers = list[int]()
    for number, mark, *content in connection.execute(f"SELECT {booked} FROM release ORDER BY number"):
        numbers.append(number)
        if keyed(digest(*content)) != mark:
            yield f"Release number {number:,} was changed outside dpviz."
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'release'").fetchone()
    for number in sorted(set(range(1, 1 + (last[0] if last else 0))) - set(numbers)):
        yield f"Release number {number:,} is gone."


def seal_of_release(connection: sqlite3.Connection, token: str) -> str | None:
    """What the file of this release prints: its digest; None where there is none."""
    found = connection.execute("SELECT seal FROM release WHERE token = ?", (token,)).fetchone()
    return None if found is None else str(found[0])


def seals(connection: sqlite3.Connection) -> frozenset[str]:
    """What the files of all releases print, and of those that were given up when a backup was restored."""
    lost = (parse_json(lost) for (lost,) in connection.execute("SELECT lost FROM restoration"))
    own = (seal for (seal,) in connection.execute("SELECT seal FROM release"))
    return frozenset((*own, *(seal for every in lost for seal in read(tuple[str, ...], every))))


def identity(connection: sqlite3.Connection) -> str:
    """What tells this register from others."""
    return str(connection.execute("SELECT identity FROM register").fetchone()[0])


def balance(connection: sqlite3.Connection, data_set: DataSet) -> Balance:
    """What was spent on a data set."""
    return Balance(data_set, entries(connection, "WHERE data_set = ?", data_set.name))


def explorations(connection: sqlite3.Connection) -> tuple[Exploration, ...]:
    """All explorations with the data set their rows are assigned to (or an empty text), the latest first."""
    sql = (
        "SELECT e.*, coalesce(f.data_set, '') AS data_set "
        "FROM exploration AS e LEFT JOIN fingerprint AS f USING (fingerprint) ORDER BY e.at DESC, e.rowid DESC"
    )
    return _records(connection, Exploration, sql)


def _records(connection: sqlite3.Connection, kind: type[T], sql: str, values: tuple[str, ...] = ()) -> tuple[T, ...]:
    cursor = connection.execute(sql, values)
    names = [column[0] for column in cursor.description]
    try:
        return tuple(read(kind, _plain(dict(zip(names, row, strict=True)))) for row in cursor)
    except DocumentError as error:
        remedy = "Put back a copy. Do not start a new one: what was spent stays spent."
        raise RegisterError("damaged", "An entry of the release register cannot be read.", remedy=remedy) from error


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row as a record has it: columns of JSON are parsed, epsilon and delta are one loss."""
    parsed = {name: parse_json(read(str, row[name])) for name in ("settings", "disclosures") if name in row}
    return row | parsed | {"loss": {"epsilon": row.get("epsilon"), "delta": row.get("delta")}}
