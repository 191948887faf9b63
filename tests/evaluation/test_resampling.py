"""Fresh draws of a tree and paths of epsilons: what comes back, what steps share, and what a tree is compared with."""

import threading
from dataclasses import replace

import numpy as np
import pytest

import dpviz
from dpviz.errors import DpvizError, ParameterError, UnknownName
from dpviz.evaluation.paths import EPSILONS, fit_step, leading_measure, references
from dpviz.evaluation.resampling import Resamples, resample
from dpviz.io.samples import load_sample
from dpviz.learners import FitRequest
from dpviz.models.tree import Branch, Constant, Leaf, NumberLeaf, ThresholdRule, Tree
from dpviz.table.dataset import EncodedDataset
from dpviz.table.encode import encode
from dpviz.table.role import DataRole
from dpviz.table.schema import ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.tables import schema_of, table

SCHEMA = Schema((NumericFeature("a", 0, 16), NumericFeature("b", 0, 16)), ClassTarget("y", ("no", "yes")), n_public=400)
TRAIN, TEST = table(schema_of("mixed"), 300), table(schema_of("mixed"), 90, seed=6)
slow, full = pytest.mark.slow, pytest.mark.verify


def rows(n: int = 400) -> EncodedDataset:
    a = np.arange(n) % 16 + 0.5
    return EncodedDataset(SCHEMA, (a, np.roll(a, 5)), (a > 8).astype(np.uint8))


def tree(feature: int, threshold: float, labels: tuple[int, int] = (0, 1)) -> Tree:
    return Tree(SCHEMA, Branch(ThresholdRule(feature, threshold), Leaf(labels[0]), Leaf(labels[1])))


def drawn(*models) -> Resamples:
    return Resamples(models, len(models))


def asked(**given) -> FitRequest:
    return FitRequest.of("pf-tree", **{"epsilon": 1.0} | given)


THREE = drawn(tree(0, 8.0), tree(0, 4.0), tree(1, 8.0, (1, 1)))
CONSTANT = Constant(SCHEMA, 1)


def test_what_comes_back_is_counted_by_feature_label_depth_and_row():
    for threshold in (8.0, 1.0):
        assert THREE.split_recurrence(tree(0, threshold))[""] == 2
        assert THREE.threshold_range(tree(0, threshold)) == {"": (4.0, 8.0)}
    assert THREE.threshold_range(tree(1, 3.0)) == {"": (8.0, 8.0)}
    assert drawn(*(tree(0, float(value)) for value in range(1, 12))).threshold_range(tree(0, 5.0)) == {"": (2.0, 10.0)}
    assert THREE.first_feature() == (0, 2, (4.0, 8.0))
    assert drawn(CONSTANT).first_feature() is None
    leaf = Tree(SCHEMA, Leaf(1))
    for shown, found in (
        (tree(0, 8.0), {"": 2, "L": 2, "R": 2}),
        (tree(0, 8.0, (1, 0)), {"": 2, "L": 0, "R": 0}),
        (tree(1, 8.0), {"": 1, "L": 0, "R": 1}),
        (leaf, {"": 1}),
    ):
        assert THREE.split_recurrence(shown) == found
    assert THREE.merged().split_recurrence(leaf) == drawn(CONSTANT).split_recurrence(leaf) == {"": 1}
    schema = replace(SCHEMA, target=NumericTarget("y", 0, 9))
    one, other = (Tree(schema, Branch(ThresholdRule(0, 8.0), NumberLeaf(value), NumberLeaf(9.0))) for value in (1.0, 2.0))
    assert drawn(other).split_recurrence(one) == {"": 1, "L": 1, "R": 1}


def test_a_strong_signal_comes_back_in_every_draw_and_nothing_more_often_than_the_question_above_it():
    found = resample(asked(epsilon=100.0, depth=1), rows(), draws=8, seed=1)
    assert found.n_done == found.n_asked == found.split_recurrence(found.models[0])[""] == 8
    assert found.first_feature() == (0, 8, (8.0, 8.0))
    weak = resample(asked(epsilon=1e-4, depth=1), rows(), draws=8, seed=1).models
    assert len({model.root.rule for model in weak if isinstance(model.root, Branch)}) > 1
    found = resample(asked(epsilon=0.5, depth=3, max_depth=3), rows(), draws=12, seed=2)
    for model in found.models:
        counts = found.split_recurrence(model)
        assert counts.keys() == {placed.path for placed in model.nodes()}
        assert counts[""] >= 1
        assert all(counts[path] <= counts[path[:-1]] for path in counts if path)


@pytest.mark.usefixtures("workers_run_in")
def test_the_same_seed_gives_the_same_draws_more_only_add_and_workers_share_them():
    def roots(draws, seed=7, **how):
        return [model.root for model in resample(asked(epsilon=0.01, depth=2), rows(), draws=draws, seed=seed, **how).models]

    told: list[float] = []
    assert roots(5)[:3] == roots(3) != roots(3, seed=8)
    assert roots(5, workers=2, progress=told.append) == roots(5)
    assert told == [0.6, 1.0]


def test_progress_ends_at_one_a_stop_keeps_what_is_done_and_wrong_questions_are_refused():
    stop, told = threading.Event(), []

    def tell(share: float) -> None:
        told.append(share)
        if share >= 0.5:
            stop.set()

    resample(asked(depth=1), rows(), draws=4, seed=0, progress=tell)
    assert told == [0.25, 0.5, 0.75, 1.0]
    stop.clear()
    found = resample(asked(depth=1), rows(), draws=4, seed=0, progress=tell, stop=stop)
    assert (found.n_done, found.n_asked) == (2, 4)
    with pytest.raises(ParameterError, match="'draws'"):
        resample(asked(), rows(), draws=0, seed=0)
    with pytest.raises(UnknownName, match="no learner"):
        resample(FitRequest.of("pf-treee", epsilon=1.0), rows(), seed=0)


# --- paths of epsilons


@slow
def test_every_step_is_the_librarys_own_fit_on_rows_that_are_not_private():
    for epsilon in EPSILONS[::6]:
        request = asked(epsilon=epsilon, seed=7, max_depth=3, depth=3)
        result, score = fit_step(request, TRAIN, TEST, role=DataRole.SIMULATED)
        alone = dpviz.fit("pf-tree", TRAIN, epsilon=epsilon, seed=7, max_depth=3, depth=3)
        assert (result.to_json(), score) == (alone.to_json(), alone.score(TEST))
    with pytest.raises(DpvizError, match="would give private rows away"):
        fit_step(asked(), TRAIN, TEST, role=DataRole.PRIVATE)
    steps = np.diff(np.log(EPSILONS))
    assert (EPSILONS[0], EPSILONS[-1]) == (0.01, 10.0)
    assert 0.17 < steps.min() <= steps.max() < 0.3


@pytest.mark.parametrize(
    ("sample", "draws", "depth"), [pytest.param("", 60, 3, marks=slow), pytest.param("loans", 30, 4, marks=full)]
)
def test_draws_share_their_noise_from_step_to_step(sample, draws, depth):
    """A difference of two epsilons varies less within a draw than between draws: .22 to .44 points of accuracy on loans."""
    train, test = encode(*load_sample(sample)).split(0.2, seed=0) if sample else (TRAIN, TEST)
    low, high = (
        np.array([leading_measure(model, train, test) for model in resample(request, train, draws=draws, seed=0).models])
        for request in (asked(epsilon=epsilon, max_depth=depth, depth=depth) for epsilon in (0.8, 1.0))
    )
    assert 0.25 < np.std(high - low) / np.hypot(np.std(high), np.std(low)) < (0.65 if sample else 0.75)


def test_a_tree_is_compared_with_an_ordinary_one_and_a_constant_by_classes_where_one_is_rare():
    found = references(TRAIN, TEST, max_depth=3)
    assert found["ordinary tree"] == dpviz.fit("cart", TRAIN, epsilon=1.0, max_depth=3, depth=3, seed=0).score(TEST)
    assert found["constant"] == np.mean(TEST.target == TRAIN.class_counts().argmax())
    train = TRAIN.take(np.flatnonzero((TRAIN.target == 0) | (np.arange(TRAIN.n_rows) % 12 == 0)), share=1.0)
    assert train.class_counts().max() >= 0.9 * train.n_rows
    result, score = fit_step(asked(seed=7, max_depth=3, depth=3), train, TEST, role=DataRole.SIMULATED)
    predicted = result.model.predict(TEST)
    assert score == np.mean([np.mean(predicted[TEST.target == code] == code) for code in (0, 1)])
    assert references(train, TEST, max_depth=3)["constant"] == 0.5
