"""Texts of cells, and columns of them.

One fixed rule makes a typed value the text of a cell. The text depends on the value alone, never on other rows:

- a number is the shortest text that reads back as the same number, without an exponent, a whole one without a point: 80.2, 17;
  a number of 32 bits is the number that it holds: 0.10000000149011612;
- a date is 2024-03-01, a moment 2024-03-01T14:30:00 by its own clock, without its time zone and in microseconds, and a moment at
  midnight is its date; a duration is its seconds;
- true and false are these words; what is empty, null or not a number is missing.

And one rule says which declared category a text is: see `Declared`.
"""

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.table.marks import Marks
from dpviz.table.raw import MARKS, MISSING_MARKS, CodedColumn, RawColumn, canonical_number, clean

_CODE_OF_MARK = {mark: -1 - place for place, mark in enumerate(MARKS)}
#: What a text says that holds a number: exponents and leading zeros included.
_NUMERAL = re.compile(r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,5})?")
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


def text_column(name: str, texts: Iterable[str], places: np.ndarray) -> RawColumn:
    """A column whose rows hold `texts[place]`, missing where the place is negative; texts that no row holds are left out."""
    cleaned = [*map(clean, texts)]
    distinct = dict.fromkeys(cleaned)
    for mark in MARKS:
        distinct.pop(mark, None)
    kind, code_of = narrowest(len(distinct)), np.arange(len(cleaned) + 1)
    if len(distinct) < len(cleaned):  # some are missing, or there twice; else a million of them need no look each
        codes = dict(zip(distinct, range(len(distinct)), strict=True)) | _CODE_OF_MARK
        code_of[:-1] = [codes[text] for text in cleaned]
    code_of[-1] = -1
    return CodedColumn(name, *_in_order_of_appearance(list(distinct), code_of.astype(kind)[np.maximum(places, -1)]))


def _in_order_of_appearance(texts: list[str], codes: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    first = np.full(len(texts) + len(MARKS), len(codes))
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of several places the last one written stays
    order = np.argsort(first[: len(texts)], kind="stable")
    order = order[first[order] < len(codes)]
    new_code = np.empty(len(texts) + len(MARKS), dtype=codes.dtype)
    new_code[len(texts) :] = np.arange(-len(MARKS), 0)
    new_code[order] = np.arange(len(order))
    return tuple(texts[place] for place in order.tolist()), new_code[codes]


def narrowest(count: int) -> type:
    """Of codes below `count`, and of -1 and `count` itself."""
    return next(kind for kind in (np.int8, np.int16, np.int32) if count <= np.iinfo(kind).max)


class Codes(dict[str, int]):
    """Cell as written -> code, found on first sight. `texts` are the distinct clean cells; missing marks are below 0."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def __missing__(self, cell: str) -> int:
        text = clean(cell)
        if text in _CODE_OF_MARK:
            code = _CODE_OF_MARK[text]
        elif text != cell:
            code = self[text]
        else:
            code = len(self.texts)
            self.texts.append(text)
        self[cell] = code
        return code


def text_of(value: Any) -> str:
    """The text of a value; empty where it is missing, U+FFFD where the value has none."""
    try:
        return _text_of(value)
    except Exception:  # a date that no calendar of ours has, a number of too many digits: it spoils its own cell
        return "\ufffd"


def _text_of(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case bool() | np.bool_():
            return "true" if value else "false"
        case float() | np.floating():
            return canonical_number(float(value))
        case bytes():
            return value.decode("utf-8", "replace")
        case Decimal():
            return _decimal_text(value)
        case dt.datetime():
            if value != value:
                return ""
            local = dt.datetime(*value.timetuple()[:6], value.microsecond)  # without what pandas adds: zone and nanoseconds
            return (local if local.time() != dt.time(0) else local.date()).isoformat()
        case dt.time():
            return value.replace(tzinfo=None).isoformat()
        case dt.date():
            return value.isoformat()
        case dt.timedelta():
            if value != value:
                return ""
            seconds = value.days * 86_400 + value.seconds
            return _seconds_text((seconds * 10**6 + value.microseconds) * 1000 + getattr(value, "nanoseconds", 0))  # of pandas
        case np.datetime64():
            return text_of(value.astype("datetime64[us]").item())
        case np.timedelta64():
            nanoseconds = int(value.astype("timedelta64[ns]").astype(np.int64))
            return "" if np.isnat(value) else _seconds_text(nanoseconds)
        case _:
            return "" if type(value).__name__ in ("NAType", "NaTType") else str(value)


def _seconds_text(nanoseconds: int) -> str:
    return _decimal_text(Decimal(nanoseconds).scaleb(-9, Context(prec=len(str(nanoseconds)))))


def _decimal_text(value: Decimal) -> str:
    if value.is_nan():
        return ""
    if not value.is_finite():
        return "inf" if value > 0 else "-inf"
    text = format(value.normalize(Context(prec=max(1, len(value.as_tuple().digits)))), "f")
    return "0" if value == 0 else text


def number_of(text: str) -> Decimal | None:
    """The exact number that a text spells, however it does: 042, 4.2e1 and 42,0 are 42. None where it spells none."""
    return Decimal(text.replace(",", ".")) if _NUMERAL.fullmatch(text) else None


def spelled(label: str) -> str:
    """A declared text as cells with a type are written: of 2024-03-01 00:00:00 the date, of others themselves."""
    try:
        return text_of(dt.datetime.fromisoformat(label))
    except ValueError:
        return label


class Declared:
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
            if (number := number_of(text)) is not None:
                meanings[number].add(code)
            if text.lower() in ("true", "false"):
                truths[text.lower()].add(code)
        #: exact, numbers, truths: text -> what it means: as it is, in its shortest form, in small letters.
        self.numbers = {
            text: code for text, code in exact.items() if shortest(text) == text and len(meanings[Decimal(text)]) == 1
        }
        self.truths = {text: code for text, (code, *others) in truths.items() if not others}
        for text, code in codes.items():
            exact.setdefault(spelled(clean(text)), code)
        self.exact = exact

    def find(self, texts: Sequence[str]) -> np.ndarray:
        """What each clean text means, int64 of shape (n_texts,); -1 where it is none of those declared."""
        exact = self.exact
        found = (exact[text] if text in exact else self._other(text) for text in texts)
        return np.fromiter(found, np.int64, len(texts))

    def _other(self, text: str) -> int:
        if self.numbers and (short := shortest(text)) is not None:
            return self.numbers.get(short, -1)
        return self.truths.get(text.lower(), -1) if self.truths else -1


def shortest(text: str) -> str | None:
    """The shortest form of a number in plain form; None for any other text."""
    if not _PLAIN.fullmatch(text):
        return None
    short = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if short == "-0" else short


@dataclass(frozen=True, eq=False, repr=False)
class LabelledColumn(RawColumn):
    """A column of which values have labels: each cell is its value and its label.

    Where most of the values have one, its texts are the labels; otherwise they are the values, such as ages up to "85 or older".
    """

    name: str
    plain: RawColumn  #: The values
    labels: tuple[str, ...]  #: Of each distinct value of `plain`, clean; empty where it has none

    def with_marks(self, marks: Marks) -> RawColumn:
        """Values that came as numbers have no marks, and labels are no numbers."""
        return self

    def unit_notes(self, missing_codes: Sequence[str] = ()) -> tuple[str, ...]:
        """As every column: of the values, for "85 or older" is a label."""
        return self.plain.unit_notes(missing_codes)

    @cached_property
    def _shown(self) -> RawColumn:
        if 2 * sum(map(bool, self.labels)) < len(self.labels):
            return self.plain
        texts = [label or text for label, text in zip(self.labels, self.plain.texts, strict=True)]
        return text_column(self.name, texts, self.plain.codes)

    @property
    def texts(self) -> tuple[str, ...]:
        """Labels, or values."""
        return self._shown.texts

    @property
    def codes(self) -> np.ndarray:
        """Index of each cell into `texts`; below 0 where it is missing."""
        return self._shown.codes

    @property
    def is_missing(self) -> np.ndarray:
        """Which cells are missing, or have a label that says so."""
        return self.numbers_and_missing()[1]

    def numbers_and_missing(self, missing_codes: Sequence[str] = ()) -> tuple[np.ndarray, np.ndarray]:
        """As every column: of the values; a missing code may be a label."""
        values, missing = self.plain.numbers_and_missing(missing_codes)
        marks = MISSING_MARKS.difference(("",)).union(map(clean, missing_codes))
        is_mark = np.array([*(label in marks for label in self.labels), False])[np.maximum(self.plain.codes, -1)]
        return np.where(is_mark, np.nan, values), missing | is_mark

    def found(self, find: Callable[[Sequence[str]], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """As every column: the label counts, else the value."""
        found, places = self.plain.found(find)
        of_labels = find(self.labels)
        found[: len(of_labels)] = np.where(of_labels == -1, found[: len(of_labels)], of_labels)
        is_mark = [found[place] == -1 and bool(label) and label in MISSING_MARKS for place, label in enumerate(self.labels)]
        if any(is_mark):
            places = np.where(np.append(is_mark, False)[np.maximum(places, -1)], -1, places)
        return found, places

    def rows(self, chosen: np.ndarray) -> RawColumn:
        """The column with these rows (bool) alone."""
        label_of = dict(zip(self.plain.texts, self.labels, strict=True))
        plain = self.plain.rows(chosen)
        return LabelledColumn(self.name, plain, tuple(label_of[text] for text in plain.texts))
