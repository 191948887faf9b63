"""A source that remembers what it was asked."""

from dpviz.privacy.source import Simulation


class Recording(Simulation):
    """Draws like Simulation(seed), wherever a node is, and remembers what it was asked and what it gave."""

    def __init__(self, seed):
        super().__init__(seed)
        self.draws = []

    def enter(self, place):
        pass

    def draw(self, mechanism, values):
        drawn = super().draw(mechanism, values)
        self.draws.append((mechanism, values, drawn))
        return drawn
