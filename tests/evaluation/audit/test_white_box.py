"""White-box attacks: their scores are the exact log ratios, they stop when they have shown enough, and they leak into nothing."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpviz.accounting.events import Sequential
from dpviz.errors import DpvizError, NotEnumerable, ParameterError
from dpviz.evaluation.audit import by_attack
from dpviz.evaluation.audit.by_attack import audit
from dpviz.evaluation.audit.candidate_pairs import lone_pair, require_neighbours, small_pair, telling_pairs
from dpviz.evaluation.audit.planned import typical
from dpviz.evaluation.audit.wagers import right_shown
from dpviz.evaluation.audit.white_box import CHUNK, Ceiling, Recording, Replay, Tally, Wanted, Way, WhiteBoxTask, _assignments
from dpviz.learners import FitRequest, get_learner
from dpviz.privacy.gaussian import GaussianNoise
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.laplace import LaplaceNoise
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.training.contract import FitOutput

ONE, TWO = np.array([3, 0]), np.array([4, 0])


def task_of(learner, pair, **params):
    return WhiteBoxTask(FitRequest.of(learner, epsilon=1.0, max_depth=1, depth=1, **params), pair)


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
    replay = Replay(source.steps, ())
    assert replay.draw(mechanism, TWO) is outcome
    with pytest.raises(NotEnumerable, match="other steps"):
        replay.finish()
    replay.draw(mechanism, ONE)
    assert replay.finish() == pytest.approx(exact)
    with pytest.raises(NotEnumerable, match="other steps"):
        replay.draw(mechanism, ONE)
    with pytest.raises(NotEnumerable, match="other steps"):
        Replay(source.steps, ()).draw(RandomAssignment((0.5,)), 3)


def test_without_laws_there_is_no_ratio():
    class Unknown:
        title = "secret"

        def sample(self, values, rng):
            return 0.5

    source, mechanism = Recording(1), Unknown()
    source.draw(mechanism, ONE)
    assert Replay(source.steps, ()).draw(mechanism, ONE.copy()) == 0.5, "what looks at no row needs no law"
    with pytest.raises(NotEnumerable, match="'secret' is on both tables is not known"):
        Replay(source.steps, ()).draw(mechanism, TWO)


@pytest.mark.parametrize(
    ("learner", "params", "pair", "draws"),
    [
        ("majority", {}, lone_pair(), 300),
        ("dp-mean", {}, small_pair("number"), 200),
        ("pf-tree", {"leaves": "labels"}, small_pair(), 100),
        ("pf-tree", {}, lone_pair(), 25),
        ("pf-tree", {}, telling_pairs("classes", 1.0)[2], 100),
        ("diffprivlib-tree", {}, lone_pair(), 200),
    ],
)
def test_the_ratios_are_those_of_the_draws(learner, params, pair, draws):
    """exp(ratio) has the mean 1 where it is drawn without the canary, and exp(-ratio) where with it; none exceeds the ledger."""
    ratios = task_of(learner, pair, **params).show([(seed, 1000 + seed) for seed in range(draws)])
    assert np.abs(ratios).max() <= 1 + 1e-9
    for drawn in (ratios[:, 0], -ratios[:, 1]):
        assert abs(np.exp(drawn).mean() - 1) < 4 * np.exp(drawn).std() / math.sqrt(len(drawn))
    assert ratios[:, 1].mean() > ratios[:, 0].mean()


def test_the_canary_may_be_in_every_part_as_often_as_rows_are_and_others_grow():
    source = Recording(1)
    source.draw(RandomAssignment((0.25, 0.125)), 3)
    parts = [(0.625, (0, 0, 0)), (0.25, (0, 0, 1)), (0.125, (0, 0, 2))]
    assert list(_assignments(source.steps, 3, has_canary=True)) == parts
    assert list(_assignments(source.steps, 2, has_canary=False)) == [(1.0, (0, 0))]


def test_what_was_recorded_is_a_simulation_and_nothing_that_may_be_released():
    first, _ = lone_pair()
    source = Recording(3)
    found = FitRequest.of("majority", epsilon=1.0).fit(first, source)
    assert found.not_released_because == "A simulation, not a release."
    assert not found.released
    assert "values" not in repr(source.steps[0])
    assert found.model == FitRequest.of("majority", epsilon=1.0, seed=3).fit(first).model


@pytest.mark.slow
def test_an_attack_stops_when_it_has_shown_enough_and_not_before():
    found = audit("majority", epsilon=1.0, seed=2, until=0.6, draws=5000)
    assert 0.6 <= found.strength < 0.8
    assert found.strength == found.bound / found.composed
    assert found.n_done < found.n_asked == 5000
    assert found.n_tested == sum(found.hits) <= 2 * found.n_done
    assert (found.verdict, found.canaries) == ("holds", 1)
    assert found.ceiling == Wanted(1.0, 0.0, 0.7, 0.6).ceiling(5000, beta=0.05)
    assert found.strength < found.ceiling.share < 1
    assert 50 < found.right_guesses == found.guesses < 100 * math.e / (1 + math.e)
    assert audit("majority", epsilon=1.0, seed=2, until=0.6, draws=200).n_done == 200


def test_a_mechanism_that_does_not_keep_its_law_is_found_out():
    """Half of the noise is drawn; the law, the ledger and the claim know nothing of it."""

    class HalfNoise(GeometricNoise):
        __slots__ = ()

        def sample(self, counts, rng):
            return GeometricNoise(2 * self.epsilon).sample(counts, rng)

    def fit(data, plan, params, source):
        noisy = HalfNoise(plan.epsilon).release(np.array([data.n_rows]), source=source, part="count")
        return FitOutput(get_learner("majority").fit(data, plan, params, source).model, noisy.event)

    learner = replace(get_learner("majority"), name="half-noise", fit=fit)
    assert audit(learner, epsilon=1.0, seed=1, until=0.9, draws=2000, pair=lone_pair()).verdict == "ledger violated"


def test_under_delta_the_strength_is_that_of_right_guesses():
    wanted = Wanted(1.0, 1e-6, 0.6, 0.8)
    assert 1 / (1 + math.exp(-wanted.tested)) == pytest.approx(0.58)
    assert wanted.shown(0.1, 0.59) == pytest.approx(0.9)
    assert Wanted(2.0, 0.0, 0.6, 0.8).tested == pytest.approx(1.6)
    tally = Tally(Way(0.5, 0.1, 0.0))
    tally.add(np.array([[-1.0, 1.0], [0.25, -0.75], [-0.25, 0.0]]))
    assert (tally.pairs, tally.right, tally.wrong, tally.forced_right) == (3, 2, 1, 4)


def test_pairs_that_tell_are_neighbours_and_have_the_public_rows_of_the_typical_plan():
    for task in ("classes", "number"):
        for first, second in telling_pairs(task, 0.1):
            require_neighbours(first, second)
            assert first.schema.n_public == 10_000
    assert [first.n_rows for first, _ in telling_pairs("classes", 0.1)] == [3, 0, 100]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_beside_settled_labels_one_row_moves_a_choice_by_all_of_epsilon(epsilon):
    settled = telling_pairs("classes", epsilon)[2]
    for params in ({}, {"leaves": "labels"}):
        task = WhiteBoxTask(FitRequest.of("pf-tree", epsilon=epsilon, max_depth=1, depth=1, **params), settled)
        ratios = task.show([(seed, 1000 + seed) for seed in range(40)])
        assert 0.99 * epsilon < np.abs(ratios).max() <= epsilon * (1 + 1e-9)
        assert (np.abs(ratios) > 0.88 * epsilon).mean() > 0.1, "and not seldom"


@pytest.mark.parametrize("pair", [lone_pair(), telling_pairs("classes", 1.0)[2]])
@pytest.mark.slow
def test_what_is_remembered_of_an_outcome_is_its_ratio(pair):
    seeds = [(seed, 1000 + seed) for seed in range(30)]
    task = task_of("pf-tree", pair)
    each = [task_of("pf-tree", pair).show([one])[0] for one in seeds]
    assert task.show(seeds) == pytest.approx(np.array(each))
    assert len(task._known) < 40, "what lies beyond every row tells no more"


def test_questions_that_follow_noise_are_soon_not_remembered_without_it():
    """The second count is one row or none, as the first noisy one says."""

    def fit(data, plan, params, source):
        noise = GeometricNoise(plan.epsilon / 2)
        first = noise.release(np.array([data.n_rows]), source=source, part="count")
        second = noise.release(np.array([data.n_rows * int(first.value[0] % 2)]), source=source, part="count")
        return FitOutput(get_learner("majority").fit(data, plan, params, source).model, Sequential((first.event, second.event)))

    learner = replace(get_learner("majority"), name="follows", fit=fit)
    seeds = [(seed, 1000 + seed) for seed in range(40)]
    each = [task_of(learner, lone_pair()).show([one])[0] for one in seeds]
    assert task_of(learner, lone_pair()).show(seeds)[10:] == pytest.approx(np.array(each)[10:])


def test_no_draw_is_guessed_that_chose_how_to_guess(monkeypatch):
    chosen, guessed = [], []
    choose, guess = by_attack.choose_pair, by_attack.guess_until
    monkeypatch.setattr(by_attack, "choose_pair", lambda tasks, seeds, *rest: chosen.extend(seeds) or choose(tasks, seeds, *rest))
    monkeypatch.setattr(by_attack, "guess_until", lambda *given, **how: guessed.extend(given[3]) or guess(*given, **how))
    assert audit("majority", epsilon=1.0, seed=2, until=0.5, draws=300).n_done <= 300
    assert len(chosen) == CHUNK
    assert len(guessed) == 300
    assert not set(chosen) & set(guessed)


@pytest.mark.parametrize(("epsilon", "pairs"), [(0.1, 902_535), (1.0, 11_246), (3.0, 1418)])
def test_four_fifths_of_what_is_proved_of_boosted_trees_take_so_many_pairs(epsilon, pairs):
    wanted = Wanted.of(typical("s-gbdt", epsilon=epsilon), 0.8)
    fewer, enough, allowed = (wanted.ceiling(n, beta=0.05) for n in (pairs - 1, pairs + 1, 3200))
    assert fewer.share < 0.8 < enough.share < 0.8001
    assert round(allowed.share, 2) == {0.1: 0, 1.0: 0.62, 3.0: 0.87}[epsilon]


def test_ceilings_are_those_of_randomised_response_and_take_so_many_pairs():
    wanted = Wanted(1.0, 0.0, 0.6, 0.8)
    exact = right_shown(1 / (1 + math.exp(-1.0)), 400, beta=0.05)
    assert wanted.ceiling(400, beta=0.05) == Ceiling(pytest.approx(math.log(exact / (1 - exact))), 400)
    assert str(Ceiling(0.6249, 3200)) == "With 3,200 pairs of fits even a perfect attack would show about 62%"
    assert str(Ceiling(0.004, 40)) == "With 40 pairs of fits even a perfect attack would show nothing"


def test_what_cannot_be_attacked_so_is_said_before_any_draw(monkeypatch):
    monkeypatch.setattr(WhiteBoxTask, "show", lambda *given: pytest.fail("drawn"))
    with pytest.raises(NotEnumerable, match="With 3,200 pairs of fits even a perfect attack would show about 62% of what"):
        audit("s-gbdt", seed=1, until=0.8, draws=3200)
    with pytest.raises(NotEnumerable, match="With 100 pairs of fits even a perfect attack would show about 62% of what"):
        audit("majority", seed=1, until=1.0, draws=100)


@pytest.mark.slow
def test_what_cannot_be_attacked_so_is_said():
    with pytest.raises(NotEnumerable, match="No pair is known on which what is released tells 80% of what is proved"):
        audit("fs-tree", seed=1, until=0.8, draws=400)
    with pytest.raises(NotEnumerable, match=r"To show 80% of what is proved would take about \d,\d\d\d draws on each table"):
        audit("pf-tree", seed=1, until=0.8, draws=400, pair=telling_pairs("classes", 1.0)[2])
    with pytest.raises(NotEnumerable, match="objective perturbation"):
        audit("logistic", seed=1, until=0.8, draws=400)
    with pytest.raises(ParameterError, match="'canaries' parameter of audit must be 1 where `until` is given"):
        audit("majority", seed=1, until=0.8, canaries=8)
    with pytest.raises(ParameterError, match="'until'"):
        audit("majority", seed=1, until=-1.0)
    first, second = lone_pair()
    with pytest.raises(DpvizError, match="Swap the two data sets"):
        audit("majority", seed=1, until=0.8, pair=(second, first))
