"""PrivaTree's Equations (7) to (10), numerically, and what the shares compose to."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpviz.accounting.guarantee import round_up
from dpviz.errors import ParameterError, SchemaError
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.params import Settings
from dpviz.training.privatree_budget import epsilon_split_of, leaf_epsilon_needed, privatree_plan, split_epsilon, worst_leaf_error

#: The shape of adult: six numbers, eight categories, two classes.
ADULT_LIKE = Schema(
    (*(NumericFeature(f"n{i}", 0, 100) for i in range(6)), *(CategoricalFeature(f"c{i}", ("a", "b", "c")) for i in range(8))),
    ClassTarget("income", ("low", "high")),
    n_public=36000,
)


def shared_out(epsilon, depth=4, schema=ADULT_LIKE, shares=None, quantiles=True, max_leaf_error=0.01):
    return split_epsilon("privatree", schema, Settings(epsilon, depth, depth), shares, max_leaf_error, quantiles=quantiles)


def test_two_classes_lose_at_most_one_over_e():
    assert worst_leaf_error(2) == pytest.approx(1 / math.e, rel=1e-9)


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


def test_without_private_quantiles_their_share_goes_to_the_nodes():
    split = shared_out(0.1, quantiles=False)
    assert split.quantile == 0
    assert split.numeric_node == split.categorical_node == pytest.approx((0.1 - 16 / math.e / 360) / 4)


def test_the_composed_total_counts_every_feature():
    # 6 eps_q + 4 (6 eps_num + 8 eps_cat) + eps_leaf: claimed .1, composed about 1.19
    leaf = 16 / math.e / 360
    quantile, categorical = (0.1 - leaf) / 5, (0.1 - leaf) / 4
    expected = 6 * quantile + 4 * (6 * quantile + 8 * categorical) + leaf
    plan = privatree_plan(ADULT_LIKE, Settings(0.1, 4, 4), shared_out(0.1))
    assert sum(share.composed for share in plan.shares) == pytest.approx(expected, rel=1e-12)
    assert expected == pytest.approx(1.187, abs=0.001)
    assert (plan.epsilon, plan.depth) == (0.1, 4)
    assert len(plan.shares) == 1 + 2 * 4 + 1


def test_a_plan_gives_back_the_distribution_it_was_made_of():
    split = shared_out(0.1)
    assert epsilon_split_of(privatree_plan(ADULT_LIKE, Settings(0.1, 4, 4), split)) == split


@pytest.mark.parametrize("kind", [NumericFeature, CategoricalFeature])
def test_features_that_are_absent_get_no_line(kind):
    schema = Schema(tuple(f for f in ADULT_LIKE.features if isinstance(f, kind)), ADULT_LIKE.target, n_public=36000)
    plan = privatree_plan(schema, Settings(0.1, 3, 3), shared_out(0.1, 3))
    assert all(share.n_compositions for share in plan.shares)
    groups = {share.group for share in plan.shares if share.part == "node"}
    assert groups == {"numeric" if kind is NumericFeature else "categorical"}
    assert any(share.part == "quantile" for share in plan.shares) == (kind is NumericFeature)


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


def test_without_a_public_row_count_both_remedies_are_named():
    schema = Schema(ADULT_LIKE.features, ADULT_LIKE.target)
    with pytest.raises(SchemaError) as problem:
        shared_out(1.0, schema=schema)
    assert str(problem.value) == (
        "n_public: The learner 'privatree' needs a public row count, and none is declared. Declare one "
        "(schema.declare(n_public=...), rounded is fine), or set the quantile, node and leaf shares by hand."
    )
    assert shared_out(1.0, schema=schema, shares=(1.0, 1.0, 1.0)).set_by == "you"
