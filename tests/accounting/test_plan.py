import math
from fractions import Fraction

import pytest

from dpviz.accounting.claim import Claim
from dpviz.accounting.plan import BudgetPlan, Share

PLAN = BudgetPlan(
    1.0,
    depth=2,
    shares=(
        Share("quantile", None, 0.05, n_compositions=4),
        Share("node", 0, 0.3, group="numeric"),
        Share("node", 0, 0.2, group="categorical"),
        Share("leaf", 2, 0.1),
    ),
)


@pytest.mark.parametrize(
    ("asked", "epsilon"),
    [
        (("quantile",), 0.05),
        (("node", 0, "numeric"), 0.3),
        (("node", 0, "categorical"), 0.2),
        (("leaf", 2), 0.1),
        (("leaf", 1), 0.0),
        (("node", 0), 0.0),
        (("tree",), 0.0),
    ],
)
def test_a_share_is_found_by_part_level_and_group(asked, epsilon):
    assert PLAN.of(*asked) == epsilon


def test_a_share_costs_one_row_its_epsilon_times_its_touches():
    assert Share("node", 0, 0.25, n_compositions=3).composed == 0.75
    assert Fraction(Share("node", 0, 0.1, n_compositions=3).composed) >= 3 * Fraction(0.1)


def test_a_share_that_touches_no_row_costs_nothing_even_if_infinite():
    assert Share("quantile", None, math.inf, n_compositions=0).composed == 0
    assert Share("quantile", None, math.inf, n_compositions=2).composed == math.inf


@pytest.mark.parametrize(("verdict", "sound"), [("holds", True), ("unproven", False), ("violated", False), ("none", False)])
def test_only_a_claim_that_holds_may_be_shown_as_a_guarantee(verdict, sound):
    assert Claim(1.0, "source", verdict, "because").is_sound is sound
