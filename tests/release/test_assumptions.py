"""Everything a release takes as public is listed, with where it comes from and how to fix it."""

import pytest

from dpviz.release.release import Assumption, Status, assumptions
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

AGE = NumericFeature("age", 17, 90)
COLOUR = CategoricalFeature("colour", ("red", "green", "blue"))
TARGET = ClassTarget("y", ("n", "p"))


def found(schema: Schema, kind: str, column: str = "", **look) -> Assumption:
    (item,) = [item for item in assumptions(schema, **look) if (item.kind, item.column) == (kind, column)]
    return item


def test_every_public_value_is_listed_once():
    listed = {(item.kind, item.column, item.what) for item in assumptions(Schema((AGE, COLOUR), TARGET, 1000), explored=0)}
    assert listed == {
        ("range", "age", "17 to 90"),
        ("categories", "colour", "3 categories"),
        ("classes", "y", "2 classes"),
        ("row count", "", "about 1,000 rows"),
        ("tuning", "", "settings were chosen without looking at these rows"),
    }


def test_a_declared_schema_blocks_nothing():
    assert not any(item.blocks for item in assumptions(Schema((AGE, COLOUR), TARGET, 1000)))


@pytest.mark.parametrize(
    ("schema", "kind", "column"),
    [
        (Schema((NumericFeature("age", 17, 90, read_from_data=("low",)),), TARGET), "range", "age"),
        (Schema((CategoricalFeature("colour", ("a", "b"), read_from_data=("categories",)),), TARGET), "categories", "colour"),
        (Schema((AGE,), ClassTarget("y", ("n", "p"), ("classes",))), "classes", "y"),
        (Schema((AGE,), NumericTarget("y", 0, 1, ("high",))), "range", "y"),
        (Schema((NumericFeature("age", 17, 90, read_from_data=("kind",)),), TARGET), "kind", "age"),
        (Schema((AGE,), TARGET, 1000, ("n_public",)), "row count", ""),
    ],
)
def test_what_was_read_from_the_rows_blocks_and_comes_first(schema, kind, column):
    item = found(schema, kind, column)
    assert item.blocks
    assert item.status is Status.READ
    assert item.fix == "Declare it from public knowledge on the Data page."
    assert assumptions(schema)[0] == item


@pytest.mark.parametrize(
    ("count", "status"),
    [
        *((45_000, "declared"), (45_200, "declared"), (45_222, "looks exact"), (1_230, "declared"), (1_234, "looks exact")),
        *((180, "declared"), (178, "looks exact"), (50, "declared"), (47, "looks exact"), (7, "looks exact")),
    ],
)
def test_a_row_count_that_is_not_rounded_looks_counted(count, status):
    item = found(Schema((AGE,), TARGET, count), "row count")
    assert str(item.status) == status
    assert not item.blocks


def test_no_row_count_is_an_assumption_less():
    assert found(Schema((AGE,), TARGET), "row count").status is Status.UNSAID


def test_looking_at_the_same_rows_is_said_with_the_way_round_it():
    item = found(Schema((AGE,), TARGET), "tuning", explored=12)
    assert "after 12 looks" in item.what
    assert item.status is Status.EXPLORED
    assert "simulated or public rows" in item.fix
    assert not [item for item in assumptions(Schema((AGE,), TARGET)) if item.kind == "tuning"]
