"""A schema while somebody is still filling it in: fields may be empty, and every value knows whether it was read from the data.

Pure values, no Streamlit. The target is a column like any other: used as categories it has classes, used as a number a range.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpviz.app.data.column_draft import CATEGORY_FIELDS, CLASS_FIELDS, NUMERIC_FIELDS, ColumnDraft, Use
from dpviz.errors import SchemaError
from dpviz.io.codebook_lines import Entry
from dpviz.table.dates import DateFeature
from dpviz.table.schema import (
    CategoricalFeature,
    ClassTarget,
    Feature,
    NumericFeature,
    NumericTarget,
    Schema,
    Target,
)


@dataclass(frozen=True, slots=True)
class SchemaDraft:
    """Columns in file order, the name of the target (None: not chosen), and the public row count (None: not declared).

    `person` is the column that says whose row it is, with the rows kept of each; None where every row is somebody else.
    """

    columns: tuple[ColumnDraft, ...]
    target: str | None = None
    n_public: int | None = None
    n_public_read: bool = False
    person: str | None = None
    rows_per_person: int | None = None

    @classmethod
    def blank(cls, names: Iterable[str]) -> SchemaDraft:
        """Nothing but column names."""
        return cls(tuple(map(ColumnDraft, names)))

    @classmethod
    def of_codebook(cls, entries: Iterable[Entry], names: Sequence[str], target: str | None) -> SchemaDraft:
        """What a codebook says about the columns of a table, complete or not. Lines about other columns are left aside."""
        known = {entry.name: _of_entry(entry) for entry in entries}
        return cls(tuple(known.get(name, ColumnDraft(name)) for name in names), target)

    @classmethod
    def of(
        cls, schema: Schema, names: Sequence[str], *, person: str | None = None, rows_per_person: int | None = None
    ) -> SchemaDraft:
        """The draft that says what `schema` says; columns it does not name are left out.

        Raises SchemaError when it names a column that is not in `names`.
        """
        known = {feature.name: _of_feature(feature) for feature in schema.features}
        known[schema.target.name] = _of_target(schema.target)
        _require_columns(filter(None, (*known, person)), names)
        columns = tuple(known.get(name, ColumnDraft(name, Use.LEFT_OUT)) for name in names)
        is_read = "n_public" in schema.read_from_data
        return cls(columns, schema.target.name, schema.n_public, is_read, person, rows_per_person)

    def for_table(self, names: Sequence[str]) -> SchemaDraft:
        """The same for a table with these columns, in its order; raises SchemaError unless it has all of them and no other."""
        _require_columns(self.names, names)
        known = {column.name: column for column in self.columns}
        for name in names:
            if name not in known:
                what = f"The table has a column {name!r}, of which the draft does not know."
                raise SchemaError(what, field=name, remedy="Choose the table of this draft, or forget the draft.")
        return replace(self, columns=tuple(known[name] for name in names))

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, target included."""
        return tuple(column.name for column in self.columns)

    @property
    def features(self) -> tuple[ColumnDraft, ...]:
        """All columns but the target and the person's, left-out ones included."""
        return tuple(column for column in self.columns if column.name not in (self.target, self.person))

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
        n_public = None if self.n_public_read else self.n_public
        return replace(self, columns=columns, n_public=n_public, n_public_read=False)

    def filled(self, proposed: SchemaDraft) -> SchemaDraft:
        """A copy in which `proposed`, read from the data, fills whatever nobody declared."""
        columns = tuple(column.filled(proposed.column(column.name)) for column in self.columns)
        read = self.n_public is None or self.n_public_read
        n_public = proposed.n_public if read else self.n_public
        return replace(self, columns=columns, target=proposed.target, n_public=n_public, n_public_read=read)

    def with_persons(self, person: str | None, rows_per_person: int | None) -> SchemaDraft:
        """A copy in which this column says whose row it is; it is then no feature."""
        return replace(self, person=person, rows_per_person=rows_per_person)

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
        found += [("row count", "")] if self.n_public is None else []
        return tuple((what, name) for what, name in found if what)

    def schema(self) -> Schema:
        """The schema; raises SchemaError when it contradicts itself. Only for drafts without gaps."""
        features = tuple(_feature(column) for column in self.features if column.use is not Use.LEFT_OUT)
        target = _target(self.column(str(self.target)))
        return Schema(features, target, n_public=self.n_public, read_from_data=("n_public",) if self.n_public_read else ())


def _require_columns(named: Iterable[str], names: Sequence[str]) -> None:
    for name in named:
        if name not in names:
            what = f"It names the column {name!r}, which the table does not have."
            raise SchemaError(what, field=name, remedy="Choose the schema made for this table, or correct the name.")


def _of_entry(entry: Entry) -> ColumnDraft:
    uses = {
        "number": Use.NUMBER,
        "whole": Use.NUMBER,
        "date": Use.NUMBER,
        "categories": Use.CATEGORIES,
        "leave out": Use.LEFT_OUT,
    }
    is_date = entry.kind == "date"
    return ColumnDraft(
        entry.name,
        uses.get(entry.kind) or (Use.CATEGORIES if entry.values else None),
        entry.low,
        entry.high,
        entry.unit,
        is_date or entry.kind == "whole",
        part=(entry.part or "year") if is_date else "",
        order=entry.order or "ymd",
        missing_codes=entry.missing_codes,
        categories=entry.values,
        missing_as=entry.missing_as if entry.missing_as in entry.values else None,
        unknown_as=entry.unknown_as if entry.unknown_as in entry.values else None,
    )


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
            missing_codes=feature.missing_codes,
            **_date_rule(feature),
            read=_marks(feature, NUMERIC_FIELDS),
        )
    return ColumnDraft(
        feature.name,
        Use.CATEGORIES,
        categories=feature.categories,
        missing_as=feature.missing_as,
        unknown_as=feature.unknown_as,
        missing_codes=feature.missing_codes,
        read=_marks(feature, CATEGORY_FIELDS),
    )


def _of_target(target: Target) -> ColumnDraft:
    if isinstance(target, NumericTarget):
        return ColumnDraft(
            target.name,
            Use.NUMBER,
            target.low,
            target.high,
            missing_codes=target.missing_codes,
            read=_marks(target, NUMERIC_FIELDS),
        )
    return ColumnDraft(target.name, Use.CATEGORIES, categories=target.classes, read=_marks(target, CLASS_FIELDS))


def _marks(column: Feature | Target, fields: dict[str, str]) -> frozenset[str]:
    return frozenset(ours for ours, theirs in fields.items() if theirs in column.read_from_data)


def _read(column: ColumnDraft, fields: dict[str, str]) -> tuple[str, ...]:
    return tuple(theirs for ours, theirs in fields.items() if ours in column.read)


def _date_rule(feature: NumericFeature) -> dict[str, Any]:
    return {field: getattr(feature, field) for field in ("part", "order", "since")} if isinstance(feature, DateFeature) else {}


def _feature(column: ColumnDraft) -> Feature:
    if column.use is Use.NUMBER:
        make, rule = NumericFeature, {}
        if column.part:
            make, rule = DateFeature, {"part": column.part, "order": column.order or "ymd", "since": column.since}
        return make(
            column.name,
            column.low,  # type: ignore[arg-type]  # no gaps: both ends are given
            column.high,  # type: ignore[arg-type]
            unit=column.unit,
            whole=column.whole,
            missing_as=column.missing_number,
            read_from_data=_read(column, NUMERIC_FIELDS),
            missing_codes=column.missing_codes,
            **rule,  # type: ignore[arg-type]
        )
    return CategoricalFeature(
        column.name,
        column.categories,
        missing_as=column.missing_as,
        unknown_as=column.unknown_as,
        missing_codes=column.missing_codes,
        read_from_data=_read(column, CATEGORY_FIELDS),
    )


def _target(column: ColumnDraft) -> Target:
    if column.use is Use.NUMBER:
        numeric = {field: mark for field, mark in NUMERIC_FIELDS.items() if field in ("kind", "low", "high")}
        low, high = column.low, column.high  # no gaps: both ends are given
        return NumericTarget(column.name, low, high, _read(column, numeric), column.missing_codes)  # type: ignore[arg-type]
    return ClassTarget(column.name, column.categories, _read(column, CLASS_FIELDS))
