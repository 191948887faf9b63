"""PF-tree: its depth rule, its shares, its shape, and the greedy tree it becomes when nothing is private."""

from fractions import Fraction

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import BoundedRange, PureDP, walk
from dpviz.errors import ParameterError
from dpviz.evaluation.audit.universe import Universe
from dpviz.evaluation.audit.verify import verify
from dpviz.learners.native import pf_tree
from dpviz.models.tree import Branch, Leaf
from dpviz.table.candidates import multiscale_grid
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from dpviz.training.params import Settings
from dpviz.training.scores import SCALE
from tests.support.oracles import counts, trees
from tests.support.planted import GROWING
from tests.support.tables import schema_of, table


def fit(data, **asked):
    """Levels are chosen one by one, and all rows grow the tree; `test_pf_tree_blocks.py` has the others."""
    return dpviz.fit("pf-tree", data, **{"leaves": "labels", "lookahead": 1, **asked})


def test_the_depth_rule_by_hand():
    for n_public, n_candidates, epsilon, max_depth, depth in [
        # need = 8 ln(1000) / eps = 55.26 / eps; k is allowed while n / 2^(k-1) >= need * k
        (36000, 1000, 0.1, 4, 4),  # 4500 >= 2210
        (36000, 1000, 0.1, 12, 4),  # k = 5: 2250 < 2763
        (36000, 1000, 0.01, 4, 2),  # 18000 >= 11052; k = 3: 9000 < 16578
        (36000, 1000, 0.001, 4, 1),  # 36000 < 55262, and still 1
        (36000, 1000, 1.0, 12, 7),  # 562.5 >= 386.8; k = 8: 281.25 < 442.1
        (1, 1000, 1.0, 5, 1),
        (100, 1, 0.001, 6, 6),  # one candidate: nothing to choose
    ]:
        assert pf_tree.auto_depth(n_public, n_candidates, epsilon, max_depth) == depth


def test_how_many_rows_are_counted_follows_from_declared_numbers_by_hand():
    for n_public, epsilon, share in [
        (36_000, 0.1, 0.1),
        (1000, 1.0, 0.1),
        (694, 1.0, 0.12),
        (444, 1.0, 0.15),
        (50, 0.01, 0.15),
        (None, 0.01, 0.1),
        (9, 1e-320, 0.15),
    ]:
        assert pf_tree.counted_share(n_public, epsilon) == share


def test_a_tree_has_a_leaf_for_every_class_where_the_cap_allows_it():
    for n_classes, max_depth, depth in [(2, 4, 1), (3, 4, 2), (4, 4, 2), (5, 4, 3), (10, 4, 4), (10, 3, 3)]:
        assert pf_tree.auto_depth(100, 1000, 0.001, max_depth, n_classes) == depth


def test_auto_depth_is_written_down_with_its_numbers():
    schema = Schema(tuple(NumericFeature(f"x{i}", 0, 1) for i in range(10)), ClassTarget("y", ("n", "p")), n_public=36000)
    result = fit(table(schema, 30), epsilon=0.1, max_depth=6, seed=0)
    assert result.plan.depth == pf_tree.auto_depth(36000, 650, 0.1, 6) == 4
    assert result.plan.notes == (
        "Depth 4 of at most 6: the deepest k with n/2^(k-1) ≥ 8·ln(650)·k/ε for n = 36,000 and ε = 0.1.",
    )
    fixed = fit(table(schema, 30), epsilon=0.1, max_depth=6, depth=2, seed=0)
    assert (fixed.plan.depth, fixed.plan.notes) == (2, ("Depth 2 was set by you.",))


def test_levels_get_shares_in_proportion_to_1_4_to_the_level_and_all_of_epsilon():
    for depth in [1, 2, 3, 4, 8, 12]:
        for epsilon in [0.01, 0.1, 1 / 3, 1.0, 5.5]:
            plan = pf_tree.LEARNER.plan(
                schema_of("categories"), Settings(epsilon, max_depth=12, depth=depth), pf_tree.Params(lookahead="1")
            )
            weights = [1.4**level for level in range(depth)]
            assert [share.epsilon for share in plan.shares] == pytest.approx(
                [epsilon * w / sum(weights) for w in weights], rel=1e-12
            )
            total = sum((Fraction(share.epsilon) for share in plan.shares), Fraction(0))
            assert total <= Fraction(epsilon)
            assert float(total) == epsilon
            assert [share.level for share in plan.shares] == list(range(depth))
            assert [share.part for share in plan.shares] == ["node"] * (depth - 1) + ["node and leaf"]


def test_the_ledger_is_epsilon_to_the_last_bit():
    for epsilon in [0.1, 1 / 3, 1.0]:
        for n_classes in [2, 3, 7]:
            for depth in (1, 2, 3, 5):
                result = fit(table(schema_of("mixed", n_classes), 50), epsilon=epsilon, max_depth=5, depth=depth, seed=1)
                assert result.ledger.guarantee.epsilon == epsilon
                assert result.ledger.guarantee.delta == 0
                assert all(isinstance(step.cost, PureDP | BoundedRange) for _, step in walk(result.ledger.event))


def test_shares_by_hand_need_one_weight_per_level():
    data = table(schema_of("mixed"), 20)
    result = fit(data, epsilon=1.0, depth=2, seed=0, level_shares=(1, 3))
    assert [share.epsilon for share in result.plan.shares] == [0.25, 0.75]
    assert {share.set_by for share in result.plan.shares} == {"you"}
    with pytest.raises(ParameterError, match=r"The 'level_shares' parameter of pf-tree must be 3 numbers, one per level"):
        fit(data, epsilon=1.0, depth=3, seed=0, level_shares=(1, 3))


@pytest.mark.parametrize("n_classes", [2, 5, 7])
def test_the_tree_is_complete_to_its_depth(n_classes):
    for epsilon in [1e-6, 0.5, 1e6]:
        # the shape must not depend on rows: only at the last level may "one label for everybody" take the place of a split
        for n_rows in (0, 3, 60):
            for seed in range(4):
                data = table(schema_of("mixed", n_classes), n_rows)
                tree = fit(data, epsilon=epsilon, max_depth=4, depth=4, seed=seed).model
                leaves = {placed.depth for placed in tree.nodes() if isinstance(placed.node, Leaf)}
                assert leaves <= ({3, 4} if n_classes <= 5 else {4})
                assert sum(isinstance(placed.node, Branch) for placed in tree.nodes() if placed.depth < 3) == 7


def test_one_label_for_everybody_is_chosen_where_no_split_helps():
    schema = schema_of("numbers", 2)
    data = table(schema, 400)
    pure = type(data)(schema, data.columns, np.zeros(400, dtype=np.uint8))
    roots = [fit(pure, epsilon=1.0, depth=1, seed=seed).model.root for seed in range(20)]
    assert Leaf(0) in roots
    assert Leaf(1) not in roots


def impurity(left, right):
    return -counts.half_impurity(left, SCALE) - counts.half_impurity(right, SCALE)


def majorities(left, right):
    return max(left) + max(right)


@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_with_a_huge_epsilon_it_is_the_greedy_tree(kind):
    for depth in [1, 2, 3]:
        for n_classes in [2, 3, 7]:
            data = table(schema_of(kind, n_classes), 60)
            result = fit(data, epsilon=1e6, depth=depth, seed=3)
            rules = counts.rules_of(multiscale_grid(data.schema))
            checked = 0
            for level, node, rows in trees.rows_by_node(result.model, data):
                if level < depth - 1:
                    assert trees.utility_of(node.rule, data, rows, impurity) == trees.best(rules, data, rows, impurity)
                    checked += 1
                elif level == depth - 1:
                    right = sum(int(data.target[row]) == trees.predict_row(node, data, row) for row in rows)
                    assert right == trees.best(rules, data, rows, majorities)
                    checked += 1
            assert checked == 2**depth - 1


def test_more_than_five_classes_pay_for_the_split_and_then_for_labels_of_disjoint_rows():
    result = fit(table(schema_of("mixed", 7), 50), epsilon=1.0, depth=1, seed=0)
    steps = [(path, step.epsilon) for path, step in walk(result.ledger.event)]
    assert steps == [("1", 0.5), ("2a", 0.5), ("2b", 0.5)]
    few = fit(table(schema_of("mixed", 5), 50), epsilon=1.0, depth=1, seed=0)
    assert [(path, step.epsilon) for path, step in walk(few.ledger.event)] == [("1", 1.0)]


def test_it_learns_a_threshold_that_is_there():
    schema = Schema((NumericFeature("x", 0, 1), NumericFeature("noise", 0, 1)), ClassTarget("y", ("n", "p")), n_public=2000)
    data = table(schema, 2000)
    target = (data.columns[0] > 0.25).astype(np.uint8)
    data = type(data)(schema, data.columns, target)
    scores = [fit(data, epsilon=1.0, seed=seed).score(data) for seed in range(10)]
    assert min(scores) > 0.97


def test_a_heavy_rare_class_is_named_where_equal_weights_never_name_it():
    schema = schema_of("numbers")
    data = table(schema, 2000, seed=2)
    rare = (data.columns[0] > 6) & (np.arange(2000) % 3 == 0)
    data = type(data)(schema, data.columns, rare.astype(np.uint8))
    plain, heavy = (fit(data, epsilon=2.0, depth=2, seed=1, class_weights=weights).model for weights in (None, (1, 20)))
    assert plain.predict(data).sum() == 0
    assert heavy.predict(data)[rare].mean() > 0.9


def test_class_weights_are_one_per_class_and_positive():
    data = table(schema_of("mixed"), 20)
    with pytest.raises(ParameterError, match="must be 2 numbers, one per class"):
        fit(data, epsilon=1.0, seed=0, class_weights=(1, 2, 3))
    with pytest.raises(ParameterError, match="must be None or a sequence of positive numbers, one per class"):
        fit(data, epsilon=1.0, seed=0, class_weights=(0, 1))


def test_weighed_choices_keep_the_ledger_and_hold():
    found = verify(GROWING, epsilon=1.0, universes=(Universe((2,), depth=2, max_rows=3),), class_weights=(1, 3))
    assert (found.verdict, found.composed) == ("holds", 1.0)
    assert found.log_ratio > 0.5
