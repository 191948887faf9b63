"""What tells a table again in any order and form: its row count and, per column, a sum over all of its cells.

The sum is over hashes of 128 bits, one for each cell, so it depends on how often which cell occurs and on nothing else. Cells
count as equal where people would call them the same: numbers of equal value (in float32, so that a copy in half the bytes is the
table it was made of), texts without regard to capitals, missing cells of any mark. It is made to recognise a table that was
forgotten; an edited copy has other sums. All of it is private.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from zlib import crc32

import numpy as np

from dpviz.table.cells import MISSING_MARKS, parse_numbers
from dpviz.table.columns import Column
from dpviz.table.raw import RawTable

#: A column of more distinct cells than this recognises a table by itself.
FEW_CELLS = 50
_CHUNK_SIZE = 1 << 15
_MODULUS, _BUCKETS = 1 << 64, 1 << 12
_MIX = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))
_OF_TEXTS = np.uint64(1 << 32)
_SHIFT, _HALF, _TO_BUCKET = np.uint64(29), np.uint64(32), np.uint64(52)
#: As a date and as a moment at midnight.
_MIDNIGHT = " 00:00:00\0", "t00:00:00\0"
_MISSING = frozenset(text.casefold() for text in MISSING_MARKS)


@dataclass(frozen=True, slots=True, repr=False)
class ColumnSum:
    """The sum of a column."""

    name: str
    first: int  #: Sum of hashes, and of their squares, modulo 2^64
    second: int
    occupied: int  #: A bit for each bucket of hashes that holds a cell: about how many distinct cells there are

    @property
    def text(self) -> str:
        """The sum, hexadecimal; the name is no part of it."""
        return f"{self.first:016x}{self.second:016x}"

    @property
    def is_wide(self) -> bool:
        """Whether it has so many distinct cells that another table hardly has the same."""
        return self.occupied.bit_count() > FEW_CELLS

    @property
    def is_constant(self) -> bool:
        """Whether it has one distinct cell, or none."""
        return self.occupied.bit_count() <= 1


class TableSums:
    """The row count and the sums of a table's columns.

    Nothing of it is shown or pickled. It goes into no file but the register, and there under the register's key.
    """

    def __init__(self, n_rows: int, columns: Sequence[ColumnSum], *, is_known: bool = True) -> None:
        self.n_rows, self.columns = n_rows, tuple(columns)
        self.is_known = is_known  #: False where sums were lost, or rows are counted where they are

    def __repr__(self) -> str:
        """No count and no sum."""
        return "TableSums()"

    def __reduce__(self) -> tuple[object, ...]:
        """What comes back says that it does not know."""
        return partial(TableSums, is_known=False), (0, ())

    def may_be(self, other: TableSums) -> bool:
        """Whether both are of one table, or of parts of one, as far as sums tell."""
        if self is other:
            return True
        mine, theirs = ({one.text: one.is_wide for one in sums.columns if not one.is_constant} for sums in (self, other))
        common = mine.keys() & theirs.keys()
        return self.is_known and self.n_rows == other.n_rows and looks_same([mine[text] for text in common], len(mine))


def looks_same(equal: Sequence[bool], n_columns: int) -> bool:
    """Whether tables of as many rows are taken for one. `equal`: of each column with an equal sum, whether it is wide.

    One wide column is enough, or two others, or every one there is. Columns of one distinct cell are left out.
    """
    return any(equal) or len(equal) > 1 or 0 < len(equal) == n_columns


def sum_numbers(name: str, cells: np.ndarray) -> ColumnSum:
    """The sum of numbers, NaN for those that are missing."""
    starts = range(0, len(cells), _CHUNK_SIZE)
    return _sum_hashes(name, (_hash_numbers(cells[start : start + _CHUNK_SIZE]) for start in starts))


def sum_codes(name: str, codes: np.ndarray, texts: Sequence[str], numbers: np.ndarray | None = None) -> ColumnSum:
    """The sum of cells by their places among texts, missing where it is negative. `numbers`: of the texts, NaN for others."""
    counts = np.bincount(codes if codes.dtype.kind == "u" else codes[codes >= 0], minlength=len(texts))
    occurring = np.flatnonzero(counts)
    return _sum_hashes(name, [_hash_texts(texts, numbers)[occurring]], counts[occurring].astype(np.uint64))


def sum_column(column: Column, *, are_keys: bool = False) -> ColumnSum:
    """The sum of a column by its texts, for one that is read so; as keys they are no numbers, and there may be one per row."""
    numbers = np.full(len(column.distinct_texts), np.nan) if are_keys else column.text_numbers
    return sum_codes(column.name, column.codes, column.distinct_texts, numbers)


def sum_table(table: RawTable) -> TableSums:
    """The sums of every column of a table that is not encoded yet."""
    columns = [sum_column(one) if one.typed is None or one.labels else sum_numbers(one.name, one.typed) for one in table.columns]
    return TableSums(table.n_rows, columns)


def _sum_hashes(name: str, parts: Iterable[np.ndarray], counts: np.ndarray | None = None) -> ColumnSum:
    """Of a column whose cells have these hashes, each so often; `counts` None: once."""
    first = second = 0
    occupied, is_wide = np.zeros(_BUCKETS, dtype=bool), False
    for hashes in parts:
        each = hashes if counts is None else hashes * counts
        first = (first + int(each.sum())) % _MODULUS
        second = (second + int(np.dot(each, hashes))) % _MODULUS
        if not is_wide:
            occupied[(hashes[hashes > 0] >> _TO_BUCKET).view(np.int64)] = True
            is_wide = int(np.count_nonzero(occupied)) > FEW_CELLS
    return ColumnSum(name, first, second, int.from_bytes(np.packbits(occupied).tobytes(), "big"))


def _mix_bits(bits: np.ndarray) -> np.ndarray:
    """Hashes of these, in place."""
    bits += _MIX[0]
    bits *= _MIX[1]
    bits ^= bits >> _SHIFT
    bits *= _MIX[2]
    bits ^= bits >> _HALF
    return bits


def _hash_numbers(values: np.ndarray) -> np.ndarray:
    """Hashes of the numbers among these, uint64: of float32, with one zero."""
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = values.astype(np.float32)
        narrow += np.float32(0)
        if not np.isfinite(narrow.sum()):
            narrow = narrow[~np.isnan(narrow)]
    return _mix_bits(narrow.view(np.uint32).astype(np.uint64))


def _hash_texts(texts: Sequence[str], numbers: np.ndarray | None) -> np.ndarray:
    """A hash of each text, uint64: of its number where it is one; 0 for a mark of a missing cell."""
    plain = _plain(texts)
    numbers = parse_numbers(plain) if numbers is None else numbers
    is_text = np.isnan(numbers)
    hashes = np.zeros(len(plain), dtype=np.uint64)
    hashes[~is_text] = _hash_numbers(numbers[~is_text])
    others = [plain[place] for place in np.flatnonzero(is_text).tolist()]
    words = np.fromiter((crc32(text.encode("utf-8", "surrogatepass")) for text in others), np.uint64, len(others))
    is_missing = np.fromiter(map(_MISSING.__contains__, others), bool, len(others))
    hashes[is_text] = np.where(is_missing, np.uint64(0), _mix_bits(words + _OF_TEXTS))
    return hashes


def _plain(texts: Sequence[str]) -> list[str]:
    """Texts in one form: composed, in small letters, without midnight. All at once, for there may be one per row."""
    joined = unicodedata.normalize("NFC", "\0".join((*texts, ""))).casefold()
    for midnight in _MIDNIGHT:
        joined = joined.replace(midnight, "\0")
    plain = joined.split("\0")[:-1]
    return plain if len(plain) == len(texts) else [text.replace("\0", " ").casefold() for text in texts]
