"""What all rows of one person cost: against accountants written here from the distributions of what is released.

Each compares the laws of the outputs with k rows and without them on a grid of losses, and nothing of the package. "At most": the
largest delta at the guarantee's epsilon, or the largest loss of pure steps. "Tight": a smaller epsilon is not kept.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from dpviz.accounting.events import (
    ApproximateDP,
    BoundedRange,
    Event,
    GaussianRounds,
    Parallel,
    PureDP,
    RandomPartition,
    Sequential,
    Step,
)
from dpviz.accounting.gaussian import price_rounds
from dpviz.accounting.guarantee import PrivacyLoss, for_unit, guarantee, round_down
from dpviz.errors import DpvizError
from dpviz.learners import FitRequest
from dpviz.table.schema import NumericFeature, NumericTarget, Schema

ROWS = [2, 5]
DELTA = 1e-6


def step(cost) -> Step:
    return Step(cost, "node")


def delta_of(masses: np.ndarray, losses: np.ndarray, epsilon: float) -> float:
    """E[(1 - e^(epsilon - loss))+] of a law of losses."""
    return float(np.sum(masses * np.maximum(0.0, -np.expm1(epsilon - losses))))


def gaussian_losses(noise: float, rows: int, sampling: float, rounds: int, added: bool) -> tuple[np.ndarray, np.ndarray]:
    """The law of the loss of all rounds: (masses, losses), each rounded to a grid of 1e-4 and composed by transforms."""
    from scipy.stats import binom

    places = np.linspace(-12 * noise, rows + 12 * noise, 200_001)
    weights = binom.pmf(np.arange(rows + 1), rows, sampling)
    without = norm.pdf(places, 0, noise)
    mixed = sum(weight * norm.pdf(places, count, noise) for count, weight in enumerate(weights))
    first, second = (mixed, without) if added else (without, mixed)
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.log(first) - np.log(second)
    masses = first * (places[1] - places[0])
    is_known = np.isfinite(losses)
    width, half = 1e-3 / math.sqrt(rounds), 1 << 17
    cells = np.rint(losses[is_known] / width).astype(int)
    kept = np.abs(cells) < half
    law = np.bincount(cells[kept] % (2 * half), weights=masses[is_known][kept], minlength=2 * half)
    together = np.fft.irfft(np.fft.rfft(law) ** rounds, 2 * half)
    return np.clip(together, 0, None), np.fft.fftfreq(2 * half, 1 / (2 * half)) * width


def worst_delta(cost: GaussianRounds, rows: int, epsilon: float) -> float:
    laws = (gaussian_losses(cost.noise_multiplier, rows, cost.sampling, cost.rounds, added) for added in (True, False))
    return max(delta_of(*law, epsilon) for law in laws)


@pytest.mark.slow
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("asked", [0.3, 1.0, 4.0])
def test_gaussian_rounds_move_by_all_rows_at_the_same_delta_and_no_noise_is_given_away(rows, asked):
    cost = price_rounds(asked / rows, DELTA, sampling=1.0, rounds=9, filtered=False, rows=rows)
    found = guarantee(step(cost), rows)
    assert found.delta == DELTA
    assert found.epsilon <= asked
    assert found.epsilon == pytest.approx(asked, rel=0.01)
    assert worst_delta(cost, rows, found.epsilon) <= DELTA * 1.01
    assert worst_delta(cost, rows, 0.99 * found.epsilon) > DELTA
    alone = guarantee(step(cost))
    assert (alone.epsilon, alone.delta) == (asked / rows, DELTA)
    assert worst_delta(cost, 1, alone.epsilon) < DELTA


@pytest.mark.slow
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(("sampling", "filtered"), [(0.1, False), (0.1, True), (1.0, True)])
def test_sampled_and_filtered_rounds_keep_what_was_asked_for_all_rows(rows, sampling, filtered):
    epsilon = round_down(Fraction(2, rows))
    cost = price_rounds(epsilon, DELTA, sampling=sampling, rounds=20, filtered=filtered, rows=rows)
    found = guarantee(step(cost), rows)
    assert found.epsilon <= 2.0
    assert found.delta <= DELTA
    assert found.delta == pytest.approx(DELTA, rel=0.01)
    assert worst_delta(cost, rows, found.epsilon) <= DELTA


@pytest.mark.parametrize("asked", [{}, {"filter": False}, {"sampling": 1.0}])
@pytest.mark.parametrize("epsilon", [100.0, 1e4, 1e6])
def test_an_epsilon_beside_which_no_row_can_keep_its_delta_is_refused_in_words_of_the_person(epsilon, asked):
    schema = Schema((NumericFeature("x", 0, 1),), NumericTarget("y", 0, 1), 1000, rows_per_person=3)
    with pytest.raises(DpvizError, match=r"Of a person with 3 rows, .* Ask for a smaller epsilon"):
        FitRequest.of("s-gbdt-published", epsilon=epsilon, seed=0, **asked).plan(schema).event()
    every_row = FitRequest.of("s-gbdt-published", epsilon=epsilon, seed=0, sampling=1.0, filter=False).plan(schema).event()
    assert guarantee(every_row, 3).epsilon <= epsilon


def test_a_person_with_many_rows_has_rounds_without_a_filter_where_no_order_fits():
    schema = Schema((NumericFeature("x", 0, 1),), NumericTarget("y", 0, 1), 1000, rows_per_person=600)
    plan = FitRequest.of("s-gbdt-published", epsilon=60.0, seed=0, sampling=1.0).plan(schema)
    assert any("No individual filter" in note for note in plan.notes)
    assert guarantee(plan.event(), 600).epsilon <= 60.0


@pytest.mark.parametrize("rows", ROWS)
def test_pure_steps_cost_each_row_its_epsilon_and_noise_reaches_that(rows):
    epsilon = 0.4
    places = np.arange(-60, 61)
    mass = np.exp(-epsilon * np.abs(places)), np.exp(-epsilon * np.abs(places - rows))  # geometric noise on a count of rows
    largest = float(np.max(np.log(mass[0]) - np.log(mass[1])))
    found = guarantee(Sequential((step(PureDP(epsilon)), step(PureDP(0.1)))), rows)
    assert (found.epsilon, found.delta) == (pytest.approx(rows * 0.5, rel=1e-12), 0)
    assert guarantee(step(PureDP(epsilon)), rows).epsilon == pytest.approx(largest, rel=1e-9)


@pytest.mark.parametrize("rows", ROWS)
def test_a_step_of_bounded_range_costs_the_range_times_the_rows_and_many_candidates_reach_that(rows):
    epsilon, others = 0.4, 10**6
    weights = np.array([math.exp(rows * epsilon), float(others)]), np.array([1.0, float(others)])
    losses = np.log(weights[0] / weights[0].sum()) - np.log(weights[1] / weights[1].sum())
    found = guarantee(step(BoundedRange(epsilon)), rows).epsilon
    assert float(np.max(np.abs(losses))) <= found
    assert found == pytest.approx(float(np.max(np.abs(losses))), rel=0.01)


def every_spread(rows: int, parts: int):
    """Every way to put the rows into parts, as how many each has."""
    return {tuple(np.bincount(places, minlength=parts).tolist()) for places in product(range(parts), repeat=rows)}


def loss_when(event: Event, counts: tuple[int, ...]) -> tuple[float, float]:
    """What rows cost of which so many are in each part, whose steps are one after another."""
    inside = [guarantee(part, count) for part, count in zip(event.events, counts, strict=True) if count]
    return sum(loss.epsilon for loss in inside), sum(loss.delta for loss in inside)


GROWN = Sequential((step(PureDP(0.05)), step(price_rounds(0.2, DELTA, sampling=1.0, rounds=4, filtered=False, rows=5))))
PARTS = (GROWN, step(PureDP(0.25)), step(ApproximateDP(0.2, 1e-7)))


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(
    "event",
    [Parallel(PARTS), RandomPartition(PARTS, (0.6, 0.2, 0.2)), Parallel((*PARTS, GROWN))],
    ids=["parallel", "random", "four"],
)
def test_rows_of_a_person_spread_over_disjoint_parts_cost_no_more(rows, event):
    found = guarantee(event, rows)
    for counts in every_spread(rows, len(event.events)):
        epsilon, delta = loss_when(event, counts)
        assert epsilon <= found.epsilon * (1 + 1e-9)
        assert delta <= found.delta * (1 + 1e-12)


@pytest.mark.parametrize("rows", ROWS)
def test_rows_that_are_assigned_together_cost_the_largest_part(rows):
    found = guarantee(RandomPartition(PARTS, (0.6, 0.2, 0.2), shared=True), rows)
    inside = [guarantee(part, rows) for part in PARTS]
    assert found == PrivacyLoss(max(loss.epsilon for loss in inside), max(loss.delta for loss in inside))


@pytest.mark.parametrize("rows", ROWS)
def test_what_is_only_stated_costs_what_group_privacy_says(rows):
    loss = PrivacyLoss(0.2, 1e-7)
    assert guarantee(step(ApproximateDP(0.2, 1e-7)), rows) == for_unit(loss, rows)
    # the worst law of a stated loss: with probability delta all is told, else randomised response, once for every row
    epsilon = for_unit(loss, rows).epsilon
    told = 1 - (1 - loss.delta) ** rows
    assert told <= for_unit(loss, rows).delta
    assert epsilon == pytest.approx(rows * 0.2)


def test_a_gaussian_move_of_some_rows_costs_at_most_their_part_of_the_epsilon_of_all():
    for noise, rounds, delta in product((2.0, 20.0, 200.0), (1, 50), (1e-9, 1e-3)):
        row = GaussianRounds(1e6, delta, noise, 1.0, rounds, None)
        costs = [guarantee(step(row), rows).epsilon for rows in range(2, 9)]
        parts = [cost / rows for rows, cost in enumerate(costs, start=2)]
        assert parts == sorted(parts)
