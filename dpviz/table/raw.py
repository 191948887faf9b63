"""A table as it came, column by column, whatever form its rows have: frames of pandas or Polars, Arrow tables, files.

Nothing here decides what a column means; that is the schema's job. Readers of files register with `table_of`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, singledispatch
from io import IOBase
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.errors import ParameterError, SchemaError, TableError, replace_errors, value_text
from dpviz.installation import offered_modules, require_extra
from dpviz.table.cells import Marks, clean
from dpviz.table.columns import Column, has_cells, is_flat
from dpviz.table.notes import TOTAL, Note, column_notes, has_total

#: How pandas calls a column of a file that holds the names of its rows.
ROW_NAMES = "__index_level_0__"
#: Names of columns that stand in a `repr`, and in a note.
_MAX_REPR_NAMES, _MAX_NOTE_NAMES = 6, 20


@dataclass(frozen=True, eq=False, repr=False)
class RawTable:
    """A table as it was read: columns of equal length. Its cells are private; its `repr` shows none."""

    columns: tuple[Column, ...]
    source: str = "table"  #: A name for messages
    #: What the reader assumed (delimiter, encoding) and left out. For the owner's eyes.
    notes: tuple[str, ...] = field(default=())
    #: Records left out because they have another number of cells than there are columns. Private.
    n_malformed: int = 0
    #: Places, among all records, of those that gave no row: malformed, or without any value. Private.
    left_out: tuple[int, ...] = ()
    #: Why one row of the source may have changed others; empty where it cannot. Nothing is released from such a table.
    not_row_wise: str = ""
    #: Cells of the column asked for (`ReadOptions.key`), one per record, as an Arrow array of the type they have where they come
    #: from; None where its texts say all there is. Private.
    key: Any = None

    def __repr__(self) -> str:
        """Where it came from; no cell, no number of rows, and no name: the first line of a file may be a row."""
        return f"RawTable({self.source!r:.80}, {len(self.columns):,} column{'s'[: len(self.columns) != 1]})"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over names and cells, hexadecimal: equal for the same table, whatever schema it is read by. Private."""
        digest = hashlib.sha256()
        for column in self.columns:
            digest.update(repr((column.name, column.distinct_texts)).encode())
            digest.update(np.maximum(column.codes, -1).astype(np.int32).data)
        return digest.hexdigest()

    def with_decimal(self, mark: str | None) -> RawTable:
        """The table whose numbers have this decimal mark (None: as it is)."""
        return self if mark is None else replace(self, columns=tuple(column.with_marks(Marks(mark)) for column in self.columns))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Column names in file order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def without_total(self) -> RawTable:
        """The table without its last row where that seems to be the total of the others: for whoever proposes. Private."""
        if not has_total(self.columns):
            return self
        is_other = np.arange(self.n_rows) < self.n_rows - 1
        return replace(self, columns=tuple(column.rows(is_other) for column in self.columns))

    @cached_property
    def remarks(self) -> tuple[tuple[str, Note], ...]:
        """(column, "" for the rows as a whole; what is remarkable about its cells). Private: made of the rows."""
        judged = self.without_total
        of_columns = ((column.name, note) for column in judged.columns for note in column_notes(column, self.left_out))
        return (*([] if judged is self else [("", TOTAL)]), *of_columns)

    def with_missing(self, codes: Mapping[str, Sequence[str]]) -> RawTable:
        """The table in which cells of these columns, each with its texts, are missing."""
        columns = tuple(column.with_missing(codes.get(column.name, ())) for column in self.columns)
        return replace(self, columns=columns)

    @property
    def n_rows(self) -> int:
        """Number of data rows, header not counted. Private."""
        return self.columns[0].n_rows

    @property
    def n_records(self) -> int:
        """Number of records of the source: those that gave a row and those that gave none. Private."""
        return self.n_rows + len(self.left_out)

    def column(self, name: str) -> Column:
        """The column called `name`; raises SchemaError, which names no other: the first line of a file may be a row."""
        for column in self.columns:
            if column.name == name:
                return column
        raise _no_column(self.source, name, self.names, self.notes)


def list_names(names: Sequence[str]) -> str:
    """How many columns there are, and what the first are called: "3 columns: 'age', 'sex', 'income'"."""
    first = ", ".join(f"{name!r:.40}" for name in names[:_MAX_REPR_NAMES])
    return f"{len(names):,} column{'s'[: len(names) != 1]}: {first}{', ...' * (len(names) > _MAX_REPR_NAMES)}"


#: Begins the note of a reader that names such columns; nobody else is told of them.
_WITHOUT_CELLS = "Left out columns of lists, records or types of a library"


def note_left_out(names: Sequence[str]) -> tuple[str, ...]:
    """The note that names columns that are left out, where there are any."""
    named = ", ".join(f"{name!r:.80}" for name in names[:_MAX_NOTE_NAMES]) + ", ..." * (len(names) > _MAX_NOTE_NAMES)
    return (f"{_WITHOUT_CELLS}: {named}.",) if names else ()


def _no_column(source: str, name: str, names: Sequence[str], notes: Sequence[str] = ()) -> SchemaError:
    """What to say where a table lacks a column. Its own names are not quoted: without a header line they are a row."""
    remedy = "Leave the column out of the schema, or choose the file the schema was made for: its first line holds the names."
    if isinstance(name, str) and any(_plain(other) == _plain(name) for other in names):
        remedy = "A column is called so but for capitals, blanks, unseen signs or signs between words: write it as the file does."
    field = name[:60] if isinstance(name, str) else ""
    if any(note.startswith(_WITHOUT_CELLS) and f"{name!r:.80}" in note for note in notes):
        what = f"The column {name!r:.80} of {source} holds lists, records or a type of a library: no numbers, no categories."
        return SchemaError(
            what, field=field, remedy="Leave it out of the schema, or save what is in them as columns of their own."
        )
    return SchemaError(f"{source} has no column {value_text(name)} among its {len(names):,}.", field=field, remedy=remedy)


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


# --- rows in any form

#: What rows may be, in words that follow "must be".
ROW_TYPES = "a DataFrame of pandas or Polars, an Arrow table, a table from read_table, or the path or bytes of a file"


def table_of(rows: Any, names: Sequence[str] | None = None, *, by_record: bool = False) -> RawTable:
    """The table of `rows`, one row each, in order. Only columns that are in `names` (None: all) need be in it.

    Takes a DataFrame of pandas, whatever hands out Arrow data (Polars, Arrow, a query of DuckDB) and a RawTable;
    `dpviz.io.tables.read` adds paths, bytes and files. `by_record`: a quoted cell of text may span lines, so that a broken line
    can change others: for rows that are predicted. Raises ParameterError for anything else, and what a reader raises.
    """
    load_readers(rows)
    table = read_form(rows, names, by_record)
    matched = _matched_names(table.names, names)
    if matched == [*table.names]:
        return table
    columns = zip(table.columns, matched, strict=True)
    return replace(table, columns=tuple(column.rename(name) for column, name in columns))


def load_readers(rows: Any) -> None:
    """Import the readers of files, which register here and with `dpviz.learners.request`, if `rows` are a file."""
    if isinstance(rows, (str, Path, bytes, IOBase)):
        offered_modules("readers")


@singledispatch
def read_form(rows: Any, names: Sequence[str] | None = None, by_record: bool = False) -> RawTable:
    """`table_of`; readers of files register here."""
    if hasattr(rows, "iloc") and hasattr(rows, "columns"):
        kinds = [getattr(kind, "pyarrow_dtype", None) for kind in rows.dtypes]
        called = list(map(str, rows.columns))
        have_cells = [kind is None or is_flat(kind) for kind in kinds]
        return _read_columns("The DataFrame", called, names, lambda place: rows.iloc[:, place], have_cells)
    if not hasattr(rows, "__arrow_c_stream__"):
        raise ParameterError("dpviz", "rows", type(rows).__name__, ROW_TYPES)
    require_extra("tables", "Reading this kind of table", "pyarrow")
    if hasattr(rows, "get_columns"):
        series = rows.get_columns()
        have_cells = [not one.dtype.is_nested() for one in series]
        return _read_columns("The table", rows.columns, names, series.__getitem__, have_cells)
    import pyarrow as pa

    with replace_errors(lambda _: TableError("cells", "This table cannot be read.", remedy="Give a DataFrame.")):
        table = rows if isinstance(rows, pa.Table) else pa.table(rows)
    return _read_columns("The table", table.column_names, names, table.column, [has_cells(field) for field in table.schema])


@read_form.register
def _(rows: RawTable, names: Sequence[str] | None = None, by_record: bool = False) -> RawTable:
    return rows


def _matched_names(columns: Sequence[str], names: Sequence[str] | None) -> list[str]:
    """The columns, called as in `names` where they differ in what nobody sees: composed accents, no-break blanks."""
    others = {clean(name): name for name in names or () if name not in columns}
    return [name if not others or name in (names or ()) else others.get(clean(name), name) for name in columns]


def _column_places(source: str, columns: list[str], names: Sequence[str] | None) -> dict[str, int]:
    """Name -> place of the columns that are wanted; raises SchemaError for one that is missing, TableError for two of a name."""
    columns = _matched_names(columns, names)
    lacking = [name for name in names or () if name not in columns]
    if lacking:
        raise _no_column(source, lacking[0], columns)
    wanted = None if names is None else frozenset(names)
    places = dict[str, int]()
    for place, name in enumerate(columns):
        if wanted is None or name in wanted:
            if name in places:
                called = "have the same name" if wanted is None else f"are called {name!r:.80}"
                what = f"Columns {places[name] + 1:,} and {place + 1:,} {called}."
                raise TableError("names", what, remedy="Give every column a name of its own.")
            places[name] = place
    if not places and wanted is None:
        raise TableError("names", "There is no column.", remedy="Give a table with columns.")
    return places


def _read_columns(
    source: str,
    called: list[str],
    names: Sequence[str] | None,
    values_of: Callable[[int], Any],
    have_cells: Sequence[bool],
) -> RawTable:
    """The table of the columns at some places; those that do not hold cells only where they are asked for by name."""
    columns, others = [], []
    for name, place in _column_places(source, called, names).items():
        if names is None and not have_cells[place]:
            others.append(name)
        else:
            # a column by its name where that is declared: without a header line it is a cell
            which = f"Column {place + 1}" if names is None else f"The column {name!r:.80}"
            what = f"{which} has cells that cannot be read."
            error = TableError("cells", what, remedy="Give it numbers, texts, dates or categories.")
            with replace_errors(lambda _, error=error: error):  # type: ignore[misc]
                columns.append(Column.from_values(name, values_of(place)))
    return RawTable(tuple(columns), source, note_left_out(others))
