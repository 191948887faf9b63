"""Records and columns of any file to a `RawTable`: cells stripped, missing marks known, rows without any cell left out.

What becomes of a cell depends on its text alone; what becomes of a record on that record and the number of columns.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.io.text import LONGEST_LINE
from dpviz.table.cells import Marks
from dpviz.table.columns import Column
from dpviz.table.raw import RawTable


@dataclass(frozen=True)
class Aligned:
    """Records that all have the right number of cells, column by column."""

    columns: Sequence[Sequence[str]]


#: Records in order, some at a time; None for one that cannot be read.
Chunks = Iterable[Aligned | list[list[str] | None]]


def table_of_records(
    chunks: Chunks, names: Sequence[str], source: str, notes: Sequence[str], not_row_wise: str = "", marks: Marks = Marks.UNKNOWN
) -> RawTable:
    """A table of text. A record with another number of cells than there are names is left out and counted; a blank line is none.

    A column is kept as NUL-joined packs: a cell costs a byte more than its text instead of the fifty of a Python string.
    """
    packs: list[list[str]] = [[] for _ in names]
    left_out, n_records, n_malformed = list[int](), 0, 0
    for chunk in chunks:
        columns: Sequence[Sequence[str]]
        if isinstance(chunk, Aligned):
            columns, size = chunk.columns, len(chunk.columns[0])
            places: Sequence[int] = range(size)
        else:
            records = [record for record in chunk if not _is_blank(record)]
            kept = {at: record for at, record in enumerate(records) if record is not None and len(record) == len(names)}
            columns, places, size = list(zip(*kept.values(), strict=True)), list(kept), len(records)
        empty = _empty_records(columns)
        if empty or len(places) < size:
            n_malformed += size - len(places)
            without = {*range(size)}.difference(places) | {places[at] for at in empty}
            left_out += sorted(n_records + place for place in without)
            columns = [[cell for at, cell in enumerate(cells) if at not in empty] for cells in columns]
        n_records += size
        for pack, cells in zip(packs, columns, strict=False):  # no columns when no record is kept
            if cells:
                pack.append("\0".join(cells))
    columns_read = tuple(Column(name, packs=pack, marks=marks) for name, pack in zip(names, packs, strict=True))
    lost = _lost(n_malformed, len(left_out) - n_malformed)
    return RawTable(columns_read, source, (*notes, *lost), n_malformed, tuple(left_out), not_row_wise)


def table_of_columns(columns: Sequence[Column], source: str, notes: Sequence[str], malformed: Sequence[int] = ()) -> RawTable:
    """A table of columns, without rows in which every cell is empty, as spreadsheets leave them at the end.

    `malformed` are the places, among all records, of those that are in no column.
    """
    empty = _empty_rows(columns)
    if not empty.any() and not malformed:
        return RawTable(tuple(columns), source, tuple(notes))
    records = np.delete(np.arange(len(empty) + len(malformed)), np.array(malformed, np.int64))
    left_out = tuple(sorted((*malformed, *records[empty].tolist())))
    kept = tuple(column.rows(~empty) for column in columns) if empty.any() else tuple(columns)
    lost = _lost(len(malformed), len(left_out) - len(malformed))
    return RawTable(kept, source, (*notes, *lost), len(malformed), left_out)


def _lost(n_malformed: int, empty_rows: int) -> Iterator[str]:
    """Notes for the owner about lines that gave no row."""
    if n_malformed:
        what = "1 line was" if n_malformed == 1 else f"{n_malformed:,} lines were"
        why = "another number of cells than columns, a quote that is never closed, "
        yield f"{what} left out: {why}or over {LONGEST_LINE:,} letters."
    if empty_rows:
        yield f"Skipped {empty_rows:,} row{'s'[: empty_rows > 1]} without any value."


def _empty_records(columns: Sequence[Sequence[str]]) -> set[int]:
    """Places of the records whose every cell is empty. Marks such as NA are cells: whether they are missing, the schema says."""
    places: Iterable[int] = range(len(columns[0])) if columns else ()
    for cells in columns:
        places = [place for place in places if not cells[place].strip()]
        if not places:
            break
    return set(places)


def _is_blank(record: list[str] | None) -> bool:
    """An empty line."""
    return record is not None and (not record or (len(record) == 1 and not record[0].strip()))


def _empty_rows(columns: Sequence[Column]) -> np.ndarray:
    """Bool per row: every cell is empty."""
    empty = columns[0].is_empty
    for column in columns[1:]:
        if not empty.any():
            break
        empty = empty & column.is_empty
    return empty
