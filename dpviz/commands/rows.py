"""The table and schema that a command was given, and what the user must know about a schema that was read from the data."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from dpviz.commands import console
from dpviz.errors import DpvizError
from dpviz.io.schemas import load_schema
from dpviz.io.tables.read import read_table
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.proposal import left_out, propose_schema
from dpviz.table.raw import RawTable
from dpviz.table.schema import Schema

_SHOWN = 6


def table_and_schema(args: Namespace) -> tuple[RawTable, Schema]:
    """DATA with its `--schema`, or with one read from the data."""
    if args.schema and args.target:
        raise DpvizError("--target and --schema cannot be combined.", remedy="The schema names the target; leave --target out.")
    declared = load_schema(args.schema) if args.schema else None
    table = table_of(args)
    return table, declared or propose_schema(_without(table, getattr(args, "person", None)), args.target)


def table_of(args: Namespace) -> RawTable:
    """DATA as it is."""
    console.doing(f"Reading {args.data}")
    return read_table(
        args.data,
        names=args.names,
        delimiter=args.delimiter,
        encoding=args.encoding,
        sheet=args.sheet,
        progress=lambda share: console.doing(f"Reading {args.data}, {share:.0%}"),
    )


def _without(table: RawTable, name: str | None) -> RawTable:
    return replace(table, columns=tuple(column for column in table.columns if column.name != name))


def encoded_rows(args: Namespace) -> EncodedDataset:
    """DATA, encoded by its `--schema` or by one read from the data."""
    return encode(*table_and_schema(args), person=args.person, rows_per_person=args.rows_per_person)


def warn_of_proposal(table: RawTable, schema: Schema, target: str | None) -> None:
    """Say which column is the target when nobody chose one, and which columns cannot be used."""
    if target is None:
        console.warn(f"No --target: the last column, {schema.target.name!r}, is used.")
    for column, reason in left_out(table, schema):
        console.warn(f"The column {column!r} is left out: {reason}.")


def warn_of_read_values(schema: Schema) -> None:
    """One warning that counts and names the values read from the data; none when everything is declared."""
    by_column: dict[str, list[str]] = {}
    for column, field in schema.read_fields():
        by_column.setdefault(column, []).append(field)
    if not by_column:
        return
    named = [
        column if column in schema.read_from_data else f"{column} ({', '.join(fields)})" for column, fields in by_column.items()
    ]
    more = f" and {len(named) - _SHOWN} more columns" if len(named) > _SHOWN else ""
    console.warn(
        f"{len(schema.read_fields())} values of the schema were read from the data, not declared: "
        f"{'; '.join(named[:_SHOWN])}{more}. No epsilon covers them. Declare them from public knowledge in a schema file."
    )
