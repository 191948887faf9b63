"""Effects on screen: the largest first, in the units of the answer."""

from dpviz.figures.tree.effects import answer_name, asked_by, asked_in_words, effect_chart, effect_rows
from dpviz.models.effects import effects
from dpviz.models.tree import Branch, Leaf, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.tables import schema_of

FEATURES = (NumericFeature("x", 0, 10, unit="m"), CategoricalFeature("c", ("red", "<b>green")))
TWO = Schema(FEATURES, ClassTarget("y", ("no", "yes")))


def test_lines_are_sorted_and_say_between_which_values():
    ends = Branch(SubsetRule(1, (0,)), Leaf(0, shares=(1.0, 0.0)), Leaf(1, shares=(0.0, 1.0)))
    tree = Tree(TWO, ends)
    rows = effect_rows(TWO, effects(tree), 1)
    assert rows[0] == {"feature": "c", "moves it by": "100.0 points", "from … to": "0.0% at red, 100.0% at <b>green"}
    assert rows[1]["moves it by"] == "0.0 points"


def test_effects_stay_in_their_units_and_categories_have_a_bar_each():
    schema = Schema(FEATURES, NumericTarget("rent", 0, 2000))
    tree = Tree(schema, Branch(ThresholdRule(0, 5.0), NumberLeaf(100.0), NumberLeaf(1500.0)))
    found = effects(tree)
    assert effect_rows(schema, found, 0)[0]["moves it by"] == "1400"
    assert answer_name(schema, 0) == "rent"
    figure = effect_chart(schema, found[0], 0).figure
    assert figure.layout.xaxis.title.text == "x, m"
    assert max(figure.data[0].y) == 1500
    tree = Tree(TWO, Branch(SubsetRule(1, (0,)), Leaf(0), Leaf(1)))
    (bars,) = effect_chart(TWO, effects(tree)[1], 1).figure.data
    assert list(bars.x) == ["red", "<b>green"]
    assert list(bars.y) == [0, 1]


MIXED = schema_of("mixed")


def asking(*features):
    root = Leaf(0)
    for feature in features:
        root = Branch(ThresholdRule(feature, 1.0), root, Leaf(1))
    return Tree(MIXED, root)


def test_trees_are_found_by_what_they_ask_about_most_frequent_first():
    equal = Tree(MIXED, Branch(ThresholdRule(0, 1.0), Leaf(1), Leaf(1)))
    assert asked_by([asking(0), asking(1, 0), equal, asking(1), asking(1, 1)]) == {1: (2, 4, 5), 0: (1, 2)}


def test_words_count_trees():
    name = MIXED.feature_names[0]
    assert asked_in_words(MIXED, 0, 87, 1200) == f"{name}: asked about in 87 of 1,200 trees"
