"""A source that remembers what it was asked."""

from dpviz.privacy.source import Simulation


class Recording:
    """A source that draws like Simulation(seed) and remembers what it was asked and what it gave."""

    name = "simulation"

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.draws = []
        self._inner = Simulation(seed)

    def enter(self, place):
        pass

    def draw(self, mechanism, values):
        drawn = self._inner.draw(mechanism, values)
        self.draws.append((mechanism, values, drawn))
        return drawn
