"""S-GBDT as published: the value of a leaf, what rounds and extra rounds cost, where it starts."""

from __future__ import annotations

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import GaussianRounds, walk
from dpviz.training.boosting.loss import SquaredLoss
from dpviz.training.boosting.rounds import Recipe, leaf_values
from tests.support.numbers import rows, schema_of_numbers

NAME = "s-gbdt-published"


def recipe(**given) -> Recipe:
    usual = {"rounds": 4, "noise_multiplier": 2.0, "learning_rate": 0.5, "clip": 0.3, "sampling": 1.0, "support_share": 0.1}
    return Recipe(**(usual | {"spread": 0.1, "least_support": 5.0, "bounded": True} | given))


def rounds_of(result) -> GaussianRounds:
    (cost,) = (step.cost for _, step in walk(result.ledger.event) if isinstance(step.cost, GaussianRounds))
    return cost


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
