"""Effects follow from the model and the declared ranges alone, and are those worked out by hand."""

import numpy as np
import pytest

import dpviz
from dpviz.models.effects import BACKGROUND, effects
from dpviz.models.tree import Branch, Leaf, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.fits import fitted

FEATURES = (
    NumericFeature("x", 0, 10),
    CategoricalFeature("c", ("red", "green", "blue")),
    NumericFeature("k", 1, 3, whole=True),
    NumericFeature("idle", -5, 5),
)
TWO = Schema(FEATURES, ClassTarget("y", ("no", "yes")))
NUMBER = Schema(FEATURES, NumericTarget("y", 0, 100))


def test_a_feature_that_is_not_asked_for_moves_nothing_and_the_others_what_they_move():
    tree = Tree(
        NUMBER, Branch(ThresholdRule(0, 4.0), NumberLeaf(10.0), Branch(SubsetRule(1, (2,)), NumberLeaf(70.0), NumberLeaf(40.0)))
    )
    x, c, k, idle = effects(tree)
    assert [effect.feature for effect in (x, c, k, idle)] == [0, 1, 2, 3]
    np.testing.assert_array_equal(x.answers[x.values <= 4], 10.0)
    np.testing.assert_allclose(x.answers[x.values > 4], 50.0, atol=1.0)  # a third of the background is blue
    np.testing.assert_allclose(c.answers.ravel(), [28, 28, 46], atol=1.0)  # six in ten lie above 4
    assert (k.size(), idle.size()) == (0, 0)
    assert k.values.tolist() == [1, 2, 3]
    assert c.values.tolist() == [0, 1, 2]


def test_classes_move_by_their_probabilities_or_by_how_often_they_are_predicted():
    leaves = (Leaf(0, shares=(0.8, 0.2)), Leaf(1, shares=(0.3, 0.7)))
    with_shares, labels = (Tree(TWO, Branch(ThresholdRule(0, 5.0), *ends)) for ends in (leaves, (Leaf(0), Leaf(1))))
    assert effects(with_shares)[0].size(1) == pytest.approx(0.5)
    assert effects(labels)[0].size(1) == 1
    np.testing.assert_allclose(effects(with_shares)[0].answers.sum(axis=1), 1)


def test_the_background_is_even_in_every_feature():
    share = Tree(NUMBER, Branch(ThresholdRule(3, 0.0), NumberLeaf(0.0), NumberLeaf(100.0)))
    assert effects(share)[0].answers.mean() == pytest.approx(50, abs=200 / BACKGROUND)


@pytest.mark.parametrize("name", ["s-gbdt", "pf-forest", "logistic", "majority", "dpa"])
def test_every_kind_of_model_has_effects_that_depend_on_nothing_else(name):
    model = fitted(name, n_classes=3).model
    again = dpviz.model_from_json(fitted(name, n_classes=3).to_json())
    for one, other in zip(effects(model), effects(again), strict=True):
        np.testing.assert_allclose(one.answers, other.answers)
        assert one.answers.shape == (len(one.values), 3)
