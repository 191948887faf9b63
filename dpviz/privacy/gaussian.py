"""Gaussian noise on whole numbers, and the grid that turns sums of real numbers into whole ones.

A row's contribution is cut to its limit *after* it is rounded to the grid, so rounding never moves a sum by more than the limit
says. The grid of the noise is finer still: so fine that noise on it follows a rounded Gaussian to within
`accounting.gaussian.GRID_SLACK`.

Source: Canonne, Kamath & Steinke 2020, "The discrete Gaussian for differential privacy".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.errors import ParameterError
from dpviz.privacy.source import NoiseSource

#: Bits behind the point of what one row contributes: sums of up to 2^32 rows are exact in 53 bits.
CONTRIBUTION_BITS = 20
#: The standard deviation of noise is at least 2^28 steps of its grid, and the grid at most this many bits finer.
_NOISE_BITS, _MOST_EXTRA_BITS = 28, 20
#: Above this many steps the simulation rounds Gaussian noise; the distribution differs by a factor of 1 + 1e-6 at most.
_SMOOTH = 1000.0


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """values + k with P(k) ~ exp(-k^2 / (2 scale^2)) over all whole numbers k.

    Costs nothing by itself: many rounds are priced together by an event `GaussianRounds`.
    """

    scale: float
    title: ClassVar[str] = "Gaussian"

    def __post_init__(self) -> None:
        if not 0 < self.scale < 2.0**60:
            raise ParameterError("GaussianNoise", "scale", self.scale, "a number in (0, 2^60)")

    def add(self, values: np.ndarray, *, source: NoiseSource) -> np.ndarray:
        """Noisy `values` (any shape, int64, private)."""
        return source.draw(self, values)

    def sample(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Values plus noise by NumPy."""
        size = np.shape(values)
        if self.scale > _SMOOTH:
            return values + np.rint(rng.normal(scale=self.scale, size=size)).astype(np.int64)
        radius = math.ceil(12 * self.scale) + 1
        noise = np.arange(-radius, radius + 1)
        return values + rng.choice(noise, size=size, p=self.pmf(noise))

    def sample_exactly(self, values: np.ndarray) -> np.ndarray:
        """Values plus OpenDP's discrete Gaussian noise."""
        from dpviz.privacy import exact

        noisy = exact.gaussian(np.ravel(values).tolist(), self.scale)
        return np.array(noisy, dtype=np.int64).reshape(np.shape(values))

    def pmf(self, noise: np.ndarray) -> np.ndarray:
        """Probability that the noise equals these whole numbers, for a scale of at most 1000; exact to 1e-15."""
        radius = math.ceil(40 * self.scale) + 1
        total = np.exp(-np.square(np.arange(-radius, radius + 1) / self.scale) / 2).sum()
        return np.exp(-np.square(np.asarray(noise) / self.scale) / 2) / total


@dataclass(frozen=True, slots=True)
class NoiseGrid:
    """Where sums meet noise of standard deviations `scales`: contributions in steps of 2^-20, noise in finer ones.

    Attributes
    ----------
    scales : tuple of float
        One per kind of sum, in units of the sums. Public.
    """

    scales: tuple[float, ...]

    @property
    def extra_bits(self) -> int:
        """Bits by which the grid of the noise is finer than that of the contributions."""
        wanted = _NOISE_BITS - CONTRIBUTION_BITS - math.floor(math.log2(min(self.scales)))
        return min(_MOST_EXTRA_BITS, max(0, wanted))

    @property
    def steps(self) -> float:
        """Steps of the noise's grid in 1."""
        return 2.0 ** (CONTRIBUTION_BITS + self.extra_bits)

    def noisy(self, sums: np.ndarray, kind: int, *, source: NoiseSource) -> np.ndarray:
        """Sums of contributions (whole steps of 2^-20) of one kind with noise added, float64 in units of 1."""
        room = 2.0 ** (61 - self.extra_bits)  # cut, not wrapped around: a cut sum moves no further than the sum
        whole = np.clip(np.rint(sums), -room, room).astype(np.int64) << self.extra_bits
        return GaussianNoise(self.scales[kind] * self.steps).add(whole, source=source) / self.steps


def contributions(values: np.ndarray, limit: float) -> np.ndarray:
    """Rows' values in whole steps of 2^-20, float64, each row within `limit`: by size, or by length where a row has several.

    Rounded towards 0 after they are cut, so that no row exceeds the limit by a rounding error.
    """
    one = values.ndim == 1
    size = np.abs(values) if one else np.sqrt(np.square(values).sum(axis=1, keepdims=True))
    room = limit * (1 - 2.0**-40)  # what cutting, or a length itself, may be wrong by
    within = np.where(size <= (limit if one else room), 1.0, room / np.maximum(size, 1e-300))
    return np.trunc(values * within * 2.0**CONTRIBUTION_BITS)
