"""Rows that arrive late: who takes part when, what is left of whose budget, and what it brings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import GaussianRounds, Parallel
from dpviz.errors import DpvizError, ParameterError, UnknownName
from dpviz.evaluation.metrics import measured_numbers
from dpviz.owners.streams import STRATEGIES, stream_of, train_on_stream
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

FEATURES = (NumericFeature("x", 0, 1), NumericFeature("z", 0, 1), CategoricalFeature("c", ("a", "b", "c")))
NUMBER = Schema(FEATURES, NumericTarget("y", 0, 40), n_public=2000)
CLASSES = Schema(FEATURES, ClassTarget("y", ("no", "yes")), n_public=2000)
FEW = {"epsilon": 3.0, "seed": 4, "rounds": 40, "extra_rounds": 40, "sampling": 1.0}
NO_FILTER = {"epsilon": 3.0, "seed": 4, "rounds": 40, "sampling": 1.0, "filter": False, "max_depth": 6}
every_way = pytest.mark.parametrize("way", STRATEGIES)


def numbers(n_rows=2000, seed=3):
    """Where x is large, the number follows another distribution."""
    rng = np.random.default_rng(seed)
    x, z, c = rng.random(n_rows), rng.random(n_rows), rng.integers(0, 3, n_rows).astype(np.uint8)
    target = 10 + 5 * z + np.where(x > 0.6, 15, 5 * x) + rng.normal(0, 1, n_rows)
    return EncodedDataset(NUMBER, (x, z, c), np.clip(target, 0, 40))


def classes(n_rows=2000, seed=3):
    data = numbers(n_rows, seed)
    return EncodedDataset(CLASSES, data.columns, (data.target > 18).astype(np.uint8))


def stream(data=None, feature="x", share=0.4):
    train = numbers() if data is None else data
    return stream_of(train, numbers(900, 8) if train.schema == NUMBER else classes(900, 8), feature, share)


def test_new_rows_are_those_with_the_largest_values_and_a_common_category_as_a_whole():
    found = stream()
    assert found.is_new.mean() == pytest.approx(0.4, abs=0.001)
    assert found.train.columns[0][found.is_new].min() > found.train.columns[0][~found.is_new].max()
    assert found.test.columns[0][found.is_new_test].min() > found.train.columns[0][~found.is_new].max()
    assert np.unique(stream(feature="c", share=0.1).train.columns[2][stream(feature="c", share=0.1).is_new]).tolist() == [2]


@pytest.mark.slow
@every_way
@pytest.mark.parametrize("make", [numbers, classes])
def test_every_way_costs_what_was_asked_for(way, make):
    course = train_on_stream(stream(make()), way, **FEW)
    assert course.ledger.guarantee.epsilon <= 3.0
    assert (course.left >= 0).all()
    assert (course.left <= 1).all()


@pytest.mark.slow
def test_stopping_is_training_on_the_old_rows_alone_and_from_the_start_on_all():
    given = stream()
    old = given.train.take(np.flatnonzero(~given.is_new), share=0.6)
    alone = dpviz.fit("s-gbdt-published", old, **NO_FILTER).model
    np.testing.assert_array_equal(train_on_stream(given, "stop", **FEW).model.values, alone.values)
    model = dpviz.fit("s-gbdt-published", numbers(), **NO_FILTER).model
    assert train_on_stream(stream(), "from the start", **FEW).model == model


@pytest.mark.slow
@pytest.mark.parametrize("way", ["stop", "new rows alone", "filter"])
def test_what_new_rows_hold_changes_nothing_before_they_come_and_something_after(way):
    given = stream()
    target = np.where(given.is_new, 0.0, given.train.target)
    other = replace(given, train=EncodedDataset(NUMBER, given.train.columns, target))
    one, two = (train_on_stream(s, way, **FEW) for s in (given, other))
    end = one.model.splits.tree[one.model.splits.leaves] < 40
    np.testing.assert_array_equal(one.model.values[end], two.model.values[end])
    assert one.model.initial == two.model.initial
    assert np.array_equal(one.model.values, two.model.values) == (way == "stop")


@pytest.mark.slow
def test_old_rows_are_not_touched_again_when_new_ones_learn_alone():
    given = stream()
    late = train_on_stream(given, "new rows alone", **FEW)
    assert (late.left[~given.is_new] == 0).all()
    assert (late.left[given.is_new] == 0).all()
    assert train_on_stream(given, "new rows alone", **{**FEW, "extra_rounds": 10}).left[given.is_new].tolist() == [0.75] * 800
    pair = [step for step in late.ledger.event.events if isinstance(step, Parallel)]
    assert len(pair) == 1
    assert all(isinstance(step.cost, GaussianRounds) and step.cost.rounds == 40 for step in pair[0].events)


@pytest.mark.slow
def test_with_the_filter_new_rows_come_with_all_of_their_budget():
    given = stream()
    course = train_on_stream(given, "filter", **{**FEW, "extra_rounds": 0})
    assert (course.left[given.is_new] == 1).all()
    assert (course.left[~given.is_new] < 1).all()
    assert len(np.unique(course.left[~given.is_new])) > 100
    later = train_on_stream(given, "filter", **FEW).left
    assert (later[given.is_new] < 1).all()


@pytest.mark.slow
def test_errors_are_those_of_the_model_also_of_three_classes():
    given = stream()
    course = train_on_stream(given, "filter", **FEW)
    assert [len(course.errors[group]) for group in ("old", "new", "all")] == [81] * 3
    predicted = course.model.predict(given.test)
    assert course.after("all") == pytest.approx(measured_numbers(given.test.target, predicted)["rmse"].value)
    new = given.is_new_test
    assert course.after("new") == pytest.approx(measured_numbers(given.test.target[new], predicted[new])["rmse"].value)
    schema = Schema(FEATURES, ClassTarget("y", ("a", "b", "c")), n_public=2000)
    train, test = (EncodedDataset(schema, d.columns, (d.target // 14).astype(np.uint8)) for d in (numbers(), numbers(900, 8)))
    course = train_on_stream(stream_of(train, test, "x", 0.4), "filter", **FEW)
    assert len(course.errors["all"]) == 81
    assert course.after("all") == pytest.approx(np.mean(course.model.predict(test) != test.target))


def test_what_cannot_be_followed_is_refused():
    for way, given, words in [
        ("later", {}, "one of 'stop', 'new rows alone', 'filter', 'from the start'"),
        ("stop", {"filter": True}, "left out: the way says it"),
        ("new rows alone", {"extra_rounds": 41}, "at most 40, the regular rounds"),
    ]:
        with pytest.raises(ParameterError, match=words):
            train_on_stream(stream(), way, **{**FEW, **given})
    for share in [0, 1, -0.1]:
        with pytest.raises(ParameterError, match="share"):
            stream(share=share)
    with pytest.raises(UnknownName, match="no feature called 'w'"):
        stream(feature="w")
    same = EncodedDataset(NUMBER, (np.full(9, 0.5), np.zeros(9), np.zeros(9, dtype=np.uint8)), np.zeros(9))
    with pytest.raises(DpvizError, match="All rows have the same value"):
        stream(same)
