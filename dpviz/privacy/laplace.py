"""Laplace noise on numbers.

For published learners that use it; for counts the geometric mechanism is better, because it can be sampled exactly.

Source: Dwork, McSherry, Nissim & Smith 2006.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.accounting.events import PureDP, Step
from dpviz.errors import no_exact_sampler
from dpviz.privacy.sensitivity import check_epsilon, check_scale
from dpviz.privacy.source import NoiseSource, Output, record_sampler


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """values + z with density exp(-abs(z)/b) / (2 b), b = Delta/eps; Delta = `l1` is the largest L1 change of the values.

    Utility: epsilon -> infinity returns the exact values; the standard deviation is sqrt(2) Delta/eps.
    """

    epsilon: float
    l1: float = 1.0
    title: ClassVar[str] = "Laplace"

    def __post_init__(self) -> None:
        check_epsilon("LaplaceNoise", self.epsilon, positive=True)
        check_scale("LaplaceNoise", self.l1, self.epsilon)

    @property
    def scale(self) -> float:
        """b."""
        return self.l1 / self.epsilon

    def release(self, values: np.ndarray, *, source: NoiseSource, part: str, level: int | None = None) -> Output[np.ndarray]:
        """Noisy `values` (any shape, private), float64."""
        return Output(source.draw(self, values), record_sampler(source, Step(PureDP(self.epsilon), part, level, self.title)))

    def sample(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Values plus noise."""
        return values + rng.laplace(scale=self.scale, size=np.shape(values))

    def log_likelihood(self, values: np.ndarray, noisy: np.ndarray) -> float:
        """ln of the density of `noisy` where `values` are exact, but for a constant."""
        return -float(np.abs(noisy - values).sum()) / self.scale

    def sample_exactly(self, values: np.ndarray) -> np.ndarray:
        """Always raises RefusedRelease: floating-point noise reveals more than its distribution promises (Mironov 2012)."""
        raise no_exact_sampler(f"{self.title} noise on real numbers")
