"""The private test of numbers is right without noise; `test_coverage.py` has how often its intervals hold the truth."""

import numpy as np
import pytest

from dpviz.accounting.plan import HeldOutPart
from dpviz.models.tree import Branch, NumberLeaf, ThresholdRule, Tree
from dpviz.privacy.source import Simulation
from dpviz.results.result import r_squared
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, NumericTarget, Schema
from dpviz.training.estimate.bernstein import bernstein_units, weights_of
from dpviz.training.estimate.number_report import report_of_numbers
from dpviz.training.estimate.report import TEST
from dpviz.training.estimate.window import Window

SCHEMA = Schema((NumericFeature("x", 0, 1),), NumericTarget("y", 0, 100), n_public=1000)


@pytest.mark.parametrize("half_width", [50.0, 5.0])
def test_without_noise_it_says_what_the_rows_say_and_errors_beyond_the_window_count_as_its_ends(rng, half_width):
    x = rng.random(400)
    data = EncodedDataset(SCHEMA, (x,), np.where(x < 0.5, 40.0, 60.0) + rng.uniform(-20, 20, 400))
    near = Tree(SCHEMA, Branch(ThresholdRule(0, 0.5), NumberLeaf(40.0), NumberLeaf(60.0)))
    for model in (near, Tree(SCHEMA, NumberLeaf(1e6))):
        window = Window(50.0, half_width)
        report, _ = report_of_numbers(model, data, HeldOutPart(TEST, 0.1, 1e6), Simulation(0), window)
        missed = np.minimum(np.abs(data.target - model.predict(data)), window.width)
        assert report.n_rows == 400
        assert report.rmse.value == pytest.approx(np.sqrt(np.square(missed).mean()), rel=5e-3)
        assert report.absolute_error.value == pytest.approx(missed.mean(), rel=5e-3)
        if half_width == 50.0 and model is near:
            assert report.r_squared.value == pytest.approx(r_squared(data.target, model.predict(data)), abs=1e-3)


# --- masses: whole units, one row's worth of them, and sums of polynomials to the unit

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
