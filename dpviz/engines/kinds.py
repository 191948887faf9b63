"""Types of columns in an engine, and the numbers that a column of each type can hold.

The numbers of a type stand in order, so each has a place: a whole number. What an encoder makes of a column of numbers changes at
few places, and `last_place` finds them by halving, with the encoder itself as the judge.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from dpviz.table.cells import canonical_number

Kind = Literal["whole", "decimal", "single", "double", "text", "boolean", "date"]


@dataclass(frozen=True, slots=True)
class ColumnKind:
    """The declared type of a column: public, and the same for all its rows."""

    #: "whole" (from `low` to `high`), "decimal" (`digits` in all, `scale` of them behind the point), "single" or "double"
    #: (floating point), "text", "boolean" or "date".
    kind: Kind
    low: int = 0
    high: int = 0
    digits: int = 0
    scale: int = 0
    has_nan: bool = False  #: Whether a decimal column can hold not-a-number, as PostgreSQL's can

    @classmethod
    def signed(cls, bits: int) -> ColumnKind:
        """Whole numbers of so many bits."""
        return cls("whole", -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)

    @property
    def is_floating(self) -> bool:
        """Whether the column can hold infinities and not-a-number."""
        return self.kind in ("single", "double")

    @property
    def is_number(self) -> bool:
        """Whether a numeric feature can be read from it."""
        return self.is_floating or self.kind in ("whole", "decimal")

    @property
    def ends(self) -> tuple[int, int]:
        """The lowest and the highest place of its finite numbers."""
        match self.kind:
            case "whole":
                return self.low, self.high
            case "date":
                return 1, dt.date.max.toordinal()
            case "decimal":
                return 1 - 10**self.digits, 10**self.digits - 1
            case "single":
                return _finite_ends(np.float32, np.int32)
            case _:
                return _finite_ends(np.float64, np.int64)

    def values(self, places: list[int]) -> np.ndarray:
        """The numbers at these places as the readers of typed files read them, float64."""
        match self.kind:
            case "whole" | "date":
                return np.array([float(place) for place in places])
            case "decimal":
                return np.array([float(Fraction(place, 10**self.scale)) for place in places])
            case "single":
                return _floats(places, np.int32, np.float32).astype(np.float64)
            case _:
                return _floats(places, np.int64, np.float64)

    def literal(self, place: int) -> str:
        """The number or date at a place, written so that every engine reads back the very same."""
        match self.kind:
            case "whole":
                return str(place)
            case "date":
                return dt.date.fromordinal(place).isoformat()
            case "decimal":
                digits = f"{abs(place):0{self.scale + 1}d}"
                point = f"{digits[: len(digits) - self.scale]}.{digits[len(digits) - self.scale :]}" if self.scale else digits
                return f"-{point}" if place < 0 else point
            case "single":
                return repr(float(_floats([place], np.int32, np.float32)[0]))
            case _:
                return repr(float(_floats([place], np.int64, np.float64)[0]))

    def cell(self, place: int) -> str:
        """The text of the cell that the readers of typed files make of this number."""
        if self.kind != "decimal":
            return str(place) if self.kind == "whole" else canonical_number(float(self.values([place])[0]))
        text = self.literal(place)
        return (text.rstrip("0").rstrip(".") if self.scale else text) or "0"


def _finite_ends(kind: type, bits: type) -> tuple[int, int]:
    largest = int(np.array(np.finfo(kind).max, dtype=kind).view(bits))
    return -largest, largest


def _floats(places: list[int], bits: type, kind: type) -> np.ndarray:
    """Place 0 is zero, place k the k-th number above it, place -k the k-th below."""
    found: np.ndarray = np.array([abs(place) for place in places], dtype=bits).view(kind)
    return np.where(np.array(places) < 0, -found, found)


def last_places(kind: ColumnKind, is_before: Callable[[np.ndarray], np.ndarray], count: int) -> list[int | None]:
    """For each of `count` questions the last place that still is before its step; None where no place is.

    `is_before` takes one number per question, float64 of shape (count,), and answers for each (bool): True up to some number and
    False from there on.
    """
    lowest, highest = kind.ends
    below, above = [lowest - 1] * count, [highest + 1] * count
    while any(high - low > 1 for low, high in zip(below, above, strict=True)):
        middle = [min(max((low + high) // 2, lowest), highest) for low, high in zip(below, above, strict=True)]
        for question, before in enumerate(is_before(kind.values(middle)).tolist()):
            if above[question] - below[question] > 1:
                (below if before else above)[question] = middle[question]
    return [None if place < lowest else place for place in below]
