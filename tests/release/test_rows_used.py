"""Few rows used, or far from as many as declared, is said before epsilon is spent; never with an exact count."""

import re
import warnings

import pytest

import dpviz
from dpviz.errors import PublicValuesWarning, RefusedRelease
from dpviz.learners.request import doubts
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

SCHEMA = Schema(
    (NumericFeature("x", 0, 9, whole=True, missing_as=0), CategoricalFeature("c", ("a", "b"), unknown_as="b")),
    ClassTarget("y", ("n", "p")),
)


def said(spoiled: int, line: str, n_public: int | None = None, **persons) -> tuple[str, ...]:
    rows = ["who,x,c,y", *(f"{k},3,a,n" for k in range(100 - spoiled)), *[line] * spoiled]
    schema = SCHEMA if n_public is None else SCHEMA.declare(n_public=n_public)
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


def rows_of(lines: list[str], schema: Schema = SCHEMA):
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
