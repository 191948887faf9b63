"""A noise source that lists every outcome instead of drawing one, so that what is verified is what runs.

A learner's own code runs again and again; each run follows one path of outcomes, and the paths are walked depth first.
Probabilities come from the mechanisms' own `.probabilities`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from dpviz.errors import UnsupportedError

T = TypeVar("T")


class Enumeration:
    """A NoiseSource whose draws are scripted by `outcomes`."""

    name = "enumeration"
    seed = None

    def __init__(self) -> None:
        #: Of each draw of this run the outcomes that are left, with their probabilities; the first of them is scripted.
        self._path: list[list[tuple[int, float]]] = []
        self._position = 0

    @property
    def has_drawn(self) -> bool:
        """True after draws that no `outcomes` has walked."""
        return bool(self._path)

    def enter(self, place: int) -> None:
        """Nothing: every outcome is visited."""

    def draw(self, mechanism: Any, values: Any) -> int:
        """The scripted outcome, or the first possible one where the script ends."""
        if self._position == len(self._path):
            chances = _distribution(mechanism, values)
            possible = np.flatnonzero(chances)
            self._path.append(list(zip(possible.tolist(), chances[possible].tolist(), strict=True)))
        self._position += 1
        return self._path[self._position - 1][0][0]

    def outcomes(self, run: Callable[[], T], *, max_runs: float = math.inf) -> Iterator[tuple[T, float]]:
        """Everything `run` can return (it must draw from this source only), each path with its probability.

        Raises UnsupportedError when there are more than `max_runs` paths, after the first one where its draws already say so.
        """
        walked = 0
        try:
            while True:
                self._position = 0
                value = run()
                walked += 1
                expected = math.prod(map(len, self._path)) if walked == 1 else walked
                if expected > max_runs:
                    what = f"A run of this learner can go more than {max_runs:,.0f} ways."
                    raise UnsupportedError(what, remedy="Use a smaller universe, or audit it by sampling.")
                yield value, math.prod(left[0][1] for left in self._path)
                if not self._advance():
                    return
        finally:
            self._path, self._position = [], 0

    def _advance(self) -> bool:
        """Move the last draw that has another possible outcome to it; False when every path was walked."""
        while self._path:
            self._path[-1].pop(0)
            if self._path[-1]:
                return True
            self._path.pop()
        return False


def _distribution(mechanism: Any, values: Any) -> np.ndarray:
    if not hasattr(mechanism, "probabilities"):
        raise UnsupportedError(
            f"The outcomes of the mechanism {mechanism.title!r} cannot be listed.",
            remedy="Declare the distribution of the learner's step, or audit it by sampling.",
        )
    return np.asarray(mechanism.probabilities(values))
