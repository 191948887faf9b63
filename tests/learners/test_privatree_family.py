"""PrivaTree, PrivaTree* and the corrected form: Equations (7) to (10), what they see without noise, what they owe."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.accounting.events import PureDP, Step, walk
from dpviz.accounting.guarantee import round_up
from dpviz.errors import ParameterError
from dpviz.learners.published import privatree_corrected
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.noisy_histograms import weighted_gini
from dpviz.training.params import Settings
from dpviz.training.privatree_budget import leaf_epsilon_needed, split_epsilon, worst_leaf_error
from tests.support.oracles import counts
from tests.support.recording import Recording
from tests.support.tables import schema_of, table

#: The shape of adult: six numbers, eight categories, two classes.
ADULT_LIKE = Schema(
    (*(NumericFeature(f"n{i}", 0, 100) for i in range(6)), *(CategoricalFeature(f"c{i}", ("a", "b", "c")) for i in range(8))),
    ClassTarget("income", ("low", "high")),
    n_public=36000,
)


# --- how epsilon is divided


def shared_out(epsilon, depth=4, shares=None, quantiles=True, error=0.01):
    return split_epsilon("privatree", ADULT_LIKE, Settings(epsilon, depth, depth), shares, error, quantiles=quantiles)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 26, 100])
def test_the_worst_leaf_error_is_the_maximum_of_equation_7(n_classes):
    p = np.linspace(1e-6, 1, 200_001)
    dense = (2 * np.log(1 / p) * (1 - (1 - (1 - p) ** n_classes) / (n_classes * p))).max()
    assert dense <= worst_leaf_error(n_classes) * (1 + 1e-12)
    assert worst_leaf_error(n_classes) == pytest.approx(dense, rel=1e-6)
    assert leaf_epsilon_needed(1000, 1, n_classes, 0.1) == pytest.approx(2 * worst_leaf_error(n_classes) / 100)


def test_equations_8_to_10():
    needed = 16 / math.e / 360  # .01635
    assert leaf_epsilon_needed(36000, 4, 2, 0.01) == pytest.approx(needed)
    for epsilon, leaf, set_by in [(0.1, needed, "rule: error bound"), (0.01, 0.005, "rule: half at most")]:
        split = shared_out(epsilon)
        assert split.leaf == pytest.approx(leaf)
        assert split.quantile == split.numeric_node == pytest.approx((epsilon - leaf) / 5)
        assert split.categorical_node == pytest.approx((epsilon - leaf) / 4)
        assert split.set_by == set_by
    (said,) = shared_out(0.01, error=0.02).replaced
    assert f"replaced by {0.02 * needed / 2 / 0.005:.3g}:" in said
    by_hand = shared_out(1.0, 2, shares=(1.0, 2.0, 5.0))
    assert (by_hand.quantile, by_hand.numeric_node, by_hand.leaf) == pytest.approx((1 / 8, 2 / 8 / 2, 5 / 8))
    assert by_hand.categorical_node == pytest.approx(3 / 8 / 2)  # as in the paper's code
    assert by_hand.set_by == "you"
    with pytest.raises(ParameterError, match=r"The 'shares' parameter of privatree must be a sequence that leaves something"):
        shared_out(1.0, shares=(1.0, 0.0, 1.0))
    assert shared_out(1.0, shares=(1.0, 0.0, 1.0), quantiles=False).numeric_node > 0


@pytest.mark.parametrize("shares", [None, (1.0, 2.0, 3.0), (0.2, 0.3, 0.5), (0.0, 1.0, 0.0), (1.0, 1.0, 0.0)])
def test_one_feature_never_costs_more_than_epsilon_and_hardly_less(shares):
    for epsilon, quantiles, depth in product([0.01, 0.1, 1 / 3, 0.7, 1.0, 9.99], [True, False], range(1, 9)):
        split = shared_out(epsilon, depth, shares=shares, quantiles=quantiles)
        numeric = Fraction(split.quantile) + depth * Fraction(split.numeric_node) + Fraction(split.leaf)
        for total in (numeric, depth * Fraction(split.categorical_node) + Fraction(split.leaf)):
            assert total <= Fraction(epsilon)
            assert round_up(total) == pytest.approx(epsilon, rel=1e-14)


def test_on_a_table_like_adult_privatree_claims_a_tenth_and_composes_to_about_1_2():
    result = dpviz.fit("privatree", table(ADULT_LIKE, 100), epsilon=0.1, depth=4, seed=0, grow_complete=True)
    leaf = 16 / math.e / 360
    expected = 6 * (0.1 - leaf) / 5 + 4 * (6 * (0.1 - leaf) / 5 + 8 * (0.1 - leaf) / 4) + leaf
    assert expected == pytest.approx(1.187, abs=0.001)
    assert result.ledger.guarantee.epsilon == pytest.approx(expected, rel=1e-12)
    assert sum(share.composed for share in result.plan.shares) == pytest.approx(expected, rel=1e-12)
    assert result.claim.epsilon == 0.1
    assert result.claim.verdict != "holds"  # the ledger exceeds the claim; whether it is violated is for verification to say


def test_one_histogram_release_covers_all_features_of_a_kind():
    data, source = table(schema_of("mixed"), 60), Recording(4)
    result = dpviz.fit("privatree", data, epsilon=1.0, depth=1, source=source, grow_complete=True)
    geometric = [(mechanism, values) for mechanism, values, _ in source.draws if mechanism.title == "geometric"]
    assert [mechanism.l1 for mechanism, _ in geometric] == [2, 2]  # two numbers, two categories
    for (mechanism, values), group in zip(geometric, ("numeric", "categorical"), strict=True):
        assert mechanism.epsilon == 2 * result.plan.of("node", 0, group)
        assert values.sum() == 2 * data.n_rows  # every row once per feature


# --- what is seen without noise


@given(st.lists(st.tuples(*[st.integers(0, 40)] * 4), min_size=1, max_size=8))
def test_weighted_gini_is_the_fraction(rows):
    left, right = np.array([row[:2] for row in rows]), np.array([row[2:] for row in rows])
    expected = [float(counts.weighted_gini(*sides)) for sides in zip(left, right, strict=True)]
    np.testing.assert_allclose(weighted_gini(left, left + right), expected, atol=1e-12)


def test_bins_are_as_many_as_asked_and_exact_quantiles_are_owned_up_to():
    data = table(schema_of("numbers"), 100)
    for bins in (2, 5, 10, 64):
        source = Recording(5)
        dpviz.fit("privatree", data, epsilon=1e6, depth=1, source=source, bins=bins)
        height = source.draws[0][2]
        assert height.shape == (bins - 1,)
        if bins == 10:
            assert np.diff(np.searchsorted(np.sort(data.columns[0]), height), prepend=0, append=100).tolist() == [10] * 10
    result = dpviz.fit("privatree-star", table(schema_of("mixed")), epsilon=1.0, seed=0)
    assert next(step for _, step in walk(result.ledger.event)) == Step.unbounded(
        "exact quantiles of the numeric features", "quantile"
    )
    only_categories = dpviz.fit("privatree-star", table(schema_of("categories")), epsilon=1.0, seed=0)
    assert [item.code for item in only_categories.disclosures] == ["stopping-rule"]


# --- corrected


@given(st.integers(1, 60))
def test_the_gini_sensitivity_is_the_most_gini_changes_from_n_to_n_plus_one_rows(rows):
    """By brute force over all nodes of two classes."""

    def plain_gini(*row_counts):
        return 1 - sum((count / sum(row_counts)) ** 2 for count in row_counts)

    change = max(abs(plain_gini(ones + 1, rows - ones) - plain_gini(ones, rows - ones)) for ones in range(rows + 1))
    assert privatree_corrected.gini_sensitivity(rows).value == pytest.approx(change, rel=1e-12)
    assert not privatree_corrected.gini_sensitivity(rows).monotone
    assert privatree_corrected.gini_sensitivity(10**17).value == pytest.approx(2e-17, rel=1e-12)


def test_the_corrected_form_grows_a_complete_tree_halves_a_node_s_budget_and_counts_at_least_one():
    data, lowest = table(schema_of("mixed"), 0), []
    for seed in range(20):
        source = Recording(seed)
        dpviz.fit("privatree-corrected", data, epsilon=0.01, depth=2, source=source)
        counted = [int(value[0]) for mechanism, _, value in source.draws if mechanism.title == "geometric"]
        choices = [mechanism for mechanism, values, _ in source.draws if values.dtype.kind == "f"]
        for count, choice in zip(counted, choices, strict=True):
            assert choice.sensitivity.value == privatree_corrected.gini_sensitivity(max(1, count)).value
        lowest.append(min(counted))
    assert min(lowest) < 1
    for n_rows in [0, 1, 60]:
        tree = dpviz.fit("privatree-corrected", table(schema_of("mixed"), n_rows), epsilon=1.0, depth=3, seed=0).model
        assert Counter(placed.depth for placed in tree.nodes()) == {0: 1, 1: 2, 2: 4, 3: 8}
    result = dpviz.fit("privatree-corrected", table(schema_of("mixed"), 50), epsilon=1.0, depth=1, seed=0, shares=(3, 1))
    assert [step for _, step in walk(result.ledger.event)] == [
        Step(PureDP(0.375), "node", 0, mechanism="geometric"),
        Step.unbounded("the sensitivity is taken at a noisy row count and is no bound", "node", 0),
        *[Step(PureDP(0.25), "leaf", 1, mechanism="permute-and-flip")] * 2,
    ]
