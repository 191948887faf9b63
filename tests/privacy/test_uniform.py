"""Uniform choices and points: uniform, free, and never the same twice in a release."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpviz.errors import NotEnumerable
from dpviz.privacy.source import ExactNoise, Simulation
from dpviz.privacy.uniform import SecretKeys, UniformChoice, UniformPoint, product_distribution
from tests.support.goodness import FITS, p_value

SOURCES = pytest.mark.parametrize("source", [Simulation(3), ExactNoise()], ids=lambda source: source.name)


@SOURCES
def test_every_choice_is_equally_likely(source):
    draws = np.array([UniformChoice().release(5, source=source, part="node").value for _ in range(4000)])
    assert set(draws) == set(range(5))
    assert p_value(draws, UniformChoice().probabilities(5)) > FITS
    assert p_value(draws, np.array([0.25, 0.25, 0.2, 0.15, 0.15])) < FITS


@SOURCES
def test_a_point_is_uniform_in_its_range(source):
    points = [UniformPoint().release((-2.0, 3.0), source=source, part="node").value for _ in range(4000)]
    assert stats.kstest(points, stats.uniform(-2, 5).cdf).pvalue > FITS
    assert stats.kstest(points, stats.uniform(-2, 5.6).cdf).pvalue < FITS


@SOURCES
@pytest.mark.parametrize("between", [(-8e307, 8e307), (0.0, 5e-324), (1e16, 1e16 + 2)])
def test_a_point_never_leaves_an_extreme_range(source, between):
    for _ in range(50):
        assert between[0] <= UniformPoint().release(between, source=source, part="node").value <= between[1]


def test_a_seed_repeats_them_and_a_release_does_not():
    first, again = (UniformPoint().release((0.0, 1.0), source=Simulation(9), part="node").value for _ in range(2))
    assert first == again
    assert len({UniformPoint().release((0.0, 1.0), source=ExactNoise(), part="node").value for _ in range(10)}) == 10
    assert len({int(SecretKeys().choose(1, source=ExactNoise())[0]) for _ in range(10)}) == 10


def test_independent_draws_together_have_the_product_of_their_probabilities_or_are_too_many():
    first, second = np.array([0.25, 0.75]), np.array([0.5, 0.125, 0.375])
    joint = product_distribution([first, second], "Draws")
    assert joint.tolist() == [a * b for a in first for b in second]  # the last varies fastest
    with pytest.raises(NotEnumerable, match="Draws at once have more than 200,000 outcomes"):
        product_distribution([np.full(100, 0.01)] * 3, "Draws")
