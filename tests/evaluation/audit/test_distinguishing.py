"""Confidence bounds: what they are, and how often they are wrong."""

import math

import numpy as np
import pytest
from scipy import stats

from dpviz.evaluation.audit.outputs import bound_by_guesses, distinguish, lower_bound, most_that_shows

BETA = 0.2


@pytest.mark.parametrize(("up", "down", "n"), [(50, 5, 100), (1, 0, 10), (100, 0, 100), (99, 98, 100)])
def test_the_bound_is_that_of_clopper_and_pearson(up, down, n):
    at_least = stats.binomtest(up, n).proportion_ci(1 - 0.05, "exact").low
    at_most = stats.binomtest(down, n).proportion_ci(1 - 0.05, "exact").high
    expected = max(0.0, math.log((at_least - 1e-3) / at_most)) if at_least > 1e-3 else 0.0
    assert float(lower_bound(up, down, n, beta=0.05, delta=1e-3)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("n", [0, 1])
def test_what_never_happens_few_guesses_and_few_draws_show_nothing(n):
    assert lower_bound(0, 0, 10, beta=0.05) == lower_bound(0, 10, 10, beta=0.05) == 0
    assert distinguish([{"x": 0}] * n, [{"x": 1}] * n, beta=0.05).bound == 0


def test_the_largest_bound_needs_an_event_that_always_and_never_happens():
    share = min(0.05 ** (1 / 2000), 1999 / 2000)  # all 2,000 guesses right
    assert most_that_shows(1000, beta=0.05) == pytest.approx(math.log(share / (1 - share)))
    by_ratio = 0.025 ** (1 / 1000) / (1 - 0.025 ** (1 / 1000))
    assert float(lower_bound(1000, 0, 1000, beta=0.05)) == pytest.approx(math.log(by_ratio))
    assert by_ratio < share / (1 - share)
    assert most_that_shows(0, beta=0.05) == 0
    assert most_that_shows(1000, beta=0.05, delta=0.1) < most_that_shows(1000, beta=0.05)


@pytest.mark.parametrize("delta", [0.0, 0.01])
@pytest.mark.parametrize(("up", "n"), [(0.9, 40), (0.6, 400), (0.55, 5000)])
def test_right_guesses_bound_epsilon_no_more_often_wrong_than_stated_and_better_where_both_errors_are_common(up, n, delta):
    """The law with the most right guesses under (epsilon, delta): both errors at once, in any mixture of the two tables."""
    rng, down = np.random.default_rng(7), 1 - up + 0.7 * delta
    truth = max(math.log((up - delta) / down), math.log((1 - down - delta) / (1 - up)))
    shown = rng.binomial(n, up, size=4000), rng.binomial(n, down, size=4000)
    bounds = bound_by_guesses(*shown, n, beta=BETA, delta=delta)
    assert stats.binomtest(int((bounds > truth).sum()), 4000, BETA, alternative="greater").pvalue > 1e-6
    assert stats.binomtest(int((bounds > truth * 0.9).sum()), 4000, BETA, alternative="greater").pvalue < 1e-6
    assert np.median(bounds) > np.median(lower_bound(*shown, n, beta=BETA, delta=delta))


def test_few_guesses_show_nothing():
    assert bound_by_guesses(0, 1, 1, beta=0.05) == bound_by_guesses(1, 0, 1, beta=0.5) == 0


def coin(epsilon, side, n, rng):
    """Randomised response: shows the side it is on with the odds exp(epsilon)."""
    right = rng.random(n) < 1 / (1 + math.exp(-epsilon))
    noise = rng.integers(0, 9, n).tolist()
    return [{"coin": side if right[i] else 1 - side, "noise": noise[i]} for i in range(n)]


def many_bounds(epsilon, n, runs, seed):
    rng = np.random.default_rng(seed)
    return np.array([distinguish(coin(epsilon, 0, n, rng), coin(epsilon, 1, n, rng), beta=BETA).bound for _ in range(runs)])


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.slow
def test_the_bound_is_above_the_truth_at_most_as_often_as_stated_and_often_enough_close_to_it(epsilon):
    bounds = many_bounds(epsilon, 1000, 400, seed=1)
    assert stats.binomtest(int((bounds > epsilon).sum()), 400, BETA, alternative="greater").pvalue > 1e-6
    assert (bounds > 0.5 * epsilon).mean() > 0.5
    # the same bounds, held against two thirds of the truth, are wrong more often than stated
    assert stats.binomtest(int((bounds > epsilon * 2 / 3).sum()), 400, BETA, alternative="greater").pvalue < 1e-6


@pytest.mark.slow
def test_where_there_is_nothing_to_find_the_bound_is_hardly_ever_positive():
    bounds = many_bounds(0.0, 400, 400, seed=2)
    assert stats.binomtest(int((bounds > 0).sum()), 400, BETA, alternative="greater").pvalue > 1e-6


def test_an_event_chosen_on_the_draws_that_bound_it_would_be_wrong_too_often():
    # a test of the test: noise with many values, the best-looking one picked on the very draws that are counted
    rng, wrong = np.random.default_rng(3), 0
    for _ in range(200):
        counts = [np.bincount(rng.integers(0, 200, 2000), minlength=200) for _ in range(2)]
        wrong += bool((lower_bound(counts[0], counts[1], 2000, beta=BETA) > 0).any())
    assert stats.binomtest(wrong, 200, BETA, alternative="greater").pvalue < 1e-6


def test_both_orders_are_tried_and_the_event_that_tells_most_is_chosen():
    rng = np.random.default_rng(4)
    usual = [{"seen": 0} for _ in range(200)]
    sometimes = [{"seen": int(rng.random() < 0.5)} for _ in range(200)]
    for first, second, likelier_on in ((usual, sometimes, 1), (sometimes, usual, 0)):
        found = distinguish(first, second, beta=0.05)
        assert found.likelier_on == likelier_on
        assert found.outcomes == {1}
        assert found.bound > 1
    rng = np.random.default_rng(5)
    found = distinguish(coin(3.0, 0, 1000, rng), coin(3.0, 1, 1000, rng), beta=0.05)
    assert found.observed == "coin"
    assert found.n_draws == 500
    assert sum(found.hits) > 0
