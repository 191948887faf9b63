"""Exports read dates and declared codes of missing cells as encoding does."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpviz.io.exports import FORMS
from dpviz.models.new_rows import answers
from dpviz.models.tree import Branch, Leaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.dates import ORDERS, PARTS, DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.checked import export, golden, run
from tests.support.exports_models import document, exportable

SCHEMA = Schema(
    (
        DateFeature("year", 1900, 2030, order="dmy", missing_as=1950, missing_codes=("k.A.", "01.01.1900")),
        DateFeature("day", 1, 7, part="weekday"),
        DateFeature("since", -40, 4000, part="days", since="2012-02-29", order="mdy"),
        NumericFeature("x", -5, 5, missing_as=2, missing_codes=("999", "-1.0", "k.A.")),
        CategoricalFeature("c", ("a", "7", "b"), missing_as="b", missing_codes=("9", "-", "a\nb")),
    ),
    ClassTarget("y", tuple("abcdefg")),
)
TREE = Tree(
    SCHEMA,
    Branch(
        ThresholdRule(0, 1975.5),
        Branch(ThresholdRule(1, 5.5), Leaf(0), Branch(ThresholdRule(3, -0.5), Leaf(1), Leaf(2))),
        Branch(
            SubsetRule(4, (0, 1)),
            Leaf(3),
            Branch(ThresholdRule(2, 365.5), Leaf(4), Branch(ThresholdRule(3, 1.5), Leaf(5), Leaf(6))),
        ),
    ),
)


TARGETS = {form.name: form for form in FORMS}


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_agrees_on_golden_rows_of_dates_and_codes(name):
    given = document(TREE)
    done = export(TARGETS[name], given)
    assert {row[4] for row in golden(given).rows} >= {"7", "9", "-", "a\nb", None}
    assert {row[3] for row in golden(given).rows} >= {999.0, -1.0, None}
    assert done.n_rows > 60
    said = done.content if isinstance(done.content, str) else done.content.decode("utf-8", "ignore")
    assert "written dmy, and counts as a number: its year." in said or name == "json"


@pytest.mark.parametrize("name", ["python", "sqlite"])
def test_a_target_that_forgets_a_code_is_noticed(name, monkeypatch):
    forgetful = replace(SCHEMA.features[3], missing_codes=("999",))
    wrong = document(Tree(replace(SCHEMA, features=(*SCHEMA.features[:3], forgetful, SCHEMA.features[4])), TREE.root))
    written = TARGETS[name].write(wrong)
    found, _ = run(name, written, document(TREE), golden(document(TREE)).rows)
    difference = golden(document(TREE)).first_difference(found)
    assert difference is not None


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["pf-forest", "dpboost"])
@pytest.mark.parametrize("name", ["python", "duckdb"])
def test_forests_and_sums_over_dates_agree_too(learner, name):
    schema = replace(SCHEMA, target=ClassTarget("y", ("no", "yes")), n_public=300)
    assert export(TARGETS[name], exportable(learner, schema)).n_rows > 60


PIECES = st.sampled_from(["2020", "1999", "0001", "9999", "12", "02", "2", "29", "31", "30", "0", "13", "00", "٣", "", "x"])
MARKS = st.sampled_from(["-", ".", "/", " "])
AFTER = st.sampled_from(["", " ", "T", "T12:00", " 12:00", "\t", "T\n", "x"])
WRITTEN = st.tuples(PIECES, MARKS, PIECES, MARKS, PIECES, AFTER).map("".join)


def exported(part, order):
    """A tree of eight leaves on a date, and the function that it becomes."""
    low, high = PARTS[part] or (-10_000, 50_000)
    feature = DateFeature("d", low, high, part=part, order=order, missing_as=low, missing_codes=("-", "0.0"))
    schema = Schema((feature,), ClassTarget("y", tuple("abcdefgh")))
    root = Leaf(7)
    for place in reversed(range(7)):
        root = Branch(ThresholdRule(0, low + (high - low) * (place + 0.5) / 7), Leaf(place), root)
    inside: dict = {}
    exec(str(TARGETS["python"].write(document(Tree(schema, root)))), inside)
    return Tree(schema, root), inside["predict"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dpviz.errors.UnansweredWarning")  # a table of one cell that is no date
def test_the_python_function_reads_dates_as_from_a_file():
    every = [exported(part, order) for part in PARTS for order in ORDERS]

    @given(WRITTEN | st.sampled_from([None, "", "NA", "-", "0", "0.0", " - "]) | st.dates().map(str))
    @example("2020-02-29")
    @example("29.02.2020 12:00")
    def check(cell):
        for tree, predict in every:
            [wanted] = answers(tree, pd.DataFrame({"d": [cell]}, dtype=object))
            assert predict({"d": cell}) == wanted, tree.schema

    check()


@given(st.sampled_from(list(PARTS)), st.sampled_from(ORDERS), st.integers(-2_000, 12_000))
def test_a_date_is_found_for_every_number_that_has_one(part, order, number):
    feature = DateFeature("d", *(PARTS[part] or (-1e6, 1e6)), part=part, order=order)
    found = feature.date_for(number)
    bounds = PARTS[part]
    if found is None:
        assert bounds is not None
        assert not bounds[0] <= number <= bounds[1]
    else:
        assert feature.numbers([found]).tolist() == [number]
