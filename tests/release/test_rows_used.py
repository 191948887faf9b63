"""Few rows used, or far from as many as declared, is said before epsilon is spent; never with an exact count."""

import re

import pytest

import dpviz
from dpviz.release.rows_used import doubts
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema

SCHEMA = Schema(
    (NumericFeature("x", 0, 9, whole=True, missing_as=0), CategoricalFeature("c", ("a", "b"), unknown_as="b")),
    ClassTarget("y", ("n", "p")),
)


def said(spoiled: int, line: str, n_public: int | None = None, **persons) -> tuple[str, ...]:
    rows = ["who,x,c,y", *(f"{k},3,a,n" for k in range(100 - spoiled)), *[line] * spoiled]
    schema = SCHEMA if n_public is None else SCHEMA.declare(n_public=n_public)
    return doubts(dpviz.encode(dpviz.read_csv("\n".join(rows).encode()), schema, **persons))


@pytest.mark.parametrize("line", ["1,30,a,n", "1,2.5,a,n", "1,,a,n", "1,3,z,n", "1,3,a,ja", "1,k.A.,a,n", "1,3,a"])
def test_dropped_clipped_rounded_and_replaced_rows_are_not_used_unchanged(line):
    assert said(10, line) == ()
    assert "Fewer than 90%" in said(11, line)[0]
    assert "Fewer than 10%" in said(91, line)[0]


def test_a_row_with_two_changed_cells_counts_once():
    assert said(10, "1,30,z,n") == ()


@pytest.mark.parametrize(("declared", "word"), [(70, "more"), (80, ""), (125, ""), (130, "fewer")])
def test_a_declared_count_far_from_the_used_one_is_said(declared, word):
    found = said(0, "", declared)
    assert [f"Far {word} rows" in sentence for sentence in found] == ([True] if word else [])


def test_rows_over_the_limit_of_a_person_are_used_as_they_are():
    assert said(50, "1,3,a,n", person="who", rows_per_person=1) == ()


def test_no_sentence_holds_an_exact_count():
    (sentence,) = said(37, "1,3,a,ja")
    assert re.findall(r"\d+", sentence) == ["75"]
