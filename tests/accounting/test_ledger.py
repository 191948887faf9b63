from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.accounting.events import NoCost, Noise, NonPrivate, Parallel, Select, Sequential, walk
from dpviz.accounting.ledger import Ledger, LedgerRow, ledger_entries, ledger_from
from dpviz.errors import DocumentError

ROOT = Select(0.3, "permute-and-flip", "node", 0)
LEFT = Select(0.2, "permute-and-flip", "node", 1)
RIGHT = Noise(0.5, "geometric", "leaf", 1)
TREE = Sequential((ROOT, Parallel((LEFT, Sequential((LEFT, RIGHT)), NoCost("split", 1)))))


def test_rows_are_the_steps_one_line_each():
    assert Ledger(TREE).rows() == (
        LedgerRow("1", "select", "permute-and-flip", "node", 0, 0.3),
        LedgerRow("2a", "select", "permute-and-flip", "node", 1, 0.2),
        LedgerRow("2b.1", "select", "permute-and-flip", "node", 1, 0.2),
        LedgerRow("2b.2", "noise", "geometric", "leaf", 1, 0.5),
        LedgerRow("2c", "no cost", "", "split", 1, 0.0),
    )


def test_a_non_private_row_is_infinite_and_says_why():
    row = Ledger(NonPrivate("exact quantiles", "quantile")).rows()[0]
    assert row == LedgerRow("1", "non-private", "", "quantile", None, math.inf, note="exact quantiles")


def test_spent_follows_the_path_that_costs_one_row_most():
    assert Ledger(TREE).spent() == {("node", 0): 0.3, ("node", 1): 0.2, ("leaf", 1): 0.5}


def test_spent_adds_steps_of_one_part_and_level_without_falling_below():
    spent = Ledger(Sequential((LEFT, LEFT, LEFT))).spent()[("node", 1)]
    assert Fraction(spent) >= 3 * Fraction(0.2)
    assert spent == math.nextafter(0.6, 1)


def test_an_exact_step_makes_its_path_the_worst():
    event = Parallel((Noise(1e6, "geometric", "leaf", 2), Sequential((ROOT, NonPrivate("exact", "leaf", 2)))))
    assert Ledger(event).spent() == {("node", 0): 0.3, ("leaf", 2): math.inf}


_SPENDS = st.builds(Select, st.floats(0, 1e3), st.just("permute-and-flip"), st.sampled_from("ab"), st.sampled_from([0, 1, None]))
_TREES = st.recursive(
    _SPENDS, lambda inner: st.lists(inner, max_size=4).map(tuple).flatmap(lambda e: st.sampled_from([Sequential(e), Parallel(e)]))
)


@given(_TREES)
def test_what_was_spent_adds_up_to_the_guarantee(event):
    ledger = Ledger(event)
    total = sum(map(Fraction, ledger.spent().values()), Fraction(0))
    epsilon = Fraction(ledger.guarantee.epsilon)
    assert abs(total - epsilon) <= epsilon / 2**48
    assert set(ledger.spent()) <= {(step.part, step.level) for _, step in walk(event)}


def test_the_steps_of_one_part_stand_together_or_are_refused():
    """Read as parts of their own, the second half of branch a would cost nothing beside the first."""
    first, second, third, fourth = ledger_entries(Ledger(Parallel((Sequential((ROOT, ROOT)), Sequential((LEFT, LEFT))))))
    assert ledger_from([first, second, third, fourth], "ledger").guarantee.epsilon == 0.6
    with pytest.raises(DocumentError, match="do not stand together"):
        ledger_from([first, third, second, fourth], "ledger")


@pytest.mark.parametrize(("mechanism", "has_it"), [("exponential mechanism", True), ("permute-and-flip", False)])
def test_only_exponential_mechanisms_are_believed_a_bounded_range(mechanism, has_it):
    (entry,) = ledger_entries(Ledger(Select(0.3, mechanism, "node", 0, bounded_range=True)))
    if has_it:
        assert ledger_from([entry], "ledger").event == Sequential((Select(0.3, mechanism, "node", 0, bounded_range=True),))
        return
    with pytest.raises(DocumentError, match="bounded range"):
        ledger_from([entry], "ledger")
