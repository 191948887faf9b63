"""Whole units of a row, spread over a few cells so that the cells' sums give moments: one row changes them by exactly `UNITS`.

A number x in [0, 1] puts the share B_j(x) = C(d, j) x^j (1 - x)^(d - j) of its row into cell j = 0 .. d. These shares are not
negative and add up to 1, so the sums over rows have an L1 sensitivity of one row, however many cells there are; and every
polynomial of degree d is a weighted sum of the cells (Bernstein 1912). So rows, sum and sum of squares cost as much as one count.
Shares are whole units, the largest takes what rounding leaves: sums are exact integers, for exact noise.
"""

import math
from collections.abc import Sequence

import numpy as np


def bernstein_units(places: np.ndarray, degree: int, units: int) -> np.ndarray:
    """Units per row and cell, int64 of shape (n_rows, degree + 1), each row's sum is `units`; `places` lie in [0, 1]."""
    x = np.asarray(places, dtype=np.float64)
    times = np.array([math.comb(degree, j) for j in range(degree + 1)], dtype=np.float64)
    found = np.floor(times * _powers(x, degree) * _powers(1 - x, degree)[:, ::-1] * units).astype(np.int64)
    found[np.arange(len(found)), found.argmax(axis=1)] += units - found.sum(axis=1)
    return found


def _powers(x: np.ndarray, degree: int) -> np.ndarray:
    """1, x, x^2, ... by multiplying one by one: the same bits on every processor and in every engine, unlike `**`."""
    return np.multiply.accumulate(np.stack([np.ones_like(x), *[x] * degree], axis=1), axis=1)


def weights_of(polynomial: Sequence[float], degree: int) -> np.ndarray:
    """What each cell counts for in the sum of a polynomial (coefficients of 1, x, x^2, ...): float64 of shape (degree + 1,)."""
    cells = range(degree + 1)
    terms = enumerate(polynomial)
    return np.sum([[c * math.comb(j, k) / math.comb(degree, k) for j in cells] for k, c in terms], axis=0)


def times(one: Sequence[float], other: Sequence[float]) -> tuple[float, ...]:
    """The product of two polynomials."""
    return tuple(np.convolve(one, other).tolist())
