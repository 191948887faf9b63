"""Choices that look at no row: uniform picks from public lists, uniform points of public ranges, keys of random trees.

They cost nothing. They still go through the noise source, so that a seed repeats them and verification can enumerate the
discrete ones (while there are few).
"""

import math
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from dpviz.accounting.events import Free, Step
from dpviz.errors import UnsupportedError
from dpviz.privacy.source import NoiseSource, Output
from dpviz.randomness import generator

#: A distribution with more outcomes is not enumerated.
MAX_OUTCOMES = 200_000


def product_distribution(distributions: list[np.ndarray], title: str) -> np.ndarray:
    """Probabilities of all combinations of independent draws, the last varying fastest. Raises UnsupportedError for too many."""
    if math.prod(map(len, distributions)) > MAX_OUTCOMES:
        remedy = "Use fewer trees, fewer rows and a smaller depth, or audit it by sampling."
        raise UnsupportedError(f"{title} at once have more than {MAX_OUTCOMES:,} outcomes.", remedy=remedy)
    return reduce(lambda joint, more: np.multiply.outer(joint, more).ravel(), distributions, np.ones(1))


def combination(drawn: Any, sizes: np.ndarray) -> np.ndarray:
    """One number per draw. A source that enumerates gives the place of their combination in `product_distribution` instead."""
    if isinstance(drawn, np.ndarray):
        return drawn
    numbers = np.zeros(len(sizes), dtype=np.int64)
    for place in reversed(range(len(sizes))):  # not np.unravel_index: there may be more draws than arrays have dimensions
        drawn, numbers[place] = divmod(drawn, int(sizes[place]))
    return numbers


@dataclass(frozen=True, slots=True)
class UniformChoice:
    """One of `count` things, each with probability 1 / count; or one for each of several counts. Counts must be public."""

    title: ClassVar[str] = "uniform choice"

    def release(self, count: int, *, source: NoiseSource, part: str, level: int | None = None) -> Output[int]:
        """A number in 0 .. count - 1, and an event that costs nothing."""
        return Output(int(source.draw(self, count)), Step(Free(), part, level))

    def choose(self, counts: np.ndarray, *, source: NoiseSource) -> np.ndarray:
        """Independent numbers in 0 .. counts - 1, int64 of the shape of `counts`."""
        return combination(source.draw(self, counts), counts)

    def sample(self, counts: int | np.ndarray, rng: np.random.Generator) -> Any:
        """One number, or one for each count."""
        return rng.integers(counts, size=np.shape(counts) or None)

    def sample_exactly(self, counts: int | np.ndarray) -> Any:
        """The same with entropy from the operating system. NumPy's integers are exactly uniform."""
        return self.sample(counts, generator(None))

    def probabilities(self, counts: int | np.ndarray) -> np.ndarray:
        """Exact probabilities, of all combinations where there are several counts; raises UnsupportedError for too many."""
        return product_distribution([np.full(count, 1 / count) for count in np.ravel(counts).tolist()], "Uniform choices")


@dataclass(frozen=True, slots=True)
class UniformPoint:
    """A uniform number in a public range [low, high], or one in each of several ranges."""

    title: ClassVar[str] = "uniform point"

    def release(self, between: tuple[float, float], *, source: NoiseSource, part: str, level: int | None = None) -> Output[float]:
        """A number in `between` = (low, high), and an event that costs nothing."""
        return Output(float(source.draw(self, between)), Step(Free(), part, level))

    def choose(self, low: np.ndarray, high: np.ndarray, *, source: NoiseSource) -> np.ndarray:
        """Independent numbers in [low, high], float64."""
        return source.draw(self, (low, high)) if len(low) else np.empty(0)

    def shares(self, count: int, *, source: NoiseSource) -> np.ndarray:
        """Independent numbers in [0, 1], float64 of shape (count,)."""
        return self.choose(np.zeros(count), np.ones(count), source=source)

    def sample(self, between: tuple[Any, Any], rng: np.random.Generator) -> Any:
        """One number, or one in each range."""
        low, high = between
        drawn = low + (high - low) * rng.random(np.shape(low))  # as `rng.uniform`, which is slow for arrays of ranges
        return np.minimum(np.maximum(drawn, low), high)

    def sample_exactly(self, between: tuple[Any, Any]) -> Any:
        """The same with entropy from the operating system. Rounding reveals nothing: no row is looked at."""
        return self.sample(between, generator(None))


@dataclass(frozen=True, slots=True)
class SecretKeys:
    """63-bit keys from which random trees, and labels of leaves without rows, are derived. Too many to be enumerated."""

    title: ClassVar[str] = "keys of random trees"

    def choose(self, count: int, *, source: NoiseSource) -> np.ndarray:
        """Keys, uint64 of shape (count,)."""
        return source.draw(self, count)

    def sample(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Keys."""
        return rng.integers(2**63, size=count, dtype=np.uint64)

    def sample_exactly(self, count: int) -> np.ndarray:
        """Keys with entropy from the operating system."""
        return self.sample(count, generator(None))
