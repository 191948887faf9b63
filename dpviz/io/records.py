"""Records and columns of any file to a `RawTable`: cells stripped, missing marks known, rows without any value left out.

What becomes of a cell depends on its text alone; what becomes of a record on that record and the number of columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from dpviz.table.raw import MISSING_MARKS, RawColumn, RawTable

#: Records in order, some at a time; None for one that cannot be read.
Chunks = Iterable[list[list[str] | None]]


def table_of_records(chunks: Chunks, names: Sequence[str], source: str, notes: Sequence[str], not_row_wise: str = "") -> RawTable:
    """A table of text. A record with another number of cells than there are names is left out and counted."""
    packs, malformed = _packed(chunks, len(names))
    columns = [_with_notes(RawColumn(name, *_encode_column(packs))) for name in names]
    return table_of_columns(columns, source, notes, malformed, not_row_wise)


def table_of_columns(
    columns: Sequence[RawColumn], source: str, notes: Sequence[str], malformed: Sequence[int] = (), not_row_wise: str = ""
) -> RawTable:
    """A table of columns, without rows in which every cell is missing, as spreadsheets leave them at the end.

    `malformed` are the places, among all records, of those that are in no column.
    """
    empty = _empty_rows(columns)
    kept = [_taken(column, ~empty) for column in columns] if empty.any() else columns
    return RawTable(
        tuple(kept),
        source,
        (*notes, *_lost(len(malformed), int(empty.sum()))),
        n_malformed=len(malformed),
        left_out=_left_out(malformed, empty),
        not_row_wise=not_row_wise,
    )


def text_column(name: str, texts: Iterable[str], places: np.ndarray) -> RawColumn:
    """A column whose rows hold `texts[place]`, missing where the place is negative; texts that no row holds are left out."""
    codes = _Codes()
    code_of = np.array([*map(codes.__getitem__, texts), -1], dtype=np.int32)
    return _with_notes(RawColumn(name, *_in_order_of_appearance(codes.texts, code_of[places])))


def _in_order_of_appearance(texts: list[str], codes: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    used, first = np.unique(codes, return_index=True)
    order = used[np.argsort(first)]
    order = order[order >= 0]
    new_code = np.full(len(texts) + 1, -1, dtype=np.int32)
    new_code[order] = np.arange(len(order))
    return tuple(texts[place] for place in order.tolist()), new_code[codes]


def _lost(n_malformed: int, empty_rows: int) -> Iterator[str]:
    """Notes for the owner about lines that gave no row."""
    if n_malformed:
        what = "1 line was" if n_malformed == 1 else f"{n_malformed:,} lines were"
        yield f"{what} left out: another number of cells than columns, or a quote that is never closed."
    if empty_rows:
        yield f"Skipped {empty_rows:,} row{'s'[: empty_rows > 1]} without any value."


def _packed(chunks: Chunks, width: int) -> tuple[list[list[str]], list[int]]:
    """(one list per column of NUL-joined cells, places of malformed records); blank lines are no records.

    Joined, a cell costs a byte more than its text instead of the fifty of a Python string.
    """
    packs: list[list[str]] = [[] for _ in range(width)]
    malformed: list[int] = []
    n_records = 0
    for chunk in chunks:
        kept = [record for record in chunk if record is not None and len(record) == width]
        if len(kept) < len(chunk):
            chunk = [record for record in chunk if not _is_blank(record)]
            malformed += [n_records + place for place, record in enumerate(chunk) if record is None or len(record) != width]
        n_records += len(chunk)
        for pack, cells in zip(packs, zip(*kept, strict=True), strict=False):  # no cells when no record is kept
            pack.append("\0".join(cells))
    packs.reverse()  # columns are popped from the end, first column first
    return packs, malformed


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


def _empty_rows(columns: Sequence[RawColumn]) -> np.ndarray:
    """Bool per row: every cell is missing."""
    empty = columns[0].codes < 0
    for column in columns[1:]:
        if not empty.any():
            break
        empty &= column.codes < 0
    return empty


def _taken(column: RawColumn, rows: np.ndarray) -> RawColumn:
    """The column with these rows alone, whatever kind of column it is."""
    taken = copy(column)
    codes = column.codes[rows]
    codes.flags.writeable = False
    vars(taken)["codes"] = codes
    return taken


def _left_out(malformed: Sequence[int], empty: np.ndarray) -> tuple[int, ...]:
    """Places of the records that gave no row, increasing."""
    places = np.delete(np.arange(len(malformed) + len(empty)), np.array(malformed, dtype=np.intp))[empty]
    return tuple(sorted([*malformed, *places.tolist()]))


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
