"""Guesses against a whole trade-off curve: hardly ever above the truth, and much nearer to it for Gaussian noise."""

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from dpviz.accounting.events import GaussianRounds
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.evaluation.audit.by_curve import allows, outguessed
from dpviz.evaluation.audit.one_run_audit import bound_from, guess

BETA = 0.1
RESPONSE = Risk.of_any(PrivacyLoss(1.0))
#: mu = 1.
GAUSSIAN = Risk(GaussianRounds(6.0, 1e-6, 1.0, 1.0, 1, None, "sums"))


def gaussian_at(mu):
    return Risk(GaussianRounds(30.0, 1e-6, 1 / mu, 1.0, 1, None, "sums"))


def test_the_inverse_of_a_curve_is_that_of_the_ideal_mechanism():
    for power in (0.01, 0.3, 0.8, 0.99):
        least = max(power * math.exp(-1), 1 - (1 - power) * math.e, 0.0)
        assert RESPONSE.least_false_positives(power) == pytest.approx(least, abs=1e-3)
        assert RESPONSE.least_false_positives(power) <= least + 1e-9
        level = GAUSSIAN.least_false_positives(power)
        assert 1 - GAUSSIAN.false_negatives(level) == pytest.approx(power, abs=1e-6)
    assert RESPONSE.least_false_positives(0.0) == 0


@pytest.mark.parametrize("canaries", [20, 300])
@pytest.mark.slow
def test_independent_answers_are_refused_no_more_often_than_stated(canaries):
    """Exactly: the chance of all counts of right guesses that are refused."""
    for risk, right in ((RESPONSE, 1 / (1 + math.exp(-1))), (GAUSSIAN, float(ndtr(0.5)))):
        counts = np.arange(canaries + 1)
        refused = [not allows(risk, canaries, canaries, int(count), beta=BETA) for count in counts]
        assert refused == sorted(refused), "more right guesses are no more possible"
        assert any(refused)
        assert binom.pmf(counts, canaries, right)[refused].sum() <= BETA
    assert (
        binom.pmf(counts, canaries, 1 / (1 + math.exp(-1)))[
            [not allows(RESPONSE, canaries, canaries, int(count), beta=BETA) for count in counts]
        ].sum()
        > BETA / 10
    )


def test_answers_that_all_hang_on_one_coin_are_refused_no_more_often_than_stated():
    """With probability delta everything is told, else nothing: the least favourable law of (0, delta)."""
    delta, canaries = 0.09, 50
    curve = Risk.of_any(PrivacyLoss(0.0, delta))
    refused = [not allows(curve, canaries, canaries, count, beta=BETA) for count in range(canaries + 1)]
    chances = delta * (np.arange(canaries + 1) == canaries) + (1 - delta) * binom.pmf(np.arange(canaries + 1), canaries, 0.5)
    assert chances[refused].sum() <= BETA
    assert allows(curve, canaries, canaries, canaries, beta=delta * 0.99), "all of it may happen so often"


def shown(mu_or_epsilon, draws, seed, *, is_gaussian):
    rng = np.random.default_rng(seed)
    included = rng.random((draws, 8)) < 0.5
    if is_gaussian:
        return guess(included, rng.normal(size=included.shape) + mu_or_epsilon * included, beta=BETA)
    honest = rng.random(included.shape) < 1 / (1 + math.exp(-mu_or_epsilon))
    return guess(included, np.where(honest, included, ~included).astype(float), beta=BETA)


@pytest.mark.slow
def test_of_randomised_response_nearly_all_is_shown_and_rarely_more():
    found = [shown(1.0, 600, seed, is_gaussian=False) for seed in range(12)]
    epsilons = [outguessed(lambda e: Risk.of_any(PrivacyLoss(e)), 2.0, *counts(one), beta=BETA) for one in found]
    assert np.mean(np.array(epsilons) <= 1.0) >= 0.8
    assert np.median(epsilons) > 0.85


def test_of_gaussian_noise_much_more_is_shown_than_by_epsilon_and_delta_and_never_all():
    found = [shown(1.0, 640, seed, is_gaussian=True) for seed in range(4)]
    mus = [outguessed(gaussian_at, 2.0, *counts(one), beta=BETA) for one in found]
    assert max(mus) < 1
    assert np.median(mus) > 0.5
    by_curve = [gaussian_at(mu).epsilon_at(1e-6) for mu in mus]
    by_epsilon = [bound_from(one.n_canaries, one.n_guesses, one.n_right, beta=BETA, delta=1e-6) for one in found]
    assert np.median(by_curve) > 1.3 * np.median(by_epsilon)


def counts(found):
    return found.n_canaries, found.most, found.right_of_most


def test_no_more_guesses_count_than_were_counted_on_before():
    included = np.array([[True, False, False]] * 2 + [[True] * 3] * 2)
    found = guess(included, included.astype(float), beta=BETA)
    assert found.most <= 6
    assert found.right_of_most == min(found.most, found.n_right)
    # in the first half 10 of 40 canaries can be told, in the second all
    included = np.array([[True] * 10 + [True, False] * 15, [True] * 40])
    told = np.array([[1.0] * 10 + [0.0] * 30, [1.0] * 40])
    more = guess(included, told, beta=BETA)
    assert (more.n_right, more.most, more.right_of_most) == (40, 10, 10)


def test_the_own_curve_refused_is_the_whole_epsilon_and_nothing_guessed_refuses_nothing():
    assert outguessed(lambda e: Risk.of_any(PrivacyLoss(e)), 1.0, 400, 400, 390, beta=BETA) == 1.0
    assert outguessed(lambda e: Risk.of_any(PrivacyLoss(e)), 1.0, 400, 400, 200, beta=BETA) == 0.0
    assert allows(RESPONSE, 400, 40, 0, beta=BETA)
