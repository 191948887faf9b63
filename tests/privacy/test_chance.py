"""Where chance comes from: seeds and places of simulations, uniform choices, assignments blind to all but the row count."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.stats import kstest

from dpviz.accounting.events import PureDP, RandomPartition, Step
from dpviz.errors import UnsupportedError
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.privacy.source import ExactNoise, Simulation
from dpviz.privacy.uniform import SecretKeys, UniformChoice, UniformPoint, product_distribution
from tests.support.goodness import FITS, p_value


class _Spy:
    title = "spy"

    def sample(self, values, rng):
        return "numpy", values, rng.random()

    def sample_exactly(self, values):
        return "exact", values


def test_a_simulation_draws_with_its_seed_and_a_release_exactly_without():
    source = Simulation(9)
    assert (source.name, source.seed) == ("simulation", 9)
    expected = np.random.default_rng(9)
    assert [source.draw(_Spy(), 5) for _ in range(2)] == [("numpy", 5, expected.random()) for _ in range(2)]
    source = ExactNoise()
    assert (source.name, source.seed) == ("release", None)
    assert source.draw(_Spy(), 5) == ("exact", 5)


def test_noise_belongs_to_its_place_whatever_was_drawn_before():
    def drawn_at(places):
        source, found = Simulation(9), {}
        for place in places:
            source.enter(place)
            found[place] = source.draw(_Spy(), 5), source.draw(_Spy(), 5)
        return found

    assert drawn_at([1, 2, 3]) == drawn_at([3, 1, 2])
    assert len({draw for pair in drawn_at(range(1, 50)).values() for draw in pair}) == 98


def test_places_and_seeds_have_independent_uniform_noise():
    """Of 4,000 pairs: each is uniform, and neighbours in seed or place are not correlated (five standard errors)."""
    drawn = np.empty((200, 21))
    for seed in range(200):
        source = Simulation(seed)
        for place in range(1, 22):
            source.enter(place)
            drawn[seed, place - 1] = source.draw(_Spy(), 5)[2]
    assert kstest(drawn.ravel(), "uniform").pvalue > 1e-4
    for one, other in ((drawn[:, :-1], drawn[:, 1:]), (drawn[:-1], drawn[1:])):
        assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 5 / np.sqrt(one.size)


SOURCES = pytest.mark.parametrize("source", [Simulation(3), ExactNoise()], ids=lambda source: source.name)


@pytest.mark.slow
@SOURCES
def test_every_choice_is_equally_likely_and_a_point_uniform_in_its_range(source):
    draws = np.array([UniformChoice().release(5, source=source, part="node").value for _ in range(4000)])
    assert set(draws) == set(range(5))
    assert p_value(draws, UniformChoice().probabilities(5)) > FITS
    assert p_value(draws, np.array([0.25, 0.25, 0.2, 0.15, 0.15])) < FITS
    points = [UniformPoint().release((-2.0, 3.0), source=source, part="node").value for _ in range(4000)]
    assert stats.kstest(points, stats.uniform(-2, 5).cdf).pvalue > FITS
    assert stats.kstest(points, stats.uniform(-2, 5.6).cdf).pvalue < FITS
    shares = UniformPoint().shares(4000, source=source)
    assert stats.kstest(shares, stats.uniform(0, 1).cdf).pvalue > FITS
    assert stats.kstest(shares, stats.uniform(0, 1.12).cdf).pvalue < FITS


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
    with pytest.raises(UnsupportedError, match="Draws at once have more than 200,000 outcomes"):
        product_distribution([np.full(100, 0.01)] * 3, "Draws")


SHARES = (0.1, 0.25)


@SOURCES
def test_each_part_gets_its_share_of_the_rows(source):
    n_rows = 200_000
    found = np.bincount(RandomAssignment(SHARES).assign(n_rows, source=source), minlength=3) / n_rows
    expected = np.array([0.65, 0.1, 0.25])
    errors = 6 * np.sqrt(expected * (1 - expected) / n_rows)  # six standard errors: fails once in some hundred million runs
    assert (np.abs(found - expected) < errors).all()
    assert (errors < 0.1 * expected).all()  # so that a wrong share fails


def test_assignments_drawn_in_pieces_are_those_of_one_draw(monkeypatch):
    whole = RandomAssignment(SHARES).assign(1000, source=Simulation(3))
    monkeypatch.setattr("dpviz.privacy.random_assignment._CHUNK_SIZE", 7)
    np.testing.assert_array_equal(RandomAssignment(SHARES).assign(1000, source=Simulation(3)), whole)
    assert len(set(RandomAssignment(SHARES).assign(1000, source=ExactNoise())[6::7].tolist())) == 3


def test_neighbouring_assignments_are_independent_and_those_of_a_release_never_repeat():
    parts = RandomAssignment((0.5,)).assign(100_000, source=Simulation(1))
    assert abs(np.mean(parts[1:] == parts[:-1]) - 0.5) < 0.01
    flips = [RandomAssignment((0.5,)).assign(2000, source=ExactNoise()) for _ in range(2)]
    assert 800 < (flips[0] == flips[1]).sum() < 1200  # nine standard deviations
    assert all(800 < 2 * parts[:1000].sum() < 1200 for parts in flips)


def test_rows_of_a_person_go_to_one_part_as_often_as_rows_do():
    persons = np.repeat(np.arange(40_000), 3)[::-1]
    parts = RandomAssignment(SHARES).assign(120_000, persons=persons, source=Simulation(5)).reshape(-1, 3)
    assert (parts == parts[:, :1]).all()
    np.testing.assert_allclose(np.bincount(parts[:, 0]) / 40_000, [1 - sum(SHARES), *SHARES], atol=0.01)
    assert RandomAssignment(SHARES).assign(0, persons=np.empty(0, dtype=np.int64), source=Simulation(0)).tolist() == []


def test_the_event_names_what_was_done_to_every_part_with_its_probability():
    growing, counts, test = (Step(PureDP(0.1 * k), "leaf", mechanism="geometric") for k in (1, 2, 3))
    assert RandomAssignment((0.25, 0.125)).event((growing, counts, test)) == RandomPartition(
        (growing, counts, test), (0.625, 0.25, 0.125)
    )
    assert RandomAssignment((0.5,)).event((growing, test), shared=True) == RandomPartition(
        (growing, test), (0.5, 0.5), shared=True
    )
