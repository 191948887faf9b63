"""Whole numbers that one row adds to a sum: what is asked about numeric targets, row by row.

Only additions, multiplications, divisions, comparisons and `floor` of float64: the same bits wherever they are computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.table.schema import NumericTarget
from dpviz.training.estimate.bernstein import bernstein_units
from dpviz.training.estimate.window import Window, rows_outside_range, widths


@dataclass(frozen=True, slots=True)
class Steps:
    """The distance of a number from the middle of the declared range, in steps of half the range / `steps`."""

    target: NumericTarget
    steps: int

    @property
    def width(self) -> int:
        """One number."""
        return 1

    def __call__(self, target: np.ndarray, leaf: np.ndarray) -> np.ndarray:
        """Steps per row."""
        steps = np.floor(np.clip((target - self.middle) / self.half, -1, 1) * self.steps + 0.5)
        return steps.astype(np.int64)[:, None]

    @property
    def middle(self) -> float:
        """Of the declared range."""
        return self.target.low / 2 + self.target.high / 2

    @property
    def half(self) -> float:
        """Half the declared range."""
        return self.target.high / 2 - self.target.low / 2


@dataclass(frozen=True, slots=True)
class RowsOutsideRange:
    """Whether a number is farther from a released centre than each public width, widest first; then one row."""

    target: NumericTarget
    centre: float

    @property
    def width(self) -> int:
        """Widths, and one."""
        return len(widths(self.target)) + 1

    def __call__(self, target: np.ndarray, leaf: np.ndarray) -> np.ndarray:
        """0 or 1 per row and width, and 1."""
        return rows_outside_range(target, self.target, self.centre)


@dataclass(frozen=True, slots=True)
class BernsteinUnits:
    """The units of a row by its place in a released window (`bernstein.py`)."""

    window: Window
    degree: int
    units: int

    @property
    def width(self) -> int:
        """Cells."""
        return self.degree + 1

    def __call__(self, target: np.ndarray, leaf: np.ndarray) -> np.ndarray:
        """Units per row and cell."""
        return bernstein_units((self.window.place(target) + 1) / 2, self.degree, self.units)


@dataclass(frozen=True, slots=True)
class Errors:
    """The units of a row by how far its leaf's released number is off, times those by its place in a released window."""

    window: Window
    values: tuple[float, ...]
    degree: int
    units: int

    @property
    def width(self) -> int:
        """Cells: by error, then by place."""
        return (self.degree + 1) ** 2

    def __call__(self, target: np.ndarray, leaf: np.ndarray) -> np.ndarray:
        """Units per row and cell."""
        return self.of(np.array(self.values)[leaf], target)

    def of(self, predicted: np.ndarray, actual: np.ndarray) -> np.ndarray:
        """Units per row and cell for any predictions."""
        off = Window(0.0, self.window.width).place(actual - predicted)
        by_error = bernstein_units(np.abs(off), self.degree, self.units)
        by_place = bernstein_units((self.window.place(actual) + 1) / 2, self.degree, self.units)
        return (by_error[:, :, None] * by_place[:, None, :]).reshape(len(actual), self.width)
