"""The window in which a numeric target is measured: a released centre, and a width chosen by counts.

Noise on a sum is as large as the largest number a row may add, so numbers are read within centre +- width, as far as the
declared range goes; what lies beyond counts as the end. The width is the declared range, a half, a quarter, ... of it, by
permute-and-flip. Few rows may be left outside, for a tail can hold most of the variance: every row beyond a width costs it one,
and a width itself has a public price, which doubles with it: 1/16 of a row divided by epsilon for the narrowest. So the window
grows with rows times epsilon until it holds the tail, and is narrow where noise is large.

**Sensitivity.** One row more lowers the utility of every width by 0 or 1, and no row changes the price: sensitivity 1, monotone.

**Moments.** A number x in [0, 1] puts the share B_j(x) = C(d, j) x^j (1 - x)^(d - j) of its row into cell j = 0 .. d. These
shares are not negative and add up to 1, so the sums over rows have an L1 sensitivity of one row, however many cells there are;
and every polynomial of degree d is a weighted sum of the cells (Bernstein 1912). So rows, sum and sum of squares cost as much as
one count. Shares are whole units, the largest takes what rounding leaves: sums are exact integers, for exact noise.

The price was chosen on public benchmark data, some of it in `data/benchmarks/numbers.csv`.

Source: this project.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import Sensitivity
from dpviz.privacy.source import NoiseSource, Output
from dpviz.table.candidates import QUARTERS, multiscale_fractions
from dpviz.table.schema import NumericTarget, Schema

#: Rows, times epsilon, that the narrowest width costs; every doubling doubles it.
PRICE = 1 / 16
#: The widest is the declared range; each of the others is half as wide.
N_WIDTHS = 9
#: No price is higher: rows and prices together are 64-bit numbers.
_HIGHEST_PRICE = 2.0**60
MEDIAN = Sensitivity(1.0, monotone=False, source="a row moves twice the rows below less all rows by one, up or down")
WIDTH = Sensitivity(1.0, monotone=True, source="a row lowers the utility of every width by 0 or 1; prices are public")


@dataclass(frozen=True, slots=True)
class Window:
    """Numbers within `centre` +- `width`, in the target's units. Public once released."""

    centre: float
    width: float

    @classmethod
    def around(cls, centre: float, width: float, target: NumericTarget) -> Window:
        """What lies within `centre` +- `width` and the declared range, of which `centre` is a point."""
        low, high = max(centre - width, target.low), min(centre + width, target.high)
        half = high / 2 - low / 2  # 0 where the width is below what floats tell apart
        return cls(low / 2 + high / 2, half) if 0 < half < width else cls(centre, width)

    def place(self, numbers: np.ndarray) -> np.ndarray:
        """Where numbers lie: -1 at the lower end and beyond, 1 at the upper."""
        return np.clip((numbers - self.centre) / self.width, -1.0, 1.0)

    def number(self, place: float) -> float:
        """The number at a place."""
        return self.centre + self.width * place


def widths(target: NumericTarget) -> np.ndarray:
    """The public widths, widest first."""
    return (target.high - target.low) * 2.0 ** -np.arange(N_WIDTHS)


def rows_outside_range(numbers: np.ndarray, target: NumericTarget, centre: float) -> np.ndarray:
    """Per number: 0 or 1 for every width, widest first, 1 where it lies beyond; then 1. int64, (n_rows, n_widths + 1)."""
    distance = np.abs(numbers - centre)
    beyond = [distance > width for width in widths(target)]
    return np.stack([*beyond, np.ones(len(numbers), dtype=bool)], axis=1).astype(np.int64)


def width_utilities(beyond: np.ndarray, epsilon: float) -> np.ndarray:
    """Utility of every width for the sums of `rows_outside_range` over rows (private): int64, widest first."""
    prices = np.minimum(PRICE / epsilon * 2.0 ** np.arange(N_WIDTHS)[::-1], _HIGHEST_PRICE).astype(np.int64)
    return -(beyond[:-1] + prices)


def release_window(
    beyond: np.ndarray, target: NumericTarget, centre: float, epsilon: float, *, source: NoiseSource, part: str
) -> Output[Window]:
    """A width around a released centre, by the sums of `rows_outside_range` over rows (private)."""
    utilities = width_utilities(beyond, epsilon)
    chosen = PermuteAndFlip(epsilon, WIDTH).release(utilities, source=source, part=part)
    return Output(Window.around(centre, float(widths(target)[chosen.value]), target), chosen.event)


def target_cuts(schema: Schema) -> np.ndarray:
    """Public cuts of the target's range, increasing: its 32nds, and finer ones towards both ends for long tails.

    Four steps lie between two halvings. With two, the median of a node was often so far from every cut that most of its rows lay
    on one side; a split that sends all rows there was then the best.
    """
    target = schema.target
    assert isinstance(target, NumericTarget)
    fractions = multiscale_fractions(QUARTERS, parts=32, halvings=10)
    return np.unique(target.low + fractions * (target.high - target.low))


def bernstein_units(places: np.ndarray, degree: int, units: int) -> np.ndarray:
    """Units per row and cell, int64 of shape (n_rows, degree + 1), each row's sum is `units`; `places` lie in [0, 1]."""
    x = np.asarray(places, dtype=np.float64)
    times = np.array([math.comb(degree, j) for j in range(degree + 1)], dtype=np.float64)
    cells = np.floor(times * _powers(x, degree) * _powers(1 - x, degree)[:, ::-1] * units).astype(np.int64)
    cells[np.arange(len(cells)), cells.argmax(axis=1)] += units - cells.sum(axis=1)
    return cells


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
