"""What follows from a look at how private rows fit: a schema that was corrected afterwards names a public source."""

from dataclasses import replace

import pandas as pd
import pytest

import dpviz
from dpviz.errors import RefusedRelease
from dpviz.release.records import INSPECTION, WARNED, n_uses
from dpviz.release.register import Register
from dpviz.release.release import require_source
from dpviz.table.schema import LONGEST_SOURCE, CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.table.schema_json import schema_from_json

SCHEMA = Schema((NumericFeature("age", 0, 99), CategoricalFeature("ward", ("a", "b"))), ClassTarget("y", ("n", "p")), 100)
CORRECTED = (
    SCHEMA.declare("age", high=110),
    SCHEMA.declare("ward", categories=("a", "c")),
    SCHEMA.declare(n_public=200),
    SCHEMA.declare("y", classes=("n", "p", "q")),
    SCHEMA.without("age"),
)
ROWS = pd.DataFrame({"age": range(90), "ward": ["a", "b", "c"] * 30, "y": ["n", "p"] * 45})
OTHERS = pd.DataFrame({"age": range(80), "ward": ["a", "b"] * 40, "y": ["n", "p"] * 40})


@pytest.fixture
def register(tmp_path):
    return Register(tmp_path / "releases.db")


def refused(register, schema, rows=ROWS):
    try:
        require_source(register, dpviz.encode(rows, schema))
    except RefusedRelease as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize("what", [INSPECTION, WARNED])
@pytest.mark.parametrize("corrected", CORRECTED)
def test_only_what_was_corrected_after_a_look_needs_a_source(register, what, corrected):
    assert not refused(register, corrected)
    register.note_inspection(what, dpviz.encode(ROWS, SCHEMA))
    anew = Register(register.path)
    assert "names no public source" in refused(anew, corrected)
    assert "names no public source" in refused(anew, corrected, ROWS[::-1])  # in another order
    with_source = schema_from_json(corrected.to_json().replace('"n_public"', '"source": "codebook", "n_public"', 1))
    assert with_source.source == "codebook"
    assert not refused(anew, with_source)
    assert not refused(anew, SCHEMA)
    assert not refused(anew, corrected, OTHERS)


def test_a_second_look_makes_the_first_schema_not_forgotten_and_nothing_more_is_listed_than_that_it_was_taken(register):
    """A warning to the owner is counted as a look by no page."""
    for what, schema in ((INSPECTION, SCHEMA), (WARNED, CORRECTED[0]), (INSPECTION, CORRECTED[0])):
        register.note_inspection(what, dpviz.encode(ROWS, schema))
    assert refused(register, CORRECTED[0])
    assert not refused(register, SCHEMA)
    assert n_uses(register.uncovered_uses()) == 2
    assert {(item.what, *item.settings) for item in register.uncovered_uses()} == {(INSPECTION,), (WARNED,)}


@pytest.mark.parametrize("source", ["a\nb", "a" * (LONGEST_SOURCE + 1), "\u202e", 3, None, b"x"])
def test_a_source_is_one_printable_line(source):
    with pytest.raises(dpviz.errors.SchemaError, match="printable line"):
        replace(SCHEMA, source=source)
