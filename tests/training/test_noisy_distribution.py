"""The distributions of noisy splits against the steps that really draw, and the mass they cut off."""

import numpy as np
import pytest

from dpviz.learners.published import privatree_corrected
from dpviz.learners.published.privatree_corrected import choose_split, split_distribution
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.source import Simulation
from dpviz.table.candidates import equal_width_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, Schema
from dpviz.training import noisy_histograms
from dpviz.training.counted_rows import counter_of
from dpviz.training.noisy_histograms import NoisyHistogramGrower, least_gini_distribution, quantile_grid
from dpviz.training.privatree_budget import EpsilonSplit
from tests.support.goodness import FITS, p_value

SCHEMA = Schema(tuple(CategoricalFeature(name, ("0", "1")) for name in "abc"), ClassTarget("y", ("n", "p")), n_public=9)
#: Two identical columns, a third one of its own, classes mixed.
ROWS = np.array([[0, 0, 1, 0], [0, 0, 0, 0], [1, 1, 0, 1], [1, 1, 1, 1], [1, 1, 1, 0], [0, 0, 1, 0]], dtype=np.uint8)


@pytest.fixture(scope="module")
def data():
    return EncodedDataset(SCHEMA, tuple(ROWS[:, f].copy() for f in range(3)), ROWS[:, 3].copy())


def privatree_node(data, epsilon, source):
    grid = quantile_grid(SCHEMA, {}, "q")
    split = EpsilonSplit(epsilon, epsilon, epsilon, epsilon, "test", ())
    return NoisyHistogramGrower(grid, split, 1, True, source), counter_of(data).root(grid)


def number_of(decision):
    """Feature and the category that goes left, as one number: the order in which the distribution lists decisions."""
    return 2 * decision.feature + int(np.flatnonzero(decision.left_bins)[0])


@pytest.fixture(scope="module")
def drawn(data):
    grower, node = privatree_node(data, 0.8, Simulation(3))
    return np.array([number_of(grower.step(node)) for _ in range(6000)])


def distribution_of(data, epsilon):
    grower, node = privatree_node(data, epsilon, Simulation(0))
    listed, cut = grower.distribution(node)
    assert [number_of(decision) for decision, _ in listed] == list(range(6))
    return np.array([chance for _, chance in listed]), cut


@pytest.mark.slow
def test_the_least_gini_distribution_is_that_of_the_real_step(data, drawn):
    distribution, cut = distribution_of(data, 0.8)
    assert cut < 1e-5
    assert p_value(drawn, distribution) > FITS


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.7, 1.3])
def test_the_distribution_of_another_epsilon_does_not_fit(data, drawn, factor):
    assert p_value(drawn, distribution_of(data, 0.8 * factor)[0]) < FITS


@pytest.mark.parametrize("epsilon", [pytest.param(0.3, marks=pytest.mark.slow), 0.8])
@pytest.mark.slow
def test_what_is_cut_off_covers_what_a_larger_box_finds(data, epsilon, monkeypatch):
    low, cut = distribution_of(data, epsilon)
    monkeypatch.setattr(noisy_histograms, "MOST_NOISE", 34)
    for cached in (noisy_histograms._feature_distribution, noisy_histograms._chance_above):
        cached.cache_clear()
    larger, larger_cut = distribution_of(data, epsilon)
    for cached in (noisy_histograms._feature_distribution, noisy_histograms._chance_above):
        cached.cache_clear()
    assert (low <= larger + 1e-12).all()
    assert (larger <= low + cut).all()
    assert larger_cut < cut
    assert low.sum() + cut >= 1


def test_rounding_never_makes_the_cut_zero():
    histogram = np.array([[3, 0], [0, 3]])
    _, cut = least_gini_distribution(histogram, (2,), GeometricNoise(30.0))
    assert cut > 0


# --- PrivaTree (corrected): a noisy count, then a selection


@pytest.fixture(scope="module")
def corrected(data):
    grid = equal_width_grid(SCHEMA, 10)
    node, source = counter_of(data).root(grid), Simulation(5)
    draws = np.array([choose_split(grid, node, 3.0, source).feature for _ in range(12_000)])
    return grid, node, draws


def split_chances(corrected, epsilon):
    grid, node, _ = corrected
    listed, cut = split_distribution(grid, node, epsilon)
    assert [decision.feature for decision, _ in listed] == [0, 1, 2]
    return np.array([chance for _, chance in listed]), cut


@pytest.mark.slow
def test_the_split_distribution_is_that_of_the_real_step(corrected):
    distribution, cut = split_chances(corrected, 3.0)
    assert p_value(corrected[2], distribution) > FITS
    assert cut < 1e-4
    assert distribution.sum() + cut == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("factor", [0.5, 2.0])
@pytest.mark.slow
def test_the_split_distribution_of_another_epsilon_does_not_fit(corrected, factor):
    assert p_value(corrected[2], split_chances(corrected, 3.0 * factor)[0]) < FITS


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 3.0])
def test_the_counts_left_out_of_the_split_distribution_are_accounted_for(corrected, epsilon, monkeypatch):
    distribution, cut = split_chances(corrected, epsilon)
    monkeypatch.setattr(privatree_corrected, "TAIL", 1e-9)
    larger, larger_cut = split_chances(corrected, epsilon)
    assert (distribution <= larger + 1e-15).all()
    assert (larger <= distribution + cut + 1e-15).all()
    assert larger_cut < cut
