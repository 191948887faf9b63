"""S-GBDT: the budget it plans and spends, its public rules, that it learns, and a small document word for word."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import dpviz
from dpviz.accounting.gaussian import noise_multiplier
from dpviz.evaluation.metrics import measured_probabilities
from dpviz.learners.native.s_gbdt import DELTA, Params, histogram_rounds, plan, recipe, start_share, tree_shape
from dpviz.models.packed_forest import LEAF
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, NumericTarget, Schema
from dpviz.training.boosting.loss import loss_of
from dpviz.training.params import Settings
from tests.support.documents import FOLDER, rows
from tests.support.fits import rounds_of
from tests.support.prices import NUMBER, classes, prices
from tests.support.tables import schema_of

GOLDEN = FOLDER / "s-gbdt.json"


def fit(data: EncodedDataset, epsilon: float = 1.0, seed: int = 3, **asked):
    return dpviz.fit("s-gbdt", data, epsilon=epsilon, seed=seed, **asked)


# --- that it learns


@pytest.mark.slow
def test_it_learns_numbers_with_privacy() -> None:
    train, test = prices(), prices(seed=2)
    scores = [fit(train, epsilon).score(test) for epsilon in (0.3, 1.0, 10.0)]
    assert scores == sorted(scores)
    assert scores[0] > 0.35
    assert scores[2] > 0.85


@pytest.mark.slow
def test_it_learns_classes_with_privacy() -> None:
    for n_classes in [2, 4]:
        train, test = classes(n_classes=n_classes), classes(n_classes=n_classes, seed=2)
        result = fit(train, 2.0, rounds=100)
        assert result.score(test) > (0.8 if n_classes == 2 else 0.55)
        assert measured_probabilities(test.target, result.model.predict_proba(test))["auc"].value > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("make", [prices, classes])
def test_every_shape_of_tree_and_every_ablation_learns_at_the_same_cost(make) -> None:
    usual = fit(make(), 2.0, rounds=120, depth=4)
    newton = [{"newton": False}] if make is classes else []
    for asked in [{"depth": 1}, {"histogram_share": 0.0}, {"clip": 1.0}, {"support_share": 0.3}, *newton]:
        other = fit(make(), 2.0, **{"depth": 4, "rounds": 120} | asked)
        assert other.score(make(seed=2)) > 0.55
        assert other.model != usual.model
        assert other.ledger.guarantee == usual.ledger.guarantee


@pytest.mark.slow
def test_extreme_targets_are_learned() -> None:
    for low, high in [(-8e307, 8e307), (0, 1e-280), (1e16, 1e16 + 4)]:
        schema = Schema((NumericFeature("x", 0, 1),), NumericTarget("y", low, high), n_public=400)
        x = np.linspace(0, 1, 400)
        data = EncodedDataset(schema, (x,), low + x * (high - low))
        predicted = fit(data, 100.0).model.predict(data)
        assert np.isfinite(predicted).all()
        assert np.median(predicted[-50:] / 2) - np.median(predicted[:50] / 2) >= (high / 2 - low / 2) * 0.5


def test_cuts_lie_where_the_rows_are() -> None:
    few = EncodedDataset(NUMBER, (prices().columns[0] * 0.01, *prices().columns[1:]), prices().target)
    splits = fit(few, 20.0).model.splits
    of_x, of_z = (splits.threshold[splits.feature == place] for place in (0, 1))
    assert np.quantile(of_x, 0.9) < 0.02
    assert 0.6 < np.quantile(of_z, 0.9) < 1


# --- what it pays


def test_two_epsilons_and_one_delta_make_the_guarantee() -> None:
    result = fit(prices(50), 0.5, rounds=20)
    assert (result.ledger.guarantee.epsilon, result.ledger.guarantee.delta, result.claim.delta) == (0.5, DELTA, DELTA)
    assert [share.part for share in result.plan.shares] == ["initial score", "tree"]
    assert result.plan.of("initial score") == pytest.approx(start_share(NUMBER, 0.5, Params()) * 0.5)
    event, params = rounds_of(result), Params(rounds=20)
    counted = histogram_rounds(NUMBER, params)
    assert event.epsilon == result.plan.of("tree")
    assert event.noise_multiplier == noise_multiplier(event.epsilon, DELTA, sampling=1.0, rounds=20 + counted)
    done = recipe(event, loss_of(NUMBER, newton=True), params, None)  # what is done is what is paid for
    assert (done.noise_multiplier, done.sampling, done.filter, event.order) == (event.noise_multiplier, 1.0, None, None)
    assert result.model.splits.n_trees == done.rounds == 20
    other = fit(prices(50), 0.5, rounds=20, delta=1e-6)
    assert other.ledger.guarantee.delta == 1e-6
    assert rounds_of(other).noise_multiplier < event.noise_multiplier


def test_histograms_are_paid_for_where_trees_follow_them() -> None:
    for asked, counted in [({}, 29), ({"rounds": 9}, 1), ({"histogram_share": 0.5}, 256), ({"histogram_share": 0}, 0)]:
        params = Params(**asked)
        assert histogram_rounds(NUMBER, params) == counted
        assert plan(NUMBER, Settings(), params).rounds("tree")[1].rounds == params.rounds + counted
    assert histogram_rounds(schema_of("categories", 2, 100), Params()) == 0  # no number
    assert histogram_rounds(schema_of("mixed", 2, None), Params()) == 0  # no row count


def test_where_rows_are_few_the_first_score_gets_more_of_epsilon_and_noise_may_move_a_score_less() -> None:
    for n_public, epsilon, share in [(100, 0.1, 0.5), (1000, 0.1, 0.2), (10**6, 0.1, 0.05)]:
        schema = replace(NUMBER, n_public=n_public)
        assert start_share(schema, epsilon, Params()) == pytest.approx(share)
        planned = plan(schema, Settings(epsilon=epsilon), Params())
        assert planned.of("initial score") == pytest.approx(share * epsilon)
        assert sum(part.epsilon for part in planned.shares) == pytest.approx(epsilon)
    _, event = plan(NUMBER, Settings(epsilon=0.1), Params()).rounds("tree")
    few, many = (recipe(event, loss_of(NUMBER, newton=True), Params(), n_public) for n_public in (100, 10**6))
    assert few.spread == pytest.approx(many.spread * 100 * event.epsilon / 100)
    assert few.smoothing > many.smoothing


# --- the shape of its trees


def test_the_shape_and_depth_of_trees_follow_a_public_rule() -> None:
    bare = Params(initial_share=0, histogram_share=0)
    mixed = {n: schema_of("mixed", 2, n) for n in (None, 100, 4999, 5000)}
    numbers = {n: NUMBER.declare(n_public=n) for n in (4999, 5000)}
    # with histograms, pairs need rows times epsilon
    enough = {make: make(10).schema.declare(n_public=n) for make, n in ((classes, 4000), (prices, 20_000))}
    for schema, asked, params, depth, features in [
        (mixed[None], {"max_depth": 6}, bare, 3, "one"),
        (mixed[4999], {"max_depth": 6}, bare, 3, "one"),
        (mixed[5000], {"max_depth": 6}, bare, 5, "two"),
        (mixed[5000], {"max_depth": 4}, bare, 3, "one"),
        (mixed[5000], {"max_depth": 2}, bare, 2, "one"),
        (mixed[5000], {"depth": 6}, bare, 6, "two"),
        (mixed[100], {"depth": 6}, bare, 6, "one"),
        (numbers[4999], {"max_depth": 8}, Params(histogram_share=0), 4, "two"),
        (numbers[5000], {"max_depth": 8}, Params(histogram_share=0), 5, "two"),
        *((schema, {"epsilon": 1.0, "max_depth": 8}, Params(), 3, "two") for schema in enough.values()),
        *((schema, {"epsilon": 0.99, "max_depth": 8}, Params(), 2, "one") for schema in enough.values()),
        *((schema, {"epsilon": 1.0, "max_depth": 2}, Params(), 2, "one") for schema in enough.values()),
    ]:
        found = plan(schema, Settings(**asked), params)
        assert found.depth == depth
        assert tree_shape(schema, depth, params).split()[0] == features


def test_more_than_two_classes_share_splits_and_start_from_0() -> None:
    result = fit(classes(n_classes=3), rounds=20)
    splits = result.model.splits
    assert (splits.n_trees, result.model.initial) == (60, 0.0)
    asked = [splits.feature[splits.tree == tree] for tree in range(60)]
    for tree in range(0, 60, 3):
        np.testing.assert_array_equal(asked[tree], asked[tree + 2])
    assert {int(f) for features in asked for f in features if f != LEAF} == {0, 1, 2}
    assert [share.part for share in result.plan.shares] == ["tree"]


# --- its document


def test_a_small_document_is_the_golden_one() -> None:
    """Numbers of leaves may differ in the last digits from computer to computer."""
    written = json.loads(fit(rows(), 2.0, 1, rounds=6, max_depth=2).to_json())
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    (splits, values, start), (of_golden, values_of_golden, start_of_golden) = map(taken_apart, (written, golden))
    assert written == golden
    assert splits == of_golden
    assert start == pytest.approx(start_of_golden, rel=1e-9)
    np.testing.assert_allclose(values, values_of_golden, rtol=1e-6, atol=1e-9)


def taken_apart(document: dict) -> tuple[list[str], list[float], float]:
    """Takes versions, trees and start out of a document: (splits, values of the leaves, start)."""
    document.pop("versions")
    words = " ".join(document.pop("trees")).split()
    values = [float(word[1:]) for word in words if word[0] == "="]
    return [word for word in words if word[0] != "="], values, document.pop("initial")
