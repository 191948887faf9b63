"""Composition on random event trees against exact fractions, and budgets that never exceed what was given."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.accounting.events import Approximate, NoCost, Noise, NonPrivate, Parallel, RandomParts, Select, Sequential
from dpviz.accounting.guarantee import PrivacyLoss, guarantee, round_down, round_up, split_budget
from dpviz.errors import DpvizError, ParameterError

EPSILONS = st.floats(0, 1e6) | st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 5e-324, 1e-300])
SPENDS = st.builds(Select, EPSILONS, st.just("permute-and-flip"), st.just("node")) | st.builds(
    Noise, EPSILONS, st.just("geometric"), st.just("leaf")
)
FREE = st.just(NoCost("split"))
EXACT = NonPrivate("published as they are", "quantile")


def _trees(leaves):
    def deeper(inner):
        steps = st.lists(inner, max_size=4).map(tuple)
        return st.builds(Sequential, steps) | st.builds(Parallel, steps)

    return st.recursive(leaves, deeper, max_leaves=12)


TREES = _trees(SPENDS | FREE)


def _oracle(event):
    if isinstance(event, NoCost):
        return Fraction(0)
    if isinstance(event, Sequential):
        return sum(map(_oracle, event.events), Fraction(0))
    if isinstance(event, Parallel):
        return max(map(_oracle, event.events), default=Fraction(0))
    return Fraction(event.epsilon)


@given(TREES)
def test_the_guarantee_is_the_exact_cost_rounded_up_to_the_next_float(event):
    epsilon, exact = guarantee(event).epsilon, _oracle(event)
    assert Fraction(epsilon) >= exact
    assert epsilon == 0 or Fraction(math.nextafter(epsilon, -math.inf)) < exact


@given(TREES, st.lists(st.tuples(st.sampled_from([Sequential, Parallel]), TREES, st.booleans()), max_size=6))
def test_one_exact_number_anywhere_makes_epsilon_infinite(event, nesting):
    inside = Sequential((event, EXACT))
    for kind, neighbour, first in nesting:
        inside = kind((inside, neighbour) if first else (neighbour, inside))
    loss = guarantee(inside)
    assert loss.epsilon == math.inf
    assert not loss.is_finite


SPEND = Select(0.1, "permute-and-flip", "node")


def test_of_the_parts_of_an_assignment_the_largest_counts_however_unlikely():
    parts = (SPEND, Approximate(0.2, 1e-6, "smooth", "model"))
    assert guarantee(RandomParts(parts, (0.99, 0.01))) == PrivacyLoss(0.2, 1e-6)
    assert guarantee(RandomParts(parts, (1.0, 0.0))) == PrivacyLoss(0.2, 1e-6)


@pytest.mark.parametrize("chances", [(0.5,), (0.5, 0.6), (-0.1, 0.5), (math.nan, 0.5)])
def test_an_assignment_has_a_chance_for_every_part_and_no_more_than_one_in_all(chances):
    with pytest.raises(ParameterError, match="chances"):
        RandomParts((SPEND, SPEND), chances)


def test_ten_tenths_are_more_than_one():
    assert sum([0.1] * 10) < 1
    assert guarantee(Sequential((SPEND,) * 10)).epsilon == math.nextafter(1, 2)  # the float 0.1 is above one tenth


def test_an_infinite_epsilon_and_a_sum_above_all_floats_are_infinite():
    assert guarantee(Noise(math.inf, "geometric", "leaf")).epsilon == math.inf
    assert guarantee(Sequential((Noise(1e308, "geometric", "leaf"),) * 2)).epsilon == math.inf


@pytest.mark.parametrize("epsilon", [-1.0, -5e-324, math.nan])
@pytest.mark.parametrize("wrap", [lambda e: e, lambda e: Sequential((EXACT, e)), lambda e: Parallel((SPEND, Sequential((e,))))])
def test_a_negative_or_missing_epsilon_is_refused_at_any_nesting(epsilon, wrap):
    with pytest.raises(DpvizError, match=r"An event must cost a non-negative epsilon\. Got Select\(epsilon="):
        guarantee(wrap(Select(epsilon, "permute-and-flip", "node")))


@given(st.fractions(0, 10**9))
def test_rounding_brackets_the_fraction(value):
    below, above = round_down(value), round_up(value)
    assert Fraction(below) <= value <= Fraction(above)
    assert below == above or math.nextafter(below, math.inf) == above


@pytest.mark.parametrize(
    ("epsilon", "share"), [(0.0, 0.5), (0.1, 0.52498), (0.5, 0.62246), (1.0, 0.73106), (2.0, 0.88080), (800, 1.0), (math.inf, 1)]
)
def test_share_of_guesses_that_can_be_right(epsilon, share):
    assert PrivacyLoss(epsilon).guesses_right == pytest.approx(share, abs=5e-6)


def test_delta_adds_to_the_right_guesses_but_not_beyond_all():
    assert PrivacyLoss(0.0, delta=0.1).guesses_right == pytest.approx(0.6)
    assert PrivacyLoss(20.0, delta=0.1).guesses_right == 1.0


WEIGHTS = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=10).map(tuple)


@given(st.floats(1e-6, 1e6) | st.sampled_from([0.1, 0.01, 1.0, 2.0, 0.5]), WEIGHTS)
def test_shares_never_exceed_the_budget_and_compose_to_it(epsilon, weights):
    shares = split_budget(epsilon, weights)
    assert sum(map(Fraction, shares)) <= Fraction(epsilon)
    assert guarantee(Sequential(tuple(Select(share, "permute-and-flip", "node") for share in shares))).epsilon == epsilon


def test_the_shares_of_the_levels_of_pf_tree():
    shares = split_budget(1.0, (1.0, 1.4, 1.4**2, 1.4**3))
    assert shares == pytest.approx((0.1407658, 0.1970721, 0.2759010, 0.3862613), rel=1e-6)


def test_a_weight_of_zero_gets_nothing_and_the_others_still_compose_to_the_budget():
    shares = split_budget(0.1, (1.0, 0.0, 1.0, 1.0))
    assert shares[1] == 0
    assert guarantee(Sequential(tuple(Select(share, "permute-and-flip", "node") for share in shares))).epsilon == 0.1


@pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf])
def test_an_impossible_budget_is_refused(epsilon):
    with pytest.raises(ParameterError, match="'epsilon' parameter of split_budget must be finite and not negative"):
        split_budget(epsilon, (1.0,))


@pytest.mark.parametrize("weights", [(), (0.0, 0.0), (1.0, -1.0), (1.0, math.nan), (math.inf, 1.0)])
def test_impossible_weights_are_refused(weights):
    text = "'weights' parameter of split_budget must be finite and not negative, at least one above 0"
    with pytest.raises(ParameterError, match=text):
        split_budget(1.0, weights)
