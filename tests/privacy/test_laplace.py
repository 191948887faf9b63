"""Laplace noise: what one row can do to it, and a sampler that follows it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpviz.accounting.events import PureDP, Step
from dpviz.errors import NotReleasable, ParameterError
from dpviz.privacy.laplace import LaplaceNoise
from dpviz.privacy.source import ExactNoise, Simulation
from tests.support.goodness import FITS

EPSILONS = st.floats(0.05, 10)


@given(EPSILONS, st.floats(-20, 20))
def test_moving_a_value_by_one_moves_no_density_by_more_than_epsilon(epsilon, noise):
    density = stats.laplace(scale=LaplaceNoise(epsilon).scale)
    assert abs(density.logpdf(noise) - density.logpdf(noise - 1)) <= epsilon * (1 + 1e-9) + 1e-9
    assert density.pdf(-3.0) / density.pdf(-4.0) == pytest.approx(np.exp(epsilon))


@pytest.mark.parametrize("factor", [0.7, 1.0, 1.3])
@pytest.mark.parametrize("l1", [1.0, 3.0])
def test_draws_follow_the_distribution_of_this_epsilon_and_of_no_other(factor, l1):
    noisy = LaplaceNoise(0.8, l1).release(np.full((50, 100), 7), source=Simulation(4), part="count").value
    claimed = stats.laplace(scale=LaplaceNoise(0.8 * factor, l1).scale)
    fit = stats.kstest(noisy.ravel() - 7, claimed.cdf).pvalue
    assert bool(fit > FITS) is (factor == 1.0)


def test_noise_comes_with_its_event_and_keeps_the_shape():
    released = LaplaceNoise(1e9).release(np.arange(6).reshape(2, 3), source=Simulation(0), part="leaf", level=2)
    np.testing.assert_allclose(released.value, np.arange(6).reshape(2, 3), atol=1e-6)
    assert released.event == Step(PureDP(1e9), "leaf", 2, mechanism="Laplace")


def test_it_is_never_released():
    with pytest.raises(NotReleasable, match="Laplace noise on real numbers has no exact sampler"):
        LaplaceNoise(1.0).release(np.zeros(2), source=ExactNoise(), part="leaf")


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf")])
def test_an_epsilon_without_finite_noise_is_refused(epsilon):
    with pytest.raises(ParameterError, match="'epsilon' parameter of LaplaceNoise must be positive and finite"):
        LaplaceNoise(epsilon)


@pytest.mark.parametrize(("epsilon", "l1"), [(5e-324, 1.0), (1e-300, 2.0**20), (1e-18, 1.0), (1.0, math.inf)])
def test_a_scale_beyond_64_bits_is_a_typed_error(epsilon, l1):
    with pytest.raises(ParameterError, match="so large that the noise has a scale below"):
        LaplaceNoise(epsilon, l1=l1)
    LaplaceNoise(1e-12, l1=1.0)
