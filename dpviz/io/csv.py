"""CSV files to `RawTable`, one record at a time: what happens to a row depends on no other row.

A record is a physical line. Names, delimiter and encoding come from the caller, a byte-order mark, a line such as sep=; or the
header line: the first that is not blank, or of the first 20 the one that holds all declared names. They never come from the rows.
A line with another number of cells than the header, or with a quote that is never closed, is left out and counted; empty cells
behind the last column are none; a byte that cannot be read spoils its own cell only. So a row that is added or removed changes
one row of the table at most (`tests/io/test_row_wise.py`).

`TableError.code` is one of not-a-file, empty, gzip, not-csv, encoding, too-many-bytes, too-many-rows, too-many-columns,
no-header, header-numbers, one-column, blank-name, long-name, duplicate-name, delimiter. All but the three limits, which belong to
the declared domain, speak of the file or its header. No message quotes a cell, or the header: it may be a row.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, count, islice, repeat

import numpy as np

from dpviz.errors import TableError
from dpviz.io.limits import require_rows
from dpviz.io.options import ReadOptions
from dpviz.io.text import CHUNK_LINES, MAX_LINE_LENGTH, UNREADABLE, UTF8_MARK, check_encoding, encoding_of, lines_of, plain_text
from dpviz.table.cells import MARKS_OF, Marks, clean, parse_numbers
from dpviz.table.columns import Column
from dpviz.table.notes import Doubt, record_of
from dpviz.table.raw import ROW_NAMES, RawTable
from dpviz.table.schema import MAX_NAME_LENGTH

#: What may separate cells, with its name.
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
#: What separates cells elsewhere.
_OTHER_DELIMITERS = {"  ": "blanks", " ": "blanks", ":": "colons", "^": "carets", "~": "tildes", "\x01": "control signs"}
#: Pairs of quotes that are letters in a CSV file.
_OTHER_QUOTES = frozenset(("''", "``", "‘’", "’’", "“”", "””", "„“", "„”", "«»", "»«"))
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
MAX_LINES_ABOVE = 20
_BLANK_LINE = re.compile(rb"[ \t\r\n\v\f]*")
#: How Excel says what separates cells.
_SEPARATOR = re.compile(rb'"?sep=([,;\t|])"?', re.IGNORECASE)
csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_LENGTH))  # of Python: 131,072


def read_lines(raw: bytes, options: ReadOptions) -> RawTable:
    """The table of a text; raises TableError. `by_record` lets a cell in quotes span lines."""
    raw, encoding, notes = plain_text(raw, options.encoding, has_header=options.names is None)
    header = find_header(raw, replace(options, encoding=encoding))
    n_lines = raw.count(b"\n", header.end)  # blank ones included
    require_rows(n_lines, options.max_rows, "lines")
    rows = _Rows(header, raw, options, n_lines + 1)
    not_row_wise = "its reader let cells in quotes span lines" if options.by_record else ""
    is_short = options.names is None and options.wanted is None and 0 < rows.n_longer == rows.n_malformed
    if is_short and rows.n_records == len(rows.left_out) and _begin_with_names(header, raw):
        names = check_names([ROW_NAMES, *header.names], options.max_columns)
        header = replace(header, names=names, cells=names, notes=(*header.notes, _UNNAMED))
        rows, not_row_wise = _Rows(header, raw, options, n_lines + 1), _ALL_LINES
    marks = MARKS_OF.get(header.delimiter, Marks.UNKNOWN)
    columns = tuple(Column(name, packs=pack, marks=marks) for name, pack in zip(header.names, rows.packs, strict=True))
    why = f"another number of cells than columns, a quote that is never closed, or over {MAX_LINE_LENGTH:,} letters"
    lost = lost_rows(rows.n_malformed, len(rows.left_out) - rows.n_malformed, "line", why)
    notes = (*notes, *header.notes, *lost, *rows.doubts())
    return RawTable(columns, options.title, notes, rows.n_malformed, tuple(rows.left_out), not_row_wise)


def _begin_with_names(header: Header, raw: bytes) -> bool:
    """Whether each line begins with a name of its own in quotes, as all names above and not all cells are: as R writes them."""

    def is_quoted(cells: Sequence[str]) -> bool:
        return all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in map(str.strip, cells))

    lines = header.line, *chain.from_iterable(lines_of(raw, header.end, header.encoding))
    cells = [line.split(header.delimiter) for line in lines if line.strip()]
    firsts = [first for first, *_ in cells[1:]]
    return is_quoted([*cells[0], *firsts]) and len(set(firsts)) == len(firsts) and not all(map(is_quoted, cells))


def lost_rows(n_malformed: int, n_empty: int, unit: str = "row", why: str = "a value beyond the columns") -> Iterator[str]:
    """Notes for the owner about records that gave no row."""
    if n_malformed:
        yield f"{n_malformed:,} {unit}{'s were' if n_malformed > 1 else ' was'} left out: {why}."
    if n_empty:
        yield f"Skipped {n_empty:,} row{'s'[: n_empty > 1]} without any value."


class _Rows:
    """The rows behind the header, column by column, and what is remarkable about their lines.

    A line with another number of cells than there are names is left out and counted; a blank line is none. A column is kept as
    NUL-joined packs: a cell costs a byte more than its text instead of the fifty of a Python string.
    """

    def __init__(self, header: Header, raw: bytes, options: ReadOptions, n_lines: int) -> None:
        self.header, self.delimiter, self.width = header, header.delimiter, len(header.names)
        self.packs: list[list[str]] = [[] for _ in header.names]
        self.left_out = list[int]()  #: Places, among all records, of those that are no row
        self.n_records = self.n_malformed = self.n_escaped = self.n_lost = self.n_behind = n_read = 0
        self.n_longer = self.n_filled = 0  #: Lines with one cell more, which is not empty; with any value behind the last column
        self.repeated: int | None = None  #: Row that is the header once more
        blocks = lines_of(raw, header.end, header.encoding)
        for lines in _records_of(blocks, self.delimiter, self.width) if options.by_record else blocks:
            options.step(min(1.0, n_read / n_lines))
            n_read += len(lines)
            if sum(map(len, lines)) <= MAX_LINE_LENGTH:
                self._add(lines)
            else:  # one at a time, for cells take up to ten times the memory of their text
                for line in lines:
                    self._add([line if len(line) <= MAX_LINE_LENGTH else _NO_RECORD])

    def _add(self, lines: list[str]) -> None:
        """Keep what is a row; what becomes of a line depends on that line alone."""
        n_rows = self.n_records - len(self.left_out)
        columns: Sequence[Sequence[str]] | None = columns_of(lines, self.delimiter, self.width)
        places: Sequence[int] = range(len(lines))
        size = len(lines)
        if columns is None:
            all_cells = map(self._fitted, lines, cells_of(lines, self.delimiter))
            records = [cells for cells in all_cells if cells is None or len(cells) > 1 or "".join(cells).strip()]
            rows = {at: cells for at, cells in enumerate(records) if cells is not None and len(cells) == self.width}
            columns, places, size = list(zip(*rows.values(), strict=True)), list(rows), len(records)
        empty = _empty_records(columns)
        if empty or len(places) < size:
            self.n_malformed += size - len(places)
            without = {*range(size)}.difference(places) | {places[at] for at in empty}
            self.left_out += sorted(self.n_records + place for place in without)
            columns = [[cell for at, cell in enumerate(cells) if at not in empty] for cells in columns]
        if self.repeated is None and columns:
            self.repeated = next((n_rows + at for at in _equal(columns, self.header.cells)), None)
        self.n_records += size
        for pack, cells in zip(self.packs, columns, strict=False):  # no columns when no record is kept
            if cells:
                pack.append("\0".join(cells))

    def _fitted(self, line: str, cells: list[str] | None) -> list[str] | None:
        """The cells of a line, once a backslash before a quote and empty cells behind the last column are seen to."""
        if ESCAPED in line and _strict_cells(line, self.delimiter, self.width) is None:
            cells = _escaped_cells(line, self.delimiter, self.width)
            self.n_escaped, self.n_lost = self.n_escaped + (cells is not None), self.n_lost + (cells is None)
        elif len(cells or ()) != self.width and f"\\{self.delimiter}" in line:
            self.n_lost += 1
        if cells is not None and (behind := cells[self.width :]):
            if not any(map(str.strip, behind)):
                self.n_behind, cells = self.n_behind + 1, cells[: self.width]
            else:
                self.n_longer, self.n_filled = self.n_longer + (len(behind) == 1), self.n_filled + 1
        return cells

    def doubts(self) -> Iterator[str]:
        """What the owner is told about the lines, without a cell."""
        if 2 * self.n_longer > self.n_records:
            what = "Most lines have one cell more than the first line, which may lack the name of a column, such as of row names"
            commas = "; or commas stand before decimals and between cells" * (self.delimiter == ",")
            yield Doubt(f"{what}{commas}.", help="delimiter")
        elif 2 * self.n_malformed > self.n_records:
            yield Doubt("Most lines have another number of cells than the first line.", help="delimiter")
        elif self.n_malformed:
            yield Doubt(
                "Some lines are no rows and are left out: they have another number of cells, or a quote that is never closed."
            )
        if self.n_behind:
            what = f"Empty cells behind the last column were left out of {self.n_behind:,} line{'s'[: self.n_behind > 1]}."
            yield Doubt(f"{what} Other lines have a value there.") if self.n_filled else what
        if self.n_lost:
            what = "Some lines are left out where a backslash stands before a quote or before what separates cells."
            yield Doubt(f"{what} Write such cells in quotes, and a quote in them twice.")
        if self.n_escaped:
            yield Doubt("In some lines a backslash stands before a quote: the quote was read as part of its cell.")
        if any(UNREADABLE in pack for packs in self.packs for pack in packs):
            yield Doubt(f"Some cells are not {self.header.encoding.upper()}: letters in them are lost.", help="encoding")
        if self.repeated is not None:
            # a piece of a file has no header line, and does not know how many rows stand before it
            row = f"Row {record_of(self.repeated, self.left_out):,}" if self.header.line else "A row"
            yield Doubt(f"{row} holds the names of the columns once more. Delete such lines.")


def _records_of(blocks: Iterable[list[str]], delimiter: str, width: int) -> Iterator[list[str]]:
    """The texts of records as a spreadsheet counts them: an open quote takes lines in up to its end.

    Where it has none, its line is no record.
    """
    lines, waiting = chain.from_iterable(blocks), deque[str]()

    def ahead() -> Iterator[str]:
        """The waiting lines and then further ones, which wait from then on; no more letters than a line may have."""
        n_letters = 0
        for place in count():
            if place == len(waiting):
                waiting.extend(islice(lines, 1))
            if place == len(waiting) or (n_letters := n_letters + len(waiting[place])) > MAX_LINE_LENGTH:
                return
            yield waiting[place]

    def n_lines(line: str) -> int:
        if '"' not in line or len(line) > MAX_LINE_LENGTH or cells_of([line], delimiter)[0] is not None:
            return 1
        if ESCAPED in line and _escaped_cells(line, delimiter, width) is not None:
            return 1
        reader = csv.reader(ahead(), delimiter=delimiter, skipinitialspace=_skips_blanks(line, delimiter), strict=True)
        with suppress(csv.Error, StopIteration):
            next(reader)
            return reader.line_num
        return 1

    while True:
        waiting.extend(islice(lines, CHUNK_LINES))
        if not waiting:
            return
        some = list[str]()
        while waiting and len(some) < CHUNK_LINES:
            some.append("".join([waiting.popleft() for _ in range(n_lines(waiting[0]))]))
        yield some


def _equal(columns: Sequence[Sequence[str]], names: Sequence[str]) -> Iterator[int]:
    """Places of the records whose cells are these, but for blanks around them."""
    for at in [at for at, cell in enumerate(columns[0]) if names[0] in cell]:
        if all(cells[at].strip() == name for cells, name in zip(columns, names, strict=True)):
            yield at


def _empty_records(columns: Sequence[Sequence[str]]) -> set[int]:
    """Places of the records whose every cell is empty. Marks such as NA are cells: whether they are missing, the schema says."""
    places: Iterable[int] = range(len(columns[0])) if columns else ()
    for cells in columns:
        places = [place for place in places if not cells[place] or cells[place].isspace()]
        if not places:
            break
    return set(places)


# --- the header


@dataclass(frozen=True)
class Header:
    """Column names, what reads every line, where the lines begin, and notes for the owner."""

    names: list[str]
    delimiter: str
    encoding: str
    end: int = 0  #: Byte behind the header line
    line: str = ""  #: The header line
    cells: Sequence[str] = ()  #: Of it, without blanks around them
    notes: tuple[str, ...] = ()


def find_header(raw: bytes, options: ReadOptions) -> Header:
    """The header of a text whose lines end with a line feed; raises TableError."""
    if options.names is not None:
        delimiter = _check_delimiter(options.delimiter) or ","
        names = list(options.names)
        header = Header(names, delimiter, check_encoding(options.encoding or "utf-8"), cells=names)
    else:
        header = _read_header(raw, options)
    if len(header.names) == 1:
        what = "There is only one column. Cells may be separated by commas, semicolons, tabs or vertical bars."
        if any(mark in header.names[0] for mark in DELIMITERS):
            what = f"{what} Here the whole first line is in quotes, which makes it one cell."
        elif other := next((name for mark, name in _OTHER_DELIMITERS.items() if mark in header.line.strip()), ""):
            title = ", unless this line is a title" * (other == "blanks")
            what = f"{what} Here {other} seem to separate them, which are not read{title}."
        raise TableError("one-column", what, row=1, remedy=f"Save the file with one of these delimiters. {_FIRST_LINE}")
    return replace(header, names=check_wanted_names(header.names, options))


def _read_header(raw: bytes, options: ReadOptions) -> Header:
    notes, delimiter = list[str](), _check_delimiter(options.delimiter)
    lines = _first_lines(raw)
    first = next(lines, None)
    if first is not None and (match := _SEPARATOR.fullmatch(first[0].removesuffix(b"\n").removesuffix(b"\r"))):
        delimiter, first = delimiter or match[1].decode(), next(lines, None)
    if first is None:
        remedy = "Choose a CSV file with one line of column names and then the data."
        raise TableError("empty", "The file is empty.", remedy=remedy)
    line, end = first
    if options.wanted:
        for place, (other, its_end) in enumerate((first, *islice(lines, MAX_LINES_ABOVE))):
            fitting = next((mark for mark in (delimiter, *DELIMITERS) if mark and _holds(other, mark, options)), None)
            if fitting is not None:
                line, end, delimiter = other, its_end, fitting
                notes += [f"Lines above the names of the columns were left out: {place}."] if place else []
                break
    if len(line) > MAX_LINE_LENGTH:
        what = f"The first line is longer than {MAX_LINE_LENGTH:,} bytes."
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
    n_named = max(2, *(place for place, name in enumerate(names, 1) if name), 0)
    if n_named < len(names) and all(names[:n_named]):
        names = names[:n_named]
        notes.append("The first line ends with what separates cells: nothing behind it is a column.")
    check_header(names)
    notes += [*assumed, *_header_notes(names, cells[: len(names)], chosen)]
    line_text = text if text.endswith("\n") else f"{text}\n"
    return Header(unique_names(names) if options.rename else names, chosen, encoding, end, line_text, names, tuple(notes))


def _first_lines(raw: bytes) -> Iterator[tuple[bytes, int]]:
    """(a line that is not blank, the byte behind it), from the first on."""
    end = 0
    while raw.startswith(UTF8_MARK, end):  # a file that was written after another has two
        end += len(UTF8_MARK)
    while end < len(raw):
        start, end = end, raw.find(b"\n", end) + 1 or len(raw)
        if not _BLANK_LINE.fullmatch(raw, start, end):
            yield raw[start:end], end


def _holds(line: bytes, delimiter: str, options: ReadOptions) -> bool:
    """Whether a line holds all names that are wanted."""
    if len(line) > MAX_LINE_LENGTH:
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


def _check_delimiter(delimiter: str | None) -> str | None:
    if delimiter is None or delimiter in DELIMITERS:
        return delimiter
    remedy = "Give ',', ';', '|' or a tab, or leave it out."
    raise TableError("delimiter", f"Cells cannot be separated by {delimiter[:10]!r}.", remedy=remedy)


def _header_notes(names: list[str], header: list[str], delimiter: str) -> Iterator[str]:
    if names != header:
        yield "Blanks around column names were removed."
    if all(len(name) > 1 and name[0] + name[-1] in _OTHER_QUOTES for name in names):
        yield Doubt("The names stand in quotes that count as letters: a CSV file has double ones.")
    yield from doubts_of_names(names)
    if delimiter != ",":
        yield f"Cells are separated by {DELIMITERS[delimiter]}."


def doubts_of_names(names: list[str]) -> Iterator[Doubt]:
    """Whether the first line or row of a file may be one of the data, by names that are numbers."""
    numbers = np.flatnonzero(~np.isnan(parse_numbers(names))) + 1
    if len(numbers):
        what = f"Column names are numbers, first in column {numbers[0]}: the first line seems to be a row."
        yield Doubt(what, help="names")


def check_header(names: list[str]) -> None:
    """The first line of a file holds names rather than a row, as far as one can tell."""
    if not any(names):
        remedy = "Put the column names into the first line."
        raise TableError("no-header", "The first line has no column name.", row=1, remedy=remedy)
    if not np.isnan(parse_numbers(names)).any():
        remedy = "Put a line of column names above the data, or give the names."
        raise TableError("header-numbers", "The first line holds only numbers: it seems to be data.", row=1, remedy=remedy)


def check_wanted_names(names: list[str], options: ReadOptions) -> list[str]:
    """The names, checked; where only some columns are wanted, the others need none of their own."""
    if options.wanted is not None:
        names = [name if name in options.wanted else other for name, other in zip(names, unique_names(names), strict=True)]
        names = [name or f"column {place}" for place, name in enumerate(names, 1)]
    return check_names(names, options.max_columns)


def check_names(names: list[str], max_columns: int, *, is_typed: bool = False) -> list[str]:
    """The column names of any file: at least two, not too many, each there and each once.

    `is_typed`: they are no line or row of the file.
    """
    row = None if is_typed else 1
    remedy = "Add the column to predict, or those to learn from; lists and records do not count." if is_typed else _FIRST_LINE
    if len(names) > max_columns:
        raise _too_many_columns(len(names), max_columns)
    if len(names) < 2:
        raise TableError("one-column", "There are fewer than two columns.", remedy=remedy)
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if not name:
            reason = "a table saved with its row numbers has such a column, and of merged cells only the first has the name"
            remedy = "Name it." if is_typed else f"Name it, or delete the column ({reason}). {_FIRST_LINE}"
            raise TableError("blank-name", f"Column {place} has no name.", row=row, remedy=remedy)
        if len(name) > MAX_NAME_LENGTH:
            what = f"The name of column {place} has over {MAX_NAME_LENGTH:,} letters."
            remedy = "Make sure the first line holds column names, and shorten this one."
            raise TableError("long-name", what, row=row, remedy=remedy)
        if name in seen:
            what = f"Columns {seen[name]} and {place} have the same name."
            remedy = "Give every column its own name."
            raise TableError("duplicate-name", what, row=row, remedy=remedy)
        seen[name] = place
    return names


def _too_many_columns(n_columns: int, max_columns: int) -> TableError:
    what = f"There are {n_columns:,} columns; at most {max_columns:,} can be read."
    return TableError("too-many-columns", what, row=1, remedy="Keep fewer columns; in Python, raise max_columns.")


def unique_names(names: list[str]) -> list[str]:
    """The names, each once: the second "age" becomes "age (2)". Depends on the names alone; blank ones stay as they are."""
    taken, numbers, unique = set(names), defaultdict[str, Iterator[int]](lambda: count(2)), list[str]()
    used = set[str]()
    for name in names:
        if name and name in used:
            name = next(new for number in numbers[name] if (new := f"{name} ({number})") not in taken)
        used.add(name)
        unique.append(name)
    return unique


def columns_of(lines: list[str], delimiter: str, width: int) -> list[list[str]] | None:
    """The cells of all lines, column by column, where nothing but delimiters shapes them: no quote, and `width` cells a line.

    Gives what `cells_of` gives, apart from blanks around cells, in a fraction of the time; None where it might not.
    """
    text = "".join(lines)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if '"' in text or "\r" in text or {*map(str.count, lines, repeat(delimiter))} != {width - 1}:
        return None
    cells = text.replace("\n", delimiter).split(delimiter)
    return [cells[place:-1:width] for place in range(width)]


def _escaped_cells(line: str, delimiter: str, width: int) -> list[str] | None:
    """The cells of a line in which a backslash makes a quote part of a cell; None where it is no record of this width."""
    if _QUOTE in line:
        return None
    marked = re.sub(r'(\\+)"', lambda match: "\\" * (len(match[1]) // 2) + (_QUOTE if len(match[1]) % 2 else '"'), line)
    cells = _strict_cells(marked, delimiter, width)
    return None if cells is None else [cell.replace(_QUOTE, '"') for cell in cells]


#: Stands for a quote that is part of a cell, while the others are read.
_QUOTE = "\x02"


def _strict_cells(line: str, delimiter: str, width: int) -> list[str] | None:
    """The cells, where every quoted one ends at a delimiter or with the line and there are `width` of them."""
    try:
        (cells,) = csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        return None
    return cells if len(cells) == width else None


def _skips_blanks(lines: str, delimiter: str) -> bool:
    """Whether a quote stands behind a delimiter and blanks, which then are part of no cell; all others stay."""
    return ' "' in lines and re.search(f'(?:^|{re.escape(delimiter)}) +"', lines, re.MULTILINE) is not None


def cells_of(lines: list[str], delimiter: str) -> list[list[str] | None]:
    """Cells of every line by itself; None where a quote stays open or a cell is too long.

    The lines go through one reader where none of them runs into the next, which is the case when there are as many records
    as lines; else each has a reader of its own. Both give the same.
    """
    skips = _skips_blanks("".join(lines), delimiter)
    if not skips or len(lines) == 1:
        with suppress(csv.Error):
            records = list(csv.reader([*lines, "\n"], delimiter=delimiter, skipinitialspace=skips))
            if len(records) == len(lines) + 1:  # only an open quote takes in the end of a line
                return records[:-1]  # type: ignore[return-value]
    return [None] if len(lines) == 1 else [cells_of([line], delimiter)[0] for line in lines]
