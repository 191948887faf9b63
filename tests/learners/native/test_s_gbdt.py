"""S-GBDT: the budget it plans and spends, its public rules, its ablations, and a small document word for word."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import GaussianRounds, walk
from dpviz.accounting.gaussian import noise_multiplier
from dpviz.errors import SchemaError
from dpviz.evaluation.measures import auc
from dpviz.learners.native.s_gbdt import DELTA, Params, histogram_rounds, plan, recipe, start_share, tree_shape
from dpviz.models.packed_forest import LEAF
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, NumericTarget, Schema
from dpviz.training.boosting.loss import loss_of
from dpviz.training.params import Settings
from tests.support.documents import rows
from tests.support.prices import NUMBER, classes, prices
from tests.support.tables import schema_of

GOLDEN = Path(__file__).parents[2] / "golden" / "s-gbdt.json"


def fit(data: EncodedDataset, epsilon: float = 1.0, seed: int = 3, **asked):
    return dpviz.fit("s-gbdt", data, epsilon=epsilon, seed=seed, **asked)


def rounds_of(result) -> GaussianRounds:
    (cost,) = (step.cost for _, step in walk(result.ledger.event) if isinstance(step.cost, GaussianRounds))
    return cost


@pytest.mark.slow
def test_it_learns_numbers_with_privacy() -> None:
    train, test = prices(), prices(seed=2)
    scores = [fit(train, epsilon).score(test) for epsilon in (0.3, 1.0, 10.0)]
    assert scores == sorted(scores)
    assert scores[0] > 0.35
    assert scores[2] > 0.85
    predicted = fit(train).model.predict(test)
    assert -20 <= predicted.min() < predicted.max() <= 60


@pytest.mark.slow
def test_it_learns_classes_with_privacy() -> None:
    for n_classes in [2, 4]:
        train, test = classes(n_classes=n_classes), classes(n_classes=n_classes, seed=2)
        result = fit(train, 2.0)
        assert result.score(test) > (0.8 if n_classes == 2 else 0.55)
        assert auc(test.target, result.model.predict_proba(test)) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("make", [prices, classes])
def test_every_shape_of_tree_learns(make) -> None:
    for asked in [{"depth": 1}, {"depth": 4}, {"histogram_share": 0}]:
        result = fit(make(), 2.0, **{"depth": 4, "rounds": 120} | asked)
        assert result.score(make(seed=2)) > 0.55


def test_two_epsilons_and_one_delta_make_the_guarantee() -> None:
    result = fit(prices(), 0.5)
    guarantee = result.ledger.guarantee
    assert (guarantee.epsilon, guarantee.delta) == (0.5, DELTA)
    assert [share.part for share in result.plan.shares] == ["initial score", "tree"]
    assert result.plan.of("initial score") == pytest.approx(0.025)
    event = rounds_of(result)
    assert event.epsilon == result.plan.of("tree")
    counted = histogram_rounds(NUMBER, Params())
    assert counted == 29  # a tenth of all precision
    assert event.noise_multiplier == noise_multiplier(event.epsilon, DELTA, sampling=1.0, rounds=256 + counted)
    assert "Histograms of the numbers cost 29 more rounds, which the ledger counts as such." in result.plan.notes
    assert result.claim.delta == DELTA
    assert "Delta = 5e-08, the default; none was asked for." in result.plan.notes


def test_what_is_done_is_what_is_paid_for() -> None:
    params = Params(rounds=20)
    _, event = plan(NUMBER, Settings(epsilon=0.5), params).rounds("tree")
    done = recipe(event, loss_of(NUMBER, newton=True), params, None)
    assert (done.noise_multiplier, done.sampling) == (event.noise_multiplier, event.sampling)
    assert done.rounds == params.rounds
    assert done.filter is None is event.order
    assert fit(prices(50), 0.5, rounds=20).model.splits.n_trees == done.rounds


@pytest.mark.slow
def test_a_delta_that_is_asked_for_is_kept() -> None:
    result = fit(prices(), 0.5, delta=1e-6)
    assert result.ledger.guarantee.delta == 1e-6
    assert rounds_of(result).noise_multiplier < rounds_of(fit(prices(), 0.5)).noise_multiplier
    assert "Delta = 1e-06." in result.plan.notes


def test_the_start_can_be_left_out_and_then_no_row_count_is_needed() -> None:
    schema = NUMBER.declare(n_public=1).without()
    unknown = Schema(schema.features, schema.target)
    with pytest.raises(SchemaError, match="start from 0"):
        plan(unknown, Settings(), Params())
    data = EncodedDataset(unknown, prices().columns, prices().target)
    result = fit(data, initial_share=0)
    assert result.ledger.guarantee.epsilon == 1.0
    assert result.model.initial == 20.0  # the middle of the range


def test_the_shape_and_depth_of_trees_follow_a_public_rule() -> None:
    for n_public, asked, shape, depth in [
        (None, {"max_depth": 6}, "one feature", 3),
        (4999, {"max_depth": 6}, "one feature", 3),
        (5000, {"max_depth": 6}, "two features", 5),
        (5000, {"max_depth": 4}, "one feature", 3),
        (5000, {"max_depth": 2}, "one feature", 2),
        (5000, {"depth": 6}, "two features", 6),
        (100, {"depth": 6}, "one feature", 6),
    ]:
        schema = schema_of("mixed", 2, n_public)
        params = Params(initial_share=0, histogram_share=0)
        found = plan(schema, Settings(**asked), params)
        assert (tree_shape(schema, found.depth, params), found.depth) == (shape, depth)


def test_numbers_get_pairs() -> None:
    for n_public, depth in [(4999, 4), (5000, 5)]:
        schema = NUMBER.declare(n_public=n_public)
        params = Params(histogram_share=0)
        found = plan(schema, Settings(max_depth=8), params)
        assert (tree_shape(schema, found.depth, params), found.depth) == ("two features", depth)


def test_histograms_are_paid_for_where_trees_follow_them() -> None:
    for asked, counted in [({}, 29), ({"rounds": 9}, 1), ({"histogram_share": 0.5}, 256), ({"histogram_share": 0}, 0)]:
        params = Params(**asked)
        assert histogram_rounds(NUMBER, params) == counted
        assert plan(NUMBER, Settings(), params).rounds("tree")[1].rounds == params.rounds + counted


def test_with_histograms_pairs_need_rows_times_epsilon() -> None:
    for make, enough in [(classes, 4000), (prices, 20_000)]:
        schema = make(10).schema.declare(n_public=enough)
        for epsilon, max_depth, expected in [(1.0, 8, 3), (0.99, 8, 2), (1.0, 2, 2)]:
            found = plan(schema, Settings(epsilon=epsilon, max_depth=max_depth), Params())
            assert (found.depth, tree_shape(schema, found.depth, Params())) == (
                expected,
                "two features" if expected == 3 else "one feature",
            )


def test_without_a_number_or_a_row_count_there_is_no_histogram() -> None:
    assert histogram_rounds(schema_of("categories", 2, 100), Params()) == 0
    assert histogram_rounds(schema_of("mixed", 2, None), Params()) == 0


def test_cuts_lie_where_the_rows_are() -> None:
    few = EncodedDataset(NUMBER, (prices().columns[0] * 0.01, *prices().columns[1:]), prices().target)
    splits = fit(few, 20.0).model.splits
    of_x, of_z = (splits.threshold[splits.feature == place] for place in (0, 1))
    assert np.quantile(of_x, 0.9) < 0.02
    assert 0.6 < np.quantile(of_z, 0.9) < 1


@pytest.mark.slow
def test_the_ablations_train_and_tell_themselves_apart() -> None:
    usual = fit(classes(), 1.0, rounds=60)
    for asked in ({"newton": False}, {"histogram_share": 0.0}, {"clip": 1.0}, {"support_share": 0.3}):
        other = fit(classes(), 1.0, rounds=60, **asked)
        assert other.score(classes(seed=2)) > 0.6
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


def test_more_than_two_classes_share_splits_and_start_from_0() -> None:
    result = fit(classes(n_classes=3), rounds=20)
    splits = result.model.splits
    assert splits.n_trees == 60
    assert result.model.initial == 0.0
    asked = [splits.feature[splits.tree == tree] for tree in range(60)]
    for tree in range(0, 60, 3):
        np.testing.assert_array_equal(asked[tree], asked[tree + 2])
    assert {int(f) for features in asked for f in features if f != LEAF} == {0, 1, 2}
    assert [share.part for share in result.plan.shares] == ["tree"]


def test_where_rows_are_few_the_first_score_gets_more_of_epsilon() -> None:
    for n_public, epsilon, share in [(100, 0.1, 0.5), (1000, 0.1, 0.2), (10**6, 0.1, 0.05)]:
        schema = replace(NUMBER, n_public=n_public)
        assert start_share(schema, epsilon, Params()) == pytest.approx(share)
        planned = plan(schema, Settings(epsilon=epsilon), Params())
        assert planned.of("initial score") == pytest.approx(share * epsilon)
        assert sum(part.epsilon for part in planned.shares) == pytest.approx(epsilon)


def test_where_rows_are_few_noise_may_move_a_score_less() -> None:
    params, (_, event) = Params(), plan(NUMBER, Settings(epsilon=0.1), Params()).rounds("tree")
    loss = loss_of(NUMBER, newton=True)
    few, many = (recipe(event, loss, params, n_public) for n_public in (100, 10**6))
    assert few.spread == pytest.approx(many.spread * 100 * event.epsilon / 100)
    assert few.smoothing > many.smoothing


def text_of() -> str:
    return fit(rows(), 2.0, 1, rounds=6, max_depth=2).to_json() + "\n"


def test_a_small_document_is_the_golden_one() -> None:
    written, golden = json.loads(text_of()), json.loads(GOLDEN.read_text(encoding="utf-8"))
    golden.pop("versions"), written.pop("versions")
    numbers = {name: [split_numbers(tree) for tree in document.pop("trees")] for name, document in _named(written, golden)}
    starts = {name: document.pop("initial") for name, document in _named(written, golden)}
    assert written == golden
    assert starts["written"] == pytest.approx(starts["golden"], rel=1e-9)
    for one, other in zip(numbers["written"], numbers["golden"], strict=True):
        assert one[0] == other[0]
        np.testing.assert_allclose(one[1], other[1], rtol=1e-6, atol=1e-9)


def _named(written, golden):
    return (("written", written), ("golden", golden))


def split_numbers(tree: str) -> tuple[list[str], list[float]]:
    """(splits, values of the leaves) of a tree in words."""
    words = tree.split()
    return [word for word in words if word[0] != "="], [float(word[1:]) for word in words if word[0] == "="]


if __name__ == "__main__":
    GOLDEN.write_text(text_of(), encoding="utf-8")
