"""Exact laws: every outcome is listed once, of the rows that reach a node alone, over every small table."""

from collections import Counter
from dataclasses import replace
from math import comb

import numpy as np
import pytest

from dpviz.errors import ParameterError, UnsupportedError
from dpviz.evaluation.audit.evidence import BoundLearner
from dpviz.evaluation.audit.exact import NodeLaws, Universe, whole_distribution
from dpviz.evaluation.audit.sources import Enumeration
from dpviz.learners import get_learner
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.table.schema import NumericTarget, Schema
from tests.support.planted import GROWING, LOOKS_AT_ALL_ROWS, whole

TINY = Universe((2,), depth=2, max_rows=3)
CHOICE = PermuteAndFlip(1.0, COUNT)
slow = pytest.mark.slow


# --- listing what code draws


def two_stages(source):
    """The second draw depends on the first; a third happens on one branch only."""
    first = source.draw(CHOICE, np.array([2, 0]))
    second = source.draw(CHOICE, np.array([first, 1, 3]))
    third = source.draw(CHOICE, np.array([0, 5])) if first else None
    return first, second, third


def test_every_path_is_walked_once_with_the_product_of_its_chances_and_again_with_the_same():
    source = Enumeration()
    listed = list(source.outcomes(lambda: two_stages(source)))
    expected = {}
    for first, p in enumerate(CHOICE.probabilities(np.array([2, 0]))):
        for second, q in enumerate(CHOICE.probabilities(np.array([first, 1, 3]))):
            thirds = enumerate(CHOICE.probabilities(np.array([0, 5]))) if first else [(None, 1.0)]
            expected |= {(first, second, third): p * q * r for third, r in thirds}
    assert len(listed) == len(expected) == 9
    assert dict(listed) == pytest.approx(expected, rel=1e-12)
    assert sum(expected.values()) == pytest.approx(1, abs=1e-12)
    assert list(source.outcomes(lambda: two_stages(source), max_runs=9)) == listed
    assert not source.has_drawn
    source.draw(CHOICE, np.array([1, 2]))
    assert source.has_drawn


def test_what_cannot_be_listed_is_refused_after_one_run_and_impossible_outcomes_are_left_out():
    class Certain:
        title = "certain"

        def probabilities(self, values):
            return np.array([0.0, 1.0, 0.0])

    source, runs = Enumeration(), []
    assert list(source.outcomes(lambda: source.draw(Certain(), None))) == [(1, 1.0)]
    assert list(source.outcomes(lambda: "same")) == [("same", 1.0)]
    with pytest.raises(UnsupportedError, match="'geometric' cannot be listed"):
        Enumeration().draw(GeometricNoise(1.0), np.array([3]))

    def run():
        runs.append(1)
        return [source.draw(CHOICE, np.zeros(4, dtype=np.int64)) for _ in range(10)]

    with pytest.raises(UnsupportedError, match="more than 1,000 ways"):
        list(source.outcomes(run, max_runs=1000))
    assert len(runs) == 1
    with pytest.raises(UnsupportedError):
        list(source.outcomes(lambda: two_stages(source), max_runs=5))


# --- small tables


def bag(universe, index):
    return +Counter(dict(enumerate(universe.counts[index].tolist())))


@pytest.mark.parametrize(
    "universe",
    [
        Universe((2, 2), max_rows=3),
        Universe((3,), n_classes=3, max_rows=2),
        Universe((2,), copies=3, max_rows=4),
        Universe((3,), numeric=True, max_rows=3),
    ],
    ids=lambda universe: universe.title,
)
def test_a_universe_has_every_table_once_and_arithmetic_on_them_is_counting_rows(universe, rng):
    kinds, n_sets = universe.kinds, len(universe.keys)
    rows = set(zip(*(column.tolist() for column in (*kinds.columns, kinds.target)), strict=True))
    assert len(rows) == kinds.n_rows == int(np.prod(universe.bins)) * universe.n_classes
    for *values, _ in rows:
        assert all(len(set(values[at : at + universe.copies])) == 1 for at in range(0, len(values), universe.copies))
    bags = [bag(universe, index) for index in range(n_sets)]
    assert n_sets == comb(kinds.n_rows + universe.max_rows, universe.max_rows) == len({frozenset(one.items()) for one in bags})
    for index, one in enumerate(bags):
        for kind in range(kinds.n_rows):
            larger = int(universe.plus_one[index, kind])
            assert (larger == -1) if one.total() == universe.max_rows else bags[larger] == one + Counter([kind])
    for _ in range(5):
        reached = rng.random(kinds.n_rows) < 0.5
        for one, part in zip(bags, universe.part(reached), strict=True):
            assert bags[part] == Counter({kind: count for kind, count in one.items() if reached[kind]})
    assert [universe.dataset(at).n_rows for at in (0, n_sets - 1)] == [0, universe.max_rows]
    assert universe.dataset(0).schema == universe.schema


# --- laws of nodes


def ask(learner, universe=TINY, epsilon=1.0, **given):
    return BoundLearner.of(learner, universe.schema, epsilon=epsilon, depth=universe.depth, **given)


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
        pytest.param("privatree", 1.0, {"grow_complete": True}, marks=slow),
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


@slow
def test_levels_that_are_chosen_together_are_one_and_a_step_that_reads_other_rows_is_listed_whole():
    one_row = Universe((2,), depth=2, max_rows=1)
    together, _ = laws_of(ask("pf-tree", Universe((2,), depth=4, max_rows=1)), one_row)
    assert {(outcome.depth, len(outcome.open)) for outcome in together.outcomes[0]} == {(2, 4)}
    for name, given, levels in (("pf-tree", {"lookahead": 1}, 2), ("privatree", {"grow_complete": True}, 3)):
        assert len(laws_of(ask(name, **given), one_row)[0].outcomes) == levels
    laws, counts = NodeLaws(ask(LOOKS_AT_ALL_ROWS), TINY.kinds), (1, 0, 0, 1)
    laws.largest([(counts, 0)])
    assert len(laws.outcomes) == 1
    assert all(isinstance(outcome.complete(()), dict) for outcome in laws.outcomes[0])
    whole = whole_distribution(laws.planned, laws.dataset(counts), Enumeration())
    assert sorted(laws.law(counts, 0).chances) == pytest.approx(sorted(whole.values()))


def test_what_has_no_exact_law_is_refused_with_a_reason():
    majority, numbers = get_learner("majority"), Universe((3,), numeric=True, max_rows=2)
    three, one = Universe((3,), max_rows=2), Universe((1,), max_rows=2)
    approximate = replace(majority, claim=lambda *given: replace(majority.claim(*given), delta=1e-5))
    schema = Schema(TINY.schema.features, NumericTarget("y", 0, 1), n_public=3)
    for reason, asked in (
        ("ways", lambda: laws_of(ask(whole(GROWING)), max_runs=1)),
        ("cannot be listed", lambda: laws_of(ask("privatree", numbers), numbers)),
        ("cannot be listed", lambda: laws_of(ask("privatree-star", numbers), numbers)),
        ("only for two classes", lambda: laws_of(ask("privatree", three, grow_complete=True), three)),
        ("grows no tree of numbers", lambda: BoundLearner.of(replace(majority, task="number"), schema, epsilon=1.0, depth=1)),
        ("A claim with delta", lambda: ask(approximate)),
        ("No feature can be split", lambda: ask("pf-tree", one)),
    ):
        with pytest.raises(UnsupportedError, match=reason) as refusal:
            asked()
        assert refusal.value.remedy or reason.startswith("only for two")
    for epsilon in (1e-4, 21.0, float("nan")):
        with pytest.raises(ParameterError, match="'epsilon' parameter of verify"):
            ask("pf-tree", epsilon=epsilon)
