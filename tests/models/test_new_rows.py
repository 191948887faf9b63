"""New rows: one answer per input row, in order, in words; what cannot be answered shifts nothing."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from dpviz.errors import DpvizError, FewRowsWarning, ParameterError, ReadingWarning, SchemaError
from dpviz.io.tables.read import read_table
from dpviz.models.new_rows import SHARES, answers, probabilities
from dpviz.models.tree import Branch, Leaf, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

pytestmark = pytest.mark.filterwarnings("ignore::dpviz.errors.FewRowsWarning")
FEATURES = (
    NumericFeature("age", 18, 90, whole=True),
    CategoricalFeature("ward", ("north", "south"), unknown_as="south"),
    NumericFeature("dose", 0, 10, missing_as=1),
)
SCHEMA = Schema(FEATURES, ClassTarget("outcome", ("well", "ill")))
ILL, WELL = Leaf(1, shares=(0.1, 0.9)), Leaf(0, shares=(0.8, 0.2))
TREE = Tree(SCHEMA, Branch(ThresholdRule(0, 54.5), WELL, Branch(SubsetRule(1, (1,)), ILL, WELL)))
ROWS = {
    "ward": ["south", "south", "elsewhere", "north", None, "south"],
    "dose": [1.5, 2.0, None, 3.0, 1.0, 2.5],
    "note": ["a", "b", "c", "d", "e", "f"],
    "age": [70, 20, 80, 80, 60, None],
}
EXPECTED = ["ill", "well", "ill", "well", None, None]


def as_csv(rows):
    return pd.DataFrame(rows).to_csv(index=False).encode()


def test_every_form_of_the_same_rows_gets_the_same_answers(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(as_csv(ROWS))
    with path.open("rb") as file:
        for rows in (pd.DataFrame(ROWS), as_csv(ROWS), path, str(path), read_table(path), file):
            assert answers(TREE, rows).tolist() == EXPECTED
    found = probabilities(TREE, pd.DataFrame(ROWS))
    np.testing.assert_array_equal(found[:4], [[0.1, 0.9], [0.8, 0.2], [0.1, 0.9], [0.8, 0.2]])
    assert np.isnan(found[4:]).all()
    numbers = Schema(FEATURES, NumericTarget("days", 0, 100))
    tree = Tree(numbers, Branch(ThresholdRule(0, 54.5), NumberLeaf(3.5), NumberLeaf(12.0)))
    np.testing.assert_array_equal(answers(tree, pd.DataFrame(ROWS)), [12, 3.5, 12, 12, np.nan, np.nan])


def test_what_has_no_rows_has_no_answers_and_what_is_no_table_is_refused():
    assert answers(TREE, b"age,ward,dose\n\n70,south,1\n   \n20,south,1\n\n").tolist() == ["ill", "well"]  # blank lines
    for empty in (b"age,ward,dose\n", pd.DataFrame(ROWS).iloc[:0]):
        assert answers(TREE, empty).tolist() == []
        assert probabilities(TREE, empty).shape == (0, 2)
    for rows in [3, [1, 2], {"age": [1]}, np.zeros((2, 3)), None]:
        with pytest.raises(ParameterError, match="a DataFrame of pandas or Polars"):
            answers(TREE, rows)
    with pytest.raises(DpvizError, match="DataFrame"):
        answers(TREE, pd.Series([1, 2]))
    with pytest.raises(SchemaError, match="has no column 'ward'"):
        answers(TREE, pd.DataFrame({"age": [1], "dose": [2]}))


#: Lines that are no record: quotes that open or close in a cell, too few cells, too many, none.
BROKEN = ['70,"south', "70,south", "70,south,1,1", '"70,south,1', ",,", "70,sou\rth,1,1"]
BROKEN += ['7"0,south,1', '"7"x,south,1', '"', '"""70,1', '70,"south,1', ',"",']


def test_a_line_that_is_no_record_is_answered_in_place():
    for place in [0, 1, 3]:
        for line in BROKEN:
            good = ["70,south,1", "20,south,1", "70,north,2"]
            text = "\n".join(["age,ward,dose", *good[:place], line, *good[place:]]).encode()
            expected = ["ill", "well", "well"]
            assert answers(TREE, text).tolist() == [*expected[:place], None, *expected[place:]]


def test_cells_of_a_frame_are_read_as_in_a_file_and_categories_of_numbers_by_their_value():
    for cells, expected in [
        (["54,4", "54,6", "1e2", " 90 ", "１０", "1_0", "inf", "NA"], ["well", "ill", "ill", "ill", "well", None, None, None]),
        ([54.4, 54.6, 100.0, np.inf, np.nan, -5.0, 1e300, 60], ["well", "ill", "ill", None, None, "well", "ill", "ill"]),
        (pd.array([20, None] * 4, dtype="Int64"), ["well", None] * 4),
        (pd.Categorical(["60", "20"] * 4), ["ill", "well"] * 4),
    ]:
        frame = pd.DataFrame({"age": cells, "ward": ["south"] * 8, "dose": [1] * 8})
        assert answers(TREE, frame).tolist() == expected
    schema = Schema((CategoricalFeature("code", ("1", "2.5", "x")),), ClassTarget("y", ("a", "b")))
    tree = Tree(schema, Branch(SubsetRule(0, (0, 1)), Leaf(0), Leaf(1)))
    assert answers(tree, pd.DataFrame({"code": [1, 2.5, 7, None]})).tolist() == ["a", "a", None, None]
    assert answers(tree, pd.DataFrame({"code": ["1.0", "2.50", "x", " "]})).tolist() == ["a", "a", "b", None]


CANARY = "Maria"


def rows_without(ages: int, doses: int, n_rows: int = 200) -> pd.DataFrame:
    """So many rows have no age, and so many others a dose that is none."""
    dose = [1.0] * (n_rows - doses) + [f"{CANARY} drops"] * doses
    return pd.DataFrame({"age": [np.nan] * ages + [70.0] * (n_rows - ages), "ward": "south", "dose": dose})


@pytest.mark.parametrize("asked", [answers, probabilities])
@pytest.mark.parametrize(
    ("ages", "doses", "said"),
    [
        (200, 0, r"^No row has an answer, most for cells of 'age' \(at least 100%\)\. Declare"),
        (
            37,
            116,
            r"^At least 75% of the rows .* most for cells of 'dose' \(at least 50%\), cells of 'age' \(at least 10%\)\. Declare",
        ),
        (15, 15, r"^At least 10% of the rows have no answer\. Declare"),
        (20, 0, r"^At least 10% of the rows have no answer, most for cells of 'age' \(at least 10%\)\. Declare"),
    ],
)
def test_many_rows_without_an_answer_warn_in_shares_alone(asked, ages, doses, said):
    with pytest.warns(FewRowsWarning, match=said) as caught:
        asked(TREE, rows_without(ages, doses))
    (warning,) = (one for one in caught if one.category is FewRowsWarning)  # beside what cells could not be read
    assert set(re.findall(r"\d+", str(warning.message))) <= set(map(str, SHARES))
    assert CANARY not in str(warning.message)
    assert warning.filename == __file__
    with pytest.warns(FewRowsWarning, match=r"No row has an answer, most for broken lines \(at least 100%\)"):
        asked(TREE, b"age,ward,dose\n1,2\n3\n")


@pytest.mark.parametrize("rows", [rows_without(0, 0), rows_without(19, 0), rows_without(10, 9), b"age,ward,dose\n"])
def test_few_rows_without_an_answer_are_not_worth_a_word(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ReadingWarning)
        answers(TREE, rows)
