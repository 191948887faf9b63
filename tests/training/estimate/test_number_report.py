"""The private test of numbers: right without noise, honest intervals with it, and the same when it is read again."""

import json
from functools import cache

import numpy as np
import pytest

import dpviz
from dpviz.accounting.plan import HeldOutPart
from dpviz.io.results import test_result_of as read_report
from dpviz.models.tree import NumberLeaf, Tree
from dpviz.privacy.source import Simulation
from dpviz.results.result import r_squared
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, NumericTarget, Schema
from dpviz.table.strict_json import plain
from dpviz.training.estimate.number_report import report_of_numbers
from dpviz.training.estimate.report import TEST
from dpviz.training.estimate.window import Window
from tests.support.numbers import rows, schema_of_numbers

SCHEMA = Schema((NumericFeature("x", 0, 1),), NumericTarget("y", 0, 100), n_public=1000)


class Line:
    """Predicts 30 + 40 x."""

    schema, kind = SCHEMA, "line"

    def predict(self, data):
        return 30 + 40 * data.columns[0]


def population(rng, n_rows):
    """Numbers that no window cuts off: R2 is that of the whole."""
    x = rng.random(n_rows)
    return EncodedDataset(SCHEMA, (x,), 30 + 40 * x + rng.uniform(-20, 20, n_rows))


TRUTH = population(np.random.default_rng(1), 100_000)
WINDOW = Window(50.0, 50.0)


@cache
def truth(window):
    """R2, root mean square and mean absolute error, of numbers within the window and errors up to its width."""
    missed = np.minimum(np.abs(TRUTH.target - Line().predict(TRUTH)), window.width)
    within = window.number(window.place(TRUTH.target))
    mean_square = np.square(missed).mean()
    return 1 - mean_square / within.var(), np.sqrt(mean_square), missed.mean()


def test_without_noise_it_says_what_the_rows_say(rng):
    data = population(rng, 300)
    report, _ = report_of_numbers(Line(), data, HeldOutPart(TEST, 0.1, 1e6), Simulation(0), WINDOW)
    missed = data.target - Line().predict(data)
    assert report.n_rows == 300
    assert report.rmse.value == pytest.approx(np.sqrt(np.square(missed).mean()), rel=1e-3)
    assert report.absolute_error.value == pytest.approx(np.abs(missed).mean(), rel=1e-3)
    assert report.r_squared.value == pytest.approx(r_squared(data.target, Line().predict(data)), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "window"), [(0.5, WINDOW), (3.0, WINDOW), (3.0, None)])
def test_intervals_hold_the_truth_as_often_as_they_say(epsilon, window):
    """A new sample and new noise each time; at least 95 in 100, less four standard errors."""
    rng, draws, held = np.random.default_rng(4), 300, np.zeros(3)
    for seed in range(draws):
        report, _ = report_of_numbers(Line(), population(rng, 500), HeldOutPart(TEST, 0.1, epsilon), Simulation(seed), window)
        found = report.r_squared, report.rmse, report.absolute_error
        held += [one.low <= true <= one.high for one, true in zip(found, truth(report.window), strict=True)]
    assert (held / draws > 0.95 - 4 * np.sqrt(0.95 * 0.05 / draws)).all()


def test_errors_beyond_the_width_and_numbers_beyond_the_window_count_as_its_ends(rng):
    data = population(rng, 400)
    far = Tree(SCHEMA, NumberLeaf(1e6))
    report, _ = report_of_numbers(far, data, HeldOutPart(TEST, 0.1, 1e6), Simulation(0), Window(50.0, 5.0))
    assert report.absolute_error.value == pytest.approx(5.0, rel=1e-3)
    assert report.rmse.value == pytest.approx(5.0, rel=1e-3)


@pytest.mark.parametrize("name", ["pf-tree", "dp-mean"])
def test_a_document_gives_the_same_report(name):
    result = dpviz.fit(name, rows(schema_of_numbers(), 300), epsilon=1.0, seed=1, test_share=0.2)
    document = json.loads(result.to_json())
    again = read_report(document, result.schema)
    assert again == result.test_report
    assert plain(again.entry) == document["test_report"]
    assert document["test_report"]["r_squared"]["low"] <= document["test_report"]["r_squared"]["high"]
