"""Everything a release takes as public is listed, with where it comes from and how to fix it."""

from dataclasses import replace

import pytest

from dpviz.errors import RefusedRelease
from dpviz.learners import FitRequest
from dpviz.release.release import Assumption, Status, assumptions, preview_terms
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
    assert not any(item.blocks for item in assumptions(Schema((AGE, COLOUR), TARGET, 1000)))
    looked = found(Schema((AGE,), TARGET), "tuning", explored=12)
    assert ("12 looks" in looked.what, looked.status) == (True, Status.EXPLORED)
    assert "simulated or public rows" in looked.fix
    assert "tuning" not in {item.kind for item in assumptions(Schema((AGE,), TARGET))}


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
    learner = "dp-mean" if isinstance(schema.target, NumericTarget) else "majority"
    with pytest.raises(RefusedRelease, match="may hold nothing that was read from the data"):
        preview_terms(replace(schema, n_public=schema.n_public or 1000), FitRequest.of(learner, epsilon=1.0))


def test_a_row_count_that_is_not_rounded_looks_counted():
    for status, counts in (
        (Status.DECLARED, (45_000, 45_200, 1_230, 180, 50)),
        (Status.DOUBTFUL, (45_222, 1_234, 178, 47, 7)),
        (Status.UNSAID, (None,)),
    ):
        for count in counts:
            item = found(Schema((AGE,), TARGET, count), "row count")
            assert (item.status, item.blocks) == (status, False), count
