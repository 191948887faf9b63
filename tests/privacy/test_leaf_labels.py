"""Labels of many leaves at once follow the distribution of one leaf, rows or none."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.privacy.leaf_labels import GlobalMajority, LabelLeaves, LeafCounts
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.smooth import SmoothMajority
from dpviz.privacy.source import ExactNoise, Simulation

RULES = [PermuteAndFlip(0.7, COUNT), SmoothMajority(0.7), GlobalMajority(0.7)]


def many(counts: list[int], times: int) -> LeafCounts:
    """`times` leaves with these counts, every other leaf empty."""
    return LeafCounts(2 * times, np.arange(0, 2 * times, 2), np.tile(np.array(counts), (times, 1)))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.title)
@pytest.mark.parametrize("counts", [[3, 1, 0], [2, 2, 5], [0, 0, 1]])
def test_labels_follow_the_distribution_of_their_leaf_and_empty_ones_are_uniform(rule, counts: list[int]) -> None:
    times = 20_000
    labels = LabelLeaves(rule).release(many(counts, times), source=Simulation(1)).value
    for drawn, distribution in ((labels[::2], rule.probabilities(np.array(counts))), (labels[1::2], np.full(3, 1 / 3))):
        found = np.bincount(drawn, minlength=3) / times
        assert abs(found - distribution).max() < 4.5 * np.sqrt(0.25 / times)


@pytest.mark.parametrize("rule", [RULES[0], pytest.param(RULES[2], marks=pytest.mark.slow)], ids=lambda rule: rule.title)
@pytest.mark.slow
def test_exact_labels_follow_the_same_distribution(rule) -> None:
    times = 1500
    labels = LabelLeaves(rule).release(many([2, 0, 1], times), source=ExactNoise()).value
    for drawn, distribution in ((labels[::2], rule.probabilities(np.array([2, 0, 1]))), (labels[1::2], np.full(3, 1 / 3))):
        found = np.bincount(drawn, minlength=3) / times
        assert abs(found - distribution).max() < 4.5 * np.sqrt(0.25 / times)


def test_the_distribution_of_all_labels_is_the_product() -> None:
    rule = RULES[0]
    distribution = LabelLeaves(rule).probabilities(LeafCounts(2, np.array([1]), np.array([[3, 0]])))
    one = rule.probabilities(np.array([3, 0]))
    np.testing.assert_allclose(distribution, [one[0] / 2, one[1] / 2, one[0] / 2, one[1] / 2])


def test_global_sensitivity_gives_the_majority_odds_of_half_epsilon() -> None:
    distribution = GlobalMajority(2.0).probabilities(np.array([[1000, 0], [1, 0], [4, 4]]))
    np.testing.assert_allclose(distribution[:2, 0] / distribution[:2, 1], np.e)
    np.testing.assert_allclose(distribution[2], 0.5)
