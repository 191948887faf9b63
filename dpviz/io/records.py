"""Records and columns of any file to a `RawTable`: cells stripped, missing marks known, rows without any cell left out.

What becomes of a cell depends on its text alone; what becomes of a record on that record and the number of columns.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain, islice
from typing import Any

import numpy as np

from dpviz.io.text import LONGEST_LINE
from dpviz.table.marks import Marks, is_plain, number_of
from dpviz.table.raw import MISSING_MARKS, NumberColumn, RawColumn, RawTable, without_codes
from dpviz.table.texts import Codes, LabelledColumn, narrowest, text_column


@dataclass(frozen=True)
class Aligned:
    """Records that all have the right number of cells, column by column."""

    columns: Sequence[Sequence[str]]


#: Records in order, some at a time; None for one that cannot be read.
Chunks = Iterable[Aligned | list[list[str] | None]]


def table_of_records(
    chunks: Chunks, names: Sequence[str], source: str, notes: Sequence[str], not_row_wise: str = "", marks: Marks = Marks.UNKNOWN
) -> RawTable:
    """A table of text. A record with another number of cells than there are names is left out and counted."""
    packs, left_out, n_malformed = _packed(chunks, len(names))
    columns = tuple(TextColumn(name, pack, marks) for name, pack in zip(names, packs, strict=True))
    lost = _lost(n_malformed, len(left_out) - n_malformed)
    return RawTable(columns, source, (*notes, *lost), n_malformed, tuple(left_out), not_row_wise)


def table_of_columns(columns: Sequence[RawColumn], source: str, notes: Sequence[str], malformed: Sequence[int] = ()) -> RawTable:
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


def _packed(chunks: Chunks, width: int) -> tuple[list[list[str]], list[int], int]:
    """(one list per column of NUL-joined cells, places of the records that gave no row, how many of these are malformed).

    Joined, a cell costs a byte more than its text instead of the fifty of a Python string. Blank lines are no records.
    """
    packs: list[list[str]] = [[] for _ in range(width)]
    left_out: list[int] = []
    n_records = n_malformed = 0
    for chunk in chunks:
        columns, places, size = _well_formed(chunk, width)
        n_malformed += size - len(places)
        empty = _empty_records(columns)
        left_out += sorted(n_records + place for place in (*_others(places, size), *(places[at] for at in empty)))
        n_records += size
        if empty:
            columns = [[cell for at, cell in enumerate(cells) if at not in empty] for cells in columns]
        for pack, cells in zip(packs, columns, strict=False):  # no columns when no record is kept
            if cells:
                pack.append("\0".join(cells))
    return packs, left_out, n_malformed


def _well_formed(chunk: Aligned | list[list[str] | None], width: int) -> tuple[Sequence[Sequence[str]], Sequence[int], int]:
    """(cells of the well-formed records by column, the places of these among the records, the number of records)."""
    if isinstance(chunk, Aligned):
        size = len(chunk.columns[0])
        return chunk.columns, range(size), size
    records = [record for record in chunk if not _is_blank(record)]
    kept = {place: record for place, record in enumerate(records) if record is not None and len(record) == width}
    return list(zip(*kept.values(), strict=True)), list(kept), len(records)


def _others(places: Sequence[int], size: int) -> Iterable[int]:
    return () if len(places) == size else set(range(size)).difference(places)


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


@dataclass(frozen=True, eq=False, repr=False)
class TextColumn(RawColumn):
    """A column of text whose cells wait, joined, until somebody asks for their numbers or for their texts.

    So a column that is declared a number costs no dictionary of its texts.
    """

    name: str
    packs: list[str]  #: Cells joined by NUL
    marks: Marks = Marks.UNKNOWN

    @cached_property
    def n_rows(self) -> int:
        """Number of cells. Private."""
        return sum(pack.count("\0") + 1 for pack in self.packs)

    @cached_property
    def _encoded(self) -> tuple[tuple[str, ...], np.ndarray]:
        cells = _arrow_cells("\0".join(self.packs)) if len(self.packs) >= _MANY else None
        if cells is not None:
            distinct = cells.dictionary_encode()
            column = text_column(self.name, distinct.dictionary.to_pylist(), distinct.indices.to_numpy())
            return column.texts, column.codes
        codes = Codes()
        found = np.fromiter(map(codes.__getitem__, self._cells()), np.int32, self.n_rows)
        found = found.astype(narrowest(len(codes.texts)), copy=False)
        found.flags.writeable = False
        return tuple(codes.texts), found

    @property
    def texts(self) -> tuple[str, ...]:
        """The distinct texts in order of first appearance."""
        return self._encoded[0]

    @property
    def codes(self) -> np.ndarray:
        """Index of each cell into `texts`; -1 where it is missing."""
        return self._encoded[1]

    def numbers_and_missing(self, missing_codes: Sequence[str] = ()) -> tuple[np.ndarray, np.ndarray]:
        """As every column, cell by cell: a number is read without its text being looked up."""
        read = list(_numbers_of(self.packs, MISSING_MARKS.union(missing_codes), self.marks))
        values = np.concatenate([np.empty(0), *(values for values, _ in read)])
        missing = np.concatenate([np.empty(0, dtype=bool), *(missing for _, missing in read)])
        return without_codes(values, missing, missing_codes)

    def cells(self) -> list[str | None]:
        """Every cell as it is written, blanks and marks for missing ones too; None where nothing is."""
        return [cell or None for cell in self._cells()]

    def text(self, row: int) -> str:
        """The text of one cell."""
        return next(islice(self._cells(), row, None)).strip()

    def written(self) -> Iterator[str]:
        """Texts as they are written, in order; some more than once."""
        return map(str.strip, self._cells())

    def holding(self, mark: str) -> Iterator[str]:
        """Texts that hold a mark, some more than once."""
        return (cell.strip() for pack in self.packs if mark in pack for cell in pack.split("\0") if mark in cell)

    def lettered(self) -> Iterator[str]:
        """Texts, those with letters among them, some more than once; a pack of numbers alone costs no look at each."""
        packs = (pack for pack in self.packs if not pack.isascii() or pack.lower() != pack.upper())
        return (cell.strip() for pack in packs for cell in pack.split("\0"))

    def _cells(self) -> Iterator[str]:
        return chain.from_iterable(pack.split("\0") for pack in self.packs)


#: With fewer packs it would take longer to import Arrow than it saves.
_MANY = 40
#: Packs that are read at once: while large arrays are at work, other threads may be, too.
_TOGETHER = 64
#: Cells that are missing, as numbers that `float` reads.
_NOT_A_NUMBER = dict.fromkeys(MISSING_MARKS, "nan")
Numbers = tuple[np.ndarray, np.ndarray]  # values, and which of them are missing


def _numbers_of(packs: list[str], missing: frozenset[str], marks: Marks) -> Iterator[Numbers]:
    """The numbers of all cells. Arrow reads most of them, or `float` where that is not installed; the rest is read one by one.

    All of them read the same number, the closest to the text there is, so what becomes of a cell does not depend on the others.
    """
    read = cache(partial(_number_or_missing, missing, marks))
    if len(packs) < _MANY:
        yield from (_by_float(pack, read, marks) for pack in packs)
        return
    for start in range(0, len(packs), _TOGETHER):
        some = packs[start : start + _TOGETHER]
        found = _by_arrow("\0".join(some), missing, marks)
        one_by_one = (_by_arrow(pack, missing, marks) or _by_float(pack, read, marks) for pack in some)
        yield from one_by_one if found is None else [found]


def _arrow_cells(pack: str) -> Any:
    """The cells as an Arrow array of texts; None where pyarrow is not installed, or a text cannot be written as UTF-8."""
    try:
        import pyarrow as pa

        written = np.frombuffer(pack.encode(), dtype=np.uint8)
    except (ImportError, UnicodeEncodeError):
        return None
    ends = np.flatnonzero(written == 0)
    starts = np.concatenate([[0], ends - np.arange(len(ends)), [len(written) - len(ends)]])
    buffers = pa.py_buffer(starts), pa.py_buffer(written[written != 0])
    return pa.LargeStringArray.from_buffers(len(starts) - 1, *buffers)


def _by_arrow(pack: str, missing: frozenset[str], marks: Marks) -> Numbers | None:
    """Numbers of cells that are all missing or finite numbers; None where one is neither, or might be more than a number."""
    cells = _arrow_cells(pack.replace(",", ".")) if is_plain(pack, marks) else None
    if cells is None:
        return None
    import pyarrow as pa
    import pyarrow.compute as pc

    empty = pc.is_in(cells, pa.array(sorted(missing), pa.large_string()))
    try:
        values = pc.cast(pc.if_else(empty, None, cells), pa.float64()).fill_null(0.0).to_numpy()
    except pa.ArrowInvalid:
        return None
    if not np.isfinite(values).all():
        return None
    is_missing = empty.to_numpy(zero_copy_only=False)
    return np.where(is_missing, np.nan, values), is_missing


def _by_float(pack: str, read: Callable[[str], tuple[float, bool]], marks: Marks) -> Numbers:
    """What `float` cannot read, or reads as no finite number, is read cell by cell."""
    cells = pack.split("\0")
    if is_plain(pack, marks):
        plain = pack.replace(",", ".").split("\0") if "," in pack else cells
        for quick in (plain, map(_NOT_A_NUMBER.get, plain, plain)):
            try:
                values = np.fromiter(map(float, quick), np.float64, len(cells))
            except ValueError:
                continue
            missing = np.zeros(len(cells), dtype=bool)
            for place in np.flatnonzero(~np.isfinite(values)).tolist():
                values[place], missing[place] = read(cells[place])
            return values, missing
    pairs = list(map(read, cells))
    return np.array([value for value, _ in pairs]), np.array([is_missing for _, is_missing in pairs])


def _number_or_missing(missing: frozenset[str], marks: Marks, cell: str) -> tuple[float, bool]:
    text = cell.strip()
    return (np.nan, True) if text in missing else (number_of(text, marks), False)


def _empty_rows(columns: Sequence[RawColumn]) -> np.ndarray:
    """Bool per row: every cell is empty."""
    empty = _is_empty(columns[0])
    for column in columns[1:]:
        if not empty.any():
            break
        empty = empty & _is_empty(column)
    return empty


def _is_empty(column: RawColumn) -> np.ndarray:
    column = column.plain if isinstance(column, LabelledColumn) else column
    return column.is_missing if isinstance(column, NumberColumn) else column.codes == -1
