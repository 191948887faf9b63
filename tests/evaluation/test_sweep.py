"""A sweep is one plain fit per row whatever is resumed, stopped or spread, and learners are compared on the same splits."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from scipy import stats

import dpviz
from dpviz.errors import DpvizError, ParameterError, SchemaError, UnsupportedError
from dpviz.evaluation import sweep as sweeping
from dpviz.evaluation.comparison import curves, difference, majority_level, metrics_for, rows_at
from dpviz.evaluation.metrics import OF_CLASSES, OF_NUMBERS, wilson
from dpviz.evaluation.sweep import ABOUT, KEYS, Batch, SweepGrid, as_frame, n_fits, pending_batches, run_batches
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.golden_charts import assert_text
from tests.support.numbers import rows as rows_of_numbers
from tests.support.numbers import schema_of_numbers
from tests.support.tables import schema_of

ASKED = {"epsilon": [0.5, 5.0], "max_depth": [2], "folds": 3, "repeats": 4}
NAMES = ["pf-tree", "cart"]
SCHEMA = Schema(
    (NumericFeature("age", 18, 90, whole=True), CategoricalFeature("ward", ("north", "south", "east"))),
    ClassTarget("outcome", ("well", "ill")),
    n_public=300,
)
one_and_two_workers = pytest.mark.parametrize("workers", [1, 2])
spread = pytest.mark.usefixtures("workers_run_in")


def rows(n: int = 300) -> EncodedDataset:
    """Rows written as arithmetic, so that no generator's version matters."""
    place = np.arange(n)
    age = (18 + place * 7 % 73).astype(np.int32)
    ward = (place * 5 % 3).astype(np.uint8)
    ill = (age > 55) ^ (place % 9 == 0) | (ward == 2) & (age > 40)
    return EncodedDataset(SCHEMA, (age, ward), ill.astype(np.uint8))


@pytest.fixture(scope="module")
def data():
    return rows()


@pytest.fixture(scope="module")
def frame(data):
    return dpviz.sweep(NAMES, data, **ASKED)


@pytest.mark.slow
def test_a_small_sweep_is_the_golden_one():
    names = ["pf-tree", "privatree-corrected", "cart"]
    found = dpviz.sweep(names, rows(), epsilon=[0.5, 5.0], max_depth=[2, 3], n_rows=[100, None], folds=2, repeats=2, seed=7)
    assert_text(Path(__file__).with_name("sweep.csv"), found.to_csv(index=False, float_format="%.10g", lineterminator="\n"))


@pytest.mark.slow
def test_there_is_one_row_per_fit_each_a_plain_fit_on_its_fold(frame, data):
    assert list(frame.columns) == [*KEYS, *ABOUT, *OF_CLASSES]
    assert len(frame) == 2 * 3 * 4 + 3
    assert not frame.duplicated(list(KEYS)).any()
    for row in frame.iloc[::5].itertuples():
        train, test = data.folds(3, seed=0)[row.fold]
        seed = Batch(row.learner, row.epsilon, row.max_depth, None, row.fold, (row.repeat,)).seed_of(0, row.repeat)
        epsilon = row.epsilon if math.isfinite(row.epsilon) else 1.0
        result = dpviz.fit(row.learner, train, epsilon=epsilon, max_depth=2, seed=seed)
        found = (result.score(test), result.claim.epsilon, result.ledger.guarantee.epsilon, result.plan.depth)
        assert (row.accuracy, row.claimed, row.composed, row.depth) == found
    plain = frame[frame.learner == "cart"]
    assert plain.fold.tolist() == [0, 1, 2]
    assert np.isinf(plain.epsilon).all()
    assert (plain.verdict == "none").all()


def test_a_variant_has_its_parameters_and_depths_are_exact_where_asked(data):
    name = "pf-tree(lookahead=1; leaves=labels)"
    frame = dpviz.sweep(["pf-tree", name], data, epsilon=[1.0], folds=1, repeats=1)
    assert set(frame.learner) == {"pf-tree", name}
    train, test = data.split(0.2, seed=0)
    seed = Batch(name, 1.0, 8, None, 0, (0,)).seed_of(0, 0)
    again = dpviz.fit("pf-tree", train, epsilon=1.0, seed=seed, lookahead=1, leaves="labels")
    assert frame.accuracy[frame.learner == name].item() == again.score(test)
    asked = {"epsilon": [0.01], "folds": 1, "repeats": 1}
    assert dpviz.sweep(["pf-tree"], data, max_depth=[1, 3], depth="exact", **asked).depth.tolist() == [1, 3]
    assert dpviz.sweep(["pf-tree"], data, max_depth=[3], **asked).depth.tolist() == [1]
    frame = dpviz.sweep(NAMES, data, **asked)
    assert dict(zip(frame.learner, frame.max_depth, strict=True)) == {"pf-tree": 8, "cart": 4}
    assert dpviz.sweep(NAMES, data, **asked, done=frame).equals(frame)


@pytest.mark.slow
def test_workers_give_the_frame_of_one_process_and_so_does_an_executor(data, frame):
    assert_frame_equal(dpviz.sweep(NAMES, data, **ASKED, workers=2), frame)
    used = []

    class Counting(ThreadPoolExecutor):
        def submit(self, *work):
            used.append(work)
            return super().submit(*work)

    with Counting(2) as executor:
        assert_frame_equal(dpviz.sweep(NAMES, data, **ASKED, workers=executor), frame)
        part = dpviz.sweep(NAMES, data, **ASKED, workers=executor, stop=lambda: len(used) > 20)
        with pytest.raises(ParameterError, match="'count' parameter"):
            dpviz.sweep(["pf-tree"], rows(3), epsilon=[1.0], folds=5, repeats=1, workers=executor)
    assert 0 < len(part) == len(part.merge(frame)) < len(frame)


@pytest.mark.slow
@spread
@one_and_two_workers
def test_what_was_stopped_or_kept_in_part_is_completed_to_the_frame_of_one_go(data, frame, workers):
    asked = []
    part = dpviz.sweep(NAMES, data, **ASKED, workers=workers, stop=lambda: len(asked) == 5 or asked.append(1))
    assert len(part) == len(part.merge(frame)) == 5
    shuffled = frame.sample(frac=1, random_state=3)
    for done in (part, shuffled.head(1), shuffled.head(26)):
        assert_frame_equal(dpviz.sweep(NAMES, data, **ASKED, done=done), frame)
    assert_frame_equal(dpviz.sweep(NAMES, data, **ASKED, done=frame, stop=lambda: True), frame)
    assert dpviz.sweep(NAMES, data, **ASKED, stop=lambda: True).empty


@pytest.mark.slow
def test_more_draws_keep_the_first_and_a_frame_of_other_settings_rows_or_targets_is_refused(data, frame):
    shares = []
    more = dpviz.sweep(NAMES, data, **(ASKED | {"repeats": 6}), progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert_frame_equal(more[more.repeat < 4].reset_index(drop=True), frame)
    assert list(as_frame([]).columns) == [*KEYS, *ABOUT, *OF_CLASSES]
    others = ({"seed": 1}, {"folds": 4}, {"params": {"pf-tree": {"lookahead": "1"}}}, {"data": rows(200)})
    for other in others:
        with pytest.raises(DpvizError, match="made from other rows, folds, seeds or parameters"):
            dpviz.sweep(NAMES, **({"data": data} | ASKED | other), done=frame)
    with pytest.raises(DpvizError, match="no column 'repeat'"):
        dpviz.sweep(NAMES, data, **ASKED, done=frame.drop(columns="repeat"))
    with pytest.raises(DpvizError, match="no column 'r2'"):
        dpviz.sweep(["gbdt"], rows_of_numbers(schema_of_numbers(), 40), epsilon=[1.0], folds=2, repeats=1, done=frame)


def test_seeds_depend_on_what_a_fit_is_alone_and_early_batches_cover_the_whole_grid():
    batch = Batch("pf-tree", 1.0, 4, None, 0, (0, 1, 2))
    same = (replace(batch, epsilon=0.1), replace(batch, repeats=(2,)))
    other = [replace(batch, **change) for change in ({"learner": "cart"}, {"max_depth": 3}, {"n_rows": 50}, {"fold": 1})]
    assert {each.seed_of(0, 2) for each in (batch, *same)} == {batch.seed_of(0, 2)}
    assert len({batch.seed_of(0, 2), batch.seed_of(0, 1), batch.seed_of(1, 2), *(each.seed_of(0, 2) for each in other)}) == 7
    grid = SweepGrid(("pf-tree", "cart"), (0.1, 1.0), (2,), (None, 50), 2, 25)
    left = pending_batches(grid)
    first = {(b.learner, b.epsilon, b.n_rows, b.fold) for b in left[: 2 * 3 * 2]}
    assert first == {(b.learner, b.epsilon, b.n_rows, b.fold) for b in grid.batches()}
    assert n_fits(left) == 2 * 2 * (2 * 25 + 1)
    assert sorted(key for b in left for key in b.row_keys()) == sorted(key for b in grid.batches() for key in b.row_keys())


def test_a_split_that_is_kept_is_that_of_these_folds_this_seed_this_fold_and_so_many_rows(data):
    asked = [(3, 0, 1, 100), (4, 0, 1, 100), (3, 1, 1, 100), (3, 0, 2, 100), (3, 0, 1, 90)]
    assert len({sweeping._split(data, *one)[0].fingerprint for one in asked}) == len(asked)


def test_fewer_rows_are_a_part_of_more_rows_and_one_fold_holds_out_one_row_in_five(data):
    parts = [sweeping._split(data, 3, 0, 1, n)[0] for n in (40, 100, None)]
    assert [(part.n_rows, part.schema.n_public) for part in parts] == [(n, n) for n in (40, 100, 200)]
    pairs = [list(zip(*(column.tolist() for column in part.columns), strict=True)) for part in parts]
    assert all(pairs[0].count(row) <= pairs[1].count(row) <= pairs[2].count(row) for row in pairs[0])
    assert sweeping._split(data, 3, 0, 0, 10_000)[0].n_rows == 200
    assert [part.n_rows for part in sweeping._split(data, 1, 0, 0, None)] == [240, 60]
    for persons in (np.arange(300) // 2, np.arange(300) // 3):
        train, _ = sweeping._split(replace(data, persons=persons), 1, 0, 0, None)
        assert set(train.persons) <= set(persons)


@pytest.mark.slow
def test_a_sweep_that_ends_or_is_left_early_leaves_no_work_and_no_rows_behind(data):
    dpviz.sweep(["majority"], data, epsilon=[1.0], folds=2, repeats=1)
    assert sweeping._SPLITS == {}
    grid = SweepGrid(("pf-tree",), (1.0,), repeats=50)
    for workers in (1, 2):
        started = run_batches(grid, data, pending_batches(grid), workers=workers)
        assert len(list(islice(started, 2))) == 2
        assert bool(sweeping._SPLITS) == (workers == 1)
        started.close()
        assert not list(started)
        assert sweeping._SPLITS == {}


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"learners": ()}, "learners"),
        ({"max_depths": (None, 8)}, "max_depth"),
        ({"n_rows": (0,)}, "n_rows"),
        ({"repeats": 1.5}, "repeats"),
        ({"epsilons": (0.0,)}, "epsilon"),
        ({"params": {"pf-tree": {"level_shares": "x"}}}, "level_shares"),
    ],
)
def test_a_grid_that_cannot_be_fitted_is_refused(change, parameter):
    with pytest.raises(ParameterError, match=f"'{parameter}' parameter"):
        SweepGrid(**({"learners": ("pf-tree",), "epsilons": (1.0,)} | change))


@spread
@one_and_two_workers
def test_errors_arrive_whole_whoever_finds_them(data, workers):
    with pytest.raises(UnsupportedError, match="'privatree' predicts classes, but the target 'rent'"):
        dpviz.sweep(["privatree"], rows_of_numbers(schema_of_numbers(), 20), epsilon=[1.0], workers=workers)
    with pytest.raises(ParameterError) as refused:  # too few rows for five folds, which only a worker finds out
        dpviz.sweep(["pf-tree"], rows(3), epsilon=[1.0], folds=5, repeats=1, workers=workers)
    assert (refused.value.parameter, "at least 2" in refused.value.allowed) == ("count", True)
    with pytest.raises(DpvizError, match="too few rows to hold some out"):  # a fifth of two rows is none
        dpviz.sweep(["pf-tree"], rows(2), epsilon=[1.0], folds=1, repeats=1, workers=workers)
    bare = EncodedDataset(replace(SCHEMA, n_public=None), data.columns, data.target)
    with pytest.raises(SchemaError, match="needs a public row count"):
        dpviz.sweep(["pf-tree"], bare, epsilon=[1.0], workers=workers)


@spread
@one_and_two_workers
def test_a_number_is_swept_by_r2_and_rmse(workers):
    names, table = ["dp-mean", "cart-regression", "gbdt"], rows_of_numbers(schema_of_numbers(), 120)
    asked = {"epsilon": [0.1, 10.0], "max_depth": [2], "folds": 2, "repeats": 2, "params": {"gbdt": {"trees": 5}}}
    frame = dpviz.sweep(names, table, **asked, workers=workers)
    assert list(frame.columns) == [*KEYS, *ABOUT, *OF_NUMBERS]
    assert len(frame) == 2 * (2 * 2 + 1 + 1)
    best = frame.groupby("learner").r2.mean()
    assert best["cart-regression"] > 0.5 > 0.1 > best["dp-mean"]
    assert np.allclose(1 - frame.r2, (frame.rmse / frame.mean_rmse) ** 2, rtol=0.1)
    assert_frame_equal(dpviz.sweep(names, table, **asked, done=frame.head(7)), frame)


# --- comparison


def fits(learner, outcomes, *, epsilon=1.0, composed=None, verdict="holds", **more):
    """Rows of a frame: `outcomes[fold]` holds the accuracies of its draws."""
    about = {"learner": learner, "epsilon": epsilon, "max_depth": 4, "n_rows": 0, "verdict": verdict, "auc": math.nan}
    about |= {"composed": epsilon if composed is None else composed}
    return [
        {**about, "fold": fold, "repeat": repeat, "accuracy": value, "rmse": value, "majority": 0.5 + fold / 10, **more}
        for fold, draws in enumerate(outcomes)
        for repeat, value in enumerate(draws)
    ]


def joined(*groups):
    return pd.DataFrame([row for group in groups for row in group])


def plain(outcomes):
    return fits("cart", [[value] for value in outcomes], epsilon=math.inf, verdict="none")


def compared(ours, theirs, metric="accuracy"):
    return difference(joined(fits("pf-tree", ours), fits("privatree", theirs)), "pf-tree", "privatree", metric)


def test_a_curve_has_bands_of_nine_in_ten_outcomes_in_order_and_the_worst_verdict(rng):
    outcomes = rng.random((5, 40))
    (curve,) = curves(joined(fits("pf-tree", outcomes)), "epsilon")
    (point,) = curve.points
    assert (point.low, point.median, point.high) == pytest.approx(tuple(np.quantile(outcomes, [0.05, 0.5, 0.95])))
    assert (point.n_fits, curve.is_sound, curve.is_private) == (200, True, True)
    verdicts = {"holds": 4.0, "violated": 7.0, "unproven": 5.0}
    mixed = [fits("privatree", [[0.6]], composed=value, verdict=verdict, epsilon=3.0) for verdict, value in verdicts.items()]
    others = [fits("pf-tree", [[0.7]], epsilon=10.0), fits("pf-tree", [[0.6]], epsilon=2.0)]
    found = curves(joined(plain([0.9]), *mixed, *others), "epsilon")
    assert [(curve.learner, curve.verdict) for curve in found] == [
        ("pf-tree", "holds"),
        ("privatree", "violated"),
        ("cart", "none"),
    ]
    assert [point.x for point in found[0].points] == [2.0, 10.0]
    assert (found[0].at(10.0).median, found[0].at(5.0), found[2].at(5.0).median) == (0.7, None, 0.9)
    assert found[1].points[0].composed == 7.0
    assert curves(joined(fits("pf-tree", [[0.5]])), "epsilon", "auc") == ()


def test_levels_metrics_and_rows_at_a_place():
    table = joined(fits("pf-tree", [[0.9, 0.8], [0.7, 0.9], [0.8, 0.8]], mean_rmse=12.5))
    levels = {"accuracy": pytest.approx(0.6), "auc": 0.5, "balanced_accuracy": None, "r2": 0.0, "rmse": 12.5}
    assert {metric: majority_level(table, metric) for metric in levels} == levels
    assert metrics_for(schema_of(), 0.89) == ("accuracy", "balanced_accuracy", "auc", "log_loss", "brier")
    assert metrics_for(schema_of(), 0.9)[:2] == ("balanced_accuracy", "accuracy")
    assert metrics_for(schema_of_numbers()) == ("r2", "rmse", "mae")
    table = joined(plain([0.9]), fits("pf-tree", [[0.7]], epsilon=10.0), fits("pf-tree", [[0.6]], epsilon=2.0))
    assert rows_at(table, "epsilon", 2.0).accuracy.tolist() == [0.9, 0.6]
    assert rows_at(table, "max_depth", 4).accuracy.tolist() == [0.9, 0.7, 0.6]
    assert rows_at(table, "max_depth", 3).empty


def test_a_probability_counts_all_pairs_within_a_fold_and_folds_weigh_alike(rng):
    found = compared([[0.8, 0.7], [0.6, 0.6, 0.6, 0.6]], [[0.7, 0.9], [0.5, 0.5, 0.5, 0.7]])
    assert found.probability == pytest.approx(((1 + 0 + 0.5 + 0) / 4 + 0.75) / 2)
    assert (found.n_folds, found.n_draws) == (2, 2 + 4)
    assert compared([[0.8, 0.7, 0.6]], [[0.7]]).n_draws == compared([[0.7]], [[0.8, 0.7, 0.6]]).n_draws == 1
    assert (found.probability_low, found.probability_high) == wilson(found.probability, 6)
    ours, theirs = rng.integers(0, 6, (2, 30)) / 6
    assert compared([ours], [theirs]).probability == pytest.approx(stats.mannwhitneyu(ours, theirs).statistic / 900)
    ours, theirs = rng.random((2, 3, 11))
    here, there = compared(ours, theirs), compared(theirs, ours)
    assert here.probability + there.probability == pytest.approx(1)
    assert here.probability_low + there.probability_high == pytest.approx(1)
    tie = compared([[0.5] * 4], [[0.5] * 4])
    assert (tie.probability, tie.low, tie.median, tie.high) == (0.5, 0, 0, 0)
    error = compared([[6.0, 7.0]], [[9.0, 9.0]], "rmse")
    assert (error.probability, error.low, error.high) == (1.0, 2.0, 3.0)
    assert compared([[6.0, 7.0]], [[9.0, 9.0]]).probability == 0
    sizes = (3, 7, 10)
    ours = [rng.random(size).tolist() for size in sizes]
    repeated = np.concatenate([np.repeat(fold, 210 // size) for fold, size in zip(ours, sizes, strict=True)])
    found = compared(ours, [[0.0]] * 3)
    quantiles = np.quantile(repeated, [0.05, 0.5, 0.95], method="averaged_inverted_cdf")
    assert (found.low, found.median, found.high) == pytest.approx(tuple(quantiles))


@pytest.mark.parametrize("metric", ["accuracy", "rmse"])
def test_the_difference_of_the_other_learner_is_the_same_with_the_other_sign_also_of_few_pairs(rng, metric):
    for folds, ours, theirs in ((1, 1, 2), (2, 1, 1), (3, 2, 2), (2, 4, 5), (5, 3, 4)):
        first, second = rng.random((folds, ours)), rng.random((folds, theirs))
        here, there = compared(first, second, metric), compared(second, first, metric)
        assert (here.low, here.median, here.high) == (-there.high, -there.median, -there.low)
    assert compared([[0.5]], [[0.4, 0.2]]).median == pytest.approx(0.2)


def test_learners_that_draw_nothing_are_compared_exactly_and_without_a_common_split_nothing_is():
    found = difference(joined(fits("pf-tree", [[0.5] * 7] * 2), plain([0.4, 0.6])), "pf-tree", "cart")
    assert (found.probability, found.n_draws) == (0.5, 14)
    table = joined(plain([0.4, 0.6, 0.7]), fits("majority", [[0.3], [0.3], [0.9]], epsilon=math.inf, verdict="none"))
    found = difference(table, "cart", "majority")
    assert found.n_draws == 0
    assert found.probability == found.probability_low == found.probability_high == pytest.approx(2 / 3)
    assert compared([[0.5]], [[], [0.5]]) is None
