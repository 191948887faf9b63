import math

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.errors import ParameterError
from dpviz.evaluation.plan import STAGES, Search, judge_point
from dpviz.randomness import generator

GRID = tuple(range(17))


def search(grid, draw, **how):
    *_, answer = Search(grid, draw, **how).answers()
    return answer


def draws(probability, seed):
    rng = generator(seed)

    def draw(places, count, before):
        """The same chances at every place, so that places depend on each other as much as they can."""
        chance = rng.random(count)
        return np.array([chance < probability(GRID[at]) for at in places]).astype(float)

    return draw


@pytest.mark.slow
def test_answers_hold_as_often_as_their_confidence_says():
    """On grids whose truth is known: what is called enough is, what is called not enough is not."""
    rng, wrong, trials = generator(5), 0, 400
    for trial in range(trials):
        centre, scale = rng.uniform(-3, 18), rng.uniform(0.3, 4)

        def probability(x, centre=centre, scale=scale):
            return 1 / (1 + math.exp((centre - x) / scale))

        answer = search(GRID, draws(probability, trial), target=1, confidence=0.8)
        too_early = answer.reached is not None and probability(answer.reached.place) < 0.9
        too_late = answer.missed is not None and probability(answer.missed.place) >= 0.9
        wrong += too_early or too_late
    assert wrong <= binom.ppf(0.999, trials, 0.2)


def test_a_careless_search_would_be_caught():
    """A test of the test: with limits that may be wrong every other time, answers are wrong far too often."""
    wrong, trials = 0, 200
    for trial in range(trials):
        outcomes = (generator(trial).random(60) < 0.88).astype(float)
        wrong += judge_point(0, outcomes, 1, 0.9, 0.5).verdict == "yes"
    assert wrong > binom.ppf(0.999, trials, 0.05)


def test_a_sharp_step_is_found_and_what_no_place_reaches_is_not_reachable():
    answer = search(GRID, draws(lambda x: float(x >= 6), 1), target=1)
    assert (answer.reached.place, answer.missed.place) == (6, 5)
    assert sum(point.n_draws > STAGES[0] for point in answer.points) == 1  # five is refuted at first sight
    answer = search(GRID, draws(lambda x: 0.3, 1), target=1)
    assert answer.reached is None
    assert answer.is_refuted
    assert {point.n_draws for point in answer.points} <= set(STAGES[:2])
    answer = search(GRID, draws(lambda x: 1.0, 1), target=1)
    assert answer.reached.place == 0
    assert answer.missed is None


def test_what_is_on_the_edge_is_left_open_and_no_place_is_tried_in_vain():
    """A curve that runs flat just below what is wanted: the last place is settled, and bisection follows, not every place."""
    answer = search(GRID, draws(lambda x: 0.9, 3), target=1)
    assert answer.reached is None or answer.reached.low >= 0.9
    assert not answer.is_refuted
    assert answer.points[-1].verdict == "open"
    answer = search(GRID, draws(lambda x: 0.88 if x > 4 else 0.1, 1), target=1)
    assert answer.reached is None
    assert sum(point.n_draws > STAGES[0] for point in answer.points) <= 8


def test_a_stop_gives_what_was_found_and_every_stage_shows_what_it_knows():
    answer = search(GRID, draws(lambda x: float(x > 5), 1), target=1, stop=lambda: True)
    assert not answer.is_complete
    assert answer.points == ()
    assert answer.reached is answer.missed is None
    asked = []
    answer = search(GRID, draws(lambda x: 0.9, 1), target=1, stop=lambda: len(asked) > 1 or asked.append(1))
    assert not answer.is_complete
    assert len(answer.points) == len(GRID)
    *first, last = Search(GRID, draws(lambda x: float(x >= 6), 1), target=1).answers()
    assert last.is_complete
    assert not any(answer.is_complete for answer in first)
    assert [len(answer.points) for answer in first] == [len(GRID)] * len(first)


def test_every_place_is_looked_at_first_and_two_go_on_where_they_were():
    seen = []

    def draw(places, count, before):
        seen.append((tuple(places), before, before + count))
        return np.array([np.arange(before, before + count) % 10 > (0 if at else 2) for at in places]).astype(float)

    search((1.0, 2.0, 3.0), draw, target=1)
    assert seen[0] == ((0, 1, 2), 0, 10)
    assert [stage for places, *stage in seen if 1 in places] == [[0, 10], [10, 30], [30, 80], [80, 200], [200, 500]]
    assert seen[1][0] == (0, 1)


@pytest.mark.parametrize("wrong", [{"grid": ()}, {"reliability": 1.0}, {"confidence": 0.0}])
def test_wrong_questions_are_refused(wrong):
    with pytest.raises(ParameterError):
        search(**{"grid": (1.0,), "draw": draws(lambda x: 1.0, 1), "target": 1} | wrong)
