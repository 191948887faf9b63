"""Distributions level by level: complete, and the same as listing whole trees."""

from dataclasses import replace

import numpy as np
import pytest

from dpviz.errors import NotEnumerable, ParameterError
from dpviz.evaluation.audit import distributions
from dpviz.evaluation.audit.distributions import level_distributions
from dpviz.evaluation.audit.planned import PlannedLearner
from dpviz.evaluation.audit.universe import Universe
from dpviz.learners import get_learner
from dpviz.table.schema import ClassTarget, NumericTarget, Schema
from tests.support.planted import GROWING, LOOKS_AT_ALL_ROWS

TINY = Universe((2,), depth=2, max_rows=3)


def ask(learner, universe=TINY, epsilon=1.0, **given):
    return PlannedLearner.of(learner, universe.schema, epsilon=epsilon, depth=universe.depth, **given)


@pytest.mark.parametrize("learner", ["pf-tree", "majority", "cart"])
@pytest.mark.parametrize("epsilon", [0.1, 5.0])
def test_probabilities_of_every_level_sum_to_one_on_every_data_set(learner, epsilon):
    for distribution in level_distributions(ask(learner, epsilon=epsilon), TINY):
        np.testing.assert_allclose(np.exp(distribution.low).sum(axis=1), 1, atol=1e-12)
        np.testing.assert_array_equal(distribution.low, distribution.high)


@pytest.mark.parametrize(
    ("learner", "given"),
    [pytest.param("privatree", {"grow_complete": True}, marks=pytest.mark.slow), ("privatree-corrected", {})],
)
def test_where_noise_is_cut_off_bounds_lie_on_either_side_of_one(learner, given):
    for distribution in level_distributions(ask(learner, **given), TINY):
        assert (np.exp(distribution.low).sum(axis=1) <= 1 + 1e-12).all()
        assert (np.exp(distribution.high).sum(axis=1) >= 1 - 1e-12).all()
        assert (distribution.low <= distribution.high).all()


@pytest.mark.slow
def test_a_tree_has_one_level_per_depth_and_the_last_one_no_children():
    one_row = Universe((2,), depth=2, max_rows=1)
    found = level_distributions(ask("pf-tree", lookahead=1), one_row)
    assert [distribution.has_children for distribution in found] == [True, False]
    together = level_distributions(ask("pf-tree", Universe((2,), depth=4, max_rows=1)), one_row)
    assert [distribution.has_children for distribution in together] == [True, False]
    assert {outcome.depth for outcome in together[0].outcomes} == {2}
    assert {len(outcome.open) for outcome in together[0].outcomes} == {4}
    complete = level_distributions(ask("privatree", grow_complete=True), one_row)
    assert [distribution.has_children for distribution in complete] == [True, True, False]


@pytest.mark.slow
def test_a_step_that_reads_other_rows_is_listed_whole():
    whole = level_distributions(ask(LOOKS_AT_ALL_ROWS), TINY)
    assert len(whole) == 1
    assert all(isinstance(outcome.complete(()), dict) for outcome in whole[0].outcomes)
    same = level_distributions(ask(replace(LOOKS_AT_ALL_ROWS, prepare=None)), TINY)
    np.testing.assert_array_equal(whole[0].low, same[0].low)


def test_listing_whole_learners_has_a_limit(monkeypatch):
    monkeypatch.setattr(distributions, "MOST_RUNS", 50)
    with pytest.raises(NotEnumerable, match="ways"):
        level_distributions(ask(replace(GROWING, prepare=None)), TINY)


@pytest.mark.parametrize("learner", ["privatree", "privatree-star"])
def test_what_is_done_before_growing_is_not_listed_and_says_so(learner):
    numbers = Universe((3,), numeric=True, max_rows=2)
    with pytest.raises(NotEnumerable, match="cannot be listed") as refusal:
        level_distributions(ask(learner, numbers), numbers)
    assert refusal.value.remedy


def test_what_cannot_be_listed_is_refused_with_a_reason():
    three = Universe((3,), max_rows=2)
    with pytest.raises(NotEnumerable, match="only for two classes and features of two categories"):
        level_distributions(ask("privatree", three, grow_complete=True), three)
    schema = Schema(TINY.schema.features, NumericTarget("y", 0, 1), n_public=3)
    numbers = replace(get_learner("majority"), task="number")
    with pytest.raises(NotEnumerable, match="grows no tree of numbers"):
        PlannedLearner.of(numbers, schema, epsilon=1.0, depth=1)
    majority = get_learner("majority")
    approximate = replace(majority, claim=lambda *given: replace(majority.claim(*given), delta=1e-5))
    with pytest.raises(NotEnumerable, match="A claim with delta"):
        ask(approximate)
    for epsilon in (1e-4, 21.0, float("nan")):
        with pytest.raises(ParameterError, match=r"'epsilon' parameter of verify must be a number in \[0\.001, 20\]"):
            ask("pf-tree", epsilon=epsilon)
    one = Universe((1,), max_rows=2)
    assert isinstance(one.schema.target, ClassTarget)
    with pytest.raises(NotEnumerable, match="No feature can be split"):
        ask("pf-tree", one)
