import numpy as np
from scipy.stats import kstest

from dpviz.privacy.source import ExactNoise, Simulation


class _Spy:
    title = "spy"

    def sample(self, values, rng):
        return "numpy", values, rng.random()

    def sample_exactly(self, values):
        return "exact", values


def test_a_simulation_draws_with_its_seed():
    source = Simulation(9)
    assert (source.name, source.seed) == ("simulation", 9)
    expected = np.random.default_rng(9)
    assert [source.draw(_Spy(), 5) for _ in range(2)] == [("numpy", 5, expected.random()) for _ in range(2)]


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


def test_a_release_draws_exactly_and_has_no_seed():
    source = ExactNoise()
    assert (source.name, source.seed) == ("release", None)
    assert source.draw(_Spy(), 5) == ("exact", 5)
