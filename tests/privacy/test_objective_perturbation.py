"""Objective perturbation: the minimum is one, the density of the weights is what the proof says, and it costs epsilon."""

from __future__ import annotations

import math
from contextlib import nullcontext
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import cumulative_trapezoid
from threadpoolctl import threadpool_limits

from dpviz.privacy.objective_perturbation import CURVATURE, ObjectivePerturbation, minimiser
from dpviz.privacy.source import Simulation
from tests.support.goodness import FITS

PENALTIES = st.floats(1e-4, 1e3)


def noise_at(f, x, y, penalty):
    """The b that makes f the minimum, row by row."""
    b = -penalty * f
    for row, sign in zip(x, y, strict=True):
        b = b + sign * row / (1 + math.exp(sign * float(f @ row)))
    return b


def log_density(f, x, y, mechanism):
    """Up to a constant: density of b at f times the Jacobian of the map from f to b."""
    penalty = mechanism.penalty_used
    jacobian = penalty * np.eye(len(f))
    for row in x:
        chance = 1 / (1 + math.exp(-float(f @ row)))
        jacobian = jacobian + chance * (1 - chance) * np.outer(row, row)
    return -mechanism.beta * np.linalg.norm(noise_at(f, x, y, penalty)) + np.linalg.slogdet(jacobian)[1]


def some_rows(rng, n, width):
    x = rng.normal(size=(n, width))
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1), rng.choice([-1.0, 1.0], n)


@pytest.mark.parametrize("n", [0, 1, 200])
def test_the_gradient_is_nothing_at_the_minimum(rng, n):
    x, y = some_rows(rng, n, 4)
    for penalty, noise in product([1e-3, 1.0, 1e5], [0.0, 3.0, 1e7]):
        b = noise * rng.normal(size=4)
        f = minimiser(x, y, penalty, b)
        if np.abs(f).max() < 700:  # beyond, exp() of the oracle overflows
            np.testing.assert_allclose(noise_at(f, x, y, penalty), b, atol=1e-9 * (n + 4 * noise + penalty))
        else:
            np.testing.assert_allclose(penalty * f, -b, rtol=1e-3, atol=n)


@given(st.floats(1e-6, 1e6), PENALTIES)
def test_noise_and_curvature_together_cost_epsilon(epsilon, penalty):
    mechanism = ObjectivePerturbation(epsilon, penalty)
    assert mechanism.beta + math.log1p(CURVATURE / mechanism.penalty_used) == pytest.approx(epsilon, rel=1e-9)
    assert mechanism.penalty_used >= penalty
    assert 0 < mechanism.beta <= epsilon


@given(st.integers(0, 2**31), st.integers(0, 6), st.integers(1, 3), st.floats(0.05, 3), PENALTIES)
def test_one_more_row_moves_no_density_by_more_than_epsilon(seed, n, width, epsilon, penalty):
    # The densities' constants are those of b, the same for all data sets: their ratio at f is the ratio of these.
    rng = np.random.default_rng(seed)
    x, y = some_rows(rng, n + 1, width)
    x[-1] /= np.linalg.norm(x[-1])
    mechanism = ObjectivePerturbation(epsilon, penalty)
    for _ in range(5):
        f = rng.normal(size=width) * rng.choice([0.1, 1.0, 10.0])
        loss = log_density(f, x, y, mechanism) - log_density(f, x[:-1], y[:-1], mechanism)
        assert abs(loss) <= epsilon * (1 + 1e-9)


def test_the_bound_is_nearly_met():
    mechanism = ObjectivePerturbation(1.0, 1.0)
    row, sign = np.ones((1, 1)), np.ones(1)
    at = [np.array([f]) for f in np.linspace(-8, 8, 400)]
    losses = [abs(log_density(f, row, sign, mechanism) - log_density(f, row[:0], sign[:0], mechanism)) for f in at]
    assert 0.75 <= max(losses) <= 1.0


THREE_ROWS = np.array([[1.0], [0.4], [-0.9]]), np.array([1.0, -1.0, 1.0])


@pytest.mark.slow
def test_weights_follow_the_density_of_this_epsilon_and_of_no_other(monkeypatch):
    # half of the time goes into it; sums of three rows are shared by no threads
    monkeypatch.setattr("threadpoolctl.threadpool_limits", lambda *_, **__: nullcontext())
    mechanism, source = ObjectivePerturbation(1.5, 0.5), Simulation(2)
    draws = np.array([mechanism.release(THREE_ROWS, source=source, part="model").value[0] for _ in range(1500)])
    grid = np.linspace(draws.min() - 5, draws.max() + 5, 1001)
    for factor, fits in ((1.0, True), (0.7, False), (1.3, False)):
        other = ObjectivePerturbation(1.5 * factor, 0.5)
        density = np.exp([log_density(np.array([f]), *THREE_ROWS, other) for f in grid])
        distribution = cumulative_trapezoid(density, grid, initial=0)
        found = stats.kstest(draws, lambda f, law=distribution: np.interp(f, grid, law / law[-1])).pvalue
        assert (found > FITS) == fits


@pytest.mark.slow
def test_the_minimum_does_not_depend_on_the_number_of_threads(rng):
    """Sums of 20,000 rows are shared by threads, and rounded otherwise by two than by one."""
    x = rng.normal(size=(20_000, 10)) / 10
    y, linear = np.where(x[:, 0] > 0, 1.0, -1.0), rng.normal(size=10)
    found = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads, user_api="blas"):
            found.append(minimiser(x, y, 1.0, linear))
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()
