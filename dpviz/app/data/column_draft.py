"""One column of a schema draft, as far as somebody has filled it in. Pure values, no Streamlit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from dpviz.table.schema import Provenance

#: The category that takes missing cells and texts not in the list, unless their owner says otherwise.
OTHER = "other"
#: Of a column of which nobody has said what it is used as.
HOW_TO_USE = "how to use"
#: Stands for a missing number unless its owner says otherwise: the middle of the declared range.
MIDDLE = "middle"


class Use(StrEnum):
    """What a column is for."""

    NUMBER = "number"
    CATEGORIES = "categories"
    LEFT_OUT = "leave out"


@dataclass(frozen=True, slots=True)
class ColumnDraft:
    """One column, as far as it is filled in. `read` names the fields whose values were read from the data.

    `part`, `order` and `since` are the rule by which a date becomes a number; no part: the column holds numbers.
    `missing_codes` are cells that count as missing. `missing_number` (a number, or the middle of the range) and `missing_as`
    stand for a missing number and a missing category, `unknown_as` for a text not in the list; None drops the row. A category
    named there belongs to the list whether or not it stands in it. `groups` are further texts, each with the category it is.
    `before` is the column as it was declared before its owner looked at the rows; None while nobody has.
    """

    name: str
    use: Use | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    whole: bool = False
    missing_number: float | str | None = MIDDLE
    part: str = ""
    order: str = "ymd"
    since: str = "1970-01-01"
    missing_codes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    groups: tuple[tuple[str, str], ...] = ()
    missing_as: str | None = OTHER
    unknown_as: str | None = OTHER
    read: frozenset[str] = frozenset()
    before: ColumnDraft | None = None

    @property
    def read_now(self) -> frozenset[str]:
        """The fields of `read` that matter for the present use."""
        return self.read & FIELDS[self.use].keys()

    @property
    def source(self) -> Provenance:
        """Read from data when any field that matters is."""
        return Provenance.READ if self.read_now else Provenance.DECLARED

    def edited(self, **values: Any) -> ColumnDraft:
        """A copy with these values, given by a person: those that differ are declared, and with them the kind."""
        changed = {field for field, value in values.items() if getattr(self, field) != value}
        return replace(self, **values, read=self.read - changed - {"kind"}).since_look() if changed else self

    def declare(self, fields: Iterable[str] | None = None) -> ColumnDraft:
        """A copy whose values (of these fields; by default of all) count as declared: somebody knows them without the data."""
        left = frozenset() if fields is None else self.read - set(fields) - {"kind"}
        return replace(self, read=left).since_look()

    def since_look(self) -> ColumnDraft:
        """A copy in which whatever differs from before the look counts as read from the data, and what is as before does not."""
        if self.before is None:
            return self
        changed = {field for field in _EVERY if getattr(self, _name(field)) != getattr(self.before, _name(field))}
        return replace(self, read=(self.before.read - changed) | changed)

    def without_read(self) -> ColumnDraft:
        """A copy in which whatever was read from the data is empty again."""
        if not self.read:
            return self
        empty = ColumnDraft(self.name)
        fields = map(_name, self.read)
        return replace(self, **{field: getattr(empty, field) for field in fields}, read=frozenset()).since_look()

    def filled(self, proposed: ColumnDraft) -> ColumnDraft:
        """A copy in which empty fields, and those read before, hold the proposed values; declared ones stay."""
        if self.use is None or "kind" in self.read:
            return proposed
        if self.use is not proposed.use:
            return self
        fields = ("low", "high") if self.use is Use.NUMBER else ("categories",)
        taken = {field for field in fields if getattr(self, field) in (None, ()) or field in self.read}
        return replace(self, **{field: getattr(proposed, field) for field in taken}, read=self.read | taken)

    def lacks(self, *, least_categories: int = 1) -> str:
        """What must still be given: a few words, empty when nothing."""
        if self.use is None:
            return HOW_TO_USE
        if self.use is Use.NUMBER:
            return " and ".join(field for field in ("low", "high") if getattr(self, field) is None)
        return "categories" if self.use is Use.CATEGORIES and len(self.categories) < least_categories else ""


#: Our fields that say where a value comes from -> those of the schema, by kind of column.
NUMERIC_FIELDS = {"kind": "kind", "low": "low", "high": "high", "unit": "unit", "whole": "whole", "missing_number": "missing_as"}
NUMERIC_FIELDS |= {"part": "part", "order": "order", "since": "since", "missing_codes": "missing_codes"}
CATEGORY_FIELDS = {"kind": "kind", "categories": "categories", "missing_as": "missing_as", "unknown_as": "unknown_as"}
CATEGORY_FIELDS |= {"missing_codes": "missing_codes", "groups": "groups"}
CLASS_FIELDS = {"kind": "kind", "categories": "classes", "groups": "groups"}
FIELDS: dict[Use | None, dict[str, str]] = {
    None: {},
    Use.NUMBER: NUMERIC_FIELDS,
    Use.CATEGORIES: CATEGORY_FIELDS,
    Use.LEFT_OUT: {},
}
_EVERY = frozenset(NUMERIC_FIELDS | CATEGORY_FIELDS | CLASS_FIELDS)


def _name(field: str) -> str:
    """Of the attribute that holds it."""
    return "use" if field == "kind" else field
