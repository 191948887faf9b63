"""Honest leaves of numbers: values and their uncertainty, from sums over rows that the tree did not grow from.

The rows held out for it at random choose a window around the root's median (`window.py`), then release three sums per leaf
(`bernstein.py`): rows, numbers and squares, at the cost of one count. Everything else is post-processing:

**Values** are shrunk from the root down. A node mixes its mean with what its parent says, shifted by half a standard deviation to
the side its rule meant it for; m rows speak for that, m = (noise + N s^2) / (N s^2 / 4), where N is the rows of the node and s^2
the variance at the root: the best weight if means of children differ from their parents' by s / 2. The constants were chosen on
public benchmark data.
**Intervals** are of the mean of a leaf's numbers within the window, not shrunk: the quadratic inequality of `report.py`.

Source: this project; shrinkage towards the parent, as in m-estimates (Cestnik 1990).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpviz.accounting.events import Event, Sequential
from dpviz.accounting.guarantee import split_budget
from dpviz.accounting.plan import HeldOutPart
from dpviz.models.tree import Branch, Node, NumberLeaf, Tree
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.source import NoiseSource
from dpviz.table.schema import NumericTarget
from dpviz.training.counting.contract import CountedRows
from dpviz.training.counting.measures import BernsteinUnits, Beyond
from dpviz.training.estimate.report import Summed, fieller, summed
from dpviz.training.estimate.window import Window, released_window

LEAF_SUMS = "leaf sums"
#: The part of the rows held out at random for the sums.
SUMMED = 1
#: Units of one row.
UNITS = 2**20
#: Part of such a row's epsilon that buys the window.
WINDOW_PART = 0.15
#: How far a child's mean is expected from its parent's, in the direction its rule meant and in any, in deviations of the root.
MEANT, ANY = 0.5, 0.5
#: Least variance at the root, as a share of the squared width of the window.
LEAST_VARIANCE = 0.01


def with_values(
    root: Node, rows: CountedRows, parts: np.ndarray, held_out: HeldOutPart, source: NoiseSource
) -> tuple[Tree, Event, Window]:
    """The tree with values from the rows of part `SUMMED` (private)."""
    target = rows.schema.target
    assert isinstance(target, NumericTarget)
    assert isinstance(root, Branch)
    assert root.median_split is not None
    for_window, for_sums = split_budget(held_out.epsilon, (WINDOW_PART, 1 - WINDOW_PART))
    centre = root.median_split.median
    beyond = rows.sums(Beyond(target, centre), root, parts, SUMMED).sum(axis=0)
    window = released_window(beyond, target, centre, for_window, source=source, part=held_out.part)
    exact = rows.sums(BernsteinUnits(window.value, 2, UNITS), root, parts, SUMMED)
    noise = GeometricNoise(for_sums, l1=UNITS)
    sums = noise.release(exact, source=source, part=held_out.part)
    valued = _Valuing(window.value, target, noise.variance / UNITS**2).valued(root, sums.value / UNITS)
    return Tree(rows.schema, valued), Sequential((window.event, sums.event)), window.value


def _moments(sums: np.ndarray) -> tuple[float, float, float]:
    """(rows, sum of places, sum of squared places) from sums in rows: at the lower end, between, at the upper end.

    With x = (1 + place) / 2, place^2 = 4 x^2 - 4 x + 1.
    """
    low, between, high = sums.tolist()
    return float(sums.sum()), high - low, low - between + high


@dataclass(frozen=True, slots=True)
class _Valuing:
    """Post-processing of released sums; `noise` is the variance of each, in rows."""

    window: Window
    target: NumericTarget
    noise: float

    def valued(self, root: Node, sums: np.ndarray) -> Node:
        """The tree with values and intervals."""
        whole = summed(root, iter(sums))
        return self._valued(whole, 0.0, self._variance(whole))

    def _variance(self, root: Summed) -> float:
        """Of the places at the root; less one standard deviation of the noise, so that it rather shrinks too much."""
        unsure = math.sqrt(3 * self.noise * root.n_leaves)
        rows, total, squares = _moments(root.sums)
        rows = max(rows, unsure, 1.0)
        found = (squares - unsure) / rows - (total / rows) ** 2
        return min(max(found, LEAST_VARIANCE), 1.0)

    def _valued(self, given: Summed, expected: float, variance: float) -> Node:
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
            self._valued(child, value + side, variance) for child, side in zip(given.children, (meant, -meant), strict=True)
        )
        return Branch(node.rule, left, right, node.median_split)

    def _leaf(self, sums: np.ndarray, value: float) -> NumberLeaf:
        """A value within the interval of the mean."""
        noise, (rows, total, squares) = self.noise, _moments(sums)
        spread = np.array([max(squares, 0.0) + 2 * noise, -2 * total, max(rows, 0.0) + 3 * noise])
        found = fieller(total, rows, spread, -1.0, 1.0)
        low, high = (self._number(place) for place in (found.low, found.high))
        return NumberLeaf(min(max(self._number(value), low), high), (low, high))

    def _number(self, place: float) -> float:
        return min(max(self.window.number(place), self.target.low), self.target.high)
