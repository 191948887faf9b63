"""Which rows take part in a round: each with a public probability, independently. Who took part stays secret."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.errors import ParameterError
from dpviz.privacy.source import NoiseSource
from dpviz.randomness import secure_uniforms


@dataclass(frozen=True, slots=True)
class PoissonSample:
    """Each row with probability `rate`, independently (Poisson sampling). `GaussianRounds` accounts for what it saves."""

    rate: float
    title: ClassVar[str] = "Poisson sample"

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise ParameterError("PoissonSample", "rate", self.rate, "a number in (0, 1]")

    def among(self, n_rows: int, *, source: NoiseSource) -> np.ndarray:
        """Who takes part, bool of shape (n_rows,). Private."""
        return np.ones(n_rows, dtype=bool) if self.rate == 1 else source.draw(self, n_rows)

    def sample(self, n_rows: int, rng: np.random.Generator) -> np.ndarray:
        """A draw with NumPy's generator."""
        return rng.random(n_rows) < self.rate

    def sample_exactly(self, n_rows: int) -> np.ndarray:
        """A draw with entropy from the operating system."""
        return secure_uniforms(n_rows) < self.rate
