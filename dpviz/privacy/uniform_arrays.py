"""Many choices that look at no row, drawn in one go: what random forests are made of.

They cost nothing. They are drawn through the noise source all the same, so that a seed repeats them and verification can
list the discrete ones (while there are few).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from dpviz.errors import NotEnumerable
from dpviz.privacy.source import NoiseSource
from dpviz.randomness import generator

#: A distribution with more outcomes is not enumerated.
MOST_LISTED = 200_000


def product_distribution(distributions: list[np.ndarray], title: str) -> np.ndarray:
    """Probabilities of all combinations of independent draws; the last draw varies fastest. Raises NotEnumerable for too many."""
    if math.prod(map(len, distributions)) > MOST_LISTED:
        remedy = "Use fewer trees, fewer rows and a smaller depth, or audit it by sampling."
        raise NotEnumerable(f"{title} at once have more than {MOST_LISTED:,} outcomes.", remedy=remedy)
    return reduce(lambda joint, more: np.multiply.outer(joint, more).ravel(), distributions, np.ones(1))


def combination(drawn: Any, sizes: np.ndarray) -> np.ndarray:
    """What a source drew, as one number per draw: a source that lists outcomes gives their number in `product_distribution`."""
    if isinstance(drawn, np.ndarray):
        return drawn
    numbers = np.zeros(len(sizes), dtype=np.int64)
    for place in reversed(range(len(sizes))):  # not np.unravel_index: there may be more draws than arrays have dimensions
        drawn, numbers[place] = divmod(drawn, int(sizes[place]))
    return numbers


@dataclass(frozen=True, slots=True)
class UniformChoices:
    """One of `counts[i]` things for each i, all equally likely, independently. `counts` must be public."""

    title: ClassVar[str] = "uniform choices"

    def choose(self, counts: np.ndarray, *, source: NoiseSource) -> np.ndarray:
        """Numbers in 0 .. counts - 1, int64 of the shape of `counts`."""
        return combination(source.draw(self, counts), counts)

    def sample(self, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One number each."""
        return rng.integers(counts, size=len(counts))

    def sample_exactly(self, counts: np.ndarray) -> np.ndarray:
        """One number each, entropy from the operating system. NumPy's integers are exactly uniform."""
        return self.sample(counts, generator(None))

    def probabilities(self, counts: np.ndarray) -> np.ndarray:
        """Exact distribution of all together; raises NotEnumerable for too many outcomes."""
        return product_distribution([np.full(count, 1 / count) for count in counts.tolist()], "Uniform choices")


@dataclass(frozen=True, slots=True)
class UniformPoints:
    """A number in each public range."""

    title: ClassVar[str] = "uniform points"

    def choose(self, low: np.ndarray, high: np.ndarray, *, source: NoiseSource) -> np.ndarray:
        """Numbers in [low, high], float64."""
        return source.draw(self, (low, high)) if len(low) else np.empty(0)

    def sample(self, between: tuple[np.ndarray, np.ndarray], rng: np.random.Generator) -> np.ndarray:
        """One number each."""
        return np.clip(rng.uniform(*between), *between)

    def sample_exactly(self, between: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """One number each, entropy from the operating system. Rounding shows nothing: no row is looked at."""
        return self.sample(between, generator(None))


@dataclass(frozen=True, slots=True)
class SecretKeys:
    """63-bit keys from which random trees, and labels of leaves without rows, are derived. Too many to be listed."""

    title: ClassVar[str] = "keys of random trees"

    def choose(self, count: int, *, source: NoiseSource) -> np.ndarray:
        """Keys, uint64 of shape (count,)."""
        return source.draw(self, count)

    def sample(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Keys."""
        return rng.integers(2**63, size=count, dtype=np.uint64)

    def sample_exactly(self, count: int) -> np.ndarray:
        """Keys, entropy from the operating system."""
        return self.sample(count, generator(None))
