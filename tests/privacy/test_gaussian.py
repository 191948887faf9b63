"""Gaussian noise on whole numbers: both samplers follow the distribution, and no row contributes more than its limit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest, norm

from dpviz.accounting.gaussian import GRID_SLACK
from dpviz.privacy.gaussian import CONTRIBUTION_BITS, GaussianNoise, NoiseGrid, contributions
from dpviz.privacy.random_assignment import PoissonSample
from dpviz.privacy.source import ExactNoise, Simulation
from tests.support.examples import examples

SOURCES = {"simulation": lambda: Simulation(11), "release": ExactNoise}
each_source = pytest.mark.parametrize("source", SOURCES)


def cells(noise: np.ndarray, radius: int) -> np.ndarray:
    return np.bincount(np.clip(noise, -radius, radius) + radius, minlength=2 * radius + 1)


def distribution(scale: float, radius: int) -> np.ndarray:
    inner = GaussianNoise(scale).pmf(np.arange(-radius, radius + 1))
    inner[[0, -1]] += (1 - inner.sum()) / 2
    return inner


@pytest.mark.slow
@each_source
@pytest.mark.parametrize("scale", [0.7, 3.0])
def test_small_noise_follows_its_distribution_and_no_other(source, scale):
    drawn = GaussianNoise(scale).add(np.zeros(20_000, dtype=np.int64), source=SOURCES[source]())
    radius = math.ceil(2.2 * scale)
    counts = cells(drawn, radius)
    assert chisquare(counts, distribution(scale, radius) * 20_000).pvalue > 1e-5
    for wrong in (0.9, 1.1):
        assert chisquare(counts, distribution(scale * wrong, radius) * 20_000).pvalue < 1e-5


@each_source
@pytest.mark.slow
def test_noise_on_a_fine_grid_is_gaussian(source):
    scale = 2.0**30 * 1.3
    drawn = GaussianNoise(scale).add(np.full(24_000, 5, dtype=np.int64), source=SOURCES[source]())
    assert drawn.dtype == np.int64
    assert kstest(drawn / scale, norm.cdf).pvalue > 1e-5
    for wrong in (0.9, 1.1):  # enough draws that unseeded noise is told apart too
        assert kstest(drawn / scale / wrong, norm.cdf).pvalue < 1e-3


def test_the_distribution_adds_up_to_one_and_has_its_variance():
    noise = np.arange(-400, 401)
    for scale in (0.5, 2.0, 9.0):
        distribution = GaussianNoise(scale).pmf(noise)
        assert distribution.sum() == pytest.approx(1.0, abs=1e-12)
        # the variance of the discrete Gaussian is at most that of the real one, and almost equal from scale 1 on
        assert (distribution * noise**2).sum() <= scale**2 * (1 + 1e-9)
    assert (GaussianNoise(9.0).pmf(noise) * noise**2).sum() == pytest.approx(81, rel=1e-9)


@pytest.mark.slow
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.floats(1e-3, 1e3))
@example([1.5, -1.5, 0.7], 1.0)
@examples(200)
def test_no_row_contributes_more_than_its_limit_and_none_turns_its_sign(values, limit):
    for given_values in (np.array(values), np.array(values)[:, None]):
        steps = contributions(given_values, limit)
        assert (steps == np.rint(steps)).all()
        assert (np.abs(steps) <= limit * 2.0**CONTRIBUTION_BITS).all()
        assert (steps * given_values >= 0).all()
        np.testing.assert_allclose(steps * 2.0**-CONTRIBUTION_BITS, np.clip(given_values, -limit, limit), rtol=1e-9, atol=2e-6)


@pytest.mark.slow
@given(st.lists(st.tuples(*[st.floats(-50, 50)] * 3), min_size=1, max_size=10), st.floats(0.01, 10))
@examples(200)
def test_several_contributions_of_a_row_are_limited_together(rows, limit):
    steps = contributions(np.array(rows), limit)
    assert (np.square(steps).sum(axis=1) <= (limit * 2.0**CONTRIBUTION_BITS) ** 2).all()


@pytest.mark.parametrize("scale", [1e-4, 0.01, 1.0, 300.0, 1e8])
def test_the_grid_of_the_noise_is_fine_enough_for_its_account(scale):
    grid = NoiseGrid((scale, 3 * scale))
    assert scale * grid.steps >= min(2.0**28, scale * 2.0**40)
    assert grid.steps >= 2.0**CONTRIBUTION_BITS
    assert scale * grid.steps < 2.0**60


def test_a_sample_takes_each_row_with_its_probability_and_sums_that_are_too_large_are_cut():
    for source in (Simulation(4), ExactNoise()):
        share = PoissonSample(0.3).participants(20_000, source=source).mean()
        assert abs(share - 0.3) < 5 * math.sqrt(0.21 / 20_000)
        assert PoissonSample(1.0).participants(5, source=source).all()
    grid = NoiseGrid((1e-4,))
    sums = np.array([1.0, -1.0]) * 2.0**60
    noisy = grid.noisy(sums, 0, source=Simulation(1))
    np.testing.assert_allclose(noisy, np.array([1.0, -1.0]) * 2.0**61 / grid.steps, rtol=1e-6)


@pytest.mark.parametrize("scale", [20.0, 100.0])
def test_noise_on_a_grid_differs_from_rounded_gaussian_noise_by_the_factor_its_account_allows(scale):
    noise = np.arange(-math.ceil(7 * scale), math.ceil(7 * scale) + 1)
    halves = np.abs(noise)  # upper tails: no cancellation
    rounded = norm.sf((halves - 0.5) / scale) - norm.sf((halves + 0.5) / scale)
    log_ratio = np.log(rounded / GaussianNoise(scale).pmf(noise))
    expected = ((noise / scale) ** 2 - 1) / (24 * scale**2)
    np.testing.assert_allclose(log_ratio, expected, atol=2 / scale**4 * 49**2 / 100)
    # within 40 standard deviations of 2^28 steps, over the million sums that one row can reach in all rounds
    assert GRID_SLACK > 1e6 * 40**2 / (24 * 2.0**56)
