"""A draft keeps track of what was read from the data, names its gaps, and says the same as the schema it becomes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dpviz.app.schema_draft import SchemaDraft
from dpviz.errors import RefusedRelease, SchemaError
from dpviz.io.samples import load_sample, samples
from dpviz.learners import FitRequest
from dpviz.release.release import preview_terms
from dpviz.table.column_draft import OTHER, ColumnDraft, Use
from dpviz.table.columns import Column
from dpviz.table.dates import DateFeature
from dpviz.table.raw import RawTable
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Provenance, Schema

READ = frozenset({"kind", "low", "high"})


def _schema() -> Schema:
    features = (
        NumericFeature("age", 18, 90, unit="years", whole=True, missing_as=40, read_from_data=("kind", "low")),
        CategoricalFeature("city", ("a", "b", "other"), "other", "b", ("categories", "unknown_as")),
    )
    return Schema(features, ClassTarget("y", ("no", "yes"), ("classes",)), n_public=700, read_from_data=("n_public",))


@pytest.mark.slow
def test_a_schema_comes_back_from_its_draft_and_one_for_another_table_names_the_column() -> None:
    assert SchemaDraft.of(_schema(), ("age", "city", "y")).schema() == _schema()
    for table, schema in (load_sample(sample.name) for sample in samples()):
        draft = SchemaDraft.of(schema, table.names)
        assert not draft.gaps()
        assert {feature.name: feature for feature in draft.schema().features} == {f.name: f for f in schema.features}
        assert draft.read_fields() == len(schema.read_fields())
        is_declared = not schema.read_fields()  # then all stays when private rows are chosen
        assert (draft.without_read() == draft) == is_declared
    with pytest.raises(SchemaError, match="names the column 'city', which the table does not have") as problem:
        SchemaDraft.of(_schema(), ("age", "y"))
    assert problem.value.field == "city"


def test_gaps_name_what_and_where() -> None:
    columns = (
        ColumnDraft("a"),
        ColumnDraft("b", Use.NUMBER, low=1.0),
        ColumnDraft("c", Use.CATEGORIES),
        ColumnDraft("d", Use.NUMBER),
        ColumnDraft("y", Use.CATEGORIES, categories=("only",)),
    )
    gaps = SchemaDraft(columns, "y").gaps()
    of_columns = (("classes", "y"), ("how to use", "a"), ("high", "b"), ("categories", "c"), ("low and high", "d"))
    assert gaps == (*of_columns, ("row count", ""))


def test_editing_declares_the_field_and_the_kind_but_another_use_and_back_launders_nothing() -> None:
    column = ColumnDraft("age", Use.NUMBER, 1.0, 2.0, read=READ)
    edited = column.edit(low=0.0, high=2.0)
    assert (edited.low, edited.read, edited.source) == (0.0, frozenset({"high"}), Provenance.READ)
    assert edited.edit(high=3.0).source is Provenance.DECLARED
    assert column.edit(low=1.0) is column
    away = column.edit(use=Use.CATEGORIES)
    assert away.source is Provenance.DECLARED
    assert away.edit(use=Use.NUMBER).read_now == {"low", "high"}


def test_nothing_read_is_left_for_private_rows() -> None:
    draft = SchemaDraft.of(_schema(), ("age", "city", "y")).without_read()
    assert draft.read_fields() == 0
    assert (draft.column("age").use, draft.column("age").low, draft.column("age").high) == (None, None, 90.0)
    assert draft.column("city").categories == ()
    assert draft.column("city").unknown_as == OTHER
    assert draft.column("y").categories == ()
    assert draft.n_public is None


def test_filling_in_never_overwrites_a_declared_value() -> None:
    mine = SchemaDraft((ColumnDraft("x", Use.NUMBER, low=-9.0), ColumnDraft("z"), ColumnDraft("y")), "y", n_public=50)
    table = RawTable(tuple(Column(name, ("1", "2", "3"), np.array([0, 1, 2], dtype=np.int32)) for name in "xzy"))
    schema = Schema(
        (NumericFeature("x", 1, 3, read_from_data=("kind", "low", "high")),), ClassTarget("y", ("1", "2"), ("classes",)), 3
    )
    filled = mine.fill(SchemaDraft.of(schema, table.names))
    x = filled.column("x")
    assert (x.low, x.high, x.read) == (-9.0, 3.0, {"high"})
    assert filled.column("z").use is Use.LEFT_OUT
    assert filled.column("y").read == {"categories"}
    assert (filled.n_public, filled.n_public_read) == (50, False)


def test_a_range_is_filled_in_for_the_same_rule_of_dates_only() -> None:
    rule = {"part": "days", "order": "dmy", "since": "2024-01-01"}
    proposed = ColumnDraft("x", Use.NUMBER, 0.0, 361.0, **rule, read=READ)
    same = ColumnDraft("x", Use.NUMBER, **rule).fill(proposed)
    assert (same.low, same.high) == (0.0, 361.0)
    for other in ({"part": ""}, {"part": "year"}, {"order": "mdy"}, {"since": "1970-01-01"}):
        another = ColumnDraft("x", Use.NUMBER, **rule | other)
        assert another.fill(proposed) is another


def test_the_rule_of_a_date_goes_into_the_draft_and_back():
    when = DateFeature("when", 0, 400, part="days", since="2015-01-01", order="dmy", unit="days")
    schema = Schema((when, NumericFeature("x", 0, 1)), ClassTarget("y", ("n", "p")))
    draft = SchemaDraft.of(schema, ("when", "x", "y"))
    assert draft.schema() == schema
    assert draft.with_columns(draft.column("when").edit(part="")).schema().feature("when") == NumericFeature(
        "when", 0, 400, unit="days", whole=True
    )


# --- after a look at private rows, whatever changes counts as read from them until it is put back; a release refuses it.


COLUMNS = (
    ColumnDraft("age", Use.NUMBER, 0.0, 99.0, "years", missing_number=7.0),
    ColumnDraft("when", Use.NUMBER, 1.0, 12.0, part="month", order="dmy", since="2000-01-01"),
    ColumnDraft("city", Use.CATEGORIES, categories=("a", "b", "other"), missing_as="other", unknown_as="other"),
    ColumnDraft("spare", Use.LEFT_OUT, 0.0, 1.0),
    ColumnDraft("who", Use.LEFT_OUT),
    ColumnDraft("who2", Use.LEFT_OUT),
    ColumnDraft("y", Use.CATEGORIES, categories=("n", "p")),
    ColumnDraft("z", Use.CATEGORIES, categories=("n", "p")),
)
UNSEEN = SchemaDraft(COLUMNS, "y", 800, person="who", rows_per_person=2)
LOOKED = UNSEEN.looked_at()
REQUEST = FitRequest.of("pf-tree", max_depth=3)
Change = Callable[[SchemaDraft], SchemaDraft]


def column(name: str, **values: object) -> Change:
    return lambda draft: draft.with_columns(draft.column(name).edit(**values))


CHANGES: dict[str, Change] = {
    "low": column("age", low=-1.0),
    "high": column("age", high=120.0),
    "unit": column("age", unit="months"),
    "whole": column("age", whole=True),
    "missing_number": column("age", missing_number=None),
    "codes": column("age", missing_codes=("999",)),
    "part": column("when", part="weekday", high=7.0),
    "order": column("when", order="mdy"),
    "categories": column("city", categories=("a", "b", "c", "other")),
    "missing_as": column("city", missing_as=None),
    "unknown_as": column("city", unknown_as="a"),
    "codes of categories": column("city", missing_codes=("-",)),
    "use": column("city", use=Use.NUMBER, low=0.0, high=1.0),
    "left out": column("city", use=Use.LEFT_OUT),
    "taken in": column("spare", use=Use.NUMBER),
    "classes": column("y", categories=("n", "p", "q")),
    "target": lambda draft: draft.with_target("z"),
    "row count": lambda draft: draft.with_row_count(400),
    "rows per person": lambda draft: draft.with_persons("who", 5),
    "another person": lambda draft: draft.with_persons("who2", 2),
    "no person": lambda draft: draft.with_persons(None, 1),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_after_the_look_counts_as_read_until_it_is_put_back_and_without_a_look_it_is_declared(
    name: str,
) -> None:
    assert LOOKED.read_fields() == 0
    assert preview_terms(LOOKED.schema(), REQUEST).claim.is_sound
    changed = CHANGES[name](LOOKED)
    assert changed.read_fields() >= 1
    assert changed.schema().read_fields()
    with pytest.raises(RefusedRelease, match="nothing that was read from the data"):
        preview_terms(changed.schema(), REQUEST)
    assert changed.before_look() == LOOKED
    fields = [field for field in ColumnDraft.__slots__ if field not in ("name", "read")]
    by_hand = (changed.column(old.name).edit(**{field: getattr(old, field) for field in fields}) for old in COLUMNS)
    assert changed.with_columns(*by_hand).with_target("y").with_row_count(800).with_persons("who", 2) == LOOKED
    declared = CHANGES[name](UNSEEN)
    assert declared.read_fields() == 0
    assert preview_terms(declared.schema(), REQUEST).claim.is_sound


def test_neither_saying_that_one_knows_it_nor_a_draft_from_outside_makes_the_look_forgotten() -> None:
    for name in ("low", "categories", "classes"):
        changed = CHANGES[name](LOOKED)
        assert changed.looked_at() == changed, "a second look remembers what was declared before the first"
        declared = changed.with_columns(*(item.declare() for item in changed.columns))
        assert declared == changed
    fresh = SchemaDraft((COLUMNS[0].edit(low=-5.0), *COLUMNS[1:]), "y", 800, person="who", rows_per_person=2)
    after = fresh.after(LOOKED)
    assert after.column("age").read_now == {"low"}
    assert after.before_look() == LOOKED
    assert SchemaDraft.blank(("a", "b")).after(LOOKED).before is None
    read = ColumnDraft("age", Use.NUMBER, 0.0, 1.0, read=frozenset({"low"}))
    looked = SchemaDraft((read, *COLUMNS[1:]), "y", 800).looked_at()
    changed = column("age", high=2.0)(looked)
    assert changed.column("age").read == {"low", "high"}
    assert column("age", high=1.0)(changed) == looked, "what was read before the look stays read"
