"""Numbers as people type and paste them: 220,5 and 1.000,5 mean what they say; what may mean two numbers is refused."""

import math
import re

from dpviz.errors import DpvizError

_BLANKS = re.compile(r"(?<=\d)[\s'’](?=\d{3})")
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")


def number_in(text: str, *, point_is_decimal: bool = False) -> float:
    """The number that a text means.

    Where both a point and a comma stand in it, the last is the decimal mark; where one stands several times, it groups
    thousands. One mark before three digits, as in 1.000, may be either.
    Raises DpvizError where it is no finite number, or may be two.

    `point_is_decimal`: a program wrote it, so that 1.000 is 1.
    """
    guarded = text.strip().removeprefix("'")  # as spreadsheets and our CSV files keep a cell from being run
    plain = _BLANKS.sub("", guarded.replace("−", "-"))
    unsigned = plain.lstrip("+-")
    marks = [letter for letter in unsigned if letter in ".,"]
    if (
        len(marks) == 1
        and _GROUPED.fullmatch(unsigned)
        and not unsigned.startswith("0")
        and not (point_is_decimal and marks == ["."])
    ):
        whole, decimal = unsigned.replace(marks[0], ""), unsigned.replace(",", ".").rstrip("0").rstrip(".")
        raise DpvizError(
            f"{text!r:.40} may be {decimal} or {whole}.", remedy=f"Write {decimal}{'' if '.' in decimal else '.0'} or {whole}."
        )
    if len(marks) > 1:
        plain = _without_groups(plain, marks)
    return _float(text, plain.replace(",", "."))


def _without_groups(plain: str, marks: list[str]) -> str:
    """The text without the marks that group thousands; unreadable where they group otherwise."""
    decimal = marks[-1] if marks.count(marks[-1]) == 1 else ""
    whole, _, rest = plain.partition(decimal) if decimal else (plain, "", "")
    groups = whole.lstrip("+-")
    if len(set(marks) - {decimal}) != 1 or not _GROUPED.fullmatch(groups):
        return "?"
    return whole.replace(".", "").replace(",", "") + (f".{rest}" if rest else "")


def _float(text: str, plain: str) -> float:
    try:
        value = float(plain) if "_" not in plain else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DpvizError(f"{text!r:.40} is no number.", remedy="Write digits, such as 220.5 or 220,5.")
    return value
