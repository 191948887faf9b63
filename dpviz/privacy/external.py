"""Mechanisms of other packages, which do their own accounting.

What they cost is what they are told to spend, taken on trust: a learner that uses one cannot claim that its guarantee holds.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpviz.accounting.events import Approximate
from dpviz.errors import NotReleasable
from dpviz.privacy.source import NoiseSource, Released, drawn_by


@dataclass(frozen=True, slots=True)
class ExternalMechanism(ABC):
    """A mechanism of another package, told to spend (epsilon, delta) under its own definition of neighbours."""

    epsilon: float
    delta: float
    title: ClassVar[str]

    def release(self, rows: Any, *, source: NoiseSource, part: str, level: int | None = None) -> Released[Any]:
        """Its value on private `rows`, and the cost its package states."""
        return Released(source.draw(self, rows), drawn_by(source, Approximate(self.epsilon, self.delta, self.title, part, level)))

    @abstractmethod
    def sample(self, values: Any, rng: np.random.Generator) -> Any:
        """One run, its noise seeded by `rng`."""

    def sample_exactly(self, values: Any) -> Any:
        """Always raises NotReleasable: the package draws its noise in floating point."""
        raise NotReleasable(self.title)
