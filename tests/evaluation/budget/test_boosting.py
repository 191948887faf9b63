"""Where boosting's budget goes: rounds add up to the ledger's price, and no row's own loss exceeds what it is promised."""

from __future__ import annotations

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import GaussianRounds
from dpviz.accounting.gaussian import epsilon_after, gaussian_delta, gaussian_epsilon
from dpviz.evaluation.shares import epsilon_over_rounds, rounds_event
from tests.support.tables import schema_of, table


@pytest.fixture(scope="module")
def result():
    return dpviz.fit("s-gbdt", table(schema_of("mixed"), 300), epsilon=1.0, delta=1e-5, rounds=20, seed=3)


@pytest.mark.parametrize("mu", [1e-3, 0.1, 1.0, 5.0])
def test_epsilon_inverts_delta(mu):
    epsilon = gaussian_epsilon(1e-6, mu)
    assert gaussian_delta(epsilon, mu) <= 1e-6
    assert epsilon == 0 or gaussian_delta(0.999 * epsilon, mu) > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"filter": False, "sampling": 1.0}, {"extra_rounds": 3}, {"filter": False}])
def test_all_rounds_cost_what_the_ledger_says(given):
    data = table(schema_of("mixed"), 100)
    event = rounds_event(dpviz.fit("s-gbdt-published", data, epsilon=1.0, delta=1e-5, rounds=20, seed=3, **given))
    rounds, epsilons = epsilon_over_rounds(event, event.rounds)
    assert (rounds[0], rounds[-1]) == (0, 20 if given else 23)  # histograms cost as much as three
    assert epsilons[0] == 0
    assert (np.diff(epsilons) >= 0).all()
    assert epsilons[-1] == pytest.approx(event.epsilon, rel=0.02)
    assert epsilons[-1] <= event.epsilon * (1 + 1e-6)


def test_with_a_filter_rounds_beyond_the_full_ones_are_free():
    event = GaussianRounds(1.0, 1e-5, 30.0, 1.0, 20, 16.0)
    assert epsilon_after(event, 200) == epsilon_after(event, 20) > epsilon_after(event, 10)
