"""A private test result for numbers: R2, root mean square and mean absolute error from one released table of sums.

Of each row of the test the error (at most the window's width counts) and the place of the number in the window are spread over a
table of 5 by 5 cells (`window.py`, degree 4 in both): one row changes it by one row. Its cells give every moment up to the
fourth, so means of errors and squared errors come with their sampling variance, and the noise is known: intervals are those of
`report.py`, for ratios of sums, and are about endlessly many rows of the same source.

**R2** is 1 - A / B with A the sum of squared errors and B that of squared distances from the mean of the same rows, as estimated;
its interval is that of the ratio. A window that was released with the model costs nothing; otherwise a median and a width are
released first.

**Beyond the window** an error counts as the width, so sums say too little. By the declared range a row counts at most a constant
more, if its error or its number lies at an end. How many rows do is bounded by the table: a polynomial that is 1 at the ends and
small inside (Chebyshev's) sums to at least as many. Upper ends of errors and both ends of R2 add them. Where the variance of the
target may be 0 as far as the table tells, R2 has no lower end.

Source: this project.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np
from numpy.polynomial import Polynomial

from dpviz.accounting.events import Event, Sequential
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import HeldOutPart
from dpviz.models.base import Model
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.source import NoiseSource
from dpviz.results.document import Estimate, TestEntry
from dpviz.results.result import TestReport
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget, Schema
from dpviz.training.estimate.report import CONFIDENCE, TEST, Z, fieller, widen
from dpviz.training.estimate.window import (
    MEDIAN,
    Window,
    bernstein_units,
    release_window,
    rows_outside_range,
    target_cuts,
    times,
    weights_of,
)

DEGREE = 4
#: Units of one row along either side of the table.
UNITS = 2**15
#: The part of the rows held out at random for the test of a tree of numbers; part 1 is summed in its leaves.
TEST_PART = 2
#: Shares of a row's epsilon where the window is not known: centre, width, table.
PARTS = (0.1, 0.15, 0.75)
#: Below, R2 says no more than that the model is far worse than the mean.
MIN_R2 = -1.0
#: The lower end of R2 where there is none.
NO_END = -sys.float_info.max
#: Rows beyond the ends that may have been missed although none was met, as in report.py: z^2.
_UNMET = Z * Z
#: The polynomials that are 1 at an end are small for errors, and for places, up to these shares of the width.
_INSIDE = ((0.3, 0.5), (0.5, 0.7), (0.8, 0.85))


@dataclass(frozen=True)
class NumberReport(TestReport):
    """Of a model of numbers."""

    table_epsilon: float  #: What each of these rows pays for the table
    window: Window  #: Numbers are read within it, errors up to its width
    table: tuple[tuple[int, ...], ...]  #: Released sums, in units of a row / `UNITS`^2: by error, then by place

    @cached_property
    def _sums(self) -> np.ndarray:
        """In rows."""
        return np.array(self.table, dtype=np.float64) / UNITS**2

    @property
    def n_rows(self) -> int:
        """The sum of the table."""
        return round(float(self._sums.sum()))

    @property
    def estimates(self) -> dict[str, Estimate | None]:
        """R2 and errors."""
        return {"r2": self.r_squared, "rmse": self.rmse, "mae": self.absolute_error}

    @property
    def noise_variance(self) -> float:
        """Of the noise on each sum, in rows squared."""
        return GeometricNoise(self.table_epsilon).variance

    @cached_property
    def absolute_error(self) -> Estimate:
        """Mean absolute error, in the target's units."""
        return self._error((0, 1), 1)

    @cached_property
    def rmse(self) -> Estimate:
        """Root mean square error, in the target's units."""
        return self._error((0, 0, 1), 2)

    @cached_property
    def r_squared(self) -> Estimate:
        """Share of the variance explained; its lower end is `NO_END` where there is none."""
        mean = self._total((1,), _PLACE) / max(float(self._sums.sum()), 1.0)
        mean = min(max(mean, -1.0), 1.0)
        distance = _PLACE[0] - mean, _PLACE[1]
        around = times(distance, distance)
        value = self._ratio(((0, 0, 1), (1,)), ((1,), around), ()).value
        # the mean of these rows is not that of all: squared distances from it are larger than the variance
        off = self._ratio(((1,), _PLACE), ((1,), (1,)), ())
        least = (around[0] - max(min(off.high, 1.0) - mean, mean - max(off.low, -1.0)) ** 2, *around[1:])
        highest = min(self._ratio(((0, 0, 1), (1,)), ((1,), least), more).high for more in self._tail_bounds(2))
        further, near = self._furthest_number + abs(mean), 1 - abs(mean)
        lowest = max(
            self._ratio(((0, 0, 1), (1,)), ((1,), around), (), below=(further**2 - near**2, _at_ends(inside))).low
            for _, inside in _INSIDE
        )
        low = NO_END if math.isinf(highest) else 1 - highest
        return Estimate(1 - min(max(value, 0.0), 1 - MIN_R2), min(low, 1.0), min(1 - lowest, 1.0))

    def _error(self, of_errors: _Polynomial, power: int) -> Estimate:
        """The mean of a power of the error, then its root; in the target's units."""
        one = ((1,), (1,))
        estimate = self._ratio((of_errors, (1,)), one, ())
        high = min(self._ratio((of_errors, (1,)), one, more).high for more in self._tail_bounds(power))
        ends = (min(max(estimate.value, 0.0), 1.0), min(max(estimate.low, 0.0), 1.0), min(high, self._largest_error**power))
        return Estimate(*(self.window.width * max(end, 0.0) ** (1 / power) for end in ends))

    @property
    def _furthest_number(self) -> float:
        """How far numbers may lie from the centre, in widths; at least 1."""
        target, window = self.schema.target, self.window
        assert isinstance(target, NumericTarget)
        return max((target.high - window.centre) / window.width, (window.centre - target.low) / window.width, 1.0)

    @property
    def _largest_error(self) -> float:
        """In widths, at least 1: from an answer within the window where the window came with the model, else within the range."""
        target = self.schema.target
        assert isinstance(target, NumericTarget)
        if self._is_within:
            return self._furthest_number + 1 if self._furthest_number > 1 + _ROUNDING else 2.0
        return max((target.high - target.low) / self.window.width, 1.0)

    @property
    def largest_error(self) -> float:
        """The most that an error can be, in the target's units: upper ends beyond are cut off."""
        return self.window.width * self._largest_error

    @property
    def _is_within(self) -> bool:
        """Whether the model's answers lie within the window: it was released with them, and costs the test nothing."""
        return self.table_epsilon == self.epsilon

    def _tail_bounds(self, power: int) -> list[tuple[tuple[float, _Polynomials], ...]]:
        """Ways to bound by how much errors beyond the width count too little: terms (at most so much, for at most such rows).

        An answer and a number within the window are at most two widths apart; only numbers beyond it can be further off.
        """
        largest = self._largest_error
        near = min(largest, 2.0) if self._is_within else largest
        ways = []
        for of_error, of_place in _INSIDE:
            at_end = _tall(-1.0, 2 / of_error)  # 1 where an error is the width or more
            anywhere = near**power - 1, (at_end, (1.0,))
            at_ends = largest**power - near**power, (at_end, _at_ends(of_place))
            ways.append(tuple(term for term in (anywhere, at_ends) if term[0] > _ROUNDING))
        return ways

    def _total(self, of_errors: _Polynomial, of_places: _Polynomial) -> float:
        """The sum over rows of two polynomials, multiplied."""
        return float((self._sums * _weights(of_errors, of_places)).sum())

    def _deviation(self, of_errors: _Polynomial, of_places: _Polynomial) -> float:
        """Of the noise of that sum."""
        return math.sqrt(self.noise_variance * float(np.square(_weights(of_errors, of_places)).sum()))

    def _upper_bound(self, of_errors: _Polynomial, of_places: _Polynomial) -> float:
        """A sum of squares, and one standard deviation of its noise: where noise hides a variance it is rather too large."""
        return max(self._total(of_errors, of_places), 0.0) + self._deviation(of_errors, of_places)

    def _rows_at_most(self, rows: _Polynomials) -> float:
        """How many rows the polynomials, between 0 and 1, may add up to: their standard deviation is at most its root."""
        return max(self._total(*rows), 0.0) + Z * self._deviation(*rows) + _UNMET

    def _ratio(
        self,
        top: _Polynomials,
        bottom: _Polynomials,
        more: Sequence[tuple[float, _Polynomials]],
        below: tuple[float, _Polynomial] | None = None,
    ) -> Estimate:
        """sum of `top` / sum of `bottom`; each is a polynomial of the error times one of x = (1 + place) / 2.

        `more`: what is added to the top, `below` to the bottom, as (factor, polynomials between 0 and 1).
        """
        squares = [self._upper_bound(*_product(one, one)) for one in (top, bottom)]
        mixed = self._total(*_product(top, bottom))
        spread = self.rows_per_person * np.array([squares[0] + 1.0, -2 * mixed, squares[1]])
        one, other = _weights(*top), _weights(*bottom)
        about = self._total(*top) / max(self._total(*bottom), 1.0)
        without = math.sqrt(max(spread @ np.array([1.0, about, about**2]), 1.0))
        added = sum(factor * math.sqrt(self.rows_per_person * self._rows_at_most(rows)) for factor, rows in more)
        one = one + sum(factor * _weights(*rows) for factor, rows in more)
        spread = widen(spread, about, added)
        if below is not None and below[0] > _ROUNDING:
            factor, ends = below
            extra = factor * math.sqrt(self.rows_per_person * self._rows_at_most(((1.0,), ends)))
            balance = max(abs(about), 1e-3) * extra / without
            spread = (1 + balance) * spread + np.array([0.0, 0.0, (1 + 1 / balance) * extra**2])
            other = other + factor * _weights((1.0,), ends)
        noise = self.noise_variance * np.array([(one * one).sum(), -2 * (one * other).sum(), (other * other).sum()])
        return fieller(float((self._sums * one).sum()), float((self._sums * other).sum()), spread + noise, -math.inf, math.inf)

    @property
    def entry(self) -> TestEntry:
        """The sums, and all that follows from them."""
        return TestEntry(
            share=self.share,
            epsilon=self.epsilon,
            confidence=CONFIDENCE,
            table_epsilon=self.table_epsilon,
            centre=self.window.centre,
            width=self.window.width,
            sums=self.table,
            r_squared=self.r_squared,
            rmse=self.rmse,
            absolute_error=self.absolute_error,
        )


#: Coefficients of 1, x, x^2, ...; of the error, and of x = (1 + place) / 2.
_Polynomial = tuple[float, ...]
_Polynomials = tuple[_Polynomial, _Polynomial]
#: Below, a factor is rounding.
_ROUNDING = 1e-9
#: Chebyshev's polynomial of degree 4, and 1: not negative, and at most 2 between -1 and 1.
_CHEBYSHEV = (2.0, 0.0, -8.0, 0.0, 8.0)
#: The place in the window as a polynomial of x = (1 + place) / 2.
_PLACE = (-1.0, 2.0)


def _at_ends(inside: float) -> _Polynomial:
    """Of x = (1 + place) / 2: 1 at either end of the window, and small up to this share of it."""
    return _tall(-1 / inside, 2 / inside)


@cache
def _tall(start: float, slope: float) -> _Polynomial:
    """Chebyshev's polynomial of the line start + slope x, as a share of what it is at 1: coefficients, in [0, 1]."""
    coefficients = Polynomial(_CHEBYSHEV)(Polynomial((start, slope))).coef.tolist()
    return tuple(c / sum(coefficients) for c in coefficients)


def _product(one: _Polynomials, other: _Polynomials) -> _Polynomials:
    return times(one[0], other[0]), times(one[1], other[1])


@lru_cache(maxsize=1024)
def _weights(of_errors: _Polynomial, of_places: _Polynomial) -> np.ndarray:
    return np.outer(weights_of(of_errors, DEGREE), weights_of(of_places, DEGREE))


def error_units(window: Window, answers: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """What a row adds to the table, int64 of shape (n_rows, 25): by its error, from the answer it gets, times by its place."""
    off = Window(0.0, window.width).place(numbers - answers)
    by_error = bernstein_units(np.abs(off), DEGREE, UNITS)
    by_place = bernstein_units((window.place(numbers) + 1) / 2, DEGREE, UNITS)
    return (by_error[:, :, None] * by_place[:, None, :]).reshape(len(numbers), (DEGREE + 1) ** 2)


def errors_of_leaves(window: Window, values: tuple[float, ...], numbers: np.ndarray, leaf: np.ndarray) -> np.ndarray:
    """`error_units` where each leaf answers with its value."""
    return error_units(window, np.array(values)[leaf], numbers)


def release_sums(
    schema: Schema,
    held_out: HeldOutPart,
    window: Window,
    exact: np.ndarray,
    source: NoiseSource,
    table_epsilon: float | None = None,
    before: tuple[Event, ...] = (),
) -> tuple[NumberReport, Event]:
    """The test by the rows held out for it, with its event.

    `exact` (private): the sums over such rows of `error_units`, a row's L1 sensitivity is UNITS^2. `before`: what released the
    window; then `table_epsilon` is what it left.
    """
    epsilon = held_out.epsilon if table_epsilon is None else table_epsilon
    square = exact.reshape(DEGREE + 1, DEGREE + 1)
    sums = GeometricNoise(epsilon, l1=UNITS**2).release(square, source=source, part=held_out.part)
    table = tuple(map(tuple, sums.value.tolist()))
    return NumberReport(schema, held_out.share, held_out.epsilon, epsilon, window, table), Sequential((*before, sums.event))


def report_of_numbers(
    model: Model, data: EncodedDataset, held_out: HeldOutPart, source: NoiseSource
) -> tuple[NumberReport, Event]:
    """The test of a model on `data`, the rows held out for it (private); its window is released first."""
    for_centre, for_width, for_table = split_budget(held_out.epsilon, PARTS)
    cuts, target = target_cuts(data.schema), data.schema.target
    assert isinstance(target, NumericTarget)
    below = np.searchsorted(np.sort(data.target), cuts, side="right")
    median = PermuteAndFlip(for_centre, MEDIAN).release(-np.abs(2 * below - data.n_rows), source=source, part=TEST)
    centre = float(cuts[median.value])
    beyond = rows_outside_range(data.target, target, centre).sum(axis=0)
    window = release_window(beyond, target, centre, for_width, source=source, part=TEST)
    exact = error_units(window.value, model.predict(data), data.target).sum(axis=0)
    return release_sums(data.schema, held_out, window.value, exact, source, for_table, (median.event, window.event))
