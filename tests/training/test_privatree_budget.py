"""PrivaTree's Equations (7) to (10), numerically, and what the shares compose to."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpviz.accounting.guarantee import round_up
from dpviz.errors import ParameterError
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.params import Settings
from dpviz.training.privatree_budget import leaf_epsilon_needed, privatree_plan, split_epsilon, worst_leaf_error

#: The shape of adult: six numbers, eight categories, two classes.
ADULT_LIKE = Schema(
    (*(NumericFeature(f"n{i}", 0, 100) for i in range(6)), *(CategoricalFeature(f"c{i}", ("a", "b", "c")) for i in range(8))),
    ClassTarget("income", ("low", "high")),
    n_public=36000,
)


def shared_out(epsilon, depth=4, schema=ADULT_LIKE, shares=None, quantiles=True, max_leaf_error=0.01):
    return split_epsilon("privatree", schema, Settings(epsilon, depth, depth), shares, max_leaf_error, quantiles=quantiles)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 10, 26, 100])
def test_the_worst_leaf_error_is_the_maximum_of_equation_7(n_classes):
    def values(p):
        return 2 * np.log(1 / p) * (1 - (1 - (1 - p) ** n_classes) / (n_classes * p))

    dense = values(np.linspace(1e-6, 1, 2_000_001)).max()
    assert dense <= worst_leaf_error(n_classes) * (1 + 1e-12)
    assert worst_leaf_error(n_classes) == pytest.approx(dense, rel=1e-6)


def test_the_leaves_need_what_equation_7_says():
    assert leaf_epsilon_needed(36000, 4, 2, 0.01) == pytest.approx(16 / math.e / 360)
    assert leaf_epsilon_needed(1000, 1, 3, 0.1) == pytest.approx(2 * worst_leaf_error(3) / 100)


def test_equations_8_to_10_where_the_error_bound_is_met():
    needed = 16 / math.e / 360  # .01635
    split = shared_out(0.1)
    assert split.leaf == pytest.approx(needed)
    assert split.quantile == split.numeric_node == pytest.approx((0.1 - needed) / 5)
    assert split.categorical_node == pytest.approx((0.1 - needed) / 4)
    assert split.set_by == "rule: error bound"
    assert "need ε = 0.01635 to lose at most 0.01 of accuracy; that is what they get." in split.notes[0]


def test_equation_8_gives_the_leaves_half_at_most():
    split = shared_out(0.01)
    assert split.leaf == pytest.approx(0.005)
    assert split.quantile == pytest.approx(0.005 / 5)
    assert split.categorical_node == pytest.approx(0.005 / 4)
    assert split.set_by == "rule: half at most"
    assert "half of ε, 0.005, is the most they get." in split.notes[0]


def test_the_composed_total_counts_every_feature():
    # 6 eps_q + 4 (6 eps_num + 8 eps_cat) + eps_leaf: claimed .1, composed about 1.19
    leaf = 16 / math.e / 360
    quantile, categorical = (0.1 - leaf) / 5, (0.1 - leaf) / 4
    expected = 6 * quantile + 4 * (6 * quantile + 8 * categorical) + leaf
    plan = privatree_plan(ADULT_LIKE, Settings(0.1, 4, 4), shared_out(0.1), stops=False, exact=True)
    assert sum(share.composed for share in plan.shares) == pytest.approx(expected, rel=1e-12)
    assert expected == pytest.approx(1.187, abs=0.001)
    assert (plan.epsilon, plan.depth) == (0.1, 4)
    assert len(plan.shares) == 1 + 2 * 4 + 1


@pytest.mark.parametrize("shares", [None, (1.0, 2.0, 3.0), (0.2, 0.3, 0.5), (0.0, 1.0, 0.0), (1.0, 1.0, 0.0)])
@pytest.mark.parametrize("quantiles", [True, False])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1 / 3, 0.7, 1.0, 9.99])
def test_one_feature_never_costs_more_than_epsilon_and_hardly_less(shares, quantiles, epsilon):
    for depth in range(1, 9):
        split = shared_out(epsilon, depth, shares=shares, quantiles=quantiles)
        numeric = Fraction(split.quantile) + depth * Fraction(split.numeric_node) + Fraction(split.leaf)
        categorical = depth * Fraction(split.categorical_node) + Fraction(split.leaf)
        for total in (numeric, categorical):
            assert total <= Fraction(epsilon)
            assert round_up(total) == pytest.approx(epsilon, rel=1e-14)


def test_shares_by_hand_are_weights():
    split = shared_out(1.0, 2, shares=(1.0, 2.0, 5.0))
    assert (split.quantile, split.numeric_node, split.leaf) == pytest.approx((1 / 8, 2 / 8 / 2, 5 / 8))
    assert split.categorical_node == pytest.approx(3 / 8 / 2)  # as in the paper's code
    assert split.set_by == "you"
    # a weight of 0 stays 0
    assert shared_out(1.0, 2, shares=(0.0, 1.0, 2.0)).quantile == 0


def test_shares_that_leave_nothing_for_the_nodes_are_refused():
    with pytest.raises(ParameterError, match=r"The 'shares' parameter of privatree must be a sequence that leaves something"):
        shared_out(1.0, shares=(1.0, 0.0, 1.0))
    assert shared_out(1.0, shares=(1.0, 0.0, 1.0), quantiles=False).numeric_node > 0
