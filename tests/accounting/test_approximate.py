"""Steps with a delta: both add up in sequence, both maxima count for disjoint rows, nothing is rounded down."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.accounting.events import Approximate, NoCost, NonPrivate, Parallel, Select, Sequential, walk
from dpviz.accounting.guarantee import PrivacyLoss, guarantee
from dpviz.accounting.ledger import Ledger
from dpviz.errors import DpvizError

STEPS = st.lists(
    st.builds(Approximate, st.floats(0, 10), st.floats(0, 0.1), st.just("boosting"), st.just("model")), max_size=8
).map(tuple)


@given(STEPS)
def test_in_sequence_both_add_up(steps):
    loss = guarantee(Sequential(steps))
    for found, exact in [
        (loss.epsilon, sum(Fraction(step.epsilon) for step in steps)),
        (loss.delta, sum(Fraction(step.delta) for step in steps)),
    ]:
        assert Fraction(found) >= exact
        assert Fraction(math.nextafter(found, -1)) < exact or found == exact == 0


@given(STEPS)
def test_on_disjoint_rows_the_largest_of_each_counts(steps):
    assert guarantee(Parallel(steps)) == PrivacyLoss(
        max((step.epsilon for step in steps), default=0.0), max((step.delta for step in steps), default=0.0)
    )


def test_pure_steps_have_no_delta():
    pure = Sequential((Select(1.0, "permute-and-flip", "leaf"), NoCost("node")))
    assert guarantee(pure) == PrivacyLoss(1.0, 0.0)
    mixed = Sequential((pure, Approximate(0.5, 1e-5, "boosting", "model")))
    assert guarantee(mixed) == PrivacyLoss(1.5, 1e-5)
    assert guarantee(Sequential((mixed, NonPrivate("exact", "tree")))).epsilon == math.inf


def test_delta_is_a_probability():
    many = Sequential((Approximate(0.1, 0.4, "boosting", "model"),) * 5)
    assert guarantee(many).delta == 1.0
    for wrong in (-0.1, 1.5, math.nan):
        with pytest.raises(DpvizError, match=r"a delta in \[0, 1\]"):
            guarantee(Approximate(0.1, wrong, "boosting", "model"))


def test_a_ledger_lists_it():
    step = Approximate(0.5, 1e-5, "boosting", "model")
    ledger = Ledger(step)
    assert list(walk(step)) == [("1", step)]
    assert [(row.kind, row.mechanism, row.epsilon) for row in ledger.rows()] == [("approximate", "boosting", 0.5)]
    assert ledger.spent() == {("model", None): 0.5}
