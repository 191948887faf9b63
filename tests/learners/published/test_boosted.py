"""Boosting of the papers: leaves, limits, rounds that cost nothing, and that they learn where there is budget."""

from __future__ import annotations

import numpy as np
import pytest

import dpviz
from dpviz.training.boosting.loss import SquaredLoss
from dpviz.training.boosting.rounds import Recipe, leaf_values
from tests.support.fits import rounds_of
from tests.support.numbers import rows, schema_of_numbers
from tests.support.prices import classes, prices


def fit_dpboost(data, epsilon=5.0, seed=3, **asked):
    return dpviz.fit("dpboost", data, epsilon=epsilon, seed=seed, **({"max_depth": 3, "ridge": 20} | asked))


@pytest.mark.parametrize("make", [prices, classes])
def test_it_learns_with_much_budget(make):
    assert fit_dpboost(make(4000), 30.0).score(make(seed=2)) > 0.55


def test_more_classes_get_as_many_trees_each_and_switches_cost_nothing():
    result = fit_dpboost(classes(300, n_classes=3), trees=10)
    assert result.model.splits.n_trees == 12
    assert [share.part for share in result.plan.shares] == ["node", "node", "node", "leaf"]
    usual = fit_dpboost(prices(400), 2.0)
    for asked in ({"filter": True}, {"clip": 1.0}, {"ridge": 0.0}):
        other = fit_dpboost(prices(400), 2.0, **asked)
        assert other.model != usual.model
        assert other.ledger.guarantee == usual.ledger.guarantee


def test_a_row_above_the_limit_leaves_the_tree_when_filtered():
    data = classes(400)
    result = fit_dpboost(data, 1e5, filter=True, clip=0.3, trees=1, initial_share=0)  # every gradient is one half
    np.testing.assert_allclose(result.model.values, 0, atol=1e-3)
    cut = fit_dpboost(data, 1e5, filter=False, clip=0.3, trees=1, initial_share=0)
    assert np.abs(cut.model.values).max() > 0.05


NAME = "s-gbdt-published"


@pytest.mark.parametrize(("learner", "alone"), [("dpboost", {"trees": 1}), (NAME, {"rounds": 1})])
def test_a_tree_alone_steps_as_far_as_the_learning_rate_says(learner, alone) -> None:
    asked = {"epsilon": 3.0, "max_depth": 2, "seed": 3} | alone
    half, whole = (dpviz.fit(learner, classes(300), learning_rate=rate, **asked).model for rate in (0.5, 1.0))
    assert half.splits == whole.splits
    assert np.abs(whole.values).max() > 0
    np.testing.assert_allclose(2 * half.values, whole.values)


def recipe(**given) -> Recipe:
    usual = {"rounds": 4, "noise_multiplier": 2.0, "learning_rate": 0.5, "clip": 0.3, "sampling": 1.0, "support_share": 0.1}
    return Recipe(**(usual | {"spread": 0.1, "least_support": 5.0, "bounded": True} | given))


def test_a_leaf_is_its_gradients_over_the_noisy_support_or_lambda_if_that_is_more() -> None:
    gradients, support = np.array([[2.0], [2.0], [-3.0]]), np.array([8.0, 1.0, -4.0])
    values = leaf_values(recipe(), SquaredLoss(0, 1), gradients, support)
    assert values[:, 0] == pytest.approx([0.5 * 2 / 8, 0.5 * 2 / 5, -0.5 * 3 / 5])
    redesigned = leaf_values(recipe(bounded=False), SquaredLoss(0, 1), gradients, support)
    assert redesigned[0, 0] < values[0, 0]  # smoothed


@pytest.mark.parametrize("asked", [{}, {"sampling": 1.0}])
def test_extra_rounds_cost_nothing_and_everything_together_what_was_asked_for(asked) -> None:
    data, given = rows(schema_of_numbers()), {"epsilon": 0.7, "delta": 1e-6, "rounds": 5, "max_depth": 3, "seed": 1} | asked
    few, many = (dpviz.fit(NAME, data, extra_rounds=extra, **given) for extra in (0, 7))
    assert few.ledger.event == many.ledger.event
    assert many.ledger.guarantee.epsilon == pytest.approx(0.7)
    assert many.ledger.guarantee.epsilon <= 0.7
    assert many.ledger.guarantee.delta == 1e-6
    event = rounds_of(many)
    assert (event.rounds, event.sampling, event.order is None) == (5, asked.get("sampling", 0.1), False)
    assert many.model.splits.n_trees == few.model.splits.n_trees + 7


@pytest.mark.slow
def test_it_learns_where_noise_is_small_and_a_tenth_of_the_rows_takes_part() -> None:
    schema = schema_of_numbers("numbers", n_public=4000)
    asked = {"epsilon": 50.0, "delta": 1e-4, "max_depth": 4, "rounds": 60, "least_support": 1.0}
    found = [dpviz.fit(NAME, rows(schema, 4000), seed=seed, **asked).score(rows(schema, 2000, seed=9)) for seed in (1, 2)]
    assert all(0.3 < score < 1 for score in found)
