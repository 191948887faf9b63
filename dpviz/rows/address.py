"""Addresses of tables in an engine: where the engine is and what the table is called, never a password."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from dpviz.errors import EngineError

_FORM = "Write postgresql://user@host/database?table=NAME, duckdb:///FOLDER/FILE?table=NAME or spark:///?table=NAME."
_PASSWORDS = {
    "postgresql": "Leave it out: PostgreSQL's own password file (~/.pgpass), service file and PG* variables are used.",
    "duckdb": "Leave it out: the rights of the file decide.",
    "spark": "Leave it out: the session's own configuration is used.",
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a table is."""

    engine: str  #: "postgresql", "duckdb" or "spark"
    table: tuple[str, ...]  #: The table's name, with its schema and catalog before it
    #: The column by which rows are numbered, so that a seed assigns them as in a file in this order. Without it rows are
    #: numbered as they are stored.
    order: str = ""
    #: user, host, port, database: of a server; for DuckDB `database` is the path of the file. Empty where the driver's own
    #: settings decide.
    user: str = ""
    host: str = ""
    port: int | None = None
    database: str = ""

    def __str__(self) -> str:
        return f"{self.engine}: {'.'.join(self.table)}"


def is_address(text: str) -> bool:
    """Whether this names a table in an engine rather than a file."""
    return text.partition(":")[0].lower() in {*_PASSWORDS, "postgres"} and "://" in text


def parse_address(text: str) -> Address:
    """The parts of an address. Raises EngineError, which does not quote it: it may hold a password."""
    try:
        parts = urlsplit(text)
        port, password = parts.port, parts.password
        asked = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise EngineError("address", "This is not the address of a table.", remedy=_FORM) from None
    engine = "postgresql" if parts.scheme == "postgres" else parts.scheme
    if engine not in _PASSWORDS:
        raise EngineError("address", "This engine is not known.", remedy=_FORM)
    given = dict(asked)
    if password is not None or any("pass" in name.lower() or "token" in name.lower() for name in given):
        raise EngineError("password", "An address may not hold a password.", remedy=_PASSWORDS[engine])
    if not {"table"} <= set(given) <= {"table", "order"} or len(asked) != len(given) or not all(given.values()) or parts.fragment:
        raise EngineError("address", "The address must name one table, and nothing else but an order.", remedy=_FORM)
    table = tuple(given["table"].split("."))
    if len(table) > 3 or not all(table):
        what = "A table has a name of at most three parts: catalog.schema.table."
        raise EngineError("address", what, remedy="Give a table or view of such a name.")
    user, host, path = unquote(parts.username or ""), parts.hostname or "", unquote(parts.path).removeprefix("/")
    has_place = bool(user or host or port)
    if engine == "duckdb" and (has_place or not path):
        raise EngineError("address", "The address of a DuckDB table holds the path of its file.", remedy=_FORM)
    if engine == "spark" and (has_place or path):
        what = "The address of a Spark table holds no place: the session's own configuration says where the cluster is."
        raise EngineError("address", what, remedy=_FORM)
    return Address(engine, table, given.get("order", ""), user, host, port, path)


def identifier(name: str) -> str:
    """A quoted name: quotes inside are doubled, so that a column called `x"; DROP TABLE` stays a column."""
    return '"' + name.replace('"', '""') + '"'
