import threading
from dataclasses import replace

import numpy as np
import pytest

from dpviz.errors import ParameterError, UnknownName
from dpviz.evaluation.resampling import Resamples, agreement, feature_use, node_at, resample
from dpviz.learners import FitRequest
from dpviz.models.constant import Constant
from dpviz.models.tree import Branch, Leaf, NumberLeaf, ThresholdRule, Tree
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, NumericTarget, Schema

SCHEMA = Schema((NumericFeature("a", 0, 16), NumericFeature("b", 0, 16)), ClassTarget("y", ("no", "yes")), n_public=400)


def rows(n: int = 400) -> EncodedDataset:
    a = np.arange(n) % 16 + 0.5
    return EncodedDataset(SCHEMA, (a, np.roll(a, 5)), (a > 8).astype(np.uint8))


def tree(feature: int, threshold: float, labels: tuple[int, int] = (0, 1)) -> Tree:
    return Tree(SCHEMA, Branch(ThresholdRule(feature, threshold), Leaf(labels[0]), Leaf(labels[1])))


THREE = Resamples((tree(0, 8.0), tree(0, 4.0), tree(1, 8.0, (1, 1))), 3)


def test_a_question_comes_back_with_its_feature_and_says_where_its_thresholds_lie():
    for threshold in (8.0, 1.0):
        asked = tree(0, threshold)
        assert THREE.coming_back(asked)[""] == 2
        assert THREE.between(asked) == {"": (4.0, 8.0)}
    assert THREE.coming_back(tree(1, 8.0))[""] == 1
    assert THREE.between(tree(1, 3.0)) == {"": (8.0, 8.0)}
    many = Resamples(tuple(tree(0, float(value)) for value in range(1, 12)), 11)
    assert many.between(tree(0, 5.0)) == {"": (2.0, 10.0)}
    assert THREE.first_feature() == (0, 2, (4.0, 8.0))
    assert Resamples((Constant(SCHEMA, 1),), 1).first_feature() is None


def test_a_leaf_comes_back_with_its_label_below_the_same_feature():
    assert THREE.coming_back(tree(0, 8.0)) == {"": 2, "L": 2, "R": 2}
    assert THREE.coming_back(tree(0, 8.0, (1, 0))) == {"": 2, "L": 0, "R": 0}
    assert THREE.coming_back(tree(1, 8.0)) == {"": 1, "L": 0, "R": 1}
    assert THREE.coming_back(Tree(SCHEMA, Leaf(1))) == {"": 1}
    assert THREE.merged().coming_back(Tree(SCHEMA, Leaf(1))) == {"": 1}
    schema = replace(SCHEMA, target=NumericTarget("y", 0, 9))
    one, other = (Tree(schema, Branch(ThresholdRule(0, 8.0), NumberLeaf(value), NumberLeaf(9.0))) for value in (1.0, 2.0))
    assert Resamples((other,), 1).coming_back(one) == {"": 1, "L": 1, "R": 1}
    constant = Resamples((Constant(SCHEMA, 1),) * 3, 3)
    assert constant.coming_back(Tree(SCHEMA, Leaf(1))) == {"": 3}
    assert constant.root_rules() == ()
    assert node_at(constant.models[0], "L") is None


def test_nothing_below_a_question_comes_back_more_often_than_it():
    drawn = resample(FitRequest.of("pf-tree", epsilon=0.5, depth=3, max_depth=3), rows(), draws=12, seed=2)
    for model in drawn.models:
        counts = drawn.coming_back(model)
        assert counts.keys() == {placed.path for placed in model.nodes()}
        assert all(counts[path] <= counts[path[:-1]] for path in counts if path)
        assert counts[""] >= 1


def test_root_rules_come_most_frequent_first():
    ranked = Resamples((*THREE.models, tree(0, 4.0)), 4).root_rules()
    assert ranked[0] == (ThresholdRule(0, 4.0), 2)
    assert sum(count for _, count in ranked) == 4


def test_a_strong_signal_comes_back_in_every_draw_and_a_tiny_epsilon_gives_other_rules():
    found = resample(FitRequest.of("pf-tree", epsilon=100.0, depth=1), rows(), draws=8, seed=1)
    assert found.n_done == found.n_asked == 8
    assert found.coming_back(found.models[0])[""] == 8
    assert found.root_rules()[0][0] == ThresholdRule(0, 8.0)
    found = resample(FitRequest.of("pf-tree", epsilon=1e-4, depth=1), rows(), draws=8, seed=1)
    assert len(found.root_rules()) > 1


def test_the_same_seed_gives_the_same_draws_and_more_draws_only_add():
    few = resample(FitRequest.of("pf-tree", epsilon=0.01, depth=2), rows(), draws=3, seed=7)
    more = resample(FitRequest.of("pf-tree", epsilon=0.01, depth=2), rows(), draws=5, seed=7)
    assert [m.root for m in more.models[:3]] == [m.root for m in few.models]
    other = resample(FitRequest.of("pf-tree", epsilon=0.01, depth=2), rows(), draws=3, seed=8)
    assert [m.root for m in other.models] != [m.root for m in few.models]


def test_workers_share_the_draws_and_change_none_of_them(workers_run_in):
    asked, how = FitRequest.of("pf-tree", epsilon=0.5, depth=2), {"draws": 5, "seed": 7}
    told: list[float] = []
    spread = resample(asked, rows(), workers=2, progress=told.append, **how)
    assert [m.root for m in spread.models] == [m.root for m in resample(asked, rows(), **how).models]
    assert told == [0.6, 1.0]


def test_progress_ends_at_one_and_a_stop_keeps_what_is_done():
    told: list[float] = []
    resample(FitRequest.of("pf-tree", epsilon=1.0, depth=1), rows(), draws=4, seed=0, progress=told.append)
    assert told == [0.25, 0.5, 0.75, 1.0]
    stop = threading.Event()

    def after_two(share: float) -> None:
        if share >= 0.5:
            stop.set()

    found = resample(FitRequest.of("pf-tree", epsilon=1.0, depth=1), rows(), draws=4, seed=0, progress=after_two, stop=stop)
    assert (found.n_done, found.n_asked) == (2, 4)
    assert resample(FitRequest.of("pf-tree", epsilon=1.0, depth=1), rows(), draws=4, seed=0, stop=lambda: True).n_done == 0
    with pytest.raises(ParameterError, match="'draws'"):
        resample(FitRequest.of("pf-tree", epsilon=1.0), rows(), draws=0, seed=0)
    with pytest.raises(UnknownName, match="no learner"):
        resample(FitRequest.of("pf-treee", epsilon=1.0), rows(), seed=0)


OF_TWO_LEVELS = Resamples(
    (
        tree(0, 3.5),
        tree(0, 1.5),
        Tree(SCHEMA, Branch(ThresholdRule(1, 3.5), Leaf(0), Branch(ThresholdRule(0, 1.0), Leaf(0), Leaf(1)))),
    ),
    3,
)


def test_features_are_counted_once_per_draw_and_depth_and_agreement_row_by_row():
    first, second = feature_use(OF_TWO_LEVELS)
    assert (first.feature, first.anywhere, first.at_level) == (0, 3, (2, 1))
    assert (second.feature, second.anywhere, second.at_level) == (1, 1, (1, 0))
    assert feature_use(Resamples((Constant(SCHEMA, 0),), 1)) == ()
    shown = tree(0, 3.5)
    labels = shown.predict(rows(8))
    said = np.array([model.predict(rows(8)) for model in OF_TWO_LEVELS.models])
    assert np.array_equal(agreement(labels, OF_TWO_LEVELS, rows(8)), (said == labels).mean(axis=0))
    assert np.isnan(agreement(labels, Resamples((), 3), rows(8))).all()
