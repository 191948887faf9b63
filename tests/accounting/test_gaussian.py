"""Rounds of Gaussian noise: prices against closed forms, never below them; noise is what a budget needs and hardly more."""

from __future__ import annotations

import math

import dp_accounting as dp
import pytest
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from dpviz.accounting.events import GaussianRounds, Step
from dpviz.accounting.gaussian import (
    GRID_SLACK,
    best_order,
    covers,
    gaussian_delta,
    gaussian_epsilon,
    noise_multiplier,
    renyi_loss,
)
from dpviz.accounting.guarantee import PrivacyLoss, guarantee
from dpviz.errors import DpvizError, ParameterError
from tests.support.examples import examples

DELTA = 5e-8


def rounds(epsilon=0.5, delta=DELTA, noise=None, sampling=1.0, count=100, order=None):
    noise = noise or noise_multiplier(epsilon, delta, sampling=sampling, rounds=count, order=order)
    return GaussianRounds(epsilon, delta, noise, sampling, count, order)


def sampled_delta(epsilon: float, noise: float, q: float) -> float:
    """One round with rows drawn with probability q: both hockey-stick divergences between the mixture and N(0, noise^2)."""
    with_row = noise**2 * math.log((math.exp(epsilon) - 1 + q) / q) + 0.5
    added = q * norm.sf((with_row - 1) / noise) + (1 - q - math.exp(epsilon)) * norm.sf(with_row / noise)
    inside = math.exp(-epsilon) - 1 + q
    if inside <= 0:
        return added
    without = noise**2 * math.log(inside / q) + 0.5
    mixture = (1 - q) * norm.cdf(without / noise) + q * norm.cdf((without - 1) / noise)
    return max(added, norm.cdf(without / noise) - math.exp(epsilon) * mixture)


@given(st.floats(0.001, 20), st.floats(0.01, 10))
@examples(200)
@pytest.mark.slow
def test_the_closed_form_is_the_hockey_stick_divergence_of_two_normals(epsilon, mu):
    exact = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert gaussian_delta(epsilon, mu) == pytest.approx(exact, rel=1e-5, abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "noise", "q"), [(0.1, 3.0, 0.1), (0.5, 1.2, 0.3), (0.05, 20.0, 0.5), (1.0, 0.8, 0.02)])
def test_one_sampled_round_costs_its_closed_form_or_hardly_more(epsilon, noise, q):
    exact = sampled_delta(epsilon, noise, q)
    assert not covers(rounds(epsilon, exact * 0.999, noise, q, 1))
    assert covers(rounds(epsilon, exact * 1.02 + 1e-12, noise, q, 1))


@pytest.mark.slow
@pytest.mark.parametrize("sampling", [0.05, pytest.param(0.3, marks=pytest.mark.slow), 1.0])
@pytest.mark.parametrize("epsilon", [pytest.param(0.05, marks=pytest.mark.slow), 0.5, pytest.param(2.0, marks=pytest.mark.slow)])
def test_a_calibrated_price_holds_and_a_little_less_noise_would_not(sampling, epsilon):
    noise = noise_multiplier(epsilon, DELTA, sampling=sampling, rounds=100)
    assert covers(rounds(epsilon, noise=noise, sampling=sampling))
    assert not covers(rounds(epsilon, noise=noise * 0.999, sampling=sampling))


@pytest.mark.slow
@pytest.mark.parametrize(("sampling", "order"), [(1.0, None), (0.3, None), (0.3, 32.0)])
def test_calibrated_noise_is_that_of_the_library_s_search_and_never_less_than_the_ledger_needs(sampling, order):
    theirs = dp.calibrate_dp_mechanism(
        lambda: RdpAccountant([order]) if order else PLDAccountant(value_discretization_interval=1e-3),
        lambda noise: dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(sampling, dp.GaussianDpEvent(noise)), 100),
        target_epsilon=0.5,
        target_delta=DELTA,
        bracket_interval=dp.ExplicitBracketInterval(1.0, 1000.0),
    )
    ours = noise_multiplier(0.5, DELTA, sampling=sampling, rounds=100, order=order)
    assert ours == pytest.approx(theirs, rel=1e-3)
    assert guarantee(Step(rounds(noise=ours, sampling=sampling, order=order), "tree")) == PrivacyLoss(0.5, DELTA)


def test_renyi_of_every_row_is_the_formula_and_chance_saves():
    assert renyi_loss(5.0, 1.0, 8.0) == pytest.approx(8 / 50)
    assert renyi_loss(5.0, 0.1, 8.0) < 8 / 50 / 10
    # the exact bound at order 8, rate .1, noise 2: .0137, where the paper's Theorem 9 gives .0368
    assert renyi_loss(2.0, 0.1, 8.0) == pytest.approx(0.0137, abs=5e-5)


@pytest.mark.parametrize("epsilon", [1e-6, 1e6])
@pytest.mark.parametrize("sampling", [0.1, 1.0])
def test_the_ends_of_what_may_be_asked_are_priced(epsilon, sampling):
    event = rounds(epsilon, sampling=sampling, count=256)
    assert covers(event)
    assert 0 < event.noise_multiplier < math.inf


def test_a_price_that_is_too_low_is_refused():
    cheap = rounds(0.4, noise=1.0)
    with pytest.raises(DpvizError, match="cost more than they say"):
        guarantee(Step(cheap, "tree"))
    assert not covers(GaussianRounds(0.4, 0.0, 1e9, 1.0, 1, None))


@pytest.mark.parametrize(("noise", "count"), [(3.0, 1), (40.0, 100)])
def test_the_price_includes_the_grid_of_the_noise(noise, count):
    """Without the grid, `bare` would be the least epsilon at this delta; the grid costs a little more, and hardly more."""
    bare = gaussian_epsilon(DELTA, math.sqrt(count) / noise)
    assert not covers(rounds(bare + 0.5 * GRID_SLACK, noise=noise, count=count))
    assert not covers(rounds(bare + 1.5 * GRID_SLACK, noise=noise, count=count))
    assert covers(rounds(bare + 4 * GRID_SLACK, noise=noise, count=count))


@pytest.mark.parametrize(("epsilon", "mu"), [(1.0, 1.0), (0.5, 2.0), (3.0, 2.0), (0.1, 0.5)])
def test_the_closed_form_is_rounded_up(epsilon, mu):
    exact = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert exact * (1 + 1e-7) < gaussian_delta(epsilon, mu) < exact * (1 + 1e-5)


@pytest.mark.parametrize(
    ("asked", "name"),
    [({"epsilon": 0.0}, "epsilon"), ({"delta": 0.0}, "delta"), ({"sampling": 0.0}, "sampling"), ({"rounds": 0}, "rounds")],
)
def test_what_cannot_be_calibrated_is_named(asked, name):
    given = {"epsilon": 1.0, "delta": DELTA, "sampling": 1.0, "rounds": 10} | asked
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of noise_multiplier"):
        noise_multiplier(given.pop("epsilon"), given.pop("delta"), **given)


def test_a_filter_refuses_an_epsilon_no_order_can_keep():
    with pytest.raises(DpvizError, match="turn the filter off"):
        best_order(1e-4, DELTA, sampling=1.0, rounds=10)
