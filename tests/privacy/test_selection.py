"""Permute-and-flip and the exponential mechanism: distributions against their definitions, privacy, and who errs less."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.accounting.events import BoundedRange, PureDP
from dpviz.privacy import exact
from dpviz.privacy.selection import ExponentialMechanism, PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT, Sensitivity
from tests.support.examples import examples
from tests.support.oracles import mechanisms as oracle

KINDS = pytest.mark.parametrize("kind", [PermuteAndFlip, ExponentialMechanism])
EPSILONS = st.floats(0.01, 5)
UNIT = {monotone: Sensitivity(1.0, monotone, "test") for monotone in (True, False)}


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=6), EPSILONS, st.sampled_from([0.5, 1.0, 1.8]), st.booleans())
@examples(60)
def test_permute_and_flip_distribution_is_its_definition(utilities, epsilon, delta, monotone):
    distribution = PermuteAndFlip(epsilon, Sensitivity(delta, monotone, "test")).probabilities(np.array(utilities))
    exponent = epsilon / delta if monotone else epsilon / (2 * delta)
    np.testing.assert_allclose(distribution, oracle.permute_and_flip(utilities, exponent), rtol=1e-11, atol=1e-14)


@given(
    st.lists(st.tuples(st.integers(-8, 8), st.floats(0.01, 100)), min_size=1, max_size=9),
    EPSILONS,
    st.sampled_from([0.5, 1.0, 1.8]),
    st.booleans(),
)
def test_exponential_mechanism_distribution_is_its_definition(candidates, epsilon, delta, monotone):
    utilities, weights = map(list, zip(*candidates, strict=True))
    mechanism = ExponentialMechanism(epsilon, Sensitivity(delta, monotone, "test"), np.log(weights))
    exponent = epsilon / delta if monotone else epsilon / (2 * delta)
    expected = oracle.exponential_mechanism(utilities, exponent, weights)
    np.testing.assert_allclose(mechanism.probabilities(np.array(utilities)), expected, rtol=1e-11)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 3.0])
def test_permute_and_flip_distribution_among_thousands_is_that_of_one_sided_noise(epsilon):
    utilities = np.repeat([0, 4, 8, 9, 10], [1500, 400, 90, 9, 1])
    distribution = PermuteAndFlip(epsilon, COUNT).probabilities(utilities)
    np.testing.assert_allclose(distribution, oracle.one_sided_noise(utilities, epsilon), rtol=1e-5)


def _losses(mechanism, utilities, step):
    return np.log(mechanism.probabilities(utilities + step)) - np.log(mechanism.probabilities(utilities))


def _largest(losses):
    return np.abs(losses).max()


@pytest.mark.parametrize(("kind", "extent"), [(PermuteAndFlip, _largest), (ExponentialMechanism, np.ptp)])
@given(data=st.data(), monotone=st.booleans(), epsilon=EPSILONS)
@examples(80)
def test_losses_of_one_row_are_within_epsilon_or_a_range_of_it(kind, extent, data, monotone, epsilon):
    utilities = data.draw(st.lists(st.integers(-6, 6), min_size=1, max_size=8))
    lowest = 0.0 if monotone else -1.0
    step = data.draw(st.lists(st.floats(lowest, 1.0), min_size=len(utilities), max_size=len(utilities)))
    losses = _losses(kind(epsilon, UNIT[monotone]), np.array(utilities), np.array(step))
    assert extent(losses) <= epsilon * (1 + 1e-10) + 1e-12


def test_those_of_permute_and_flip_take_more_than_a_range():
    mechanism = PermuteAndFlip(1.0, COUNT)
    assert mechanism.event("node", 0).cost == PureDP(1.0)
    assert ExponentialMechanism(1.0, COUNT).event("node", 0).cost == BoundedRange(1.0)
    assert np.ptp(_losses(mechanism, np.array([1, 0]), np.array([0, 1]))) > 1.48


@KINDS
def test_half_the_noise_would_break_epsilon_without_monotonicity(kind):
    opposite = np.array([1.0, -1.0, -1.0, -1.0])
    assert _largest(_losses(kind(1.0, UNIT[True]), np.zeros(4), opposite)) > 1.04
    assert _largest(_losses(kind(1.0, UNIT[False]), np.zeros(4), opposite)) <= 1.0


@given(st.floats(1e-6, 1e3), st.floats(1e-3, 1e6), st.booleans())
def test_the_scale_of_an_exact_selection_never_costs_more_than_epsilon(epsilon, delta, monotone):
    _, scale = Sensitivity(delta, monotone, "test").integers_and_scale(epsilon, np.arange(3))
    cost = Fraction(delta) * (1 if monotone else 2) / Fraction(scale)
    assert Fraction(epsilon) * (1 - Fraction(1, 2**50)) <= cost <= Fraction(epsilon)


@pytest.mark.parametrize("sensitivity", UNIT.values(), ids=lambda s: f"monotone={s.monotone}")
def test_opendp_proves_the_same_epsilon(sensitivity):
    _, scale = sensitivity.integers_and_scale(0.7, np.arange(3))
    measurement = exact._noisy_max(dp.max_divergence(), scale, sensitivity.monotone)
    assert measurement.map(1) == pytest.approx(0.7, rel=1e-12)
