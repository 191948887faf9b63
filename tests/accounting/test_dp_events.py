"""The ledger in the words of `dp_accounting`: its accountants find what ours does, or more, or say that they cannot."""

from __future__ import annotations

import pytest
from dp_accounting.pld import PLDAccountant

from dpviz.accounting.events import ApproximateDP, BoundedRange, Free, Parallel, PureDP, RandomPartition, Sequential, Step
from dpviz.accounting.gaussian import priced_rounds
from dpviz.accounting.ledger import Ledger
from dpviz.accounting.risk import Risk

PURE, RANGE = (
    Step(PureDP(0.3), "leaf", mechanism="geometric"),
    Step(BoundedRange(0.2), "node", 0, mechanism="exponential mechanism"),
)
PLAIN = Step(priced_rounds(1.0, 1e-6, sampling=1.0, rounds=40, filtered=False), "tree")
SAMPLED = Step(priced_rounds(1.0, 1e-6, sampling=0.2, rounds=40, filtered=False), "tree")


def accountant_of(event):
    accountant = PLDAccountant(value_discretization_interval=1e-3)
    return accountant.compose(Ledger(event).dp_events())


@pytest.mark.parametrize(
    "event",
    [
        PURE,
        RANGE,
        Sequential((PURE, PURE, Step(Free(), "split"), RANGE)),
        Sequential((RANGE, Parallel((PURE, PURE)))),
        Parallel((Sequential((PURE, PURE, PURE, PURE)), Step(PureDP(0.5), "leaf", mechanism="geometric"))),
        RandomPartition((Sequential((PURE, RANGE)), PURE), (0.9, 0.1)),
        PLAIN,
        SAMPLED,
        Sequential((PURE, PLAIN)),
        Parallel((PURE, PLAIN)),
        Step(Free(), "split"),
    ],
)
def test_the_accountant_finds_as_much_as_our_risk_or_more(event):
    accountant = accountant_of(event)
    for epsilon in (0.0, 0.25, 0.7):
        assert accountant.get_delta(epsilon) >= Risk(event).delta(epsilon) - 2e-3


@pytest.mark.parametrize("event", [PURE, PLAIN, SAMPLED, Sequential((PURE, PURE)), Sequential((PURE, PLAIN))])
def test_it_finds_the_same_where_its_events_say_everything(event):
    for epsilon in (0.0, 0.25, 0.7):
        assert accountant_of(event).get_delta(epsilon) == pytest.approx(Risk(event).delta(epsilon), abs=2e-3)


def test_of_a_row_that_comes_and_one_that_goes_the_one_that_tells_more_counts():
    """Rounds of samples tell more of a row that goes; beside this pure step, more of one that comes."""
    event = Sequential((SAMPLED, Step(PureDP(0.8), "leaf", mechanism="geometric")))
    accountant = PLDAccountant(value_discretization_interval=1e-4).compose(Ledger(event).dp_events())
    assert Risk(event).delta(0.7) == pytest.approx(accountant.get_delta(0.7), abs=2.5e-4)


def test_what_its_events_cannot_say_is_unsupported_and_what_is_exact_has_no_bound():
    filtered = Step(priced_rounds(1.0, 1e-6, sampling=1.0, rounds=40, filtered=True), "tree")
    for event in (filtered, Step(ApproximateDP(0.5, 1e-6), "model", mechanism="foreign"), Sequential((PURE, filtered))):
        assert not PLDAccountant().supports(Ledger(event).dp_events())
    assert accountant_of(Sequential((PURE, Step.unbounded("exact", "leaf")))).get_delta(1.0) == 1
