"""Audits by attack: they find what is broken, say no more than they know, and come near what is proved."""

import math
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm

import dpviz
from dpviz.accounting.events import Sequential
from dpviz.accounting.gaussian import gaussian_epsilon
from dpviz.errors import DpvizError, ParameterError, UnknownName, UnsupportedError
from dpviz.evaluation.audit import attack
from dpviz.evaluation.audit.attack import (
    RATIO,
    RULE,
    Guesses,
    LikelihoodRatios,
    Recording,
    Replay,
    _assignments,
    _groups,
    audit,
    bound_from,
    chance_of,
    gaussian_bound,
    guess,
    perfect_bound,
)
from dpviz.evaluation.audit.evidence import SEVERITY, BoundLearner, typical
from dpviz.evaluation.audit.verify import (
    default_audit_pairs,
    empty_and_one_row,
    opposed_row,
    require_neighbours,
    small_pair,
)
from dpviz.learners import FitRequest, get_learner
from dpviz.privacy.gaussian import GaussianNoise
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.laplace import LaplaceNoise
from dpviz.privacy.random_assignment import PoissonSample, RandomAssignment
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.training.contract import FitOutput
from tests.support.fits import FEW
from tests.support.planted import HALF_NOISE

slow, full = pytest.mark.slow, pytest.mark.verify
ONE, TWO = np.array([3, 0]), np.array([4, 0])


def answers(epsilon, draws, seed):
    """Randomised response with this epsilon: included, and scores 1 where the answer is "present"."""
    rng = np.random.default_rng(seed)
    included = rng.random(draws) < 0.5
    honest = rng.random(draws) < 1 / (1 + math.exp(-epsilon))
    return included, np.where(honest, included, ~included).astype(float)


# --- the test of guesses


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_bound_is_near_the_truth_and_rarely_above(epsilon):
    bounds = np.array([guess(*answers(epsilon, 1600, seed), beta=0.1).bound(beta=0.1) for seed in range(25)])
    assert (bounds <= epsilon).mean() >= 0.8  # at least 0.9 in expectation
    assert np.median(bounds) > 0.6 * epsilon


def test_the_bound_is_where_so_many_right_guesses_become_unlikely_and_a_delta_lowers_it():
    """By hand, from the definition: delta times twice the included times the largest mean of the i counts below."""
    bounds = [bound_from(1000, 400, 300, beta=0.05, delta=delta) for delta in (0.0, 1e-6, 1e-4, 0.1)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > bounds[2]
    assert bounds[-1] == 0.0
    bound = bound_from(500, 100, 80, beta=0.05)
    assert binom.sf(79, 100, 1 / (1 + math.exp(-bound))) == pytest.approx(0.05, rel=1e-6)
    assert bound_from(500, 100, 50, beta=0.05) == bound_from(500, 0, 0, beta=0.05) == 0.0
    right = 1 / (1 + math.exp(-0.5))
    worst = max(sum(binom.pmf(7 - j, 10, right) for j in range(1, i + 1)) / i for i in range(1, 8))
    exact = binom.sf(6, 10, right) + 2 * 30 * 1e-3 * worst
    assert chance_of(30, 10, 7, epsilon=0.5, delta=1e-3) == pytest.approx(exact, rel=1e-12)


def test_what_is_shown_of_equal_rows_together_is_shown_of_each_by_the_epsilon_and_the_delta_of_a_group():
    alone = bound_from(500, 100, 80, beta=0.05)
    assert bound_from(500, 100, 80, beta=0.05, rows=10) == pytest.approx(alone / 10, rel=1e-9)
    bound = bound_from(500, 100, 80, beta=0.05, delta=1e-6, rows=10)
    of_group = sum(1e-6 * math.exp(k * bound) for k in range(10))
    assert chance_of(500, 100, 80, epsilon=10 * bound, delta=of_group) == pytest.approx(0.05, rel=2e-2)
    assert chance_of(500, 100, 80, epsilon=10 * bound, delta=of_group) <= 0.05
    assert perfect_bound(4000, 0.1, 0.7, beta=0.05, rows=10) == pytest.approx(perfect_bound(4000, 1.0, 0.7, beta=0.05) / 10)
    exact = float(norm.cdf(1.0 / 2))
    assert perfect_bound(4000, 9.0, exact, beta=0.05, delta=1e-6, rows=50) == pytest.approx(gaussian_epsilon(1e-6, 0.02), rel=0.1)


def gaussian_guesses(mu, draws, seed):
    """Whether the canary is included, and scores of Gaussian noise that it moves by mu."""
    rng = np.random.default_rng(seed)
    included = rng.random(draws) < 0.5
    return included, rng.normal(np.where(included, mu / 2, -mu / 2))


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "draws", "rows"), [(0.1, 1000, 1), (0.5, 1000, 1), (1.5, 300, 1), (0.3, 7, 1), (0.02, 500, 50)])
def test_the_bound_of_gaussian_noise_is_above_the_truth_in_one_of_twenty_and_no_rarer(mu, draws, rows):
    """From limits that were chosen on other draws, too; in 400 repetitions. So many equal rows move it so many times as far."""
    delta, above = 1e-6, []
    for seed in range(400):
        guesses = Guesses.count(*gaussian_guesses(rows * mu, draws, seed), 0.0, 0.0)
        above.append(gaussian_bound(guesses.least_right(0.05), delta, rows) > gaussian_epsilon(delta, mu))
    assert (0.01 if draws > 100 else 0) <= np.mean(above) <= 0.05
    chosen = [guess(*gaussian_guesses(rows * mu, draws, seed), beta=0.05, always=True) for seed in range(400)]
    assert {one.n_guesses for one in chosen} == {draws - draws // 2}, "every draw is guessed"
    bounds = np.array([gaussian_bound(one.least_right(0.05), delta, rows) for one in chosen])
    assert np.mean(bounds > gaussian_epsilon(delta, mu)) <= 0.05


def test_a_bound_of_gaussian_noise_is_where_it_allows_so_many_right_guesses():
    """By hand: Phi(mu / 2) of the guesses, and the closed form of delta at epsilon."""
    for mu, delta in ((0.2, 5e-8), (2.0, 1e-6), (6.0, 0.01)):
        bound = gaussian_bound(float(norm.cdf(mu / 2)), delta)
        exact = norm.cdf(mu / 2 - bound / mu) - math.exp(bound) * norm.cdf(-mu / 2 - bound / mu)
        assert exact == pytest.approx(delta, rel=1e-3)
        assert bound <= gaussian_epsilon(delta, mu), "rounded down"
    assert gaussian_bound(0.5, 1e-6) == gaussian_bound(0.1, 1e-6) == 0.0
    assert math.isfinite(gaussian_bound(1.0, 1e-6))


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.2, 0.6])
def test_a_perfect_attack_shows_what_exact_noise_and_randomised_response_do_as_often_as_not(mu):
    draws, right, delta = 4000, float(norm.cdf(mu / 2)), 5e-8
    loss = gaussian_epsilon(delta, mu)
    perfect = perfect_bound(draws, loss, right, beta=0.05, delta=delta)
    assert perfect_bound(draws, loss, 0.9, beta=0.05, delta=delta) == pytest.approx(perfect, rel=1e-2)
    assert perfect_bound(draws, 9 * loss, right, beta=0.05, delta=delta) == pytest.approx(perfect, rel=1e-2)
    tried = [Guesses.count(*gaussian_guesses(mu, draws, seed), 0.0, 0.0).least_right(0.045) for seed in range(40)]
    assert np.median([gaussian_bound(one, delta) for one in tried]) == pytest.approx(perfect, rel=0.15)
    response = [guess(*answers(1.0, 2 * draws, seed), beta=0.05).bound(beta=0.05) for seed in range(20)]
    assert perfect_bound(draws, 1.0, 0.7, beta=0.05) == pytest.approx(np.median(response), abs=0.03)
    assert perfect_bound(0, 1.0, 0.7, beta=0.05) == perfect_bound(0, 1.0, 0.7, beta=0.05, delta=delta) == 0.0
    assert perfect_bound(10, math.inf, 1.0, beta=0.05) == bound_from(10, 10, 10, beta=0.05)


# --- what is proved is nearly shown, and what is broken is found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "epsilon", "draws", "share", "params"),
    [
        pytest.param("majority", 1.0, 16_000, 0.9, {}, marks=full),
        ("majority", 3.0, 8000, 0.9, {}),
        pytest.param("majority", 0.1, 16_000, 0.9, {}, marks=full),
        pytest.param("pf-tree", 1.0, 4000, 0.7, {}, marks=slow),
        pytest.param("pf-tree", 3.0, 4000, 0.7, {}, marks=full),
        pytest.param("pf-tree", 0.1, 8000, 0.7, {}, marks=full),
        ("s-gbdt", 3.0, 1500, 0.7, {"rounds": 1}),
        pytest.param("s-gbdt", 0.1, 1500, 0.7, {"rounds": 1}, marks=slow),
        pytest.param("s-gbdt", 0.1, 4000, 0.7, {"rounds": 8}, marks=full),
        pytest.param("s-gbdt", 3.0, 1600, 0.7, {}, marks=full),
        pytest.param("s-gbdt", 1.0, 8000, 0.7, {"rounds": 8}, marks=full),
        pytest.param("s-gbdt-published", 3.0, 2000, 0.6, {"filter": False}, marks=full),
        pytest.param("s-gbdt-published", 1.0, 4000, 0.6, {"filter": False}, marks=full),
    ],
)
def test_attacks_show_most_of_what_is_proved_and_no_more(learner, epsilon, draws, share, params):
    """Of boosted trees most of what a perfect attack shows beside their delta, of S-GBDT also of what its mu loses there."""
    found = audit(learner, epsilon=epsilon, seed=1, draws=draws, **params)
    assert found.event.startswith(RATIO)
    assert found.strength >= share
    assert found.bound <= found.composed
    assert found.verdict == "holds"
    if learner.startswith("s-gbdt"):
        planned = typical(learner, epsilon=epsilon, max_depth=1, depth=1, **params)
        exact = gaussian_bound(planned.request.risk(planned.schema).guesses(), found.delta)
        assert share * exact <= found.bound or learner != "s-gbdt"
        assert 0 < found.perfect < exact <= found.composed
        assert found.delta == 5e-8
        assert found.unconditional == found.any_noise <= found.composed


def test_noise_that_does_not_keep_its_law_is_found_out_though_no_tail_of_it_is_seen(monkeypatch):
    """Half of the noise is drawn; the law, the ledger and the claim know nothing of it. Of Gaussian noise a third."""

    class HalfNoise(GeometricNoise):
        __slots__ = ()

        def sample(self, counts, rng):
            return GeometricNoise(2 * self.epsilon).sample(counts, rng)

    def fit(data, plan, params, source):
        noisy = HalfNoise(plan.epsilon).release(np.array([data.n_rows]), source=source, part="count")
        return FitOutput(get_learner("majority").fit(data, plan, params, source).model, noisy.event)

    learner = replace(get_learner("majority"), name="half-noise", fit=fit)
    assert audit(learner, epsilon=1.0, seed=1, draws=2000, pair=empty_and_one_row()).verdict == "ledger violated"
    sample = GaussianNoise.sample
    monkeypatch.setattr(GaussianNoise, "sample", lambda noise, values, rng: sample(GaussianNoise(noise.scale / 3), values, rng))
    found = audit("s-gbdt", epsilon=1.0, seed=1, draws=400, rounds=1, pair=default_audit_pairs("classes", 1.0)[1])
    assert found.verdict == "ledger violated", "more right guesses than a ledger allows"
    assert found.unconditional < found.composed


@slow
def test_what_is_broken_is_found_and_a_learner_that_may_stop_early_is_held_to_its_plan():
    found = audit("privatree", epsilon=1.0, seed=1, draws=400)
    assert (found.verdict, found.hits[0]) == ("violated", 0)
    assert found.event.startswith(RULE)
    assert audit("cart", epsilon=1.0, seed=1, draws=40).verdict == "none"
    found = audit(HALF_NOISE, epsilon=1.0, seed=1, draws=2000)
    assert (found.claimed, found.composed, found.verdict) == (1.0, 1.0, "ledger violated")
    assert 1.0 < found.bound < 2.0
    found = audit(HALF_NOISE, epsilon=0.1, seed=1, draws=2000)
    assert (found.rows, found.verdict) == (10, "ledger violated"), "by ten rows in as few draws"
    assert 0.1 < found.bound < 0.2
    found = audit("fs-tree", epsilon=3.0, seed=20260101, draws=4000)
    assert (found.composed, found.verdict) == (3.0, "holds")
    assert 1.5 < found.bound <= 3.0


@slow
@pytest.mark.parametrize("draws", [8, pytest.param(20, marks=full)])
@pytest.mark.parametrize("name", dpviz.learner_names())
def test_every_learner_can_be_audited(name, draws):
    pair = small_pair(get_learner(name).tasks[0])
    found = audit(name, epsilon=1.0, seed=3, draws=draws, pair=pair, **FEW.get(name, {}))
    assert found.n_done == found.n_asked == draws
    assert sum(found.hits) <= found.n_tested <= draws
    assert found.verdict in SEVERITY
    assert found.verdict != "ledger violated"
    assert dict(found.canary)[found.canary[0][0]]


# --- how it draws


def test_no_draw_is_guessed_that_chose_how_to_guess(monkeypatch):
    chosen, guessed, choose = [], [], attack._choose_task
    monkeypatch.setattr(attack, "_choose_task", lambda tasks, seeds, *rest: chosen.extend(seeds) or choose(tasks, seeds, *rest))
    show = attack._Canary.show
    monkeypatch.setattr(attack._Canary, "show", lambda task, seeds: guessed.extend(seeds) or show(task, seeds))
    assert audit("majority", epsilon=1.0, seed=2, draws=300).n_done == len(guessed) == 300
    assert chosen
    assert not set(chosen) & set(guessed)


def test_limits_are_chosen_on_the_first_half_of_what_was_done_when_it_was_stopped():
    included = np.array([False, True] * 50)
    scores = included.astype(float)
    spoiled = np.concatenate([scores[:50], 1 - scores[50:]])
    assert guess(included, scores, beta=0.05).n_right == guess(included, scores, beta=0.05).n_guesses == 50
    found = guess(included, spoiled, beta=0.05)
    assert (found.n_guesses, found.n_right, found.bound(beta=0.05), found.n_tried) == (50, 0, 0.0, 50)
    stop, told = threading.Event(), []

    def progress(share):
        told.append(share)
        if share >= 0.5:
            stop.set()

    found = audit("majority", epsilon=1.0, seed=1, draws=400, progress=progress, stop=stop.is_set)
    assert (found.n_asked, found.n_done) == (400, 200)
    assert told == [0.125, 0.25, 0.375, 0.5]
    nothing = audit("majority", epsilon=1.0, seed=1, draws=400, stop=lambda: True)
    assert (nothing.n_done, nothing.bound, nothing.verdict) == (0, 0.0, "holds")


@slow
def test_the_same_seed_finds_the_same_whoever_draws_and_workers_need_nothing_of_the_program_that_asks(monkeypatch, tmp_path):
    """A program may be a script that runs once, or no file at all; starting workers must not run it again."""
    once = tmp_path / "once.py"
    once.write_text("raise SystemExit('this program was run a second time')")
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(once), raising=False)
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None, raising=False)
    one, other, two = (audit("pf-tree", epsilon=1.0, seed=5, draws=60, workers=workers) for workers in (1, 1, 2))
    assert replace(one, seconds=0) == replace(other, seconds=0) == replace(two, seconds=0)
    assert audit("pf-tree", epsilon=1.0, seed=6, draws=60).hits != one.hits


@pytest.mark.parametrize("epsilon", [1.0, 0.1, 1e-4])
def test_a_group_of_canaries_is_one_for_which_more_right_guesses_than_the_ledger_allows_are_known(epsilon):
    request = FitRequest.of("s-gbdt", epsilon=epsilon, max_depth=1, depth=1)
    planned = typical("s-gbdt", epsilon=epsilon, max_depth=1, depth=1)
    for (first, second), rows in _groups(request):
        assert second.n_rows - first.n_rows == rows
        mu = 2 * norm.ppf(planned.request.risk(planned.schema).for_persons(rows).guesses()) / rows
        assert 0.9 * epsilon < gaussian_epsilon(planned.delta, mu) < 1.7 * epsilon, "as Gaussian noise, not as plain theorems"


def test_pairs_are_neighbours_and_wrong_questions_are_refused():
    first, second = small_pair()
    for pair in (*default_audit_pairs("classes", 0.1), *default_audit_pairs("number", 0.1), opposed_row(), opposed_row("number")):
        require_neighbours(*pair)
        assert pair[0].schema.n_public == 10_000, "the public rows of the typical plan"
    assert [pair[0].n_rows for pair in default_audit_pairs("classes", 0.1)] == [3, 0, 100]
    for error, words, learner, wrong in (
        (UnknownName, "no learner", "pf-treee", {}),
        (UnknownName, "no parameter", "pf-tree", {"colour": 1}),
        (ParameterError, "'draws' parameter of audit", "pf-tree", {"draws": 1}),
        (ParameterError, "'beta'", "pf-tree", {"beta": 0.0}),
        (ParameterError, "'workers' parameter of audit", "pf-tree", {"workers": 0}),
        (ParameterError, "'workers' parameter of audit", HALF_NOISE, {"workers": 2}),
        (UnsupportedError, "predicts", "majority", {"pair": small_pair("number")}),
        (UnsupportedError, "private test", "majority", {"test_share": 0.3}),
        (DpvizError, "Swap the two data sets", "pf-tree", {"pair": (second, first)}),
        (DpvizError, "not neighbours", "pf-tree", {"pair": (first, first)}),
    ):
        with pytest.raises(error, match=words):
            audit(learner, **{"seed": 1, "draws": 10} | wrong)


# --- likelihood ratios


def ratios_of(learner, pair, draws, epsilon=1.0, **params):
    request = FitRequest.of(learner, epsilon=epsilon, max_depth=1, depth=1, **params)
    known = LikelihoodRatios(BoundLearner(request, pair[0].schema), pair)
    return known, np.array([[known.draw(side, 1000 * side + seed) for side in (0, 1)] for seed in range(draws)])


@pytest.mark.parametrize(
    ("mechanism", "outcome", "exact"),
    [
        (GeometricNoise(0.7), np.array([5, -2]), 0.7),
        (GeometricNoise(0.7), np.array([3, 1]), -0.7),
        (LaplaceNoise(0.5), np.array([3.25, 0.0]), 0.5 * (0.25 - 0.75)),
        (GaussianNoise(2.0), np.array([6, 1]), (9 - 4) / 8),
        (PermuteAndFlip(1.0, COUNT), 1, -1.0),
    ],
)
def test_a_replay_adds_up_how_much_likelier_the_same_outcomes_are_on_the_other_table(mechanism, outcome, exact):
    class Given(Recording):
        def draw(self, mechanism, values):
            super().draw(mechanism, values)
            self.steps[-1] = replace(self.steps[-1], outcome=outcome)
            return outcome

    source = Given(1)
    for values in (ONE, ONE):
        source.draw(mechanism, values)
    replay = Replay(source.steps)
    assert replay.draw(mechanism, TWO) is outcome
    with pytest.raises(UnsupportedError, match="other steps"):
        replay.finish()
    replay.draw(mechanism, ONE)
    assert replay.finish().sum() == pytest.approx(exact)
    with pytest.raises(UnsupportedError, match="other steps"):
        replay.draw(mechanism, ONE)
    with pytest.raises(UnsupportedError, match="other steps"):
        Replay(source.steps).draw(RandomAssignment((0.5,)), 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "params", "pair", "draws"),
    [
        ("majority", {}, empty_and_one_row(), 300),
        ("dp-mean", {}, small_pair("number"), 200),
        ("pf-tree", {"leaves": "labels"}, small_pair(), 100),
        ("pf-tree", {}, empty_and_one_row(), 25),
        ("pf-tree", {}, default_audit_pairs("classes", 1.0)[2], 100),
        ("diffprivlib-tree", {}, empty_and_one_row(), 200),
    ],
)
def test_the_ratios_are_those_of_the_draws(learner, params, pair, draws):
    """exp(ratio) has the mean 1 where it is drawn without the canary, and exp(-ratio) where with it; none exceeds the ledger."""
    _, ratios = ratios_of(learner, pair, draws, **params)
    assert np.abs(ratios).max() <= 1 + 1e-9
    for drawn in (ratios[:, 0], -ratios[:, 1]):
        assert abs(np.exp(drawn).mean() - 1) < 4 * np.exp(drawn).std() / math.sqrt(len(drawn))
    assert ratios[:, 1].mean() > ratios[:, 0].mean()


@pytest.mark.parametrize(
    ("learner", "epsilon", "params"),
    [
        pytest.param("s-gbdt", 1.0, {"rounds": 8}, marks=slow),
        *(pytest.param("s-gbdt", at, {}, marks=full) for at in (0.1, 1.0, 3.0)),
        *(pytest.param("s-gbdt-published", at, {"filter": False}, marks=full) for at in (0.1, 1.0, 3.0)),
    ],
)
def test_one_row_more_tells_boosted_trees_apart_by_nearly_the_mu_that_is_proved(learner, epsilon, params):
    """The ratio of a draw says how probably a guess by it is right, and the ledger how often one may be."""
    pair = default_audit_pairs("classes", epsilon)[1]
    known, ratios = ratios_of(learner, pair, 40, epsilon=epsilon, **params)
    proved, shown = known.planned.request.risk(pair[0].schema).guesses(), (1 / (1 + np.exp(-np.abs(ratios)))).mean()
    assert 0.8 < norm.ppf(shown) / norm.ppf(proved) < 1.25


@slow
def test_canaries_among_others_unlike_them_in_the_target_alone_tell_of_their_mu_in_every_round():
    """With one noise the ratios with them and without are apart by the square of what they move, in its standard deviations."""
    request = FitRequest.of("s-gbdt", epsilon=0.1, max_depth=1, depth=1)
    ((first, second), rows) = next(_groups(request))
    assert (first.n_rows, second.n_rows, rows) == (100, 150, 50)
    known = LikelihoodRatios(BoundLearner(request, first.schema), (first, second))
    apart = [known.draw(1, seed) - known.draw(0, seed) for seed in range(12)]
    proved = known.planned.request.risk(first.schema).for_persons(rows).guesses()
    assert 0.94 < math.sqrt(np.mean(apart)) / (2 * norm.ppf(proved)) < 1.06
    [((alone, _), _)] = _groups(FitRequest.of("s-gbdt-published", epsilon=0.1))
    assert alone.n_rows == 0, "samples are averaged over only where there are no others"
    unknown = FitRequest.of(replace(get_learner("s-gbdt"), name="other"), epsilon=0.1)
    assert [alone.n_rows for (alone, _), _ in _groups(unknown)] == [0, 100], "which it does is not known"


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_beside_settled_labels_one_row_moves_a_choice_by_all_of_epsilon(epsilon):
    for params in ({}, {"leaves": "labels"}):
        _, ratios = ratios_of("pf-tree", default_audit_pairs("classes", epsilon)[2], 40, epsilon=epsilon, **params)
        assert 0.99 * epsilon < np.abs(ratios).max() <= epsilon * (1 + 1e-9)
        assert (np.abs(ratios) > 0.88 * epsilon).mean() > 0.1, "and not seldom"


def test_the_canary_may_be_in_every_part_without_laws_there_is_no_ratio_and_a_recording_is_no_release():
    source = Recording(1)
    source.draw(RandomAssignment((0.25, 0.125)), 3)
    parts = [(0.625, (0, 0, 0)), (0.25, (0, 0, 1)), (0.125, (0, 0, 2))]
    assert list(_assignments(source.steps, 3, 1)) == parts
    assert list(_assignments(source.steps, 2, 0)) == [(1.0, (0, 0))]
    assert list(_assignments(source.steps, 9, 8)) == [(1.0, (0, *(0,) * 5, 1, 1, 2))], "many are in each part as usual"

    class Unknown:
        title = "secret"

        def sample(self, values, rng):
            return 0.5

    source, mechanism = Recording(1), Unknown()
    source.draw(mechanism, ONE)
    assert Replay(source.steps).draw(mechanism, ONE.copy()) == 0.5, "what looks at no row needs no law"
    with pytest.raises(UnsupportedError, match="'secret' is on both tables is not known"):
        Replay(source.steps).draw(mechanism, TWO)
    first, _ = empty_and_one_row()
    source = Recording(3)
    found = FitRequest.of("majority", epsilon=1.0).fit(first, source)
    assert found.not_released_because == "A simulation, not a release."
    assert not found.released
    assert "values" not in repr(source.steps[0])
    assert found.model == FitRequest.of("majority", epsilon=1.0, seed=3).fit(first).model


def test_a_round_on_a_sample_is_averaged_over_whether_the_canary_takes_part():
    """By hand: Laplace's densities around 0 and 1, mixed at the rate of the sample, round by round."""

    def fit(data, plan, params, source):
        noise = LaplaceNoise(plan.epsilon)
        noise.release(np.array([float(data.n_rows)]), source=source, part="count")
        for _ in range(2):
            taken = PoissonSample(0.25).participants(data.n_rows, source=source).sum()
            noise.release(np.array([float(taken)]), source=source, part="count")

    (first, second), learner = empty_and_one_row(), replace(get_learner("majority"), name="sampled", fit=fit)
    known = LikelihoodRatios(BoundLearner(FitRequest.of(learner, epsilon=1.0), first.schema), (first, second))
    for place in (0, 1):
        source = Recording(7)
        known.planned.fit((first, second)[place], source)
        count, *rounds = (float(step.outcome[0]) for step in source.steps if isinstance(step.mechanism, LaplaceNoise))
        exact = sum(math.log(0.75 + 0.25 * math.exp(abs(noisy) - abs(noisy - 1))) for noisy in rounds)
        assert known.draw(place, 7) == pytest.approx(abs(count) - abs(count - 1) + exact)
    with pytest.raises(UnsupportedError, match="sampled in too many ways"):
        LikelihoodRatios(known.planned, small_pair()).draw(0, 7)
    together = LikelihoodRatios(known.planned, (first, second.take(np.zeros(8, dtype=int), share=1.0)))
    source = Recording(7)
    known.planned.fit(first, source)
    count, *rounds = (float(step.outcome[0]) for step in source.steps if isinstance(step.mechanism, LaplaceNoise))
    exact = abs(count) - abs(count - 8) + sum(abs(noisy) - abs(noisy - 2) for noisy in rounds)
    assert together.draw(0, 7) == pytest.approx(exact), "of eight canaries two take part"


def follows_noise(data, plan, params, source):
    """The second count is one row or none, as the first noisy one says."""
    noise = GeometricNoise(plan.epsilon / 2)
    first = noise.release(np.array([data.n_rows]), source=source, part="count")
    second = noise.release(np.array([data.n_rows * int(first.value[0] % 2)]), source=source, part="count")
    return FitOutput(get_learner("majority").fit(data, plan, params, source).model, Sequential((first.event, second.event)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "pair"),
    [
        ("pf-tree", empty_and_one_row()),
        pytest.param("pf-tree", default_audit_pairs("classes", 1.0)[2], marks=slow),
        (replace(get_learner("majority"), name="follows", fit=follows_noise), empty_and_one_row()),
    ],
    ids=["none and one", "settled", "questions that follow noise"],
)
def test_what_is_remembered_of_an_outcome_is_its_ratio(learner, pair):
    known, ratios = ratios_of(learner, pair, 40)
    for seed in range(10, 40):  # at first it is not known that questions follow noise
        alone = LikelihoodRatios(known.planned, pair)
        assert [alone.draw(side, 1000 * side + seed) for side in (0, 1)] == pytest.approx(ratios[seed])
