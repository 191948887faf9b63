import math

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.errors import ParameterError
from dpviz.evaluation.plan.search import judged, most_rungs, search
from dpviz.randomness import generator

LADDER = tuple(range(17))


def draws(probability, seed):
    rng = generator(seed)
    return lambda at, count, before: (rng.random(count) < probability(LADDER[at])).astype(float)


def test_answers_hold_as_often_as_their_confidence_says():
    """On ladders whose truth is known: what is called enough is, what is called not enough is not."""
    rng, wrong, trials = generator(5), 0, 400
    for trial in range(trials):
        centre, scale = rng.uniform(-3, 18), rng.uniform(0.3, 4)

        def probability(x, centre=centre, scale=scale):
            return 1 / (1 + math.exp((centre - x) / scale))

        answer = search(LADDER, draws(probability, trial), target=1, confidence=0.8)
        too_early = answer.reached is not None and probability(answer.reached.place) < 0.9
        too_late = answer.missed is not None and probability(answer.missed.place) >= 0.9
        wrong += too_early or too_late
    assert wrong <= binom.ppf(0.999, trials, 0.2)


def test_a_careless_search_would_be_caught():
    """A test of the test: with limits that may be wrong every other time, answers are wrong far too often."""
    wrong, trials = 0, 200
    for trial in range(trials):
        outcomes = (generator(trial).random(60) < 0.88).astype(float)
        wrong += judged(0, outcomes, 1, 0.9, 0.5).verdict == "yes"
    assert wrong > binom.ppf(0.999, trials, 0.05)


def test_a_sharp_step_is_found_between_its_neighbours():
    answer = search(LADDER, draws(lambda x: float(x >= 6), 1), target=1)
    assert (answer.reached.place, answer.missed.place) == (6, 5)
    assert len(answer.rungs) <= most_rungs(17)


def test_what_no_place_reaches_is_not_reachable():
    answer = search(LADDER, draws(lambda x: 0.3, 1), target=1)
    assert answer.reached is None
    assert answer.is_refuted
    assert [rung.place for rung in answer.rungs] == [16]


def test_what_is_on_the_edge_is_left_open_not_claimed():
    answer = search(LADDER, draws(lambda x: 0.9, 3), target=1)
    assert answer.reached is None or answer.reached.low >= 0.9
    assert not answer.is_refuted
    assert answer.last.verdict == "open"


def test_when_everything_is_enough_the_first_place_is_the_answer():
    answer = search(LADDER, draws(lambda x: 1.0, 1), target=1)
    assert answer.reached.place == 0
    assert answer.missed is None


def test_a_stop_gives_what_was_found():
    answer = search(LADDER, draws(lambda x: float(x > 5), 1), target=1, stop=lambda: True)
    assert not answer.is_complete
    assert answer.rungs == ()
    assert answer.reached is answer.missed is answer.last is None
    asked = []
    answer = search(LADDER, draws(lambda x: float(x > 5), 1), target=1, stop=lambda: len(asked) > 3 or asked.append(1))
    assert not answer.is_complete
    assert answer.rungs


def test_every_rung_has_draws_of_its_own_and_looks_go_on_where_they_were():
    seen = []

    def draw(at, count, before):
        seen.append((at, before, count))
        return np.full(count, 0.5)

    search((1.0,), lambda at, count, before: draw(at, count, before) * 0 + (np.arange(before, before + count) % 10 > 0), target=1)
    assert [(before, before + count) for _, before, count in seen] == [(0, 30), (30, 80), (80, 200), (200, 500)]


@pytest.mark.parametrize("wrong", [{"ladder": ()}, {"reliability": 1.0}, {"confidence": 0.0}])
def test_wrong_questions_are_refused(wrong):
    with pytest.raises(ParameterError):
        search(**{"ladder": (1.0,), "draw": draws(lambda x: 1.0, 1), "target": 1} | wrong)
