"""Profiles against exact laws: enumerated outcomes, integrals, and searches over all laws that a theorem leaves possible."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import integrate, stats

from dpviz.accounting.costs import cost_of
from dpviz.accounting.events import (
    ApproximateDP,
    BoundedRange,
    Free,
    GaussianRounds,
    Parallel,
    PureDP,
    RandomPartition,
    Sequential,
    Step,
)
from dpviz.accounting.gaussian import price_rounds, renyi_loss
from dpviz.accounting.profile import Group, profile
from dpviz.accounting.risk import Risk
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from tests.support.oracles.membership import best_of_ranges, hockey_stick, responses

ONE, LOSSES = Group(), (-0.7, -0.2, 0.0, 0.1, 0.35, 0.8)


def pure(epsilon):
    return Step(PureDP(epsilon), "leaf", mechanism="geometric")


def ranged(epsilon):
    return Step(BoundedRange(epsilon), "node", None, mechanism="exponential mechanism")


def in_turn(*events):
    return Sequential(events)


def rounds(noise, sampling=1.0, count=1, order=None):
    return Step(GaussianRounds(2.0, 0.5, noise, sampling, count, order), "tree", mechanism="Gaussian")


def deltas(event, group=ONE):
    """(of presence, of absence) at any loss."""
    both = profile(cost_of(event), group)
    return both.at, both.of_absence.at


def compare(event, exact, group=ONE, *, losses=LOSSES, slack=2e-4):
    """Both directions at least, and hardly more than, `exact`: a function of (loss, presence)."""
    for presence, found in zip((True, False), deltas(event, group), strict=True):
        for loss in losses:
            assert exact(loss, presence) <= found(loss) + 1e-10
            assert found(loss) <= exact(loss, presence) + slack


@pytest.mark.parametrize("epsilons", [(1.0,), (0.3, 0.7), (0.14, 0.2, 0.28, 0.38), (0.05,) * 7])
def test_pure_steps_in_turn_are_randomised_responses(epsilons):
    laws = responses(epsilons)
    compare(in_turn(*map(pure, epsilons)), lambda loss, _: hockey_stick(*laws, loss))


def test_a_bounded_range_has_the_largest_profile_of_all_laws_within_it():
    for loss in LOSSES:
        assert deltas(ranged(0.9))[0](loss) == pytest.approx(best_of_ranges([0.9], loss), abs=2e-4)


@pytest.mark.parametrize("lengths", [(0.4, 0.6), (0.6, 0.4), (0.5, 0.5), (1.0, 0.2)])
@pytest.mark.slow
def test_bounded_ranges_in_turn_stay_above_the_adaptive_optimum(lengths):
    found = deltas(in_turn(*map(ranged, lengths)))[0]
    for loss in (-0.2, 0.0, 0.15, 0.4):
        best = best_of_ranges(lengths, loss, offsets=80)
        assert best - 1e-9 <= found(loss) <= best + 0.02


def test_a_pair_at_a_fixed_offset_would_be_too_little():
    fixed = math.tanh(0.3 / 2)  # losses of +-.2, then +-.3
    assert fixed < 0.15 < best_of_ranges((0.4, 0.6), 0.0, offsets=80) < deltas(in_turn(ranged(0.4), ranged(0.6)))[0](0.0) < 0.172


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.slow
def test_gaussian_rounds_move_by_so_many_rows(rows):
    mu = rows * math.sqrt(7) / 9

    def exact(loss, _):
        def gap(x):
            return max(0.0, stats.norm.pdf(x - mu) - math.exp(loss) * stats.norm.pdf(x))

        return integrate.quad(gap, loss / mu + mu / 2, loss / mu + mu / 2 + 12, epsabs=1e-13)[0]

    compare(rounds(9.0, count=7), exact, Group(1, rows), slack=1e-5)
    compare(rounds(9.0, count=7), exact, Group(rows, 1), slack=1e-5)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.slow
def test_rounds_of_samples_are_binomial_mixtures_in_both_directions(rows):
    """Two rounds, integrated over the plane."""
    places = np.linspace(-9, 9 + rows / 1.5, 1601)
    drawn = np.arange(rows + 1)
    chances = stats.binom.pmf(drawn, rows, 0.3)
    without = stats.norm.pdf(places)
    with_rows = (chances[:, None] * stats.norm.pdf(places - drawn[:, None] / 1.5)).sum(axis=0)
    cell = (places[1] - places[0]) ** 2
    laws = [np.outer(law, law) * cell for law in (with_rows, without)]

    def exact(loss, presence):
        return hockey_stick(*(laws if presence else laws[::-1]), loss)

    compare(rounds(1.5, 0.3, 2), exact, Group(1, rows), losses=(-0.2, 0.0, 0.2, 0.5), slack=2e-3)
    assert exact(0.5, True) > 1.2 * exact(0.5, False)


@pytest.mark.parametrize("sampling", [1.0, 0.1])
@pytest.mark.slow
def test_a_filter_has_what_a_renyi_divergence_of_one_order_leaves_possible(sampling):
    event = Step(price_rounds(1.0, 1e-6, sampling=sampling, rounds=50, filtered=True), "tree")
    most, order = 50 * renyi_loss(event.cost.noise_multiplier, sampling, event.cost.order), event.cost.order
    u, v = np.meshgrid(np.linspace(0.002, 0.998, 499), np.linspace(0.002, 0.998, 499))

    def divergence(one, other):
        return np.log(one**order * other ** (1 - order) + (1 - one) ** order * (1 - other) ** (1 - order)) / (order - 1)

    allowed = np.maximum(divergence(v, u), divergence(u, v)) <= most
    compare(event, lambda loss, _: float(np.max(np.where(allowed, v - math.exp(loss) * u, 0.0))), slack=6e-3)
    plain = Step(price_rounds(1.0, 1e-6, sampling=sampling, rounds=50, filtered=False), "tree")
    assert deltas(event)[0](0.0) > deltas(plain)[0](0.0)


def test_a_stated_cost_is_the_largest_that_is_meant_by_it():
    yes, no = responses([0.5])
    laws = np.append(0.99 * yes, [0.01, 0]), np.append(0.99 * no, [0, 0.01])
    compare(Step(ApproximateDP(0.5, 0.01), "model", mechanism="foreign"), lambda loss, _: hockey_stick(*laws, loss))


def test_on_disjoint_rows_the_largest_profile_counts_at_every_loss():
    few, many = pure(0.5), in_turn(*[pure(0.06)] * 10)
    laws = responses([0.5]), responses([0.06] * 10)
    at = (0.0, 0.3, 0.55)
    compare(Parallel((few, many)), lambda loss, _: max(hockey_stick(*pair, loss) for pair in laws), losses=at)
    assert hockey_stick(*laws[0], 0.0) > hockey_stick(*laws[1], 0.0)
    assert hockey_stick(*laws[0], 0.55) < hockey_stick(*laws[1], 0.55)


def test_nodes_of_a_level_cost_what_one_of_them_costs():
    tree = in_turn(pure(0.4), Parallel((pure(0.6), in_turn(Step(Free(), "split"), pure(0.6)))))
    assert cost_of(tree) == cost_of(in_turn(pure(0.6), pure(0.4)))


def test_what_is_exact_tells_everything_and_what_touches_nothing_tells_nothing():
    for event, expected in (
        (in_turn(pure(0.1), Step.unbounded("exact", "leaf")), 1.0),
        (Step(Free(), "split"), 0.0),
        (pure(0.0), 0.0),
    ):
        assert deltas(event)[0](0.0) == pytest.approx(expected, abs=1e-9)
    assert deltas(pure(math.inf))[0](0.0) == 1.0


# Groups


@pytest.mark.parametrize("rows", [2, 3, 8])
def test_rows_of_a_pure_step_are_noise_at_that_distance(rows):
    noise = np.arange(-400, 401)
    laws = [GeometricNoise(0.3).pmf(noise - moved) for moved in (rows, 0)]
    compare(pure(0.3), lambda loss, _: hockey_stick(*laws, loss), Group(1, rows))


def test_rows_of_pure_steps_in_turn_are_composed_and_not_multiplied():
    noise = np.arange(-150, 151)
    sides = [np.multiply.outer(*(GeometricNoise(epsilon).pmf(noise - moved) for epsilon in (0.2, 0.5))) for moved in (3, 0)]
    compare(in_turn(pure(0.2), pure(0.5)), lambda loss, _: hockey_stick(*sides, loss), Group(1, 3))
    assert deltas(in_turn(pure(0.2), pure(0.5)), Group(1, 3))[0](0.0) < math.tanh(3 * 0.7 / 2) - 0.15


def test_rows_of_a_bounded_range_have_so_many_times_its_length():
    assert deltas(ranged(0.3), Group(1, 3))[0](0.1) == pytest.approx(best_of_ranges([0.9], 0.1), abs=2e-4)


def test_profiles_are_chained_where_a_step_has_no_law_for_groups():
    """Three times (epsilon, delta): the chain of its extreme law, T(T(T(u))), which is randomised response beside certainty."""
    epsilon, delta = 0.3, 0.01

    def power(level):
        for _ in range(3):
            level = min(1.0, delta + math.exp(epsilon) * level, 1 - math.exp(-epsilon) * max(0.0, 1 - delta - level))
        return level

    levels = np.linspace(0, 1, 20001)
    powers = np.array([power(level) for level in levels.tolist()])
    event = Step(ApproximateDP(epsilon, delta), "model", mechanism="foreign")
    compare(event, lambda loss, _: float(np.max(powers - math.exp(loss) * levels)), Group(1, 3), slack=2e-3)
    found = deltas(event, Group(1, 3))[0]
    assert found(3 * epsilon) <= delta * (math.exp(3 * epsilon) - 1) / (math.exp(epsilon) - 1) + 1e-3


# Coins, by an exact law: a choice by the rows of part 0, a count of part 1 that depends on the choice, a count of part 2

CHANCES = (0.5, 0.3, 0.2)
STEPS = {0: 0.8, 1: 0.6, 2: 1.1}
COUNTS = np.arange(-30, 38)


def coin(*, shared):
    choice = Step(PureDP(STEPS[0]), "node", mechanism="permute-and-flip")
    return RandomPartition((choice, pure(STEPS[1]), pure(STEPS[2])), CHANCES, shared)


def released(rows):
    """Probability of (choice, count, count) where `rows` is a list of (value, part), each value 0, 1 or 2."""
    utilities = np.array([sum(part == 0 and value == option for value, part in rows) for option in range(3)])
    choices = PermuteAndFlip(STEPS[0], COUNT).probabilities(utilities)
    counted = [sum(part == 1 and value == option for value, part in rows) for option in range(3)]
    tested = sum(part == 2 for _, part in rows)
    second = np.array([GeometricNoise(STEPS[1]).pmf(COUNTS - count) for count in counted])
    return choices[:, None, None] * second[:, :, None] * GeometricNoise(STEPS[2]).pmf(COUNTS - tested)


def law(values, added, *, shared):
    """The mixture over all coins: one for every row, or one for all rows that are added."""
    total = 0.0
    n_coins = len(values) + (1 if shared and added else len(added))
    for parts in product(range(3), repeat=n_coins):
        of_rows = (*parts[: len(values)], *(parts[-1:] * len(added) if shared else parts[len(values) :]))
        total = total + math.prod(CHANCES[part] for part in parts) * released(list(zip([*values, *added], of_rows, strict=True)))
    return total


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("values", [(), (0, 1)])
def test_no_outcome_of_an_assignment_tells_more_than_the_profile(values, rows, shared):
    without = law(values, (), shared=shared)
    with_rows = law(values, (1,) * rows, shared=shared)
    for presence, found in zip((True, False), deltas(coin(shared=shared), Group(1, rows)), strict=True):
        laws = (with_rows, without) if presence else (without, with_rows)
        for loss in LOSSES:
            assert hockey_stick(*laws, loss) <= found(loss) + 1e-9


def test_of_an_assignment_the_mean_counts_not_the_largest_and_not_the_smallest():
    mean = sum(chance * math.tanh(epsilon / 2) for chance, epsilon in zip(CHANCES, STEPS.values(), strict=True))
    assert deltas(coin(shared=False))[0](0.0) == pytest.approx(mean, abs=1e-5)
    assert math.tanh(0.3) < mean < math.tanh(0.55)


def test_where_the_part_is_told_the_mean_is_exact():
    """Counts of both parts at distance far beyond the noise: the coin of a row is seen, and nothing is less than the mean."""
    noise = np.arange(-80, 81)
    parts = [[GeometricNoise(epsilon).pmf(noise - moved) for moved in (1, 0)] for epsilon in (0.5, 1.5)]
    sides = [np.concatenate([0.75 * parts[0][side], 0.25 * parts[1][side]]) for side in (0, 1)]
    compare(RandomPartition((pure(0.5), pure(1.5)), (0.75, 0.25)), lambda loss, _: hockey_stick(*sides, loss))


@pytest.mark.parametrize("shared", [False, True])
def test_rows_and_persons_are_spread_over_the_parts_as_they_are_assigned(shared):
    noise = np.arange(-90, 91)
    laws = {(part, moved): GeometricNoise((0.4, 0.9)[part]).pmf(noise - moved) for part in (0, 1) for moved in range(7)}

    def spread(units, each):
        ways = [(stats.binom.pmf(first, units, 0.7), first * each, (units - first) * each) for first in range(units + 1)]
        return [np.array([chance * np.outer(laws[0, a * side], laws[1, b * side]) for chance, a, b in ways]) for side in (1, 0)]

    event = RandomPartition((pure(0.4), pure(0.9)), (0.7, 0.3), shared)
    person, two = (spread(1, 3), spread(2, 3)) if shared else (spread(3, 1), spread(6, 1))
    compare(event, lambda loss, _: hockey_stick(*person, loss), Group(1, 3))
    compare(event, lambda loss, _: hockey_stick(*two, loss), Group(2, 3))
    three = spread(3, 1)
    compare(event, lambda loss, _: hockey_stick(*three, loss), Group(3, 1))


@pytest.mark.slow
def test_what_is_chained_composes_with_other_steps():
    filtered = Step(price_rounds(0.95, 5e-8, sampling=1.0, rounds=100, filtered=True), "tree")
    alone, together = (deltas(event, Group(1, 3))[0](0.0) for event in (filtered, in_turn(pure(0.1), filtered)))
    assert alone - 1e-3 < together < alone + 0.1


@pytest.mark.slow
def test_many_persons_are_chained_instead_of_spread():
    event = RandomPartition((pure(0.1), pure(0.2), pure(0.15)), CHANCES)
    few, many = (deltas(event, Group(persons, 1))[0](0.0) for persons in (10, 40))
    assert few < many < 1
    whole = deltas(pure(0.2), Group(40, 1))[0](0.0)
    assert many < whole


def test_far_from_0_rounding_takes_nothing_off():
    """Losses of 40 and more: 1 - e^a (1 - delta) would be off by e^a 1e-16."""
    truth = -math.expm1(30 - 60) / (1 + math.exp(-20))  # almost surely the loss of three rows is 60
    assert truth <= Risk(pure(20.0)).for_rows(3).delta(30)
    stated = Sequential((Step(ApproximateDP(20.0, 0.2), "model", mechanism="foreign"), pure(5.0)))
    assert Risk(stated).delta(30) >= 0.2


def test_rows_with_assignment_of_their_own_that_share_one_further_in_go_together():
    inside = RandomPartition((pure(1.0), pure(0.5)), (0.5, 0.5), shared=True)
    alone, within = (deltas(event, Group(1, 3))[0] for event in (inside, RandomPartition((inside,), (1.0,))))
    assert all(alone(loss) <= within(loss) + 1e-9 for loss in LOSSES)


@pytest.mark.slow
def test_groups_too_many_to_spread_are_chained_also_among_other_steps():
    spread = RandomPartition((pure(0.01), pure(0.02), pure(0.015), pure(0.01)), (0.4, 0.3, 0.2, 0.1))
    alone, together = (deltas(event, Group(1, 60))[0](0.0) for event in (spread, in_turn(pure(0.001), spread)))
    assert alone - 1e-3 < together < alone + 0.1
