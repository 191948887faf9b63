import math
import os
from dataclasses import replace
from itertools import islice

import joblib
import numpy as np
import pytest
from pandas.testing import assert_frame_equal

import dpviz
from dpviz.errors import DpvizError, ParameterError, SchemaError, WrongTask
from dpviz.evaluation import sweep as sweeping
from dpviz.evaluation.metrics import OF_CLASSES, OF_NUMBERS
from dpviz.evaluation.sweep import ABOUT, KEYS, Batch, SweepGrid, as_frame, n_fits, pending, run_batches
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, NumericTarget, Schema
from tests.support.evaluation_tables import GOLDEN, SCHEMA, golden_text, rows
from tests.support.numbers import rows as rows_of_numbers
from tests.support.numbers import schema_of_numbers

ASKED = {"epsilon": [0.5, 5.0], "max_depth": [2], "folds": 3, "repeats": 4}
NAMES = ["pf-tree", "cart"]


@pytest.fixture(scope="module")
def data():
    return rows()


@pytest.fixture(scope="module")
def frame(data):
    return dpviz.sweep(NAMES, data, **ASKED)


def test_a_small_sweep_is_the_golden_one():
    assert golden_text() == GOLDEN.read_text(encoding="utf-8"), "if intended, run: python -m tests.support.evaluation_tables"


def test_there_is_one_row_per_fit_each_a_plain_fit_on_its_fold(frame, data):
    assert list(frame.columns) == [*KEYS, *ABOUT, *OF_CLASSES]
    assert len(frame) == 2 * 3 * 4 + 3
    assert not frame.duplicated(list(KEYS)).any()
    for row in frame.iloc[::5].itertuples():
        train, test = data.folds(3, seed=0)[row.fold]
        batch = Batch(row.learner, row.epsilon, row.max_depth, None, row.fold, (row.repeat,))
        epsilon = row.epsilon if math.isfinite(row.epsilon) else 1.0
        result = dpviz.fit(row.learner, train, epsilon=epsilon, max_depth=2, seed=batch.seed_of(0, row.repeat))
        assert row.accuracy == result.score(test)
        assert (row.claimed, row.composed) == (result.claim.epsilon, result.ledger.guarantee.epsilon)
        assert row.depth == result.plan.depth
    plain = frame[frame.learner == "cart"]
    assert plain.fold.tolist() == [0, 1, 2]
    assert np.isinf(plain.epsilon).all()
    assert (plain.verdict == "none").all()


def test_a_variant_is_fitted_with_its_parameters(data):
    name = "pf-tree(lookahead=1; leaves=labels)"
    frame = dpviz.sweep(["pf-tree", name], data, epsilon=[1.0], folds=1, repeats=1)
    assert set(frame.learner) == {"pf-tree", name}
    train, test = data.split(0.2, seed=0)
    seed = Batch(name, 1.0, 8, None, 0, (0,)).seed_of(0, 0)
    again = dpviz.fit("pf-tree", train, epsilon=1.0, seed=seed, lookahead=1, leaves="labels")
    assert frame.accuracy[frame.learner == name].item() == again.score(test)


@pytest.mark.slow
def test_two_workers_give_the_frame_of_one(data, frame):
    assert_frame_equal(dpviz.sweep(NAMES, data, **ASKED, workers=2), frame)


def test_a_registered_backend_does_the_work(data, frame):
    used = []

    class Counting(joblib.parallel.ThreadingBackend):
        def submit(self, func, callback=None):
            used.append(func)
            return super().submit(func, callback)

    joblib.register_parallel_backend("counting", Counting)
    before = os.nice(0)
    with joblib.parallel_config(backend="counting"):
        assert_frame_equal(dpviz.sweep(NAMES, data, **ASKED, workers=2), frame)
    assert used
    assert os.nice(0) == before  # threads of this process keep its priority


@pytest.mark.parametrize("kept", [1, 26])
def test_resuming_gives_the_frame_of_one_go(data, frame, kept):
    shuffled = frame.sample(frac=1, random_state=3)
    assert_frame_equal(dpviz.sweep(NAMES, data, **ASKED, done=shuffled.head(kept)), frame)


@pytest.mark.parametrize("other", [{"seed": 1}, {"folds": 4}, {"params": {"pf-tree": {"lookahead": "1"}}}])
def test_a_frame_of_other_settings_is_refused(data, frame, other):
    with pytest.raises(dpviz.DpvizError, match="made from other rows, folds, seeds or parameters"):
        dpviz.sweep(NAMES, data, **(ASKED | other), done=frame)


def test_frames_of_other_settings_rows_and_targets_are_refused(frame, data):
    with pytest.raises(dpviz.DpvizError, match="made from other rows"):
        dpviz.sweep(NAMES, rows(200), **ASKED, done=frame)
    with pytest.raises(dpviz.DpvizError, match="has no column 'repeat'"):
        dpviz.sweep(NAMES, data, **ASKED, done=frame.drop(columns="repeat"))
    frame = dpviz.sweep(["cart"], data, epsilon=[1.0], folds=2, repeats=1)
    with pytest.raises(DpvizError, match="The earlier frame has no column 'r2'"):
        dpviz.sweep(["gbdt"], rows_of_numbers(schema_of_numbers(), 40), epsilon=[1.0], folds=2, repeats=1, done=frame)


@pytest.mark.usefixtures("workers_run_in")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_stop_keeps_what_is_done_and_resuming_completes_it(data, frame, workers):
    asked = []
    part = dpviz.sweep(NAMES, data, **ASKED, workers=workers, stop=lambda: len(asked) == 5 or asked.append(1))
    assert len(part) == 5
    assert len(part.merge(frame)) == len(part)
    assert_frame_equal(dpviz.sweep(NAMES, data, **ASKED, done=part), frame)


def test_progress_grows_to_one_more_draws_keep_the_first_and_nothing_to_do_gives_the_frame_back(data, frame):
    shares = []
    dpviz.sweep(NAMES, data, **ASKED, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    more = dpviz.sweep(NAMES, data, **(ASKED | {"repeats": 6}))
    assert_frame_equal(more[more.repeat < 4].reset_index(drop=True), frame)
    assert dpviz.sweep(NAMES, data, **ASKED, stop=lambda: True).empty
    assert list(as_frame([]).columns) == [*KEYS, *ABOUT, *OF_CLASSES]
    assert_frame_equal(dpviz.sweep(NAMES, data, **ASKED, done=frame, stop=lambda: True), frame)


def test_seeds_depend_on_what_a_fit_is_alone():
    batch = Batch("pf-tree", 1.0, 4, None, 0, (0, 1, 2))
    same = (replace(batch, epsilon=0.1), replace(batch, repeats=(2,)))
    other = [replace(batch, **change) for change in ({"learner": "cart"}, {"max_depth": 3}, {"n_rows": 50}, {"fold": 1})]
    assert {each.seed_of(0, 2) for each in (batch, *same)} == {batch.seed_of(0, 2)}
    seeds = {batch.seed_of(0, 2), batch.seed_of(0, 1), batch.seed_of(1, 2), *(each.seed_of(0, 2) for each in other)}
    assert len(seeds) == 7


def test_early_batches_cover_the_whole_grid():
    grid = SweepGrid(("pf-tree", "cart"), (0.1, 1.0), (2,), (None, 50), 2, 25)
    left = pending(grid)
    first = {(b.learner, b.epsilon, b.n_rows, b.fold) for b in left[: 2 * 3 * 2]}
    assert first == {(b.learner, b.epsilon, b.n_rows, b.fold) for b in grid.batches()}
    assert {len(batch.repeats) for batch in left} == {1, 4, 10}
    assert n_fits(left) == 2 * 2 * (2 * 25 + 1)
    assert sorted(key for b in left for key in b.row_keys()) == sorted(key for b in grid.batches() for key in b.row_keys())


def test_fewer_rows_are_a_part_of_more_rows_and_one_fold_holds_out_one_row_in_five(data):
    train, _ = sweeping._split(data, 3, 0, 1, None)
    fewer, fewest = (sweeping._split(data, 3, 0, 1, n)[0] for n in (100, 40))
    assert (train.n_rows, fewer.n_rows, fewest.n_rows) == (200, 100, 40)
    assert (train.schema.n_public, fewer.schema.n_public, fewest.schema.n_public) == (200, 100, 40)
    pairs = [list(zip(*(column.tolist() for column in part.columns), strict=True)) for part in (fewest, fewer, train)]
    assert all(pairs[0].count(row) <= pairs[1].count(row) <= pairs[2].count(row) for row in pairs[0])
    assert sweeping._split(data, 3, 0, 0, 10_000)[0].n_rows == 200
    train, test = sweeping._split(data, 1, 0, 0, None)
    assert (train.n_rows, test.n_rows) == (240, 60)


def test_a_sweep_leaves_no_rows_behind(data):
    sweeping._split(data, 3, 0, 0, None)
    sweeping._split(rows(90), 3, 0, 0, None)
    assert {key[0] for key in sweeping._SPLITS} == {rows(90).fingerprint}
    dpviz.sweep(["majority"], data, epsilon=[1.0], folds=2, repeats=1)
    assert sweeping._SPLITS == {}
    left = run_batches(SweepGrid(("majority",), (1.0,)), data, pending(SweepGrid(("majority",), (1.0,))))
    next(left)
    assert sweeping._SPLITS
    left.close()
    assert sweeping._SPLITS == {}


def test_depths_are_exact_where_asked_and_each_learner_has_its_own_largest(data):
    frame = dpviz.sweep(["pf-tree"], data, epsilon=[0.01], max_depth=[1, 3], depth="exact", folds=1, repeats=1)
    assert frame.depth.tolist() == [1, 3]
    assert dpviz.sweep(["pf-tree"], data, epsilon=[0.01], max_depth=[3], folds=1, repeats=1).depth.tolist() == [1]
    frame = dpviz.sweep(["pf-tree", "cart"], data, epsilon=[0.01], folds=1, repeats=1)
    assert dict(zip(frame.learner, frame.max_depth, strict=True)) == {"pf-tree": 8, "cart": 4}
    assert dpviz.sweep(["pf-tree", "cart"], data, epsilon=[0.01], folds=1, repeats=1, done=frame).equals(frame)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"learners": ()}, "The 'learners' parameter of sweep must be at least one, and none twice. Got ()."),
        (
            {"max_depths": (None, 8)},
            "The 'max_depth' parameter of sweep must be numbers of levels, or None alone.",
        ),
        ({"n_rows": (0,)}, "The 'n_rows' parameter of sweep must be a whole number of at least 1. Got 0."),
        ({"repeats": 1.5}, "The 'repeats' parameter of sweep must be a whole number of at least 1. Got 1.5."),
        ({"epsilons": (0.0,)}, "The 'epsilon' parameter of fit must be a number in [1e-06, 1e+06]. Got 0.0."),
        ({"params": {"pf-tree": {"level_shares": "x"}}}, "The 'level_shares' parameter of pf-tree must be None or a sequence"),
    ],
)
def test_a_grid_that_cannot_be_fitted_is_refused(change, message):
    good = {"learners": ("pf-tree",), "epsilons": (1.0,)}
    SweepGrid(**good)
    with pytest.raises(ParameterError) as refused:
        SweepGrid(**(good | change))
    assert message in str(refused.value)


@pytest.mark.usefixtures("workers_run_in")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_numeric_target_is_refused_by_name(workers):
    schema = Schema((NumericFeature("x", 0, 1),), NumericTarget("price", 0, 9), n_public=20)
    data = EncodedDataset(schema, (np.linspace(0, 1, 20),), np.linspace(0, 9, 20))
    with pytest.raises(WrongTask, match="'privatree' predicts classes, but the target 'price' is declared as a number"):
        dpviz.sweep(["privatree"], data, epsilon=[1.0], workers=workers)


@pytest.mark.usefixtures("workers_run_in")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_number_is_swept_by_r2_and_rmse(workers):
    names = ["dp-mean", "cart-regression", "gbdt"]
    table = rows_of_numbers(schema_of_numbers(), 120)
    asked = {"epsilon": [0.1, 10.0], "max_depth": [2], "folds": 2, "repeats": 2}
    frame = dpviz.sweep(names, table, **asked, workers=workers, params={"gbdt": {"trees": 5}})
    assert list(frame.columns) == [*KEYS, *ABOUT, *OF_NUMBERS]
    assert len(frame) == 2 * (2 * 2 + 1 + 1)
    best = frame.groupby("learner").r2.mean()
    assert best["cart-regression"] > 0.5 > 0.1 > best["dp-mean"]
    assert np.allclose(1 - frame.r2, (frame.rmse / frame.mean_rmse) ** 2, rtol=0.1)
    again = dpviz.sweep(names, table, **asked, done=frame.head(7), params={"gbdt": {"trees": 5}})
    assert_frame_equal(again, frame)


def test_a_missing_row_count_is_said_before_any_work(data):
    bare = EncodedDataset(replace(SCHEMA, n_public=None), data.columns, data.target)
    started = run_batches(SweepGrid(("pf-tree",), (1.0,)), bare, pending(SweepGrid(("pf-tree",), (1.0,))))
    with pytest.raises(SchemaError, match="needs a public row count"):
        next(started)


@pytest.mark.usefixtures("workers_run_in")
def test_an_error_in_a_worker_arrives_whole():
    data = rows(3)  # too few for five folds, which only a worker finds out
    with pytest.raises(ParameterError) as refused:
        dpviz.sweep(["pf-tree"], data, epsilon=[1.0], folds=5, repeats=1, workers=2)
    assert refused.value.parameter == "count"
    assert refused.value.allowed == "a whole number of at least 2, at most the rows there are"


@pytest.mark.usefixtures("workers_run_in")
@pytest.mark.slow
def test_leaving_early_ends_the_work(data):
    grid = SweepGrid(("pf-tree",), (1.0,), repeats=50)
    started = run_batches(grid, data, pending(grid), workers=2)
    assert len(list(islice(started, 2))) == 2
    started.close()
    assert not list(started)
