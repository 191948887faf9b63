"""The window of a numeric target: what one row changes of its choice, which widths are chosen, and the declared range."""

from itertools import product

import numpy as np
import pytest

from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.source import Simulation
from dpviz.table.schema import NumericTarget
from dpviz.training.estimate.window import WIDTH, Window, released_window, rows_outside_range, width_utilities

TARGET = NumericTarget("y", -10, 90)


def utilities(numbers, centre, epsilon=1.0):
    return width_utilities(rows_outside_range(np.asarray(numbers, dtype=float), TARGET, centre).sum(axis=0), epsilon)


def chosen(numbers, centre, epsilon, seed=0):
    beyond = rows_outside_range(np.asarray(numbers, dtype=float), TARGET, centre).sum(axis=0)
    return released_window(beyond, TARGET, centre, epsilon, source=Simulation(seed), part="test").value


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 100.0])
def test_one_row_changes_every_utility_by_0_or_1_in_one_direction(epsilon):
    """All tables of up to three of these numbers, and each with one more."""
    kinds, changes = (-10.0, 0.0, 30.0, 31.0, 90.0), set()
    for n_rows in range(4):
        for rows in product(kinds, repeat=n_rows):
            for more in kinds:
                changes |= set((utilities([*rows, more], 30.0, epsilon) - utilities(rows, 30.0, epsilon)).tolist())
    assert changes == {-1, 0}
    assert WIDTH.value == 1
    assert WIDTH.monotone


def test_one_row_changes_the_odds_of_a_window_by_its_epsilon_and_no_more():
    """In closed form: the largest log ratio over all widths and neighbours of few rows reaches epsilon, nearly."""
    kinds, worst = (-10.0, 30.0, 31.0, 90.0), 0.0
    for rows in product(kinds, repeat=3):
        for more in kinds:
            few, many = (PermuteAndFlip(2.0, WIDTH).probabilities(utilities(table, 30.0, 2.0)) for table in (rows, (*rows, more)))
            worst = max(worst, float(np.abs(np.log(many / few)).max()))
    assert 1.5 < worst <= 2 + 1e-9


def test_no_epsilon_is_too_small():
    assert (np.diff(utilities([30.0], 30.0, 5e-324)) >= 0).all()
    assert (utilities([30.0], 30.0, 5e-324) < 0).all()


@pytest.mark.parametrize(("n_tail", "width"), [(0, 100 / 256), (400, 50)])
def test_a_tail_is_held_where_it_has_rows_enough(n_tail, width):
    """10,000 rows in one place, and some far away, where the variance is."""
    found = chosen([30.0] * 10_000 + [75.0] * n_tail, 30.0, 1.0)
    assert found == Window.around(30.0, width, TARGET)


@pytest.mark.parametrize(("width", "low", "high"), [(100, -10, 90), (50, 30, 90), (12.5, 67.5, 90), (3.125, 76.875, 83.125)])
def test_a_window_ends_with_the_declared_range(width, low, high):
    window = Window.around(80.0, width, TARGET)
    assert (window.number(-1), window.number(1)) == (low, high)
    assert window.place(np.array([low - 1.0, low, high, high + 1])).tolist() == [-1, -1, 1, 1]
