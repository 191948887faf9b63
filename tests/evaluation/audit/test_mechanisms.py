"""Bare mechanisms: what is sound holds, what is not is caught, and noise is read through a box."""

import math

import numpy as np
import pytest

from dpviz.evaluation.audit.mechanisms import ClippedCount, count_pairs, verify_mechanism
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import ExponentialMechanism, PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.smooth import SmoothMajority

EPSILONS = pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])


def test_count_pairs_are_all_neighbours_of_small_sum():
    pairs = list(count_pairs(2, 3))
    assert len(pairs) == 6 * 2
    assert all(sum(more) == sum(fewer) + 1 for fewer, more in pairs)
    assert len(set(pairs)) == len(pairs)


@EPSILONS
@pytest.mark.parametrize("kind", [PermuteAndFlip, ExponentialMechanism])
def test_selections_on_counts_hold(kind, epsilon):
    found = verify_mechanism(kind(epsilon, COUNT), count_pairs(3, 7), claimed=epsilon)
    assert found.verdict == "holds"
    assert 0.6 * epsilon < found.log_ratio <= epsilon * (1 + 1e-9)


@EPSILONS
@pytest.mark.parametrize("kind", [PermuteAndFlip, ExponentialMechanism])
def test_selections_with_twice_the_epsilon_are_caught(kind, epsilon):
    assert verify_mechanism(kind(2 * epsilon, COUNT), count_pairs(3, 7), claimed=epsilon).verdict == "ledger violated"


def smooth(epsilon, gaps):
    pairs = [((gap, 0), (gap + 1, 0)) for gap in gaps]
    return verify_mechanism(SmoothMajority(epsilon), pairs, claimed=epsilon, composed=math.inf, because="Why.")


def test_the_smooth_leaf_breaks_at_gap_one_where_epsilon_is_one():
    assert smooth(1.0, [0]).verdict == "unproven"
    found = smooth(1.0, [1])
    assert found.verdict == "violated"
    assert found.log_ratio > 2
    assert (found.worst_pair.first, found.worst_pair.second) == ((("1", "0"),), (("2", "0"),))


def test_the_smooth_leaf_breaks_only_at_gap_thirty_two_where_epsilon_is_a_tenth():
    assert smooth(0.1, range(32)).verdict == "unproven"
    assert smooth(0.1, [32]).verdict == "violated"


def test_the_loss_of_the_smooth_leaf_has_no_limit():
    losses = [smooth(1.0, [gap]).log_ratio for gap in range(5)]
    assert losses == sorted(losses)
    assert losses[-1] > 40


@pytest.mark.parametrize("count", [0, 3, 10])
def test_a_clipped_noisy_count_has_the_law_of_its_sampler(count, rng):
    read = ClippedCount(GeometricNoise(0.7), 10)
    distribution = read.probabilities(np.array([count]))
    assert distribution.sum() == pytest.approx(1, abs=1e-12)
    draws = GeometricNoise(0.7).sample(np.full(40_000, count), rng).clip(0, 10)
    np.testing.assert_allclose(np.bincount(draws, minlength=11) / 40_000, distribution, atol=0.012)
    wrong = ClippedCount(GeometricNoise(1.4), 10).probabilities(np.array([count]))
    assert np.abs(np.bincount(draws, minlength=11) / 40_000 - wrong).max() > 0.05


@EPSILONS
def test_noise_on_a_count_holds_and_half_of_it_is_caught(epsilon):
    pairs = [((n,), (n + 1,)) for n in range(10)]
    found = verify_mechanism(ClippedCount(GeometricNoise(epsilon), 10), pairs, claimed=epsilon)
    assert found.verdict == "holds"
    assert found.log_ratio == pytest.approx(epsilon)
    broken = verify_mechanism(ClippedCount(GeometricNoise(2 * epsilon), 10), pairs, claimed=epsilon)
    assert broken.verdict == "ledger violated"


def test_the_worst_pair_of_a_mechanism_gives_its_ratio():
    found = verify_mechanism(PermuteAndFlip(1.0, COUNT), count_pairs(2, 4), claimed=1.0)
    chances = [
        PermuteAndFlip(1.0, COUNT).probabilities(np.array([int(n) for n in rows[0]]))[found.output["output"]]
        for rows in (found.worst_pair.first, found.worst_pair.second)
    ]
    assert tuple(chances) == pytest.approx(found.worst_pair.probabilities)
    assert abs(math.log(chances[1] / chances[0])) == pytest.approx(found.log_ratio)
    assert found.searched == "20 pairs of counts"


def test_outputs_impossible_on_both_sides_are_no_evidence():
    class Never:
        title, epsilon = "never two", 1.0

        def probabilities(self, counts):
            return np.array([1.0, 0.0])

    found = verify_mechanism(Never(), [((1, 0), (2, 0))], claimed=1.0)
    assert (found.log_ratio, found.verdict) == (0.0, "holds")
