"""The exported Python function reads a cell as dpviz reads it from a file: every form of a number, every missing mark."""

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpviz.io.exports.python_function import PYTHON
from dpviz.models.new_rows import answers
from dpviz.models.tree import Branch, Leaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.cells import MISSING_MARKS
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.exports_models import document

pytestmark = pytest.mark.filterwarnings("ignore::dpviz.errors.UnansweredWarning")

SCHEMA = Schema(
    (
        *(NumericFeature("x", -1e6, 1e6, missing_as=0.0),),
        *(CategoricalFeature("code", ("1", "2.50", "red", " blank ", "-0"), missing_as="red", unknown_as="2.50"),),
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


def asked(exported, row):
    """What the function says; what predict says of a frame with this row."""
    frame = pd.DataFrame({name: pd.Series([cell], dtype=object) for name, cell in row.items()})
    return exported["predict"](row), answers(TREE, frame).tolist()[0]


def test_every_form_of_a_cell_is_read_as_from_a_file(exported):
    @given(CELLS)
    @example("80,2")
    @example("1,000.5")
    @example("1,311")
    @example("−3")
    @example("1,0")
    @example("2.5")
    def check(cell):
        for row in ({"x": cell, "code": "1"}, {"x": 100, "code": cell}):
            found, wanted = asked(exported, row)
            assert found == wanted

    check()


TYPED = [
    *(1, 1.0, -7, 80.4, 80.6, True, False, None, float("nan"), float("inf"), float("-inf"), 2**53 + 1, 10**30, 1e-7, -0.0),
    *(np.float64(2.5), np.float32(0.1), np.float32(80.5), np.int8(1), np.uint64(2**63), np.bool_(True)),
    *(np.bool_(False), np.str_("red")),
    *(np.float64("nan"), np.datetime64("NaT"), np.datetime64("2024-03-01"), np.datetime64("2024-03-01T14:30:00")),
    *(np.timedelta64(90, "s"),),
    *(Decimal("1.0"), Decimal("2.50"), Decimal("1E+1"), Decimal("NaN"), Decimal("-0"), Decimal("Infinity"), pd.NA, pd.NaT),
    *(pd.Timestamp("2024-03-01"), pd.Timestamp("2024-03-01 14:30", tz="Europe/Berlin"), pd.Timedelta(81, "s")),
    *(dt.timedelta(seconds=1),),
    *(dt.date(2024, 3, 1), dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 1, 14, 30), dt.time(14, 30), b"red", b"1.0"),
    *("TRUE", "true"),
]
KINDS = {
    "words": CategoricalFeature(
        "c", ("true", "false", "red", "1", "2.5", "2024-03-01", "90"), missing_as="red", unknown_as="false"
    ),
    "no stand-in": CategoricalFeature("c", ("True", "0", "10", "2024-03-01 14:30:00", "0.10000000149011612")),
    "numbers": NumericFeature("c", -10, 100, missing_as=50),
    "codes": NumericFeature("c", -10, 100, missing_codes=("1", "2.50")),
    "dates": DateFeature("c", 0, 20000, part="days", missing_as=3),
}


@pytest.mark.parametrize("declared", KINDS.values(), ids=KINDS)
def test_typed_cells_are_read_as_from_a_frame(declared):
    schema = Schema((declared,), ClassTarget("y", tuple(f"y{k}" for k in range(8))))
    node = Leaf(7)
    for k in reversed(range(7)):
        if isinstance(declared, CategoricalFeature):
            node = Branch(SubsetRule(0, (k % len(declared.categories),)), Leaf(k), node)
        else:
            node = Branch(ThresholdRule(0, declared.low + (declared.high - declared.low) * (k + 0.5) / 8), Leaf(k), node)
    tree, inside = Tree(schema, node), {}
    exec(str(PYTHON.write(document(tree))), inside)
    for cell in TYPED:
        [wanted] = answers(tree, pd.DataFrame({"c": pd.Series([cell], dtype=object)})).tolist()
        assert inside["predict"]({"c": cell}) == wanted, repr(cell)


def test_no_answer_has_no_probabilities():
    tree = Tree(SCHEMA, Branch(ThresholdRule(0, 0.5), Leaf(0, shares=(1.0, *[0.0] * 7)), Leaf(1, shares=(0.0, 1.0, *[0.0] * 6))))
    inside: dict = {}
    exec(str(PYTHON.write(document(tree))), inside)
    assert inside["predict"]({"x": "many", "code": "1"}) is None
    assert all(map(math.isnan, inside["predict_proba"]({"x": "many", "code": "1"}).values()))


ALIKE = (
    *("1", "042", "42", "5E1", "2.5", "1.50", "NA", "true", "FALSE", "Zu\u0308rich", "New York", "2024-03-01 00:00:00"),
    *("-0", "nan"),
)
CELLS_OF_TYPES = [
    *(1, 1.0, np.int8(1), np.float32(2.5), True, np.False_, Decimal("1.50"), Decimal("2.500"), dt.date(2024, 3, 1), -0.0),
    *(1e-7, 50),
]
CELLS_OF_TYPES += [
    *(dt.datetime(2024, 3, 1, tzinfo=dt.UTC), dt.datetime(2024, 3, 1, 12), float("nan"), None, float("inf"), 42, 10**30),
    *(b"NA",),
]
WRITTEN = [
    *ALIKE,
    "1.0",
    "01",
    "42.0",
    "0042",
    "50",
    "5e1",
    "1.5",
    "2.50",
    "+1",
    "na",
    "NaN",
    "",
    "?",
    "TRUE",
    "False",
    "Zürich",
    "New\u00a0York",
]
WRITTEN += [" 1 ", "1,0", "0", "-0.0", "0.0", "2024-03-01", "None", "1.", ".5", "1.0.0", "--1", "-", "1e400"]


@pytest.mark.parametrize(("missing_as", "codes"), [(None, ("7", "k.A.", "yes")), ("other", ()), ("other", ("0", "N/A"))])
def test_a_typed_cell_is_the_category_that_it_is_for_the_model(missing_as, codes):
    declared = tuple(text for text in ALIKE if not (text == "-0" and "0" in codes))
    feature = CategoricalFeature("c", (*declared, "other"), missing_as=missing_as, missing_codes=codes)
    schema = Schema((feature,), ClassTarget("y", tuple(f"c{place}" for place in range(len(feature.categories)))))
    root = Leaf(len(feature.categories) - 1)
    for place in reversed(range(len(feature.categories) - 1)):
        root = Branch(SubsetRule(0, (place,)), Leaf(place), root)
    tree, inside = Tree(schema, root), {}
    exec(str(PYTHON.write(document(tree))), inside)
    for cell in (*CELLS_OF_TYPES, *WRITTEN, "7", "7.0", 7, "k.A.", "N/A", "0"):
        [wanted] = answers(tree, pd.DataFrame({"c": pd.Series([cell], dtype=object)}))
        if isinstance(cell, bytes):
            continue
        assert inside["predict"]({"c": cell}) == wanted, cell
