"""What a test of "the rows were used" can do at best, from the probabilities of every outcome with them and without."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np


def hockey_stick(with_rows: np.ndarray, without: np.ndarray, loss: float) -> float:
    """sup over sets S of P(S) - e^loss Q(S)."""
    return float(np.maximum(0.0, with_rows - math.exp(loss) * without).sum())


def power(with_rows: np.ndarray, without: np.ndarray, level: float) -> float:
    """The largest rate of true positives at this rate of false ones (Neyman-Pearson), outcomes taken one by one."""
    true, false = 0.0, 0.0
    for p, q in sorted(zip(with_rows.ravel(), without.ravel(), strict=True), key=lambda pair: -pair[0] / max(pair[1], 1e-300)):
        share = 1.0 if false + q <= level else (level - false) / q
        true, false = true + share * p, false + share * q
        if share < 1:
            break
    return true


def responses(epsilons: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Randomised responses of these epsilons in turn: probability of every outcome if all are yes, and if all are no."""
    chances = [1 / (1 + math.exp(-epsilon)) for epsilon in epsilons]
    answers = product((True, False), repeat=len(chances))
    law = [math.prod(c if yes else 1 - c for c, yes in zip(chances, row, strict=True)) for row in answers]
    return np.array(law), np.array(law[::-1])


def best_of_ranges(lengths: Sequence[float], loss: float, offsets: int = 400) -> float:
    """The largest hockey stick of steps with losses in ranges of these lengths, each offset chosen after what came before.

    Of all laws with losses in [t - length, t] those with the two end points are extreme; they have one probability each.
    """
    if not lengths:
        return max(0.0, -math.expm1(loss))
    length, *others = lengths
    tops = np.linspace(0, length, offsets + 1)[1:-1] if others else np.linspace(0, length, 20 * offsets + 1)[1:-1]
    return max(_two_points(float(top), length, others, loss, offsets // 4) for top in tops)


def _two_points(top: float, length: float, others: Sequence[float], loss: float, offsets: int) -> float:
    low = top - length
    chance = -math.expm1(low) / (math.exp(top) - math.exp(low)) * math.exp(top)
    return chance * best_of_ranges(others, loss - top, offsets) + (1 - chance) * best_of_ranges(others, loss - low, offsets)
