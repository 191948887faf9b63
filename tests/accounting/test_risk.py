"""Risk: what a trade-off curve says of guesses, values and persons, beside tests worked out from every outcome."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from dp_accounting import dp_event as dp
from dp_accounting.pld import PLDAccountant
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.accounting.events import ApproximateDP, BoundedRange, Free, Parallel, PureDP, RandomPartition, Sequential, Step
from dpviz.accounting.gaussian import price_rounds
from dpviz.accounting.guarantee import for_unit, guarantee
from dpviz.accounting.risk import Risk, check_risks, stated_risks
from dpviz.errors import DocumentError, ParameterError
from dpviz.evaluation.audit.evidence import BoundLearner
from dpviz.evaluation.audit.exact import Universe, whole_distribution
from dpviz.evaluation.audit.sources import Enumeration
from tests.support.examples import examples
from tests.support.oracles.membership import hockey_stick, power, responses

EPSILONS = (0.2, 0.5, 0.4)
PURE = Sequential(tuple(Step(PureDP(epsilon), "leaf", mechanism="geometric") for epsilon in EPSILONS))
LAWS = responses(EPSILONS)
GAUSSIAN = Step(price_rounds(1.0, 5e-8, sampling=1.0, rounds=100, filtered=False), "tree")
SHARES = st.sampled_from([0.001, 0.02, 0.1, 0.3, 0.5, 0.77, 0.95])


@given(SHARES)
def test_guesses_of_presence_and_of_values_are_those_of_the_best_test(rate):
    risk = Risk(PURE)
    best = float(np.maximum(rate * LAWS[0], (1 - rate) * LAWS[1]).sum())
    assert best - 1e-10 <= risk.guesses(rate) <= best + 2e-4
    best = 1 - power(*LAWS, rate)
    assert best - 5e-4 <= risk.false_negatives(rate) <= best + 1e-10
    assert risk.attribute_guesses(rate) == pytest.approx(1 - risk.false_negatives(rate))
    # a value of four, the first with this probability; the release answers whether it is the first, by responses in turn
    prior, told = np.array([rate, *[(1 - rate) / 3] * 3]), np.array([LAWS[0], *[LAWS[1]] * 3])
    if rate >= (1 - rate) / 3:
        assert float(np.max(prior[:, None] * told, axis=0).sum()) <= risk.attribute_guesses(rate) + 1e-10


def test_epsilon_is_the_total_of_pure_steps_and_less_than_the_sum_of_gaussian_ones():
    assert Risk(PURE).epsilon == guarantee(PURE).epsilon
    assert Risk(PURE).for_rows(3).epsilon == 3 * guarantee(PURE).epsilon
    assert Risk(PURE).delta(guarantee(PURE).epsilon) == 0
    twice = Risk(Sequential((GAUSSIAN, GAUSSIAN)))
    assert Risk(GAUSSIAN).epsilon == pytest.approx(1.0, rel=1e-3)
    assert 1.2 < twice.epsilon < 1.5 < guarantee(twice.event).epsilon == 2.0


@pytest.mark.slow
def test_of_a_row_that_comes_and_one_that_goes_the_one_that_tells_more_counts():
    """Rounds of samples tell more of a row that goes; beside this pure step, more of one that comes."""
    rounds = price_rounds(1.0, 1e-6, sampling=0.2, rounds=40, filtered=False)
    accountant = PLDAccountant(value_discretization_interval=1e-4).compose(dp.DiscreteLaplaceDpEvent(0.8, 1))
    accountant.compose(dp.PoissonSampledDpEvent(0.2, dp.GaussianDpEvent(rounds.noise_multiplier)), 40)
    risk = Risk(Sequential((Step(rounds, "tree"), Step(PureDP(0.8), "leaf"))))
    assert risk.delta(0.7) == pytest.approx(accountant.get_delta(0.7), abs=2.5e-4)


STEPS = st.one_of(
    st.builds(Step, st.builds(PureDP, st.floats(0, 3)), st.just("leaf")),
    st.builds(Step, st.builds(BoundedRange, st.floats(0, 3)), st.just("node")),
    st.builds(Step, st.builds(ApproximateDP, st.floats(0, 3), st.sampled_from([0.0, 1e-6, 0.01])), st.just("model")),
    st.sampled_from([GAUSSIAN, Step(Free(), "split")]),
)
EVENTS = st.recursive(
    STEPS,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        .map(tuple)
        .flatmap(lambda e: st.sampled_from([Sequential(e), Parallel(e), RandomPartition(e, (0.9 / len(e),) * len(e))]))
    ),
    max_leaves=5,
)


@given(EVENTS, st.integers(1, 3))
@examples(25)
def test_a_risk_is_never_above_the_plain_bound_and_grows_with_rows(event, rows):
    risk = Risk(event).for_rows(rows)
    assert 0.5 <= risk.guesses() <= for_unit(guarantee(event), rows).guesses_right + 1e-9
    assert Risk(event).guesses() <= risk.guesses() + 1e-9
    assert 0 <= risk.false_negatives(0.1) <= 0.9


def test_what_is_exact_is_known():
    risk = Risk(Sequential((PURE, Step.unbounded("exact", "leaf"))))
    assert (risk.guesses(), risk.false_negatives(0.0), risk.epsilon, risk.delta(5.0)) == (1.0, 0.0, math.inf, 1.0)
    for event in (
        Step.unbounded("exact", "leaf"),
        Step(PureDP(80.0), "leaf", mechanism="geometric"),
        Step(ApproximateDP(1.0, 1.0), "model", mechanism="foreign"),
    ):
        assert Risk(Sequential((event, event))).guesses() == 1.0
    beyond = Risk(Step(PureDP(1e4), "leaf", mechanism="geometric"))  # of the grid: still the total
    assert (beyond.guesses(), beyond.epsilon, beyond.delta(1e4)) == (1.0, 1e4, 0.0)


def test_what_is_no_share_or_count_is_refused():
    risk = Risk(PURE)
    for ask, values in [
        (risk.guesses, (-0.1, math.nan)),
        (risk.false_negatives, (1.1,)),
        (risk.attribute_guesses, (2,)),
        (risk.delta, (-1,)),
        (risk.for_rows, (0, 1.5)),
        (risk.for_persons, (True,)),
    ]:
        for value in values:
            with pytest.raises(ParameterError):
                ask(value)


# Every tree of a small universe, with its exact probability


@cache
def laws_of(epsilon, depth):
    universe = Universe(bins=(2,), max_rows=4, depth=depth)
    planned = BoundLearner.of("pf-tree", universe.schema, epsilon=epsilon, depth=depth, leaves="labels")
    laws = [whole_distribution(planned, universe.dataset(index), Enumeration()) for index in range(len(universe.keys))]
    data = universe.dataset(int(np.argmax(universe.counts.sum(axis=1))))
    return universe, laws, Risk(planned.fit(data, dpviz.privacy.source.Simulation(1)).event)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "depth"), [(1.0, 1), (1.0, 2), (3.0, 2)])
def test_no_two_tables_of_a_universe_are_told_apart_better(epsilon, depth, rows):
    universe, laws, one = laws_of(epsilon, depth)
    risk, most = one.for_rows(rows), 0.0
    for smaller, counts in enumerate(universe.counts):
        for larger, more in enumerate(universe.counts):
            if (more >= counts).all() and (more - counts).sum() == rows:
                keys = sorted({*laws[smaller], *laws[larger]})
                sides = [np.array([laws[which].get(key, 0.0) for key in keys]) for which in (larger, smaller)]
                for loss in (0.0, 0.4):
                    assert max(hockey_stick(*sides, loss), hockey_stick(*sides[::-1], loss)) <= risk.delta(loss) + 1e-9
                most = max(most, hockey_stick(*sides, 0.0))
    assert most > 0.3 * risk.delta(0.0)


# In a document


def test_a_statement_of_a_row_and_a_person_is_rounded_up_and_accepted():
    entries = stated_risks(Risk(PURE), 3)
    assert [entry.rows for entry in entries] == [1, 3]
    for entry in entries:
        risk = Risk(PURE).for_rows(entry.rows)
        assert all(value >= risk.guesses(rate) for rate, value in entry.guesses)
        assert all(value <= risk.false_negatives(rate) for rate, value in entry.false_negatives)
    check_risks(entries, Risk(PURE), "privacy.risk")


@pytest.mark.parametrize(("name", "less"), [("guesses", -0.001), ("false_negatives", 0.001)])
@pytest.mark.parametrize("of", [0, 1])
def test_a_statement_of_less_is_refused(name, less, of):
    entries = list(stated_risks(Risk(PURE), 3))
    of_a_row = replace(entries[0], rows=3)  # a statement of a person counts all rows
    said = getattr(entries[of], name)
    entries[of] = replace(entries[of], **{name: tuple((rate, value + less * (rate == 0.5)) for rate, value in said)})
    for wrong in (entries, [of_a_row]):
        with pytest.raises(DocumentError, match=name if wrong is entries else "guesses"):
            check_risks(wrong, Risk(PURE), "risk")


def test_a_person_of_very_many_rows_has_the_plain_bound_and_without_a_bound_nothing_is_stated():
    risk = Risk(Step(PureDP(1e-6), "leaf", mechanism="geometric")).for_rows(50_000)
    assert risk.guesses() == pytest.approx(risk.plain.guesses_right)
    assert stated_risks(Risk(Step.unbounded("exact", "leaf")), 3) == ()
