"""Random assignment: each row, or each person, goes to one part of the table, whatever the rows hold, and in secret.

Couple the assignments of two tables that differ by one row: then one part differs by that row and the others are equal. So what
is released from each part costs the largest epsilon of all, not their sum (parallel composition), also where what is asked of
one part depends on what was released from another. The assignment stays secret; whoever knew it would know which part a row was
in. What one row risks is the mean over the parts, not the largest (`accounting.risk`).

Source: parallel composition, McSherry 2009, Theorem 4, given the assignment; a mixture over equal assignments keeps every ratio.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.accounting.events import Event, RandomPartition
from dpviz.errors import ParameterError
from dpviz.privacy.source import NoiseSource
from dpviz.randomness import secure_uniforms
from dpviz.table.validation import is_number

#: Parts that are drawn at once: eight bytes each, in the processor's cache.
_CHUNK_SIZE = 1 << 15


@dataclass(frozen=True, slots=True)
class RandomAssignment:
    """Part k = 1, 2, ... with probability `shares[k - 1]`, part 0 otherwise."""

    shares: tuple[float, ...]
    title: ClassVar[str] = "random assignment"

    def __post_init__(self) -> None:
        if not (all(is_number(share) and share >= 0 for share in self.shares) and sum(self.shares) < 1):
            raise ParameterError("RandomAssignment", "shares", self.shares, "not negative, and below 1 in all")

    def assign(self, n_rows: int, *, persons: np.ndarray | None = None, source: NoiseSource) -> np.ndarray:
        """The part of every row: uint8 of shape (n_rows,). Private.

        `persons`: whose row each is, shape (n_rows,), private; all rows of a person then go with the first.
        """
        parts = np.asarray(source.draw(self, n_rows))
        if persons is None:
            return parts
        _, first, person = np.unique(persons, return_index=True, return_inverse=True)
        return parts[first][person]

    def event(self, parts: Sequence[Event], *, shared: bool = False) -> RandomPartition:
        """What was done to all parts, `parts[k]` to part k; `shared`: those of a person are assigned together."""
        return RandomPartition(tuple(parts), (1 - sum(self.shares), *self.shares), shared)

    def sample(self, n_rows: int, rng: np.random.Generator) -> np.ndarray:
        """Parts by NumPy's generator."""
        return self._parts(n_rows, rng.random)

    def sample_exactly(self, n_rows: int) -> np.ndarray:
        """Parts by the operating system."""
        return self._parts(n_rows, secure_uniforms)

    def _parts(self, n_rows: int, uniforms: Callable[[int], np.ndarray]) -> np.ndarray:
        parts = np.zeros(n_rows, dtype=np.uint8)
        for start in range(0, n_rows, _CHUNK_SIZE):
            here = parts[start : start + _CHUNK_SIZE]
            drawn = uniforms(len(here))
            for end in np.cumsum(self.shares[::-1]):  # below the first end: the last part; above all: part 0
                here += drawn < end
        return parts


@dataclass(frozen=True, slots=True)
class PoissonSample:
    """Who takes part in a round: each row with probability `rate`, independently (Poisson sampling). It stays secret.

    `GaussianRounds` accounts for what it saves.
    """

    rate: float
    title: ClassVar[str] = "Poisson sample"

    def __post_init__(self) -> None:
        if not is_number(self.rate) or not 0 < self.rate <= 1:
            raise ParameterError("PoissonSample", "rate", self.rate, "a number in (0, 1]")

    def participants(self, n_rows: int, *, source: NoiseSource) -> np.ndarray:
        """Who takes part, bool of shape (n_rows,). Private."""
        return np.ones(n_rows, dtype=bool) if self.rate == 1 else source.draw(self, n_rows)

    def sample(self, n_rows: int, rng: np.random.Generator) -> np.ndarray:
        """A draw with NumPy's generator."""
        return rng.random(n_rows) < self.rate

    def sample_exactly(self, n_rows: int) -> np.ndarray:
        """A draw with entropy from the operating system."""
        return secure_uniforms(n_rows) < self.rate
