"""The exported Python function reads a cell as dpviz reads it from a file: every form of a number, every missing mark."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpviz.io.exports.python_function import PYTHON
from dpviz.models.new_rows import answers
from dpviz.models.tree import Branch, Leaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.raw import MISSING_MARKS
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.io.exports_models import document

pytestmark = pytest.mark.filterwarnings("ignore::dpviz.errors.UnansweredWarning")

SCHEMA = Schema(
    (
        NumericFeature("x", -1e6, 1e6, missing_as=0.0),
        CategoricalFeature("code", ("1", "2.50", "red", " blank ", "-0"), missing_as="red", unknown_as="2.50"),
    ),
    ClassTarget("y", tuple("abcdefgh")),
)
CODES = Branch(SubsetRule(1, (0,)), Leaf(4), Branch(SubsetRule(1, (1,)), Leaf(5), Branch(SubsetRule(1, (2,)), Leaf(6), Leaf(7))))
NUMBERS = Branch(ThresholdRule(0, 0.5), Leaf(1), Branch(ThresholdRule(0, 80.5), Leaf(2), CODES))
TREE = Tree(SCHEMA, Branch(ThresholdRule(0, -1.0), Leaf(0), NUMBERS))

DIGITS = st.text("0123456789", min_size=1, max_size=4)
SIGNS = st.sampled_from(["", "+", "-"])
BLANKS = st.sampled_from(["", " ", "\t", "\u00a0"])
BETWEEN = st.sampled_from(["", ",", ".", "_", "e", ",,", ".,"])
AFTER = st.sampled_from(["", "e3", "E-2", " ", "%", "f"])
NUMERALS = st.tuples(BLANKS, SIGNS, DIGITS, BETWEEN, DIGITS, AFTER).map("".join)
WORDS = ["inf", "-Infinity", "NAN", "1e999", "0x10", "१२", "1 000", "True", ".5", "5.", ","]
ODD = st.sampled_from([*sorted(MISSING_MARKS), *SCHEMA.features[1].categories, *WORDS])
CELLS = st.one_of(NUMERALS, ODD, ODD.map(lambda text: f" {text} "), st.text(max_size=5))


@pytest.fixture(scope="module")
def exported():
    inside: dict = {}
    exec(str(PYTHON.write(document(TREE))), inside)
    return inside


def test_every_form_of_a_number_is_read_as_from_a_file(exported):
    @given(CELLS)
    @example("80,2")
    @example("1,000.5")
    def check(cell):
        column = pd.DataFrame({"x": [cell], "code": ["1"]})
        [wanted] = answers(TREE, column)
        if wanted is not None:
            assert exported["predict"]({"x": cell, "code": "1"}) == wanted
        else:  # a text that is no number: training drops such a row, an export sends it right
            assert math.isinf(exported["number_in"](cell))

    check()


def test_a_category_is_met_by_its_text_or_its_number(exported):
    @given(CELLS)
    @example("1,0")
    @example("2.5")
    def check(cell):
        [wanted] = answers(TREE, pd.DataFrame({"x": [100], "code": [cell]}))
        if cell not in SCHEMA.features[1].categories:  # a reader strips blanks; a function that is given the category knows it
            assert exported["predict"]({"x": 100, "code": cell}) == wanted

    check()


@pytest.mark.parametrize("cell", [1, 1.0, np.float64(2.5), -7, 80.4, 80.6, float("nan"), None, float("inf")])
def test_numbers_are_read_as_from_a_frame(exported, cell):
    for row in ({"x": cell, "code": "1"}, {"x": 100.0, "code": cell}):
        frame = pd.DataFrame([row])
        [wanted] = answers(TREE, frame)
        assert wanted is None or exported["predict"](row) == wanted
