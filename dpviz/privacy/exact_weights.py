"""Exact draws from weights exp(-rate * k), for whole numbers k >= 0 and a rational rate.

A uniform number U in [0, 1) chooses index i where U lies between the shares of the weights before i and up to i. Neither U nor
the shares are ever known in full, only bounds on them, and an index is chosen when the bounds leave no other. First the shares
come from floats with a proven error; where these leave two indexes, which has a probability of about 2^-30, more bits of U are
drawn and the shares computed with as many digits, until one is left. So the law is the exact one, to the last bit.

**How close.** k is written in digits of base 1024, and exp(-rate k) is the product of one table entry per digit. Entries come
from the `decimal` module, whose exp() is correctly rounded, and floats are the nearest ones to these. Then only multiplications
and additions follow. IEEE 754 rounds each within 2^-53, relatively, `decimal` within 10^(1 - precision) / 2; a sum of n positive
numbers, in any order, is off by n - 1 roundings at most (Higham 2002, Section 4.2). No library's exp() for floats is trusted.
How long it takes depends on public sizes, but for those rare cases.

Source: inversion with bounds, Devroye 1986, Section II.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, count

import numpy as np

from dpviz.randomness import secure_bits

#: Digits of k are in this base.
_BASE = 1024
#: As floats, weights below exp(-700) count as 0: fewer than 2^63 of them are less than 2^-900 of a sum that holds a 1.
_FARTHEST = 700
_ULP = 2.0**-52
#: Bits of U that are drawn first.
_FIRST_BITS = 53
#: Decimal digits that roundings may use up: 10^29 of them, and of an exponent below 10^18.
_GUARD = 30


class ExactWeights:
    """exp(-rate k), as floats or as decimal numbers, with a proven error."""

    def __init__(self, rate: Fraction) -> None:
        self.rate = rate
        self._last = min(int(_FARTHEST / rate), 2**62) if rate else 2**62  # utilities are 64-bit numbers
        places = range(-(-self._last.bit_length() // (_BASE.bit_length() - 1)) or 1)
        entries = (_table(rate * _BASE**place, 20, min(self._last // _BASE**place, _BASE - 1)) for place in places)
        self._tables = [np.array([*map(float, table)]) for table in entries]
        #: Largest relative error of a float: half an ulp, and a little, per table entry, and per product.
        self.error = 2 * len(self._tables) * _ULP

    def floats(self, behind: np.ndarray) -> np.ndarray:
        """exp(-rate k) for every k, float64 of the same shape; those farther behind than exp(-700) are 0."""
        rest = np.minimum(behind, self._last)
        weights = self._tables[0].take(rest % _BASE)
        for table in self._tables[1:]:
            rest //= _BASE
            weights *= table.take(rest % _BASE)
        weights[behind > self._last] = 0.0
        return weights

    def total(self, behind: np.ndarray, digits: int) -> Decimal:
        """The sum of exp(-rate k) over all k (1-D), within 10^-digits, relatively."""
        with localcontext(_context(digits)):
            return sum((times * self._decimal(k, digits) for k, times in _count_values(behind)), Decimal(0))

    def _decimal(self, k: int, digits: int) -> Decimal:
        weight = Decimal(1)
        for place in count():
            if not k:
                return weight
            k, digit = divmod(k, _BASE)
            weight *= _table(self.rate * _BASE**place, digits, _BASE - 1)[digit]
        raise AssertionError


def _count_values(numbers: np.ndarray) -> zip[tuple[int, int]]:
    return zip(*(part.tolist() for part in np.unique(numbers, return_counts=True)), strict=True)


def _context(digits: int) -> Context:
    return Context(prec=digits + _GUARD, Emin=MIN_EMIN, Emax=MAX_EMAX)


@lru_cache(maxsize=64)
def exact_weights(rate: Fraction) -> ExactWeights:
    """The weights of a rate; a tree asks for the same ones at many nodes."""
    return ExactWeights(rate)


@lru_cache(maxsize=64)
def _table(step: Fraction, digits: int, last: int) -> tuple[Decimal, ...]:
    """exp(-step j) for j = 0 .. last."""
    with localcontext(_context(digits)):
        return tuple((Decimal(-step.numerator * place) / step.denominator).exp() for place in range(last + 1))


def sample_index_exactly(weights: np.ndarray, error: float, decimals: Callable[[int], Sequence[Decimal]]) -> int:
    """An index with a probability exactly proportional to the true weights.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        Each within the relative `error` of a true weight; those given as 0 may be true ones of less than 2^-900 of the sum.
    error : float
        At least 2^-52.
    decimals : callable
        For a number of digits, the weights within 10^-digits, relatively.
    """
    uniform = secure_bits(_FIRST_BITS)
    ends = np.cumsum(weights)
    # Sums are within `error` and n - 1 roundings of the true ones, relatively; a share is the quotient of two of them.
    slack = 4 * (error + len(weights) * _ULP)
    shares, low = ends[:-1] / ends[-1], uniform * 2.0**-_FIRST_BITS
    surely, perhaps = np.searchsorted(shares, (low - slack, low + 2.0**-_FIRST_BITS + slack))
    return int(surely) if surely == perhaps else _choose_by_decimals(uniform, decimals)


def _choose_by_decimals(uniform: int, decimals: Callable[[int], Sequence[Decimal]]) -> int:
    """The index that a uniform number chooses which begins with these `_FIRST_BITS` bits."""
    bits = _FIRST_BITS
    while True:
        uniform, bits = (uniform << bits) | secure_bits(bits), 2 * bits
        digits = bits // 3 + 10  # 10^-digits is far below 2^-bits
        with localcontext(_context(digits)):
            ends = list(accumulate(decimals(digits)))
            low, high = (ends[-1] * (uniform + end) / 2**bits for end in (0, 1))
            slack = 4 * ends[-1].scaleb(-digits)
            surely, perhaps = (sum(end < point for end in ends[:-1]) for point in (low - slack, high + slack))
        if surely == perhaps:
            return surely
