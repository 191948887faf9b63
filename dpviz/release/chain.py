"""Every change of the register is an entry in a chain of hashes, so that a changed, removed or reordered entry is found.

The hash of an entry covers what the row it is about holds from then on, and the hash before it; the last one is the *head*.
Every release prints the head of its own entry, and a file beside the register keeps the latest. Entry 1 holds random bits, so a
head says nothing about the entries before it. The chain needs no key: whoever has the register and a head can check one
against the other.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator

#: Table -> (one of its rows in words, columns that identify it, all columns). Every insert and every update is an entry.
CHAINED: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    table: (word, tuple(key.split()), tuple(columns.split()))
    for table, word, key, columns in (
        ("data_set", "a data set", "name", "name role unit rows_per_unit epsilon_cap delta_cap declared"),
        ("cap_change", "a change of a cap", "number", "number data_set at epsilon_cap delta_cap reason made_by"),
        ("fingerprint", "an assignment of rows", "fingerprint", "fingerprint data_set assigned columns"),
        (
            "release",
            "a release",
            "token",
            "number token data_set state started finished learner settings epsilon delta disclosures file sha256",
        ),
        ("exploration", "an exploration", "fingerprint what learner settings", "fingerprint what learner settings times at"),
        ("restoration", "a restoration", "number", "number at reason made_by lost"),
        ("renyi_account", "an account of Renyi losses", "name", "name renyi_order"),
        ("renyi_loss", "the Renyi loss of a release", "token", "token renyi"),
    )
}
#: The tables that came with the third version of the register.
OF_RENYI = ("renyi_account", "renyi_loss")


def digest(*values: object) -> str:
    """SHA-256 of some values of a row, hexadecimal."""
    return hashlib.sha256(json.dumps(values, ensure_ascii=True).encode()).hexdigest()


def triggers(tables: Iterable[str]) -> str:
    """SQL: every insert into and every update of these chained tables appends an entry."""
    return "\n".join(_trigger(table, change) for table in tables for change in ("INSERT", "UPDATE"))


def _trigger(table: str, change: str) -> str:
    key, columns = ("digest(" + ", ".join(f"NEW.{name}" for name in names) + ")" for names in CHAINED[table][1:])
    return (
        f"CREATE TRIGGER {table}_{change.lower()}_is_an_entry AFTER {change} ON {table} BEGIN INSERT INTO entry "
        f"SELECT last.number + 1, '{table}', item, content, digest(last.head, last.number + 1, '{table}', item, content) "
        "FROM (SELECT number, head FROM entry ORDER BY number DESC LIMIT 1) AS last, "
        f"(SELECT {key} AS item, {columns} AS content); END;"
    )


def head(connection: sqlite3.Connection) -> str:
    """The hash of the last entry."""
    return str(connection.execute("SELECT head FROM entry ORDER BY number DESC LIMIT 1").fetchone()[0])


def holds(connection: sqlite3.Connection, known: str) -> bool:
    """Whether a hash is that of one of the entries, or was given up when a backup was restored."""
    if connection.execute("SELECT 1 FROM entry WHERE head = ?", (known,)).fetchone() is not None:
        return True
    return any(known in json.loads(lost) for (lost,) in connection.execute("SELECT lost FROM restoration"))


def may_be_old(connection: sqlite3.Connection, kept: str) -> bool:
    """Whether the kept head is not among the entries, or there is none though there are entries to lose.

    A register without any but its first entry is new: whoever made it may have been killed before a head was kept.
    """
    if kept:
        return not holds(connection, kept)
    return bool(connection.execute("SELECT count(*) > 1 FROM entry").fetchone()[0])


def head_of_release(connection: sqlite3.Connection, token: str) -> str | None:
    """The hash of the entry with which this release was started; None where there is none."""
    sql = "SELECT head FROM entry WHERE kind = 'release' AND item = ? ORDER BY number LIMIT 1"
    found = connection.execute(sql, (digest(token),)).fetchone()
    return None if found is None else str(found[0])


def release_with_head(connection: sqlite3.Connection, known: str) -> str | None:
    """The digest of the token of the release that was started with this entry; None where there is none."""
    found = connection.execute("SELECT item FROM entry WHERE kind = 'release' AND head = ?", (known,)).fetchone()
    return None if found is None else str(found[0])


def identity(connection: sqlite3.Connection) -> str:
    """What tells this register from others: the start of the hash of its first entry."""
    return str(connection.execute("SELECT head FROM entry WHERE number = 1").fetchone()[0])[:16]


def faults(connection: sqlite3.Connection) -> Iterator[str]:
    """What is wrong with the chain itself, and with the rows it is about; nothing where all is as it was written."""
    entries = connection.execute("SELECT number, kind, item, content, head FROM entry ORDER BY number").fetchall()
    yield from _broken_links(entries)
    latest = {(kind, item): content for _, kind, item, content, _ in entries}
    for table in CHAINED:
        yield from _other_rows(connection, table, latest)


def _broken_links(entries: Iterable[tuple[int, str, str, str, str]]) -> Iterator[str]:
    before = ""
    for place, (number, kind, item, content, found) in enumerate(entries, start=1):
        if number != place or found != digest(before, number, kind, item, content):
            yield f"Entry {place:,} does not follow from the one before it: entries were changed, removed or reordered."
            return
        before = found


def _other_rows(connection: sqlite3.Connection, table: str, latest: dict[tuple[str, str], str]) -> Iterator[str]:
    (word, key, columns), seen = CHAINED[table], set()
    what = word[0].upper() + word[1:]
    for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table}"):
        named = dict(zip(columns, row, strict=True))
        item = digest(*(named[name] for name in key))
        seen.add((table, item))
        entry = latest.get((table, item))
        if entry != digest(*row):
            yield f"{what} was {'added' if entry is None else 'changed'} outside the chain."
    gone = sum(1 for place in latest if place[0] == table and place not in seen)
    if gone:
        yield f"{what} that the chain knows is gone." if gone == 1 else f"{gone:,} rows like {word} are gone."
