"""Effects on screen: the largest first, in the units of the answer."""

from dataclasses import replace

from dpviz.figures.tree.effects import answer_name, asked_by, asked_in_words, effect_chart, effect_rows
from dpviz.models.effects import effects
from dpviz.models.tree import Branch, Leaf, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.golden_charts import assert_golden
from tests.support.tables import schema_of

FEATURES = (NumericFeature("x", 0, 10, unit="m"), CategoricalFeature("c", ("red", "<b>green")))
TWO = Schema(FEATURES, ClassTarget("y", ("no", "yes")))


NUMBER = Schema(FEATURES, NumericTarget("rent", 0, 2000))


def test_effects_are_drawn_in_their_units_largest_first_as_reviewed():
    by_number = Tree(NUMBER, Branch(ThresholdRule(0, 5.0), NumberLeaf(100.0), NumberLeaf(1500.0)))
    shares = Tree(TWO, Branch(SubsetRule(1, (0,)), Leaf(0, shares=(1.0, 0.0)), Leaf(1, shares=(0.0, 1.0))))
    labels = Tree(TWO, Branch(SubsetRule(1, (0,)), Leaf(0), Leaf(1)))
    assert answer_name(NUMBER, 0) == "rent"
    drawn = effect_chart(NUMBER, effects(by_number)[0], 0)
    assert_golden("tree-effect-number", replace(drawn, rows=effect_rows(NUMBER, effects(by_number), 0)))
    drawn = effect_chart(TWO, effects(labels)[1], 1)
    assert_golden("tree-effect-classes", replace(drawn, rows=effect_rows(TWO, effects(shares), 1)))


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
