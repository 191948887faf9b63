import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.errors import DpvizError, NeedsClasses, ParameterError
from dpviz.evaluation.plan import (
    DEPTHS,
    EPSILONS,
    ROWS,
    Goal,
    check,
    consequences_steps,
    label_accuracy,
    outcomes,
    plan_steps,
    setup_at,
)
from dpviz.evaluation.simulate import plant
from dpviz.learners import FitRequest, fit
from dpviz.models.tree import Branch, Leaf, ThresholdRule, Tree
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

SCHEMA = Schema(
    (NumericFeature("a", 0, 8, whole=True), CategoricalFeature("c", ("x", "y", "z")), NumericFeature("b", 0, 8, whole=True)),
    ClassTarget("y", ("no", "yes")),
)
WORLD = plant(SCHEMA, n_rows=800, strength=0.8, depth=1, seed=4)
SETUP = FitRequest.of("pf-tree", epsilon=0.1, max_depth=2, depth=2)
WISH = Goal("accuracy", 0.85)


def plan(*asked, **how):
    *_, answer = plan_steps(*asked, **how)
    return answer


def consequences(*asked, **how):
    *_, found = consequences_steps(*asked, **how)
    return found


@pytest.mark.parametrize(
    ("along", "goal"),
    [
        pytest.param("epsilon", WISH, marks=pytest.mark.slow),
        pytest.param("n_rows", WISH, marks=pytest.mark.verify),
        pytest.param("epsilon", Goal("labels", 0.9), marks=pytest.mark.verify),
        pytest.param("max_depth", Goal("labels", 0.7, 0.8), marks=pytest.mark.verify),
    ],
)
def test_answers_hold_on_fresh_simulations(along, goal):
    grid = {"epsilon": EPSILONS[5:], "n_rows": ROWS[:7], "max_depth": DEPTHS[4:]}[along]
    answer = plan(WORLD, SETUP, along, goal, seed=1, grid=grid)
    assert answer.reached is not None
    fresh = check(WORLD, SETUP, along, answer.reached.place, goal, seed=2, draws=200)
    assert fresh.successes >= binom.ppf(0.001, 200, goal.reliability)
    if answer.missed is not None:
        short = check(WORLD, SETUP, along, answer.missed.place, goal, seed=2, draws=200)
        assert short.successes <= binom.ppf(0.999, 200, goal.reliability)


@pytest.mark.verify
def test_answers_of_many_searches_hold_as_often_as_promised():
    """Coverage: the truth at each epsilon comes from draws that no search saw."""
    grid, goal, trials, wrong = (0.01, 0.03, 0.1, 0.3), Goal("accuracy", 0.82, 0.8), 12, 0
    truth = {e: check(WORLD, SETUP, "epsilon", e, goal, seed=99, draws=300).share for e in grid}
    margin = 3 * math.sqrt(0.25 / 300)
    for seed in range(trials):
        answer = plan(WORLD, SETUP, "epsilon", goal, seed=seed, grid=grid)
        too_early = answer.reached is not None and truth[answer.reached.place] < 0.8 - margin
        too_late = answer.missed is not None and truth[answer.missed.place] > 0.8 + margin
        wrong += too_early or too_late
    assert wrong <= binom.ppf(0.999, trials, 0.05)


@pytest.mark.slow
def test_more_than_the_world_allows_is_not_reachable():
    answer = plan(WORLD, SETUP, "epsilon", Goal("accuracy", WORLD.chances[0][0] + 0.05), seed=1)
    assert answer.is_refuted
    assert answer.reached is None


@pytest.mark.usefixtures("workers_run_in")
def test_outcomes_repeat_and_do_not_depend_on_workers():
    first = outcomes(WORLD, [(SETUP, None)], "accuracy", range(12))
    assert np.array_equal(first, outcomes(WORLD, [(SETUP, None)], "accuracy", range(12), workers=2))
    assert np.array_equal(first[:, :5], outcomes(WORLD, [(SETUP, None)], "accuracy", range(5)))


def test_rows_that_are_asked_for_are_trained_on():
    assert setup_at(SETUP, "n_rows", 200) == (SETUP, 200)
    assert setup_at(SETUP, "max_depth", 3) == (FitRequest.of("pf-tree", epsilon=0.1, max_depth=3, depth=3), None)
    assert setup_at(SETUP, "epsilon", 0.5)[0].settings.epsilon == 0.5


def labelled(left: int, right: int) -> float:
    values = np.array([1, 1, 1, 5, 5, 5, 5], dtype=np.int16)
    schema = Schema((NumericFeature("a", 0, 8, whole=True),), SCHEMA.target, n_public=7)
    data = EncodedDataset(schema, (values,), np.array([0, 0, 1, 1, 1, 0, 0], dtype=np.uint8))
    result = fit("pf-tree", data, epsilon=1, depth=1, seed=0)
    object.__setattr__(result, "model", Tree(schema, Branch(ThresholdRule(0, 3.5), Leaf(left), Leaf(right))))
    return label_accuracy(result, data)


def test_a_label_is_right_when_it_is_a_most_frequent_class_there_and_a_vote_has_none():
    assert labelled(0, 0) == labelled(0, 1) == 1.0  # a tie is right either way
    assert labelled(1, 1) == 0.5
    train, _ = WORLD.draw(seed=1)
    result = fit("dpa", train, epsilon=1, seed=0)
    with pytest.raises(DpvizError, match="not a single tree"):
        label_accuracy(result, train)


def test_wishes_and_targets_that_make_no_sense_are_refused():
    with pytest.raises(ParameterError, match="'target'"):
        Goal("accuracy", 1.2)
    with pytest.raises(ParameterError, match="'reliability'"):
        Goal("accuracy", 0.8, 1.0)

    class Numbers:
        schema = Schema(SCHEMA.features, NumericTarget("y", 0, 1))

    with pytest.raises(NeedsClasses, match="A plan needs a target of classes"):
        plan(Numbers(), SETUP, "epsilon", WISH, seed=1)


def found_by(epsilon):
    """What any algorithm with this epsilon allows."""
    return replace(found_once().at(1.0), risk=Risk.of_any(PrivacyLoss(epsilon)))


@pytest.mark.slow
def test_guesses_right_are_those_of_the_two_attack_models():
    assert [round(100 * found_by(e).right_guesses()) for e in (0.1, 0.5, 1, 2)] == [52, 62, 73, 88]
    assert found_by(5).right_guesses(48_842) == pytest.approx(math.exp(5) / 48_842, rel=1e-3)
    assert found_by(1e-9).right_guesses(1_000) == pytest.approx(1 / 1_000)
    with pytest.raises(ParameterError, match="'candidates'"):
        found_by(1).right_guesses(1)


@pytest.mark.slow
def test_who_of_two_was_left_out_is_two_rows_apart():
    """An algorithm with epsilon 1 names who was left out, at random with both there: 1 - e^-1 / 2 of its answers are right."""
    right = 1 - math.exp(-1) / 2
    assert max(right / 0.5, 0.5 / (1 - right)) <= math.e * (1 + 1e-12)
    of_two = found_by(1.0).risk.attribute_guesses(1 / 2)
    assert of_two == pytest.approx(right, abs=1e-6)
    assert found_by(1.0).right_guesses(3) == pytest.approx(min(math.e / 3, 1 - math.exp(-1) * 2 / 3), abs=1e-6)


@pytest.mark.slow
def test_guesses_are_those_of_the_algorithm_and_of_all_rows_of_a_person():
    item = found_once().at(1.0)
    assert item.right_guesses() < found_by(1.0).right_guesses() - 0.01
    assert item.right_guesses() < item.right_guesses(rows=3) < found_by(3.0).right_guesses()
    assert item.right_guesses(1_000) < item.right_guesses(1_000, rows=3)
    refusing = tuple(replace(bound, reason="No proof.") for bound in item.certificate.bounds)
    refused = replace(item, certificate=replace(item.certificate, bounds=refusing))
    assert refused.right_guesses() == 1


@cache
def found_once():
    return consequences(WORLD, SETUP, seed=1, epsilons=(0.02, 0.1, 1.0), draws=100)


class TestConsequences:
    @property
    def found(self):
        return found_once()

    @pytest.mark.slow
    def test_each_epsilon_has_its_draws_and_its_share_of_the_failure_probability(self):
        assert [item.epsilon for item in self.found.found] == [0.02, 0.1, 1.0]
        assert all(len(item.accuracies) == 100 for item in self.found.found)
        assert self.found.found[0].accuracy(0.05) <= self.found.found[0].accuracy(0.5)
        assert sum(item.certificate.beta for item in self.found.found) == pytest.approx(self.found.beta)
        assert self.found.at(0.12).epsilon == 0.1

    @pytest.mark.slow
    def test_more_epsilon_withstands_fewer_rows_and_protecting_ones_are_those_whose_certificate_says_so(self):
        middle, high = (item.protected(self.found.majority) for item in self.found.found[1:])
        assert middle is not None
        assert high is not None
        assert middle > high
        rows = self.found.found[1].protected(self.found.majority)
        good = self.found.protecting(rows, self.found.majority)
        assert self.found.found[1] in good
        assert self.found.found[2] not in good
        assert self.found.protecting(10_000, self.found.majority) == ()

    def test_what_is_not_private_proves_nothing_and_a_stop_keeps_what_is_done(self):
        found = consequences(WORLD, FitRequest("cart", SETUP.settings), seed=1, epsilons=(0.1,), draws=5)
        assert found.reason
        assert not found.found[0].is_proved
        assert found.found[0].right_guesses() == 1
        assert found.found[0].protected(0.5) is None
        found = consequences(WORLD, SETUP, seed=1, epsilons=(0.1, 1.0), draws=20, stop=lambda: True)
        assert len(found.found) == 1
