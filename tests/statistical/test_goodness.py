import numpy as np
import pytest

from tests.support.goodness import FITS, p_value

LAW = np.array([0.5, 0.3, 0.15, 0.05])


def _draws(distribution, seed, count=4000):
    return np.random.default_rng(seed).choice(len(distribution), size=count, p=distribution)


def test_p_values_of_right_draws_are_uniform():
    values = np.array([p_value(_draws(LAW, seed), LAW) for seed in range(400)])
    assert 0.4 < values.mean() < 0.6
    assert 0.05 < (values < 0.1).mean() < 0.16


@pytest.mark.parametrize("wrong", [LAW[::-1], np.array([0.4, 0.4, 0.15, 0.05]), np.array([0.55, 0.3, 0.15, 0.0])])
def test_wrong_draws_do_not_fit(wrong):
    assert p_value(_draws(wrong, seed=1), LAW) < FITS


def test_an_impossible_outcome_does_not_fit():
    draws = np.array([0] * 500 + [1] * 499 + [2])
    assert p_value(draws, np.array([0.5, 0.5, 1e-12])) < FITS
