"""PF-tree with two levels chosen together: its depth rule, its shares, its shape, and the best trees when nothing is private."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import BoundedRange, PureDP, walk
from dpviz.accounting.plan import BudgetPlan
from dpviz.errors import ParameterError
from dpviz.learners import FitRequest
from dpviz.learners.native import pf_tree
from dpviz.models.tree import Branch, Leaf
from dpviz.privacy.two_levels import TwoLevelChoice
from dpviz.table.candidates import multiscale_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.params import Settings
from dpviz.training.scores import SCALE
from tests.support.oracles import counts
from tests.support.tables import schema_of, table


def fit(data, **asked):
    return dpviz.fit("pf-tree", data, **{"leaves": "labels", **asked})


def plan_of(schema: Schema, epsilon: float = 1.0, max_depth: int = 12, depth="auto", **params):
    return pf_tree.plan(schema, Settings(epsilon, max_depth=max_depth, depth=depth), pf_tree.Params(**params))


def test_the_depth_rule_by_hand():
    for n_public, n_candidates, epsilon, max_depth, depth in [
        # 16 ln(1000) = 110.5; k is allowed while n epsilon >= 110.5 times 1, 4, 9 (for k = 2 to 4), 81, 729, ... (6, 8, ...)
        (36000, 1000, 0.1, 12, 4),  # 3600: 110.5 * 81 = 8952
        (36000, 1000, 0.1, 4, 4),
        (36000, 1000, 1.0, 12, 6),  # 36000: 110.5 * 729 = 80570
        (36000, 1000, 1.0, 5, 4),
        (8000, 1000, 0.1, 12, 3),  # 800: 110.5 * 4 = 442, * 9 = 995
        (36000, 1000, 0.01, 4, 2),  # 360 < 442
        (36000, 1000, 0.001, 4, 1),
        (1, 1000, 1.0, 5, 1),
        (100, 1, 0.001, 6, 6),  # one candidate: nothing to choose
    ]:
        assert pf_tree.auto_depth_of_blocks(n_public, n_candidates, epsilon, max_depth) == depth


def test_the_depth_never_falls_with_rows_or_epsilon_nor_passes_its_cap():
    for n_candidates in [2, 30, 650, 3000]:
        for rule in [pf_tree.auto_depth, pf_tree.auto_depth_of_blocks]:
            rows, epsilons = (1, 10, *(10**k * m for k in range(2, 7) for m in (1, 2, 5))), [10 ** (k / 4) for k in range(-12, 9)]
            for most in range(1, 13):
                found = np.array([[rule(n, n_candidates, epsilon, most) for epsilon in epsilons] for n in rows])
                assert (np.diff(found, axis=0) >= 0).all()
                assert (np.diff(found, axis=1) >= 0).all()
                assert (found >= 1).all()
                assert (found <= most).all()
                deepest = [rule(n, n_candidates, epsilon, 12) for n in rows for epsilon in epsilons]
                assert (found.ravel() <= deepest).all()


def test_the_rule_goes_up_to_eight_levels_by_itself_and_numbers_asked_for_still_cap_and_fix():
    data = table(schema_of("categories"), 40)

    def depth(**asked):
        return FitRequest.of("pf-tree", epsilon=1e6, **asked).plan(data.schema).depth

    assert [depth(), depth(max_depth=4), depth(max_depth=12)] == [8, 4, 12]
    assert [depth(max_depth=4, depth=10), depth(depth=3)] == [10, 3]


def test_a_tree_has_a_leaf_for_every_class_where_the_cap_allows_it():
    for n_classes, max_depth, depth in [(2, 4, 1), (3, 4, 2), (5, 4, 3), (10, 3, 3)]:
        assert pf_tree.auto_depth_of_blocks(100, 1000, 0.001, max_depth, n_classes) == depth


def test_the_rule_and_where_the_tree_jumps_are_written_down():
    schema = Schema(tuple(NumericFeature(f"x{i}", 0, 1) for i in range(10)), ClassTarget("y", ("n", "p")), n_public=36000)
    assert plan_of(schema, 0.01, 6, leaves="labels").notes == (
        "Depth 2 of at most 6: the deepest k with n·ε ≥ 16·ln(650)·(k-1)^2, beyond 4 two levels at a time for nine times as "
        "much, for n = 36,000 and ε = 0.01.",
        "From ε = 0.012 on the tree has 3 levels, and its choices are others.",
    )
    below, there = (plan_of(schema, 16 * math.log(650) * 4 / 36000 * factor, 6).depth for factor in (0.999, 1.001))
    assert (below, there) == (2, 3)
    assert plan_of(schema, 0.1, 6, 2, leaves="labels").notes == ("Depth 2 was set by you.",)


def test_a_choice_pays_for_its_levels_and_together_they_pay_all_of_epsilon():
    for epsilon in [0.01, 1 / 3, 1.0]:
        for depth in [1, 2, 3, 4, 5, 8]:
            shares = plan_of(schema_of("categories"), epsilon, depth=depth).shares
            first = depth % 2
            levels = [(0, 1)] * first + [(level, 2) for level in range(first, depth, 2)]
            assert [(share.level, share.levels) for share in shares] == levels
            weights = [sum(1.4**at for at in range(level, level + size)) for level, size in levels]
            assert [share.epsilon for share in shares] == pytest.approx([epsilon * w / sum(weights) for w in weights], rel=1e-12)
            assert float(sum((Fraction(share.epsilon) for share in shares), Fraction(0))) == epsilon
            parts = ["node"] * first + ["two levels"] * (depth // 2)
            assert [share.part for share in shares] == [*parts[:-1], f"{parts[-1]} and leaf"]


def test_shares_by_hand_are_one_per_level_also_of_levels_chosen_together():
    plan = plan_of(schema_of(), 1.0, depth=4, level_shares=(1, 2, 3, 4))
    assert [share.epsilon for share in plan.shares] == pytest.approx([0.3, 0.7])
    with pytest.raises(ParameterError, match="4 numbers, one per level of the tree"):
        plan_of(schema_of(), 1.0, depth=4, level_shares=(1, 2))


def test_how_much_of_the_last_block_is_correct_rows_by_hand():
    for n_public, epsilon, units in [
        (1000, 1.0, 1024),
        (50, 0.1, 1024),
        (16_000, 1.0, 512),
        (10**6, 1.0, 512),
        (4096, 1.0, 719),
        (None, 1.0, 512),
    ]:
        assert pf_tree.correct_units(n_public, epsilon) == units


def test_a_cap_that_the_rule_does_not_reach_changes_nothing():
    numbers = Schema(tuple(NumericFeature(f"n{i}", 0, 1) for i in range(14)), ClassTarget("y", ("n", "p")), n_public=20_000)
    plans = [plan_of(numbers, 0.1, max_depth) for max_depth in (4, 8)]
    assert [[share.levels for share in plan.shares] for plan in plans] == [[2, 2], [2, 2]]
    assert plan_of(numbers, 0.1, depth=8).shares[0].levels == 1  # 64 nodes at once


def test_the_schema_alone_decides_that_levels_are_chosen_one_by_one():
    wide = Schema(
        tuple(CategoricalFeature(f"c{i}", tuple("abcdefghij")) for i in range(6)), ClassTarget("y", ("n", "p")), n_public=900
    )
    plan = plan_of(wide, depth=3)
    assert [share.levels for share in plan.shares] == [1, 1, 1]
    assert "Every level is chosen by itself: 3,066 candidates have too many pairs." in plan.notes
    with pytest.raises(ParameterError, match=r"The 'lookahead' parameter of pf-tree must be 'auto' or 1 for 3,066 candidates"):
        plan_of(wide, depth=3, lookahead="2")
    assert plan_of(schema_of(), depth=3, lookahead="1").notes == plan_of(schema_of(), depth=3).notes
    number = Schema(wide.features, NumericTarget("y", 0, 1), n_public=900)
    with pytest.raises(ParameterError, match="'auto' or 1 for a target that is a number"):
        plan_of(number, depth=3, lookahead="2")


def test_a_tree_whose_pairs_would_not_fit_gives_up_levels_beyond_the_fourth_and_then_the_pairs():
    def wide(n_features: int) -> BudgetPlan:
        features = tuple(NumericFeature(f"x{k}", 0, 1) for k in range(n_features))
        return plan_of(Schema(features, ClassTarget("y", ("n", "p")), n_public=10**9), 1.0, max_depth=8)

    assert [wide(count).depth for count in (10, 14, 28)] == [8, 6, 4]
    assert [wide(count).shares[0].levels for count in (10, 14, 28, 40)] == [2, 2, 2, 1]
    assert "In a deeper tree 910 candidates have too many pairs." in wide(14).notes
    assert not any("pairs" in note for note in wide(10).notes)


def test_lookahead_is_a_number_or_its_text():
    for lookahead in [1, 2, "1", "2", "auto"]:
        result = fit(table(schema_of(), 30), epsilon=1.0, depth=2, seed=0, lookahead=lookahead)
        assert result.params.lookahead == str(lookahead)
        assert len(result.plan.shares) == (2 if str(lookahead) == "1" else 1)


def test_what_is_no_lookahead_is_refused():
    for wrong in [3, "both", True, None, 2.5]:
        with pytest.raises(ParameterError, match=r"must be one of 'auto', 2, 1\."):
            fit(table(schema_of(), 30), epsilon=1.0, seed=0, lookahead=wrong)


def test_the_ledger_is_epsilon_to_the_last_bit_and_says_bounded_range():
    for epsilon in [0.1, 1 / 3]:
        for n_classes in [2, 3, 7]:
            for depth in (2, 3, 4):
                result = fit(table(schema_of("mixed", n_classes), 50), epsilon=epsilon, max_depth=5, depth=depth, seed=1)
                assert result.ledger.guarantee.epsilon == epsilon
                steps = [step for _, step in walk(result.ledger.event)]
                assert all(isinstance(step.cost, PureDP | BoundedRange) for step in steps)
                of_blocks = [step for step in steps if step.mechanism == TwoLevelChoice.title]
                assert len(of_blocks) == {2: 1, 3: 2, 4: 5}[depth]
                assert all(isinstance(step.cost, BoundedRange) for step in of_blocks)
                assert {step.level for step in of_blocks} == {2: {0}, 3: {1}, 4: {0, 2}}[depth]


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 5, 7])
def test_the_tree_is_complete_to_its_depth(n_classes):
    for depth in [3, 4]:
        for epsilon in [1e-6, 0.5, 1e6]:
            for n_rows, seed in product((0, 3, 60), range(3)):
                data = table(schema_of("categories", n_classes), n_rows)
                tree = fit(data, epsilon=epsilon, depth=depth, seed=seed).model
                leaves = {placed.depth for placed in tree.nodes() if isinstance(placed.node, Leaf)}
                assert leaves <= ({depth - 1, depth} if n_classes <= 5 else {depth})


def small(n_classes: int, n_rows: int = 40):
    features = (NumericFeature("n", 0, 3, whole=True), CategoricalFeature("c", ("p", "q", "r")))
    return table(Schema(features, ClassTarget("y", tuple("abcdefg"[:n_classes])), n_public=40), n_rows)


def correct_and_impure(data, rows_of_leaves) -> tuple[int, int]:
    """Rows of the leaves' largest classes, and minus half the impurity of the leaves, in units."""
    held = [[sum(int(data.target[row]) == k for row in rows) for k in range(data.n_classes)] for rows in rows_of_leaves]
    return sum(map(max, held)), -sum(counts.half_impurity(leaf, SCALE) for leaf in held)


def parted(data, rules, rows, first, below):
    """Rows of the four leaves."""
    goes = [[counts.goes_left(rule, data.columns[rule.feature][row]) for row in range(data.n_rows)] for rule in rules]
    for side, rule in ((True, below[0]), (False, below[1])):
        here = [row for row in rows if goes[first][row] == side]
        yield from ([row for row in here if goes[rule][row] == left] for left in (True, False))


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_with_a_huge_epsilon_it_is_the_best_tree_of_two_levels(n_classes):
    data = small(n_classes)
    rules = counts.rules_of(multiscale_grid(data.schema))
    best = max(
        correct_and_impure(data, parted(data, rules, range(40), first, below))[0]
        for first in range(len(rules))
        for below in product(range(len(rules)), repeat=2)
    )
    model = fit(data, epsilon=1e5, depth=2, seed=1).model  # n_public * epsilon is large, but ...
    assert int((model.predict(data) == data.target).sum()) <= best
    scarce = type(data)(data.schema.declare(n_public=1), data.columns, data.target)  # ... here correct rows alone count
    model = fit(scarce, epsilon=900.0, depth=2, seed=1).model
    assert int((model.predict(data) == data.target).sum()) == best


def test_the_block_above_is_the_best_tree_by_impurity():
    data = small(2)
    rules = counts.rules_of(multiscale_grid(data.schema))
    model = fit(data, epsilon=1e5, depth=4, seed=1).model
    root = model.root
    assert isinstance(root, Branch)
    chosen = rules.index(root.rule), (rules.index(root.left.rule), rules.index(root.right.rule))
    found = {
        (first, below): correct_and_impure(data, parted(data, rules, range(40), first, below))[1]
        for first in range(len(rules))
        for below in product(range(len(rules)), repeat=2)
    }
    assert found[chosen] == max(found.values())


def test_it_sees_what_one_question_cannot():
    """The class is whether both features agree: no single split tells anything."""
    rng = np.random.default_rng(5)
    schema = Schema(
        (*(CategoricalFeature(name, ("no", "yes")) for name in "ab"), NumericFeature("noise", 0, 1)),
        ClassTarget("y", ("differ", "agree")),
        n_public=4000,
    )
    a, b = rng.integers(0, 2, (2, 4000)).astype(np.uint8)
    data = EncodedDataset(schema, (a, b, rng.random(4000)), (a == b).astype(np.uint8))
    scores = {
        lookahead: [fit(data, epsilon=1.0, depth=2, seed=s, lookahead=lookahead).score(data) for s in range(5)]
        for lookahead in (1, 2)
    }
    assert min(scores[2]) == 1.0
    assert np.median(scores[1]) < 0.8


def test_weights_of_classes_move_the_labels_of_blocks():
    data = small(2, 300)
    rare = type(data)(data.schema, data.columns, (np.arange(300) % 20 == 0).astype(np.uint8))
    named = [
        fit(rare, epsilon=5.0, depth=2, seed=1, class_weights=weights).model.predict(rare).max() for weights in ((1, 1), (1, 30))
    ]
    assert named == [0, 1]
