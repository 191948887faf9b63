"""Before anything is spent: what is taken as public, a schema corrected after a look, and few rows that can be used."""

import re
import warnings
from dataclasses import replace

import pandas as pd
import pytest

import dpviz
from dpviz.errors import PublicValuesWarning, RefusedRelease
from dpviz.learners import FitRequest
from dpviz.learners.request import doubts
from dpviz.release.records import INSPECTION, INSPECTION_WARNING, n_uses
from dpviz.release.register import Register
from dpviz.release.release import Assumption, Status, assumptions, preview_terms, require_source
from dpviz.table.schema import MAX_SOURCE_LENGTH, CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.table.schema_json import schema_from_json

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
        (Status.DOUBTFUL, (45_222, 45_220, 1_234, 178, 47, 7)),
        (Status.UNSAID, (None,)),
    ):
        for count in counts:
            item = found(Schema((AGE,), TARGET, count), "row count")
            assert (item.status, item.blocks) == (status, False), count


# --- what follows from a look at how private rows fit: a schema that was corrected afterwards names a public source

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


@pytest.mark.parametrize("what", [INSPECTION, INSPECTION_WARNING])
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
    for what, schema in ((INSPECTION, SCHEMA), (INSPECTION_WARNING, CORRECTED[0]), (INSPECTION, CORRECTED[0])):
        register.note_inspection(what, dpviz.encode(ROWS, schema))
    assert refused(register, CORRECTED[0])
    assert not refused(register, SCHEMA)
    assert n_uses(register.uncovered_uses()) == 2
    assert {(item.what, *item.settings) for item in register.uncovered_uses()} == {(INSPECTION,), (INSPECTION_WARNING,)}


@pytest.mark.parametrize("source", ["a\nb", "a" * (MAX_SOURCE_LENGTH + 1), "\u202e", 3, None, b"x"])
def test_a_source_is_one_printable_line(source):
    with pytest.raises(dpviz.errors.SchemaError, match="printable line"):
        replace(SCHEMA, source=source)


# --- few rows used, or far from as many as declared, is said; never with an exact count

OF_FEW = Schema(
    (NumericFeature("x", 0, 9, whole=True, missing_as=0), CategoricalFeature("c", ("a", "b"), unknown_as="b")),
    ClassTarget("y", ("n", "p")),
)


def said(spoiled: int, line: str, n_public: int | None = None, **persons) -> tuple[str, ...]:
    rows = ["who,x,c,y", *(f"{k},3,a,n" for k in range(100 - spoiled)), *[line] * spoiled]
    schema = OF_FEW if n_public is None else OF_FEW.declare(n_public=n_public)
    return doubts(dpviz.encode(dpviz.read_table("\n".join(rows).encode()), schema, **persons))


@pytest.mark.parametrize("line", ["1,30,a,n", "1,2.5,a,n", "1,,a,n", "1,3,z,n", "1,3,a,ja", "1,k.A.,a,n", "1,3,a"])
def test_dropped_clipped_rounded_and_replaced_rows_are_not_used_unchanged(line):
    assert said(10, line) == ()
    assert "Fewer than 90%" in said(11, line)[0]
    assert "Fewer than 10%" in said(91, line)[0]


def test_rows_are_counted_once_and_no_sentence_holds_an_exact_count():
    """A row with two changed cells, rows over the limit of a person, and a count far from the declared one."""
    assert said(10, "1,30,z,n") == ()
    assert said(50, "1,3,a,n", person="who", rows_per_person=1) == ()
    for declared, word in ((70, "more"), (80, ""), (125, ""), (130, "fewer")):
        assert [f"Far {word} rows" in sentence for sentence in said(0, "", declared)] == ([True] if word else [])
    (sentence,) = said(37, "1,3,a,ja")
    assert re.findall(r"\d+", sentence) == ["75"]


def rows_of(lines: list[str], schema: Schema = OF_FEW):
    return dpviz.encode(dpviz.read_table("\n".join(["x,c,y", *lines]).encode()), schema.declare(n_public=100))


GOOD, SPOILED = ["3,a,n", "4,b,p"] * 50, ["3,a,nein"] * 100


@pytest.mark.parametrize("lines", [SPOILED, GOOD[:80] + SPOILED[:20], ["30,a,n"] * 100, GOOD * 3, []])
def test_python_refuses_a_release_from_few_rows_until_they_are_accepted(lines):
    data = rows_of(lines)
    with pytest.raises(RefusedRelease, match="pass accept_rows=True") as refused:
        dpviz.fit("pf-tree", data, epsilon=1.0, max_depth=1)
    assert doubts(data)[0] in str(refused.value)
    assert dpviz.fit("pf-tree", data, epsilon=1.0, max_depth=1, accept_rows=True).released
    assert not dpviz.fit("pf-tree", data, epsilon=1.0, max_depth=1, seed=0).released


def test_a_release_from_good_rows_needs_no_word_nor_does_a_learner_that_spends_nothing():
    assert dpviz.fit("pf-tree", rows_of(GOOD), epsilon=1.0, max_depth=1).released
    for name in ("cart", "random-forest"):
        assert not dpviz.fit(name, rows_of(SPOILED), epsilon=1.0, max_depth=1).released


def test_a_release_with_a_schema_read_from_the_rows_warns():
    lines = dpviz.read_table("\n".join(["x,c,y", *GOOD]).encode())
    data = dpviz.encode(lines, dpviz.propose_schema(lines, target="y"))
    with pytest.warns(PublicValuesWarning, match="Not a release: it discloses what the ledger does not cover"):
        dpviz.fit("pf-tree", data, epsilon=1.0, max_depth=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dpviz.fit("pf-tree", data, epsilon=1.0, max_depth=1, seed=0)
        dpviz.fit("pf-tree", rows_of(GOOD), epsilon=1.0, max_depth=1)
