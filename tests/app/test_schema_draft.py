"""A draft keeps track of what was read from the data, names its gaps, and says the same as the schema it becomes."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.app.schema_draft import SchemaDraft
from dpviz.errors import SchemaError
from dpviz.io.samples import load_sample, samples
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
    edited = column.edited(low=0.0, high=2.0)
    assert (edited.low, edited.read, edited.source) == (0.0, frozenset({"high"}), Provenance.READ)
    assert edited.edited(high=3.0).source is Provenance.DECLARED
    assert column.edited(low=1.0) is column
    away = column.edited(use=Use.CATEGORIES)
    assert away.source is Provenance.DECLARED
    assert away.edited(use=Use.NUMBER).read_now == {"low", "high"}


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
    filled = mine.filled(SchemaDraft.of(schema, table.names))
    x = filled.column("x")
    assert (x.low, x.high, x.read) == (-9.0, 3.0, {"high"})
    assert filled.column("z").use is Use.LEFT_OUT
    assert filled.column("y").read == {"categories"}
    assert (filled.n_public, filled.n_public_read) == (50, False)


@pytest.mark.parametrize("other", [{"part": ""}, {"part": "year"}, {"order": "mdy"}, {"since": "1970-01-01"}])
def test_a_range_is_filled_in_for_the_same_rule_of_dates_only(other: dict[str, str]) -> None:
    rule = {"part": "days", "order": "dmy", "since": "2024-01-01"}
    proposed = ColumnDraft("x", Use.NUMBER, 0.0, 361.0, **rule, read=READ)
    same, another = ColumnDraft("x", Use.NUMBER, **rule), ColumnDraft("x", Use.NUMBER, **{**rule, **other})
    assert (same.filled(proposed).low, same.filled(proposed).high) == (0.0, 361.0)
    assert another.filled(proposed) is another


def test_the_rule_of_a_date_goes_into_the_draft_and_back():
    when = DateFeature("when", 0, 400, part="days", since="2015-01-01", order="dmy", unit="days")
    schema = Schema((when, NumericFeature("x", 0, 1)), ClassTarget("y", ("n", "p")))
    draft = SchemaDraft.of(schema, ("when", "x", "y"))
    assert draft.schema() == schema
    assert draft.with_columns(draft.column("when").edited(part="")).schema().feature("when") == NumericFeature(
        "when", 0, 400, unit="days", whole=True
    )
