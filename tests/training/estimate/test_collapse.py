"""Folding: what the released counts cannot tell apart becomes one leaf, what they can stays, and noise is no reason to fold."""

import numpy as np
import pytest

from dpviz.accounting.plan import BudgetPlan, HeldOutPart
from dpviz.models.tree import Branch, Leaf, ThresholdRule, Tree
from dpviz.privacy.geometric import GeometricNoise
from dpviz.training.estimate.collapse import collapse_by_noise, collapse_leaves, intervals
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


def test_leaves_that_look_alike_become_one_with_their_rows():
    alike = tree(leaf(1, 100, 4900), leaf(0, 4000, 1000), leaf(0, 40, 10))
    found = collapse_by_noise(alike, 1.0)
    assert found.root == Branch(RULE, leaf(1, 100, 4900), Leaf(0, (4040, 1010), found.root.right.shares))
    assert found.root.right.shares == pytest.approx((0.8, 0.2))


def test_where_noise_hides_the_difference_nothing_is_folded():
    alike = tree(leaf(1, 100, 4900), leaf(0, 4000, 1000), leaf(0, 40, 10))
    assert collapse_by_noise(alike, 200.0**2) == alike


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


def test_without_released_counts_it_merges_equal_leaves():
    plain = tree(Leaf(1), Leaf(0), Leaf(0))
    assert collapse_leaves(plain, BudgetPlan(1.0, 2, ())) == plain.merged() == collapse_by_noise(plain, 1.0)


def test_the_interval_of_a_leaf_holds_its_share_as_often_as_it_says():
    """Binomial rows and noise on both counts: 95 of 100 intervals, give or take five standard errors."""
    rng, noise, truth, held, draws = np.random.default_rng(5), GeometricNoise(0.3), 0.8, 0, 2000
    plan = BudgetPlan(0.3, 1, (), held_out=(HeldOutPart(LEAF_COUNTS, 0.1, 0.3),))
    for _ in range(draws):
        yes = rng.binomial(150, truth)
        counts = noise.sample(np.array([150 - yes, yes]), rng)
        share = float(np.clip(counts[1] / max(counts.sum(), 1), 0, 1))
        one = Tree(SCHEMA, Leaf(1, tuple(counts.tolist()), (1 - share, share)))
        ((said, low, high),) = intervals(one, one, plan).values()
        assert said == share
        held += low <= truth <= high
    assert abs(held / draws - 0.95) < 5 * np.sqrt(0.95 * 0.05 / draws)


def test_folded_leaves_are_as_unsure_as_the_noise_of_all_they_hold():
    plan = BudgetPlan(0.3, 1, (), held_out=(HeldOutPart(LEAF_COUNTS, 0.1, 0.3),))
    complete = tree(leaf(1, 50, 450), leaf(1, 50, 450))
    together = Tree(SCHEMA, leaf(1, 100, 900))
    ((_, low, high),) = intervals(complete, together, plan).values()
    ((_, alone_low, alone_high),) = intervals(together, together, plan).values()
    assert low < alone_low < alone_high < high
