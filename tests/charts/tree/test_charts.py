"""Charts and words about a model: effects of features, what comes back in reruns."""

from dataclasses import replace

from dpviz.charts.tree.model import effect_chart, effect_rows, survival_sentence
from dpviz.evaluation.resampling import Resamples
from dpviz.models.effects import effects
from dpviz.models.tree import Branch, Constant, Leaf, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.golden_charts import assert_golden

FEATURES = (NumericFeature("x", 0, 10, unit="m"), CategoricalFeature("c", ("red", "<b>green")))
CLASSES, NUMBERS = (Schema(FEATURES, target) for target in (ClassTarget("y", ("no", "yes")), NumericTarget("rent", 0, 2000)))
PAIR = Schema((NumericFeature("<b>a</b>", 0, 16), NumericFeature("b", 0, 16)), ClassTarget("y", ("no", "yes")), n_public=8)


def stump(feature: int, threshold: float) -> Tree:
    return Tree(PAIR, Branch(ThresholdRule(feature, threshold), Leaf(0), Leaf(1)))


def test_effects_are_drawn_in_their_units_largest_first():
    by_number = Tree(NUMBERS, Branch(ThresholdRule(0, 5.0), NumberLeaf(100.0), NumberLeaf(1500.0)))
    shares = Tree(CLASSES, Branch(SubsetRule(1, (0,)), Leaf(0, shares=(1.0, 0.0)), Leaf(1, shares=(0.0, 1.0))))
    labels = Tree(CLASSES, Branch(SubsetRule(1, (0,)), Leaf(0), Leaf(1)))
    drawn = effect_chart(NUMBERS, effects(by_number)[0], 0)
    assert_golden("tree-effect-number", replace(drawn, rows=effect_rows(NUMBERS, effects(by_number), 0)))
    drawn = effect_chart(CLASSES, effects(labels)[1], 1)
    assert_golden("tree-effect-classes", replace(drawn, rows=effect_rows(CLASSES, effects(shares), 1)))


def test_what_comes_back_first_is_told_with_a_place_unless_it_is_anywhere():
    near = [Resamples(tuple(stump(0, mark) for mark in marks), 2) for marks in ((3.5, 3.5), (3.0, 5.0), (1.0, 15.0))]
    said = [*(survival_sentence(PAIR, found) for found in near), survival_sentence(PAIR, Resamples((Constant(PAIR, 1),), 1))]
    assert_golden("tree-reruns", said)
