"""CSV files to `RawTable`, one record at a time: what happens to a row depends on no other row.

A record is a physical line. The delimiter and the encoding come from the caller, a byte-order mark or the header line, never
from the rows. A line with another number of cells than the header, or with a quote that is never closed, is left out and
counted; a byte that cannot be read spoils its own cell only. So a row that is added or removed changes one row of the table at
most (`tests/io/test_csv_row_wise.py`).

`TableError.code` is one of not-a-file, empty, gzip, not-csv, encoding, line-ends, too-many-bytes, too-many-rows,
too-many-columns, no-header, header-numbers, one-column, blank-name, duplicate-name. All but the three limits, which belong to the
declared domain, speak of the file or its header. No message quotes a cell.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from dpviz.io.csv_lines import Header, cells_of, columns_of
from dpviz.io.limits import MAX_BYTES, MAX_COLUMNS, MAX_ROWS, require_rows
from dpviz.io.records import Aligned, Chunks, table_of_records
from dpviz.io.text import LONGEST_LINE, Source, name_of, read_text
from dpviz.progress import Progress, Stop, watched
from dpviz.table.raw import RawTable

_LINES_AT_ONCE = 1024


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
    text = read_text(source, header=names is None, encoding=encoding, row_wise=row_wise, max_bytes=max_bytes)
    n_lines = text.raw.count(b"\n")  # blank ones included
    require_rows(n_lines - (names is None), max_rows, "lines")
    lines = text.lines()
    if names is None:
        header = Header.of(lines, delimiter, max_columns, rename=rename_duplicates)
    else:
        header = Header.given(names, delimiter, max_columns)
    records = _records(_followed(lines, n_lines + 1, watched(progress, stop)), header, row_wise)
    reason = "" if row_wise else "its reader let cells in quotes span lines"
    return table_of_records(records, header.names, name_of(source, name), (*text.notes, *header.notes), reason)


def _followed(lines: Iterator[str], n_lines: int, step: Progress) -> Iterator[str]:
    """The lines; `step` is told now and then how many of them are read."""
    for place, line in enumerate(lines):
        if place % _LINES_AT_ONCE == 0:
            step(min(1.0, place / n_lines))
        yield line


def _records(lines: Iterator[str], header: Header, row_wise: bool) -> Chunks:
    """Records in order, some at a time; None for a line that is none."""
    if not row_wise:
        yield from _joined(lines, header.delimiter)
        return
    while some := list(islice(lines, _LINES_AT_ONCE)):
        if sum(map(len, some)) > LONGEST_LINE:  # one at a time, for cells take up to ten times the memory of their text
            yield from (cells_of([line if len(line) <= LONGEST_LINE else '"\n'], header.delimiter) for line in some)
            continue
        columns = columns_of(some, header.delimiter, header.width)
        yield cells_of(some, header.delimiter) if columns is None else Aligned(columns)


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
