"""Dates as numbers by a declared rule: which part of a date, and in which order days, months and years are written.

A cell becomes a number by its text and this rule alone; what is no date of the calendar is a number that cannot be read.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.errors import SchemaError
from dpviz.table.cells import ORDERS, date_of
from dpviz.table.schema import NumericFeature

#: What a date may become, and in which range it always is.
PARTS: dict[str, tuple[float, float] | None] = {"year": (1, 9999), "month": (1, 12), "weekday": (1, 7), "days": None}
_NUMBER_OF: dict[str, Callable[[dt.date], int]] = {
    "year": lambda day: day.year,
    "month": lambda day: day.month,
    "weekday": dt.date.isoweekday,
}


@dataclass(frozen=True, slots=True, repr=False)
class DateFeature(NumericFeature):
    """A date that counts as a whole number in [low, high].

    `part` is "year", "month" (1 to 12), "weekday" (1 is Monday) or "days" since the declared day `since` (ISO). `order` is how
    dates are written: "ymd" (2024-03-01), "dmy" (01.03.2024) or "mdy" (3/1/2024). The year has four digits; a date that
    begins with it is read whatever the order, as those with a type are. A time behind the date is ignored.
    """

    kind: ClassVar[str] = "date"
    part: str = "year"
    since: str = "1970-01-01"
    order: str = "ymd"

    def __post_init__(self) -> None:
        object.__setattr__(self, "whole", True)
        NumericFeature.__post_init__(self)
        _require_one_of(self.name, "part", self.part, tuple(PARTS))
        _require_one_of(self.name, "order", self.order, ORDERS)
        since = date_of(str(self.since), "ymd")
        if since is None:
            raise SchemaError(f"since = {self.since!r:.40} is no day.", field=self.name, remedy="Give a day such as 2000-01-01.")
        object.__setattr__(self, "since", since.isoformat())
        if not self.unit:
            object.__setattr__(self, "unit", f"days since {self.since}" if self.part == "days" else self.part)

    def numbers(self, texts: Sequence[str]) -> np.ndarray:
        """Each text as float64; NaN where it is no date."""
        start = dt.date.fromisoformat(self.since).toordinal()
        number_of = _NUMBER_OF.get(self.part, lambda day: day.toordinal() - start)
        days = (date_of(text, self.order) for text in texts)
        return np.array([np.nan if day is None else number_of(day) for day in days], float)

    @property
    def meaning(self) -> str:
        """What the number of a date says, in words."""
        words = {"year": "its year", "month": "its month, 1 to 12", "weekday": "its weekday, 1 for Monday to 7"}
        return words.get(self.part, f"days since {self.since}")


def _require_one_of(name: str, field: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        known = ", ".join(map(repr, allowed))
        raise SchemaError(f"{field} = {value!r:.40} is not known.", field=name, remedy=f"Give one of {known}.")
