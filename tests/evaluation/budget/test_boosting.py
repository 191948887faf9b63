"""Where boosting's budget goes: rounds add up to the ledger's price, and no row's own loss exceeds what it is promised."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import GaussianRounds
from dpviz.accounting.gaussian import epsilon_after, gaussian_delta, gaussian_epsilon
from dpviz.errors import Cancelled, DpvizError
from dpviz.evaluation.budget.boosting import can_measure, epsilon_over_rounds, individual_losses, rounds_event
from tests.contract.tables import schema_of, table


@pytest.fixture(scope="module")
def result():
    return dpviz.fit("s-gbdt", table(schema_of("mixed"), 300), epsilon=1.0, delta=1e-5, rounds=20, extra_rounds=10, seed=3)


@pytest.mark.parametrize("mu", [1e-3, 0.1, 1.0, 5.0])
def test_epsilon_inverts_delta(mu):
    epsilon = gaussian_epsilon(1e-6, mu)
    assert gaussian_delta(epsilon, mu) <= 1e-6
    assert epsilon == 0 or gaussian_delta(0.999 * epsilon, mu) > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"filter": True}, {"sampling": 0.1}])
def test_all_rounds_cost_what_the_ledger_says(given):
    data = table(schema_of("mixed"), 100)
    event = rounds_event(dpviz.fit("s-gbdt", data, epsilon=1.0, delta=1e-5, rounds=20, extra_rounds=3, seed=3, **given))
    rounds, epsilons = epsilon_over_rounds(event, event.rounds)
    assert (rounds[0], rounds[-1]) == (0, 20 if given else 23)  # histograms cost as much as three
    assert epsilons[0] == 0
    assert (np.diff(epsilons) >= 0).all()
    assert epsilons[-1] == pytest.approx(event.epsilon, rel=0.02)
    assert epsilons[-1] <= event.epsilon * (1 + 1e-6)


def test_with_a_filter_rounds_beyond_the_full_ones_are_free():
    event = GaussianRounds(1.0, 1e-5, 30.0, 1.0, 20, 16.0, part="tree")
    assert epsilon_after(event, 200) == epsilon_after(event, 20) > epsilon_after(event, 10)


def test_no_row_loses_more_than_it_is_promised(result):
    data = table(schema_of("mixed"), 300)
    told: list[float] = []
    found = individual_losses(result, data, progress=told.append)
    assert found.bound == rounds_event(result).epsilon
    for losses in (found.plain, found.filtered):
        assert losses.shape == (300,)
        assert (np.diff(losses) >= 0).all()
        assert 0 < losses[0] < losses[-1] <= found.bound
    assert told == sorted(told)
    assert told[-1] == 1


def test_a_row_with_the_largest_gradients_uses_all_of_it():
    schema = dpviz.Schema((dpviz.NumericFeature("x", 0, 1),), dpviz.NumericTarget("y", 0, 1), n_public=10)
    data = dpviz.encode(dpviz.read_csv(b"x,y\n" + b"0.5,1\n" * 2 + b"0.5,0\n" * 2), schema)
    given = {"rounds": 5, "initial_share": 0, "clip": 0.1, "learning_rate": 0.001}  # scores stay near 0, targets at -1 and 1
    result = dpviz.fit("s-gbdt", data, epsilon=1.0, delta=1e-5, seed=1, **given)
    found = individual_losses(result, data)
    assert found.plain == pytest.approx([found.bound] * 4, rel=1e-3)


@pytest.mark.slow
def test_who_keeps_no_accounts_is_refused():
    data = table(schema_of("mixed"), 60)
    for given in ({}, {"sampling": 0.5, "rounds": 3}, {"static_noise": True, "rounds": 3}):
        result = dpviz.fit("s-gbdt" if given else "pf-tree", data, epsilon=1.0, seed=1, **given)
        assert not can_measure(result)
        with pytest.raises(DpvizError, match="all take part in every round"):
            individual_losses(result, data)


def test_a_stop_is_heard_between_rounds(result):
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        individual_losses(result, table(schema_of("mixed"), 300), stop=stop.is_set)
