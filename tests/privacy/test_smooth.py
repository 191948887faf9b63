"""The smooth majority: its distribution, its unbounded odds, and a sampler that follows the distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.privacy.smooth import SmoothMajority
from dpviz.privacy.source import Simulation
from tests.support.goodness import FITS, p_value
from tests.support.oracles import mechanisms as oracle


@given(st.lists(st.integers(0, 12), min_size=2, max_size=6), st.floats(0.01, 2))
def test_the_distribution_is_the_exponential_mechanism_at_the_smooth_sensitivity(counts, epsilon):
    best, second = sorted(counts, reverse=True)[:2]
    scores = [1.0 if count == best else 0.0 for count in counts]
    exponent = min(epsilon / (2 * math.exp(-(best - second) * epsilon)), 700.0)
    expected = oracle.exponential_mechanism(scores, exponent, [1.0] * len(counts))
    np.testing.assert_allclose(SmoothMajority(epsilon).probabilities(np.array(counts)), expected, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize(("epsilon", "gap", "times"), [(1.0, 1, 2.13), (0.1, 50, 7.8), (2.0, 0, 1.0)])
def test_one_row_moves_the_distribution_by_more_than_epsilon(epsilon, gap, times):
    here, there = (SmoothMajority(epsilon).probabilities(np.array([10 + gap + step, 10]))[1] for step in (0, 1))
    assert math.log(here / there) >= times * epsilon


def test_no_epsilon_covers_the_odds():
    mechanism = SmoothMajority(0.5)
    chances = mechanism.probabilities(np.column_stack([np.arange(12), np.zeros(12, dtype=int)]))[:, 1]
    losses = np.log(chances[:-1]) - np.log(chances[1:])
    assert (np.diff(losses[1:]) > 0).all()
    assert losses[-1] > 40 * 0.5


@pytest.mark.slow
def test_draws_follow_the_distribution_of_this_epsilon_and_of_no_other():
    counts = np.array([4, 6, 1])
    source = Simulation(3)
    draws = np.array([SmoothMajority(0.6).release(counts, source=source, part="leaf").value for _ in range(9000)])
    for factor, fits in ((1.0, True), (0.7, False), (1.3, False)):
        assert (p_value(draws, SmoothMajority(0.6 * factor).probabilities(counts)) > FITS) is fits
