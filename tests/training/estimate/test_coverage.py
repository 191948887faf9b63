"""Intervals hold the true value at least 95 times of 100: of the model, on endlessly many rows of the same source.

The law of the rows is fixed; new rows, noise and a new model are drawn each time. Of many cells the worst is looked at, so its
limit allows for how many there are. Widths are bounded where there is information, so that none covers by saying nothing.
"""

import math
from collections import defaultdict
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import dpviz
from dpviz.charts.publish.test_result import result_sentences
from dpviz.evaluation import metrics as measures
from dpviz.io.results import result_from_json
from dpviz.models.tree import Leaf
from dpviz.results.verdict import ROW
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.estimate.collapse import intervals
from dpviz.training.estimate.number_report import NO_END, NumberReport, error_units
from dpviz.training.estimate.report import ClassReport
from dpviz.training.estimate.window import Window

X, TARGET = (NumericFeature("x", 0, 1),), NumericTarget("t", 0, 1)
CLASSES = {"separable": 4, "even": 2, "rare": 3}
NUMBERS = ("symmetric", "square", "long tail", "nearly constant", "mostly zero")
#: Declared rows, epsilon, rows of a person.
FEW = ((200, 0.05, 1), (1000, 0.3, 1), (1000, 3.0, 4), (4000, 1.0, 1), (4000, 10.0, 4))
ALL = tuple(product((200, 1000, 5000), (0.05, 0.3, 1.0, 3.0, 10.0), (1, 4)))
OTHERS = {"s-gbdt": ("even", {"rounds": 30}), "pf-forest": ("even", {}), "cart": ("even", {}), "dp-mean": ("long tail", {})}


@cache
def population(kind: str) -> EncodedDataset:
    rng = np.random.default_rng(9)
    x = rng.uniform(0, 1, 40_000)
    match kind:
        case "separable":
            y = np.where(rng.random(len(x)) < 0.004, rng.integers(0, 4, len(x)), x * 4)
        case "even":
            y = rng.random(len(x)) < 1 / (1 + np.exp(-12 * (x - 0.5)))
        case "rare":
            y = np.where(rng.random(len(x)) < np.where(x < 0.1, 0.6, 0.02), 1 + (x > 0.5), 0)
        case "symmetric":
            y = 0.5 + 0.4 * (x - 0.5) + rng.normal(0, 0.1, len(x))
        case "square":
            y = x**2 + rng.normal(0, 0.1, len(x))
        case "long tail":
            y = np.exp(rng.normal(-4.6 + 1.5 * (x - 0.5), 1.0))
        case "nearly constant":
            y = np.where(rng.random(len(x)) < 0.02, rng.uniform(0, 1, len(x)), 0.3 + rng.normal(0, 0.002, len(x)))
        case _:
            y = np.where(rng.random(len(x)) < 0.8, 0, rng.beta(1, 5, len(x)) * (0.5 + x))
    if kind in CLASSES:
        return EncodedDataset(Schema(X, ClassTarget("t", tuple("abcd"[: CLASSES[kind]]))), (x,), y.astype(np.uint8))
    return EncodedDataset(Schema(X, TARGET), (x,), np.clip(y, 0, 1))


def fitted(kind, n_rows, epsilon, k, seed, learner="pf-tree", **asked):
    """On new rows of the population, each person's `k` times."""
    new = population(kind)
    schema = Schema(X, new.schema.target, n_public=n_rows)
    rows = np.repeat(np.random.default_rng([3, seed]).choice(new.n_rows, n_rows // k), k)
    cells = new.target[rows] if kind in NUMBERS else np.array(new.schema.classes)[new.target[rows]]
    frame = pd.DataFrame({"x": new.columns[0][rows], "t": cells, "who": np.arange(len(rows)) // k})
    data = dpviz.encode(frame, schema, person="who", rows_per_person=k)
    return dpviz.fit(learner, data, epsilon=epsilon, seed=seed, **asked)


def said(result, new):
    """Of everything that has an interval: (name, its ends, what is true)."""
    predicted, report = result.model.predict(new), result.test_report
    leaf_of = result.model.leaf_of_rows(new) if result.learner == "pf-tree" else None
    if isinstance(report, NumberReport):
        off = np.abs(predicted - new.target)
        truth = {"mae": off.mean(), "rmse": math.sqrt(np.square(off).mean()), "r2": 1 - np.square(off).mean() / new.target.var()}
        yield from ((name, report.estimates[name], true) for name, true in truth.items())
        if leaf_of is not None:
            yield from _of_leaves([leaf.interval for leaf in result.model.leaves], leaf_of, new.target)
        return
    right, codes = predicted == new.target, range(len(new.schema.classes))
    recalls = [right[new.target == code].mean() for code in codes]
    frequent = new.schema.classes.index(report.most_frequent)
    yield "accuracy", report.accuracy, right.mean()
    yield "balanced accuracy", report.balanced_accuracy, np.mean(recalls)
    yield "gain", report.gain, right.mean() - (new.target == frequent).mean()
    yield "confusion", report.confusion[0][0], (right & (new.target == 0)).mean()
    yield from ((f"recall {code}", report.recalls[code], recalls[code]) for code in codes)
    measured = measures.measured_probabilities(new.target, result.model.predict_proba(new))
    yield "log loss", report.estimates["log_loss"], measured["log_loss"].value
    if len(codes) == 2:
        yield "auc", report.estimates["auc"], measured["auc"].value
    if leaf_of is not None:
        ends = [
            (low, high) for _, low, high in intervals(result.model, result.model, result.plan, report.rows_per_person).values()
        ]
        yield from _of_leaves(ends, leaf_of, right)


def _of_leaves(ends, leaf_of, values):
    for leaf, end in enumerate(ends):
        if (leaf_of == leaf).sum() > 200:  # where the population says what is true
            yield "leaf", Ends(*end), values[leaf_of == leaf].mean()


class Ends:
    def __init__(self, low, high):
        self.low, self.high = low, high


def require_cover(kind, cells, tries, n_cells, **asked):
    """Every measure in every cell is held at least as often as with a probability of one in a thousand one of so many is not."""
    for cell in cells:
        hits, asked_of = defaultdict(int), defaultdict(int)
        for seed in range(tries):
            result = fitted(kind, *cell, seed, **asked)
            assert result.test_report.rows_per_person == cell[2]
            for name, found, true in said(result, population(kind)):
                asked_of[name], hits[name] = asked_of[name] + 1, hits[name] + (found.low - 1e-9 <= true <= found.high + 1e-9)
        for name, times in asked_of.items():
            # leaves of one draw share its rows and its window
            least = binom.ppf(1e-3 / n_cells, times, 0.95) - (0.02 * times if name == "leaf" else 0)
            assert hits[name] >= least, (kind, name, cell, hits, asked_of)
    assert result_from_json(result.to_json()).test_report == result.test_report


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rare", "long tail"])
def test_intervals_of_a_fit_hold_the_truth(kind):
    require_cover(kind, FEW, tries=20, n_cells=8 * 8 * len(FEW))


@pytest.mark.verify
@pytest.mark.parametrize("kind", [*CLASSES, *NUMBERS])
def test_intervals_of_a_fit_hold_the_truth_everywhere(kind):
    require_cover(kind, ALL, tries=25, n_cells=8 * 8 * len(ALL))


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner", ["cart", "dp-mean", *(pytest.param(name, marks=pytest.mark.slow) for name in ("s-gbdt", "pf-forest"))]
)
def test_intervals_of_other_learners_hold_the_truth(learner):
    """Bands of probabilities leave open what a model does within them; the window of a mean is bought with the test."""
    kind, few = OTHERS[learner]
    require_cover(kind, [(2000, 1.0, 1)], tries=12, n_cells=8 * len(OTHERS), learner=learner, test_share=0.3, **few)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "widths"),
    [
        ("separable", {"accuracy": 0.03, "balanced accuracy": 0.04, "recall 0": 0.06}),
        ("square", {"mae": 0.02, "rmse": 0.05, "r2": 0.25, "leaf": 0.1}),
    ],
)
def test_intervals_are_narrow_where_there_are_rows(kind, widths):
    found = defaultdict(list)
    for seed in range(5):
        for name, ends, _ in said(fitted(kind, 20_000, 1.0, 1, seed), population(kind)):
            found[name].append(ends.high - max(ends.low, -1))
    assert {name: float(np.median(found[name])) < width for name, width in widths.items()} == dict.fromkeys(widths, True), found


def test_rows_of_one_person_make_intervals_wider_and_a_class_that_noise_hides_leaves_its_part_open():
    table = (Leaf(0, (900, 100), (0.9, 0.1)), Leaf(1, (100, 900), (0.1, 0.9)))
    two, three = (Schema(X, ClassTarget("y", tuple("abc"[:n_classes]))) for n_classes in (2, 3))
    one, four = (ClassReport(two, 0.1, 10.0, table, rows_per_person=k).accuracy for k in (1, 4))
    assert four.high - four.low == pytest.approx(2 * (one.high - one.low), rel=0.1)
    hidden = (Leaf(0, (5000, 10, 0)), Leaf(1, (10, 5000, 0)), Leaf(2, (0, 0, -3)))
    found = ClassReport(three, 0.1, 1.0, hidden).balanced_accuracy
    assert (found.low, found.high) == (pytest.approx(2 / 3, abs=0.01), pytest.approx(1, abs=0.01))


def report_of(window, predicted, y) -> NumberReport:
    exact = error_units(window, np.full(len(y), predicted), y).sum(axis=0).reshape(5, 5)
    return NumberReport(Schema(X, TARGET), 0.1, 10.0, 10.0, window, tuple(map(tuple, exact.tolist())))


@pytest.mark.parametrize("far", [0.02, 0.3])
def test_what_lies_beyond_the_window_is_in_the_upper_end(far):
    """One number of fifty is as far off as the range allows; the window holds none of them."""
    y = np.where(np.random.default_rng(1).random(4000) < far, 1.0, 0.1)
    report, off = report_of(Window(0.1, 1 / 32), 0.1, y), np.abs(y - 0.1)
    assert report.absolute_error.low <= off.mean() <= report.absolute_error.high < 2 * off.mean() + 0.02
    assert report.rmse.low <= math.sqrt(np.square(off).mean()) <= report.rmse.high
    assert report.r_squared.low <= 1 - np.square(off).mean() / y.var() <= report.r_squared.high


def test_where_the_target_may_be_constant_r2_has_no_lower_end():
    report = report_of(Window(0.5, 0.5), 0.6, np.full(300, 0.5))
    assert report.r_squared.low == NO_END
    assert "below −1" in " ".join(result_sentences(report, ROW)) or "R² unknown" in result_sentences(report, ROW)[0]
