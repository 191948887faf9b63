"""Choices that look at no row: a uniform pick from a public list, a uniform point of a public range.

They cost nothing. They are drawn through the noise source all the same, so that a seed repeats them and verification can
list the discrete ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.accounting.events import NoCost
from dpviz.privacy.source import NoiseSource, Released
from dpviz.randomness import generator


@dataclass(frozen=True, slots=True)
class UniformChoice:
    """One of `count` things, each with probability 1 / count. `count` must be public."""

    title: ClassVar[str] = "uniform choice"

    def release(self, count: int, *, source: NoiseSource, part: str, level: int | None = None) -> Released[int]:
        """A number in 0 .. count - 1."""
        return Released(int(source.draw(self, count)), NoCost(part, level))

    def sample(self, count: int, rng: np.random.Generator) -> int:
        """One number."""
        return int(rng.integers(count))

    def sample_exactly(self, count: int) -> int:
        """One number, entropy from the operating system. NumPy's integers are exactly uniform."""
        return self.sample(count, generator(None))

    def probabilities(self, count: int) -> np.ndarray:
        """Exact distribution, shape (count,)."""
        return np.full(count, 1 / count)


@dataclass(frozen=True, slots=True)
class UniformPoint:
    """A number in a public range [low, high], uniform."""

    title: ClassVar[str] = "uniform point"

    def release(
        self, between: tuple[float, float], *, source: NoiseSource, part: str, level: int | None = None
    ) -> Released[float]:
        """A number in `between` = (low, high)."""
        return Released(float(source.draw(self, between)), NoCost(part, level))

    def sample(self, between: tuple[float, float], rng: np.random.Generator) -> float:
        """One number."""
        return float(np.clip(rng.uniform(*between), *between))

    def sample_exactly(self, between: tuple[float, float]) -> float:
        """One number, entropy from the operating system. Rounding shows nothing: no row is looked at."""
        return self.sample(between, generator(None))
