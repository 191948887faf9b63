"""How steps compose: against exact fractions on random events; ledgers, plans and budgets are views of events."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpviz.accounting.claim import Claim
from dpviz.accounting.events import (
    ApproximateDP,
    BoundedRange,
    Event,
    Free,
    GaussianRounds,
    Parallel,
    PureDP,
    RandomPartition,
    Sequential,
    Step,
    placed_steps,
    walk,
)
from dpviz.accounting.guarantee import PrivacyLoss, guarantee, round_down, round_up, split_budget
from dpviz.accounting.ledger import Ledger, LedgerRow, ledger_entries, ledger_from
from dpviz.accounting.plan import BudgetPlan, HeldOutPart, Share
from dpviz.errors import DocumentError, DpvizError, ParameterError
from dpviz.table.strict_json import parse_json, without_infinity

EPSILONS = st.floats(0, 1e6) | st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 5e-324, 1e-300])
PURE = st.builds(
    Step, st.builds(PureDP, EPSILONS), st.sampled_from("ab"), st.sampled_from([0, 1, None]), st.just("permute-and-flip")
)
RANGE = st.builds(Step, st.builds(BoundedRange, EPSILONS), st.just("node"), st.just(0), st.just("exponential mechanism"))
DELTAS = st.builds(Step, st.builds(ApproximateDP, EPSILONS, st.floats(0, 0.1)), st.just("model"), mechanism=st.just("any"))
EXACT = Step.unbounded("published as they are", "quantile")
ROUNDS = Step(GaussianRounds(1.0, 1e-6, 60.0, 1.0, 9, None), "tree", mechanism="Gaussian")


def _events(leaves: st.SearchStrategy[Step], least: int = 0) -> st.SearchStrategy[Event]:
    def deeper(inner: st.SearchStrategy[Event]) -> st.SearchStrategy[Event]:
        inside = st.lists(inner, min_size=least, max_size=4).map(tuple)
        parts = inside.map(lambda e: RandomPartition(e, (0.9 / max(len(e), 1),) * len(e)))
        return st.builds(Sequential, inside) | st.builds(Parallel, inside) | parts

    return st.recursive(leaves, deeper, max_leaves=12)


EVENTS = _events(PURE | RANGE | DELTAS | st.just(Step(Free(), "split")))


def _exact(event: Event, name: str) -> Fraction:
    if isinstance(event, Step):
        return Fraction(getattr(event.cost, name, 0))
    inside = [_exact(one, name) for one in event.events]
    return sum(inside, Fraction(0)) if isinstance(event, Sequential) else max(inside, default=Fraction(0))


@given(EVENTS)
def test_the_guarantee_is_the_exact_cost_rounded_up_to_the_next_float(event):
    loss = guarantee(event)
    for found, exact in ((loss.epsilon, _exact(event, "epsilon")), (loss.delta, min(_exact(event, "delta"), Fraction(1)))):
        assert Fraction(found) >= exact
        assert found == 0 or Fraction(math.nextafter(found, -math.inf)) < exact


@pytest.mark.slow
@given(EVENTS, st.lists(st.tuples(st.sampled_from([Sequential, Parallel]), EVENTS, st.booleans()), max_size=6))
def test_one_exact_number_anywhere_makes_epsilon_infinite(event, nesting):
    inside: Event = Sequential((event, EXACT))
    for kind, neighbour, first in nesting:
        inside = kind((inside, neighbour) if first else (neighbour, inside))
    assert guarantee(inside).epsilon == math.inf
    assert not guarantee(inside).is_finite


def test_of_the_parts_of_an_assignment_the_largest_counts_however_unlikely():
    parts = Step(PureDP(0.1), "node"), Step(ApproximateDP(0.2, 1e-6), "model")
    for probabilities in ((0.99, 0.01), (1.0, 0.0)):
        assert guarantee(RandomPartition(parts, probabilities)) == PrivacyLoss(0.2, 1e-6)
    for wrong in ((0.5,), (0.5, 0.6), (-0.1, 0.5), (math.nan, 0.5)):
        with pytest.raises(ParameterError, match="probabilities"):
            RandomPartition(parts, wrong)


def test_sums_near_the_ends_of_floats():
    assert guarantee(Sequential((Step(PureDP(0.1), "node"),) * 10)).epsilon == math.nextafter(1, 2)  # 0.1 is above one tenth
    assert guarantee(Step(PureDP(math.inf), "leaf")).epsilon == math.inf
    assert guarantee(Sequential((Step(PureDP(1e308), "leaf"),) * 2)).epsilon == math.inf
    assert guarantee(Sequential((Step(ApproximateDP(0.1, 0.4), "model"),) * 5)).delta == 1.0


@pytest.mark.parametrize(
    "cost", [*map(PureDP, (-1.0, -5e-324, math.nan)), *(ApproximateDP(0.1, d) for d in (-0.1, 1.5, math.nan))]
)
@pytest.mark.parametrize("wrap", [lambda e: e, lambda e: Sequential((EXACT, e)), lambda e: Parallel((EXACT, Sequential((e,))))])
def test_an_impossible_cost_is_refused_at_any_nesting(cost, wrap):
    with pytest.raises(DpvizError, match="An event must cost a"):
        guarantee(wrap(Step(cost, "node")))


@given(st.fractions(0, 10**9))
def test_rounding_brackets_the_fraction(value):
    below, above = round_down(value), round_up(value)
    assert Fraction(below) <= value <= Fraction(above)
    assert below == above or math.nextafter(below, math.inf) == above


def test_share_of_guesses_that_can_be_right():
    for epsilon, share in ((0.0, 0.5), (0.1, 0.52498), (0.5, 0.62246), (1.0, 0.73106), (2.0, 0.8808), (800, 1.0), (math.inf, 1)):
        assert PrivacyLoss(epsilon).guesses_right == pytest.approx(share, abs=5e-6)
    assert PrivacyLoss(0.0, delta=0.1).guesses_right == pytest.approx(0.6)
    assert PrivacyLoss(20.0, delta=0.1).guesses_right == 1.0


@given(st.floats(1e-6, 1e6) | st.sampled_from([0.1, 0.01, 0.5]), st.lists(st.just(0.0) | st.floats(1e-3, 1e3), min_size=1))
def test_shares_never_exceed_the_budget_and_compose_to_it(epsilon, weights):
    shares = split_budget(epsilon, (*weights, 1.0))
    assert [share == 0 for share in shares[:-1]] == [weight == 0 for weight in weights]
    assert sum(map(Fraction, shares)) <= Fraction(epsilon)
    assert guarantee(Sequential(tuple(Step(PureDP(share), "node") for share in shares))).epsilon == epsilon


@pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf])
@pytest.mark.parametrize("weights", [(1.0,), (), (0.0, 0.0), (1.0, -1.0), (1.0, math.nan), (math.inf, 1.0)])
def test_an_impossible_budget_or_weight_is_refused(epsilon, weights):
    for asked in ((epsilon, weights), (1.0, weights if weights != (1.0,) else ())):
        with pytest.raises(ParameterError, match="parameter of split_budget must be finite and not negative"):
            split_budget(*asked)


# --- ledgers

ROOT = Step(PureDP(0.3), "node", 0, "permute-and-flip")
LEFT = Step(PureDP(0.2), "node", 1, "permute-and-flip")
RIGHT = Step(PureDP(0.5), "leaf", 1, "geometric")
TREE = Sequential((ROOT, Parallel((LEFT, Sequential((LEFT, RIGHT)), Step(Free(), "split", 1), EXACT))))


def test_rows_are_the_steps_one_line_each_and_spent_is_the_costliest_path():
    assert Ledger(TREE).rows() == (
        LedgerRow("1", "select", "permute-and-flip", "node", 0, 0.3),
        LedgerRow("2a", "select", "permute-and-flip", "node", 1, 0.2),
        LedgerRow("2b.1", "select", "permute-and-flip", "node", 1, 0.2),
        LedgerRow("2b.2", "noise", "geometric", "leaf", 1, 0.5),
        LedgerRow("2c", "no cost", "", "split", 1, 0.0),
        LedgerRow("2d", "non-private", "", "quantile", None, math.inf, note="published as they are"),
    )
    assert Ledger(TREE).spent() == {("node", 0): 0.3, ("quantile", None): math.inf}
    private = Sequential((ROOT, Parallel((LEFT, Sequential((LEFT, RIGHT))))))
    assert Ledger(private).spent() == {("node", 0): 0.3, ("node", 1): 0.2, ("leaf", 1): 0.5}
    assert Ledger(Sequential((LEFT,) * 3)).spent() == {("node", 1): math.nextafter(0.6, 1)}  # never below three times the float


@given(_events(PURE))
def test_what_was_spent_adds_up_to_the_guarantee(event):
    ledger = Ledger(event)
    epsilon = Fraction(ledger.guarantee.epsilon)
    assert abs(sum(map(Fraction, ledger.spent().values()), Fraction(0)) - epsilon) <= epsilon / 2**48
    assert set(ledger.spent()) <= {(step.part, step.level) for _, step in walk(event)}


@pytest.mark.slow
@example(Sequential((Parallel((LEFT, Sequential((RIGHT, LEFT))) * 20), ROOT)))  # more than there are letters
@given(_events(PURE | RANGE | DELTAS | st.sampled_from([Step(Free(), "split"), EXACT, ROUNDS]), least=1))
def test_a_ledger_is_read_as_it_was_written_and_every_path_is_used_once(event):
    ledger = Ledger(event)
    again = ledger_from(parse_json(json.dumps(without_infinity(ledger_entries(ledger)))), "ledger")
    assert (again.rows(), list(placed_steps(again.event))) == (ledger.rows(), list(placed_steps(event)))
    assert again.guarantee == ledger.guarantee
    assert len({row.path for row in ledger.rows()}) == len(ledger.rows())


def test_steps_of_one_part_stand_together_and_a_bounded_range_is_believed_of_exponential_mechanisms_alone():
    """Read as parts of their own, the second half of branch a would cost nothing beside the first."""
    first, second, third, fourth = ledger_entries(Ledger(Parallel((Sequential((ROOT, ROOT)), Sequential((LEFT, LEFT))))))
    assert ledger_from([first, second, third, fourth], "ledger").guarantee.epsilon == 0.6
    with pytest.raises(DocumentError, match="do not stand together"):
        ledger_from([first, third, second, fourth], "ledger")
    for mechanism in ("permute-and-flip", "geometric"):
        (entry,) = ledger_entries(Ledger(Step(BoundedRange(0.3), "node", 0, mechanism)))
        with pytest.raises(DocumentError, match="bounded range"):
            ledger_from([entry], "ledger")


# --- plans

PLAN = BudgetPlan(
    1.0,
    depth=2,
    shares=(
        Share("quantile", None, 0.05, n_compositions=4, costs=(BoundedRange(0.05),)),
        Share("node", 0, 0.3, group="numeric", n_compositions=2, at_once=True),
        Share("node", 0, 0.2, group="categorical"),
        Share("tree", None, 0.1, gaussian=(1.0, 9, False)),
    ),
    delta=1e-6,
    held_out=(HeldOutPart("leaf sums", 0.2, 1.0, parts=(0.25, 0.75)), HeldOutPart("test", 0.1, 1.0)),
)


def test_the_event_of_a_plan_is_what_a_row_may_meet():
    event = PLAN.event(shared=True)
    assert isinstance(event, RandomPartition)
    assert (event.probabilities, event.shared, PLAN.event().shared) == (PLAN.probabilities, True, False)
    grown, sums, tested = event.events
    costs = [step.cost for _, step in walk(grown)]
    assert costs[:-1] == [BoundedRange(0.05)] * 4 + [PureDP(0.6), PureDP(0.2)]
    assert costs[-1] == PLAN.rounds("tree")[1]
    assert guarantee(grown) == PrivacyLoss(round_up(sum(map(Fraction, (0.05, 0.05, 0.05, 0.05, 0.6, 0.2, 0.1)))), 1e-6)
    assert [guarantee(part).epsilon for part in (sums, tested)] == [1.0, 1.0]
    looked = BudgetPlan(1.0, 1, (Share("leaf", 1, 1.0),), unbounded=(EXACT,))
    assert not guarantee(looked.event()).is_finite
    assert looked.is_exact
    assert not BudgetPlan(1.0, 1, (Share("leaf", 1, 1.0, exact=False),)).is_exact


def test_a_share_is_found_by_part_level_and_group_and_costs_its_epsilon_times_its_touches():
    found = {
        ("quantile",): 0.05,
        ("node", 0, "numeric"): 0.3,
        ("node", 0, "categorical"): 0.2,
        ("node", 0): 0.0,
        ("leaf", 1): 0.0,
    }
    assert {asked: PLAN.of(*asked) for asked in found} == found
    assert Fraction(Share("node", 0, 0.1, n_compositions=3).composed) >= 3 * Fraction(0.1)
    for times, composed in ((0, 0.0), (2, math.inf)):
        assert Share("quantile", None, math.inf, n_compositions=times).composed == composed


def test_only_a_claim_that_holds_may_be_shown_as_a_guarantee():
    for verdict in ("holds", "unproven", "violated", "none"):
        assert Claim(1.0, "source", verdict, "because").is_sound is (verdict == "holds")
