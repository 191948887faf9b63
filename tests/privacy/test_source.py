import numpy as np

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


def test_a_release_draws_exactly_and_has_no_seed():
    source = ExactNoise()
    assert (source.name, source.seed) == ("release", None)
    assert source.draw(_Spy(), 5) == ("exact", 5)
