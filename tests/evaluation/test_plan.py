"""A plan's answers hold as often as they say, and what an epsilon brings is what certificates and attack models say."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.risk import Risk
from dpviz.errors import DpvizError, ParameterError, SchemaError
from dpviz.evaluation.attacks import ATTACKS, attack_curve
from dpviz.evaluation.plan import (
    DEPTHS,
    EPSILONS,
    ROWS,
    STAGES,
    Goal,
    Search,
    consequences_steps,
    judge_point,
    label_accuracy,
    outcomes,
    plan_steps,
    setup_at,
)
from dpviz.evaluation.poisoning import poisoning_curve
from dpviz.evaluation.simulate import ResampledRows, plant
from dpviz.learners import FitRequest, fit
from dpviz.models.tree import Branch, Leaf, ThresholdRule, Tree
from dpviz.randomness import generator, seed_from
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.numbers import rows, schema_of_numbers

GRID = tuple(range(17))
SCHEMA = Schema(
    (NumericFeature("a", 0, 8, whole=True), CategoricalFeature("c", ("x", "y", "z")), NumericFeature("b", 0, 8, whole=True)),
    ClassTarget("y", ("no", "yes")),
)
WORLD = plant(SCHEMA, n_rows=800, strength=0.8, depth=1, seed=4)
SETUP = FitRequest.of("pf-tree", epsilon=0.1, max_depth=2, depth=2)


def check(world, request, along, place, goal, *, seed, draws):
    """How often fresh trees reach a goal at one place."""
    seeds = [seed_from(seed, 1_000_003, number) for number in range(draws)]
    [found] = outcomes(world, [setup_at(request, along, place)], goal.measure, seeds)
    return judge_point(place, found, goal.target, goal.reliability, 0.025)


WISH = Goal("accuracy", 0.85)
slow, full = pytest.mark.slow, pytest.mark.verify


def last(steps):
    *_, found = steps
    return found


# --- the search


def search(grid, draw, **how):
    return last(Search(grid, draw, **how).answers())


def draws(probability, seed):
    rng = generator(seed)

    def draw(places, count, before):
        """The same chances at every place, so that places depend on each other as much as they can."""
        chance = rng.random(count)
        return np.array([chance < probability(GRID[at]) for at in places]).astype(float)

    return draw


@slow
def test_answers_hold_as_often_as_their_confidence_says():
    """On grids whose truth is known: what is called enough is, what is called not enough is not."""
    rng, wrong, trials = generator(5), 0, 400
    for trial in range(trials):
        centre, scale = rng.uniform(-3, 18), rng.uniform(0.3, 4)

        def probability(x, centre=centre, scale=scale):
            return 1 / (1 + math.exp((centre - x) / scale))

        answer = search(GRID, draws(probability, trial), target=1, confidence=0.8)
        too_early = answer.first_success is not None and probability(answer.first_success.place) < 0.9
        wrong += too_early or (answer.last_failure is not None and probability(answer.last_failure.place) >= 0.9)
    assert wrong <= binom.ppf(0.999, trials, 0.2)


def test_all_limits_of_a_search_together_are_wrong_no_more_often_than_it_says():
    found = Search((1.0, 2.0, 3.0), draws(lambda _: 1.0, 0), target=1, confidence=0.9, stages=(10, 20, 40, 80))
    n_limits = 3 * 4 * 2  # at every place, after every stage, below and above
    assert n_limits * found.failure == pytest.approx(1 - 0.9)


def test_a_careless_search_would_be_caught():
    """A test of the test: with limits that may be wrong every other time, answers are wrong far too often."""
    found = [judge_point(0, (generator(trial).random(60) < 0.88).astype(float), 1, 0.9, 0.5).verdict for trial in range(200)]
    assert found.count("yes") > binom.ppf(0.999, 200, 0.05)


@pytest.mark.parametrize(
    ("probability", "reached", "missed", "most_tried"),
    [
        (lambda x: float(x >= 6), 6, 5, 1),  # five is refuted at first sight
        (lambda x: 1.0, 0, None, 2),
        (lambda x: 0.3, None, 16, 17),
        (lambda x: 0.88 if x > 4 else 0.1, None, ..., 8),  # flat just below what is wanted: bisection, not every place
        (lambda x: 0.9, None, ..., 17),
    ],
    ids=["a step", "everywhere", "nowhere", "nearly", "the edge"],
)
def test_the_first_place_that_succeeds_is_found_and_none_is_tried_in_vain(probability, reached, missed, most_tried):
    answer = search(GRID, draws(probability, 1), target=1)
    assert (answer.first_success and answer.first_success.place) == reached
    if missed is not ...:
        assert (answer.last_failure and answer.last_failure.place) == missed
    assert answer.is_refuted == (missed == GRID[-1])
    assert sum(point.n_draws > STAGES[0] for point in answer.points) <= most_tried


def test_every_place_is_looked_at_first_two_go_on_stage_by_stage_and_a_stop_gives_what_was_found():
    seen = []

    def draw(places, count, before):
        seen.append((tuple(places), before, before + count))
        return np.array([np.arange(before, before + count) % 10 > (0 if at else 2) for at in places]).astype(float)

    *first, answer = Search((1.0, 2.0, 3.0), draw, target=1).answers()
    assert (seen[0], seen[1][0]) == (((0, 1, 2), 0, 10), (0, 1))
    assert [stage for places, *stage in seen if 1 in places] == [[0, 10], [10, 30], [30, 80], [80, 200], [200, 500]]
    assert answer.is_complete
    assert {(step.is_complete, len(step.points)) for step in first} == {(False, 3)}
    for before, n_points in ((0, 0), (2, len(GRID))):
        asked = []
        stop = lambda before=before, asked=asked: len(asked) >= before or asked.append(1)  # noqa: E731
        answer = search(GRID, draws(lambda x: 0.9, 1), target=1, stop=stop)
        assert (answer.is_complete, len(answer.points)) == (False, n_points)
    for wrong in ({"grid": ()}, {"reliability": 1.0}, {"confidence": 0.0}):
        with pytest.raises(ParameterError):
            search(**{"grid": (1.0,), "draw": draws(lambda x: 1.0, 1), "target": 1} | wrong)


# --- the planner


@pytest.mark.parametrize(
    ("along", "goal"),
    [
        pytest.param("epsilon", WISH, marks=slow),
        pytest.param("n_rows", WISH, marks=full),
        pytest.param("epsilon", Goal("labels", 0.7), marks=full),
        pytest.param("max_depth", Goal("labels", 0.7, 0.8), marks=full),
    ],
)
def test_answers_hold_on_fresh_simulations(along, goal):
    grid = {"epsilon": EPSILONS[5:], "n_rows": ROWS[:7], "max_depth": DEPTHS[4:]}[along]
    answer = last(plan_steps(WORLD, SETUP, along, goal, seed=1, grid=grid))
    assert answer.first_success is not None
    fresh = check(WORLD, SETUP, along, answer.first_success.place, goal, seed=2, draws=200)
    assert fresh.successes >= binom.ppf(0.001, 200, goal.reliability)
    if answer.last_failure is not None:
        short = check(WORLD, SETUP, along, answer.last_failure.place, goal, seed=2, draws=200)
        assert short.successes <= binom.ppf(0.999, 200, goal.reliability)


@pytest.mark.usefixtures("workers_run_in")
def test_outcomes_repeat_do_not_depend_on_workers_and_are_of_what_is_asked_for():
    first = outcomes(WORLD, [(SETUP, None)], "accuracy", range(12))
    assert np.array_equal(first, outcomes(WORLD, [(SETUP, None)], "accuracy", range(12), workers=2))
    assert np.array_equal(first[:, :5], outcomes(WORLD, [(SETUP, None)], "accuracy", range(5)))
    assert setup_at(SETUP, "n_rows", 200) == (SETUP, 200)
    assert setup_at(SETUP, "max_depth", 3) == (FitRequest.of("pf-tree", epsilon=0.1, max_depth=3, depth=3), None)
    assert setup_at(SETUP, "epsilon", 0.5)[0].settings.epsilon == 0.5


def test_a_label_is_right_when_it_is_a_most_frequent_class_there_and_a_vote_has_none():
    values = np.array([1, 1, 1, 5, 5, 5, 5], dtype=np.int16)
    schema = Schema((NumericFeature("a", 0, 8, whole=True),), SCHEMA.target, n_public=7)
    data = EncodedDataset(schema, (values,), np.array([0, 0, 1, 1, 1, 0, 0], dtype=np.uint8))
    result = fit("pf-tree", data, epsilon=1, depth=1, seed=0)
    for labels, share in (((0, 0), 1.0), ((0, 1), 1.0), ((1, 1), 0.5)):  # a tie is right either way
        tree = Tree(schema, Branch(ThresholdRule(0, 3.5), *map(Leaf, labels)))
        assert label_accuracy(replace(result, model=tree), data) == share
    train, _ = WORLD.draw(seed=1)
    with pytest.raises(DpvizError, match="not a single tree"):
        label_accuracy(fit("dpa", train, epsilon=1, seed=0), train)


@pytest.mark.parametrize("name", ["cart-regression", "pf-tree"])
def test_questions_that_count_right_and_wrong_refuse_a_number_and_goals_are_shares(name):
    data, setup = rows(schema_of_numbers(), 60), FitRequest.of(name, epsilon=1.0, max_depth=2)
    asked = {
        "A poisoning guarantee": lambda: poisoning_curve(name, data, data, epsilon=1.0, draws=20),
        "A plan": lambda: last(plan_steps(ResampledRows(data), setup, "epsilon", WISH, seed=1)),
        "A simulated world": lambda: plant(data.schema, n_rows=100, strength=0.5, seed=1),
        "An attack": lambda: [attack_curve(kind, setup, data, data, poisoned_rows=[0, 3]) for kind in ATTACKS],
    }
    for what, ask in asked.items():
        with pytest.raises(SchemaError, match=f"{what} needs a target of classes, but 'rent' is a number") as problem:
            ask()
        assert problem.value.field == "rent"
    with pytest.raises(SchemaError):
        last(consequences_steps(ResampledRows(data), setup, seed=1, epsilons=(1.0,), draws=20))
    for wrong in ((1.2,), (0.8, 1.0)):
        with pytest.raises(ParameterError):
            Goal("accuracy", *wrong)


# --- consequences


@cache
def found_once():
    return last(consequences_steps(WORLD, SETUP, seed=1, epsilons=(0.02, 0.1, 1.0), draws=100))


def found_by(epsilon):
    """What any algorithm with this epsilon allows."""
    return replace(found_once().at(1.0), risk=Risk.of_any(PrivacyLoss(epsilon)))


@slow
def test_each_epsilon_allows_its_guesses_and_protects_the_fewer_rows_the_larger_it_is():
    assert [round(100 * found_by(e).right_guesses) for e in (0.1, 0.5, 1, 2)] == [52, 62, 73, 88]
    item = found_once().at(1.0)
    assert item.right_guesses < found_by(1.0).right_guesses - 0.01
    assert item.right_guesses < replace(item, risk=item.risk.for_rows(3)).right_guesses < found_by(3.0).right_guesses
    refusing = tuple(replace(bound, reason="No proof.") for bound in item.certificate.bounds)
    assert replace(item, certificate=replace(item.certificate, bounds=refusing)).right_guesses == 1
    found = found_once()
    assert [(item.epsilon, item.certificate.n_done) for item in found.items] == [(0.02, 100), (0.1, 100), (1.0, 100)]
    assert found.items[0].accuracy(0.05) <= found.items[0].accuracy(0.5)
    assert sum(item.certificate.beta for item in found.items) == pytest.approx(0.05)
    assert found.at(0.12).epsilon == 0.1
    middle, high = (item.certificate.protected_rows() for item in found.items[1:])
    assert middle > high


@pytest.mark.slow
def test_what_is_not_private_proves_nothing_and_a_stop_keeps_what_is_done():
    found = last(consequences_steps(WORLD, FitRequest("cart", SETUP.settings), seed=1, epsilons=(0.1,), draws=5))
    [item] = found.items
    assert item.certificate.reason
    assert not item.is_proved
    assert item.right_guesses == 1
    assert item.certificate.protected_rows() is None
    found = last(consequences_steps(WORLD, SETUP, seed=1, epsilons=(0.1, 1.0), draws=20, stop=lambda: True))
    assert len(found.items) == 1
