"""Honest leaves of numbers: values and their uncertainty, from sums over rows that the tree did not grow from.

The rows held out for it at random choose a window around the root's median (`window.py`), then release three sums per leaf
(`window.py`): rows, numbers and squares, at the cost of one count. Everything else is post-processing:

**Values** are shrunk from the root down. A node mixes its mean with what its parent says, shifted by half a standard deviation to
the side its rule meant it for; m rows speak for that, m = (noise + N s^2) / (N s^2 / 4), where N is the rows of the node and s^2
the variance at the root: the best weight if means of children differ from their parents' by s / 2. The constants were chosen on
public benchmark data.
**Intervals** are of the mean of all numbers that such a leaf would get, not shrunk: the quadratic inequality of `report.py`.
Numbers beyond the window count as its ends. How many there are is bounded by the sums (a parabola that is 1 at that end,
Cantelli), and how far they may lie by the declared range; the ends allow for both.

Source: this project; shrinkage towards the parent, as in m-estimates (Cestnik 1990).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpviz.accounting.events import Event, Sequential
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import HeldOutPart
from dpviz.models.tree import Branch, Node, NumberLeaf, Tree
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.source import NoiseSource
from dpviz.table.schema import NumericTarget
from dpviz.training.counted_rows import CountedRows
from dpviz.training.estimate.report import LeafSums, Z, fieller, sum_leaves, widen
from dpviz.training.estimate.window import Window, bernstein_units, release_window, rows_outside_range

LEAF_SUMS = "leaf sums"
#: The part of the rows held out at random for the sums.
SUMS_PART = 1
#: Units of one row.
UNITS = 2**20
#: Part of such a row's epsilon that buys the window.
WINDOW_PART = 0.15
#: How far a child's mean is expected from its parent's, in the direction its rule meant and in any, in deviations of the root.
MEANT, ANY = 0.5, 0.5
#: Least variance at the root, as a share of the squared width of the window.
MIN_VARIANCE = 0.01
#: Values lie within the interval that is 95% of a normal distribution wide.
_Z_OF_VALUES = 1.959964
#: What each of the three sums counts for in rows, places and their squares; see `_moments`.
_ROWS, _PLACES, _SQUARES = np.array([1.0, 1.0, 1.0]), np.array([-1.0, 0.0, 1.0]), np.array([1.0, -1.0, 1.0])


def estimate_leaf_means(
    root: Node, rows: CountedRows, parts: np.ndarray, held_out: HeldOutPart, source: NoiseSource
) -> tuple[Tree, Event, Window]:
    """The tree with values from the rows of part `SUMS_PART` (private)."""
    target = rows.schema.target
    assert isinstance(target, NumericTarget)
    assert isinstance(root, Branch)
    assert root.median_split is not None
    for_window, for_sums = split_budget(held_out.epsilon, (WINDOW_PART, 1 - WINDOW_PART))
    centre = root.median_split.median
    beyond = rows.sums(partial(_rows_outside, target, centre), root, parts, SUMS_PART).sum(axis=0)
    window = release_window(beyond, target, centre, for_window, source=source, part=held_out.part)
    exact = rows.sums(partial(units_of, window.value), root, parts, SUMS_PART)
    noise = GeometricNoise(for_sums, l1=UNITS)
    sums = noise.release(exact, source=source, part=held_out.part)
    k = rows.rows_per_person or 1
    valued = LeafMeanEstimator(window.value, target, noise.variance / UNITS**2, k).estimate(root, sums.value / UNITS)
    return Tree(rows.schema, valued), Sequential((window.event, sums.event)), window.value


def _rows_outside(target: NumericTarget, centre: float, numbers: np.ndarray, leaf: np.ndarray) -> np.ndarray:
    return rows_outside_range(numbers, target, centre)


def units_of(window: Window, numbers: np.ndarray, leaf: np.ndarray) -> np.ndarray:
    """The units of a row by its place in a released window: what it adds to the three sums."""
    return bernstein_units((window.place(numbers) + 1) / 2, 2, UNITS)


def _moments(sums: np.ndarray) -> tuple[float, float, float]:
    """(rows, sum of places, sum of squared places) from sums in rows: at the lower end, between, at the upper end.

    With x = (1 + place) / 2, place^2 = 4 x^2 - 4 x + 1.
    """
    low, between, high = sums.tolist()
    return float(sums.sum()), high - low, low - between + high


@dataclass(frozen=True, slots=True)
class LeafMeanEstimator:
    """Post-processing of released sums; `noise` is the variance of each, in rows; of one person there are at most `k` rows."""

    window: Window
    target: NumericTarget
    noise: float
    k: int = 1

    def estimate(self, root: Node, sums: np.ndarray) -> Node:
        """The tree with values and intervals."""
        whole = sum_leaves(root, iter(sums))
        return self._estimate_leaf(whole, 0.0, self._variance(whole))

    def _variance(self, root: LeafSums) -> float:
        """Of the places at the root; less one standard deviation of the noise, so that it rather shrinks too much."""
        unsure = math.sqrt(3 * self.noise * root.n_leaves)
        rows, total, squares = _moments(root.sums)
        rows = max(rows, unsure, 1.0)
        variance = (squares - unsure) / rows - (total / rows) ** 2
        return min(max(variance, MIN_VARIANCE), 1.0)

    def _estimate_leaf(self, given: LeafSums, expected: float, variance: float) -> Node:
        noise, (held, total, _) = self.noise * given.n_leaves, _moments(given.sums)
        rows = max(held, math.sqrt(3 * noise), 1.0)
        more = (2 * noise + rows * variance) / (rows * ANY**2 * variance)
        value = min(max((total + more * expected) / (max(held, 0.0) + more), -1.0), 1.0)
        node = given.node
        if not isinstance(node, Branch):
            return self._leaf(given.sums, value)
        assert node.median_split is not None
        meant = MEANT * math.sqrt(variance) * (-1 if node.median_split.low_left else 1)
        left, right = (
            self._estimate_leaf(child, value + side, variance)
            for child, side in zip(given.children, (meant, -meant), strict=True)
        )
        return Branch(node.rule, left, right, node.median_split)

    def _leaf(self, sums: np.ndarray, value: float) -> NumberLeaf:
        """A value that the sums within the window allow, with the interval of the mean."""
        noise, (rows, total, squares) = self.noise, _moments(sums)
        spread = np.array([max(squares, 0.0) + 2 * noise, -2 * total, max(rows, 0.0) + 3 * noise])
        mean = fieller(total, rows, spread, -1.0, 1.0, z=_Z_OF_VALUES)
        low, high = (self._number(place) for place in (mean.low, mean.high))
        value = min(max(self._number(value), low), high)
        window, target = self.window, self.target
        high = self._number(self._upper_end(sums, (target.high - window.centre) / window.width))
        low = self._number(-self._upper_end(sums[::-1], (window.centre - target.low) / window.width))
        return NumberLeaf(value, (min(low, value), max(high, value)))

    def _upper_end(self, sums: np.ndarray, furthest: float) -> float:
        """The upper end of the mean place, where numbers may lie as far as `furthest` above the centre, in widths.

        place + c parabola is at least the true place everywhere, with c = furthest - 1 and the parabola 1 at the end and not
        negative. The top of the parabola's arms, where it may exceed 1, counts for its spread.
        """
        rows, total, squares = _moments(sums)
        beyond = max(furthest - 1.0, 0.0)
        mean = min(max(total / max(rows, 1.0), -1.0), 0.9)
        variance = max(squares / max(rows, 1.0) - mean**2, 0.0)
        zero = max(mean - variance / (1 - mean), -1.0)
        parabola = (_SQUARES - 2 * zero * _PLACES + zero**2 * _ROWS) / (1 - zero) ** 2
        unsure = math.sqrt(self.noise * float(np.square(parabola).sum()))
        met = max(float(parabola @ sums), 0.0) + Z * unsure + Z * Z
        tallest = max(1.0, ((1 + zero) / (1 - zero)) ** 2)
        added = beyond * math.sqrt(self.k * tallest * met)
        spread = self.k * np.array([max(squares, 0.0) + math.sqrt(3 * self.noise) + 1.0, -2 * total, max(rows, 0.0)])
        spread = widen(spread, mean, added)
        top = _PLACES + beyond * parabola
        noise = self.noise * np.array([top @ top, -2 * top @ _ROWS, 3.0])
        return min(fieller(float(top @ sums), rows, spread + noise, -math.inf, math.inf).high, max(furthest, 1.0))

    def _number(self, place: float) -> float:
        return min(max(self.window.number(place), self.target.low), self.target.high)
