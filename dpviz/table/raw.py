"""A table as it came from a file: text cells, dictionary-encoded column by column.

Nothing here decides what a column means; that is the schema's job. Built by `dpviz.io.csv` and `dpviz.io.samples`.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.errors import UnknownName

#: Names of columns that stand in a `repr`.
_MOST_NAMES = 6
#: Cells that mean "no value".
MISSING_MARKS = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"})


#: Up to here, and down to the same below 0, every whole number is one of float64.
_MOST_EXACT = 1 << 53


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
    return np.fromiter(map(finite_number, texts), np.float64, len(texts))


def finite_number(text: str) -> float:
    """The number that a text holds, NaN where it holds no finite one."""
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


def listed_names(names: Sequence[str]) -> str:
    """How many columns there are, and what the first are called: "3 columns: 'age', 'sex', 'income'"."""
    first = ", ".join(f"{name!r:.40}" for name in names[:_MOST_NAMES])
    return f"{len(names):,} column{'s'[: len(names) != 1]}: {first}{', ...' * (len(names) > _MOST_NAMES)}"


class RawColumn(ABC):
    """One column, however it holds its cells."""

    name: str  #: Header cell

    @property
    @abstractmethod
    def texts(self) -> tuple[str, ...]:
        """The distinct cell texts, stripped of surrounding blanks, in order of first appearance; no missing marks."""

    @property
    @abstractmethod
    def codes(self) -> np.ndarray:
        """Shape (n_rows,), signed integers, read-only. Index into `texts`; -1 where the cell is missing."""

    def __repr__(self) -> str:
        """Its name; no cell, and no number of rows."""
        return f"{type(self).__name__}({self.name!r:.80})"

    @property
    def n_rows(self) -> int:
        """Number of cells. Private."""
        return len(self.codes)

    @cached_property
    def text_numbers(self) -> np.ndarray:
        """`texts` as numbers, float64, NaN where a text is no number."""
        return parse_numbers(self.texts)

    @property
    def is_numeric(self) -> bool:
        """True when there is at least one value and every value is a number."""
        return len(self.text_numbers) > 0 and not np.isnan(self.text_numbers).any()

    @property
    def is_missing(self) -> np.ndarray:
        """Which cells are missing, bool of shape (n_rows,). Private."""
        return self.codes < 0

    @property
    def n_missing(self) -> int:
        """Number of missing cells. Private: owner's eyes only."""
        return int(self.is_missing.sum())

    def numbers(self) -> np.ndarray:
        """Cells as float64 of shape (n_rows,); NaN where missing or no number."""
        return self.numbers_and_missing()[0]

    def numbers_and_missing(self, missing_codes: Sequence[str] = ()) -> tuple[np.ndarray, np.ndarray]:
        """(cells as float64, NaN where there is no number; bool: which of them are missing), each of shape (n_rows,).

        `missing_codes` are cells that count as missing, found by their text, else by their numeric value.
        """
        values = np.append(self.text_numbers, np.nan)[self.codes]
        texts = frozenset(missing_codes)
        missing = np.array([*(text in texts for text in self.texts), True])[self.codes]
        return without_codes(values, missing, missing_codes)

    def rows(self, chosen: np.ndarray) -> RawColumn:
        """The column with these rows (bool) alone."""
        return CodedColumn(self.name, self.texts, self.codes[chosen])

    def cells(self) -> list[Any]:
        """Every cell as near as can be to what was given: a number, else its text; None where it is missing. Private."""
        texts = [*self.texts, None]
        return [texts[code] for code in self.codes.tolist()]

    def text(self, row: int) -> str:
        """The text of a cell that is not missing."""
        return self.texts[self.codes[row]]

    def written(self) -> Iterable[str]:
        """Every text at least once, in order of first appearance."""
        return self.texts

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What is remarkable about the texts, e.g. decimal commas. It quotes cells: owner's eyes only."""
        values, missing = self.numbers_and_missing()
        numbers = ~np.isnan(values)
        others = ~(numbers | missing)
        if not numbers.any():
            return ()
        if not others.any():
            return _comma_notes(self) + _code_notes(np.unique(values[numbers]))
        number, text = (self.text(int(found.argmax())) for found in (numbers, others))
        return (f"Holds numbers and text, for example {number!r} and {text!r}: a number only if such texts are missing codes.",)


def _comma_notes(column: RawColumn) -> tuple[str, ...]:
    comma = next((text for text in column.written() if "," in text), None)
    if comma is None:
        return ()
    point = next((text for text in column.written() if "." in text), None)
    doubt = "" if point is None else f" Decimal points appear too, as in {point!r}: make sure no comma separates thousands."
    return (f"Decimal commas were read as decimal points, as in {comma!r}.{doubt}",)


def _code_notes(values: np.ndarray) -> tuple[str, ...]:
    """Of distinct numbers in order: an end of nines alone, such as 999 or -99, further from the others than they are apart."""
    found = []
    for end, nearest in ((-1, -2), (0, 1)):
        code, rest = values[end], np.delete(values, end)
        is_nines = float(code).is_integer() and set(str(int(abs(code)))) == {"9"}
        if is_nines and len(rest) > 2 and abs(code - values[nearest]) > rest[-1] - rest[0]:
            found.append(f"{code:g} is far from all other numbers: if it means “missing”, list it as a missing code.")
            values = rest
    return tuple(found)


def without_codes(values: np.ndarray, missing: np.ndarray, missing_codes: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Values and missing cells once numbers that equal a missing code are missing too; changes both in place."""
    values += 0.0  # no negative zero: it equals 0 but would change the fingerprint
    for code in parse_numbers(missing_codes).tolist():
        if not np.isnan(code):
            missing |= values == code
    values[missing] = np.nan
    return values, missing


@dataclass(frozen=True, eq=False, repr=False)
class CodedColumn(RawColumn):
    """A column whose distinct texts, and the code of every cell, are known."""

    name: str
    distinct: tuple[str, ...]  #: Its `texts`
    places: np.ndarray  #: Its `codes`

    def __post_init__(self) -> None:
        self.places.flags.writeable = False

    @property
    def texts(self) -> tuple[str, ...]:
        """As they were given."""
        return self.distinct

    @property
    def codes(self) -> np.ndarray:
        """As they were given."""
        return self.places


@dataclass(frozen=True, eq=False, repr=False)
class NumberColumn(RawColumn):
    """A column of numbers, of shape (n_rows,): NaN is a missing cell, infinity one that holds no number.

    Whole numbers that come as such, up to 2^53, are kept in as few bits as hold them all.

    What is asked about its texts gets the shortest text of each number. Nobody asks for them where it is declared a number.
    """

    name: str
    given: np.ndarray  #: As they came: where they are no whole numbers, zeros may be negative ones
    is_own: InitVar[bool] = field(default=False, kw_only=True)  #: Nobody else can change these, so they need not be copied

    def __post_init__(self, is_own: bool) -> None:
        given = self.given
        if given.dtype.kind in "iu":
            low, high = (int(given.min()), int(given.max())) if len(given) else (0, 0)
            given = given.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))
        else:
            given = given.astype(np.float64, copy=not is_own)
        given.flags.writeable = False
        object.__setattr__(self, "given", given)

    @cached_property
    def values(self) -> np.ndarray:
        """The numbers, float64 or whole ones, read-only. Without a negative zero: it equals 0 but has another text."""
        if self.given.dtype.kind in "iu" or _NEGATIVE_ZERO not in self.given.view(np.int64):
            return self.given
        values = self.given + 0.0
        values.flags.writeable = False
        return values

    @property
    def n_rows(self) -> int:
        """Number of cells. Private."""
        return len(self.given)

    @property
    def is_missing(self) -> np.ndarray:
        """Which cells are missing, bool of shape (n_rows,). Private."""
        return np.isnan(self.given)

    def numbers_and_missing(self, missing_codes: Sequence[str] = ()) -> tuple[np.ndarray, np.ndarray]:
        """As every column; read-only where nothing had to be replaced."""
        values = self.values.astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            all_finite = np.isfinite(values.sum())  # one look at each; nothing else adds up to a finite number
        missing = np.zeros(len(values), dtype=bool) if all_finite else np.isnan(values)
        infinite = np.zeros(0, dtype=bool) if all_finite else np.isinf(values)
        if infinite.any():
            for text in _INFINITIES.intersection(missing_codes):
                missing |= values == float(text)
            values = np.where(infinite, np.nan, values)
        return without_codes(values.copy(), missing, missing_codes) if missing_codes else (values, missing)

    def cells(self) -> list[Any]:
        """Every number, infinities too; None where it is missing."""
        return [None if cell != cell else cell for cell in self.given.tolist()]

    def rows(self, chosen: np.ndarray) -> RawColumn:
        """The column with these rows (bool) alone."""
        return NumberColumn(self.name, self.values[chosen])

    @cached_property
    def _encoded(self) -> tuple[np.ndarray, np.ndarray]:
        """(distinct values, index of each cell among them; -1 where missing)."""
        if self.values.dtype in _NARROW and len(self.values):  # counted, not sorted; none is missing
            low = int(self.values.min())
            above = np.subtract(self.values, low, dtype=np.int64)
            is_held = np.bincount(above) > 0
            distinct, codes = np.flatnonzero(is_held) + low, (np.cumsum(is_held, dtype=np.int32) - 1)[above]
        else:
            given = ~self.is_missing
            distinct, places = np.unique(self.values[given], return_inverse=True)
            codes = np.full(len(self.values), -1, dtype=np.int32)
            codes[given] = places
        codes.flags.writeable = False
        return distinct, codes

    @property
    def codes(self) -> np.ndarray:
        """Index of each cell into `texts`; -1 where it is missing."""
        return self._encoded[1]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The distinct numbers, increasing, as people write them."""
        values = self._encoded[0].astype(np.float64)
        whole = np.isfinite(values) & (values == np.floor(values))
        if whole.all():
            return tuple(map(str, map(int, values.tolist())))
        texts = [*map(repr, values.tolist())]
        for place in np.flatnonzero(whole).tolist():
            texts[place] = str(int(values[place]))
        return tuple(texts)

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Numbers are not remarkable."""
        return ()


_INFINITIES = frozenset(("inf", "-inf"))
_NEGATIVE_ZERO = np.iinfo(np.int64).min  # its bits
_NARROW = frozenset(map(np.dtype, (np.int8, np.uint8, np.int16, np.uint16)))


def is_exact(low: int, high: int) -> bool:
    """Whether float64 holds every whole number between these; the texts of others are kept, such as of long identifiers."""
    return max(-low, high) <= _MOST_EXACT


def as_written(narrow: np.ndarray) -> np.ndarray:
    """float32 as float64, of which the shortest text counts: .1 stays .1."""
    distinct, places = np.unique(narrow, return_inverse=True)
    return np.array([float(str(number)) for number in distinct], dtype=np.float64)[places]


def canonical_number(value: float) -> str:
    """The shortest text of a number, without a point where it is whole; empty for not-a-number."""
    if np.isnan(value):
        return ""
    return f"{value:.0f}" if value.is_integer() else repr(value)


@dataclass(frozen=True, eq=False, repr=False)
class RawTable:
    """Columns of equal length."""

    columns: tuple[RawColumn, ...]
    source: str = "table"  #: A name for messages
    #: What the reader assumed (delimiter, encoding) and left out. For the owner's eyes.
    notes: tuple[str, ...] = field(default=())
    #: Records left out because they have another number of cells than there are columns. Private.
    n_malformed: int = 0
    #: Places, among all records, of those that gave no row: malformed, or without any value. Private.
    left_out: tuple[int, ...] = ()
    #: Why one row of the source may have changed others; empty where it cannot. Nothing is released from such a table.
    not_row_wise: str = ""

    def __repr__(self) -> str:
        """Where it came from; no cell, and no number of rows."""
        return f"RawTable({self.source!r:.80}, {listed_names(self.names)})"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over names and cells, hexadecimal: equal for the same table, whatever schema it is read by. Private."""
        digest = hashlib.sha256()
        for column in self.columns:
            digest.update(repr((column.name, column.texts)).encode())
            digest.update(np.ascontiguousarray(column.codes, dtype=np.int32).data)
        return digest.hexdigest()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Column names in file order."""
        return tuple(column.name for column in self.columns)

    @property
    def n_rows(self) -> int:
        """Number of data rows, header not counted. Private."""
        return self.columns[0].n_rows

    def column(self, name: str) -> RawColumn:
        """The column called `name`; raises UnknownName."""
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownName("column", name, self.names)
