"""Bounds that hold at every moment: how often they are wrong is computed exactly, over all that can happen before a stop."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.evaluation.audit.wagers import (
    STAKES,
    best_stake,
    growth,
    least_right,
    log_wealth,
    refutes,
    right_shown,
    wagered_bound,
)

BETA = 0.1
PAIRS = 40


def ever_refuted(epsilon, laws, pairs, *, beta=BETA, delta=0.0, stakes=STAKES):
    """The exact probability that this epsilon is refuted after any of so many pairs of draws.

    `laws`: P(right), P(wrong) of a draw from either table; nothing is guessed otherwise. It walks over all (right, wrong).
    """
    size = 2 * pairs + 1
    rights, wrongs = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    chances, refuted = np.zeros((size, size)), 0.0
    chances[0, 0] = 1.0
    for pair in range(1, pairs + 1):
        for right, wrong in laws:
            after = (1 - right - wrong) * chances
            after[1:] += right * chances[:-1]
            after[:, 1:] += wrong * chances[:, :-1]
            chances = after
        reached = chances > 0
        wealth = np.full((size, size), -math.inf)
        wealth[reached] = log_wealth(rights[reached], wrongs[reached], pair, epsilon, delta=delta, stakes=stakes)
        gone = (wealth >= -math.log(beta)) & (rights >= 4 * delta * pair)
        refuted += chances[gone].sum()
        chances[gone] = 0
    return refuted


def response(epsilon, told=1.0):
    """Randomised response, the law with the most right guesses, of which a share is guessed."""
    right = told / (1 + math.exp(-epsilon))
    return [(right, told - right)] * 2


@pytest.mark.parametrize(
    ("epsilon", "laws"),
    [
        (0.0, response(0.0)),
        (1.0, response(1.0)),
        (1.0, response(1.0, told=0.4)),
        (1.0, [(1.0, 0.0), (0.0, math.exp(-1.0))]),  # of an event that is certain on one table
        (3.0, [(0.6, 0.0), (0.0, 0.6 * math.exp(-3.0))]),
    ],
)
def test_whenever_an_attack_stops_its_bound_is_above_the_truth_no_more_often_than_stated(epsilon, laws):
    wrong = ever_refuted(epsilon, laws, PAIRS)
    assert wrong <= BETA
    assert wrong > BETA / 50 or laws[0][1] == 0, "nor is it needlessly cautious"


@pytest.mark.parametrize("delta", [0.01, 0.1])
def test_delta_is_paid_for_at_every_draw(delta):
    """The law with the most right guesses under (epsilon, delta): delta of either table gives itself away."""
    right = (math.exp(0.5) + delta) / (1 + math.exp(0.5))
    laws = [(right, 1 - right)] * 2
    assert ever_refuted(0.5, laws, PAIRS, delta=delta) <= BETA
    assert ever_refuted(0.5, laws, PAIRS, delta=delta) < ever_refuted(0.5, laws, PAIRS)


def test_most_of_the_truth_is_shown_in_the_end_and_half_of_the_noise_is_noticed():
    assert ever_refuted(1.4, response(2.0), 3 * PAIRS) > 0.6
    assert ever_refuted(1.0, response(2.0), PAIRS) > 0.7


def test_who_knows_how_many_guesses_are_right_stakes_best_and_is_wrong_no_more_often():
    laws, best = response(2.0), best_stake(1 / (1 + math.exp(-2.0)), 1.2)
    by_stake = [ever_refuted(1.2, laws, PAIRS, stakes=np.array([stake])) for stake in (best / 4, best, 1.0)]
    assert by_stake[1] == max(by_stake)
    assert by_stake[1] > ever_refuted(1.2, laws, PAIRS)
    assert BETA / 5 < ever_refuted(1.2, response(1.2), PAIRS, stakes=np.array([best])) <= BETA
    assert best_stake(0.5, 1.2) == 0


@pytest.mark.parametrize(("right", "wrong", "pairs"), [(60, 40, 50), (90, 10, 100), (20, 0, 300), (1000, 900, 1000)])
def test_the_bound_parts_what_is_refuted_from_what_is_not(right, wrong, pairs):
    for delta in (0.0, 1e-3):
        bound = wagered_bound(right, wrong, pairs, beta=BETA, delta=delta)
        refuted = [refutes(right, wrong, pairs, bound * share, beta=BETA, delta=delta) for share in (0.2, 0.999, 1.001, 2)]
        assert refuted == ([True, True, False, False] if bound else [False] * 4)
    assert wagered_bound(right, wrong, pairs, beta=BETA, delta=0.4) == 0
    share = least_right(right, wrong, pairs, beta=BETA)
    assert math.log(share / (1 - share)) == pytest.approx(wagered_bound(right, wrong, pairs, beta=BETA))


@pytest.mark.parametrize(("epsilon", "pairs"), [(0.5, 200), (1.0, 100), (3.0, 100)])
@pytest.mark.slow
def test_on_average_no_stake_shows_more_of_randomised_response_than_its_ceiling_and_the_best_shows_all_of_it(epsilon, pairs):
    right = 1 / (1 + math.exp(-epsilon))
    ceiling = right_shown(right, pairs, beta=BETA)
    shown, mean = math.log(ceiling / (1 - ceiling)), (2 * pairs * right, 2 * pairs * (1 - right), pairs)
    best = best_stake(right, shown)
    bounds = [wagered_bound(*mean, beta=BETA, stakes=np.array([best * share])) for share in (0.2, 0.8, 1.0, 1.1)]
    assert bounds[2] == pytest.approx(shown, abs=1e-6)
    assert max(bounds) == bounds[2]
    assert wagered_bound(*mean, beta=BETA) < shown, "nor does who divides the money"
    counts = np.arange(2 * pairs + 1)
    chances, stakes = binom.pmf(counts, 2 * pairs, right), np.array([best])
    each = np.array([wagered_bound(int(k), int(2 * pairs - k), pairs, beta=BETA, stakes=stakes) for k in counts[chances > 1e-12]])
    chances = chances[chances > 1e-12]
    assert 0.45 < chances[each > shown].sum() < 0.55, "half of all attacks show more"
    assert (chances * each).sum() == pytest.approx(shown, rel=0.05)


def test_the_ceiling_grows_with_the_draws_up_to_the_truth():
    grown = [right_shown(0.7, pairs, beta=BETA) for pairs in (1, 10, 20, 100, 10_000, 10**8)]
    assert grown[0] == 0.5
    assert grown == sorted(grown)
    assert grown[-2] < grown[-1] < 0.7 < grown[-1] + 1e-3
    assert right_shown(1.0, 50, beta=BETA) == pytest.approx(BETA ** (1 / 100)), "where no guess is ever wrong"
    assert growth(np.array([0.4, 0.75, 1.0]), 0.5) == pytest.approx([0, 0.75 * math.log(1.5) - 0.25 * math.log(2), math.log(2)])


def test_what_was_never_guessed_shows_nothing():
    assert wagered_bound(0, 0, 100, beta=BETA) == wagered_bound(0, 0, 0, beta=BETA) == wagered_bound(5, 5, 5, beta=BETA) == 0
