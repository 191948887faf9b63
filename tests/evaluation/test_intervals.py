"""Confidence intervals against SciPy's, and how often they are wrong."""

import numpy as np
import pytest
from scipy import stats

from dpviz.evaluation.metrics import clopper_pearson, mean_limits, paired_difference, wilson
from dpviz.randomness import generator


def test_limits_are_those_of_clopper_pearson_and_wilson():
    low, high = clopper_pearson(7, 20, 0.025)
    assert stats.binom.sf(6, 20, low) == pytest.approx(0.025)
    assert stats.binom.cdf(7, 20, high) == pytest.approx(0.025)
    assert clopper_pearson(0, 20, 0.025)[0] == 0
    assert clopper_pearson(20, 20, 0.025)[1] == 1
    hits = np.arange(31)
    expected = [stats.binomtest(int(k), 30).proportion_ci(0.98, "exact") for k in hits]
    low, high = clopper_pearson(hits, 30, 0.01)
    np.testing.assert_allclose(low, [interval.low for interval in expected], rtol=1e-7)
    np.testing.assert_allclose(high, [interval.high for interval in expected], rtol=1e-7)


@pytest.mark.parametrize(("share", "n"), [(0.0, 5), (0.3, 10), (1.0, 40), (0.93, 150)])
def test_the_range_is_wilsons(share, n):
    right = round(share * n)
    expected = stats.binomtest(right, n).proportion_ci(0.95, method="wilson")
    assert wilson(right / n, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_limits_of_a_mean_cover_it_and_tighten():
    rng = generator(5)
    values, chances = np.array([0.2, 0.45, 0.6, 0.62, 0.7, 0.8]), np.array([0.01, 0.04, 0.15, 0.3, 0.3, 0.2])
    truth = float(values @ chances)
    limits = np.array([mean_limits(rng.choice(values, size=500, p=chances), 0.1) for _ in range(400)])
    assert np.mean((limits[:, 0] <= truth) & (truth <= limits[:, 1])) >= 0.9
    assert np.ptp(mean_limits(np.full(10_000, 0.5), 0.1)) < 0.01
    assert mean_limits(np.array([0.5]), 0.1) == (0.0, 1.0)


def test_the_interval_of_a_paired_difference_covers_it_95_times_in_100_and_not_always():
    """Rows that both get right or wrong together, and few of them: the interval is about the rows where they differ."""
    rng = generator(5)
    first = rng.random((4000, 200)) < 0.8
    second = np.where(rng.random(first.shape) < 0.15, rng.random(first.shape) < 0.6, first)
    true = 0.15 * (0.8 - 0.6)
    inside = [low <= true <= high for _, low, high in map(paired_difference, first, second)]
    assert 0.93 < np.mean(inside) < 0.97


def test_a_paired_difference_is_that_of_the_shares_and_swaps_its_sign():
    first, second = np.array([True, True, False, True]), np.array([True, False, False, False])
    gap, low, high = paired_difference(first, second)
    assert gap == 0.5
    assert paired_difference(second, first) == (-gap, -high, -low)
    none = np.zeros(0, dtype=bool)
    assert paired_difference(none, none)[0] == 0.0
