"""Two-sided geometric noise: its distribution in closed form against sums, and what one row can do to it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.accounting.events import PureDP, Step
from dpviz.errors import ParameterError
from dpviz.privacy import exact
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.source import ExactNoise, Simulation
from tests.support.oracles import mechanisms as oracle

EPSILONS = st.floats(0.02, 20)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0])
@pytest.mark.parametrize("noise", [-7, -1, 0, 1, 30])
def test_the_distribution_is_that_of_the_difference_of_two_geometric_variables(epsilon, noise):
    assert GeometricNoise(epsilon).pmf(noise) == pytest.approx(oracle.two_geometrics(math.exp(-epsilon), noise), rel=1e-10)


@given(EPSILONS, st.integers(-40, 40))
def test_tail_is_the_sum_of_what_lies_beyond(epsilon, noise):
    mechanism = GeometricNoise(epsilon)
    assert mechanism.tail(noise) == pytest.approx(math.fsum(mechanism.pmf(np.arange(noise, noise + 4000))), rel=1e-10)


@given(EPSILONS)
def test_moving_the_count_by_one_moves_no_probability_by_more_than_epsilon(epsilon):
    outputs = np.arange(-15, 16)
    rate = np.log(GeometricNoise(epsilon).pmf(outputs)) - np.log(GeometricNoise(epsilon).pmf(outputs - 1))
    np.testing.assert_allclose(np.abs(rate), epsilon, rtol=1e-9)


def test_all_counts_together_cost_epsilon_when_they_move_by_l1():
    mechanism, outputs, moved = GeometricNoise(0.8, l1=3), np.array([5, -2, 0, 9]), np.array([1, 0, 1, 1])
    loss = np.log(mechanism.pmf(outputs)).sum() - np.log(mechanism.pmf(outputs + moved)).sum()
    assert loss == pytest.approx(0.8)  # each of the outputs 5, 0 and 9 moved away from its count


@pytest.mark.parametrize("source", [Simulation(3), ExactNoise()], ids=lambda source: source.name)
def test_noise_comes_with_its_event_and_keeps_the_shape(source):
    counts = np.arange(12).reshape(3, 4)
    released = GeometricNoise(200.0).release(counts, source=source, part="leaf", level=2)
    np.testing.assert_array_equal(released.value, counts)
    assert released.value.dtype == np.int64
    assert released.event == Step(PureDP(200.0), "leaf", 2, mechanism="geometric")


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf")])
def test_an_epsilon_without_finite_noise_is_refused(epsilon):
    with pytest.raises(ParameterError, match="'epsilon' parameter of GeometricNoise must be positive and finite"):
        GeometricNoise(epsilon)


@given(st.floats(1e-6, 1e3), st.floats(1e-3, 1e3))
def test_the_scale_of_exact_noise_never_costs_more_than_epsilon(epsilon, l1):
    scales = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "geometric", lambda counts, scale: scales.append(scale) or counts)
        GeometricNoise(epsilon, l1).sample_exactly(np.zeros(1, dtype=np.int64))
    assert Fraction(epsilon) * (1 - Fraction(1, 2**50)) <= Fraction(l1) / Fraction(scales[0]) <= Fraction(epsilon)


@given(EPSILONS, st.integers(1, 9), st.floats(1e-30, 0.4))
def test_radius_is_the_smallest_beyond_which_little_lies(epsilon, l1, mass):
    mechanism = GeometricNoise(epsilon, l1)
    radius = mechanism.radius(mass)
    assert mechanism.tail(radius + 1) <= mass * (1 + 1e-9)
    assert radius == 0 or mechanism.tail(radius) > mass * (1 - 1e-9)


@pytest.mark.parametrize(("epsilon", "l1"), [(5e-324, 1.0), (1e-300, 2.0**20), (1e-18, 1.0), (1.0, math.inf)])
def test_a_scale_beyond_64_bits_is_a_typed_error(epsilon, l1):
    with pytest.raises(ParameterError, match="so large that the noise has a scale below"):
        GeometricNoise(epsilon, l1=l1)
    GeometricNoise(1e-12, l1=1.0)
