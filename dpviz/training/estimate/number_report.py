"""A private test result for numbers: R2, root mean square and mean absolute error from one released table of sums.

Of each row of the test the error (at most the window's width counts) and the place of the number in the window are spread over a
table of 5 by 5 cells (`bernstein.py`, degree 4 in both): one row changes it by one row. Its cells give every moment up to the
fourth, so means of errors and squared errors come with their sampling variance, and the noise is known: intervals are those of
`report.py`, for ratios of sums.

**R2** is 1 - A / B with A the sum of squared errors and B that of squared distances from the mean of the same rows, as estimated;
its interval is that of the ratio. A window that was released with the model costs nothing; otherwise a median and a width are
released first.

Source: this project.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

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
from dpviz.training.counting.measures import Errors
from dpviz.training.estimate.bernstein import times, weights_of
from dpviz.training.estimate.report import CONFIDENCE, TEST, fieller
from dpviz.training.estimate.window import MEDIAN, Window, beyond_widths, released_window, target_cuts

DEGREE = 4
#: Units of one row along either side of the table.
UNITS = 2**15
#: The part of the rows held out at random for the test of a tree of numbers; part 1 is summed in its leaves.
TESTED = 2
#: Shares of a row's epsilon where the window is not known: centre, width, table.
PARTS = (0.1, 0.15, 0.75)
#: R2 is told from here to 1.
LEAST_R2 = -1.0


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
        return self._mean((0, 1), self.window.width)

    @cached_property
    def rmse(self) -> Estimate:
        """Root mean square error, in the target's units."""
        squared = self._mean((0, 0, 1), 1.0)
        return Estimate(*(self.window.width * math.sqrt(value) for value in (squared.value, squared.low, squared.high)))

    @cached_property
    def r_squared(self) -> Estimate:
        """Share of the variance explained."""
        mean = self._total((1,), _PLACE) / max(float(self._sums.sum()), 1.0)
        distance = _PLACE[0] - min(max(mean, -1.0), 1.0), _PLACE[1]
        left = self._ratio(((0, 0, 1), (1,)), ((1,), times(distance, distance)), 1 - LEAST_R2)
        return Estimate(1 - left.value, 1 - left.high, 1 - left.low)

    def _mean(self, of_errors: Sequence[float], unit: float) -> Estimate:
        found = self._ratio((of_errors, (1,)), ((1,), (1,)), 1.0)
        return Estimate(unit * found.value, unit * found.low, unit * found.high)

    def _total(self, of_errors: Sequence[float], of_places: Sequence[float]) -> float:
        """The sum over rows of two polynomials, multiplied."""
        return float((self._sums * _weights(of_errors, of_places)).sum())

    def _at_most(self, of_errors: Sequence[float], of_places: Sequence[float]) -> float:
        """A sum of squares, and one standard deviation of its noise: where noise hides a variance it is rather too large."""
        noise = math.sqrt(self.noise_variance * float(np.square(_weights(of_errors, of_places)).sum()))
        return max(self._total(of_errors, of_places), 0.0) + noise

    def _ratio(self, top: _Polynomials, bottom: _Polynomials, high: float) -> Estimate:
        """sum of `top` / sum of `bottom`; each is a polynomial of the error times one of x = (1 + place) / 2."""
        squares = [self._at_most(*_product(one, one)) for one in (top, bottom)]
        mixed = self._total(*_product(top, bottom))
        one, other = _weights(*top), _weights(*bottom)
        noise = self.noise_variance * np.array([(one * one).sum(), -2 * (one * other).sum(), (other * other).sum()])
        spread = np.array([squares[0], -2 * mixed, squares[1]]) + noise
        return fieller(self._total(*top), self._total(*bottom), spread, 0.0, high)

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


_Polynomials = tuple[Sequence[float], Sequence[float]]
#: The place in the window as a polynomial of x = (1 + place) / 2.
_PLACE = (-1.0, 2.0)


def _product(one: _Polynomials, other: _Polynomials) -> _Polynomials:
    return times(one[0], other[0]), times(one[1], other[1])


def _weights(of_errors: Sequence[float], of_places: Sequence[float]) -> np.ndarray:
    return np.outer(weights_of(of_errors, DEGREE), weights_of(of_places, DEGREE))


def errors_within(window: Window, answers: tuple[float, ...]) -> Errors:
    """What a row adds to the table: its error, from the answer it gets, and its place."""
    return Errors(window, answers, DEGREE, UNITS)


def released_sums(
    schema: Schema,
    held_out: HeldOutPart,
    window: Window,
    exact: np.ndarray,
    source: NoiseSource,
    table_epsilon: float | None = None,
    before: tuple[Event, ...] = (),
) -> tuple[NumberReport, Event]:
    """The test by the rows held out for it, with its event.

    `exact` (private): the sums over such rows of `errors_within`, a row's L1 sensitivity is UNITS^2. `before`: what released the
    window; then `table_epsilon` is what it left.
    """
    epsilon = held_out.epsilon if table_epsilon is None else table_epsilon
    square = exact.reshape(DEGREE + 1, DEGREE + 1)
    sums = GeometricNoise(epsilon, l1=UNITS**2).release(square, source=source, part=held_out.part)
    table = tuple(map(tuple, sums.value.tolist()))
    return NumberReport(schema, held_out.share, held_out.epsilon, epsilon, window, table), Sequential((*before, sums.event))


def report_of_numbers(
    model: Model, data: EncodedDataset, held_out: HeldOutPart, source: NoiseSource, window: Window | None = None
) -> tuple[NumberReport, Event]:
    """The test of a model on `data`, the rows held out for it (private). A window that is not public is released first."""
    for_table: float | None = None
    before: tuple[Event, ...] = ()
    if window is None:
        for_centre, for_width, for_table = split_budget(held_out.epsilon, PARTS)
        window, before = _window(data, for_centre, for_width, source)
    exact = errors_within(window, (0.0,)).of(model.predict(data), data.target).sum(axis=0)
    return released_sums(data.schema, held_out, window, exact, source, for_table, before)


def _window(data: EncodedDataset, for_centre: float, for_width: float, source: NoiseSource) -> tuple[Window, tuple[Event, ...]]:
    cuts, target = target_cuts(data.schema), data.schema.target
    assert isinstance(target, NumericTarget)
    below = np.searchsorted(np.sort(data.target), cuts, side="right")
    median = PermuteAndFlip(for_centre, MEDIAN).release(-np.abs(2 * below - data.n_rows), source=source, part=TEST)
    centre = float(cuts[median.value])
    beyond = beyond_widths(data.target, target, centre).sum(axis=0)
    found = released_window(beyond, target, centre, for_width, source=source, part=TEST)
    return found.value, (median.event, found.event)
