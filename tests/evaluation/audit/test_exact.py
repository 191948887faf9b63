"""Laws of nodes: complete, of the rows that reach a node alone, and the same as listing whole trees."""

from dataclasses import replace

import pytest

from dpviz.errors import NotEnumerable, ParameterError
from dpviz.evaluation.audit.evidence import PlannedLearner
from dpviz.evaluation.audit.exact import NodeLaws, Universe, whole_distribution
from dpviz.evaluation.audit.sources import Enumeration
from dpviz.learners import get_learner
from dpviz.table.schema import ClassTarget, NumericTarget, Schema
from tests.support.planted import GROWING, LOOKS_AT_ALL_ROWS

TINY = Universe((2,), depth=2, max_rows=3)


def ask(learner, universe=TINY, epsilon=1.0, **given):
    return PlannedLearner.of(learner, universe.schema, epsilon=epsilon, depth=universe.depth, **given)


def laws_of(planned, universe=TINY, **how):
    """(laws, the law of every data set on every level), level by level until no subtree is open."""
    laws, found, level = NodeLaws(planned, universe.kinds, **how), [], 0
    while level == 0 or any(outcome.open for outcome in laws.outcomes[level - 1]):
        found += [laws.law(tuple(counts), level) for counts in universe.counts.tolist()]
        level += 1
    return laws, found


@pytest.mark.parametrize(
    ("learner", "epsilon", "given"),
    [
        *((name, epsilon, {}) for name in ("pf-tree", "majority", "cart") for epsilon in (0.1, 5.0)),
        pytest.param("privatree", 1.0, {"grow_complete": True}, marks=pytest.mark.slow),
        ("privatree-corrected", 1.0, {}),
    ],
)
def test_probabilities_sum_to_one_and_to_less_by_what_was_cut_off(learner, epsilon, given):
    _, found = laws_of(ask(learner, epsilon=epsilon, **given))
    assert len(found) >= len(TINY.keys)
    assert all(law.cut == 0 for law in found) or learner.startswith("privatree")
    for law in found:
        assert law.chances.sum() <= 1 + 1e-12
        assert (law.chances + law.cut).sum() >= 1 - 1e-12
        assert (law.chances > 0).all()


@pytest.mark.slow
def test_a_tree_has_one_level_per_depth_and_the_last_one_no_children():
    one_row = Universe((2,), depth=2, max_rows=1)
    assert len(laws_of(ask("pf-tree", lookahead=1), one_row)[0].outcomes) == 2
    together, _ = laws_of(ask("pf-tree", Universe((2,), depth=4, max_rows=1)), one_row)
    assert len(together.outcomes) == 2
    assert {(outcome.depth, len(outcome.open)) for outcome in together.outcomes[0]} == {(2, 4)}
    assert len(laws_of(ask("privatree", grow_complete=True), one_row)[0].outcomes) == 3


@pytest.mark.slow
def test_a_step_that_reads_other_rows_is_listed_whole():
    laws = NodeLaws(ask(LOOKS_AT_ALL_ROWS), TINY.kinds)
    counts = (1, 0, 0, 1)
    laws.largest([(counts, 0)])
    assert len(laws.outcomes) == 1
    bodies = [outcome.complete(()) for outcome in laws.outcomes[0]]
    assert all(isinstance(body, dict) for body in bodies)
    whole = whole_distribution(laws.planned, laws.dataset(counts), Enumeration())
    assert sorted(laws.law(counts, 0).chances) == pytest.approx(sorted(whole.values()))


def test_listing_whole_learners_has_a_limit():
    with pytest.raises(NotEnumerable, match="ways"):
        laws_of(ask(replace(GROWING, prepare=None)), most_runs=1)


@pytest.mark.parametrize("learner", ["privatree", "privatree-star"])
def test_what_is_done_before_growing_is_not_listed_and_says_so(learner):
    numbers = Universe((3,), numeric=True, max_rows=2)
    with pytest.raises(NotEnumerable, match="cannot be listed") as refusal:
        laws_of(ask(learner, numbers), numbers)
    assert refusal.value.remedy


def test_what_cannot_be_listed_is_refused_with_a_reason():
    three = Universe((3,), max_rows=2)
    with pytest.raises(NotEnumerable, match="only for two classes and features of two categories"):
        laws_of(ask("privatree", three, grow_complete=True), three)
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
