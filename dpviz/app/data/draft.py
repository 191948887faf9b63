"""A schema while somebody is still filling it in: fields may be empty, and every value knows whether it was read from the data.

Pure values, no Streamlit. The target is a column like any other: used as categories it has classes, used as a number a range.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from dpviz.errors import SchemaError
from dpviz.table.schema import (
    CategoricalFeature,
    ClassTarget,
    Feature,
    NumericFeature,
    NumericTarget,
    Provenance,
    Schema,
    Target,
)


class Use(StrEnum):
    """What a column is for."""

    NUMBER = "number"
    CATEGORIES = "categories"
    LEFT_OUT = "leave out"


@dataclass(frozen=True, slots=True)
class ColumnDraft:
    """One column, as far as it is filled in. `read` names the fields whose values were read from the data.

    `missing_number` and `missing_as` stand for a missing number and a missing category; None drops the row.
    """

    name: str
    use: Use | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    whole: bool = False
    missing_number: float | None = None
    categories: tuple[str, ...] = ()
    missing_as: str | None = None
    unknown_as: str | None = None
    read: frozenset[str] = frozenset()

    @property
    def read_now(self) -> frozenset[str]:
        """The fields of `read` that matter for the present use."""
        return self.read & _FIELDS[self.use].keys()

    @property
    def source(self) -> Provenance:
        """Read from data when any field that matters is."""
        return Provenance.READ if self.read_now else Provenance.DECLARED

    def edited(self, **values: Any) -> ColumnDraft:
        """A copy with these values, given by a person: those that differ are declared, and with them the kind."""
        changed = {field for field, value in values.items() if getattr(self, field) != value}
        return replace(self, **values, read=self.read - changed - {"kind"}) if changed else self

    def declare(self, fields: Iterable[str] | None = None) -> ColumnDraft:
        """A copy whose values (of these fields; by default of all) count as declared: somebody knows them without the data."""
        left = frozenset() if fields is None else self.read - set(fields) - {"kind"}
        return replace(self, read=left)

    def without_read(self) -> ColumnDraft:
        """A copy in which whatever was read from the data is empty again."""
        if not self.read:
            return self
        empty = ColumnDraft(self.name)
        fields = {"use" if field == "kind" else field for field in self.read}
        return replace(self, **{field: getattr(empty, field) for field in fields}, read=frozenset())

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
            return "how to use it"
        if self.use is Use.NUMBER:
            return " and ".join(field for field in ("low", "high") if getattr(self, field) is None)
        return "categories" if self.use is Use.CATEGORIES and len(self.categories) < least_categories else ""


@dataclass(frozen=True, slots=True)
class SchemaDraft:
    """Columns in file order, the name of the target (None: not chosen), and the public row count (None: not declared)."""

    columns: tuple[ColumnDraft, ...]
    target: str | None = None
    n_public: int | None = None
    n_public_read: bool = False

    @classmethod
    def blank(cls, names: Iterable[str]) -> SchemaDraft:
        """Nothing but column names."""
        return cls(tuple(map(ColumnDraft, names)))

    @classmethod
    def of(cls, schema: Schema, names: Sequence[str]) -> SchemaDraft:
        """The draft that says what `schema` says; columns it does not name are left out.

        Raises SchemaError when it names a column that is not in `names`.
        """
        known = {feature.name: _of_feature(feature) for feature in schema.features}
        known[schema.target.name] = _of_target(schema.target)
        for name in known:
            if name not in names:
                raise SchemaError(
                    f"The schema names the column {name!r}, which the table does not have.",
                    field=name,
                    remedy="Choose the schema made for this table, or correct the name.",
                )
        columns = tuple(known.get(name, ColumnDraft(name, Use.LEFT_OUT)) for name in names)
        return cls(columns, schema.target.name, schema.n_public, "n_public" in schema.read_from_data)

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, target included."""
        return tuple(column.name for column in self.columns)

    @property
    def features(self) -> tuple[ColumnDraft, ...]:
        """All columns but the target, left-out ones included."""
        return tuple(column for column in self.columns if column.name != self.target)

    def used_as(self, use: Use) -> tuple[ColumnDraft, ...]:
        """Features of this kind."""
        return tuple(column for column in self.features if column.use is use)

    def column(self, name: str) -> ColumnDraft:
        """The column called `name`, which must exist."""
        return next(column for column in self.columns if column.name == name)

    def with_columns(self, *changed: ColumnDraft) -> SchemaDraft:
        """A copy in which these replace the columns of the same names."""
        by_name = {column.name: column for column in changed}
        return replace(self, columns=tuple(by_name.get(column.name, column) for column in self.columns))

    def with_target(self, name: str | None) -> SchemaDraft:
        """A copy that predicts `name`, which is then no longer left out."""
        draft = replace(self, target=name)
        if name is None or self.column(name).use is not Use.LEFT_OUT:
            return draft
        return draft.with_columns(replace(self.column(name), use=None))

    def with_row_count(self, n_public: int | None) -> SchemaDraft:
        """A copy with this public row count, declared if it differs."""
        return self if n_public == self.n_public else replace(self, n_public=n_public, n_public_read=False)

    def without_read(self) -> SchemaDraft:
        """A copy in which nothing read from the data is left."""
        columns = tuple(column.without_read() for column in self.columns)
        return SchemaDraft(columns, self.target, None if self.n_public_read else self.n_public)

    def filled(self, proposed: SchemaDraft) -> SchemaDraft:
        """A copy in which `proposed`, read from the data, fills whatever nobody declared."""
        columns = tuple(column.filled(proposed.column(column.name)) for column in self.columns)
        read = self.n_public is None or self.n_public_read
        return SchemaDraft(columns, proposed.target, proposed.n_public if read else self.n_public, read)

    def read_fields(self) -> int:
        """How many values were read from the data."""
        return sum(len(column.read_now) for column in self.columns) + self.n_public_read

    def gaps(self) -> tuple[tuple[str, str], ...]:
        """(what is missing, column) in the order a page asks for it."""
        if self.target is None:
            return (("target", ""),)
        goal = self.column(self.target)
        found = [(goal.lacks(least_categories=2).replace("categories", "classes"), goal.name)]
        found += [(column.lacks(), column.name) for column in self.features]
        found += [] if any(column.use is not Use.LEFT_OUT for column in self.features) else [("feature", "")]
        return tuple((what, name) for what, name in found if what)

    def schema(self) -> Schema:
        """The schema; raises SchemaError when it contradicts itself. Only for drafts without gaps."""
        features = tuple(_feature(column) for column in self.features if column.use is not Use.LEFT_OUT)
        target = _target(self.column(str(self.target)))
        return Schema(features, target, n_public=self.n_public, read_from_data=("n_public",) if self.n_public_read else ())


_NUMERIC_FIELDS = {"kind": "kind", "low": "low", "high": "high", "unit": "unit", "whole": "whole", "missing_number": "missing_as"}
_CATEGORY_FIELDS = {"kind": "kind", "categories": "categories", "missing_as": "missing_as", "unknown_as": "unknown_as"}
_CLASS_FIELDS = {"kind": "kind", "categories": "classes"}
_FIELDS: dict[Use | None, dict[str, str]] = {
    None: {},
    Use.NUMBER: _NUMERIC_FIELDS,
    Use.CATEGORIES: _CATEGORY_FIELDS,
    Use.LEFT_OUT: {},
}


def _of_feature(feature: Feature) -> ColumnDraft:
    if isinstance(feature, NumericFeature):
        return ColumnDraft(
            feature.name,
            Use.NUMBER,
            feature.low,
            feature.high,
            feature.unit,
            feature.whole,
            feature.missing_as,
            read=_marks(feature, _NUMERIC_FIELDS),
        )
    return ColumnDraft(
        feature.name,
        Use.CATEGORIES,
        categories=feature.categories,
        missing_as=feature.missing_as,
        unknown_as=feature.unknown_as,
        read=_marks(feature, _CATEGORY_FIELDS),
    )


def _of_target(target: Target) -> ColumnDraft:
    if isinstance(target, NumericTarget):
        return ColumnDraft(target.name, Use.NUMBER, target.low, target.high, read=_marks(target, _NUMERIC_FIELDS))
    return ColumnDraft(target.name, Use.CATEGORIES, categories=target.classes, read=_marks(target, _CLASS_FIELDS))


def _marks(column: Feature | Target, fields: dict[str, str]) -> frozenset[str]:
    return frozenset(ours for ours, theirs in fields.items() if theirs in column.read_from_data)


def _read(column: ColumnDraft, fields: dict[str, str]) -> tuple[str, ...]:
    return tuple(theirs for ours, theirs in fields.items() if ours in column.read)


def _feature(column: ColumnDraft) -> Feature:
    if column.use is Use.NUMBER:
        return NumericFeature(
            column.name,
            column.low,  # type: ignore[arg-type]  # no gaps: both ends are given
            column.high,  # type: ignore[arg-type]
            unit=column.unit,
            whole=column.whole,
            missing_as=column.missing_number,
            read_from_data=_read(column, _NUMERIC_FIELDS),
        )
    return CategoricalFeature(
        column.name,
        column.categories,
        missing_as=column.missing_as,
        unknown_as=column.unknown_as,
        read_from_data=_read(column, _CATEGORY_FIELDS),
    )


def _target(column: ColumnDraft) -> Target:
    if column.use is Use.NUMBER:
        numeric = {field: mark for field, mark in _NUMERIC_FIELDS.items() if field in ("kind", "low", "high")}
        return NumericTarget(column.name, column.low, column.high, _read(column, numeric))  # type: ignore[arg-type]
    return ClassTarget(column.name, column.categories, _read(column, _CLASS_FIELDS))
