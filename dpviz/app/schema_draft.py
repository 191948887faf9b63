"""A schema while somebody is still filling it in: fields may be empty, and every value knows whether it was read from the data.

Pure values, no Streamlit. The target is a column like any other: used as categories it has classes, used as a number a range.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dpviz.errors import SchemaError
from dpviz.io.codebook import Codebook
from dpviz.table.column_draft import HOW_TO_USE, ColumnDraft, Use, draft_of, feature_of, target_of
from dpviz.table.schema import Schema


@dataclass(frozen=True, slots=True)
class SchemaDraft:
    """Columns in file order, the name of the target (None: not chosen), and the public row count (None: not declared).

    `person` is the column that says whose row it is, with the rows kept of each; None where every row is somebody else.
    `before` is what was declared before its owner looked at how the rows fit; None while nobody has. `decimal` is the decimal
    mark that a schema file declares.
    `source` is the public source of what changed since that look: with one, it counts as declared.
    """

    columns: tuple[ColumnDraft, ...]
    target: str | None = None
    n_public: int | None = None
    n_public_read: bool = False
    person: str | None = None
    rows_per_person: int = 1
    before: SchemaDraft | None = None
    decimal: str | None = None
    source: str = ""

    @classmethod
    def blank(cls, names: Iterable[str]) -> SchemaDraft:
        """Nothing but column names."""
        return cls(tuple(map(ColumnDraft, names)))

    @classmethod
    def of_codebook(cls, book: Codebook, names: Sequence[str]) -> SchemaDraft:
        """What a codebook says about the columns of a table, complete or not. Lines about other columns are left aside."""
        known = {line.name: line for line in book.columns}
        target, person = (name if name in names else None for name in (book.target, book.person))
        return cls(tuple(known.get(name, ColumnDraft(name)) for name in names), target, person=person)

    @classmethod
    def of(cls, schema: Schema, names: Sequence[str], *, person: str | None = None) -> SchemaDraft:
        """The draft that says what `schema` says; columns it does not name are left out.

        Raises SchemaError when it names a column that is not in `names`.
        """
        known = {column.name: draft_of(column) for column in (*schema.features, schema.target)}
        for name in filter(None, (*known, person)):
            if name not in names:
                what = f"It names the column {name!r}, which the table does not have."
                raise SchemaError(what, field=name, remedy="Choose the schema made for this table, or correct the name.")
        columns = tuple(known.get(name, ColumnDraft(name, Use.LEFT_OUT)) for name in names)
        is_read = "n_public" in schema.read_from_data
        return cls(
            columns,
            schema.target.name,
            schema.n_public,
            is_read,
            person,
            schema.rows_per_person,
            decimal=schema.decimal,
            source=schema.source,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, target included."""
        return tuple(column.name for column in self.columns)

    @property
    def features(self) -> tuple[ColumnDraft, ...]:
        """All columns but the target and the person's, left-out ones included."""
        return tuple(column for column in self.columns if column.name not in (self.target, self.person))

    @property
    def grid_columns(self) -> tuple[ColumnDraft, ...]:
        """All columns but the person's, the target first."""
        goal = () if self.target is None else (self.column(self.target),)
        return (*goal, *self.features)

    def column(self, name: str) -> ColumnDraft:
        """The column called `name`, which must exist."""
        return next(column for column in self.columns if column.name == name)

    def with_columns(self, *changed: ColumnDraft) -> SchemaDraft:
        """A copy in which these replace the columns of the same names."""
        by_name = {column.name: column for column in changed}
        return replace(self, columns=tuple(by_name.get(column.name, column) for column in self.columns))._after_look()

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
        return replace(self, columns=columns, n_public=n_public, n_public_read=False)._after_look()

    def fill(self, proposed: SchemaDraft) -> SchemaDraft:
        """A copy in which `proposed`, read from the data, fills whatever nobody declared."""
        columns = tuple(column.fill(proposed.column(column.name)) for column in self.columns)
        read = self.n_public is None or self.n_public_read
        n_public = proposed.n_public if read else self.n_public
        return replace(self, columns=columns, target=proposed.target, n_public=n_public, n_public_read=read)

    def with_persons(self, person: str | None, rows_per_person: int) -> SchemaDraft:
        """A copy in which this column says whose row it is; it is then no feature."""
        return replace(self, person=person, rows_per_person=rows_per_person)

    def looked_at(self) -> SchemaDraft:
        """A copy that remembers what was declared before its owner looked at the rows. A second look changes nothing."""
        return self if self.before is not None else replace(self, before=self)

    def after(self, looked: SchemaDraft | None) -> SchemaDraft:
        """A copy that remembers the look at the rows of another draft of the same columns."""
        if looked is None or looked.before is None or sorted(looked.names) != sorted(self.names):
            return self
        return replace(self, before=looked.before)._after_look()

    def before_look(self) -> SchemaDraft:
        """A copy with what was declared before the look, which is still remembered; the draft itself while nobody has looked."""
        if self.before is None:
            return self
        columns = tuple(map(self.before.column, self.names))
        return replace(self.before, columns=columns, before=self.before, decimal=self.decimal, source=self.source)

    def _after_look(self, *, is_supported: bool = False) -> SchemaDraft:
        """A copy in which what changed in the columns since the look counts as read, or by a public source as declared."""
        if self.before is None:
            return self
        known = ((column, self.before.column(column.name)) for column in self.columns)
        return replace(self, columns=tuple(now.after_look(then, is_supported=is_supported) for now, then in known))

    def supported(self) -> SchemaDraft:
        """A copy in which what changed since the look counts as declared, where its owner names a public source of it."""
        return self._after_look(is_supported=True) if self.source else self

    @property
    def columns_read(self) -> bool:
        """Whether target, persons or the choice of columns changed after a look at the rows."""
        if self.before is None or self.source:
            return False
        now, then = ((draft.target, draft.person, draft.rows_per_person) for draft in (self, self.before))
        return now != then or any(
            (column.use is Use.LEFT_OUT) != (self.before.column(column.name).use is Use.LEFT_OUT) for column in self.features
        )

    @property
    def count_read(self) -> bool:
        """Whether the row count was read from the data, or changed after a look at them."""
        return self.n_public_read or (self.before is not None and not self.source and self.n_public != self.before.n_public)

    def read_fields(self) -> int:
        """How many values were read from the data."""
        return sum(len(column.read_now) for column in self.supported().columns) + self.count_read + self.columns_read

    def gaps(self) -> tuple[tuple[str, str], ...]:
        """(what is missing, column) in the order a page asks for it."""
        if self.target is None:
            return (("target", ""),)
        goal = self.column(self.target)
        lacks = HOW_TO_USE if goal.use is Use.LEFT_OUT else goal.lacks(least_categories=2)
        found = [(lacks.replace("categories", "classes"), goal.name)]
        found += [(column.lacks(), column.name) for column in self.features]
        found += [] if any(column.use is not Use.LEFT_OUT for column in self.features) else [("feature", "")]
        found += [("row count", "")] if self.n_public is None else []
        return tuple((what, name) for what, name in found if what)

    def schema(self) -> Schema:
        """The schema; raises SchemaError when it contradicts itself. Only for drafts without gaps."""
        columns = {column.name: column for column in self.supported().columns}
        features = tuple(feature_of(columns[one.name]) for one in self.features if one.use is not Use.LEFT_OUT)
        target = target_of(columns[str(self.target)])
        marks = {"n_public": self.count_read, "features": self.columns_read}
        read = tuple(name for name, is_read in marks.items() if is_read)
        rows = self.rows_per_person
        return Schema(features, target, self.n_public, read, None, self.decimal, self.source, rows)
