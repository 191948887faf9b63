"""CSV files to `RawTable`, one record at a time: what happens to a row depends on no other row.

A record is a physical line. The delimiter and the encoding come from the caller, a byte-order mark or the header line, never
from the rows. A line with another number of cells than the header, or with a quote that is never closed, is left out and
counted; a byte that cannot be read spoils its own cell only. So a row that is added or removed changes one row of the table at
most (`tests/io/test_csv_row_wise.py`).

`CsvError.code` is one of not-a-file, empty, gzip, not-csv, encoding, line-ends, too-many-bytes, too-many-rows,
too-many-columns, no-header, header-numbers, one-column, blank-name, duplicate-name. All but the three limits, which belong to the
declared domain, speak of the file or its header. No message quotes a cell.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from dpviz.io.csv_lines import Header, cells_of
from dpviz.io.text import Source, name_of, read_text
from dpviz.table.raw import MISSING_MARKS, RawColumn, RawTable

_LINES_AT_ONCE = 1024
#: Longer lines are left out, so that no line can ask for more memory than this many cells.
LONGEST_LINE = 4_000_000

Records = list[list[str]]
Encoded = list[tuple[tuple[str, ...], np.ndarray]]


def read_csv(
    source: Source,
    *,
    name: str | None = None,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    row_wise: bool = True,
    max_bytes: int = 200_000_000,
    max_rows: int = 1_000_000,
    max_columns: int = 2_000,
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
    max_bytes, max_rows, max_columns : int
        Limits, checked before memory is spent; `max_bytes` holds before and after unpacking, `max_rows` counts lines.

    Raises
    ------
    CsvError
        The file is no table of text, or is larger than the limits; `code`, `row` and `column` say what and where.
    """
    text = read_text(source, header=names is None, encoding=encoding, row_wise=row_wise, max_bytes=max_bytes)
    text.require_rows_at_most(max_rows + (names is None))
    lines = text.lines()
    header = Header.of(lines, delimiter, max_columns) if names is None else Header.given(names, delimiter, max_columns)
    packs, n_malformed = _packed(_records(lines, header.delimiter, row_wise), header)
    columns, empty_rows = _without_empty_rows([_encode_column(packs) for _ in header.names])
    raw = (RawColumn(column, texts, codes) for column, (texts, codes) in zip(header.names, columns, strict=True))
    return RawTable(
        tuple(_with_notes(column) for column in raw),
        name_of(source, name),
        (*text.notes, *header.notes, *_lost(n_malformed, empty_rows)),
        n_malformed=n_malformed,
        not_row_wise="" if row_wise else "its reader let cells in quotes span lines",
    )


def _lost(n_malformed: int, empty_rows: int) -> Iterator[str]:
    """Notes for the owner about lines that gave no row."""
    if n_malformed:
        what = "1 line was" if n_malformed == 1 else f"{n_malformed:,} lines were"
        yield f"{what} left out: another number of cells than columns, or a quote that is never closed."
    if empty_rows:
        yield f"Skipped {empty_rows:,} row{'s'[: empty_rows > 1]} without any value."


def _records(lines: Iterator[str], delimiter: str, row_wise: bool) -> Iterator[list[list[str] | None]]:
    """Records in order, some at a time; None for a line that is none."""
    if not row_wise:
        yield from _joined(lines, delimiter)
        return
    while some := list(islice(lines, _LINES_AT_ONCE)):
        if max(map(len, some)) > LONGEST_LINE:
            some = [line if len(line) <= LONGEST_LINE else '"\n' for line in some]
        yield cells_of(some, delimiter)


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


def _packed(chunks: Iterator[list[list[str] | None]], header: Header) -> tuple[list[list[str]], int]:
    """(one list per column of NUL-joined cells, number of malformed records).

    Joined, a cell costs a byte more than its text instead of the fifty of a Python string.
    """
    packs: list[list[str]] = [[] for _ in header.names]
    n_malformed = 0
    for chunk in chunks:
        kept = [record for record in chunk if record is not None and len(record) == header.width]
        if len(kept) < len(chunk):
            n_malformed += len(chunk) - len(kept) - sum(map(_is_blank, chunk))
        for pack, cells in zip(packs, zip(*kept, strict=True), strict=False):  # no cells when no record is kept
            pack.append("\0".join(cells))
    packs.reverse()  # columns are popped from the end, first column first
    return packs, n_malformed


def _is_blank(record: list[str] | None) -> bool:
    """An empty line."""
    return record is not None and (not record or (len(record) == 1 and not record[0].strip()))


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
