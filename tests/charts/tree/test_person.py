"""One person: the leaf that is reached, and the answer in a sentence."""

import pytest

from dpviz.charts.tree.person import answer_sentence, leaf_reached, typical_person
from dpviz.models.tree import Branch, Forest, Leaf, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

FEATURES = (NumericFeature("age", 18, 90, whole=True), CategoricalFeature("ward", ("north", "south")))
SCHEMA = Schema(FEATURES, ClassTarget("outcome", ("well", "ill")))


LABELS = (Leaf(0), Leaf(1), Leaf(0))


def tree(schema=SCHEMA, ends=LABELS):
    return Tree(schema, Branch(ThresholdRule(0, 54.5), ends[0], Branch(SubsetRule(1, (1,)), ends[1], ends[2])))


def test_the_leaf_is_the_one_the_row_reaches():
    cells = {(30, "south"): "L", (80.0, "south"): "RL", (1000, "north"): "RR", (None, "north"): None, (30, "west"): None}
    assert {row: leaf_reached(tree(), {"age": row[0], "ward": row[1]}) for row in cells} == cells


def test_the_answer_has_probabilities_where_the_model_holds_them_or_a_number():
    cells = {"age": 80, "ward": "south"}
    assert answer_sentence(tree(), cells) == "Predicted outcome: ill. This model holds no probabilities."
    with_shares = tree(ends=(Leaf(0, shares=(0.9, 0.1)), Leaf(1, shares=(0.25, 0.75)), Leaf(0, shares=(1.0, 0.0))))
    assert answer_sentence(with_shares, cells) == "Predicted outcome: ill. Probabilities: well 25%, ill 75%."
    votes = Forest(SCHEMA, (tree(), tree(), Tree(SCHEMA, Leaf(0))))
    assert answer_sentence(votes, cells).endswith("Shares of the votes: well 33.3%, ill 66.7%.")
    numbers = tree(Schema(FEATURES, NumericTarget("days", 0, 30)), (NumberLeaf(2.5), NumberLeaf(12.0), NumberLeaf(4.0)))
    assert answer_sentence(numbers, {"age": 20, "ward": "north"}) == "Predicted days: 2.5."
    assert answer_sentence(numbers, {"age": None, "ward": "north"}).startswith("No answer: a missing")


@pytest.mark.parametrize(
    ("ends", "home", "age", "ward"),
    [
        ((Leaf(0, (900, 90)), Leaf(1, (3, 9)), Leaf(0, (5, 1))), "L", 36.0, "north"),
        ((Leaf(0, (9, 9)), Leaf(1, (3, 90)), Leaf(0, (5, 1))), "RL", 72.0, "south"),
        ((Leaf(0, (9, 9)), Leaf(1, (3, 9)), Leaf(0, (50, 1))), "RR", 72.0, "north"),
        (LABELS, "L", 36.0, "north"),
    ],
)
def test_a_typical_person_is_at_home_in_the_leaf_with_the_most_released_rows(ends, home, age, ward):
    found = typical_person(tree(ends=ends))
    assert leaf_reached(tree(ends=ends), found) == home
    assert found == {"age": age, "ward": ward if home != "L" else found["ward"]}


def test_a_typical_value_is_no_middle_of_a_wide_range_has_few_digits_and_stays_on_its_side():
    schema = Schema((NumericFeature("income", 0, 500_000),), ClassTarget("y", ("a", "b")))
    income = Tree(schema, Branch(ThresholdRule(0, 30_000.0), Leaf(0, (1, 1)), Leaf(1, (0, 90))))
    assert typical_person(income) == {"income": 45_000.0}
    schema = Schema((NumericFeature("bmi", 10, 70),), ClassTarget("y", ("a", "b")))
    halves = Branch(ThresholdRule(0, 69.53125), Leaf(0, (90, 1)), Leaf(1, (0, 1)))
    assert typical_person(Tree(schema, halves)) == {"bmi": 39.77}
    thin = Tree(schema, Branch(ThresholdRule(0, 10.001), Leaf(0, (90, 1)), Leaf(1, (0, 1))))
    assert leaf_reached(thin, typical_person(thin)) == "L"
