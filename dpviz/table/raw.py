"""A table as it came from a file: text cells, dictionary-encoded column by column.

Nothing here decides what a column means; that is the schema's job. Built by `dpviz.io.csv` and `dpviz.io.samples`.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any
from unicodedata import normalize

import numpy as np

from dpviz.errors import SchemaError, shown
from dpviz.table.marks import EITHER, IN_DOUBT, Marks, is_plain, number_of
from dpviz.table.notes import Doubt, Note

#: Names of columns that stand in a `repr`.
_MOST_NAMES = 6
#: Cells that mean "no value", unless a category or class of that name is declared. The k-th has the code -1 - k in a column.
MARKS = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
MISSING_MARKS = frozenset(MARKS)
#: A blank, and the no-break blanks that look like it.
BLANKS = " \u00a0\u2007\u202f"
_BLANK = str.maketrans(dict.fromkeys(BLANKS, " "))


#: Up to here, and down to the same below 0, every whole number is one of float64.
_MOST_EXACT = 1 << 53


def clean(text: str) -> str:
    """A text as it is compared: no blanks at its ends, no-break blanks as others, Unicode in its composed form (NFC)."""
    text = text.strip()
    return text if text.isascii() else normalize("NFC", text.translate(_BLANK))


def parse_numbers(texts: Sequence[str], marks: Marks = Marks.UNKNOWN) -> np.ndarray:
    """Each text as float64; NaN where it is no finite number, or may be two (`dpviz.table.marks`)."""
    if "," not in (joined := "\n".join(texts)) and is_plain(joined, marks):
        try:
            values = np.fromiter(map(float, texts), np.float64, len(texts))
        except ValueError:  # some text is no number: read one by one
            return _parse_one_by_one(texts, marks)
        return np.where(np.isfinite(values), values, np.nan)
    return _parse_one_by_one(texts, marks)


def _parse_one_by_one(texts: Sequence[str], marks: Marks) -> np.ndarray:
    return np.fromiter((number_of(text, marks) for text in texts), np.float64, len(texts))


def listed_names(names: Sequence[str]) -> str:
    """How many columns there are, and what the first are called: "3 columns: 'age', 'sex', 'income'"."""
    first = ", ".join(f"{name!r:.40}" for name in names[:_MOST_NAMES])
    return f"{len(names):,} column{'s'[: len(names) != 1]}: {first}{', ...' * (len(names) > _MOST_NAMES)}"


#: Begins the note of a reader that names such columns; nobody else is told of them.
WITHOUT_CELLS = "Left out columns of lists, records or views"


def no_column(source: str, name: str, names: Sequence[str], notes: Sequence[str] = ()) -> SchemaError:
    """What to say where a table lacks a column. Its own names are not quoted: without a header line they are a row."""
    remedy = "Leave the column out of the schema, or choose the file the schema was made for: its first line holds the names."
    if isinstance(name, str) and any(_plain(other) == _plain(name) for other in names):
        remedy = "A column is called so but for capitals, blanks, unseen signs or signs between words: write it as the file does."
    field = name[:60] if isinstance(name, str) else ""
    if any(note.startswith(WITHOUT_CELLS) and f"{name!r:.80}" in note for note in notes):
        what = f"The column {name!r:.80} of {source} holds lists, records or views, which are neither numbers nor categories."
        return SchemaError(
            what, field=field, remedy="Leave it out of the schema, or save what is in them as columns of their own."
        )
    return SchemaError(f"{source} has no column {shown(name)} among its {len(names):,}.", field=field, remedy=remedy)


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


class RawColumn(ABC):
    """One column, however it holds its cells."""

    name: str  #: Header cell
    marks: Marks = Marks.UNKNOWN  #: What points and commas in its texts mean

    @property
    @abstractmethod
    def texts(self) -> tuple[str, ...]:
        """The distinct cell texts, as `clean` makes them, in order of first appearance; no missing marks."""

    @property
    @abstractmethod
    def codes(self) -> np.ndarray:
        """Shape (n_rows,), signed integers, read-only. Index into `texts`; below 0 for one of `MARKS`, -1 for no cell."""

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
        return parse_numbers(self.texts, self.marks)

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
        codes = np.maximum(self.codes, -1)
        texts = frozenset(map(clean, missing_codes))
        missing = np.array([*(text in texts for text in self.texts), True])[codes]
        return without_codes(np.append(self.text_numbers, np.nan)[codes], missing, missing_codes)

    def found(self, find: Callable[[Sequence[str]], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """(what `find` makes of each distinct cell, of those of `MARKS` at the end, backwards; per row, the place in it)."""
        return np.concatenate([find(self.texts), find(MARKS[::-1])]), self.codes

    def rows(self, chosen: np.ndarray) -> RawColumn:
        """The column with these rows (bool) alone."""
        return CodedColumn(self.name, self.texts, self.codes[chosen], self.marks)

    def with_marks(self, marks: Marks) -> RawColumn:
        """The column in which points and commas mean this."""
        return self if marks == self.marks else replace(self, marks=marks)  # type: ignore[type-var]

    def cells(self) -> list[Any]:
        """Every cell as near as can be to what was given: a number, else its text; None where it is empty. Private."""
        texts = [*self.texts, *MARKS[:0:-1], None]
        return [texts[code] for code in self.codes.tolist()]

    def text(self, row: int) -> str:
        """The text of a cell that is not missing."""
        return self.texts[self.codes[row]]

    def written(self) -> Iterable[str]:
        """Every text at least once, in order of first appearance."""
        return self.texts

    def holding(self, mark: str) -> Iterator[str]:
        """Texts that hold a mark, some more than once."""
        return (text for text in self.written() if mark in text)

    @property
    def is_code(self) -> bool:
        """Whether some text looks like a code rather than a number: 042, 5E1."""
        return any(map(_CODE.fullmatch, self.texts))

    @cached_property
    def mark_notes(self) -> tuple[str, ...]:
        """What was assumed of points and commas in numbers, without a cell."""
        return tuple(_mark_notes(self))

    def lettered(self) -> Iterator[str]:
        """Texts, those with letters among them."""
        return iter(self.written())

    def unit_notes(self, missing_codes: Sequence[str] = ()) -> tuple[str, ...]:
        """Of a column that is declared a number: whether some cells hold a number and its unit."""
        if any(text not in missing_codes for text in filter(_UNIT.fullmatch, self.lettered())):
            what = "Some cells are numbers with units or other letters behind, which are not read"
            return (Doubt(f"{what}: write the number alone."),)
        return ()

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What is remarkable about the texts, without a cell but in examples, which are for who may see the rows."""
        values, missing = self.numbers_and_missing()
        numbers = ~np.isnan(values)
        others = ~(numbers | missing)
        found = list(self.mark_notes)
        if numbers.any() and others.any():
            example = tuple(self.text(int(flags.argmax())) for flags in (numbers, others))
            found += _mixed_notes(self, example)
        elif numbers.any():
            found += _code_notes(np.unique(values[numbers]))
            if self.is_code:
                found.append(Doubt("Some cells are written as codes are (042, 5E1): as numbers 042 and 42 would be the same."))
        elif others.any() and sum(map(bool, map(_MONTH.fullmatch, self.texts))) * 2 > len(self.texts):
            found.append(Doubt("Texts seem to be dates with names of months, which are not read: write them as 2024-03-01."))
        return (*found, *_spelling_notes(self.texts))


#: A text of digits that a program would not write for a number.
_CODE = re.compile(r"0[0-9]+|[0-9]+[eE][0-9]+")
#: What programs write where there is no value, beside the marks that always mean so.
_OTHER_MARKS = frozenset((".", "..", "-", "--", "*", "#N/A", "n/a", "N.A.", "n.a.", "None", "none", "NaT", "<NA>", r"\N"))
#: With more texts they are no categories.
_MOST_SPELLINGS = 1000
#: Texts of a column that are searched for marks in doubt.
_MOST_LOOKED_AT = 5_000


#: A number as people write amounts: 95%, $1,037.50, (12).
_AMOUNT = re.compile(r"\(?[-+]?(?:[$€£¥%] ?)?[-+]?[0-9][0-9.,]*(?: ?[$€£¥%])?\)?")
#: A number and its unit, such as 5 kg, 3.2mg/l or 7 m²; an exponent is none.
_UNIT = re.compile(r"[-+]?[0-9][0-9.,]*\s?(?![eE][-+]?[0-9])[^\W\d_]+(?:[ /·][^\W\d_]+)*[23²³]?\.?")
#: A date with the name of its month: 01-MAR-24, 1 March 2024.
_MONTH = re.compile(r"[0-9]{1,2}[-. /]?[A-Za-z]{3,9}[-. /]?[0-9]{2,4}|[A-Za-z]{3,9}[-. ][0-9]{1,2},? [0-9]{2,4}")


def _mark_notes(column: RawColumn) -> Iterator[str]:
    marks, one = column.marks, {"help": "decimal"}
    if any(map(_AMOUNT.fullmatch, chain.from_iterable(map(column.holding, "%$€£¥(")))):
        yield Doubt("Some cells are numbers with signs, such as %, $ or brackets, which are not read: write the number alone.")
    if marks is Marks.COMMA:
        if any(np.isnan(number_of(text, marks)) and not np.isnan(number_of(text)) for text in column.holding(".")):
            yield Doubt("A comma stands before decimals, so cells with a point that groups no thousands are no numbers.", **one)
        return
    if marks is Marks.POINT:
        commas = [np.isnan(number_of(text, marks)) for text in column.holding(",") if not np.isnan(number_of(text, Marks.EITHER))]
        if not all(commas):
            yield "Commas in numbers group thousands."
        if any(commas):
            yield Doubt("A point stands before decimals, so cells with a comma that groups no thousands are no numbers.", **one)
        return
    if marks is Marks.UNKNOWN and any(map(EITHER.fullmatch, column.holding(","))):
        yield Doubt("A comma before three digits may group thousands or stand before decimals: such cells are no numbers.", **one)
    elif any(text.count(",") == 1 and not np.isnan(number_of(text, marks)) for text in column.holding(",")):
        yield "Decimal commas were read as decimal points."
    for mark, word in ((".", "point"), (",", "comma")):
        texts = [text for text in islice(column.holding(mark), _MOST_LOOKED_AT) if not np.isnan(number_of(text, marks))]
        in_doubt = [text for text in texts if IN_DOUBT.fullmatch(text)]
        has_groups = any(text.count(mark) > 1 or ("." in text and "," in text) for text in texts)
        if in_doubt and (has_groups or len(in_doubt) == len(texts)):
            what = f"A {word} before three digits in numbers was read as the mark before decimals"
            yield Doubt(f"{what}, but may group thousands.", **one)


def _mixed_notes(column: RawColumn, example: tuple[str, ...]) -> Iterator[str]:
    """Of numbers beside other texts: a warning where most are numbers."""
    others = {text for text, number in zip(column.texts, column.text_numbers.tolist(), strict=True) if np.isnan(number)}
    if others <= _OTHER_MARKS:
        listed = ", ".join(map(repr, sorted(others)))
        yield Doubt(f"Holds numbers and {listed}: a number only if {listed} is declared as a missing code.")
        return
    what = "Holds numbers and text: a number only if such texts are missing codes."
    quoted = f"For example {example[0]!r} and {example[1]!r}."
    yield (Doubt if len(others) * 2 < len(column.texts) else Note)(what, example=quoted)


def _spelling_notes(texts: Sequence[str]) -> Iterator[str]:
    """Of texts that differ by capitals alone."""
    if len(texts) > _MOST_SPELLINGS:
        return
    together = defaultdict[str, list[str]](list)
    for text in texts:
        together[text.casefold()].append(text)
    several = {plain for plain, ways in together.items() if len(ways) > 1}
    if several & _TRUTHS:
        yield Doubt("Truth values are written with different capitals: each of true and false is one category.")
    if several - _TRUTHS:
        example = ", ".join(map(repr, together[min(several - _TRUTHS)]))
        what = "Some texts differ by capitals alone, and are different categories unless the schema groups them."
        yield Doubt(what, example=f"For example {example}.")


_TRUTHS = frozenset(("true", "false"))


def _code_notes(values: np.ndarray) -> tuple[str, ...]:
    """Of distinct numbers in order: an end of nines alone, such as 999 or -99, further from the others than they are apart."""
    found = []
    for end, nearest in ((-1, -2), (0, 1)):
        code, rest = values[end], np.delete(values, end)
        is_nines = float(code).is_integer() and set(str(int(abs(code)))) == {"9"}
        if is_nines and len(rest) > 2 and abs(code - values[nearest]) > rest[-1] - rest[0]:
            what = "A number of nines is far from all other numbers: if it means “missing”, list it as a missing code."
            found.append(Note(what, example=f"It is {code:g}."))
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
    marks: Marks = Marks.UNKNOWN

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

    def with_marks(self, marks: Marks) -> RawColumn:
        """A number that came as such has no marks."""
        return self

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
        return tuple(map(canonical_number, self._encoded[0].astype(np.float64).tolist()))

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Numbers are not remarkable."""
        return ()

    mark_notes = notes  # type: ignore[assignment]

    def unit_notes(self, missing_codes: Sequence[str] = ()) -> tuple[str, ...]:
        """Numbers have no units."""
        return ()

    @property
    def is_code(self) -> bool:
        """Numbers are numbers."""
        return False


_INFINITIES = frozenset(("inf", "-inf"))
_NEGATIVE_ZERO = np.iinfo(np.int64).min  # its bits
_NARROW = frozenset(map(np.dtype, (np.int8, np.uint8, np.int16, np.uint16)))


def is_exact(low: int, high: int) -> bool:
    """Whether float64 holds every whole number between these; the texts of others are kept, such as of long identifiers."""
    return max(-low, high) <= _MOST_EXACT


def canonical_number(value: float) -> str:
    """The shortest text of a number without an exponent, and without a point where it is whole; empty for not-a-number."""
    if value != value:
        return ""
    if value.is_integer():
        return str(int(value))
    text = repr(value)
    return np.format_float_positional(value, trim="-") if "e" in text else text


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
        """Where it came from; no cell, no number of rows, and no name: the first line of a file may be a row."""
        return f"RawTable({self.source!r:.80}, {len(self.columns):,} column{'s'[: len(self.columns) != 1]})"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over names and cells, hexadecimal: equal for the same table, whatever schema it is read by. Private."""
        digest = hashlib.sha256()
        for column in self.columns:
            digest.update(repr((column.name, column.texts)).encode())
            digest.update(np.maximum(column.codes, -1).astype(np.int32).data)
        return digest.hexdigest()

    def with_decimal(self, mark: str | None) -> RawTable:
        """The table whose numbers have this decimal mark (None: as it is)."""
        return self if mark is None else replace(self, columns=tuple(column.with_marks(Marks(mark)) for column in self.columns))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Column names in file order."""
        return tuple(column.name for column in self.columns)

    @property
    def n_rows(self) -> int:
        """Number of data rows, header not counted. Private."""
        return self.columns[0].n_rows

    def column(self, name: str) -> RawColumn:
        """The column called `name`; raises SchemaError, which names no other: the first line of a file may be a row."""
        for column in self.columns:
            if column.name == name:
                return column
        raise no_column(self.source, name, self.names, self.notes)
