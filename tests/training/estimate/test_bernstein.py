"""Masses: whole units, one row's worth of them, and sums of polynomials to the unit."""

import numpy as np
import pytest

from dpviz.training.estimate.bernstein import bernstein_units, weights_of

PLACES = np.concatenate([np.linspace(0, 1, 101), [1e-9, 1 - 1e-9, 0.5]])


@pytest.mark.parametrize("degree", [2, 4])
def test_every_row_is_worth_the_same_and_nothing_is_negative(degree):
    found = bernstein_units(PLACES, degree, 2**15)
    assert found.dtype == np.int64
    assert (found.sum(axis=1) == 2**15).all()
    assert found.min() >= 0


@pytest.mark.parametrize("polynomial", [(1,), (0, 1), (0, 0, 1), (0.3, -2, 1.7), (0, 0, 0, 0, 1), (1, -4, 6, -4, 1)])
def test_cells_give_the_sum_of_any_polynomial(polynomial):
    sums = bernstein_units(PLACES, 4, 2**30).sum(axis=0) / 2**30
    truth = np.polynomial.polynomial.polyval(PLACES, polynomial).sum()
    assert sums @ weights_of(polynomial, 4) == pytest.approx(truth, abs=1e-6)
