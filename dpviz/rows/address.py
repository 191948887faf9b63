"""Addresses of tables in an engine: where the engine is and what the table is called, never a password."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from dpviz.errors import TableError

_FORM = "Write postgresql://user@host/database?table=NAME, duckdb:///FOLDER/FILE?table=NAME or spark:///?table=NAME."
_PASSWORD = "Leave it out: PostgreSQL's own files (~/.pgpass) and PG* variables, or Spark's own configuration, are used."
_ENGINES = ("postgresql", "duckdb", "spark")


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
    return text.partition(":")[0].lower() in (*_ENGINES, "postgres") and "://" in text


def parse_address(text: str) -> Address:
    """The parts of an address. Raises TableError, which does not quote it: it may hold a password."""
    try:
        parts = urlsplit(text)
        port, password = parts.port, parts.password
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise TableError("address", "This is not the address of a table.", remedy=_FORM) from None
    engine, query = "postgresql" if parts.scheme == "postgres" else parts.scheme, {"table": ""} | dict(pairs)
    if password is not None or any("pass" in name.lower() or "token" in name.lower() for name in query):
        raise TableError("password", "An address may not hold a password.", remedy=_PASSWORD)
    table = tuple(query["table"].split("."))
    user, host, path = unquote(parts.username or ""), parts.hostname or "", unquote(parts.path).removeprefix("/")
    has_place = bool(user or host or port)
    problems = {
        "This engine is not known.": engine not in _ENGINES,
        "The address must name one table, and nothing else but an order.": (
            not {*query} <= {"table", "order"} or len(pairs) != len(query) or not all(query.values()) or parts.fragment
        ),
        "A table has a name of at most three parts: catalog.schema.table.": len(table) > 3 or not all(table),
        "The address of a DuckDB table holds the path of its file.": engine == "duckdb" and (has_place or not path),
        "The address of a Spark table holds no place: the session's own configuration says where the cluster is.": (
            engine == "spark" and (has_place or path)
        ),
    }
    for what, is_so in problems.items():
        if is_so:
            raise TableError("address", what, remedy=_FORM)
    return Address(engine, table, query.get("order", ""), user, host, port, path)


def identifier(name: str, mark: str) -> str:
    """A quoted name: quotes inside are doubled, so that a column called `x"; DROP TABLE` stays a column."""
    return mark + name.replace(mark, mark * 2) + mark
