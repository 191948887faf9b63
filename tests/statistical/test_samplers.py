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
WRONG = [0.7, 1.3]
SOURCES = {"simulation": lambda: Simulation(7), "release": ExactNoise}
SELECTIONS = [
    PermuteAndFlip(0.5, COUNT),
    PermuteAndFlip(1.5, SPREAD),
    ExponentialMechanism(0.6, COUNT),
    ExponentialMechanism(2, SPREAD),
]
BOX = 60


def _name(mechanism):
    monotone = "" if not hasattr(mechanism, "sensitivity") else f" monotone={mechanism.sensitivity.monotone}"
    return f"{mechanism.title}{monotone}"


def _with_epsilon(mechanism, epsilon):
    return type(mechanism)(epsilon, mechanism.sensitivity)


#: Exact noise is slow: in the fast tests one mechanism draws from it, fewer times.
SELECTED = [
    *(("simulation", mechanism, 6000) for mechanism in SELECTIONS),
    ("release", SELECTIONS[0], 2500),
    *(pytest.param(("release", mechanism, 6000), marks=pytest.mark.slow) for mechanism in SELECTIONS),
]


@pytest.fixture(scope="module", params=SELECTED, ids=lambda p: f"{p[0]} {_name(p[1])} {p[2]}")
def selected(request):
    name, mechanism, times = request.param
    source = SOURCES[name]()
    draws = [mechanism.release(UTILITIES, source=source, part="node").value for _ in range(times)]
    return mechanism, np.array(draws)


def test_selection_follows_its_distribution(selected):
    mechanism, draws = selected
    assert p_value(draws, mechanism.probabilities(UTILITIES)) > FITS


@pytest.mark.parametrize("factor", WRONG)
def test_selection_does_not_follow_the_distribution_of_another_epsilon(selected, factor):
    mechanism, draws = selected
    distribution = _with_epsilon(mechanism, factor * mechanism.epsilon).probabilities(UTILITIES)
    assert p_value(draws, distribution) < FITS


def test_permute_and_flip_is_told_apart_from_the_exponential_mechanism(selected):
    mechanism, draws = selected
    other = PermuteAndFlip if isinstance(mechanism, ExponentialMechanism) else ExponentialMechanism
    assert p_value(draws, other(mechanism.epsilon, mechanism.sensitivity).probabilities(UTILITIES)) < FITS


@pytest.mark.parametrize("times", [500, pytest.param(3000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", [PermuteAndFlip, ExponentialMechanism])
@pytest.mark.parametrize("name", SOURCES)
def test_epsilon_zero_chooses_uniformly(name, kind, times):
    source = SOURCES[name]()
    draws = [kind(0.0, COUNT).release(UTILITIES, source=source, part="node").value for _ in range(times)]
    assert p_value(np.array(draws), np.full(6, 1 / 6)) > FITS


def test_weights_shift_the_choice():
    weights = np.array([8, 1, 1, 4, 1, 0.5])
    mechanism = ExponentialMechanism(0.4, COUNT, np.log(weights))
    rng = np.random.default_rng(3)
    draws = np.array([mechanism.sample(UTILITIES, rng) for _ in range(10_000)])
    assert p_value(draws, oracle.exponential_mechanism(UTILITIES.tolist(), 0.4, weights.tolist())) > FITS
    assert p_value(draws, ExponentialMechanism(0.4, COUNT).probabilities(UTILITIES)) < FITS


def test_permute_and_flip_among_thousands_follows_its_distribution():
    utilities = np.repeat([0, 4, 8, 10], [1500, 400, 95, 5])
    mechanism = PermuteAndFlip(0.8, COUNT)
    rng = np.random.default_rng(5)
    groups = np.searchsorted([1500, 1900, 1995], [mechanism.sample(utilities, rng) for _ in range(8000)], side="right")
    for factor, fits in [(1.0, True), (0.7, False), (1.3, False)]:
        distribution = PermuteAndFlip(0.8 * factor, COUNT).probabilities(utilities)
        assert (p_value(groups, np.add.reduceat(distribution, [0, 1500, 1900, 1995])) > FITS) is fits


@pytest.fixture(scope="module", params=[(s, l1) for s in SOURCES for l1 in (1.0, 3.0)], ids=lambda p: f"{p[0]} l1={p[1]}")
def noisy(request):
    name, l1 = request.param
    source = SOURCES[name]()
    mechanism = GeometricNoise(0.9 * l1, l1)
    counts = np.full((100, 100), 17)
    return mechanism, mechanism.release(counts, source=source, part="leaf").value - 17


def _boxed_distribution(mechanism):
    distribution = mechanism.pmf(np.arange(-BOX, BOX + 1))
    distribution[[0, -1]] += mechanism.tail(BOX + 1)
    return distribution


def test_geometric_noise_follows_its_distribution(noisy):
    mechanism, noise = noisy
    assert noise.shape == (100, 100)
    draws = noise.clip(-BOX, BOX).ravel() + BOX
    assert p_value(draws, _boxed_distribution(mechanism)) > FITS
    for factor in WRONG:
        assert p_value(draws, _boxed_distribution(GeometricNoise(factor * mechanism.epsilon, mechanism.l1))) < FITS


VALUES = [2.0, 2.0, 3.0, 7.0, 7.5, 12.0]  # the last one is clipped to 10


@pytest.fixture(scope="module", params=[2500, pytest.param(8000, marks=pytest.mark.slow)])
def quantile_draws(request):
    rng = np.random.default_rng(11)
    mechanism = JointQuantiles(2.0, 0.0, 10.0, n_quantiles=2)
    return np.array([mechanism.sample(np.array(VALUES), rng) for _ in range(request.param)])


def _cell_distribution(values, mechanism):
    edges, weights = oracle.quantile_cells(values, mechanism.low, mechanism.high, mechanism.n_quantiles, mechanism.exponent)
    return edges, list(weights), np.array(list(weights.values()))


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "fits"), [(1.0, True), (0.7, False), (1.3, False)])
def test_joint_quantiles_fall_into_gaps_by_their_distribution(quantile_draws, factor, fits):
    edges, cells, distribution = _cell_distribution(VALUES, JointQuantiles(2.0 * factor, 0.0, 10.0, n_quantiles=2))
    drawn = np.searchsorted(edges, quantile_draws, side="right") - 1
    numbers = np.array([cells.index(tuple(row)) for row in drawn])
    assert (p_value(numbers, distribution) > FITS) is fits


@pytest.mark.slow
def test_joint_quantiles_of_zero_inflated_values_fall_into_gaps_by_their_distribution():
    values = np.concatenate((np.zeros(400), np.arange(1, 30) ** 2.0))
    mechanism = JointQuantiles(0.2, -10.0, 1000.0, n_quantiles=3)
    rng = np.random.default_rng(2)
    draws = np.array([mechanism.sample(values, rng) for _ in range(3000)])
    edges, cells, distribution = _cell_distribution(values.tolist(), mechanism)
    drawn = np.searchsorted(edges, draws, side="right") - 1
    for j in range(3):
        marginal = np.bincount([cell[j] for cell in cells], weights=distribution, minlength=len(edges) - 1)
        assert p_value(drawn[:, j], marginal) > FITS
        assert p_value(drawn[:, j], marginal[::-1]) < FITS


@pytest.mark.slow
def test_joint_quantiles_of_nothing_are_sorted_uniform_points():
    mechanism = JointQuantiles(1.0, -3.0, 5.0, n_quantiles=4)
    rng = np.random.default_rng(8)
    draws = np.array([mechanism.sample(np.array([]), rng) for _ in range(2000)])
    for j in range(4):
        assert stats.kstest(draws[:, j], stats.beta(j + 1, 4 - j, loc=-3, scale=8).cdf).pvalue > FITS
        assert stats.kstest(draws[:, j], stats.beta(j + 2, 4 - j, loc=-3, scale=8).cdf).pvalue < FITS


@pytest.mark.slow
def test_inside_a_gap_quantiles_are_uniform(quantile_draws):
    first = quantile_draws[:, 0]
    inside = first[(first > 3) & (first < 7) & (quantile_draws[:, 1] > 7)]
    assert len(inside) > 100
    assert stats.kstest(inside, stats.uniform(3, 4).cdf).pvalue > FITS
    assert stats.kstest(inside, stats.triang(0.5, 3, 4).cdf).pvalue < FITS
