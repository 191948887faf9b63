"""Two-sided geometric noise (discrete Laplace) on counts.

Source: Ghosh, Roughgarden & Sundararajan 2009. PrivaTree's Equation (4) prints epsilon as the base where exp(-epsilon) is meant.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpviz.accounting.events import PureDP, Step
from dpviz.accounting.guarantee import round_up
from dpviz.privacy.sensitivity import check_epsilon, check_scale
from dpviz.privacy.source import NoiseSource, Output, record_sampler


@dataclass(frozen=True, slots=True)
class GeometricNoise:
    """counts + k with P(k) = (1-a)/(1+a) a^abs(k), a = exp(-eps/Delta); Delta = `l1` is the largest L1 change of the counts.

    Utility: epsilon -> infinity returns the exact counts; the standard deviation is about sqrt(2) Delta/eps.
    """

    epsilon: float
    l1: float = 1.0
    title: ClassVar[str] = "geometric"

    def __post_init__(self) -> None:
        check_epsilon("GeometricNoise", self.epsilon, positive=True)
        check_scale("GeometricNoise", self.l1, self.epsilon)

    @property
    def decay(self) -> float:
        """a = exp(-eps/Delta)."""
        return math.exp(-self.epsilon / self.l1)

    @property
    def variance(self) -> float:
        """Of the noise on one count: 2 a / (1 - a)^2."""
        return 2 * self.decay / math.expm1(-self.epsilon / self.l1) ** 2

    def release(self, counts: np.ndarray, *, source: NoiseSource, part: str, level: int | None = None) -> Output[np.ndarray]:
        """Noisy `counts` (any shape, int64, private), not clipped."""
        return Output(source.draw(self, counts), record_sampler(source, Step(PureDP(self.epsilon), part, level, self.title)))

    def sample(self, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Counts plus the difference of two geometric variables."""
        chance = -math.expm1(-self.epsilon / self.l1)
        size = np.shape(counts)
        return counts + (rng.geometric(chance, size) - rng.geometric(chance, size))

    def sample_exactly(self, counts: np.ndarray) -> np.ndarray:
        """Counts plus OpenDP's discrete Laplace noise."""
        from dpviz.privacy import exact

        scale = round_up(Fraction(self.l1) / Fraction(self.epsilon))
        noisy = exact.geometric(np.ravel(counts).tolist(), scale)
        return np.array(noisy, dtype=np.int64).reshape(np.shape(counts))

    def pmf(self, noise: np.ndarray | int) -> np.ndarray:
        """Exact probability that the noise equals these integers."""
        rate = self.epsilon / self.l1
        return np.tanh(rate / 2) * np.exp(-rate * np.abs(noise))  # tanh(x/2) = (1-a)/(1+a) without cancellation

    def log_likelihood(self, counts: np.ndarray, noisy: np.ndarray) -> float:
        """ln of the probability of `noisy` where `counts` are exact, but for a constant."""
        return -self.epsilon / self.l1 * float(np.abs(noisy - counts).sum())

    def tail(self, noise: int) -> float:
        """Exact probability that the noise is at least `noise`."""
        return self.decay**noise / (1 + self.decay) if noise > 0 else 1 - self.tail(1 - noise)

    def radius(self, mass: float) -> int:
        """The smallest r >= 0 such that noise beyond +r has probability at most `mass`."""
        return max(0, math.ceil(math.log(mass * (1 + self.decay)) * self.l1 / -self.epsilon) - 1)
