"""The distributions of noisy splits against the steps that really draw, and the mass they cut off."""

import numpy as np
import pytest

from dpviz.accounting.plan import BudgetPlan, Share
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
from tests.support.goodness import FITS, p_value

SCHEMA = Schema(tuple(CategoricalFeature(name, ("0", "1")) for name in "abc"), ClassTarget("y", ("n", "p")), n_public=9)
#: Two identical columns, a third one of its own, classes mixed.
ROWS = np.array([[0, 0, 1, 0], [0, 0, 0, 0], [1, 1, 0, 1], [1, 1, 1, 1], [1, 1, 1, 0], [0, 0, 1, 0]], dtype=np.uint8)
DATA = EncodedDataset(SCHEMA, tuple(ROWS[:, f].copy() for f in range(3)), ROWS[:, 3].copy())


def privatree_node(epsilon, source):
    grid = quantile_grid(SCHEMA, {}, "q")
    plan = BudgetPlan(2 * epsilon, 1, (Share("node", 0, epsilon, group="categorical"), Share("leaf", 1, epsilon)))
    return NoisyHistogramGrower(grid, plan, True, source), counter_of(DATA).root(grid)


def number_of(decision):
    """Feature and the category that goes left, as one number: the order in which the distribution lists decisions."""
    return 2 * decision.feature + decision.codes[0]


def of_privatree(epsilon):
    """(probability of every decision, mass that is cut off)."""
    grower, node = privatree_node(epsilon, Simulation(0))
    listed, cut = grower.distribution(node)
    assert [number_of(decision) for decision, _ in listed] == list(range(6))
    return np.array([chance for _, chance in listed]), cut


def of_corrected(epsilon):
    """The same of a noisy count and a selection."""
    grid = equal_width_grid(SCHEMA, 10)
    listed, cut = split_distribution(grid, counter_of(DATA).root(grid), epsilon)
    assert [decision.feature for decision, _ in listed] == [0, 1, 2]
    return np.array([chance for _, chance in listed]), cut


def require_covers(distribution, larger):
    """What was cut off covers what the larger box finds."""
    (low, cut), (high, least) = distribution, larger
    assert (low <= high + 1e-12).all()
    assert (high <= low + cut + 1e-15).all()
    assert least < cut


@pytest.mark.slow
def test_the_least_gini_distribution_is_that_of_the_real_step_and_of_no_other_epsilon():
    grower, node = privatree_node(0.8, Simulation(3))
    drawn = np.array([number_of(grower.step(node)) for _ in range(6000)])
    for factor, fits in ((1.0, True), (0.7, False), (1.3, False)):
        distribution, cut = of_privatree(0.8 * factor)
        assert (p_value(drawn, distribution) > FITS) == fits
        assert cut < 1e-4


@pytest.mark.slow
def test_the_split_distribution_is_that_of_the_real_step_and_of_no_other_epsilon():
    grid, source = equal_width_grid(SCHEMA, 10), Simulation(5)
    node = counter_of(DATA).root(grid)
    drawn = np.array([choose_split(grid, node, 3.0, source).feature for _ in range(12_000)])
    for factor, fits in ((1.0, True), (0.5, False), (2.0, False)):
        distribution, cut = of_corrected(3.0 * factor)
        assert (p_value(drawn, distribution) > FITS) == fits
        assert distribution.sum() + cut == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.3, 0.8])
@pytest.mark.slow
def test_what_is_cut_off_covers_what_a_larger_box_finds(epsilon, monkeypatch):
    found = of_privatree(epsilon)
    assert found[0].sum() + found[1] >= 1
    monkeypatch.setattr(noisy_histograms, "MAX_NOISE", 34)
    cached = noisy_histograms._feature_distribution, noisy_histograms._chance_above
    for function in cached:
        function.cache_clear()
    larger = of_privatree(epsilon)
    for function in cached:
        function.cache_clear()
    require_covers(found, larger)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 3.0])
def test_counts_that_are_left_out_are_accounted_for(epsilon, monkeypatch):
    found = of_corrected(epsilon)
    monkeypatch.setattr(privatree_corrected, "TAIL", 1e-9)
    require_covers(found, of_corrected(epsilon))
    _, cut = least_gini_distribution(np.array([[3, 0], [0, 3]]), (2,), GeometricNoise(30.0))
    assert cut > 0  # rounding never makes it zero
