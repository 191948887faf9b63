"""Intervals hold the true value at least 95 times of 100: of the model, on endlessly many rows of the same source.

The model and the law of the rows are fixed; new rows and new noise are drawn each time. Of many cells the worst is looked at, so
its limit allows for how many there are. Widths are bounded where there is information, so that none covers by saying nothing.
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
from dpviz.accounting.plan import BudgetPlan, HeldOutPart
from dpviz.evaluation import metrics as measures
from dpviz.figures.publish.test_result import result_sentences
from dpviz.io.results import result_from_json
from dpviz.models.tree import Branch, Leaf, MedianSplit, NumberLeaf, ThresholdRule, Tree
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.source import Simulation
from dpviz.results.verdict import ROW
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.estimate.bernstein import bernstein_units
from dpviz.training.estimate.collapse import intervals
from dpviz.training.estimate.leaf_means import UNITS as LEAF_UNITS
from dpviz.training.estimate.leaf_means import WINDOW_PART, LeafMeanEstimator
from dpviz.training.estimate.number_report import NO_END, UNITS, NumberReport, errors_within
from dpviz.training.estimate.report import ClassReport, estimate_leaf_probabilities
from dpviz.training.estimate.window import Window, released_window, rows_outside_range, target_cuts
from dpviz.training.growing import LEAF_COUNTS

ROWS, EPSILONS, PERSONS = (200, 1000, 5000, 20_000), (0.05, 0.3, 1.0, 3.0, 10.0), (1, 4)
ANSWERS = 8


def least(tries, cells=1):
    """Hits of `tries` below which one of so many cells with 95% falls with a probability of one in a thousand."""
    return binom.ppf(1e-3 / cells, tries, 0.95)


# --- classes


def law_of_classes(kind, n_classes, rng):
    """The probability of every answer and class."""
    mass, chances = rng.dirichlet(np.ones(ANSWERS) * 3), rng.dirichlet(np.ones(n_classes) * 2, ANSWERS)
    if kind == "separable":
        chances = np.full((ANSWERS, n_classes), 0.004 / (n_classes - 1))
        chances[np.arange(ANSWERS), np.arange(ANSWERS) % n_classes] = 0.996
    if kind == "rare":
        chances[:, 1:] = rng.uniform(0.001, 0.03, (ANSWERS, n_classes - 1))
        chances[0, 1] = 0.6
        chances[:, 0] = 1 - chances[:, 1:].sum(axis=1)
    return mass[:, None] * chances, chances


def class_cell(kind, n_classes, n_rows, epsilon, k, tries, seed=0):
    """(hits, widths) by measure."""
    rng, noise = np.random.default_rng(seed), GeometricNoise(epsilon)
    schema = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", tuple("abcde"[:n_classes])), n_public=n_rows)
    hits, widths = defaultdict(int), defaultdict(list)
    for _ in range(tries):
        law, chances = law_of_classes(kind, n_classes, rng)
        labels, shares = chances.argmax(axis=1), 0.8 * (50 * chances + 1) / (50 + n_classes) + 0.2 / n_classes

        def counts(share, law=law):
            drawn = rng.multinomial(rng.binomial(n_rows // k, share), law.ravel()).reshape(law.shape)
            return noise.sample(k * drawn, rng).tolist()

        rows = zip(labels.tolist(), counts(0.05), shares.tolist(), strict=True)
        table = tuple(Leaf(label, tuple(row), tuple(share)) for label, row, share in rows)
        report = ClassReport(schema, 0.05, epsilon, table, tuple(map(tuple, counts(0.1))), rows_per_person=k)
        for name, estimate, true in _of_classes(report, law, labels, shares):
            hits[name] += estimate.low - 1e-12 <= true <= estimate.high + 1e-12
            widths[name].append(estimate.high - estimate.low)
    return hits, widths


def _of_classes(report, law, labels, shares):
    right = law * (labels[:, None] == np.arange(law.shape[1]))
    recalls, frequent = right.sum(axis=0) / law.sum(axis=0), report.schema.classes.index(report.most_frequent)
    yield "accuracy", report.accuracy, right.sum()
    yield "balanced accuracy", report.balanced_accuracy, recalls.mean()
    yield "recall", report.recalls[0], recalls[0]
    yield "last recall", report.recalls[-1], recalls[-1]
    yield "confusion", report.confusion[0][0], right[:, 0].sum()
    yield "gain", report.gain, right.sum() - law[:, frequent].sum()
    yield "log loss", report.log_loss, -(law * np.log(shares)).sum()
    if law.shape[1] == 2:
        negative, positive = (law / law.sum(axis=0)).T
        yield "auc", report.auc, positive @ ((np.sign(shares[:, 1][:, None] - shares[:, 1]) + 1) / 2) @ negative


@pytest.mark.parametrize("kind", ["separable", "even", "rare"])
def test_a_few_intervals_of_classes_hold_the_truth(kind):
    for n_classes, n_rows, epsilon, k in ((5, 200, 0.05, 1), (3, 1000, 1.0, 1), (2, 1000, 3.0, 4), (2, 20_000, 10.0, 1)):
        hits, _ = class_cell(kind, n_classes, n_rows, epsilon, k, tries=60)
        assert min(hits.values()) >= least(60, cells=96)


@pytest.mark.slow
@pytest.mark.verify
@pytest.mark.parametrize(("kind", "n_classes"), list(product(["separable", "even", "rare"], [2, 3, 5])))
def test_all_intervals_of_classes_hold_the_truth(kind, n_classes):
    cells = list(product(ROWS, EPSILONS, PERSONS))
    for place, cell in enumerate(cells):
        hits, _ = class_cell(kind, n_classes, *cell, tries=100, seed=place)
        assert min(hits.values()) >= least(100, cells=9 * 8 * len(cells)), (cell, dict(hits))


def test_intervals_of_classes_are_narrow_where_there_are_rows():
    _, widths = class_cell("separable", 4, 20_000, 1.0, 1, tries=30)
    found = {name: float(np.median(values)) for name, values in widths.items()}
    assert found["accuracy"] < 0.02
    assert found["balanced accuracy"] < 0.03
    assert found["recall"] < 0.06


def test_rows_of_one_person_make_intervals_wider():
    table = (Leaf(0, (900, 100), (0.9, 0.1)), Leaf(1, (100, 900), (0.1, 0.9)))
    schema = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("a", "b")))
    one, four = (ClassReport(schema, 0.1, 10.0, table, rows_per_person=k).accuracy for k in (1, 4))
    assert four.high - four.low == pytest.approx(2 * (one.high - one.low), rel=0.1)


@pytest.mark.parametrize("name", ["s-gbdt", "pf-forest", "cart"])
def test_bands_of_probabilities_leave_open_what_the_model_does_within_them(name):
    rng, hits, tries = np.random.default_rng(2), defaultdict(int), 12
    schema = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("a", "b")), n_public=2000)
    x = rng.uniform(0, 1, 20_000)
    new = EncodedDataset(schema, (x,), (rng.random(len(x)) < 1 / (1 + np.exp(-12 * (x - 0.5)))).astype(np.uint8))
    few = {"rounds": 30} if name == "s-gbdt" else {}
    for seed in range(tries):
        rows = rng.choice(len(x), 2000)
        result = dpviz.fit(name, new.take(rows, share=1.0), epsilon=1.0, seed=seed, test_share=0.3, **few)
        shares = result.model.predict_proba(new)
        truth = {"auc": measures.auc(new.target, shares), "log_loss": measures.log_loss(new.target, shares)}
        for measure, true in truth.items():
            found = result.test_report.estimates[measure]
            hits[measure] += found.low <= true <= found.high
        assert name != "s-gbdt" or result.test_report.auc.high - result.test_report.auc.low < 0.25
    assert min(hits.values()) >= least(tries, cells=8)


def test_a_class_that_noise_hides_leaves_its_part_of_the_mean_open():
    table = (Leaf(0, (5000, 10, 0)), Leaf(1, (10, 5000, 0)), Leaf(2, (0, 0, -3)))
    schema = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("a", "b", "c")))
    found = ClassReport(schema, 0.1, 1.0, table).balanced_accuracy
    assert found.low == pytest.approx(2 / 3, abs=0.01)
    assert found.high == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_the_share_of_a_leafs_label_lies_in_its_interval_as_often(epsilon):
    rng, hits, tries = np.random.default_rng(2), 0, 0
    schema = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("a", "b", "c")), n_public=1000)
    plan = BudgetPlan(epsilon, 1, (), held_out=(HeldOutPart(LEAF_COUNTS, 0.2, epsilon),))
    root = Branch(ThresholdRule(0, 0.5), Leaf(0), Leaf(1))
    noise = GeometricNoise(epsilon)
    for _ in range(300):
        law = np.array([[0.97, 0.02, 0.01], [0.2, 0.6, 0.2]])
        exact = np.array([rng.multinomial(rng.integers(5, 300), row) for row in law])
        tree = Tree(schema, estimate_leaf_probabilities(root, noise.sample(exact, rng), noise.variance))
        for (share, low, high), true in zip(intervals(tree, tree, plan).values(), (0.97, 0.6), strict=True):
            assert low <= share <= high
            tries, hits = tries + 1, hits + (low <= true <= high)
    assert hits >= least(tries, cells=2)


# --- numbers

KINDS = ("symmetric", "square", "long tail", "nearly constant", "mostly zero")
TARGET = NumericTarget("t", 0, 1)


@cache
def population(kind):
    rng = np.random.default_rng(9)
    x = rng.uniform(0, 1, 40_000)
    match kind:
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
    return x, np.clip(y, 0, 1)


def _window(values, n_rows, epsilon, k, rng):
    """A window around a cut near the median: further off where noise is large."""
    cuts = target_cuts(Schema((NumericFeature("x", 0, 1),), TARGET))
    off = rng.integers(-8, 9) if n_rows * epsilon < 100 else 0
    place = np.abs(cuts - np.median(values)).argmin() + off if len(values) else len(cuts) // 2
    centre = float(cuts[np.clip(place, 0, len(cuts) - 1)])
    beyond = k * rows_outside_range(values, TARGET, centre).sum(axis=0)
    source = Simulation(int(rng.integers(1 << 30)))
    return released_window(beyond, TARGET, centre, WINDOW_PART * epsilon, source=source, part="leaf sums").value


def _leaves(window, values, epsilon, k, rng):
    """Leaves of a tree of eight bins with values and intervals from noisy sums."""
    noise = GeometricNoise((1 - WINDOW_PART) * epsilon, l1=LEAF_UNITS)
    exact = np.array([k * bernstein_units((window.place(y) + 1) / 2, 2, LEAF_UNITS).sum(axis=0) for y in values])
    cut = MedianSplit(0.5, low_left=True)
    level = [NumberLeaf(0.5)] * len(values)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=True)
        level = [Branch(ThresholdRule(0, 0.5), left, right, cut) for left, right in pairs]
    sums = noise.sample(exact, rng) / LEAF_UNITS
    root = LeafMeanEstimator(window, TARGET, noise.variance / LEAF_UNITS**2, k).valued(level[0], sums)
    return Tree(Schema((NumericFeature("x", 0, 1),), TARGET), root).leaves


def number_cell(kind, n_rows, epsilon, k, tries, *, within=True, seed=0):
    """(hits, tries) and widths by measure, "leaf" of the intervals of leaves. `within`: the window came with the model."""
    rng, (x, y), bins = np.random.default_rng(seed), population(kind), np.arange(8)
    place = np.minimum((x * 8).astype(int), 7)
    means = [y[place == b].mean() for b in bins]
    schema = Schema((NumericFeature("x", 0, 1),), TARGET, n_public=n_rows)
    hits, asked, widths = defaultdict(int), defaultdict(int), defaultdict(list)

    def note(name, low, high, true):
        asked[name], hits[name] = asked[name] + 1, hits[name] + (low - 1e-9 <= true <= high + 1e-9)
        widths[name].append(high - max(low, -1))

    for _ in range(tries):
        rows = rng.choice(len(x), n_rows // k)
        part = rng.random(len(rows))
        summed, tested = rows[part < 0.3], rows[part > 0.9]
        window = _window(y[summed], n_rows, epsilon, k, rng)
        leaves = _leaves(window, [y[summed[place[summed] == b]] for b in bins], epsilon, k, rng)
        for leaf, mean in zip(leaves, means, strict=True):
            note("leaf", *leaf.interval, mean)
        values = np.array([leaf.value for leaf in leaves]) if within else rng.uniform(0, 1, 8)
        predicted, for_table = values[place], epsilon if within else 0.75 * epsilon
        exact = k * errors_within(window, (0.0,)).of(predicted[tested], y[tested]).sum(axis=0).reshape(5, 5)
        noisy = GeometricNoise(for_table, l1=UNITS**2).sample(exact, rng)
        report = NumberReport(schema, 0.1, epsilon, for_table, window, tuple(map(tuple, noisy.tolist())), rows_per_person=k)
        squared = np.square(predicted - y).mean()
        truth = {"mae": np.abs(predicted - y).mean(), "rmse": math.sqrt(squared), "r2": 1 - squared / y.var()}
        for name, true in truth.items():
            note(name, report.estimates[name].low, report.estimates[name].high, true)
    return {name: (hits[name], asked[name]) for name in asked}, widths


def require_cover(found, cells, about):
    for name, (hits, tries) in found.items():
        # leaves of one draw share its rows and its window
        assert hits >= least(tries, cells) - (0.02 * tries if name == "leaf" else 0), (name, about, found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_few_intervals_of_numbers_hold_the_truth(kind):
    for n_rows, epsilon, within, k in (
        *((200, 0.05, True, 1), (1000, 0.1, True, 1), (1000, 1.0, True, 4), (5000, 3.0, False, 1), (20_000, 10.0, False, 4)),
    ):
        found, _ = number_cell(kind, n_rows, epsilon, k, 25, within=within)
        require_cover(found, 100, (n_rows, epsilon, within, k))


@pytest.mark.slow
@pytest.mark.verify
@pytest.mark.parametrize(("kind", "within"), list(product(KINDS, [True, False])))
def test_all_intervals_of_numbers_hold_the_truth(kind, within):
    cells = list(product(ROWS, EPSILONS, PERSONS))
    for place, (n_rows, epsilon, k) in enumerate(cells):
        found, _ = number_cell(kind, n_rows, epsilon, k, 40, within=within, seed=place)
        require_cover(found, 10 * 4 * len(cells), (n_rows, epsilon, k))


def test_intervals_of_numbers_are_narrow_where_there_are_rows():
    _, widths = number_cell("square", 20_000, 1.0, 1, 15)
    found = {name: float(np.median(values)) for name, values in widths.items()}
    assert found["mae"] < 0.02
    assert found["rmse"] < 0.05
    assert found["r2"] < 0.2
    assert found["leaf"] < 0.05


@pytest.mark.parametrize("far", [0.02, 0.3])
def test_what_lies_beyond_the_window_is_in_the_upper_end(far):
    """One number of fifty is as far off as the range allows; the window holds none of them."""
    rng, window = np.random.default_rng(1), Window(0.1, 1 / 32)
    y = np.where(rng.random(4000) < far, 1.0, 0.1)
    schema = Schema((NumericFeature("x", 0, 1),), TARGET)
    exact = errors_within(window, (0.0,)).of(np.full(len(y), 0.1), y).sum(axis=0).reshape(5, 5)
    report = NumberReport(schema, 0.1, 10.0, 10.0, window, tuple(map(tuple, exact.tolist())))
    off = np.abs(y - 0.1)
    assert report.absolute_error.low <= off.mean() <= report.absolute_error.high < 2 * off.mean() + 0.02
    assert report.rmse.low <= math.sqrt(np.square(off).mean()) <= report.rmse.high
    assert report.r_squared.low <= 1 - np.square(off).mean() / y.var() <= report.r_squared.high


def test_what_lies_beyond_the_window_is_in_the_interval_of_a_leaf():
    rng, window = np.random.default_rng(1), Window(0.1, 1 / 32)
    high = np.where(rng.random(4000) < 0.05, 1.0, 0.1)
    low = np.where(rng.random(4000) < 0.5, 0.0, 0.1)
    for leaf, values in zip(_leaves(window, [high, low], 10.0, 1, rng), (high, low), strict=True):
        assert leaf.interval[0] <= values.mean() <= leaf.interval[1]
        assert leaf.interval[1] - leaf.interval[0] < 0.5


def test_where_the_target_may_be_constant_r2_has_no_lower_end():
    schema, window = Schema((NumericFeature("x", 0, 1),), TARGET), Window(0.5, 0.5)
    exact = errors_within(window, (0.0,)).of(np.full(300, 0.6), np.full(300, 0.5)).sum(axis=0).reshape(5, 5)
    report = NumberReport(schema, 0.1, 1.0, 1.0, window, tuple(map(tuple, exact.tolist())))
    assert report.r_squared.low == NO_END
    assert "below -1" in " ".join(result_sentences(report, ROW)) or "R² unknown" in result_sentences(report, ROW)[0]


# --- whole fits


@pytest.mark.slow
@pytest.mark.parametrize("is_number", [True, False])
@pytest.mark.parametrize(("n_rows", "epsilon", "k"), [(1000, 0.1, 1), (4000, 1.0, 1), (4000, 1.0, 4)])
def test_a_fit_says_the_truth_about_itself(is_number, n_rows, epsilon, k):
    rng, hits, tries = np.random.default_rng(3), defaultdict(int), 20
    x, y = population("long tail")
    target, y = (TARGET, y) if is_number else (ClassTarget("t", tuple("abcd")), (x * 4).astype(np.uint8))
    schema = Schema((NumericFeature("x", 0, 1),), target, n_public=n_rows)
    new, cells = EncodedDataset(schema, (x,), y), y if is_number else np.array(list("abcd"))[y]
    for seed in range(tries):
        rows = np.repeat(rng.choice(len(x), n_rows // k), k)
        frame = pd.DataFrame({"x": x[rows], "t": cells[rows], "who": np.arange(len(rows)) // k})
        result = dpviz.fit("pf-tree", dpviz.encode(frame, schema, person="who", rows_per_person=k), epsilon=epsilon, seed=seed)
        assert result.test_report.rows_per_person == k
        for name, found, true in _of_fit(result.test_report, result.model.predict(new), y):
            hits[name] += found.low <= true <= found.high
    assert result_from_json(result.to_json()).test_report == result.test_report
    assert min(hits.values()) >= least(tries, cells=9)


def _of_fit(report, predicted, y):
    if isinstance(report, NumberReport):
        off = np.abs(predicted - y)
        truth = {"mae": off.mean(), "rmse": math.sqrt(np.square(off).mean()), "r2": 1 - np.square(off).mean() / y.var()}
        yield from ((name, report.estimates[name], true) for name, true in truth.items())
        return
    right = predicted == y
    recalls = [right[y == code].mean() for code in range(4)]
    yield "accuracy", report.accuracy, right.mean()
    yield "balanced accuracy", report.balanced_accuracy, np.mean(recalls)
    yield from ((f"recall {code}", report.recalls[code], recalls[code]) for code in range(4))
