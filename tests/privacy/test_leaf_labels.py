"""Labels of leaves: many at once follow the law of one, rows or none; the smooth majority has unbounded odds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.privacy.leaf_labels import GlobalMajority, LabelLeaves, SmoothMajority
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.source import ExactNoise, Simulation
from tests.support.goodness import FITS, p_value
from tests.support.oracles import mechanisms as oracle

RULES = [PermuteAndFlip(0.7, COUNT), SmoothMajority(0.7), GlobalMajority(0.7)]


def many(counts: list[int], times: int) -> np.ndarray:
    """`times` leaves with these counts, every other leaf empty."""
    return np.tile(np.array([counts, [0] * len(counts)]), (times, 1))


SIMULATED = [(rule, counts, Simulation(1), 20_000) for rule in RULES for counts in ([3, 1, 0], [2, 2, 5], [0, 0, 1])]
EXACT = [pytest.param(rule, [2, 0, 1], ExactNoise(), 1500, marks=pytest.mark.slow) for rule in (RULES[0], RULES[2])]


@pytest.mark.parametrize(("rule", "counts", "source", "times"), [*SIMULATED, *EXACT])
def test_labels_follow_the_distribution_of_their_leaf_and_empty_ones_are_uniform(rule, counts, source, times) -> None:
    labels = LabelLeaves(rule).release(many(counts, times), source=source).value
    for drawn, distribution in ((labels[::2], rule.probabilities(np.array(counts))), (labels[1::2], np.full(3, 1 / 3))):
        found = np.bincount(drawn, minlength=3) / times
        assert abs(found - distribution).max() < 4.5 * np.sqrt(0.25 / times)


def test_the_distribution_of_all_labels_is_the_product() -> None:
    rule = RULES[0]
    counts = np.array([[0, 0], [3, 0]])
    distribution = LabelLeaves(rule).probabilities(counts)
    one = rule.probabilities(np.array([3, 0]))
    np.testing.assert_allclose(distribution, [one[0] / 2, one[1] / 2, one[0] / 2, one[1] / 2])
    every = [np.array([first, second], dtype=np.uint8) for first in (0, 1) for second in (0, 1)]
    np.testing.assert_allclose([LabelLeaves(rule).log_likelihood(counts, labels) for labels in every], np.log(distribution))


def test_global_sensitivity_gives_the_majority_odds_of_half_epsilon() -> None:
    distribution = GlobalMajority(2.0).probabilities(np.array([[1000, 0], [1, 0], [4, 4]]))
    np.testing.assert_allclose(distribution[:2, 0] / distribution[:2, 1], np.e)
    np.testing.assert_allclose(distribution[2], 0.5)


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
