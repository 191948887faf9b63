"""Noise on counts, two-sided geometric and Laplace: laws in closed form, what one row can do to them, and the exact scale."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpviz.privacy import exact
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.laplace import LaplaceNoise
from dpviz.privacy.source import Simulation
from tests.support.goodness import FITS
from tests.support.oracles import mechanisms as oracle

EPSILONS = st.floats(0.02, 20)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0])
def test_the_distribution_is_that_of_the_difference_of_two_geometric_variables(epsilon):
    for noise in (-7, -1, 0, 1, 30):
        expected = oracle.two_geometrics(math.exp(-epsilon), noise)
        assert GeometricNoise(epsilon).pmf(noise) == pytest.approx(expected, rel=1e-10)


@given(EPSILONS, st.integers(-40, 40), st.integers(1, 9), st.floats(1e-30, 0.4))
def test_tail_is_the_sum_of_what_lies_beyond_and_radius_the_smallest_with_little(epsilon, noise, l1, mass):
    mechanism = GeometricNoise(epsilon)
    assert mechanism.tail(noise) == pytest.approx(math.fsum(mechanism.pmf(np.arange(noise, noise + 4000))), rel=1e-10)
    mechanism = GeometricNoise(epsilon, l1)
    radius = mechanism.radius(mass)
    assert mechanism.tail(radius + 1) <= mass * (1 + 1e-9)
    assert radius == 0 or mechanism.tail(radius) > mass * (1 - 1e-9)


@given(EPSILONS, st.floats(-20, 20))
def test_moving_a_count_by_one_moves_no_probability_by_more_than_epsilon(epsilon, place):
    outputs = np.arange(-15, 16)
    rate = np.log(GeometricNoise(epsilon).pmf(outputs)) - np.log(GeometricNoise(epsilon).pmf(outputs - 1))
    np.testing.assert_allclose(np.abs(rate), epsilon, rtol=1e-9)
    density = stats.laplace(scale=LaplaceNoise(epsilon).scale)
    assert abs(density.logpdf(place) - density.logpdf(place - 1)) <= epsilon * (1 + 1e-9) + 1e-9
    assert density.logpdf(-3.0) - density.logpdf(-4.0) == pytest.approx(epsilon)


def test_all_counts_together_cost_epsilon_when_they_move_by_l1():
    mechanism, outputs, moved = GeometricNoise(0.8, l1=3), np.array([5, -2, 0, 9]), np.array([1, 0, 1, 1])
    loss = np.log(mechanism.pmf(outputs)).sum() - np.log(mechanism.pmf(outputs + moved)).sum()
    assert loss == pytest.approx(0.8)  # each of the outputs 5, 0 and 9 moved away from its count


@given(st.floats(1e-6, 1e3), st.floats(1e-3, 1e3))
def test_the_scale_of_exact_noise_never_costs_more_than_epsilon(epsilon, l1):
    scales = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "geometric", lambda counts, scale: scales.append(scale) or counts)
        GeometricNoise(epsilon, l1).sample_exactly(np.zeros(1, dtype=np.int64))
    assert Fraction(epsilon) * (1 - Fraction(1, 2**50)) <= Fraction(l1) / Fraction(scales[0]) <= Fraction(epsilon)


@pytest.mark.parametrize("l1", [1.0, 3.0])
def test_laplace_draws_follow_the_distribution_of_their_epsilon_and_of_no_other(l1):
    noisy = LaplaceNoise(0.8, l1).release(np.full((50, 100), 7), source=Simulation(4), part="count").value
    for factor, fits in ((1.0, True), (0.7, False), (1.3, False)):
        claimed = stats.laplace(scale=LaplaceNoise(0.8 * factor, l1).scale)
        assert (stats.kstest(noisy.ravel() - 7, claimed.cdf).pvalue > FITS) == fits
