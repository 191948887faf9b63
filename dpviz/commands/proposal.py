"""What must be said about a schema that was read from the data. Shared by `schema` and `train`."""

from __future__ import annotations

from dpviz.commands import console
from dpviz.table.proposal import left_out
from dpviz.table.raw import RawTable
from dpviz.table.schema import Schema

_SHOWN = 6


def warn_of_proposal(table: RawTable, schema: Schema, target: str | None) -> None:
    """Which column is the target when nobody chose one, and which columns cannot be used."""
    if target is None:
        console.warn(f"No --target: the last column, {schema.target.name!r}, is taken.")
    for column, reason in left_out(table, schema):
        console.warn(f"The column {column!r} is left out: {reason}.")


def warn_of_read_values(schema: Schema) -> None:
    """One warning that counts and names what was read from the data; none when everything is declared."""
    by_column: dict[str, list[str]] = {}
    for column, field in schema.read_fields():
        by_column.setdefault(column, []).append(field)
    if not by_column:
        return
    named = [column if column == "n_public" else f"{column} ({', '.join(fields)})" for column, fields in by_column.items()]
    more = f" and {len(named) - _SHOWN} more columns" if len(named) > _SHOWN else ""
    console.warn(
        f"{len(schema.read_fields())} values of the schema were read from the data, not declared: "
        f"{'; '.join(named[:_SHOWN])}{more}. No epsilon covers them. Declare them from public knowledge in a schema file."
    )
