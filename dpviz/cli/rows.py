"""The table and schema that a command was given, and what the user must know about a schema that was read from the data."""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from dpviz.cli import console
from dpviz.errors import DpvizError, ReadingWarning
from dpviz.io.options import ReadOptions
from dpviz.io.schemas import load_schema
from dpviz.io.tables.read import read_asked
from dpviz.learners import require_counts, require_task
from dpviz.progress import watched
from dpviz.rows.address import parse_address
from dpviz.rows.files import is_large
from dpviz.rows.opening import encode_large, open_table
from dpviz.rows.sources import LocalRows, SourceRows
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.notes import Doubt
from dpviz.table.proposal import left_out, propose_schema
from dpviz.table.raw import RawTable
from dpviz.table.schema import Schema
from dpviz.training.contract import LearnerSpec
from dpviz.training.counted_rows import Rows

_SHOWN = 6
_NOT_IN_ENGINE = "This is not for a table in an engine."


def table_and_schema(args: Namespace) -> tuple[RawTable, Schema]:
    """DATA with its `--schema`, or with one read from the data."""
    declared = _declared(args)
    table = table_of(args, (*declared.feature_names, declared.target.name) if declared else None)
    return table, declared or _proposed(_without(table, getattr(args, "person", None)), args.target)


def _proposed(table: RawTable, target: str | None) -> Schema:
    """A schema read from the rows. Its doubts name no column: without a header line a name is a cell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)
        schema = propose_schema(table, target)
    place = {name: f"column {place}" for place, name in enumerate(table.names, 1)}
    tell(note.about(place[name]) if name else note for name, note in table.remarks if isinstance(note, Doubt))
    return schema


def _declared(args: Namespace) -> Schema | None:
    if args.schema and args.target:
        raise DpvizError("--target and --schema cannot be combined.", remedy="The schema names the target; leave --target out.")
    return load_schema(args.schema) if args.schema else None


@dataclass(frozen=True)
class Given:
    """The rows of DATA, encoded, and what is known of their source. `table` is None where they are not in memory."""

    source: str
    rows: Rows
    names: tuple[str, ...]
    n_read: int
    table: RawTable | None = None


@contextmanager
def given_rows(args: Namespace, spec: LearnerSpec) -> Iterator[Given]:
    """DATA, encoded to train a learner: in memory; in batches where it is a folder, a database, too large, or at an address."""
    if isinstance(args.data, str):
        with _rows_to_train(args) as rows:
            require_task(spec, rows.schema)
            require_counts(spec, rows)
            console.doing("Encoding the rows")
            names = (*rows.schema.feature_names, rows.schema.target.name)
            report = rows.report
            assert report is not None
            yield Given(str(parse_address(args.data)), rows, names, report.rows_read)
        return
    if is_large(args.data):
        schema = _schema_of_large(args)
        require_task(spec, schema)
        require_counts(spec, schema)
        with large_rows(args, schema, args.person, args.rows_per_person) as rows:
            yield Given(args.data.name, rows, rows.names, rows.report.rows_read)
        return
    table, schema = table_and_schema(args)
    require_task(spec, schema)
    console.doing("Encoding")
    data = encode(table, schema, person=args.person, rows_per_person=args.rows_per_person)
    yield Given(table.source, data, table.names, table.n_rows, table)


def _rows_to_train(args: Namespace) -> SourceRows:
    """The rows at the address DATA, by the schema that is named; nothing is read yet."""
    parse_address(args.data)  # what is wrong with the address comes before all else
    require_plain(args, "target")
    if args.schema is None:
        remedy = "Declare one from public knowledge, and name its file with --schema."
        raise DpvizError("A table in an engine needs a schema: nothing is read to propose one.", where="--schema", remedy=remedy)
    return engine_rows(args, load_schema(args.schema), args.person, args.rows_per_person)


def engine_rows(args: Namespace, schema: Schema, person: str | None = None, rows_per_person: int | None = None) -> SourceRows:
    """The rows at the address DATA; nothing is read yet."""
    require_plain(args)
    console.doing("Asking the engine for the types of the columns")
    return open_table(args.data, schema, person=person, rows_per_person=rows_per_person)


def require_plain(args: Namespace, *more: str) -> None:
    """Raise DpvizError where an argument says how a file is read, but DATA is an address."""
    given = next((name for name in (*more, *reading_of(args)) if getattr(args, name) is not None), None)
    if given is not None:
        raise DpvizError(_NOT_IN_ENGINE, where=f"--{given}", remedy="Leave it out.")


def _schema_of_large(args: Namespace) -> Schema:
    """The schema that was named; a table this large proposes none."""
    which = "a folder, a database, or larger than memory"
    schema = _declared(args)
    if schema is None:
        remedy = "Write one for a small part with `dpviz schema`, correct it, and name it with --schema."
        raise DpvizError(f"{args.data.name!r} is {which}, so it needs a schema.", where="--schema", remedy=remedy)
    return schema


def large_rows(args: Namespace, schema: Schema, person: str | None = None, rows_per_person: int | None = None) -> LocalRows:
    """DATA, read in batches and encoded."""
    about = {"person": person, "rows_per_person": rows_per_person, **reading_of(args)}
    rows = encode_large(args.data, schema, **about, progress=console.telling(f"Reading and encoding {args.data}"))
    tell(rows.notes)
    return rows


def table_of(args: Namespace, wanted: tuple[str, ...] | None = None, *, by_record: bool = False, key: str = "") -> RawTable:
    """DATA as it is; `wanted`, `by_record` and `key` as in `ReadOptions`."""
    console.doing(f"Reading {args.data}")
    step = watched(console.telling(f"Reading {args.data}"), None)
    options = ReadOptions(args.data.name, **reading_of(args), step=step, wanted=wanted, by_record=by_record, key=key)
    table = read_asked(args.data, options)
    tell(table.notes)
    return table


def tell(notes: Iterable[str]) -> None:
    """Keep what the reader noticed until the command prints."""
    for note in notes:
        console.note(note)


def reading_of(args: Namespace) -> dict[str, Any]:
    """How DATA is read, as keyword arguments."""
    return {name: getattr(args, name) for name in ("names", "delimiter", "encoding", "sheet")}


def _without(table: RawTable, name: str | None) -> RawTable:
    return replace(table, columns=tuple(column for column in table.columns if column.name != name))


def encoded_rows(args: Namespace) -> EncodedDataset:
    """DATA, encoded by its `--schema` or by one read from the data."""
    return encode(*table_and_schema(args), person=args.person, rows_per_person=args.rows_per_person)


def warn_of_proposal(table: RawTable, schema: Schema, target: str | None, *, named: bool = False) -> None:
    """Say which column is the target when nobody chose one, and which columns cannot be used.

    By name only where somebody wants to look at the file: its first line may be a row.
    """
    if target is None:
        console.warn(f"No --target: the last column{f', {schema.target.name!r},' if named else ''} is used.")
    for column, reason in left_out(table, schema):
        which = f"The column {column!r}" if named else f"Column {table.names.index(column) + 1}"
        console.warn(f"{which} is left out: {reason}.")


def warn_of_read_values(schema: Schema, *, named: bool) -> None:
    """One warning that counts the values read from the data, and names them where the names are declared; else none."""
    by_column: dict[str, list[str]] = {}
    for column, field in schema.read_fields():
        by_column.setdefault(column, []).append(field)
    if not by_column:
        return
    count = f"{len(schema.read_fields())} values of the schema were read from the data, not declared"
    remedy = "No epsilon covers them. Declare them from public knowledge in a schema file."
    if not named:
        console.warn(f"{count}. {remedy}")
        return
    columns = [
        column if column in schema.read_from_data else f"{column} ({', '.join(fields)})" for column, fields in by_column.items()
    ]
    more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
    console.warn(f"{count}: {'; '.join(columns[:_SHOWN])}{more}. {remedy}")
