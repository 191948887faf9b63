"""What a reader noticed in a table, and the words in which each interface says so.

A note is a sentence without a cell. What calls the reading into question is a `Doubt`: a warning in Python, on the command line
and on screen, in the same words, and after them what helps in that interface.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import IntEnum
from itertools import chain, islice, takewhile
from typing import TYPE_CHECKING, Self
from unicodedata import category

import numpy as np

from dpviz.errors import ReadingWarning
from dpviz.table.cells import IN_DOUBT, TRUTHS, UNREADABLE, Marks, canonical_number, date_of, number_of
from dpviz.table.kinds import IN_OTHER_FORM, TWO_WAYS, UNIT, count_kinds, is_no_value, text_kind_in_numbers

if TYPE_CHECKING:
    from dpviz.table.columns import Column


class Interface(IntEnum):
    """Where a note is read."""

    PYTHON = 0
    COMMAND_LINE = 1
    SCREEN = 2


_LINES = "Delete lines above the names of the columns and delimiters at the end of lines"
#: What helps, by interface.
_HELP = {
    "": ("", "", ""),
    "encoding": (
        "Name the encoding of the file, such as encoding='cp1252'.",
        "Name the encoding of the file, such as --encoding cp1252.",
        "Save the file in UTF-8 and choose it again.",
    ),
    "decimal": (
        "Say which mark stands before decimals: Schema(..., decimal=',') or decimal='.'.",
        'Say which mark stands before decimals: "decimal": "," or "decimal": "." in the schema file.',
        'Say which mark stands before decimals: "decimal": "," or "decimal": "." in a schema file.',
    ),
    "delimiter": (
        f"{_LINES}, or say what separates cells, such as delimiter=';'.",
        f"{_LINES}, or say what separates cells, such as --delimiter ';'.",
        f"{_LINES}.",
    ),
    "names": (
        "Give the names of the columns: names=[...].",
        "Give the names of the columns: --names A,B,...",
        "Say that the first line is a row, and give the names.",
    ),
}


class Note(str):
    """What a reader noticed. `help` is what kind of help there is; `example` may quote cells.

    A note about a column begins with its name; `finding` is what follows.
    """

    finding: str
    help: str
    example: str
    column: str

    def __new__(cls, finding: str, help: str = "", example: str = "", column: str = "") -> Self:
        """`finding` is one sentence or more."""
        made = super().__new__(cls, f"{column[:60]!r}: {finding}" if column else finding)
        made.finding, made.help, made.example, made.column = finding, help, example, column
        return made

    def about(self, column: str) -> Self:
        """The same of a column."""
        return type(self)(self.finding, self.help, self.example, column)

    def __getnewargs__(self) -> tuple[str, str, str, str]:  # type: ignore[override]
        return self.finding, self.help, self.example, self.column


class Doubt(Note):
    """A note that calls the reading into question."""


class Unread(Doubt):
    """How many cells of a column cannot be read as it is declared, by kind of text, and the row of the first; never a cell."""

    kinds: Counter[str]
    words: tuple[str, str]
    first: int

    def __new__(cls, column: str, kinds: Mapping[str, int], words: tuple[str, str], first: int = 0) -> Self:
        """`words`: what such cells are, and what helps. `first`: place among all records, from 1; 0 where it is not known."""
        count, (what, remedy) = sum(kinds.values()), words
        where = f", first in row {first:,}" if first else ""
        finding = f"{count:,} cell{'s'[: count != 1]} {what}{where}: {_kind_list(kinds)}. {remedy}"
        made = super().__new__(cls, finding, _help_of(kinds), column=column)
        made.kinds, made.words, made.first = Counter(kinds), words, first
        return made

    def is_of_same_column(self, other: str) -> bool:
        """Whether it tells the same of the same column, perhaps of other rows."""
        return isinstance(other, Unread) and (self.column, self.words) == (other.column, other.words)

    def with_more(self, other: Unread) -> Unread:
        """Of these cells and those of other rows."""
        first = min(filter(None, (self.first, other.first)), default=0)
        return Unread(self.column, self.kinds + other.kinds, self.words, first)

    def after(self, n_records: int) -> Unread:
        """The same of rows that so many records stand before."""
        return Unread(self.column, self.kinds, self.words, self.first and self.first + n_records)

    def __getnewargs__(self) -> tuple[str, Mapping[str, int], tuple[str, str], int]:  # type: ignore[override]
        return self.column, dict(self.kinds), self.words, self.first


def record_of(row: int, left_out: Sequence[int]) -> int:
    """The place among all records, from 1, of a row (from 0), where records at these places gave none."""
    for place in left_out:
        if place > row:
            break
        row += 1
    return row + 1


def note_text(note: str, interface: Interface, *, with_example: bool = False) -> str:
    """The note in the words of an interface."""
    if not isinstance(note, Note):
        return note
    return " ".join(filter(None, (str(note), note.example if with_example else "", _HELP[note.help][interface])))


def warn_of_doubts(notes: Iterable[str], *, stacklevel: int = 3) -> None:
    """A ReadingWarning for each doubt among the notes."""
    for note in notes:
        if isinstance(note, Doubt):
            warnings.warn(ReadingWarning(note_text(note, Interface.PYTHON), note), stacklevel=stacklevel)


# --- what is remarkable about the texts of a column

#: A text of digits that a program would not write for a number.
_CODE = re.compile(r"0[0-9]+|[0-9]+[eE][0-9]+")
#: What stands behind a day or a month.
_MARK_OF_DATE = re.compile(r"^[0-9]{1,2}([-./])")
#: With more texts they are no categories.
_MAX_SPELLINGS = 1000
#: Texts of a column that are searched for marks in doubt.
_MAX_TEXTS = 5_000
#: Few texts of a number and letters are codes, such as wards, and so are many with letters of many kinds.
_FEW_UNITS, _MAX_UNITS, _OF_NUMBERS = 10, 3, "+-−0123456789., "
#: Words for no value that a note lists.
_MAX_WORDS = 10


def is_code(text: str) -> bool:
    """Whether a text looks like a code rather than a number: 042, 5E1."""
    return _CODE.fullmatch(text) is not None


def decimal_notes(column: Column) -> Iterator[Note]:
    """What was assumed of points and commas in numbers of a column, without a cell."""
    marks = column.marks
    if marks in (Marks.COMMA, Marks.PROGRAM) or (column.typed is not None and not column.labels):
        return
    if marks is Marks.POINT:
        if any(not np.isnan(number_of(text, marks)) for text in column.texts_with(",")):
            yield Note("Commas in numbers group thousands.")
        return
    if any(text.count(",") == 1 and not np.isnan(number_of(text, marks)) for text in column.texts_with(",")):
        yield Note("Decimal commas were read as decimal points.")
    for mark, word in ((".", "point"), (",", "comma")):
        texts = [text for text in islice(column.texts_with(mark), _MAX_TEXTS) if not np.isnan(number_of(text, marks))]
        in_doubt = [text for text in texts if IN_DOUBT.fullmatch(text)]
        has_groups = any(text.count(mark) > 1 or ("." in text and "," in text) for text in texts)
        if in_doubt and (has_groups or len(in_doubt) == len(texts)):
            what = f"A {word} before three digits in numbers was read as the mark before decimals"
            yield Doubt(f"{what}, but may group thousands.", "decimal")


def column_notes(column: Column, left_out: Sequence[int] = ()) -> Iterator[Note]:
    """What is remarkable about the texts, without a cell but in examples, which are for who may see the rows.

    `left_out`: places, among all records, of those that are no rows of the column.
    """
    if column.typed is not None and not column.labels:
        yield from _number_notes(column.name, column.text_numbers, column.numbers())
        return
    texts, (values, missing) = column.distinct_texts, column.numbers_and_missing()
    numbers = ~np.isnan(values)
    others = ~(numbers | missing)
    yield from decimal_notes(column)
    if numbers.any() and others.any():
        example = tuple(texts[column.codes[flags.argmax()]] for flags in (numbers, others))
        yield from _mixed_notes(column, example, record_of(int(others.argmax()), left_out))
    elif numbers.any():
        yield from _number_notes(column.name, np.unique(values[numbers]), values)
        if any(map(is_code, texts)):
            yield Doubt("Some cells are written as codes are (042, 5E1): as numbers 042 and 42 would be the same.")
    elif column.dates:
        order, rest = column.dates
        if order == "dmy" and all(date_of(text, "mdy") for text in texts if text not in rest):
            yield Doubt(
                "Dates may have the day or the month first, and the day was taken to be first: correct the order if it is not."
            )
        if len({mark for text in texts if text not in rest for mark in _MARK_OF_DATE.findall(text)}) > 1:
            yield Doubt("Dates are written with several marks, so perhaps in several orders: write all of them alike.")
        if isolated_days(texts, order):
            what = "Days such as 9999-12-31 or 1900-01-01 are far from all others, and no proposed range holds them"
            yield Doubt(f"{what}: if they mean “missing”, list them as missing codes, else widen the range.")
        if rest:
            what = "Some texts among dates are none in the order of the others, and a proposal counts them as missing"
            yield Doubt(f"{what}: write all dates alike, or declare what they mean.", example=f"For example {rest[0]!r}.")
    elif others.any():
        if kind := unread_kind(texts):
            place = next(place for place, text in enumerate(texts) if text_kind_in_numbers(text) == kind)
            row = record_of(int((column.codes == place).argmax()), left_out)
            what = f"Most texts, first in row {row:,}, are of the kind “{kind}”, which is not read"
            yield Doubt(f"{what}: write 12.5, or a date as 2024-03-01.", _help_of([kind]))
        elif _MIN_IDENTIFIERS < len(texts) < others.sum() < _MIN_REPEATS * len(texts):
            yield Doubt(
                "Texts that hardly repeat, as identifiers and free text do: leave the column out, or say that it names a person."
            )
    if not numbers.any() and len(texts) <= _MAX_SPELLINGS and (words := sorted(filter(is_no_value, texts))):
        quoted = ", ".join(map(repr, words[:_MAX_WORDS]))
        yield Note(f"{quoted} is a category unless it is declared as a missing code.")
    if any(UNREADABLE in text for text in texts):
        yield Doubt("Some cells hold letters that an encoding lost, or no text, such as lists: no proposal counts them.")
    yield from _spelling_notes(texts)


def unread_kind(texts: Sequence[str]) -> str:
    """What most of these texts are if that is a number or a date in a form that is not read; else empty."""
    some = texts[:_MAX_TEXTS]
    kind, count = Counter(map(text_kind_in_numbers, some)).most_common(1)[0]
    are_codes = kind == UNIT and (count <= _FEW_UNITS or len({text.lstrip(_OF_NUMBERS) for text in some}) > _MAX_UNITS)
    return kind if kind in IN_OTHER_FORM and count * 2 > len(some) and not are_codes else ""


def _mixed_notes(column: Column, example: tuple[str, ...], first: int) -> Iterator[Note]:
    """Of numbers beside other texts, which begin in this row: a warning where most are numbers."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.distinct_texts))
    cells = zip(column.distinct_texts, column.text_numbers.tolist(), counts.tolist(), strict=True)
    others = {text: count for text, number, count in cells if np.isnan(number)}
    if all(map(is_no_value, others)):
        words = ", ".join(map(repr, sorted(others)[:_MAX_WORDS]))
        yield Doubt(f"Holds numbers and {words}: a number only if {words} is declared as a missing code.")
        return
    kinds = count_kinds(dict(islice(others.items(), _MAX_TEXTS)), text_kind_in_numbers)
    what = "Holds numbers and text: a number only if such texts are missing codes."
    what = f"{what} They begin in row {first:,} and are: {_kind_list(kinds)}."
    quoted = f"For example {example[0]!r} and {example[1]!r}."
    is_doubt = not IN_OTHER_FORM.isdisjoint(kinds) or len(others) * 2 < len(column.distinct_texts)
    yield (Doubt if is_doubt else Note)(what, _help_of(kinds), quoted)


def _kind_list(kinds: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} ({count:,})" for kind, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0])))


def _help_of(kinds: Iterable[str]) -> str:
    return "decimal" if TWO_WAYS in kinds else ""


def _spelling_notes(texts: Sequence[str]) -> Iterator[Note]:
    """Of texts that differ by capitals, blanks or letters that nobody sees alone, and of letters of another encoding."""
    if len(texts) > _MAX_SPELLINGS:
        return
    together = defaultdict[str, list[str]](list)
    for text in texts:
        seen = text if text.isascii() else "".join(letter for letter in text if category(letter) != "Cf")
        together[" ".join(seen.casefold().split())].append(text)
    several = {plain for plain, ways in together.items() if len(ways) > 1}
    if any(map(_is_misread, texts)):
        yield Doubt("Some texts are UTF-8 that was read in another encoding, as “Ã¼” for “ü” is.", "encoding")
    if several.intersection(TRUTHS):
        yield Doubt("Truth values are written with different capitals: each of true and false is one category.")
    if others := several.difference(TRUTHS):
        example = ", ".join(map(repr, together[min(others)]))
        what = "Some texts differ by capitals, blanks or hidden letters alone: other categories unless the schema groups them."
        yield Doubt(what, example=f"For example {example}.")


def _is_misread(text: str) -> bool:
    """Whether the letters are the bytes of others."""
    try:
        return not text.isascii() and bool(text.encode("cp1252").decode("utf-8"))
    except UnicodeError:
        return False


def _number_notes(name: str, distinct: np.ndarray, cells: np.ndarray) -> Iterator[Note]:
    """Of distinct numbers in order, and of the cells that hold them, NaN for others."""
    isolated = [*isolated_codes(distinct)]
    for codes in isolated:
        which = "Numbers of nines, eights or sevens, below 0, or at an end of what programs hold"
        what = f"{which}, are apart from all others, and no proposed range holds them"
        remedy = "if they mean “missing”, list them as missing codes, else widen the range."
        yield Doubt(f"{what}: {remedy}", example=f"For example {codes[0]:g}.")
    meaning = _meaning_of(name, distinct[~np.isin(distinct, [*chain.from_iterable(isolated)])], cells)
    if meaning and not (isolated and meaning == _IDENTIFIERS):  # who is numbered has a number
        yield Doubt(f"Its numbers may be {meaning}.")


_WRITE_DATES = "write dates as 2024-03-01, or leave the column out"
_DAYS_OF_EXCEL = f"days as Excel counts them, of which 43831 is 2020-01-01: {_WRITE_DATES}"
_DIGITS_OF_DATES = f"dates without marks, as 20240301, 202403 or the week 202453 is: {_WRITE_DATES}"
_SECONDS = f"moments in seconds since 1970, or identifiers: {_WRITE_DATES}"
_IDENTIFIERS = "identifiers or codes, of which the order means nothing: leave the column out, say that it names the person, or"
_IDENTIFIERS += " declare it as categories"
#: Words in names of columns that hold days, and codes.
_DAY_WORDS = frozenset(
    re.findall(
        r"\w+",
        """date dates datum fecha day days dob when birth birthdate birthday born died admitted admission discharged discharge
        entry visit geboren geburt geburtstag aufnahme entlassung besuch""",
    )
)
_CODE_WORDS = frozenset(re.findall(r"\w+", "id ids uid pid guid key code codes zip zipcode postcode postal plz icd ssn isbn"))
#: Days of Excel: of 1920, of 2000 and of 2050. Seconds of 2000 and of 2040.
_EXCEL_1920, _EXCEL_2000, _EXCEL_2050, _SECONDS_2000, _SECONDS_2040 = 7_306, 36_526, 54_789, 946_684_800, 2_208_988_800
#: With fewer distinct cells they are no more than some numbers, and no identifiers. A text that repeats so often is a category.
_MIN_CELLS, _MIN_IDENTIFIERS, _MIN_REPEATS = 5, 20, 4


def _meaning_of(name: str, distinct: np.ndarray, cells: np.ndarray) -> str:
    """What distinct numbers in order may be that are no amounts, by the name of their column and in which cells they are.

    Empty where they look like amounts, as counts around 43,000 do: days go on by a few from row to row, or leave few days out.
    """
    if len(distinct) < _MIN_CELLS:
        return ""
    low, high, words = float(distinct[0]), float(distinct[-1]), _words_of(name)
    is_whole, span = bool((distinct == np.rint(distinct)).all()), high - low + 1
    if low >= _EXCEL_1920 and high < _EXCEL_2050:
        steps = np.diff(cells[(cells >= low) & (cells <= high)])
        goes_on = bool((steps >= 0).all() or (steps <= 0).all()) and span <= 7 * len(steps)
        is_dense = len(distinct) >= _MIN_IDENTIFIERS and len(distinct) >= 0.8 * span
        if words & _DAY_WORDS or (is_whole and low >= _EXCEL_2000 and (goes_on or is_dense)):
            return _DAYS_OF_EXCEL
    if not is_whole:
        return ""
    if _are_digits_of_dates(distinct):
        return _DIGITS_OF_DATES
    if any(_SECONDS_2000 * unit <= low and high < _SECONDS_2040 * unit for unit in (1, 1000)):
        return _SECONDS
    is_age_or_year = (low > 1 and high < 120) or (low >= 1800 and high <= 2100)
    is_dense = span < 2 * len(distinct) and not is_age_or_year
    is_numbering = is_dense and len(distinct) == np.count_nonzero((cells >= low) & (cells <= high))
    return _IDENTIFIERS if len(distinct) > _MIN_IDENTIFIERS and (is_numbering or words & _CODE_WORDS) else ""


def _are_digits_of_dates(numbers: np.ndarray) -> bool:
    """Whether the digits of all these whole numbers are years and months, in any order with days or without, or weeks."""
    if not 10**5 < numbers[0] <= numbers[-1] < 10**8:
        return False
    digits = numbers.astype(np.int64)
    first, second, last = digits // 10**6, digits // 10**4 % 100, digits % 10**4
    ymd = digits // 10**4, digits // 100 % 100, digits % 100
    ways = [ymd, (last, second, first), (last, first, second)]
    are_days = any(
        _are_between(year, 1900, 2100) and _are_between(month, 1, 12) and _are_between(day, 1, 31) for year, month, day in ways
    )
    return are_days or (_are_between(digits // 100, 1900, 2100) and _are_between(digits % 100, 1, 53))


def _are_between(numbers: np.ndarray, low: int, high: int) -> bool:
    return bool(numbers.min() >= low and numbers.max() <= high)


def _words_of(name: str) -> set[str]:
    """Of a name such as visit_date, visitDate or Aufnahmedatum."""
    words = re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-zß-ÿ])(?=[A-Z])", " ", name))
    return {"datum" if word.endswith("datum") else word for word in map(str.casefold, words)}


def means_no_value(value: float) -> bool:
    """Whether a number often stands for no value: 999 or 99.9, -9, the ends of whole numbers, and fills of 10^20 or more."""
    return abs(value) in _ENDS or abs(value) >= _FILL or _SAME_DIGITS.fullmatch(canonical_number(value)) is not None


def isolated_codes(values: np.ndarray) -> Iterator[list[float]]:
    """Of distinct numbers in order: those at an end that `means_no_value`, such as 999 or 77, 88 and 99, and stand apart.

    They do where they are further from the other numbers than these are from one another, or the only ones below 0.
    """
    for step in (-1, 1):
        inwards = values[::step]
        codes = list(takewhile(means_no_value, inwards[:4].tolist()))
        for count in range(len(codes), 0, -1):
            rest, nearest = inwards[count:], codes[count - 1]
            if len(rest) > 2 and (abs(nearest - rest[0]) > abs(rest[0] - rest[-1]) or nearest < 0 <= rest[0]):
                yield codes[:count]
                values = rest[::step]
                break


#: Days that often stand for no value, or for no end; those of the year 9999 do, too.
_NO_DAYS = frozenset(
    map(date.fromisoformat, ("0001-01-01", "1899-12-30", "1900-01-01", "1970-01-01", "2099-12-31", "2999-12-31"))
)
_NO_YEAR = re.compile("|".join(sorted({"9999", *(f"{day.year:04d}" for day in _NO_DAYS)})))


def isolated_days(texts: Sequence[str], order: str) -> frozenset[str]:
    """Texts of days in the year 9999, and of others that stand for none, further from all others than these from one another."""
    days = {text: date_of(text, order) for text in filter(_NO_YEAR.search, texts)}
    none = {text: day for text, day in days.items() if day is not None and (day in _NO_DAYS or day.year == date.max.year)}
    if not none:
        return frozenset()
    others = {day for text in texts if text not in none and (day := date_of(text, order)) is not None}
    if len(others) <= 2:
        return frozenset()
    first, last = min(others), max(others)
    return frozenset(text for text, day in none.items() if max(first - day, day - last) > last - first)


def has_total(columns: Sequence[Column]) -> bool:
    """Whether the last row seems to be the total of five others or more.

    It says so, or a number in it is the sum of many others and far above them, or most of its numbers are sums.
    """
    sums = []
    for column in columns:
        if column.n_rows <= _MIN_SUMMANDS:
            return False
        numbers = column.numbers()
        others, last = numbers[:-1], float(numbers[-1])
        if last == last and np.count_nonzero(others > 0) > 1:
            sums.append(_is_sum(last, others))
            if sums[-1] and _is_far_above(last, others):
                return True
        elif column.typed is None and (code := column.codes[-1]) >= 0:
            words = set(re.findall(r"[^\W\d_]+", column.distinct_texts[code].casefold()))
            says_so = words & _TOTALS and words <= _TOTALS | _BESIDE_TOTAL
            if says_so and np.count_nonzero(column.codes == code) == 1:
                return True
    return sum(sums) * 2 > len(sums)


def _without_codes(numbers: np.ndarray) -> np.ndarray:
    """The numbers that are given, but for those that may be codes for missing cells."""
    given = numbers[~np.isnan(numbers)]
    return given[~np.isin(given, [*chain.from_iterable(isolated_codes(np.unique(given)))])]


def _is_sum(last: float, others: np.ndarray) -> bool:
    """Whether a number is the sum of others, of which codes for missing cells may be no part, perhaps rounded to a whole one."""
    with np.errstate(over="ignore", invalid="ignore"):
        totals = [float(np.nansum(others))]
        if abs(last) < abs(totals[0]) and last >= _MIN_SHARE * len(others) * _middle_of(others):
            totals.append(float(_without_codes(others).sum()))  # less, but still far from a single cell
        far = min(abs(total - last) - 1e-6 * abs(total) for total in totals)
    return far <= 0 or (far <= 0.5 and last.is_integer() and bool((others % 1 > 0).any()))


def _middle_of(numbers: np.ndarray) -> float:
    """The median of about a thousand of them; 0 where none is given."""
    few = numbers[:: 1 + len(numbers) // 1000]
    return float(np.median(few[~np.isnan(few)])) if not np.isnan(few).all() else 0.0


def _is_far_above(last: float, others: np.ndarray) -> bool:
    """Whether a sum of these numbers can hardly be one of them by chance."""
    given = _without_codes(others)
    return bool(np.count_nonzero(given) >= _MIN_SUMMANDS and given.min() >= 0 and last / 2 > given.max())


#: What the last row of a table may be called that is none, and words beside it.
_TOTALS = frozenset(
    re.findall(
        r"\w+",
        """total totals totaal totale sum sums summe somme suma soma gesamt insgesamt gesamtsumme mean average mittelwert
        durchschnitt moyenne media média count anzahl""",
    )
)
_BESIDE_TOTAL = frozenset(re.findall(r"\w+", "grand overall general général of all rows n row column alle aller über"))
TOTAL = Doubt("The last row seems to be the total of the others, and would count as a row: delete it from the file.")
#: A sum of many numbers is more than this share of as many medians, also without codes for missing cells.
_MIN_SHARE = 0.125
#: With fewer rows a sum may be chance.
_MIN_SUMMANDS = 5
#: Numbers that often stand for no value: 999, 99.9, -9, 77, 88.
_SAME_DIGITS = re.compile(r"-?(?:7+|8+|9+|9+\.9+)|-[1-6]")
#: Ends of whole numbers of 16, 32 and 64 bits; from here on, what netCDF, GDAL and climate data fill gaps with.
_ENDS = frozenset(float(2**bits - is_below) for bits in (15, 16, 31, 32, 63, 64) for is_below in (0, 1))
_FILL = 1e20
