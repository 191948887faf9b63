"""A noise source that lists every outcome instead of drawing one, so that what is verified is what runs.

A learner's own code runs again and again; each run follows one path of outcomes, and the paths are walked depth first.
Probabilities come from the mechanisms' own `.probabilities`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from dpviz.errors import NotListed

T = TypeVar("T")


class Enumeration:
    """A NoiseSource whose draws are scripted by `outcomes`."""

    name = "enumeration"
    seed = None

    def __init__(self) -> None:
        self._path: list[int] = []  # outcome of each draw of this run
        self._laws: list[np.ndarray] = []
        self._position = 0

    def draw(self, mechanism: Any, values: Any) -> int:
        """The scripted outcome, or the first possible one where the script ends."""
        if self._position == len(self._path):
            law = _law(mechanism, values)
            self._laws.append(law)
            self._path.append(int(np.flatnonzero(law)[0]))
        self._position += 1
        return self._path[self._position - 1]

    def outcomes(self, run: Callable[[], T]) -> Iterator[tuple[T, float]]:
        """Everything `run` can return (it must draw from this source only), each path with its probability."""
        self._path, self._laws = [], []
        while True:
            self._position = 0
            value = run()
            chances = (law[outcome] for law, outcome in zip(self._laws, self._path, strict=True))
            yield value, float(np.prod(np.fromiter(chances, dtype=np.float64)))
            if not self._advance():
                return

    def _advance(self) -> bool:
        """Move the last draw that has another possible outcome to it; False when every path was walked."""
        while self._path:
            later = np.flatnonzero(self._laws[-1][self._path[-1] + 1 :])
            if len(later):
                self._path[-1] += 1 + int(later[0])
                return True
            self._path.pop()
            self._laws.pop()
        return False


def _law(mechanism: Any, values: Any) -> np.ndarray:
    if not hasattr(mechanism, "probabilities"):
        raise NotListed(
            f"The outcomes of the mechanism {mechanism.title!r} cannot be listed.",
            remedy="Give the learner a law of its step, or audit it by sampling.",
        )
    return np.asarray(mechanism.probabilities(values))
