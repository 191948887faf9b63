"""CSV files to `RawTable`, one record at a time: what happens to a row depends on no other row.

A record is a physical line. The delimiter and the encoding come from the caller, a byte-order mark or the header line, never
from the rows. A line with another number of cells than the header, or with a quote that is never closed, is left out and
counted; a byte that cannot be read spoils its own cell only. So a row that is added or removed changes one row of the table at
most (`tests/io/test_row_wise.py`).

`TableError.code` is one of not-a-file, empty, gzip, not-csv, encoding, line-ends, too-many-bytes, too-many-rows,
too-many-columns, no-header, header-numbers, one-column, blank-name, duplicate-name. All but the three limits, which belong to the
declared domain, speak of the file or its header. No message quotes a cell, or the header: it may be a row.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count, islice

import numpy as np

from dpviz.errors import TableError
from dpviz.io.limits import MAX_BYTES, MAX_COLUMNS, MAX_ROWS, require_rows
from dpviz.io.options import ReadOptions
from dpviz.io.records import Aligned, Chunks, table_of_records
from dpviz.io.text import LONGEST_LINE, UNREADABLE, Source, name_of, read_text
from dpviz.progress import Progress, Stop, watched
from dpviz.table.cells import MARKS_OF, Marks, parse_numbers
from dpviz.table.notes import Doubt, warn_of
from dpviz.table.raw import RawTable
from dpviz.table.schema import LONGEST_NAME

#: What may separate cells, with its name.
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_LINES_AT_ONCE = 1024
_FIRST_LINE = "The first line holds the names of two columns or more: lines above it and blank columns beside it have to go."
#: How Spark and MySQL write a quote inside a cell.
ESCAPED = '\\"'
_LOST = "lost"
csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))  # of Python: 131,072


def read_csv(
    source: Source,
    *,
    name: str | None = None,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    row_wise: bool = True,
    rename_duplicates: bool = False,
    max_bytes: int = MAX_BYTES,
    max_rows: int = MAX_ROWS,
    max_columns: int = MAX_COLUMNS,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> RawTable:
    """Read a table of text.

    Parameters
    ----------
    source : str, Path, bytes or binary file
        .csv or .csv.gz. Private rows.
    name : str, optional
        What messages call the table; the file name by default.
    names : sequence of str, optional
        Column names of a file without a header. By default the first line holds them.
    delimiter : str, optional
        Comma, semicolon, tab or vertical bar; by default the one that divides the header line best.
    encoding : str, optional
        By default UTF-8, or Windows-1252 where the header line is no UTF-8. One of `dpviz.io.text.ENCODINGS`.
    row_wise : bool
        False lets a cell in quotes span lines and accepts UTF-16, so that one row can change others: only for rows that are
        not private. Nothing can be released from such a table.
    rename_duplicates : bool
        True tells columns of the same name apart ("age", "age (2)") instead of refusing them. Only the header line counts.
    max_bytes, max_rows, max_columns : int
        Limits, checked before memory is spent; `max_bytes` holds before and after unpacking, `max_rows` counts lines. By
        default they follow from the memory there is (`dpviz.io.limits`).
    progress : callable (share in [0, 1]), optional
        Told how much of the file is read.
    stop : callable or Event, optional
        Ends the reading with Cancelled.

    Raises
    ------
    TableError
        The file is no table of text, or is larger than the limits; `code`, `row` and `column` say what and where.
    """
    given = None if names is None else tuple(names)
    limits, told = (max_bytes, max_rows, max_columns), watched(progress, stop)
    asked = ReadOptions(name_of(source, name), *limits, given, delimiter, encoding, rename=rename_duplicates, step=told)
    table = read_lines(source, asked, row_wise=row_wise)
    warn_of(table.notes)
    return table


def read_lines(source: Source, asked: ReadOptions, *, row_wise: bool = True) -> RawTable:
    """As `read_csv`."""
    has_header = asked.names is None
    text = read_text(source, header=has_header, encoding=asked.encoding, row_wise=row_wise, max_bytes=asked.max_bytes)
    n_lines = text.raw.count(b"\n")  # blank ones included
    require_rows(n_lines - has_header, asked.max_rows, "lines")
    lines = text.lines()
    header = Header.of(lines, asked)
    escaped = set[str]()
    followed = _followed(lines, n_lines + 1, asked.step)
    if asked.by_record:
        records = _spanning(followed, header.delimiter, header.width, escaped)
    else:
        records = _records(followed, header, row_wise, escaped)
    reason = "" if row_wise and not asked.by_record else "its reader let cells in quotes span lines"
    marks = MARKS_OF.get(header.delimiter, Marks.UNKNOWN)
    table = table_of_records(records, header.names, asked.title, (*text.notes, *header.notes), reason, marks)
    return replace(table, notes=(*table.notes, *_doubts(table, escaped, text.encoding)))


def _followed(lines: Iterator[str], n_lines: int, step: Progress) -> Iterator[str]:
    """The lines; `step` is told now and then how many of them are read."""
    for place, line in enumerate(lines):
        if place % _LINES_AT_ONCE == 0:
            step(min(1.0, place / n_lines))
        yield line


def _doubts(table: RawTable, escaped: set[str], encoding: str) -> Iterator[str]:
    if 2 * table.n_malformed > table.n_rows + len(table.left_out):
        yield Doubt("Most lines have another number of cells than the first line.", help="delimiter")
    if _LOST in escaped:
        what = "Some lines are left out where a backslash stands before a quote or before what separates cells."
        yield Doubt(f"{what} Write such cells in quotes, and a quote in them twice.")
    if ESCAPED in escaped:
        yield Doubt("In some lines a backslash stands before a quote: the quote was read as part of its cell.")
    if any(UNREADABLE in pack for column in table.columns for pack in column.packs or ()):
        yield Doubt(f"Some cells are not {encoding.upper()}: letters in them are lost.", help="encoding")


def _records(lines: Iterator[str], header: Header, row_wise: bool, escaped: set[str]) -> Chunks:
    """Records in order, some at a time; None for a line that is none. `escaped` hears what backslashes did."""
    if not row_wise:
        yield from _joined(lines, header.delimiter)
        return
    while some := list(islice(lines, _LINES_AT_ONCE)):
        if sum(map(len, some)) > LONGEST_LINE:  # one at a time, for cells take up to ten times the memory of their text
            for line in some:
                yield from _records(iter([line if len(line) <= LONGEST_LINE else '"\n']), header, row_wise, escaped)
            continue
        columns = columns_of(some, header.delimiter, header.width)
        if columns is not None:
            yield Aligned(columns)
            continue
        records, lost = cells_of(some, header.delimiter), f"\\{header.delimiter}"
        for place, line in enumerate(some):
            if ESCAPED in line and _strict_cells(line, header.delimiter, header.width) is None:
                records[place] = escaped_cells(line, header.delimiter, header.width)
                escaped |= {ESCAPED} if records[place] is not None else {_LOST}
            elif lost in line and len(records[place] or ()) != header.width:
                escaped.add(_LOST)
        yield records


def _joined(lines: Iterable[str], delimiter: str) -> Iterator[list[list[str] | None]]:
    """Records whose quoted cells may span lines."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    while True:
        some: list[list[str] | None] = []
        try:
            some.extend(islice(reader, _LINES_AT_ONCE))
        except csv.Error:
            some.append(None)
        if not some:
            return
        yield some


def _spanning(lines: Iterator[str], delimiter: str, width: int, escaped: set[str]) -> Chunks:
    """Records as a spreadsheet counts them: an open quote takes lines in up to its end, and is no record where it has none.

    What a line without quotes holds stays as it is written, blanks too.
    """
    waiting = deque[str]()
    while True:
        waiting.extend(islice(lines, _LINES_AT_ONCE))
        if not waiting:
            return
        is_short = sum(map(len, waiting)) <= LONGEST_LINE
        columns = columns_of(list(waiting), delimiter, width) if is_short else None
        if columns is not None:
            waiting.clear()
            yield Aligned(columns)
        while waiting:
            records: list[list[str] | None] = []
            while waiting and len(records) < (_LINES_AT_ONCE if is_short else 1):
                line, cells = waiting[0], None
                if ESCAPED in line and len(line) <= LONGEST_LINE and _strict_cells(line, delimiter, width) is None:
                    cells = escaped_cells(line, delimiter, width)
                escaped |= {ESCAPED} if cells is not None else set()
                records.append(cells if cells and waiting.popleft() else _next_record(waiting, lines, delimiter))
            yield records


def _next_record(waiting: deque[str], lines: Iterator[str], delimiter: str) -> list[str] | None:
    """The cells of the first waiting line, and of what its quotes take in; these lines wait no longer."""
    bare = waiting[0].removesuffix("\n").removesuffix("\r")
    if '"' not in bare and "\r" not in bare:
        waiting.popleft()
        return bare.split(delimiter) if max(map(len, bare.split(delimiter))) <= csv.field_size_limit() else None
    skips = re.search(f'(?:^|{re.escape(delimiter)}) +"', bare) is not None
    record, n_lines = cells_of([waiting[0]], delimiter, skips)[0], 1
    if record is None:
        reader = csv.reader(_up_to_longest(waiting, lines), delimiter=delimiter, skipinitialspace=skips, strict=True)
        with suppress(csv.Error, StopIteration):
            record = next(reader)
            n_lines = reader.line_num
    for _ in range(n_lines):
        waiting.popleft()
    return record


def _up_to_longest(waiting: deque[str], lines: Iterator[str]) -> Iterator[str]:
    """The waiting lines and, once they are used up, further ones, which wait then; no more letters than a line may have."""
    n_letters = 0
    for place in count():
        if place == len(waiting):
            waiting.extend(islice(lines, 1))
        if place == len(waiting) or (n_letters := n_letters + len(waiting[place])) > LONGEST_LINE:
            return
        yield waiting[place]


# --- the header


@dataclass(frozen=True)
class Header:
    """Column names, the delimiter that divides every line, and notes for the owner."""

    names: list[str]
    delimiter: str
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, lines: Iterator[str], asked: ReadOptions) -> Header:
        """Names and delimiter (commas unless somebody says otherwise) from the caller, else from the first line alone."""
        if asked.names is None:
            header = cls._read(lines, asked)
        else:
            header = cls(list(asked.names), _checked_delimiter(asked.delimiter) or ",")
        if header.width == 1:
            what = "There is only one column. Cells may be separated by commas, semicolons, tabs or vertical bars."
            remedy = f"Save the file with one of these delimiters. {_FIRST_LINE}"
            raise TableError("one-column", what, row=1, remedy=remedy)
        check_names(header.names, asked.max_columns)
        return header

    @classmethod
    def _read(cls, lines: Iterator[str], asked: ReadOptions) -> Header:
        line = next(lines, "")
        if not line.strip():
            remedy = "Choose a CSV file with one line of column names and then the data."
            raise TableError("empty", "The file is empty.", remedy=remedy)
        chosen = _checked_delimiter(asked.delimiter) or max(DELIMITERS, key=lambda mark: len(cells_of([line], mark)[0] or ()))
        if line.count(chosen) >= asked.max_columns and '"' not in line:
            raise _too_many_columns(line.count(chosen) + 1, asked.max_columns)
        header = cells_of([line], chosen)[0]
        if header is None or (len(header) == 1 and line.count('"') % 2):
            what = "The first line has a quote that is never closed, or is too long."
            raise TableError("no-header", what, row=1, remedy="Put the column names into the first line.")
        names = [cell.strip() for cell in header]
        check_header(names)
        notes = tuple(_header_notes(names, header, chosen))
        return cls(told_apart(names) if asked.rename else names, chosen, notes)

    @property
    def width(self) -> int:
        """Cells of a record."""
        return len(self.names)


def _checked_delimiter(delimiter: str | None) -> str | None:
    if delimiter is None or delimiter in DELIMITERS:
        return delimiter
    remedy = "Give ',', ';', '|' or a tab, or leave it out."
    raise TableError("delimiter", f"Cells cannot be separated by {delimiter[:10]!r}.", remedy=remedy)


def _header_notes(names: list[str], header: list[str], delimiter: str) -> Iterator[str]:
    if names != header:
        yield "Blanks around column names were removed."
    numbers = np.flatnonzero(~np.isnan(parse_numbers(names))) + 1
    if len(numbers):
        what = f"Column names are numbers, first in column {numbers[0]}: the first line seems to be a row."
        yield Doubt(what, help="names")
    if delimiter != ",":
        yield f"Cells are separated by {DELIMITERS[delimiter]}."


def check_header(names: list[str]) -> None:
    """The first line of a file holds names rather than a row, as far as one can tell."""
    if not any(names):
        remedy = "Put the column names into the first line."
        raise TableError("no-header", "The first line has no column name.", row=1, remedy=remedy)
    if not np.isnan(parse_numbers(names)).any():
        remedy = "Put a line of column names above the data, or give the names."
        raise TableError("header-numbers", "The first line holds only numbers: it seems to be data.", row=1, remedy=remedy)


def check_names(names: list[str], max_columns: int) -> None:
    """Column names of any file: at least two, not too many, each there and each once."""
    if len(names) > max_columns:
        raise _too_many_columns(len(names), max_columns)
    if len(names) < 2:
        raise TableError("one-column", "There are fewer than two columns.", remedy=_FIRST_LINE)
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if not name:
            remedy = f"Name it, or delete the column (a table saved with its row numbers has such a column). {_FIRST_LINE}"
            raise TableError("blank-name", f"Column {place} has no name.", row=1, remedy=remedy)
        if len(name) > LONGEST_NAME:
            what = f"The name of column {place} has over {LONGEST_NAME:,} letters."
            remedy = "Make sure the first line holds column names, and shorten this one."
            raise TableError("long-name", what, row=1, remedy=remedy)
        if name in seen:
            what = f"Columns {seen[name]} and {place} have the same name."
            remedy = "Give every column its own name; in Python, rename_duplicates=True does."
            raise TableError("duplicate-name", what, row=1, remedy=remedy)
        seen[name] = place


def _too_many_columns(found: int, most: int) -> TableError:
    what = f"There are {found:,} columns; at most {most:,} can be read."
    return TableError("too-many-columns", what, row=1, remedy="Keep fewer columns; in Python, raise max_columns.")


def told_apart(names: list[str]) -> list[str]:
    """The names, each once: the second "age" becomes "age (2)". Depends on the names alone; blank ones stay as they are."""
    taken, numbers, found = set(names), defaultdict[str, Iterator[int]](lambda: count(2)), set[str]()
    told: list[str] = []
    for name in names:
        if name and name in found:
            name = next(new for number in numbers[name] if (new := f"{name} ({number})") not in taken)
        found.add(name)
        told.append(name)
    return told


def columns_of(lines: list[str], delimiter: str, width: int) -> list[list[str]] | None:
    """The cells of all lines, column by column, where nothing but delimiters shapes them: no quote, and `width` cells a line.

    Gives what `cells_of` gives, apart from blanks around cells, in a fraction of the time; None where it might not.
    """
    text = "".join(lines)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    is_plain = '"' not in text and "\r" not in text and max(map(len, lines)) <= csv.field_size_limit()
    if not is_plain or any(line.count(delimiter) != width - 1 for line in lines):
        return None
    cells = text.replace("\n", delimiter).split(delimiter)
    return [cells[place:-1:width] for place in range(width)]


def escaped_cells(line: str, delimiter: str, width: int) -> list[str] | None:
    """The cells of a line in which a backslash makes a quote part of a cell; None where it is no record of this width."""
    if _HELD in line:
        return None
    held = re.sub(r'(\\+)"', lambda found: "\\" * (len(found[1]) // 2) + (_HELD if len(found[1]) % 2 else '"'), line)
    cells = _strict_cells(held, delimiter, width)
    return None if cells is None else [cell.replace(_HELD, '"') for cell in cells]


#: Stands for a quote that is part of a cell, while the others are read.
_HELD = "\x02"


def _strict_cells(line: str, delimiter: str, width: int) -> list[str] | None:
    """The cells, where every quoted one ends at a delimiter or with the line and there are `width` of them."""
    try:
        (cells,) = csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        return None
    return cells if len(cells) == width else None


def cells_of(lines: list[str], delimiter: str, skip_blanks: bool = True) -> list[list[str] | None]:
    """Cells of every line by itself; None where a quote stays open or a cell is too long.

    The lines go through one reader where none of them runs into the next, which is the case when there are as many records
    as lines; else each has a reader of its own. Both give the same.
    """
    try:
        records: list[list[str] | None] = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=skip_blanks))
    except csv.Error:
        records = []
    if len(records) != len(lines):
        if len(lines) == 1:
            return [None]
        return [cells_of([line], delimiter, skip_blanks)[0] for line in lines]
    if records and records[-1] and records[-1][-1].endswith("\n"):  # only an open quote takes in the end of a line
        records[-1] = None
    return records
