"""What one cell is: its text, its number or day, whether it is missing, and which declared category it is.

**Texts.** One rule makes a typed value the text of a cell. The text depends on the value alone, never on other rows:

- a number is the shortest text that reads back as the same number, without an exponent, a whole one without a point: 80.2, 17;
  a number of 32 bits is the number that it holds: 0.10000000149011612;
- a date is 2024-03-01, a moment 2024-03-01T14:30:00 by its own clock, without its time zone and in microseconds, and a moment at
  midnight is its date; a duration is its seconds, an interval of a database, too, unless it has months, which differ in length;
- true and false are these words; what is empty, null or not a number is missing.

**Numbers.** What a point or a comma in a text means follows from the text and from `Marks`, which the file's delimiter or the
schema decides, never from other cells. A text that may be two numbers is none: it is better to lose a cell, and to say so, than
to read 1,311 as 1.311 beside 950.

**Categories.** One rule says which declared category a text is: see `DeclaredTexts`.

The functions for a single cell need the standard library alone: the exported Python function holds them as they stand here.
"""

import datetime as dt
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from enum import StrEnum
from typing import Any
from unicodedata import normalize

import numpy as np

#: Cells that mean "no value", unless a category or class of that name is declared. The k-th has the code -1 - k in a column.
MARKS = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
MISSING_MARKS = frozenset(MARKS)
#: A blank, and the no-break blanks that look like it.
BLANKS = " \u00a0\u2007\u202f"
#: The text of a value that has none (U+FFFD): it spoils its own cell.
UNREADABLE = "\ufffd"
#: Found whatever their capitals are.
TRUTHS = ("true", "false")
#: Of lists and records.
_CONTAINERS = (list, tuple, dict, set, frozenset)
_BLANK = str.maketrans(dict.fromkeys(BLANKS, " "))
#: Up to here, and down to the same below 0, every whole number is one of float64.
MAX_EXACT = 1 << 53


def clean(text: str) -> str:
    """A text as it is compared: no blanks at its ends, no-break blanks as others, Unicode in its composed form (NFC)."""
    text = text.strip()
    return text if text.isascii() else normalize("NFC", text.translate(_BLANK))


# --- the text of a typed value


def text_of(value: Any) -> str:
    """The text of a value; empty where it is missing, `UNREADABLE` where the value has none."""
    try:
        return _text_of(value)
    except Exception:  # a date that no calendar of ours has, a number of too many digits
        return UNREADABLE


def plain_value(value: Any) -> Any:
    """What Python has in place of a single value of NumPy: a duration in nanoseconds stays one."""
    if type(value).__module__ != "numpy" or not hasattr(value, "dtype") or value.ndim or value.dtype.kind == "m":
        return value
    if value.dtype.kind == "f":
        return float(value)
    return (value.astype("datetime64[us]") if value.dtype.kind == "M" else value).item()


def _text_of(value: Any) -> str:
    value = plain_value(value)
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return canonical_number(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, Decimal):
        return _decimal_text(value)
    if isinstance(value, dt.datetime):
        local = dt.datetime(*value.timetuple()[:6], value.microsecond)  # without what pandas adds: zone and nanoseconds
        return (local if local.time() != dt.time(0) else local.date()).isoformat()
    if isinstance(value, dt.time):
        return value.replace(tzinfo=None).isoformat()
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        seconds = value.days * 86_400 + value.seconds
        return _seconds_text((seconds * 10**6 + value.microseconds) * 1000 + getattr(value, "nanoseconds", 0))  # of pandas
    if type(value).__name__ == "MonthDayNano":  # an interval of Arrow
        return UNREADABLE if value.months else _seconds_text(value.days * 86_400 * 10**9 + value.nanoseconds)
    if type(value).__name__ == "timedelta64":
        return "" if value != value else _seconds_text(int(value.astype("timedelta64[ns]").astype("int64")))
    has_text = type(value).__str__ is not object.__str__ or type(value).__repr__ is not object.__repr__
    return UNREADABLE if isinstance(value, _CONTAINERS) or hasattr(value, "__array__") or not has_text else str(value)


def _seconds_text(nanoseconds: int) -> str:
    return _decimal_text(Decimal(nanoseconds).scaleb(-9, Context(prec=len(str(nanoseconds)))))


def _decimal_text(value: Decimal) -> str:
    if value.is_nan():
        return ""
    if not value.is_finite():
        return "inf" if value > 0 else "-inf"
    text = format(value.normalize(Context(prec=max(1, len(value.as_tuple().digits)))), "f")
    return "0" if value == 0 else text


def canonical_number(value: float) -> str:
    """The shortest text of a number without an exponent, and without a point where it is whole; empty for not-a-number."""
    if value != value:
        return ""
    if value.is_integer():
        return str(int(value))
    text = repr(value)
    return format(Decimal(text), "f") if "e" in text else text


def is_exact(low: int, high: int) -> bool:
    """Whether float64 holds every whole number between these; the texts of others are kept, such as of long identifiers."""
    return max(-low, high) <= MAX_EXACT


# --- the number that a text holds


class Marks(StrEnum):
    """What a point and a comma in a number mean."""

    POINT = "."  #: Decimals follow a point, commas group thousands: where commas separate cells, so that 1,311 is in quotes
    COMMA = ","  #: Decimals follow a comma, points group thousands: only where the schema says so
    POINT_OR_COMMA = ";"  #: A single mark is a decimal mark: where semicolons separate cells, as they do because a comma cannot
    PROGRAM = "p"  #: A point before decimals and no groups, whatever a schema says: texts that a program made of numbers
    UNKNOWN = ""  #: As POINT_OR_COMMA, but a comma before three digits may be either, so that 1,311 is no number


#: What the delimiter of a file says about numbers.
MARKS_OF = {",": Marks.POINT, ";": Marks.POINT_OR_COMMA}
_THIN = " \u00a0\u2009\u202f'’"
_BY_BLANKS = re.compile(rf"([+-]?[1-9][0-9]{{0,2}})([{_THIN}])([0-9]{{3}}(?:\2[0-9]{{3}})*)((?:[.,][0-9]*)?)")
_BY_COMMAS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+|[+-]?[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}")  # 1,311 and 1,23,456
_BY_POINTS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+")
#: A comma before three digits and nothing else; or a point.
AMBIGUOUS_COMMA = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
IN_DOUBT = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")


def number_of(text: str, marks: Marks = Marks.UNKNOWN) -> float:
    """The number that a text holds, NaN where it holds no finite one or may be two."""
    try:
        value = float(_plain(clean(text).replace("−", "-"), marks))
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def parse_numbers(texts: Sequence[str], marks: Marks = Marks.UNKNOWN) -> np.ndarray:
    """`number_of` each text, float64."""
    if "," not in (joined := "\n".join(texts)) and is_plain(joined, marks):
        try:
            values = np.fromiter(map(float, texts), np.float64, len(texts))
            return np.where(np.isfinite(values), values, np.nan)
        except ValueError:  # some text is no number
            pass
    return np.fromiter((number_of(text, marks) for text in texts), np.float64, len(texts))


def is_plain(joined: str, marks: Marks) -> bool:
    """Whether each mark in these texts is a decimal point, or a comma that stands for one: they may be read all at once."""
    if "_" in joined or marks is Marks.COMMA:
        return False
    return "," not in joined or (marks is Marks.POINT_OR_COMMA and "." not in joined)


def _plain(text: str, marks: Marks) -> str:
    """The same number as Python writes it, without groups; empty where it is none."""
    if "_" in text:  # Python reads 1_000 as a number; no data file means that
        return ""
    if grouped := _BY_BLANKS.fullmatch(text):
        wrong = {Marks.POINT: ",", Marks.COMMA: "."}.get(marks)
        whole, decimals = grouped[1] + grouped[3].replace(grouped[2], ""), grouped[4]
        return "" if wrong and wrong in decimals else whole + decimals.replace(",", ".")
    commas, points = text.count(","), text.count(".")
    if not commas:
        if not points or (points == 1 and marks is not Marks.COMMA):
            return text
        return text.replace(".", "") if marks is not Marks.POINT and _BY_POINTS.fullmatch(text) else ""
    if not points:
        if marks is Marks.COMMA or (marks is not Marks.POINT and commas == 1):
            in_doubt = marks is Marks.UNKNOWN and AMBIGUOUS_COMMA.fullmatch(text)
            return "" if commas > 1 or in_doubt else text.replace(",", ".")
        return text.replace(",", "") if _BY_COMMAS.fullmatch(text) else ""
    if text.rfind(",") < text.rfind("."):
        whole, _, decimals = text.partition(".")
        is_one = points == 1 and marks is not Marks.COMMA and _BY_COMMAS.fullmatch(whole)
        return f"{whole.replace(',', '')}.{decimals}" if is_one else ""
    whole, _, decimals = text.partition(",")
    is_one = commas == 1 and marks is not Marks.POINT and _BY_POINTS.fullmatch(whole)
    return f"{whole.replace('.', '')}.{decimals}" if is_one else ""


# --- the day that a text is

#: How dates may be written: which of year, month and day comes first, second, third.
ORDERS = ("ymd", "dmy", "mdy")
_DATE = re.compile(r"(\d{1,4})[-./](\d{1,2})[-./](\d{1,4})(?:[T ].*)?", re.DOTALL | re.ASCII)


def date_of(text: str, order: str) -> dt.date | None:
    """The day that a text is, written in this order, with a year of four digits; None where it is none.

    One that begins with its year is read whatever the order, as cells with a type are written.
    """
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    of = dict(zip("ymd" if len(found[1]) == 4 else order, found.groups(), strict=True))
    if len(of["y"]) != 4 or max(len(of["m"]), len(of["d"])) > 2:
        return None
    try:
        return dt.date(int(of["y"]), int(of["m"]), int(of["d"]))
    except ValueError:
        return None


def order_of_dates(texts: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """How nine in ten of these texts are written, if they are three days or more, and the others, which are no dates.

    Days come before months where both could be. None for other texts, and for two days or fewer: no more than two categories.
    """
    others = {order: tuple(text for text in texts if date_of(text, order) is None) for order in ORDERS}
    order = min(ORDERS, key=lambda order: len(others[order]))
    days = {date_of(text, order) for text in texts} - {None}
    return (order, others[order]) if len(days) > 2 and len(others[order]) <= len(texts) / 10 else None


# --- the category that a text is

#: A text that spells a number: exponents and leading zeros included.
_NUMERAL = re.compile(r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,5})?")
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


def decimal_of(text: str) -> Decimal | None:
    """The exact number that a text spells, however it does: 042, 4.2e1 and 42,0 are 42. None where it spells none."""
    return Decimal(text.replace(",", ".")) if _NUMERAL.fullmatch(text) else None


def shortest(text: str) -> str | None:
    """The shortest form of a number in plain form; None for any other text."""
    if not _PLAIN.fullmatch(text):
        return None
    short = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if short == "-0" else short


def spelling(label: str) -> str:
    """A declared text as cells with a type are written: of 2024-03-01 00:00:00 the date, of others themselves."""
    try:
        return text_of(dt.datetime.fromisoformat(label))
    except ValueError:
        return label


class DeclaredTexts:
    """Which of the declared texts a cell's text is: by the text and what is declared alone.

    A cell is the declared text that it equals, once both are `clean`. Truth values are found regardless of capitals; moments also
    as cells with such a type are written. A declared number in its shortest form ("1", "-2.5") is also found in other plain forms
    ("1.0"), without an exponent or leading zeros ("1e0", "01"), unless another declared text has the same value and means
    something else. Other spellings of numbers ("042", "5E1", "1.50") are found by themselves alone.
    """

    def __init__(self, codes: Mapping[str, int]) -> None:
        """`codes`: declared text -> what it means, at least 0 or below -1; of texts that are alike the first counts."""
        exact = {text: code for text, code in codes.items() if clean(text) == text}
        for text, code in codes.items():
            exact.setdefault(clean(text), code)
        meanings, truths = defaultdict[Decimal, set[int]](set), defaultdict[str, set[int]](set)
        for text, code in exact.items():
            if (number := decimal_of(text)) is not None:
                meanings[number].add(code)
            if text.lower() in TRUTHS:
                truths[text.lower()].add(code)
        #: exact, numbers, truths: text -> what it means: as it is, in its shortest form, in small letters.
        self.numbers = {
            text: code for text, code in exact.items() if shortest(text) == text and len(meanings[Decimal(text)]) == 1
        }
        self.truths = {text: code for text, (code, *others) in truths.items() if not others}
        for text, code in codes.items():
            exact.setdefault(spelling(clean(text)), code)
        self.exact = exact

    def find(self, texts: Sequence[str]) -> np.ndarray:
        """What each clean text means, int64 of shape (n_texts,); -1 where it is none of those declared."""
        exact, numbers, truths = self.exact, self.numbers, self.truths
        found = (exact[text] if text in exact else other_meaning(text, numbers, truths) for text in texts)
        return np.fromiter(found, np.int64, len(texts))


def other_meaning(text: str, numbers: Mapping[str, Any], truths: Mapping[str, Any]) -> Any:
    """What a clean text that is not declared itself means: by its number, or as a truth value; -1 where it means nothing."""
    if numbers and (short := shortest(text)) is not None:
        return numbers.get(short, -1)
    return truths.get(text.lower(), -1) if truths else -1
