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
from collections.abc import Iterator
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
from dpviz.training.estimate.report import fieller
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


@dataclass(slots=True)
class _Summed:
    """A node with the released sums of the leaves below it, in rows: at the lower end, between, at the upper end."""

    node: Node
    sums: np.ndarray
    n_leaves: int = 1
    children: tuple[_Summed, ...] = ()

    @property
    def rows(self) -> float:
        return float(self.sums.sum())

    @property
    def total(self) -> float:
        """Sum of places."""
        return float(self.sums[2] - self.sums[0])

    @property
    def squares(self) -> float:
        """Sum of squared places: with x = (1 + place) / 2, place^2 = 4 x^2 - 4 x + 1."""
        return float(self.sums[0] - self.sums[1] + self.sums[2])


def _summed(node: Node, rows: Iterator[np.ndarray]) -> _Summed:
    if not isinstance(node, Branch):
        return _Summed(node, next(rows))
    left, right = _summed(node.left, rows), _summed(node.right, rows)
    return _Summed(node, left.sums + right.sums, left.n_leaves + right.n_leaves, (left, right))


@dataclass(frozen=True, slots=True)
class _Valuing:
    """Post-processing of released sums; `noise` is the variance of each, in rows."""

    window: Window
    target: NumericTarget
    noise: float

    def valued(self, root: Node, sums: np.ndarray) -> Node:
        """The tree with values and intervals."""
        summed = _summed(root, iter(sums))
        return self._valued(summed, 0.0, self._variance(summed))

    def _variance(self, root: _Summed) -> float:
        """Of the places at the root; less one standard deviation of the noise, so that it rather shrinks too much."""
        unsure = math.sqrt(3 * self.noise * root.n_leaves)
        rows = max(root.rows, unsure, 1.0)
        found = (root.squares - unsure) / rows - (root.total / rows) ** 2
        return min(max(found, LEAST_VARIANCE), 1.0)

    def _valued(self, given: _Summed, expected: float, variance: float) -> Node:
        noise = self.noise * given.n_leaves
        rows = max(given.rows, math.sqrt(3 * noise), 1.0)
        more = (2 * noise + rows * variance) / (rows * ANY**2 * variance)
        value = min(max((given.total + more * expected) / (max(given.rows, 0.0) + more), -1.0), 1.0)
        node = given.node
        if not isinstance(node, Branch):
            return self._leaf(given, value)
        assert node.median_split is not None
        meant = MEANT * math.sqrt(variance) * (-1 if node.median_split.low_left else 1)
        left, right = (
            self._valued(child, value + side, variance) for child, side in zip(given.children, (meant, -meant), strict=True)
        )
        return Branch(node.rule, left, right, node.median_split)

    def _leaf(self, given: _Summed, value: float) -> NumberLeaf:
        """A value within the interval of the mean."""
        noise, total = self.noise, given.total
        spread = np.array([max(given.squares, 0.0) + 2 * noise, -2 * total, max(given.rows, 0.0) + 3 * noise])
        found = fieller(total, given.rows, spread, -1.0, 1.0)
        low, high = (self._number(place) for place in (found.low, found.high))
        return NumberLeaf(min(max(self._number(value), low), high), (low, high))

    def _number(self, place: float) -> float:
        return min(max(self.window.number(place), self.target.low), self.target.high)
