"""Released counts of leaves: the shares they say, and the leaves that they cannot tell apart folded into one."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.accounting.plan import BudgetPlan, HeldOutPart
from dpviz.models.tree import Branch, Leaf, NumberLeaf, ThresholdRule, Tree
from dpviz.table.schema import NumericTarget
from dpviz.training.estimate.collapse import collapse_by_noise, collapse_leaves, intervals
from dpviz.training.estimate.leaf_means import LeafMeanEstimator
from dpviz.training.estimate.report import Z, estimate_leaf_probabilities
from dpviz.training.estimate.window import Window
from dpviz.training.growing import LEAF_COUNTS
from tests.support.tables import schema_of

SCHEMA = schema_of("mixed")
RULE = ThresholdRule(0, 0.0)


def leaf(label, no, yes):
    share = max(yes, 0) / max(no + yes, 1)
    return Leaf(label, (no, yes), (1 - share, share))


def tree(*leaves):
    """A comb: the first leaf on the left, the others below on the right."""
    root = leaves[-1]
    for left in reversed(leaves[:-1]):
        root = Branch(RULE, left, root)
    return Tree(SCHEMA, root)


def test_leaves_that_look_alike_become_one_with_their_rows_unless_noise_hides_the_difference():
    alike = tree(leaf(1, 100, 4900), leaf(0, 4000, 1000), leaf(0, 40, 10))
    found = collapse_by_noise(alike, 1.0)
    assert found.root == Branch(RULE, leaf(1, 100, 4900), Leaf(0, (4040, 1010), found.root.right.shares))
    assert found.root.right.shares == pytest.approx((0.8, 0.2))
    alike = tree(leaf(1, 100, 4900), leaf(0, 4000, 1000), leaf(0, 40, 10))
    assert collapse_by_noise(alike, 200.0**2) == alike
    plain = tree(Leaf(1), Leaf(0), Leaf(0))
    assert collapse_leaves(plain, BudgetPlan(1.0, 2, ())) == plain.merged() == collapse_by_noise(plain, 1.0)


@pytest.mark.parametrize(
    ("leaves", "aside"),
    [
        ((Leaf(0), Leaf(0), Leaf(0)), ()),
        ((leaf(0, 8000, 2000), leaf(0, 40, 10), leaf(0, 80, 20)), (HeldOutPart(LEAF_COUNTS, 0.1, 1.0),)),
    ],
)
def test_the_first_question_stays_where_nothing_depends_on_it(leaves, aside):
    plan = BudgetPlan(1.0, 2, (), held_out=aside)
    found = collapse_leaves(tree(*leaves), plan)
    assert found.root.rule == RULE
    assert found.n_leaves == 2
    assert collapse_leaves(tree(leaves[0]), plan).n_leaves == 1


def test_folded_leaves_are_as_unsure_as_the_noise_of_all_they_hold():
    plan = BudgetPlan(0.3, 1, (), held_out=(HeldOutPart(LEAF_COUNTS, 0.1, 0.3),))
    complete = tree(leaf(1, 50, 450), leaf(1, 50, 450))
    together = Tree(SCHEMA, leaf(1, 100, 900))
    ((_, low, high),) = intervals(complete, together, plan).values()
    ((_, alone_low, alone_high),) = intervals(together, together, plan).values()
    assert low < alone_low < alone_high < high


def test_an_interval_is_wider_with_more_rows_of_a_person_and_with_less_epsilon():
    alone = Tree(SCHEMA, leaf(1, 100, 900))

    def interval(rows_per_person, epsilon):
        plan = BudgetPlan(epsilon, 1, (), held_out=(HeldOutPart(LEAF_COUNTS, 0.1, epsilon),))
        (found,) = intervals(alone, alone, plan, rows_per_person).values()
        return found

    for settings in ([(1, 1.0), (2, 1.0), (5, 1.0)], [(1, 1.0), (1, 0.1), (1, 0.05)], [(3, 1.0), (3, 0.1)]):
        shares, lows, highs = zip(*(interval(*one) for one in settings), strict=True)
        assert set(shares) == {0.9}
        assert sorted(set(lows), reverse=True) == list(lows)
        assert sorted(set(highs)) == list(highs)


def test_an_end_moves_to_a_share_that_the_nodes_above_drew_beyond_it():
    plan = BudgetPlan(1.0, 1, (), held_out=(HeldOutPart(LEAF_COUNTS, 0.1, 1.0),))

    def interval(share):
        alone = Tree(SCHEMA, Leaf(0, (600, 400), (share, 1 - share)))
        (found,) = intervals(alone, alone, plan).values()
        return found

    _, low, high = interval(0.6)
    assert low < 0.6 < high
    assert interval(0.9) == (0.9, low, 0.9)
    assert interval(0.2) == (0.2, 0.2, high)


def test_the_end_of_a_mean_allows_for_what_few_rows_at_the_other_end_add_to_it():
    """There the parabola that bounds numbers beyond the window is above 1: what it adds up to varies more than its sum."""
    window, target = Window(0.0, 1.0), NumericTarget("t", -2, 2)
    places, shares = np.array([-1.0, 0.85]), np.array([0.001, 0.999])
    mean = shares @ places
    zero = mean - (shares @ places**2 - mean**2) / (1 - mean)
    at_most = places + ((places - zero) / (1 - zero)) ** 2  # numbers are at most one width beyond
    middle, deviation = shares @ at_most, math.sqrt(shares @ (at_most - shares @ at_most) ** 2)
    x = (1 + places) / 2
    sums = shares @ np.stack([(1 - x) ** 2, 2 * x * (1 - x), x**2], axis=1)
    for k, n_rows in product((1, 4), (10**6, 10**8)):
        leaf = LeafMeanEstimator(window, target, 1e-9, k).estimate(NumberLeaf(0.0), n_rows * sums[None, :])
        assert 1 < (leaf.interval[1] - middle) / (Z * deviation * math.sqrt(k / n_rows)) < 1.5


def test_a_mirrored_leaf_has_the_mirrored_interval():
    """Also where the window is not in the middle of the range, so that numbers may lie farther beyond one of its ends."""
    target, sums = NumericTarget("t", 0, 10), np.array([[300.0, 500.0, 200.0]])
    for centre in (2.0, 3.0, 6.0):
        here, there = (LeafMeanEstimator(Window(place, 1.0), target, 4.0, 2) for place in (centre, 10 - centre))
        leaf, mirrored = here.estimate(NumberLeaf(0.0), sums), there.estimate(NumberLeaf(0.0), sums[:, ::-1])
        assert mirrored.interval == pytest.approx([10 - end for end in leaf.interval[::-1]])


# --- shares

TREE = Branch(RULE, Branch(RULE, Leaf(0), Leaf(1)), Leaf(0))


def shares(counts, noise_variance=0.0):
    root = estimate_leaf_probabilities(TREE, np.array(counts), noise_variance)
    return [root.left.left, root.left.right, root.right]


@given(st.lists(st.lists(st.integers(-50, 10**6), min_size=3, max_size=3), min_size=3, max_size=3), st.floats(0, 1e6))
def test_they_are_probabilities_and_none_is_zero(counts, noise_variance):
    for leaf, row in zip(shares(counts, noise_variance), counts, strict=True):
        assert leaf.counts == tuple(row)
        assert min(leaf.shares) > 0
        assert math.isclose(math.fsum(leaf.shares), 1, abs_tol=1e-12)


def test_many_rows_speak_for_themselves_and_counts_that_drown_in_noise_say_what_parent_and_label_say():
    assert shares([[9000, 1000], [10, 99_990], [500, 500]])[0].shares == pytest.approx((0.9, 0.1), abs=1e-3)
    calm, noisy = (shares([[900, 100], [0, 8], [500, 1500]], variance)[1] for variance in (0.0, 10_000.0))
    assert calm.shares[1] > 0.6
    # its parent says 0.22 (both leaves below, some of the root); of the rows that come with it, 30% have its label
    assert noisy.shares == pytest.approx((0.7 * 0.78, 0.7 * 0.22 + 0.3), abs=0.03)
    assert noisy.label == 1
