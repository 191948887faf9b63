"""The table and schema that a command was given, and what the user must know about a schema that was read from the data."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dpviz.cli import console
from dpviz.errors import DpvizError, path_text
from dpviz.io.limits import MAX_ROWS
from dpviz.io.options import ReadOptions
from dpviz.io.schemas import load_schema
from dpviz.io.tables.read import read_with_options
from dpviz.learners import require_counts, require_task
from dpviz.progress import watch
from dpviz.rows.address import parse_address
from dpviz.rows.files import is_large
from dpviz.rows.opening import encode_large, open_table
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.notes import Doubt
from dpviz.table.proposal import left_out, propose_schema
from dpviz.table.raw import RawTable
from dpviz.table.schema import Schema
from dpviz.training.contract import LearnerSpec
from dpviz.training.counted_rows import Rows


@dataclass(frozen=True)
class OpenRows:
    """The rows of DATA by their schema, and what is known of their source. `table` is None where they are not in memory."""

    source: str
    rows: Rows
    names: tuple[str, ...]
    n_read: int
    table: RawTable | None = None


def declared_schema(args: Namespace) -> Schema | None:
    """The schema that `--schema` names; None where one is to be read from the data, which only a table in memory allows."""
    in_engine = isinstance(args.data, str)
    if in_engine:
        parse_address(args.data)  # what is wrong with the address comes before all else
        require_plain(args, "target")
    elif args.schema and args.target:
        raise DpvizError("--target and --schema cannot be combined.", remedy="The schema names the target; leave --target out.")
    if args.schema:
        return load_schema(args.schema)
    if in_engine:
        remedy = "Declare one from public knowledge, and name its file with --schema."
        raise DpvizError("A table in an engine needs a schema: nothing is read to propose one.", where="--schema", remedy=remedy)
    if is_large(args.data):
        what = f"{args.data.name!r} is a folder or larger than memory, so it needs a schema."
        remedy = "Write one for a small part with `dpviz schema`, correct it, and name it with --schema."
        raise DpvizError(what, where="--schema", remedy=remedy)
    return None


@contextmanager
def open_rows(args: Namespace, schema: Schema | None, learner: LearnerSpec | None = None) -> Iterator[OpenRows]:
    """DATA, encoded: in memory; in batches where it is a folder, a database, too large, or at an address.

    Without a schema one is read from the rows. A learner that cannot take them is refused before they are read or encoded.
    """
    persons = {name: getattr(args, name, None) for name in ("person", "rows_per_person")}
    if isinstance(args.data, str):
        assert schema is not None
        require_plain(args)
        console.status("Asking the engine for the types of the columns")
        with open_table(args.data, schema, **persons) as rows:
            _require_fit(learner, schema, rows)
            console.status("Encoding the rows")
            names, report = (*schema.feature_names, schema.target.name), rows.report
            yield OpenRows(str(parse_address(args.data)), rows, names, report.rows_read)
    elif is_large(args.data):
        assert schema is not None
        _require_fit(learner, schema, schema)
        progress = console.progress(f"Reading and encoding {args.data}")
        reading = {name: how for name, how in reading_of(args).items() if name != "sheet"}  # of a workbook, which is never large
        with encode_large(args.data, schema, **persons, **reading, progress=progress) as rows:
            console.note(*rows.notes)
            yield OpenRows(args.data.name, rows, rows.names, rows.report.rows_read)
    else:
        table = table_of(args, (*schema.feature_names, schema.target.name) if schema else None)
        with console.note_doubts(partial(_by_place, table.names)) if schema is None else nullcontext():
            schema = schema or _propose(table, args)
            if learner is not None:
                require_task(learner, schema)
            console.status("Encoding")
            data = encode(table, schema, **persons)
        yield OpenRows(table.source, data, table.names, table.n_rows, table)


def _require_fit(learner: LearnerSpec | None, schema: Schema, rows: Rows | Schema) -> None:
    if learner is not None:
        require_task(learner, schema)
        require_counts(learner, rows, most_rows=MAX_ROWS)


def _propose(table: RawTable, args: Namespace) -> Schema:
    columns = tuple(column for column in table.columns if column.name != args.person)
    return propose_schema(replace(table, columns=columns), args.target)


def _by_place(names: tuple[str, ...], doubt: str) -> str:
    """A doubt about a column, said of its place: without a header line a name is a cell."""
    if isinstance(doubt, Doubt) and doubt.column in names:
        return Doubt(f"column {names.index(doubt.column) + 1}: {doubt.finding}", doubt.help)
    return doubt


def encoded_rows(args: Namespace) -> EncodedDataset:
    """DATA, encoded in memory by its `--schema` or by one read from the data."""
    if is_large(args.data):
        what = "A folder or a table larger than memory can be trained on, but not studied."
        raise DpvizError(what, where=path_text(args.data), remedy="Give a part of it as one file.")
    with open_rows(args, declared_schema(args)) as source:
        assert isinstance(source.rows, EncodedDataset)
        return source.rows


def require_plain(args: Namespace, *more: str) -> None:
    """Raise DpvizError where an argument says how a file is read, but DATA is an address."""
    for name in (*more, *reading_of(args)):
        if getattr(args, name) is not None:
            raise DpvizError("This is not for a table in an engine.", where=f"--{name}", remedy="Leave it out.")


def table_of(args: Namespace, wanted: tuple[str, ...] | None = None, *, by_record: bool = False, key: str = "") -> RawTable:
    """DATA as it is; `wanted`, `by_record` and `key` as in `ReadOptions`."""
    console.status(f"Reading {args.data}")
    step = watch(console.progress(f"Reading {args.data}"), None)
    options = ReadOptions(args.data.name, **reading_of(args), step=step, wanted=wanted, by_record=by_record, key=key)
    table = read_with_options(args.data, options)
    console.note(*table.notes)
    return table


def reading_of(args: Namespace) -> dict[str, Any]:
    """How DATA is read, as keyword arguments."""
    return {name: getattr(args, name) for name in ("names", "delimiter", "encoding", "sheet")}


def warn_of_proposal(table: RawTable, schema: Schema, target: str | None, *, named: bool = False) -> None:
    """Say which column is the target when nobody chose one, and which columns cannot be used.

    By name only where somebody wants to look at the file: its first line may be a row.
    """
    if target is None:
        console.warn(f"No --target: the last column{f', {schema.target.name!r},' if named else ''} is used.")
    for column, reason in left_out(table, schema):
        label = f"The column {column!r}" if named else f"Column {table.names.index(column) + 1}"
        console.warn(f"{label} is left out: {reason}.")


def warn_of_read_values(schema: Schema) -> None:
    """One warning that counts the values read from the data, if any; the schema's file says which they are."""
    if count := len(schema.read_fields()):
        what = f"{count} values of the schema were read from the data, not declared. No epsilon covers them."
        console.warn(f"{what} Declare them from public knowledge in a schema file.")
