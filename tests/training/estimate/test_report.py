"""Test results, in whole and by groups: exact on exact counts; what one row changes; how often they cover: `test_coverage.py`."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import PureDP, Step
from dpviz.accounting.plan import HeldOutPart
from dpviz.errors import DocumentError, ParameterError, UnknownName
from dpviz.io.results import result_from_json
from dpviz.models.tree import Branch, Leaf, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.source import Simulation
from dpviz.results.result import r_squared
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.contract import report_of_classes
from dpviz.training.counted_rows import counter_of
from dpviz.training.estimate.number_report import error_units, release_sums, report_of_numbers
from dpviz.training.estimate.report import TEST, ClassReport, divide_by_groups
from dpviz.training.estimate.window import (
    WIDTH,
    Window,
    bernstein_units,
    release_window,
    rows_outside_range,
    weights_of,
    width_utilities,
)
from tests.support.tables import schema_of, table

TWO, THREE = schema_of("numbers", 2), schema_of("numbers", 3)
EXACT = 1e6


def classes_of(schema, epsilon, *answers):
    return ClassReport(schema, 0.1, epsilon, tuple(Leaf(*answer) for answer in answers))


def test_exact_counts_give_the_exact_figures_and_every_class_counts_alike_in_balanced_accuracy():
    found = classes_of(TWO, EXACT, (0, (60, 20), (0.7, 0.3)), (1, (10, 30), (0.2, 0.8)), (0, (5, 0), (0.95, 0.05)))
    assert found.n_rows == 125
    assert found.accuracy.value == pytest.approx(95 / 125)
    assert [[cell.value for cell in row] for row in found.confusion] == [[65 / 125, 10 / 125], [20 / 125, 30 / 125]]
    assert [recall.value for recall in found.recalls] == pytest.approx([65 / 75, 30 / 50])
    losses = 60 * math.log(0.7) + 20 * math.log(0.3) + 10 * math.log(0.2) + 30 * math.log(0.8) + 5 * math.log(0.95)
    assert found.log_loss.value == pytest.approx(-losses / 125)
    wins = 30 * (60 + 5) + 20 * 5 + 0.5 * (30 * 10 + 20 * 60)
    assert found.auc.value == pytest.approx(wins / (50 * 75))
    assert [band.observed.value for band in found.calibration] == pytest.approx([0.0, 20 / 80, 30 / 40])
    assert [band.predicted for band in found.calibration] == pytest.approx([0.05, 0.3, 0.8])
    found = classes_of(TWO, 1.0, (0, (900, 20), (0.98, 0.02)), (1, (60, 40), (0.6, 0.4)))
    balanced = found.balanced_accuracy
    assert balanced.value == pytest.approx((900 / 960 + 40 / 60) / 2)
    assert found.largest_share.value == pytest.approx(960 / 1020)
    widths = [(recall.high - recall.low) / 2 for recall in (*found.recalls, balanced)]
    assert widths[2] == pytest.approx(math.hypot(*widths[:2]) / 2, rel=0.02)  # and so no more than the mean of the two
    found = classes_of(THREE, EXACT, (0, (6, 2, 2), (0.6, 0.3, 0.1)), (2, (1, 1, 8), (0.15, 0.15, 0.7)))
    assert found.auc is None
    assert found.accuracy.value == pytest.approx(14 / 20)
    assert [band.observed.value for band in found.calibration] == pytest.approx([0.6, 0.8])


def test_the_gain_over_always_saying_one_class_is_exact_on_exact_counts_and_not_above_zero_where_noise_hides_it():
    found = classes_of(TWO, EXACT, (0, (60, 20)), (1, (10, 30)))
    assert found.most_frequent == TWO.classes[0]
    assert found.gain.value == pytest.approx(90 / 120 - 70 / 120)
    assert found.gain.low > 0
    assert classes_of(TWO, 0.1, (0, (60, 20)), (1, (10, 30))).gain.low < 0
    always = classes_of(TWO, EXACT, (0, (60, 20)), (0, (10, 30)))
    assert (always.gain.value, always.gain.low) == pytest.approx((0, 0), abs=1e-3)


@pytest.mark.parametrize("counts", [((-3, 1), (0, -2)), ((0, 0), (0, 0)), ((2, -2), (1, 0))])
def test_where_noise_hides_the_rows_the_interval_is_everything(counts):
    found = classes_of(TWO, 0.05, (0, counts[0], (0.7, 0.3)), (1, counts[1], (0.2, 0.8)))
    for estimate in (found.accuracy, found.auc, *found.recalls):
        assert (estimate.low, estimate.high) == (0, 1)
        assert 0 <= estimate.value <= 1


@pytest.mark.parametrize("few", [3, 9, 20])
def test_an_area_is_no_surer_than_as_many_pairs_as_the_rarer_class_has_rows_whichever_way_it_errs(few):
    right, wrong = (classes_of(TWO, EXACT, (0, (90, 0), (1 - p, p)), (1, (0, few), (p, 1 - p))).auc for p in (0.1, 0.9))
    assert (right.value, wrong.value) == (1, 0)
    assert right.low <= 0.025 ** (1 / few) * (1 + 1e-9)  # Clopper & Pearson 1934 of pairs that are all ranked right
    assert (wrong.low, wrong.high) == pytest.approx((1 - right.high, 1 - right.low))


SCHEMA = Schema((NumericFeature("x", 0, 1),), NumericTarget("y", 0, 100), n_public=1000)


@pytest.mark.parametrize("half_width", [50.0, 5.0])
def test_without_noise_it_says_what_the_rows_say_and_errors_beyond_the_window_count_as_its_ends(rng, half_width):
    x = rng.random(400)
    data = EncodedDataset(SCHEMA, (x,), np.where(x < 0.5, 40.0, 60.0) + rng.uniform(-20, 20, 400))
    near = Tree(SCHEMA, Branch(ThresholdRule(0, 0.5), NumberLeaf(40.0), NumberLeaf(60.0)))
    for model in (near, Tree(SCHEMA, NumberLeaf(1e6))):
        window = Window(50.0, half_width)
        exact = error_units(window, model.predict(data), data.target).sum(axis=0)
        report, _ = release_sums(SCHEMA, HeldOutPart(TEST, 0.1, 1e6), window, exact, Simulation(0))
        missed = np.minimum(np.abs(data.target - model.predict(data)), window.width)
        assert report.n_rows == 400
        assert report.rmse.value == pytest.approx(np.sqrt(np.square(missed).mean()), rel=5e-3)
        assert report.absolute_error.value == pytest.approx(missed.mean(), rel=5e-3)
        if half_width == 50.0 and model is near:
            assert report.r_squared.value == pytest.approx(r_squared(data.target, model.predict(data)), abs=1e-3)


def test_errors_beyond_a_window_that_the_test_chose_itself_are_allowed_for(rng):
    data = EncodedDataset(SCHEMA, (rng.random(400),), 50 + rng.uniform(-1, 1, 400))
    report, _ = report_of_numbers(Tree(SCHEMA, NumberLeaf(0.0)), data, HeldOutPart(TEST, 0.1, 1e6), Simulation(0))
    assert report.window.width < 50
    assert report.largest_error == 100
    for found in (report.rmse, report.absolute_error):
        assert 50 <= found.high <= 100


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


TARGET = NumericTarget("y", -10, 90)


def utilities(numbers, centre, epsilon=1.0):
    return width_utilities(rows_outside_range(np.asarray(numbers, dtype=float), TARGET, centre).sum(axis=0), epsilon)


def chosen(numbers, centre, epsilon, seed=0):
    beyond = rows_outside_range(np.asarray(numbers, dtype=float), TARGET, centre).sum(axis=0)
    return release_window(beyond, TARGET, centre, epsilon, source=Simulation(seed), part="test").value


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


def test_one_row_changes_the_odds_of_a_window_by_its_epsilon_and_no_epsilon_is_too_small():
    assert (np.diff(utilities([30.0], 30.0, 5e-324)) >= 0).all()
    assert (utilities([30.0], 30.0, 5e-324) < 0).all()
    # In closed form: the largest log ratio over all widths and neighbours of few rows reaches epsilon, nearly.
    kinds, worst = (-10.0, 30.0, 31.0, 90.0), 0.0
    for rows in product(kinds, repeat=3):
        for more in kinds:
            few, many = (PermuteAndFlip(2.0, WIDTH).probabilities(utilities(table, 30.0, 2.0)) for table in (rows, (*rows, more)))
            worst = max(worst, float(np.abs(np.log(many / few)).max()))
    assert 1.5 < worst <= 2 + 1e-9


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


GROUPED = Schema((NumericFeature("x", 0, 1), CategoricalFeature("g", ("a", "b", "c"))), ClassTarget("y", ("n", "p")), n_public=3)
SPLIT = Branch(ThresholdRule(0, 0.5), Leaf(0), Branch(SubsetRule(1, (1,)), Leaf(1), Leaf(0)))
ROWS = tuple(product((0.2, 0.8), range(3), range(2)))
EXACTLY = HeldOutPart(TEST, 0.1, 1e6, "g")
DATA = table(schema_of("mixed"), 600)


def rows_of(rows) -> EncodedDataset:
    x, g, y = (np.array([row[place] for row in rows]) for place in range(3))
    return EncodedDataset(GROUPED, (x.astype(float), g.astype(np.uint8)), y.astype(np.uint8))


def cells_of_any(rows) -> np.ndarray:
    """Of a model that counts its answers: noise of epsilon 1e6 is none."""
    return report_of_classes(Tree(GROUPED, SPLIT), rows_of(rows), EXACTLY, Simulation(0))[0].counts


def cells_of_a_tree(rows) -> np.ndarray:
    """Of the learner that tests itself: the leaves of its tree, each divided."""
    return counter_of(rows_of(rows)).leaf_counts(divide_by_groups(SPLIT, GROUPED, "g"), None, 1)[0]


@pytest.mark.parametrize("cells", [cells_of_any, cells_of_a_tree])
@pytest.mark.slow
def test_one_row_changes_one_cell_by_one(cells):
    """Every table of up to two of the twelve rows, and every row that is added: L1 distance 1, in one cell."""
    tables = [rows for n_rows in range(3) for rows in combinations_with_replacement(ROWS, n_rows)]
    for rows in tables:
        before = cells(rows)
        for row in ROWS:
            changed = cells((*rows, row)) - before
            assert (changed.sum(), np.abs(changed).sum(), np.abs(changed).max()) == (1, 1, 1)


@pytest.mark.parametrize(
    ("learner", "asked"), [("pf-tree", {}), ("s-gbdt", {"test_share": 0.1}), ("majority", {"test_share": 0.3})]
)
def test_groups_cost_nothing_and_change_no_model(learner, asked):
    with_groups, without = (dpviz.fit(learner, DATA, epsilon=0.7, seed=3, groups=name, **asked) for name in ("colour", None))
    assert with_groups.ledger == without.ledger
    assert with_groups.ledger.event.events[-1] == Step(PureDP(0.7), "test", mechanism="geometric")
    np.testing.assert_array_equal(with_groups.predict(DATA), without.predict(DATA))
    assert [entry.name for entry in with_groups.test_report.by_group] == list(DATA.schema.features[1].categories)
    assert without.test_report.by_group == ()


def test_exact_counts_give_the_exact_figures_of_every_group_whose_leaves_stand_in_order():
    data = table(schema_of("mixed"), 2000)
    model = dpviz.fit("cart", data, epsilon=1, depth=2, seed=0).model
    report, _ = report_of_classes(model, data, HeldOutPart(TEST, 0.1, 1e6, "colour"), Simulation(0))
    wrong, group = model.predict(data) != data.target, data.columns[1]
    for code, entry in enumerate(report.by_group):
        assert entry.error.value == pytest.approx(wrong[group == code].mean())
        found = [1 - wrong[(group == code) & (data.target == label)].mean() for label in range(2)]
        assert [share.value for share in entry.found] == pytest.approx(found)
    assert report.accuracy.value == pytest.approx(1 - wrong.mean())
    assert [recall.value for recall in report.recalls] == pytest.approx([1 - wrong[data.target == k].mean() for k in range(2)])
    for place, row in product(range(3), ROWS):
        found = cells_of_a_tree([row]).reshape(3, 3, 2)
        leaf = 0 if row[0] < 0.5 else 1 if row[1] == 1 else 2
        assert found[place, row[1], row[2]] == (place == leaf)
    assert divide_by_groups(SPLIT, GROUPED, "") is SPLIT


@pytest.mark.parametrize(("epsilon", "n_rows"), [(0.1, 400), (0.5, 400), (1e6, 400)])
@pytest.mark.slow
def test_intervals_of_groups_and_of_all_of_them_cover_as_often_as_they_say(epsilon, n_rows):
    """Counts of a multinomial law with the noise of the test: 95% intervals, 3.5 standard errors of 600 draws.

    What is said of all rows adds up the counts of every group, and those that made the probabilities where there are any.
    """
    rng, n_draws = np.random.default_rng(7), 600
    shares, right = np.array([0.6, 0.3, 0.1]), np.array([0.85, 0.7, 0.6])
    positive = np.array([0.3, 0.5, 0.5])
    law = np.array([[(1 - positive) * right, positive * (1 - right)], [(1 - positive) * (1 - right), positive * right]])
    law = (law * shares).transpose(0, 2, 1).reshape(6, 2)  # answer and group, class
    of_all = law.reshape(2, 3, 2).sum(axis=1)  # answer, class
    exact = rng.multinomial(n_rows, law.ravel(), n_draws).reshape(n_draws, 6, 2)
    others = rng.multinomial(n_rows, of_all.ravel(), n_draws).reshape(n_draws, 2, 2)
    noise = GeometricNoise(epsilon)
    held, held_of_all = np.zeros((3, 2)), np.zeros((2, 3))
    for draw, cells in enumerate(exact):
        noisy = noise.release(cells, source=Simulation(draw), part=TEST).value
        more = noise.release(others[draw], source=Simulation(n_draws + draw), part=TEST).value
        table = tuple(Leaf(place // 3, tuple(row)) for place, row in enumerate(noisy.tolist()))
        for group, entry in enumerate(ClassReport(GROUPED, 0.1, epsilon, table, None, "g").by_group):
            truths = zip((entry.error, entry.found[1]), (1 - right[group], right[group]), strict=True)
            held[group] += [share.low <= truth <= share.high for share, truth in truths]
        for place, counted in enumerate((None, tuple(map(tuple, more.tolist())))):
            found = ClassReport(GROUPED, 0.1, epsilon, table, counted, "g")
            truths = zip(
                (found.accuracy, found.confusion[1][0], found.recalls[1]),
                (of_all.trace(), of_all[0, 1], of_all[1, 1] / of_all[:, 1].sum()),
                strict=True,
            )
            held_of_all[place] += [share.low <= truth <= share.high for share, truth in truths]
    least = 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / n_draws)
    assert (held / n_draws > least).all()
    assert (held_of_all / n_draws > least).all(), held_of_all / n_draws


def test_a_document_holds_them_and_older_ones_stay_readable():
    result = dpviz.fit("pf-tree", DATA, epsilon=1, seed=0, groups="colour")
    text = result.to_json()
    again = result_from_json(text)
    assert again.test_report == result.test_report
    assert again.test_report.by_group == result.test_report.by_group
    assert again.settings.groups == "colour"
    assert "by_group" not in dpviz.fit("pf-tree", DATA, epsilon=1, seed=0).to_json()
    for wrong in ('"groups": "height"', '"groups": "nothing"', '"groups": "town"'):
        with pytest.raises(DocumentError):
            result_from_json(
                text[: text.index('"test_report"')] + text[text.index('"test_report"') :].replace('"groups": "colour"', wrong)
            )


@pytest.mark.parametrize(
    ("groups", "more", "problem"),
    [
        (3, {}, ParameterError),
        ("", {}, ParameterError),
        ("colour", {"leaves": "labels"}, ParameterError),
        ("height", {}, UnknownName),
        ("nothing", {}, UnknownName),
    ],
)
def test_only_a_declared_category_is_a_group(groups, more, problem):
    with pytest.raises(problem):
        dpviz.fit("pf-tree", DATA, epsilon=1, seed=0, groups=groups, **more)
