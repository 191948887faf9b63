"""Registers of older versions: their tables are read, converted and written anew in one transaction. No epsilon is given back.

Version 1 had fingerprints without a key. Versions 2 and 3 had a chain of entries, of which the identity of the register and what
its files print stay; 3 had accounts of Renyi losses, which become sums of epsilon. Version 4 had no texts of files. Up to version
5 caps, costs and settings were those of one row; now they are those of one unit, with all its rows.
"""

import json
import math
import sqlite3
from collections.abc import Callable, Iterable
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from dpviz.accounting.guarantee import PrivacyLoss, for_unit, round_down
from dpviz.randomness import random_128_bits

Row = dict[str, Any]
Tables = dict[str, list[Row]]
#: What refers to another table comes after it.
_TABLES = ("register", "data_set", "cap_change", "fingerprint", "release", "exploration", "restoration")
_OF_DATA_SETS = ("cap_change", "fingerprint", "release")
#: Columns of a release whose content its digest keeps.
DIGEST_COLUMNS = ("token", "data_set", "started", "learner", "settings", "epsilon", "delta", "disclosures")
#: The largest delta that the tables hold.
_MAX_DELTA = math.nextafter(1.0, 0.0)


def digest(*values: object) -> str:
    """SHA-256 of some values of a row, hexadecimal."""
    return sha256(json.dumps(values, ensure_ascii=True).encode()).hexdigest()


def mark_of(release: Row, keyed: Callable[[str], str]) -> str:
    """The keyed digest of what was booked."""
    return keyed(digest(*(release[name] for name in DIGEST_COLUMNS)))


def convert(connection: sqlite3.Connection, version: int, keyed: Callable[[str], str], head: str) -> int:
    """Bring the tables, if any, to this version, in the open transaction.

    `head` is the latest entry of the chain, as it was kept beside the register. Returns how many changes the register must have
    had: more than it counts itself where it is an old copy. Raises ValueError where the tables are of another version.
    """
    old, last = _take_tables(connection)
    if version < 4 and old["register"]:
        raise ValueError("tables of a later version")
    is_behind = version < 4 and _is_behind(old, head)
    if version < 2:
        for row in (*old["fingerprint"], *old["exploration"]):
            row["fingerprint"] = keyed(row["fingerprint"])
        item = f"{random_128_bits():032X}"
        head = digest("", 1, "register", item, keyed(item))
        old["entry"] = [{"number": 1, "kind": "register", "item": item, "content": keyed(item), "head": head}]
    if version < 4:
        _leave_chain(old, keyed)
    for data_set in old["data_set"]:
        if data_set["rows_per_unit"] > 1:
            _count_units(old, data_set, keyed)
    _write(connection, old, last)
    return int(old["register"][0]["counter"]) + is_behind


def _take_tables(connection: sqlite3.Connection) -> tuple[Tables, int]:
    """Every row of every table, which are dropped with their triggers; and the number of the last release there was."""
    old: Tables = {name: [] for name in (*_TABLES, "entry")}
    names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid DESC"
    last = 0
    for (name,) in connection.execute(names).fetchall():  # what refers to another table comes before it
        if name == "release":
            last = (connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'release'").fetchone() or (0,))[0]
        cursor = connection.execute(f"SELECT * FROM {name} ORDER BY rowid")
        columns = [column[0] for column in cursor.description]
        old[name] = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
        connection.execute(f"DROP TABLE {name}")
    return old, last


def _write(connection: sqlite3.Connection, tables: Tables, last: int) -> None:
    statement = ""
    for line in Path(__file__).with_name("register.sql").read_text(encoding="utf-8").splitlines():
        statement += f"{line}\n"
        if sqlite3.complete_statement(statement):  # `executescript` would commit what is open
            connection.execute(statement)
            statement = ""
    for name in _TABLES:
        same = " ON CONFLICT DO UPDATE SET times = times + excluded.times" if name == "exploration" else ""
        for row in tables[name]:
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {name} ({', '.join(row)}) VALUES ({marks}){same}", tuple(row.values()))
    connection.execute("DELETE FROM sqlite_sequence WHERE name = 'release'")
    connection.execute("INSERT INTO sqlite_sequence VALUES ('release', ?)", (last,))  # a release that is gone stays found


# --- up to version 3: the chain


def _is_behind(old: Tables, head: str) -> bool:
    """Whether a register with a chain, or an empty file in the place of one, is an old copy: by the latest head that was kept."""
    if not old["entry"]:
        return bool(head)
    if not head:
        return len(old["entry"]) > 1
    lost = [json.loads(row["lost"]) for row in old["restoration"]]
    return not any(head in heads for heads in ([row["head"] for row in old["entry"]], *lost))


def _leave_chain(old: Tables, keyed: Callable[[str], str]) -> None:
    first = next(row for row in old["entry"] if row["number"] == 1)
    heads = {row["item"]: row["head"] for row in reversed(old["entry"]) if row["kind"] == "release"}
    for row in old["release"]:
        row |= {"digest": mark_of(row, keyed), "seal": heads.get(digest(row["token"]), "")}
    about = {"identity": first["head"][:16], "item": first["item"], "keyed": first["content"]}
    old["register"] = [about | {"counter": len(old["entry"])}]


# --- up to version 5: numbers of one row


def _count_units(old: Tables, data_set: Row, keyed: Callable[[str], str]) -> None:
    """Convert what belongs to a data set whose units have several rows.

    A cost becomes that of a unit by group privacy (`for_unit`), and so does a cap; but of a cap on delta what is left is no more
    than what was left for a unit before. A release that was changed outside stays one that was.
    """
    rows, cap = data_set["rows_per_unit"], _cap(data_set)
    own = {name: [row for row in old[name] if row["data_set"] == data_set["name"]] for name in _OF_DATA_SETS}
    losses = [PrivacyLoss(row["epsilon"], row["delta"]) for row in own["release"]]
    for row, loss in zip(own["release"], losses, strict=True):
        is_as_booked = mark_of(row, keyed) == row["digest"]
        row["epsilon"], row["delta"] = _of_unit(loss, rows)
        row["settings"] = _settings_of_unit(row["settings"], rows)
        if is_as_booked:
            row["digest"] = mark_of(row, keyed)
    for row in (*own["cap_change"], data_set):
        spent = losses if _cap(row) == cap else []
        row["epsilon_cap"], row["delta_cap"] = _cap_of_unit(_cap(row), spent, rows)
    tables = {row["fingerprint"] for row in own["fingerprint"]}
    for row in old["exploration"]:
        if row["fingerprint"] in tables:
            row["settings"] = _settings_of_unit(row["settings"], rows)


def _cap(row: Row) -> PrivacyLoss:
    return PrivacyLoss(row["epsilon_cap"], row["delta_cap"])


def _of_unit(loss: PrivacyLoss, rows: int) -> tuple[float, float]:
    of_unit = for_unit(loss, rows)
    return of_unit.epsilon, min(of_unit.delta, _MAX_DELTA)


def _cap_of_unit(cap: PrivacyLoss, losses: list[PrivacyLoss], rows: int) -> tuple[float, float]:
    """At most what the cap was for a unit: what was spent of delta, and what was left."""
    left = PrivacyLoss(_left(cap.epsilon, (loss.epsilon for loss in losses)), _left(cap.delta, (loss.delta for loss in losses)))
    delta = sum((Fraction(_of_unit(loss, rows)[1]) for loss in (*losses, left)), Fraction(0))
    return round_down(Fraction(cap.epsilon) * rows), min(_of_unit(cap, rows)[1], round_down(delta), _MAX_DELTA)


def _left(cap: float, spent: Iterable[float]) -> float:
    return max(0.0, round_down(Fraction(cap) - sum(map(Fraction, spent))))


def _settings_of_unit(settings: str, rows: int) -> str:
    """Arguments of a fit: their epsilon and delta, if any, of a unit too."""
    values = json.loads(settings)
    if "epsilon" in values:
        values["epsilon"], delta = _of_unit(PrivacyLoss(values["epsilon"], values.get("delta") or 0.0), rows)
        values |= {"delta": delta} if values.get("delta") else {}
    return json.dumps(values, sort_keys=True)
