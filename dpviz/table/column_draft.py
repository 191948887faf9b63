"""One column as far as somebody has described it, on the way from a grid, a codebook or JSON to the column of a schema.

There is one such description, `ColumnDraft`, and one way from it to a feature or a target, `feature_of` and `target_of`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from dataclasses import fields as fields_of
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np

from dpviz.errors import DpvizError, SchemaError
from dpviz.table.cells import IN_DOUBT, number_of
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Provenance, Target

T = TypeVar("T")
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

    @property
    def read_now(self) -> frozenset[str]:
        """The fields of `read` that matter for the present use."""
        return self.read & FIELDS[self.use].keys()

    @property
    def source(self) -> Provenance:
        """Read from data when any field that matters is."""
        return Provenance.READ if self.read_now else Provenance.DECLARED

    def edit(self, **values: Any) -> ColumnDraft:
        """A copy with these values, given by a person: those that differ are declared, and with them the kind."""
        changed = {field for field, value in values.items() if getattr(self, field) != value}
        return replace(self, **values, read=self.read - changed - {"kind"}) if changed else self

    def declare(self, fields: Iterable[str] | None = None) -> ColumnDraft:
        """A copy whose values (of these fields; by default of all) count as declared: somebody knows them without the data."""
        left = frozenset() if fields is None else self.read - set(fields) - {"kind"}
        return replace(self, read=left)

    def after_look(self, before: ColumnDraft, *, is_supported: bool = False) -> ColumnDraft:
        """A copy in which only what differs from the column before its owner looked at the rows counts as read from the data.

        It counts as declared where it `is_supported` by a public source. What was read before stays read.
        """
        changed = {field for field in _EVERY if getattr(self, _name(field)) != getattr(before, _name(field))}
        return replace(self, read=before.read - changed if is_supported else before.read | changed)

    def without_read(self) -> ColumnDraft:
        """A copy in which whatever was read from the data is empty again."""
        if not self.read:
            return self
        empty = ColumnDraft(self.name)
        fields = map(_name, self.read)
        return replace(self, **{field: getattr(empty, field) for field in fields}, read=frozenset())

    def fill(self, proposed: ColumnDraft) -> ColumnDraft:
        """A copy in which empty fields, and those read before, hold the proposed values; declared ones stay."""
        if self.use is None or "kind" in self.read:
            return proposed
        if self.use is not proposed.use or self._date_rule != proposed._date_rule:
            return self
        fields = ("low", "high") if self.use is Use.NUMBER else ("categories",)
        taken = {field for field in fields if getattr(self, field) in (None, ()) or field in self.read}
        return replace(self, **{field: getattr(proposed, field) for field in taken}, read=self.read | taken)

    @property
    def _date_rule(self) -> tuple[str, ...]:
        """Ranges of two drafts are of the same numbers where this is the same; empty for a number."""
        return (self.part, self.order, self.since) if self.part else ()

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


# --- from and to a column of a schema


def draft_of(column: Feature | Target) -> ColumnDraft:
    """The draft of a feature or a target."""
    if isinstance(column, NumericFeature | NumericTarget):
        use, fields = Use.NUMBER, NUMERIC_FIELDS
    else:
        use, fields = Use.CATEGORIES, CLASS_FIELDS if isinstance(column, ClassTarget) else CATEGORY_FIELDS
    known = {ours: getattr(column, theirs) for ours, theirs in fields.items() if ours != "kind" and hasattr(column, theirs)}
    read = frozenset(ours for ours, theirs in fields.items() if theirs in column.read_from_data)
    return ColumnDraft(column.name, use, **known, read=read)


def _build(kind: type[T], column: ColumnDraft, fields: dict[str, str], **instead: Any) -> T:
    """The column of a schema that has what the draft says of its fields."""
    known = {"kind", *(field.name for field in fields_of(kind))}  # type: ignore[arg-type]
    told = {ours: theirs for ours, theirs in fields.items() if theirs in known}
    values = {theirs: getattr(column, ours) for ours, theirs in told.items() if ours != "kind"}
    read = tuple(theirs for ours, theirs in told.items() if ours in column.read)
    return kind(**({"name": column.name, "read_from_data": read} | values | instead))


def feature_of(column: ColumnDraft) -> Feature:
    """The feature that a draft without gaps declares; raises SchemaError when it contradicts itself."""
    if column.use is Use.NUMBER:
        if column.part:
            return _build(DateFeature, column, NUMERIC_FIELDS, missing_as=_stand_in(column), order=column.order or "ymd")
        return _build(NumericFeature, column, NUMERIC_FIELDS, missing_as=_stand_in(column))
    named = dict.fromkeys(filter(None, (*column.categories, column.missing_as, column.unknown_as)))
    return _build(CategoricalFeature, column, CATEGORY_FIELDS, categories=tuple(named))


def _stand_in(column: ColumnDraft) -> float | None:
    """Of a missing number; the middle of a range of whole numbers is a whole number."""
    if column.missing_number != MIDDLE:
        return column.missing_number  # type: ignore[return-value]
    middle = (column.low + column.high) / 2  # type: ignore[operator]
    return float(round(middle)) if column.whole or column.part else middle


def target_of(column: ColumnDraft) -> Target:
    """The same for the target, which is no date."""
    if column.use is Use.NUMBER:
        if column.part:
            raise SchemaError("A date cannot be predicted.", field=column.name, remedy="Choose another target.")
        return _build(NumericTarget, column, NUMERIC_FIELDS)
    return _build(ClassTarget, column, CLASS_FIELDS)


# --- numbers as people type and paste them: what may mean two numbers is refused


def read_number(text: str, *, point_is_decimal: bool = False) -> float:
    """The number that a text means, as `dpviz.table.cells` reads cells, but that one mark before three digits may be either.

    Raises DpvizError where it is no finite number, or may be two, as 1.000 may.

    `point_is_decimal`: a program wrote it, so that 1.000 is 1.
    """
    plain = text.strip().removeprefix("'").strip()  # as spreadsheets and our CSV files keep a cell from being run
    if IN_DOUBT.fullmatch(plain.replace("−", "-")) and not (point_is_decimal and "." in plain):
        sign, digits = "-" if plain.startswith(("-", "−")) else "", plain.lstrip("+-−").replace(",", ".")
        decimal, whole = sign + digits.rstrip("0").rstrip("."), sign + digits.replace(".", "")
        remedy = f"Write {decimal}{'0' if '.' in decimal else '.0'} or {whole}."  # four digits behind a point are no thousands
        raise DpvizError(f"{text!r:.40} may be {decimal} or {whole}.", remedy=remedy)
    value = number_of(plain)
    if np.isnan(value):
        raise DpvizError(f"{text!r:.40} is no number.", remedy="Write digits, such as 220.5 or 220,5.")
    return value
