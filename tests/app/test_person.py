"""One person: the leaf that is reached, and the answer in a sentence."""

from dpviz.app.person import answer_sentence, first_person, leaf_reached
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


def test_the_first_person_stands_at_the_uppermost_questions_with_few_digits_and_reaches_a_leaf():
    assert first_person(tree()) == {"age": 54.0, "ward": "south"}
    assert leaf_reached(tree(), first_person(tree())) == "L"
    schema = Schema((NumericFeature("bmi", 10, 70),), ClassTarget("y", ("a", "b")))
    halves = Branch(ThresholdRule(0, 69.53125), Branch(ThresholdRule(0, 20.0), Leaf(0), Leaf(1)), Leaf(0))
    assert first_person(Tree(schema, halves)) == {"bmi": 69.53}
