"""Texts of cells, and columns of them.

One fixed rule makes a typed value the text of a cell. The text depends on the value alone, never on other rows:

- a number is the shortest text that reads back as the same number, a whole one without a point: 80.2, 17;
- a date is 2024-03-01, a moment 2024-03-01T14:30:00, and a moment at midnight is its date; a duration is its seconds;
- true and false are these words; what is empty, null or not a number is missing.
"""

import datetime as dt
from collections.abc import Iterable
from decimal import Context, Decimal
from typing import Any

import numpy as np

from dpviz.table.raw import MISSING_MARKS, CodedColumn, RawColumn, canonical_number


def text_column(name: str, texts: Iterable[str], places: np.ndarray) -> RawColumn:
    """A column whose rows hold `texts[place]`, missing where the place is negative; texts that no row holds are left out."""
    stripped = [*map(str.strip, texts)]
    distinct = dict.fromkeys(stripped)
    for mark in MISSING_MARKS:
        distinct.pop(mark, None)
    kind, code_of = narrowest(len(distinct)), np.arange(len(stripped) + 1)
    if len(distinct) < len(stripped):  # some are missing, or there twice; else a million of them need no look each
        codes = dict(zip(distinct, range(len(distinct)), strict=True))
        code_of[:-1] = [codes.get(text, -1) for text in stripped]
    code_of[-1] = -1
    return CodedColumn(name, *_in_order_of_appearance(list(distinct), code_of.astype(kind)[places]))


def _in_order_of_appearance(texts: list[str], codes: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    first = np.full(len(texts) + 1, len(codes))
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of several places the last one written stays
    order = np.argsort(first[:-1], kind="stable")
    order = order[first[order] < len(codes)]
    new_code = np.full(len(texts) + 1, -1, dtype=codes.dtype)
    new_code[order] = np.arange(len(order))
    return tuple(texts[place] for place in order.tolist()), new_code[codes]


def narrowest(count: int) -> type:
    """Of codes below `count`, and of -1 and `count` itself."""
    return next(kind for kind in (np.int8, np.int16, np.int32) if count <= np.iinfo(kind).max)


class Codes(dict[str, int]):
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


def text_of(value: Any) -> str:
    """The text of a value; empty where it is missing."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bool() | np.bool_():
            return "true" if value else "false"
        case float() | np.floating():
            return canonical_number(float(str(value)))
        case bytes():
            return value.decode("utf-8", "replace")
        case Decimal():
            return format(value.normalize(Context(prec=len(value.as_tuple().digits))), "f") if value.is_finite() else ""
        case dt.datetime():
            midnight = value.timetz() == dt.time(0)
            return (value.date() if midnight else value).isoformat()
        case dt.date() | dt.time():
            return value.isoformat()
        case dt.timedelta():
            seconds = value.days * 86_400 + value.seconds
            nanoseconds = (seconds * 10**6 + value.microseconds) * 1000 + getattr(value, "nanoseconds", 0)  # pandas knows them
            return text_of(Decimal(nanoseconds).scaleb(-9, Context(prec=len(str(nanoseconds)))))
        case _:
            return str(value)


def spelled(label: str) -> str:
    """A declared text as cells with a type are written: of 2024-03-01 00:00:00 the date, of True true, of others themselves."""
    if label.lower() in ("true", "false"):
        return label.lower()
    try:
        return text_of(dt.datetime.fromisoformat(label).replace(tzinfo=None))
    except ValueError:
        return label
