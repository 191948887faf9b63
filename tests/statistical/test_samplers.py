"""Samplers of both sources against their distribution: the claimed epsilon fits; 0.7 and 1.3 times epsilon do not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.quantiles import JointQuantiles
from dpviz.privacy.selection import ExponentialMechanism, PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT, Sensitivity
from dpviz.privacy.source import ExactNoise, Simulation
from tests.support.goodness import FITS, p_value
from tests.support.oracles import mechanisms as oracle

UTILITIES = np.array([0, 3, 5, 5, 8, 9], dtype=np.int64)
SPREAD = Sensitivity(1.5, monotone=False, source="test")
FACTORS = ((1.0, True), (0.7, False), (1.3, False))
SOURCES = {"simulation": lambda: Simulation(7), "release": ExactNoise}
SELECTIONS = {
    "flip": PermuteAndFlip(0.5, COUNT),
    "flip, spread": PermuteAndFlip(1.5, SPREAD),
    "exponential": ExponentialMechanism(0.6, COUNT),
    "exponential, spread": ExponentialMechanism(2, SPREAD),
}
each_source = pytest.mark.parametrize("source", SOURCES)
BOX = 60


def fits(draws, distribution) -> bool:
    return p_value(np.asarray(draws), distribution) > FITS


#: Exact noise is slow: in the fast tests one mechanism draws from it, fewer times.
SELECTED = [
    *(("simulation", name, 6000) for name in SELECTIONS),
    ("release", "flip", 2500),
    *(pytest.param("release", name, 6000, marks=pytest.mark.verify) for name in SELECTIONS),
    *(pytest.param("release", name, 2500, marks=pytest.mark.slow) for name in list(SELECTIONS)[1:]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("source", "name", "times"), SELECTED)
def test_selection_follows_its_distribution_and_no_other(source, name, times):
    mechanism, noise = SELECTIONS[name], SOURCES[source]()
    draws = [mechanism.release(UTILITIES, source=noise, part="node").value for _ in range(times)]
    kind, other = type(mechanism), PermuteAndFlip if "exponential" in name else ExponentialMechanism
    for factor, right in FACTORS:
        law = kind(factor * mechanism.epsilon, mechanism.sensitivity).probabilities(UTILITIES)
        assert fits(draws, law) is right
    assert not fits(draws, other(mechanism.epsilon, mechanism.sensitivity).probabilities(UTILITIES))


@pytest.mark.parametrize("times", [500, pytest.param(3000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", [PermuteAndFlip, ExponentialMechanism])
@each_source
def test_epsilon_zero_chooses_uniformly(source, kind, times):
    noise = SOURCES[source]()
    draws = [kind(0.0, COUNT).release(UTILITIES, source=noise, part="node").value for _ in range(times)]
    assert fits(draws, np.full(6, 1 / 6))


def test_weights_shift_the_choice():
    weights, rng = np.array([8, 1, 1, 4, 1, 0.5]), np.random.default_rng(3)
    mechanism = ExponentialMechanism(0.4, COUNT, np.log(weights))
    draws = [mechanism.sample(UTILITIES, rng) for _ in range(10_000)]
    assert fits(draws, oracle.exponential_mechanism(UTILITIES.tolist(), 0.4, weights.tolist()))
    assert not fits(draws, ExponentialMechanism(0.4, COUNT).probabilities(UTILITIES))


@pytest.mark.slow
def test_permute_and_flip_among_thousands_follows_its_distribution_and_no_other():
    utilities, rng = np.repeat([0, 4, 8, 10], [1500, 400, 95, 5]), np.random.default_rng(5)
    draws = [PermuteAndFlip(0.8, COUNT).sample(utilities, rng) for _ in range(8000)]
    groups = np.searchsorted([1500, 1900, 1995], draws, side="right")
    for factor, right in FACTORS:
        distribution = PermuteAndFlip(0.8 * factor, COUNT).probabilities(utilities)
        assert fits(groups, np.add.reduceat(distribution, [0, 1500, 1900, 1995])) is right


@pytest.mark.parametrize("l1", [1.0, 3.0])
@each_source
def test_geometric_noise_follows_its_distribution_and_no_other(source, l1):
    noisy = GeometricNoise(0.9 * l1, l1).release(np.full((100, 100), 17), source=SOURCES[source](), part="leaf").value
    assert noisy.shape == (100, 100)
    for factor, right in FACTORS:
        law = GeometricNoise(factor * 0.9 * l1, l1)
        boxed = law.pmf(np.arange(-BOX, BOX + 1))
        boxed[[0, -1]] += law.tail(BOX + 1)
        assert fits((noisy - 17).clip(-BOX, BOX).ravel() + BOX, boxed) is right


def cells_of(values, mechanism) -> tuple[np.ndarray, list[tuple[int, ...]], np.ndarray]:
    """(edges of the gaps, every way to put the quantiles into them, its probability up to a constant)."""
    edges, weights = oracle.quantile_cells(values, mechanism.low, mechanism.high, mechanism.n_quantiles, mechanism.exponent)
    return edges, list(weights), np.array(list(weights.values()))


@pytest.mark.slow
def test_joint_quantiles_fall_into_gaps_by_their_distribution_and_uniformly_inside():
    values, rng = [2.0, 2.0, 3.0, 7.0, 7.5, 12.0], np.random.default_rng(11)  # the last one is clipped to 10
    mechanism = JointQuantiles(2.0, 0.0, 10.0, n_quantiles=2)
    draws = np.array([mechanism.sample(np.array(values), rng) for _ in range(5000)])
    for factor, right in FACTORS:
        edges, cells, distribution = cells_of(values, JointQuantiles(2.0 * factor, 0.0, 10.0, n_quantiles=2))
        drawn = np.searchsorted(edges, draws, side="right") - 1
        assert fits([cells.index(tuple(row)) for row in drawn], distribution) is right
    first = draws[:, 0]
    inside = first[(first > 3) & (first < 7) & (draws[:, 1] > 7)]
    assert len(inside) > 200
    assert stats.kstest(inside, stats.uniform(3, 4).cdf).pvalue > FITS
    assert stats.kstest(inside, stats.triang(0.5, 3, 4).cdf).pvalue < FITS


@pytest.mark.slow
def test_joint_quantiles_of_zero_inflated_values_and_of_nothing_have_their_marginals():
    values, rng = np.concatenate((np.zeros(400), np.arange(1, 30) ** 2.0)), np.random.default_rng(2)
    mechanism = JointQuantiles(0.2, -10.0, 1000.0, n_quantiles=3)
    draws = np.array([mechanism.sample(values, rng) for _ in range(3000)])
    edges, cells, distribution = cells_of(values.tolist(), mechanism)
    drawn = np.searchsorted(edges, draws, side="right") - 1
    for j in range(3):
        marginal = np.bincount([cell[j] for cell in cells], weights=distribution, minlength=len(edges) - 1)
        assert fits(drawn[:, j], marginal)
        assert not fits(drawn[:, j], marginal[::-1])
    nothing = JointQuantiles(1.0, -3.0, 5.0, n_quantiles=4)  # sorted uniform points
    draws = np.array([nothing.sample(np.array([]), rng) for _ in range(2000)])
    for j in range(4):
        assert stats.kstest(draws[:, j], stats.beta(j + 1, 4 - j, loc=-3, scale=8).cdf).pvalue > FITS
        assert stats.kstest(draws[:, j], stats.beta(j + 2, 4 - j, loc=-3, scale=8).cdf).pvalue < FITS


# --- the test of fit itself

LAW = np.array([0.5, 0.3, 0.15, 0.05])


def _draws(distribution, seed):
    return np.random.default_rng(seed).choice(len(distribution), size=4000, p=distribution)


@pytest.mark.slow
def test_p_values_of_right_draws_are_uniform_and_wrong_ones_do_not_fit():
    values = np.array([p_value(_draws(LAW, seed), LAW) for seed in range(400)])
    assert 0.4 < values.mean() < 0.6
    assert 0.05 < (values < 0.1).mean() < 0.16
    for wrong in (LAW[::-1], np.array([0.4, 0.4, 0.15, 0.05]), np.array([0.55, 0.3, 0.15, 0.0])):
        assert not fits(_draws(wrong, seed=1), LAW)
    assert not fits([0] * 500 + [1] * 499 + [2], np.array([0.5, 0.5, 1e-12]))  # an impossible outcome
