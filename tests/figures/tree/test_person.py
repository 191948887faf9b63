"""One person: the leaf that is reached, and the answer in a sentence."""

import pytest

from dpviz.figures.tree.person import answer_sentence, leaf_reached
from dpviz.models.tree import Branch, Forest, Leaf, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

FEATURES = (NumericFeature("age", 18, 90, whole=True), CategoricalFeature("ward", ("north", "south")))
SCHEMA = Schema(FEATURES, ClassTarget("outcome", ("well", "ill")))


LABELS = (Leaf(0), Leaf(1), Leaf(0))


def tree(schema=SCHEMA, ends=LABELS):
    return Tree(schema, Branch(ThresholdRule(0, 54.5), ends[0], Branch(SubsetRule(1, (1,)), ends[1], ends[2])))


@pytest.mark.parametrize(
    ("cells", "path"),
    [
        ({"age": 30, "ward": "south"}, "L"),
        ({"age": 80.0, "ward": "south"}, "RL"),
        ({"age": 1000, "ward": "north"}, "RR"),
        ({"age": None, "ward": "north"}, None),
        ({"age": 30, "ward": "west"}, None),
    ],
)
def test_the_leaf_is_the_one_the_row_reaches(cells, path):
    assert leaf_reached(tree(), cells) == path


def test_the_answer_has_probabilities_where_the_model_holds_them():
    cells = {"age": 80, "ward": "south"}
    assert answer_sentence(tree(), cells) == "outcome is predicted to be ill. This model holds no probabilities."
    with_shares = tree(ends=(Leaf(0, shares=(0.9, 0.1)), Leaf(1, shares=(0.25, 0.75)), Leaf(0, shares=(1.0, 0.0))))
    assert answer_sentence(with_shares, cells) == "outcome is predicted to be ill; probabilities: well 25%, ill 75%."
    votes = Forest(SCHEMA, (tree(), tree(), Tree(SCHEMA, Leaf(0))))
    assert answer_sentence(votes, cells).endswith("shares of the votes: well 33.3%, ill 66.7%.")


def test_a_number_is_said_as_one_and_no_answer_is_said_too():
    numbers = tree(Schema(FEATURES, NumericTarget("days", 0, 30)), (NumberLeaf(2.5), NumberLeaf(12.0), NumberLeaf(4.0)))
    assert answer_sentence(numbers, {"age": 20, "ward": "north"}) == "days is predicted to be 2.5."
    assert answer_sentence(numbers, {"age": None, "ward": "north"}).startswith("No answer: a missing")
