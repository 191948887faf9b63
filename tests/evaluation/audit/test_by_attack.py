"""Audits by attack: they find what is broken, and say no more than they know."""

import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

import dpviz
from dpviz.errors import DpvizError, ParameterError, UnknownName, WrongTask
from dpviz.evaluation.audit.by_attack import audit
from dpviz.evaluation.audit.candidate_pairs import canary_pair, require_neighbours, small_pair, verify_pair
from dpviz.evaluation.audit.findings import SEVERITY
from dpviz.learners import get_learner
from tests.support.audits import BOUND
from tests.support.fits import FEW
from tests.support.planted import HALF_NOISE
from tests.support.tables import schema_of, table


@pytest.mark.slow
def test_half_the_noise_is_caught():
    found = audit(HALF_NOISE, epsilon=1.0, seed=1, draws=1000)
    assert (found.claimed, found.composed, found.verdict) == (1.0, 1.0, "ledger violated")
    assert 1.0 < found.bound < 2.0


@pytest.mark.parametrize(
    "seed", [pytest.param(1, marks=pytest.mark.slow), *(pytest.param(k, marks=pytest.mark.verify) for k in (2, 3))]
)
def test_what_is_sound_is_not_accused(seed):
    found = audit("pf-tree", epsilon=1.0, seed=seed, draws=2000, leaves="labels")
    assert found.verdict == "holds"
    assert 0.4 < found.bound <= 1.0


@pytest.mark.parametrize(
    ("seeds", "draws", "share"),
    [pytest.param(4, 1000, 0.05, marks=pytest.mark.slow), pytest.param(20, 1500, 0.2, marks=pytest.mark.verify)],
    ids=["few", "many"],
)
def test_the_bound_stays_below_the_exact_loss_of_the_pair(seeds, draws, share):
    exact = verify_pair("majority", *small_pair(), epsilon=1.0).log_ratio
    bounds = np.array([audit("majority", epsilon=1.0, seed=seed, draws=draws, beta=0.1).bound for seed in range(seeds)])
    assert (bounds <= exact).mean() >= 0.9
    assert np.median(bounds) > exact * share


@pytest.mark.slow
def test_a_stopping_rule_is_seen_as_clearly_as_the_draws_allow():
    found = audit("privatree", epsilon=1.0, seed=1, draws=400)
    assert found.bound == pytest.approx(found.largest)
    assert found.verdict == "violated"
    assert found.event == "the rule at the root"
    assert sorted(found.hits) == [0, found.n_tested]


def test_no_privacy_is_no_claim():
    assert audit("cart", epsilon=1.0, seed=1, draws=40).verdict == "none"


@pytest.mark.parametrize(
    "few",
    [pytest.param(FEW, marks=pytest.mark.slow), pytest.param({}, marks=pytest.mark.verify)],
    ids=["few trees", "all trees"],
)
@pytest.mark.parametrize("name", dpviz.learner_names())
def test_every_learner_can_be_audited(name, few):
    spec = get_learner(name)
    found = audit(name, epsilon=1.0, seed=3, draws=20, pair=small_pair(spec.tasks[0]), **few.get(name, {}))
    assert found.n_done == found.n_asked == 20
    assert found.n_tested == 10
    assert 0 <= found.bound <= found.largest
    assert found.verdict in SEVERITY
    assert found.verdict != "ledger violated"
    assert dict(found.canary)[found.canary[0][0]]


@pytest.mark.usefixtures("workers_run_in")
@pytest.mark.slow
def test_the_same_seed_finds_the_same_whoever_draws():
    one, other, two = (audit("pf-tree", epsilon=1.0, seed=5, draws=120, workers=workers) for workers in (1, 1, 2))
    assert replace(one, seconds=0) == replace(other, seconds=0) == replace(two, seconds=0)
    assert audit("pf-tree", epsilon=1.0, seed=6, draws=120).hits != one.hits


@pytest.mark.slow
def test_workers_need_nothing_of_the_program_that_asks(monkeypatch, tmp_path):
    """A program may be a script that runs once, or no file at all; starting workers must not run it again."""
    once = tmp_path / "once.py"
    once.write_text("raise SystemExit('this program was run a second time')")
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(once), raising=False)
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None, raising=False)
    get_reusable_executor().shutdown()
    assert audit("pf-tree", epsilon=1.0, seed=5, draws=100, workers=2).n_done == 100


def test_a_stop_keeps_what_is_done_and_progress_ends_at_one():
    stop = threading.Event()
    told = []

    def progress(share):
        told.append(share)
        if share >= 0.5:
            stop.set()

    found = audit("majority", epsilon=1.0, seed=1, draws=400, progress=progress, stop=stop.is_set)
    assert (found.n_asked, found.n_done, found.n_tested) == (400, 200, 100)
    assert told == [0.125, 0.25, 0.375, 0.5]
    nothing = audit("majority", epsilon=1.0, seed=1, draws=400, stop=lambda: True)
    assert (nothing.n_done, nothing.bound, nothing.verdict, nothing.event) == (0, 0.0, "holds", "")
    told = []
    audit("majority", epsilon=1.0, seed=1, draws=120, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_a_canary_is_one_outlying_row_more_of_any_rows_and_of_none(kind):
    data = table(schema_of(kind, 3), 50)
    first, second = canary_pair(data)
    assert first is data
    require_neighbours(first, second)
    last = second.take(np.array([50]), share=1.0)
    for feature, column, value in zip(data.schema.features, data.columns, last.columns, strict=True):
        if hasattr(feature, "categories"):
            counts = np.bincount(column, minlength=len(feature.categories))
            assert counts[value[0]] == counts.min()
        else:
            assert value[0] in (feature.low, feature.high)
            assert abs(value[0] - column.mean()) >= abs(feature.low + feature.high - value[0] - column.mean())
    assert data.class_counts()[last.target[0]] == data.class_counts().min()
    found = audit("pf-tree", epsilon=1.0, seed=1, draws=20, pair=(first, second), max_depth=2)
    assert found.n_tested == 10
    assert [rows.n_rows for rows in canary_pair(table(schema_of(kind), 0))] == [0, 1]


def test_wrong_questions_are_refused():
    with pytest.raises(UnknownName, match="no learner"):
        audit("pf-treee", seed=1)
    with pytest.raises(UnknownName, match="no parameter"):
        audit("pf-tree", seed=1, draws=10, colour=1)
    with pytest.raises(ParameterError, match="'draws' parameter of audit must be a whole number of at least 2"):
        audit("pf-tree", seed=1, draws=1)
    with pytest.raises(ParameterError, match="'beta'"):
        audit("pf-tree", seed=1, beta=0.0)
    for workers, learner in ((0, "pf-tree"), (2, HALF_NOISE)):
        with pytest.raises(ParameterError, match="'workers' parameter of audit must be 1, or more for a learner given by name"):
            audit(learner, seed=1, draws=10, workers=workers)
    with pytest.raises(WrongTask):
        audit("majority", seed=1, draws=10, pair=small_pair("number"))
    for task in ("classes", "number"):
        require_neighbours(*small_pair(task))
    first, second = small_pair()
    with pytest.raises(DpvizError, match="Swap the two data sets"):
        audit("pf-tree", seed=1, draws=10, pair=(second, first))
    with pytest.raises(DpvizError, match="not neighbours"):
        audit("pf-tree", seed=1, draws=10, pair=(first, first))


def test_right_guesses_of_an_attack_stay_below_the_truth_as_often_as_they_say_and_come_near_it():
    rng, chances, canaries, draws = np.random.default_rng(5), (0.3, 0.7), 4, 1000
    pair = [
        replace(BOUND, hits=tuple(rng.binomial(1000, chances).tolist()), n_tested=1000, n_done=2000).right_guesses
        for _ in range(400)
    ]
    right = rng.binomial(draws // 2 * canaries, 0.7, size=400)
    crowd = [
        replace(BOUND, hits=(2000 - k, k), n_tested=2000, n_done=draws, canaries=canaries).right_guesses for k in right.tolist()
    ]
    for found in (pair, crowd):
        assert np.mean(np.array(found) > 70.0) <= 0.05
        assert np.median(found) > 64
    nobody = replace(BOUND, hits=(0, 0), n_tested=0, n_done=0)
    assert nobody.right_guesses == 50.0
    silent = replace(BOUND, hits=(0, 200), n_tested=200, n_done=draws, canaries=canaries)
    assert silent.right_guesses < 55 + 1e-9, "where nothing is guessed a coin is right half the time"
