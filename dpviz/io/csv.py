"""CSV files to `RawTable`: delimiter, header, rows, dictionary encoding; what does not fit is a typed problem with its row.

Rows are counted the way a spreadsheet shows them: the header is row 1. `CsvError.code` is one of not-a-file, empty, gzip,
not-csv, nul-bytes, undecodable, too-many-bytes, too-many-rows, too-many-columns, no-header, header-numbers, one-column,
blank-name, duplicate-name, quotes, ragged, no-rows.

Cells are split by Python's own csv module and encoded one column at a time, so at most one column's dictionary is alive.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np

from dpviz.errors import CsvError
from dpviz.io.text import Source, name_of, read_text
from dpviz.table.raw import MISSING_MARKS, RawColumn, RawTable, parse_numbers

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_SNIFFED_BYTES = 1 << 18
_ROWS_AT_ONCE = 1024
#: A record after the last one. A quoted cell that is never closed swallows it; files with NUL bytes are refused before.
_END = ["\0", "\0"]

Rows = list[list[str]]
Encoded = list[tuple[tuple[str, ...], np.ndarray]]


def read_csv(
    source: Source,
    *,
    name: str | None = None,
    max_bytes: int = 200_000_000,
    max_rows: int = 1_000_000,
    max_columns: int = 2_000,
) -> RawTable:
    """Read a table of text.

    Delimiter (comma, semicolon, tab, vertical bar), gzip and encoding (UTF-8, UTF-16 by its mark, else Windows-1252) are
    recognised. Rows without any value are skipped.

    Parameters
    ----------
    source : str, Path, bytes or binary file
        .csv or .csv.gz.
    name : str, optional
        What messages call the table; the file name by default.
    max_bytes, max_rows, max_columns : int
        Limits; `max_bytes` holds before and after unpacking.

    Raises
    ------
    CsvError
        The file is not a table with a header row; `code`, `row` and `column` say what and where.
    """
    text, encoding_notes = read_text(source, max_bytes=max_bytes)
    delimiter = _sniff_delimiter(text)
    names, header_notes, packs = _split(text, delimiter, max_rows, max_columns)
    notes = encoding_notes + header_notes
    if delimiter != ",":
        notes += (f"Cells are separated by {_DELIMITERS[delimiter]}.",)
    columns, empty_rows = _without_empty_rows([_encode_column(packs) for _ in names])
    if not len(columns[0][1]):
        raise CsvError("no-rows", "There is no data below the header (row 1).", remedy="Choose a file with data below it.")
    if empty_rows:
        notes += (f"Skipped {empty_rows} row{'s'[: empty_rows > 1]} without any value.",)
    raw = (RawColumn(column, texts, codes) for column, (texts, codes) in zip(names, columns, strict=True))
    return RawTable(tuple(_with_notes(column) for column in raw), name_of(source, name), notes)


def _sniff_delimiter(text: bytes) -> str:
    """The delimiter under which most rows are as wide as the header, wide headers first; quoted text does not count."""
    sample = text[:_SNIFFED_BYTES].decode("utf-8", "ignore")
    scores = {delimiter: _score(sample, delimiter, whole=len(text) <= _SNIFFED_BYTES) for delimiter in _DELIMITERS}
    return max(scores, key=scores.__getitem__)


def _score(sample: str, delimiter: str, *, whole: bool) -> tuple[float, int]:
    widths: list[int] = []
    with suppress(csv.Error):  # judged by what could be read; the real reading says where it fails
        widths.extend(len(record) for record in _reader(io.StringIO(sample, newline=""), delimiter) if record)
    if not whole and len(widths) > 1:
        widths.pop()  # cut in the middle
    if not widths:
        return 0.0, 0
    rows = widths[1:] or widths
    return Counter(rows)[widths[0]] / len(rows) * (widths[0] - 1), widths[0]


def _reader(lines: Any, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _split(text: bytes, delimiter: str, max_rows: int, max_columns: int) -> tuple[list[str], tuple[str, ...], list[list[str]]]:
    """(names, notes, one list per column of NUL-joined cells).

    Joined, a cell costs a byte more than its text instead of the fifty of a Python string.
    """
    chunks = _chunks(text, delimiter)
    first, (header, *records) = next(chunks)
    names, notes = _names(header, max_columns)
    packs: list[list[str]] = [[] for _ in names]
    rows = 0
    for row, chunk in chain([(first + 1, records)], chunks):
        kept = _even(chunk, row, len(names), delimiter)
        rows += len(kept)
        if rows > max_rows:
            what = f"There are more than {max_rows:,} rows."
            raise CsvError("too-many-rows", what, remedy="Keep fewer rows or raise max_rows.")
        for pack, cells in zip(packs, zip(*kept, strict=True), strict=False):  # no cells when no row is kept
            pack.append("\0".join(cells))
    packs.reverse()  # columns are popped from the end, first column first
    return names, notes, packs


def _chunks(text: bytes, delimiter: str) -> Iterator[tuple[int, Rows]]:
    """(row number of its first record, records), in order."""
    lines = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", newline="")
    reader = _reader(chain(lines, [delimiter.join(_END)]), delimiter)
    first = 1
    while True:
        records: Rows = []
        try:
            records.extend(islice(reader, _ROWS_AT_ONCE))
        except csv.Error as error:
            raise _open_quote(first + len(records)) from error
        if records and records[-1] == _END:
            yield first, records[:-1]
            return
        if len(records) < _ROWS_AT_ONCE:
            raise _open_quote(first + len(records) - 1)
        yield first, records
        first += len(records)


def _open_quote(row: int) -> CsvError:
    what = "A quoted cell starts here and is never closed, or is longer than 131,072 characters. Row 1 is the header."
    return CsvError("quotes", what, row=row, remedy='Close the quote, or write a quote that belongs to the text twice ("").')


def _even(records: Rows, first: int, width: int, delimiter: str) -> Rows:
    """The records that are not blank lines; every one must have `width` cells."""
    if set(map(len, records)) <= {width}:
        return records
    kept = []
    for row, record in enumerate(records, first):
        if len(record) == width:
            kept.append(record)
        elif len(record) > 1 or (record and record[0].strip()):
            raise _ragged(row, len(record), width, delimiter)
    return kept


def _ragged(row: int, found: int, width: int, delimiter: str) -> CsvError:
    what = f"There {'is 1 cell' if found == 1 else f'are {found} cells'} where the header (row 1) has {width}."
    remedy = f"Give every row {width} cells; put text that contains {delimiter!r} in double quotes."
    return CsvError("ragged", what, row=row, remedy=remedy)


def _names(header: list[str], max_columns: int) -> tuple[list[str], tuple[str, ...]]:
    names = [cell.strip() for cell in header]
    _check_names(names, max_columns)
    notes = []
    if names != header:
        notes.append("Blanks around column names were removed.")
    numbers = [name for name, number in zip(names, parse_numbers(names), strict=True) if not np.isnan(number)]
    if numbers:
        notes.append(f"Some column names are numbers, for example {numbers[0]!r}: make sure row 1 is a header and not data.")
    return names, tuple(notes)


def _check_names(names: list[str], max_columns: int) -> None:
    if not any(names):
        raise CsvError("no-header", "The header has no column name.", row=1, remedy="Put the column names into the first row.")
    if len(names) > max_columns:
        what = f"There are {len(names):,} columns; at most {max_columns:,} can be read."
        raise CsvError("too-many-columns", what, row=1, remedy="Keep fewer columns, or raise max_columns.")
    if not np.isnan(parse_numbers(names)).any():
        what = f"The header holds only numbers, such as {names[0]!r}: it seems to be missing."
        raise CsvError("header-numbers", what, row=1, remedy="Put a row of column names above the data.")
    if len(names) == 1:
        what = "There is only one column. Cells may be separated by commas, semicolons, tabs or vertical bars."
        remedy = "Save the file with one of these delimiters and at least two columns."
        raise CsvError("one-column", what, row=1, column=names[0], remedy=remedy)
    _check_each_name(names)


def _check_each_name(names: list[str]) -> None:
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if not name:
            remedy = "Name it, or delete the column (a table saved with its row numbers has such a column)."
            raise CsvError("blank-name", f"Column {place} has no name.", row=1, remedy=remedy)
        if name in seen:
            what = f"Columns {seen[name]} and {place} have the same name."
            raise CsvError("duplicate-name", what, row=1, column=name, remedy="Give every column its own name.")
        seen[name] = place


class _Codes(dict[str, int]):
    """Cell as written -> code, found on first sight. `texts` are the distinct stripped cells; missing marks are -1."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def __missing__(self, cell: str) -> int:
        text = cell.strip()
        if text in MISSING_MARKS:
            code = -1
        elif text != cell:
            code = self[text]
        else:
            code = len(self.texts)
            self.texts.append(text)
        self[cell] = code
        return code


def _encode_column(packs: list[list[str]]) -> tuple[tuple[str, ...], np.ndarray]:
    """(texts, codes) of the next column; takes it off `packs` so that its text is freed."""
    codes = _Codes()
    parts = [np.fromiter(map(codes.__getitem__, pack.split("\0")), np.int32) for pack in packs.pop()]
    return tuple(codes.texts), np.concatenate(parts) if parts else np.empty(0, np.int32)


def _without_empty_rows(columns: Encoded) -> tuple[Encoded, int]:
    """Leave out rows in which every cell is missing, as spreadsheets leave them at the end."""
    empty = columns[0][1] < 0
    for _, codes in columns[1:]:
        if not empty.any():
            return columns, 0
        empty &= codes < 0
    if not empty.any():
        return columns, 0
    return [(texts, codes[~empty]) for texts, codes in columns], int(empty.sum())


def _with_notes(column: RawColumn) -> RawColumn:
    numbers = ~np.isnan(column.text_numbers)
    if column.is_numeric:
        notes = _comma_notes(column.texts)
    elif numbers.any():
        number, text = column.texts[int(numbers.argmax())], column.texts[int(numbers.argmin())]
        notes = (f"Holds numbers and text, for example {number!r} and {text!r}: proposed as categories.",)
    else:
        notes = ()
    return replace(column, notes=notes) if notes else column


def _comma_notes(texts: tuple[str, ...]) -> tuple[str, ...]:
    comma = next((text for text in texts if "," in text), None)
    if comma is None:
        return ()
    point = next((text for text in texts if "." in text), None)
    doubt = "" if point is None else f" Decimal points appear too, as in {point!r}: make sure no comma separates thousands."
    return (f"Decimal commas were read as decimal points, as in {comma!r}.{doubt}",)
