"""Gaussian noise on whole numbers, and the grid that turns sums of real numbers into whole numbers.

A row's contribution is clipped so that rounding it to the grid never takes it above its limit. The grid of the noise is finer
still: fine enough that noise on it follows a rounded Gaussian to within `accounting.gaussian.GRID_SLACK`.

Source: Canonne, Kamath & Steinke 2020, "The discrete Gaussian for differential privacy".
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpviz.errors import ParameterError
from dpviz.privacy.source import NoiseSource
from dpviz.table.validation import is_number

#: Bits after the binary point of one row's contribution: sums over up to 2^32 rows are exact in 53 bits.
CONTRIBUTION_BITS = 20
#: The standard deviation of the noise is at least 2^28 steps of its grid, as far as 20 more bits allow.
_NOISE_BITS, _MAX_EXTRA_BITS = 28, 20
#: Above this many steps the simulation rounds continuous noise; probabilities differ by a factor of at most 1 + 1e-6.
_SMOOTH = 1000.0
#: Beyond, sums in steps of 2^-20 leave int64.
_MAX_SCALE = 2.0**40


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """values + k with P(k) ~ exp(-k^2 / (2 scale^2)) over all whole numbers k.

    It returns no event of its own: all rounds are accounted together, by one `GaussianRounds`.
    """

    scale: float
    title: ClassVar[str] = "Gaussian"

    def __post_init__(self) -> None:
        if not is_number(self.scale) or not 0 < self.scale < 2.0**60:
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

    def log_likelihood(self, values: np.ndarray, noisy: np.ndarray) -> float:
        """ln of the probability of `noisy` where `values` are exact, but for a constant."""
        return -float(np.square((noisy - values) / self.scale).sum()) / 2

    def pmf(self, noise: np.ndarray) -> np.ndarray:
        """Probability that the noise equals these whole numbers, for a scale of at most 1000; exact to 1e-15."""
        radius = math.ceil(40 * self.scale) + 1
        total = np.exp(-np.square(np.arange(-radius, radius + 1) / self.scale) / 2).sum()
        return np.exp(-np.square(np.asarray(noise) / self.scale) / 2) / total


@dataclass(frozen=True)
class NoiseGrid:
    """Adds noise of standard deviations `scales` to sums: contributions in steps of 2^-20, noise in finer steps."""

    #: One per kind of sum, in the units of the sum. Public.
    scales: tuple[float, ...]

    def __post_init__(self) -> None:
        if not all(is_number(scale) and 0 < scale < _MAX_SCALE for scale in self.scales):
            raise ParameterError("NoiseGrid", "scales", self.scales, "numbers in (0, 2^40)")

    @cached_property
    def extra_bits(self) -> int:
        """How many bits finer the grid of the noise is than that of the contributions."""
        wanted = _NOISE_BITS - CONTRIBUTION_BITS - math.floor(math.log2(min(self.scales)))
        return min(_MAX_EXTRA_BITS, max(0, wanted))

    @cached_property
    def steps(self) -> float:
        """Steps of the noise's grid per unit."""
        return 2.0 ** (CONTRIBUTION_BITS + self.extra_bits)

    @cached_property
    def noise(self) -> tuple[GaussianNoise, ...]:
        """Of each kind, in steps of the noise's grid."""
        return tuple(GaussianNoise(scale * self.steps) for scale in self.scales)

    def noisy(self, sums: np.ndarray, kind: int, *, source: NoiseSource) -> np.ndarray:
        """Sums of one kind (in whole steps of 2^-20) plus noise, float64 in units of 1."""
        room = 2.0 ** (61 - self.extra_bits)  # clipped, so that int64 never overflows; clipping never enlarges a change
        whole = np.minimum(np.maximum(np.rint(sums), -room), room).astype(np.int64) << self.extra_bits
        return self.noise[kind].add(whole, source=source) / self.steps


def contributions(values: np.ndarray, limit: float) -> np.ndarray:
    """Values of rows in whole steps of 2^-20, float64, each row clipped to `limit`: by size, or by length for several values.

    Rounded towards 0 after clipping, so that no rounding error takes a row above its limit.
    """
    room = limit * (1 - 2.0**-40)  # allows for rounding errors in the length and in the clipping
    if values.ndim == 1 or values.shape[1] == 1:
        most = limit if values.ndim == 1 else room
        steps = np.minimum(np.maximum(values, -most), most)
        steps *= 2.0**CONTRIBUTION_BITS
        return np.trunc(steps, out=steps)
    size = np.sqrt(np.square(values).sum(axis=1, keepdims=True))
    over = size > room
    return np.trunc(values * np.where(over, room / np.maximum(size, room), 1.0) * 2.0**CONTRIBUTION_BITS)
