"""A table as it came from a file: text cells, dictionary-encoded column by column.

Nothing here decides what a column means; that is the schema's job. Built by `dpviz.io.csv` and `dpviz.io.samples`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dpviz.errors import UnknownName

#: Cells that mean "no value".
MISSING_MARKS = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"})


def parse_numbers(texts: Sequence[str]) -> np.ndarray:
    """Each text as float64; NaN where it is no finite number. A single decimal comma is read as a decimal point."""
    joined = "\n".join(texts)
    if "," not in joined and "_" not in joined:
        try:
            values = np.fromiter(map(float, texts), np.float64, len(texts))
        except ValueError:  # some text is no number: read one by one
            return _parse_one_by_one(texts)
        return np.where(np.isfinite(values), values, np.nan)
    return _parse_one_by_one(texts)


def _parse_one_by_one(texts: Sequence[str]) -> np.ndarray:
    return np.fromiter(map(_number, texts), np.float64, len(texts))


def _number(text: str) -> float:
    plain = text.strip()
    if "_" in plain:  # Python reads 1_000 as a number; no data file means that
        return np.nan
    if plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    try:
        value = float(plain)
    except ValueError:
        return np.nan
    return value if np.isfinite(value) else np.nan


@dataclass(frozen=True, eq=False)
class RawColumn:
    """One column of text.

    Attributes
    ----------
    name : str
        Header cell.
    texts : tuple of str
        The distinct cell texts, stripped of surrounding blanks, in order of first appearance; no missing marks.
    codes : ndarray of shape (n_rows,), int32, read-only
        Index into `texts`; -1 where the cell is missing.
    notes : tuple of str
        What the reader noticed and did, e.g. decimal commas.
    """

    name: str
    texts: tuple[str, ...]
    codes: np.ndarray
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.codes.flags.writeable = False

    @cached_property
    def text_numbers(self) -> np.ndarray:
        """`texts` as numbers, float64, NaN where a text is no number."""
        return parse_numbers(self.texts)

    @property
    def is_numeric(self) -> bool:
        """True when there is at least one value and every value is a number."""
        return len(self.text_numbers) > 0 and not np.isnan(self.text_numbers).any()

    @property
    def n_missing(self) -> int:
        """Number of missing cells. Private: owner's eyes only."""
        return int((self.codes < 0).sum())

    def numbers(self) -> np.ndarray:
        """Cells as float64 of shape (n_rows,); NaN where missing or no number."""
        return np.append(self.text_numbers, np.nan)[self.codes]


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns of equal length.

    Attributes
    ----------
    columns : tuple of RawColumn
    source : str
        A name for messages.
    notes : tuple of str
        What the reader assumed (delimiter, encoding) and left out. For the owner's eyes.
    n_malformed : int
        Records left out because they have another number of cells than there are columns. Private.
    left_out : tuple of int
        Places, among all records, of those that gave no row: malformed, or without any value. Private.
    not_row_wise : str
        Why one row of the source may have changed others; empty where it cannot. Nothing is released from such a table.
    """

    columns: tuple[RawColumn, ...]
    source: str = "table"
    notes: tuple[str, ...] = field(default=())
    n_malformed: int = 0
    left_out: tuple[int, ...] = ()
    not_row_wise: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in file order."""
        return tuple(column.name for column in self.columns)

    @property
    def n_rows(self) -> int:
        """Number of data rows, header not counted. Private."""
        return len(self.columns[0].codes)

    def column(self, name: str) -> RawColumn:
        """The column called `name`; raises UnknownName."""
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownName("column", name, self.names)
