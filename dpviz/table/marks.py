"""Which number a text is, by the marks in it: points, commas, blanks and apostrophes.

What a mark means follows from the text and from `Marks` alone, which the file's delimiter or the schema decides, never from other
cells. A text that may be two numbers is none: it is better to lose a cell, and to say so, than to read 1,311 as 1.311 beside 950.
"""

import re
from enum import StrEnum

import numpy as np


class Marks(StrEnum):
    """What a point and a comma in a number mean."""

    POINT = "."  #: Decimals follow a point, commas group thousands: where commas separate cells, so that 1,311 is in quotes
    COMMA = ","  #: Decimals follow a comma, points group thousands: only where the schema says so
    EITHER = ";"  #: A single mark is a decimal mark: where semicolons separate cells, as they do because a comma cannot
    UNKNOWN = ""  #: As EITHER, but a comma before three digits may be either, so that 1,311 is no number


#: What the delimiter of a file says about numbers.
MARKS_OF = {",": Marks.POINT, ";": Marks.EITHER}
_BLANKS = " \u00a0\u2009\u202f'’"  # also those that do not break
_BY_BLANKS = re.compile(rf"([+-]?[1-9][0-9]{{0,2}})([{_BLANKS}])([0-9]{{3}}(?:\2[0-9]{{3}})*)((?:[.,][0-9]*)?)")
_BY_COMMAS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+|[+-]?[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}")  # 1,311 and 1,23,456
_BY_POINTS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+")
#: A comma before three digits and nothing else; or a point.
EITHER = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
IN_DOUBT = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")


def number_of(text: str, marks: Marks = Marks.UNKNOWN) -> float:
    """The number that a text holds, NaN where it holds no finite one or may be two."""
    try:
        value = float(_plain(text.strip().replace("−", "-"), marks))
    except ValueError:
        return np.nan
    return value if np.isfinite(value) else np.nan


def _plain(text: str, marks: Marks) -> str:
    """The same number as Python writes it, without groups; empty where it is none."""
    if "_" in text:  # Python reads 1_000 as a number; no data file means that
        return ""
    if grouped := _BY_BLANKS.fullmatch(text):
        text = grouped[1] + grouped[3].replace(grouped[2], "")
        decimals = grouped[4]
        wrong = {Marks.POINT: ",", Marks.COMMA: "."}.get(marks, "")
        return "" if wrong and wrong in decimals else text + decimals.replace(",", ".")
    commas, points = text.count(","), text.count(".")
    if not commas:
        return _with_points(text, points, marks)
    if not points:
        return _with_commas(text, commas, marks)
    if text.rfind(",") < text.rfind("."):
        whole, _, decimals = text.partition(".")
        is_one = points == 1 and marks is not Marks.COMMA and _BY_COMMAS.fullmatch(whole)
        return f"{whole.replace(',', '')}.{decimals}" if is_one else ""
    whole, _, decimals = text.partition(",")
    is_one = commas == 1 and marks is not Marks.POINT and _BY_POINTS.fullmatch(whole)
    return f"{whole.replace('.', '')}.{decimals}" if is_one else ""


def _with_points(text: str, points: int, marks: Marks) -> str:
    if not points or (points == 1 and marks is not Marks.COMMA):
        return text
    groups = marks is not Marks.POINT and _BY_POINTS.fullmatch(text)
    return text.replace(".", "") if groups else ""


def _with_commas(text: str, commas: int, marks: Marks) -> str:
    is_decimal = marks is Marks.COMMA or (marks is not Marks.POINT and commas == 1)
    if is_decimal:
        in_doubt = marks is Marks.UNKNOWN and EITHER.fullmatch(text)
        return "" if commas > 1 or in_doubt else text.replace(",", ".")
    return text.replace(",", "") if _BY_COMMAS.fullmatch(text) else ""


def is_plain(joined: str, marks: Marks) -> bool:
    """Whether each mark in these texts is a decimal point, or a comma that stands for one: they may be read all at once."""
    if "_" in joined or marks is Marks.COMMA:
        return False
    if "," not in joined:
        return True
    return marks is Marks.EITHER and "." not in joined
