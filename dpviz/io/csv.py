"""CSV files to `RawTable`, one record at a time: what happens to a row depends on no other row.

A record is a physical line. Names, delimiter and encoding come from the caller, a byte-order mark, a line such as sep=; or the
header line: the first that is not blank, or of the first 20 the one that holds all declared names. They never come from the rows.
A line with another number of cells than the header, or with a quote that is never closed, is left out and counted; an empty cell
behind the last column is none; a byte that cannot be read spoils its own cell only. So a row that is added or removed changes one
row of the table at most (`tests/io/test_row_wise.py`).

`TableError.code` is one of not-a-file, empty, gzip, not-csv, encoding, too-many-bytes, too-many-rows, too-many-columns,
no-header, header-numbers, one-column, blank-name, long-name, duplicate-name, delimiter. All but the three limits, which belong to
the declared domain, speak of the file or its header. No message quotes a cell, or the header: it may be a row.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count, islice

import numpy as np

from dpviz.errors import TableError
from dpviz.io.limits import MAX_BYTES, MAX_COLUMNS, MAX_ROWS, require_rows
from dpviz.io.options import ReadOptions
from dpviz.io.records import Aligned, Chunks, table_of_records
from dpviz.io.text import LONGEST_LINE, UNREADABLE, UTF8_MARK, Source, checked_encoding, encoding_of, lines_of, name_of, read_text
from dpviz.progress import Progress, Stop, watched
from dpviz.table.cells import MARKS_OF, Marks, clean, parse_numbers
from dpviz.table.notes import Doubt, warn_of
from dpviz.table.raw import ROW_NAMES, RawTable
from dpviz.table.schema import LONGEST_NAME

#: What may separate cells, with its name.
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
#: What separates cells elsewhere.
_OTHER_DELIMITERS = {"  ": "blanks", " ": "blanks", ":": "colons", "^": "carets", "~": "tildes", "\x01": "control signs"}
_LINES_AT_ONCE = 1024
_FIRST_LINE = "The first line holds the names of two columns or more: lines above it and blank columns beside it have to go."
_ALL_LINES = "its reader looked at all lines to find that the first line lacks a name"
_UNNAMED = Doubt(
    "Every line has one cell more than the first line: the first ones are names of rows, and nothing is released from it.",
    help="names",
)
#: How Spark and MySQL write a quote inside a cell.
ESCAPED = '\\"'
#: Stands for a line that is no record: a quote that is never closed.
_NO_RECORD = '"\n'
#: Lines that may stand above the one with the declared names.
MOST_ABOVE = 20
_BLANK_LINE = re.compile(rb"[ \t\r\n\v\f]*")
#: How Excel says what separates cells.
_SEPARATOR = re.compile(rb'"?sep=([,;\t|])"?', re.IGNORECASE)
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
        False lets a cell in quotes span lines, so that one row can change others: only for rows that are not private. Nothing
        can be released from such a table.
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
    asked = replace(asked, by_record=not row_wise)
    table = read_lines(source, asked)
    warn_of(table.notes)
    return table


def read_lines(source: Source, options: ReadOptions) -> RawTable:
    """As `read_csv`; `by_record` lets a cell in quotes span lines."""
    has_header = options.names is None
    raw, notes = read_text(source, has_header=has_header, max_bytes=options.max_bytes)
    header = find_header(raw, options)
    n_lines = raw.count(b"\n", header.end)  # blank ones included
    require_rows(n_lines, options.max_rows, "lines")
    reason = "its reader let cells in quotes span lines" if options.by_record else ""
    marks = MARKS_OF.get(header.delimiter, Marks.UNKNOWN)

    def read(header: Header, reason: str) -> tuple[RawTable, _Lines]:
        reader = _Lines(lines_of(raw, header.end, header.encoding), n_lines + 1, header, options.step)
        records = reader.by_record() if options.by_record else reader.by_line()
        return table_of_records(records, header.names, options.title, (*notes, *header.notes), reason, marks), reader

    table, reader = read(header, reason)
    may_look = has_header and options.wanted is None
    if may_look and 0 < reader.n_longer == table.n_malformed and not table.n_rows and _begin_with_names(header, raw):
        names = check_names([ROW_NAMES, *header.names], options.max_columns)
        table, reader = read(replace(header, names=names, notes=(*header.notes, _UNNAMED)), _ALL_LINES)
    return replace(table, notes=(*table.notes, *reader.doubts(table)))


def _begin_with_names(header: Header, raw: bytes) -> bool:
    """Whether each line begins with a name of its own in quotes, as all names above and not all cells are: as R writes them."""

    def is_quoted(cells: Sequence[str]) -> bool:
        return all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in map(str.strip, cells))

    lines = header.line, *lines_of(raw, header.end, header.encoding)
    cells = [line.split(header.delimiter) for line in lines if line.strip()]
    firsts = [first for first, *_ in cells[1:]]
    return is_quoted([*cells[0], *firsts]) and len(set(firsts)) == len(firsts) and not all(map(is_quoted, cells))


class _Lines:
    """The lines behind the header, their records, and what is remarkable about them."""

    def __init__(self, lines: Iterator[str], n_lines: int, header: Header, step: Progress) -> None:
        self.header, self.delimiter, self.width = header, header.delimiter, len(header.names)
        self.lines = self._followed(lines, n_lines, step)
        self.n_escaped = self.n_lost = self.n_longer = self.n_behind = 0
        self.repeated: int | None = None  #: Line that is the header line once more
        self.n_read = 0

    def _followed(self, lines: Iterator[str], n_lines: int, step: Progress) -> Iterator[str]:
        """The lines; `step` is told now and then how many of them are read."""
        for place, line in enumerate(lines):
            if place % _LINES_AT_ONCE == 0:
                step(min(1.0, place / n_lines))
            yield line

    def by_line(self) -> Chunks:
        """Records in order, some at a time, each a line; None for a line that is none."""
        while some := list(islice(self.lines, _LINES_AT_ONCE)):
            if self.repeated is None and self.header.line in some:
                self.repeated = self.n_read + some.index(self.header.line)
            self.n_read += len(some)
            if sum(map(len, some)) <= LONGEST_LINE:
                yield self._records(some)
            else:  # one at a time, for cells take up to ten times the memory of their text
                yield from (self._records([line if len(line) <= LONGEST_LINE else _NO_RECORD]) for line in some)

    def _records(self, lines: list[str]) -> Aligned | list[list[str] | None]:
        columns = columns_of(lines, self.delimiter, self.width)
        if columns is not None:
            return Aligned(columns)
        return [self._fitted(line, cells) for line, cells in zip(lines, cells_of(lines, self.delimiter), strict=True)]

    def _fitted(self, line: str, cells: list[str] | None) -> list[str] | None:
        """The cells of a line, once a backslash before a quote and an empty cell behind the last column are seen to."""
        if ESCAPED in line and _strict_cells(line, self.delimiter, self.width) is None:
            cells = escaped_cells(line, self.delimiter, self.width)
            self.n_escaped, self.n_lost = self.n_escaped + (cells is not None), self.n_lost + (cells is None)
        elif len(cells or ()) != self.width and f"\\{self.delimiter}" in line:
            self.n_lost += 1
        if cells is not None and len(cells) == self.width + 1:
            if cells[-1].strip():
                self.n_longer += 1
            else:
                self.n_behind, cells = self.n_behind + 1, cells[:-1]
        return cells

    def by_record(self) -> Chunks:
        """Records as a spreadsheet counts them: an open quote takes lines in up to its end, and is no record where it has none.

        What a line without quotes holds stays as it is written, blanks too.
        """
        waiting = deque[str]()
        while True:
            waiting.extend(islice(self.lines, _LINES_AT_ONCE))
            if not waiting:
                return
            is_short = sum(map(len, waiting)) <= LONGEST_LINE
            columns = columns_of(list(waiting), self.delimiter, self.width) if is_short else None
            if columns is not None:
                waiting.clear()
                yield Aligned(columns)
            while waiting:
                records: list[list[str] | None] = []
                while waiting and len(records) < (_LINES_AT_ONCE if is_short else 1):
                    line, cells = waiting[0], None
                    if ESCAPED in line and len(line) <= LONGEST_LINE and _strict_cells(line, self.delimiter, self.width) is None:
                        cells = escaped_cells(line, self.delimiter, self.width)
                    self.n_escaped += cells is not None
                    records.append(cells if cells and waiting.popleft() else self._fitted("", self._next_record(waiting)))
                yield records

    def _next_record(self, waiting: deque[str]) -> list[str] | None:
        """The cells of the first waiting line, and of what its quotes take in; these lines wait no longer."""
        bare, delimiter = waiting[0].removesuffix("\n").removesuffix("\r"), self.delimiter
        if '"' not in bare and "\r" not in bare:
            waiting.popleft()
            return bare.split(delimiter) if max(map(len, bare.split(delimiter))) <= csv.field_size_limit() else None
        skips = re.search(f'(?:^|{re.escape(delimiter)}) +"', bare) is not None
        record, n_lines = cells_of([waiting[0]], delimiter, skips)[0], 1
        if record is None:
            reader = csv.reader(self._up_to_longest(waiting), delimiter=delimiter, skipinitialspace=skips, strict=True)
            with suppress(csv.Error, StopIteration):
                record = next(reader)
                n_lines = reader.line_num
        for _ in range(n_lines):
            waiting.popleft()
        return record

    def _up_to_longest(self, waiting: deque[str]) -> Iterator[str]:
        """The waiting lines and then further ones, which wait from then on; no more letters than a line may have."""
        n_letters = 0
        for place in count():
            if place == len(waiting):
                waiting.extend(islice(self.lines, 1))
            if place == len(waiting) or (n_letters := n_letters + len(waiting[place])) > LONGEST_LINE:
                return
            yield waiting[place]

    def doubts(self, table: RawTable) -> Iterator[str]:
        """What the owner is told about the lines, without a cell."""
        n_records = table.n_rows + len(table.left_out)
        if 2 * self.n_longer > n_records:
            what = "Most lines have one cell more than the first line, which may lack the name of a column, such as of row names."
            yield Doubt(what, help="delimiter")
        elif 2 * table.n_malformed > n_records:
            yield Doubt("Most lines have another number of cells than the first line.", help="delimiter")
        elif table.n_malformed:
            yield Doubt(
                "Some lines are no rows and are left out: they have another number of cells, or a quote that is never closed."
            )
        if self.n_behind:
            what = f"An empty cell behind the last column was left out of {self.n_behind:,} line{'s'[: self.n_behind > 1]}."
            yield Doubt(f"{what} Other lines have a value there.") if self.n_longer else what
        if self.n_lost:
            what = "Some lines are left out where a backslash stands before a quote or before what separates cells."
            yield Doubt(f"{what} Write such cells in quotes, and a quote in them twice.")
        if self.n_escaped:
            yield Doubt("In some lines a backslash stands before a quote: the quote was read as part of its cell.")
        if any(UNREADABLE in pack for column in table.columns for pack in column.packs or ()):
            yield Doubt(f"Some cells are not {self.header.encoding.upper()}: letters in them are lost.", help="encoding")
        if self.repeated is not None:
            yield Doubt(f"Row {self.repeated + 1:,} holds the names of the columns once more. Delete such lines.")


# --- the header


@dataclass(frozen=True)
class Header:
    """Column names, what reads every line, where the lines begin, and notes for the owner."""

    names: list[str]
    delimiter: str
    encoding: str
    end: int = 0  #: Byte behind the header line
    line: str = ""  #: The header line
    notes: tuple[str, ...] = ()


def find_header(raw: bytes, options: ReadOptions) -> Header:
    """The header of a text whose lines end with a line feed; raises TableError."""
    if options.names is not None:
        delimiter = _checked_delimiter(options.delimiter) or ","
        header = Header(list(options.names), delimiter, checked_encoding(options.encoding or "utf-8"))
    else:
        header = _read_header(raw, options)
    if len(header.names) == 1:
        what = "There is only one column. Cells may be separated by commas, semicolons, tabs or vertical bars."
        if other := next((name for mark, name in _OTHER_DELIMITERS.items() if mark in header.line.strip()), ""):
            what = f"{what} Here {other} seem to separate them, which are not read."
        raise TableError("one-column", what, row=1, remedy=f"Save the file with one of these delimiters. {_FIRST_LINE}")
    return replace(header, names=checked_names(header.names, options))


def _read_header(raw: bytes, options: ReadOptions) -> Header:
    notes, delimiter = list[str](), _checked_delimiter(options.delimiter)
    lines = _first_lines(raw)
    first = next(lines, None)
    if first is not None and (found := _SEPARATOR.fullmatch(first[0].removesuffix(b"\n").removesuffix(b"\r"))):
        delimiter, first = delimiter or _checked_delimiter(found[1].decode()), next(lines, None)
    if first is None:
        remedy = "Choose a CSV file with one line of column names and then the data."
        raise TableError("empty", "The file is empty.", remedy=remedy)
    line, end = first
    if options.wanted:
        for place, (other, its_end) in enumerate((first, *islice(lines, MOST_ABOVE))):
            fitting = next((mark for mark in (delimiter, *DELIMITERS) if mark and _holds(other, mark, options)), None)
            if fitting is not None:
                line, end, delimiter = other, its_end, fitting
                notes += [f"Lines above the names of the columns were left out: {place}."] if place else []
                break
    if len(line) > LONGEST_LINE:
        what = f"The first line is longer than {LONGEST_LINE:,} bytes."
        raise TableError("no-header", what, row=1, remedy="Put the column names into the first line.")
    if b"\0" in line:
        what = "The first line holds NUL bytes, which no text contains: a binary file, or UTF-16 without its mark."
        raise TableError("encoding", what, row=1, remedy="Save the file as CSV in UTF-8 and try again.")
    encoding, assumed = encoding_of(line, options.encoding)
    text = line.decode(encoding, "replace")
    chosen = delimiter or _best_delimiter(text)
    if text.count(chosen) >= options.max_columns and '"' not in text:
        raise _too_many_columns(text.count(chosen) + 1, options.max_columns)
    cells = cells_of([text], chosen)[0]
    if cells is None or (len(cells) == 1 and text.count('"') % 2):
        what = "The first line has a quote that is never closed, or is too long."
        raise TableError("no-header", what, row=1, remedy="Put the column names into the first line.")
    names = [cell.strip() for cell in cells]
    if len(names) > 2 and not names[-1] and all(names[:-1]):
        names.pop()
        notes.append("The first line ends with what separates cells: nothing behind it is a column.")
    check_header(names)
    notes += [*assumed, *_header_notes(names, cells[: len(names)], chosen)]
    line_text = text if text.endswith("\n") else f"{text}\n"
    return Header(told_apart(names) if options.rename else names, chosen, encoding, end, line_text, tuple(notes))


def _first_lines(raw: bytes) -> Iterator[tuple[bytes, int]]:
    """(a line that is not blank, the byte behind it), from the first on."""
    end = len(UTF8_MARK) if raw.startswith(UTF8_MARK) else 0
    while end < len(raw):
        start, end = end, raw.find(b"\n", end) + 1 or len(raw)
        if not _BLANK_LINE.fullmatch(raw, start, end):
            yield raw[start:end], end


def _holds(line: bytes, delimiter: str, options: ReadOptions) -> bool:
    """Whether a line holds all names that are wanted."""
    if len(line) > LONGEST_LINE:
        return False
    encoding, _ = encoding_of(line, options.encoding)
    cells = cells_of([line.decode(encoding, "replace")], delimiter)[0]
    return cells is not None and {*map(clean, options.wanted or ())} <= {*map(clean, cells)}


def _best_delimiter(line: str) -> str:
    """The one that divides a line into most cells; one before a blank may belong to a sentence and counts less."""

    def n_cells(mark: str) -> tuple[int, int]:
        count = len(cells_of([line], mark)[0] or ())
        return count - line.count(f"{mark} "), count

    return max(DELIMITERS, key=n_cells)


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


def checked_names(names: list[str], options: ReadOptions) -> list[str]:
    """The names, checked; where only some columns are wanted, the others need none of their own."""
    if options.wanted is not None:
        names = [name if name in options.wanted else other for name, other in zip(names, told_apart(names), strict=True)]
        names = [name or f"column {place}" for place, name in enumerate(names, 1)]
    return check_names(names, options.max_columns)


def check_names(names: list[str], max_columns: int) -> list[str]:
    """The column names of any file: at least two, not too many, each there and each once."""
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
            remedy = "Give every column its own name."
            raise TableError("duplicate-name", what, row=1, remedy=remedy)
        seen[name] = place
    return names


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
