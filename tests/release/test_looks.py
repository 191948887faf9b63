"""What follows from a look at how private rows fit: a schema that was corrected afterwards names a public source."""

from dataclasses import replace

import pandas as pd
import pytest

import dpviz
from dpviz.errors import RefusedRelease
from dpviz.release.looks import note_look, require_source
from dpviz.release.records import LOOK, WARNED, n_looks
from dpviz.release.register import ReleaseRegister
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
    return ReleaseRegister(tmp_path / "releases.db")


def refused(register, schema, rows=ROWS):
    try:
        require_source(register, dpviz.encode(rows, schema), "Name it.")
    except RefusedRelease as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize("what", [LOOK, WARNED])
@pytest.mark.parametrize("corrected", CORRECTED)
def test_only_what_was_corrected_after_a_look_needs_a_source(register, what, corrected):
    assert not refused(register, corrected)
    note_look(register, what, dpviz.encode(ROWS, SCHEMA))
    anew = ReleaseRegister(register.path)
    assert "names no public source" in refused(anew, corrected)
    assert "names no public source" in refused(anew, corrected, ROWS[::-1])  # in another order
    with_source = schema_from_json(corrected.to_json().replace('"n_public"', '"source": "codebook", "n_public"', 1))
    assert with_source.source == "codebook"
    assert not refused(anew, with_source)
    assert not refused(anew, SCHEMA)
    assert not refused(anew, corrected, OTHERS)


def test_a_second_look_does_not_make_the_first_schema_forgotten(register):
    for what, schema in ((LOOK, SCHEMA), (WARNED, CORRECTED[0]), (LOOK, CORRECTED[0])):
        note_look(register, what, dpviz.encode(ROWS, schema))
    assert refused(register, CORRECTED[0])
    assert not refused(register, SCHEMA)


def test_of_a_look_nothing_more_is_listed_than_that_it_was_taken(register):
    note_look(register, LOOK, dpviz.encode(ROWS, SCHEMA))
    note_look(register, LOOK, dpviz.encode(ROWS, SCHEMA))
    assert [(item.what, item.settings, item.times) for item in register.explorations()] == [(LOOK, {}, 2)]


@pytest.mark.parametrize("source", ["a\nb", "a" * (LONGEST_SOURCE + 1), "\u202e", 3, None, b"x"])
def test_a_source_is_one_printable_line(source):
    with pytest.raises(dpviz.errors.SchemaError, match="printable line"):
        replace(SCHEMA, source=source)


def test_a_warning_to_the_owner_is_counted_as_a_look_by_no_page(register):
    data = dpviz.encode(ROWS, SCHEMA)
    for what in (LOOK, WARNED, LOOK):
        note_look(register, what, data)
    assert n_looks(register.explorations()) == n_looks(register.explorations(data.identity)) == 2
