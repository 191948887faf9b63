"""Verification: exact against brute force, and every planted bug is caught."""

import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import dpviz
from dpviz.accounting.claim import Claim
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.errors import Cancelled, DpvizError, ParameterError, UnknownName, UnsupportedError
from dpviz.evaluation.audit.evidence import BoundLearner, exceeds, judge, worst_of
from dpviz.evaluation.audit.exact import NodeLaws, Universe
from dpviz.evaluation.audit.verify import (
    COUNTEREXAMPLES,
    QUICK_UNIVERSES,
    UNIVERSES,
    CandidatePair,
    require_neighbours,
    verify,
    verify_each,
)
from dpviz.privacy.source import Simulation
from tests.support.audits import HOLDS
from tests.support.planted import EXACT_LABELS, FREE, GROWING, HALF_NOISE, LOOKS_AT_ALL_ROWS, MODEST, whole

TINY = (
    Universe((2,), depth=1, max_rows=4),
    Universe((2,), depth=2, max_rows=3),
    Universe((2, 2), depth=2, max_rows=2),
    Universe((3,), numeric=True, depth=2, max_rows=2),
)
SMALL = Universe((2, 2), depth=1, max_rows=3)
TIE = CandidatePair("a tie broken", ((0, 0), (1, 1), (1, 1)))
PAIRS = {pair.title: pair for pair in COUNTEREXAMPLES}
ROWS_1_2 = PAIRS["one row against two rows of different classes, depth 1"]
TWELVE = PAIRS["12 against 13 rows in 4 identical columns, depth 1"]

#: Every tree of two levels of three categories on every table: with a row fewer minutes less, and as many trees.
FEWER = {place: replace(place, max_rows=place.max_rows - 1) for place in UNIVERSES if 3 in place.bins and not place.numeric}

slow, full = pytest.mark.slow, pytest.mark.verify


def title(place):
    """Of a universe or a pair; an epsilon is its own."""
    return getattr(place, "title", None)


# --- exact


@pytest.mark.slow
@pytest.mark.parametrize(
    ("universe", "epsilon"),
    [
        *((universe, 1.0) for universe in TINY[:2]),
        *(pytest.param(universe, 1.0, marks=slow) for universe in TINY[2:]),
        *(pytest.param(universe, epsilon, marks=full) for universe in TINY[:2] for epsilon in (0.1, 5.0)),
    ],
    ids=title,
)
def test_level_by_level_is_listing_whole_trees_and_the_chances_of_a_pair_of_neighbours_give_the_ratio(universe, epsilon):
    levels, trees = (verify(learner, epsilon=epsilon, universes=(universe,)) for learner in (GROWING, whole(GROWING)))
    assert levels.log_ratio == pytest.approx(trees.log_ratio, rel=1e-9)
    assert levels.n_pairs == trees.n_pairs
    assert 0 < levels.log_ratio < math.inf
    for found in (levels, trees, verify("privatree-corrected", epsilon=epsilon, universes=(SMALL,))):
        pair = found.worst_pair
        more, fewer = Counter(pair.second), Counter(pair.first)
        assert (more - fewer).total() == 1
        assert not fewer - more
        assert {len(row) for row in pair.second} == {len(pair.columns)}
        low, high = sorted(pair.probabilities)
        assert math.log(high / low) == pytest.approx(found.log_ratio, rel=1e-9)


@pytest.mark.parametrize("draws", [pytest.param(200, marks=slow), pytest.param(1_000, marks=full)])
def test_the_worst_output_has_its_printed_chances_in_the_learners_own_fit(draws):
    asked = {"epsilon": 2.0, "depth": 2, "leaves": "labels"}
    found = verify(GROWING, epsilon=2.0, universes=(TINY[1],))
    pair, schema = found.worst_pair, TINY[1].schema
    for rows, chance in zip((pair.first, pair.second), pair.probabilities, strict=True):
        table = dpviz.read_table("\n".join(",".join(row) for row in (pair.columns, *rows, *[])).encode() + b"\n")
        data = dpviz.encode(table, schema)
        hits = sum(
            json.loads(dpviz.fit("pf-tree", data, **asked, source=source).to_json())["root"] == found.output["root"]
            for source in map(Simulation, range(draws))
        )
        spread = math.sqrt(draws * chance * (1 - chance))
        assert abs(hits - draws * chance) < 5 * spread + 1


# --- what is known of the learners


@pytest.mark.parametrize(
    ("universe", "epsilon"),
    [
        *((place, epsilon) for place in (ROWS_1_2, TINY[1]) for epsilon in (0.1, 1.0, 5.0)),
        *(pytest.param(place, 1.0, marks=slow) for place in (*TINY[2:], Universe((2,), n_classes=0, depth=1, max_rows=2))),
        *(pytest.param(place, epsilon, marks=full) for place in (UNIVERSES[0], UNIVERSES[7]) for epsilon in (0.1, 5.0)),
        *(pytest.param(FEWER.get(place, place), 1.0, marks=full) for place in UNIVERSES),
        *(pytest.param(place, 1.0, marks=slow) for place in COUNTEREXAMPLES if place is not ROWS_1_2),
    ],
    ids=title,
)
def test_pf_tree_holds_on_every_default_universe(universe, epsilon):
    of_numbers = isinstance(universe, Universe) and not universe.n_classes
    found = verify("pf-tree" if of_numbers else GROWING, epsilon=epsilon, universes=(universe,))
    assert found.verdict == "holds"
    assert 0 < found.log_ratio <= epsilon * (1 + 1e-9)
    assert found.composed <= found.claimed == epsilon


@pytest.mark.slow
def test_no_privacy_is_no_claim_what_reads_nothing_loses_nothing_and_a_claim_below_the_ledger_is_violated():
    found = verify("cart", universes=(SMALL,))
    assert (found.verdict, found.log_ratio, found.claimed) == ("none", math.inf, math.inf)
    found = verify(FREE, epsilon=1.0, universes=(SMALL, TWELVE))
    assert (found.log_ratio, found.verdict) == (0.0, "holds")
    assert found.worst_pair is None
    assert found.output == {}
    found = verify(MODEST, epsilon=1.0, universes=(SMALL,))
    assert (found.claimed, found.verdict) == (0.5, "violated")
    assert found.log_ratio < found.composed


# --- bugs planted


@pytest.mark.parametrize(
    ("broken", "place", "least", "most"),
    [
        (HALF_NOISE, SMALL, 1.5, 2.0),
        pytest.param(HALF_NOISE, Universe((2, 2), depth=2, max_rows=4), 1.5, 2.0, marks=full),
        *((spec, SMALL, math.inf, math.inf) for spec in (EXACT_LABELS, LOOKS_AT_ALL_ROWS)),
        *((spec, TIE, math.inf, math.inf) for spec in (EXACT_LABELS, LOOKS_AT_ALL_ROWS)),
    ],
    ids=title,
)
def test_half_the_noise_and_rows_read_past_the_ledger_violate_it(broken, place, least, most):
    found = verify(broken, epsilon=1.0, universes=(place,))
    assert found.verdict == "ledger violated"
    assert found.composed == pytest.approx(1.0)
    assert least <= found.log_ratio <= most


# --- verdicts


@pytest.mark.parametrize(
    ("ratio", "claimed", "composed", "verdict"),
    [
        (0.9, 1.0, 1.0, "holds"),
        (1.0, 1.0, 1.0, "holds"),
        (1.0 + 1e-12, 1.0, 1.0, "holds"),
        (0.9, 1.0, 1.5, "unproven"),
        (0.9, 1.0, math.inf, "unproven"),
        (1.2, 1.0, 1.5, "violated"),
        (1.2, 1.0, math.inf, "violated"),
        (math.inf, 1.0, math.inf, "violated"),
        (1.6, 1.0, 1.5, "ledger violated"),
        (1.2, 2.0, 1.0, "ledger violated"),
        (math.inf, math.inf, 1.0, "ledger violated"),
        (0.5, math.inf, 1.0, "none"),
        (math.inf, math.inf, math.inf, "none"),
    ],
)
def test_a_verdict_compares_with_the_ledger_first_and_the_claim_second(ratio, claimed, composed, verdict):
    assert judge(ratio, Claim(claimed, "", "holds", ""), PrivacyLoss(composed)) == verdict


def test_the_worst_result_is_the_most_severe_then_the_largest_and_only_more_than_rounding_exceeds():
    assert not exceeds(1.0 + 1e-10, 1.0)
    assert exceeds(1.0 + 1e-8, 1.0)
    assert not exceeds(0.0, 0.0)
    assert exceeds(1e-9, 0.0)
    assert not exceeds(math.inf, math.inf)
    base = replace(HOLDS, log_ratio=0.1)
    large, severe = replace(base, log_ratio=0.9), replace(base, log_ratio=0.2, verdict="unproven")
    assert worst_of([base, large]) is large
    assert worst_of([large, severe, base]) is severe


# --- pairs


def alone(learner, universe, start):
    planned = BoundLearner.of(learner, universe.schema, epsilon=1.0, depth=universe.depth)
    return NodeLaws(planned, universe.kinds).largest([start])


@slow
@pytest.mark.parametrize("learner", [GROWING, "privatree-corrected"], ids=["growing", "corrected"])
def test_the_worst_pair_of_a_universe_is_the_worst_of_its_pairs_alone(learner):
    universe = Universe((2, 2), depth=2, max_rows=2)
    everywhere = verify(learner, epsilon=1.0, universes=(universe,))
    assert max(alone(learner, universe, pair).log_ratio for pair in universe.starts) == pytest.approx(
        everywhere.log_ratio, rel=1e-9
    )


def test_a_pair_of_numbers_is_followed_through_thresholds():
    universe = Universe((3,), numeric=True, depth=2, max_rows=4)
    start = tuple(universe.counts[7].tolist()), 3
    levels, trees = (alone(learner, universe, start) for learner in (GROWING, whole(GROWING)))
    assert levels.log_ratio == pytest.approx(trees.log_ratio, rel=1e-9)
    low, high = sorted(trees.pair.probabilities)
    assert math.log(high / low) == pytest.approx(trees.log_ratio)


def test_candidates_are_neighbours_and_what_is_none_or_unknown_is_refused():
    universe = Universe((2,), max_rows=4)
    empty, two = universe.dataset(0), next(universe.dataset(i) for i in range(9) if universe.counts[i].sum() == 2)
    for first, second in ((empty, two), (two, two)):
        with pytest.raises(DpvizError, match=r"The two data sets are not neighbours\. Add or remove exactly one row\."):
            require_neighbours(first, second)
    with pytest.raises(DpvizError, match="different schemas"):
        require_neighbours(empty, SMALL.dataset(1))
    with pytest.raises(UnknownName, match="no learner"):
        verify("pf-treee")
    with pytest.raises(UnknownName, match="no parameter of 'pf-tree' called 'colour'"):
        verify("pf-tree", universes=(SMALL,), colour=1)
    for pair in COUNTEREXAMPLES:
        [(counts, kind)] = pair.starts
        rows = np.column_stack((*pair.kinds.columns, pair.kinds.target))
        assert Counter(pair.rows[:-1]) == {tuple(row): n for row, n in zip(rows.tolist(), counts, strict=True) if n}
        assert tuple(rows[kind]) == pair.rows[-1]
    largest = {(u.bins, u.numeric, u.n_classes, u.depth): u.max_rows for u in UNIVERSES}
    for quick in QUICK_UNIVERSES:
        assert quick.max_rows <= largest[quick.bins, quick.numeric, quick.n_classes, quick.depth]


# --- running it


@pytest.mark.parametrize("name", ["schema", "depth", "max_depth", "test_share"])
def test_what_verification_sets_itself_is_refused_by_name(name):
    with pytest.raises(ParameterError, match=f"'{name}' parameter of verify must be left out"):
        verify("pf-tree", **{name: 2})


@pytest.mark.slow
def test_universes_that_cannot_be_listed_are_left_out_and_a_stop_inside_one_cancels():
    numbers = Universe((3,), numeric=True, max_rows=2)
    assert [found.searched for found in verify_each("privatree", universes=(numbers, SMALL))] == [SMALL.title]
    with pytest.raises(UnsupportedError):
        verify("privatree", universes=(numbers,))
    told = []
    verify("pf-tree", universes=(SMALL, TINY[0], ROWS_1_2), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > 100
    assert any(0 < share < 1 / 3 for share in told)
    asked = []

    def stop():
        asked.append(1)
        return len(asked) > 20

    with pytest.raises(Cancelled):
        verify("pf-tree", universes=(SMALL,), stop=stop)
    assert len(asked) == 21
