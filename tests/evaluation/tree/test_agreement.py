import numpy as np

from dpviz.evaluation.tree.agreement import agreement, feature_use
from dpviz.evaluation.tree.redraws import Redraws
from dpviz.models.constant import Constant
from dpviz.models.tree import Branch, Leaf, ThresholdRule, Tree
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

SCHEMA = Schema((NumericFeature("a", 0, 16), NumericFeature("b", 0, 16)), ClassTarget("y", ("no", "yes")), n_public=8)
ROWS = EncodedDataset(SCHEMA, (np.arange(8.0), np.arange(8.0)[::-1].copy()), np.zeros(8, dtype=np.uint8))


NO, YES = Leaf(0), Leaf(1)


def tree(feature: int, threshold: float, left=NO, right=YES) -> Tree:
    return Tree(SCHEMA, Branch(ThresholdRule(feature, threshold), left, right))


DRAWN = Redraws((tree(0, 3.5), tree(0, 1.5), tree(1, 3.5, right=Branch(ThresholdRule(0, 1.0), Leaf(0), Leaf(1)))), 3)


def test_features_are_counted_once_per_draw_and_depth():
    first, second = feature_use(DRAWN)
    assert (first.feature, first.anywhere, first.at_level) == (0, 3, (2, 1))
    assert (second.feature, second.anywhere, second.at_level) == (1, 1, (1, 0))


def test_draws_without_a_rule_ask_about_nothing():
    assert feature_use(Redraws((Constant(SCHEMA, 0),), 1)) == ()


def test_agreement_is_the_share_of_draws_that_predict_the_same_row_by_row():
    shown = tree(0, 3.5)
    labels = shown.predict(ROWS)
    said = np.array([model.predict(ROWS) for model in DRAWN.models])
    assert np.array_equal(agreement(labels, DRAWN, ROWS), (said == labels).mean(axis=0))
    assert np.isnan(agreement(labels, Redraws((), 3), ROWS)).all()
