"""Where noise comes from: a seeded simulation, or exact samplers for a release.

A mechanism knows its output distribution; a source decides how one value is drawn from it. Both sources draw from the same
distribution (a statistical test checks it), but only the output of `ExactNoise` may be released.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from dpviz.accounting.events import Event, Step
from dpviz.randomness import generator, generator_at

T = TypeVar("T")
S = TypeVar("S", bound=Event)


@dataclass(frozen=True, slots=True)
class Output(Generic[T]):
    """A value that came out of a mechanism, and what it cost."""

    value: T
    event: Event


class Mechanism(Protocol):
    """What a source needs from a mechanism."""

    title: ClassVar[str]

    def sample(self, values: Any, rng: np.random.Generator) -> Any:
        """One draw with NumPy's generator: fast, repeatable, not for release."""

    def sample_exactly(self, values: Any) -> Any:
        """One draw with an exact sampler; raises RefusedRelease where there is none."""


class NoiseSource(Protocol):
    """Draws a mechanism's output. One that has only exact samplers says so by `is_exact = True`."""

    name: str

    def enter(self, place: int) -> None:
        """Called before the step at a node of a tree; `place` is 1 at the root, 2p and 2p + 1 at the children of p."""

    def draw(self, mechanism: Mechanism, values: Any) -> Any:
        """One draw of `mechanism` on `values`."""


class Simulation:
    """Repeatable noise for experiments and lessons. Anyone who knows the seed can subtract the noise, so it protects nobody.

    Noise belongs to a place: the same seed, node and candidate get the same noise in every fit, whatever the order of visits.
    A fit alone has the distribution of a release. Two fits with one seed share their luck, so what differs is what the settings
    change: a small step of epsilon changes few nodes, and a difference of accuracies has less variance (common random numbers).
    """

    name = "simulation"
    is_exact = False

    def __init__(self, seed: int) -> None:
        self.seed: int | None = seed
        self._key = seed
        self._rng = generator(seed)

    def enter(self, place: int) -> None:
        """Draws from here on belong to this node."""
        self._rng = generator_at(self._key, place)

    def draw(self, mechanism: Mechanism, values: Any) -> Any:
        """One draw with NumPy's generator."""
        return mechanism.sample(values, self._rng)


class ExactNoise:
    """Noise for a release: exact samplers, entropy from the operating system, no seed."""

    name = "release"
    is_exact = True
    seed = None

    def enter(self, place: int) -> None:
        """Nothing: exact noise is new everywhere."""

    def draw(self, mechanism: Mechanism, values: Any) -> Any:
        """One draw; raises RefusedRelease for a mechanism without an exact sampler."""
        return mechanism.sample_exactly(values)


def record_sampler(source: NoiseSource, event: S) -> S:
    """The event of what `source` drew: whether by an exact sampler."""
    is_exact = getattr(source, "is_exact", False)  # a source of somebody else may not say
    return replace(event, exact=True) if is_exact and isinstance(event, Step) else event
