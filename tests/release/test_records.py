"""Arithmetic on losses: exact, rounded against the owner; several rows of one person."""

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.release.records import Balance, DataSet, ReleaseRecord, State, total
from dpviz.table.role import DataRole

EPSILONS = st.floats(0, 100, allow_subnormal=False)


def balance(cap: float, spent: list[float]) -> Balance:
    about = ("x", State.RELEASED, "", "", "a", {})
    entries = (ReleaseRecord(k, str(k), *about, PrivacyLoss(e), (), "", "") for k, e in enumerate(spent))
    return Balance(DataSet("x", DataRole.PRIVATE, "one row", 1, cap, 0.0, ""), tuple(entries))


@given(st.lists(EPSILONS, max_size=20))
def test_a_total_is_never_below_the_exact_sum(epsilons):
    exact = sum(map(Fraction, epsilons), Fraction(0))
    found = total(map(PrivacyLoss, epsilons)).epsilon
    assert Fraction(found) >= exact
    assert found == 0 or Fraction(math.nextafter(found, 0)) < exact


@given(st.floats(0.01, 100), st.lists(EPSILONS, max_size=10))
def test_what_is_left_fits_and_the_next_larger_number_does_not(cap, spent):
    found = balance(cap, spent)
    left = found.left.epsilon
    assert found.has_room_for(PrivacyLoss(left)) == (sum(map(Fraction, spent), Fraction(0)) <= Fraction(cap))
    assert not found.has_room_for(PrivacyLoss(math.nextafter(max(left, 0.0), math.inf))) or left == 0.0


@given(st.floats(0.01, 100), st.lists(EPSILONS, max_size=10), st.floats(1e-4, 100))
def test_rounding_never_helps_over_the_cap(cap, spent, asked):
    found = balance(cap, spent)
    fitted = found.fitting(asked)
    assert fitted == asked or (fitted < asked <= fitted * (1 + 1e-8))
    if fitted != asked:
        assert found.has_room_for(PrivacyLoss(fitted))
