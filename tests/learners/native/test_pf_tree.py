"""PF-tree with levels chosen one by one or two together: its public rules, its shares, its shape, the trees without noise."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import dpviz
from dpviz.accounting.plan import BudgetPlan
from dpviz.errors import DpvizError, ParameterError
from dpviz.evaluation.audit.exact import Universe
from dpviz.evaluation.audit.verify import verify
from dpviz.learners import FitRequest
from dpviz.learners.native import pf_tree
from dpviz.models.tree import Leaf
from dpviz.privacy.source import Simulation
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training import scores
from dpviz.training.params import Settings
from tests.support.planted import GROWING
from tests.support.tables import schema_of, table

RULES = (pf_tree.auto_depth, pf_tree.auto_depth_of_blocks)


def fit(data, **asked):
    """All rows grow the tree."""
    return dpviz.fit("pf-tree", data, **{"leaves": "labels", **asked})


def plan_of(schema: Schema, epsilon: float = 1.0, max_depth: int = 12, depth="auto", **params) -> BudgetPlan:
    return pf_tree.plan(schema, Settings(epsilon, max_depth=max_depth, depth=depth), pf_tree.Params(**params))


def numbers_of(count: int, n_public: int) -> Schema:
    features = tuple(NumericFeature(f"x{place}", 0, 1) for place in range(count))
    return Schema(features, ClassTarget("y", ("n", "p")), n_public=n_public)


def of_target(data, target) -> EncodedDataset:
    return EncodedDataset(data.schema, data.columns, np.asarray(target).astype(np.uint8))


# --- public rules


def test_public_rules_by_hand():
    for n_public, n_candidates, epsilon, max_depth, one_by_one, of_blocks in [
        # one by one: k is allowed while n / 2^(k-1) >= k 8 ln(1000) / eps = k 55.26 / eps
        # of blocks: while n eps >= 16 ln(1000) = 110.5 times 1, 4, 9 (for k = 2 to 4), 81, 729, ... (6, 8, ...)
        (36000, 1000, 0.1, 4, 4, 4),  # 4500 >= 2210
        (36000, 1000, 0.1, 12, 4, 4),  # k = 5: 2250 < 2763; 3600: 110.5 * 81 = 8952
        (36000, 1000, 0.01, 4, 2, 2),  # k = 3: 9000 < 16578; 360 < 442
        (36000, 1000, 0.001, 4, 1, 1),  # 36000 < 55262, and still 1
        (36000, 1000, 1.0, 12, 7, 6),  # k = 8: 281.25 < 442.1; 36000: 110.5 * 729 = 80570
        (36000, 1000, 1.0, 5, 5, 4),
        (8000, 1000, 0.1, 12, 3, 3),  # 800: 110.5 * 4 = 442, * 9 = 995
        (1, 1000, 1.0, 5, 1, 1),
        (100, 1, 0.001, 6, 6, 6),  # one candidate: nothing to choose
    ]:
        assert [rule(n_public, n_candidates, epsilon, max_depth) for rule in RULES] == [one_by_one, of_blocks]
    for n_classes, max_depth, depth in [(2, 4, 1), (3, 4, 2), (4, 4, 2), (5, 4, 3), (10, 4, 4), (10, 3, 3)]:
        for rule in RULES:  # a leaf for every class where the cap allows it
            assert rule(100, 1000, 0.001, max_depth, n_classes) == depth
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
    for n_public, epsilon, units in [(1000, 1.0, 1024), (50, 0.1, 1024), (16_000, 1.0, 512), (4096, 1.0, 719), (None, 1.0, 512)]:
        assert pf_tree.correct_units(n_public, epsilon) == units


def test_the_depth_never_falls_with_rows_or_epsilon_and_caps_and_fixed_depths_hold():
    for n_candidates, rule in product([2, 30, 650, 3000], RULES):
        rows, epsilons = (1, 10, *(10**k * m for k in range(2, 7) for m in (1, 2, 5))), [10 ** (k / 4) for k in range(-12, 9)]
        found = np.array([[[rule(n, n_candidates, e, most) for e in epsilons] for n in rows] for most in range(1, 13)])
        for axis in range(3):
            assert (np.diff(found, axis=axis) >= 0).all()
        assert found.min() >= 1
        assert (found <= np.arange(1, 13)[:, None, None]).all()
    schema = table(schema_of("categories"), 40).schema
    for asked, depth in [({}, 8), ({"max_depth": 4}, 4), ({"max_depth": 12}, 12), ({"max_depth": 4, "depth": 10}, 10)]:
        assert FitRequest.of("pf-tree", epsilon=1e6, **asked).plan(schema).depth == depth
    declared = numbers_of(10, 36_000)
    jump = 16 * math.log(650) * 4 / 36_000
    assert [plan_of(declared, jump * factor, 6).depth for factor in (0.999, 1.001)] == [2, 3]
    assert "0.012" in " ".join(plan_of(declared, 0.01, 6, leaves="labels").notes)  # the notes say where it jumps


def test_the_schema_alone_decides_that_levels_are_chosen_one_by_one():
    wide = Schema(
        tuple(CategoricalFeature(f"c{i}", tuple("abcdefghij")) for i in range(6)), ClassTarget("y", ("n", "p")), n_public=900
    )
    assert [share.levels for share in plan_of(wide, depth=3).shares] == [1, 1, 1]
    number = Schema(wide.features, NumericTarget("y", 0, 1), n_public=900)
    for schema, reason in ((wide, "3,066 candidates"), (number, "a target that is a number")):
        with pytest.raises(ParameterError, match=f"'lookahead' parameter of pf-tree must be 'auto' or 1 for {reason}"):
            plan_of(schema, depth=3, lookahead="2")
    # pairs that would not fit give up levels beyond the fourth and then themselves
    plans = [plan_of(numbers_of(count, 10**9), 1.0, max_depth=8) for count in (10, 14, 28, 40)]
    assert [plan.depth for plan in plans[:3]] == [8, 6, 4]
    assert [plan.shares[0].levels for plan in plans] == [2, 2, 2, 1]
    few = [plan_of(numbers_of(14, 20_000), 0.1, max_depth) for max_depth in (4, 8)]  # a cap that the rule does not reach
    assert [[share.levels for share in plan.shares] for plan in few] == [[2, 2], [2, 2]]
    assert plan_of(numbers_of(14, 20_000), 0.1, depth=8).shares[0].levels == 1  # 64 nodes at once


def test_what_may_be_asked_for():
    data = table(schema_of(), 30)
    for lookahead in (1, 2, "1", "2", "auto"):
        result = fit(data, epsilon=1.0, depth=2, seed=0, lookahead=lookahead)
        assert result.params.lookahead == str(lookahead)
        assert len(result.plan.shares) == (2 if str(lookahead) == "1" else 1)
    for asked, problem in [
        *(({"lookahead": wrong}, r"must be one of 'auto', 2, 1\.") for wrong in (3, "both", True, None, 2.5)),
        ({"depth": 3, "lookahead": 1, "level_shares": (1, 3)}, "must be 3 numbers, one per level"),
        ({"depth": 4, "level_shares": (1, 2)}, "must be 4 numbers, one per level"),
        ({"class_weights": (1, 2, 3)}, "must be 2 numbers, one per class"),
        ({"class_weights": (0, 1)}, "must be None or a sequence of positive numbers, one per class"),
    ]:
        with pytest.raises(ParameterError, match=problem):
            fit(data, epsilon=1.0, seed=0, **asked)


# --- what it spends


@pytest.mark.parametrize("lookahead", ["1", "auto"])
def test_a_choice_pays_for_its_levels_and_together_they_pay_all_of_epsilon(lookahead):
    for epsilon, depth in product([0.01, 0.1, 1 / 3, 1.0, 5.5], [1, 2, 3, 4, 5, 8, 12]):
        plan = plan_of(schema_of("categories"), epsilon, depth=depth, lookahead=lookahead)
        first = depth % 2 if lookahead == "auto" else depth
        levels = [(level, 1) for level in range(first)] + [(level, 2) for level in range(first, depth, 2)]
        assert [(share.level, share.levels) for share in plan.shares] == levels
        weights = [sum(1.4**at for at in range(level, level + size)) for level, size in levels]
        assert [share.epsilon for share in plan.shares] == pytest.approx([epsilon * w / sum(weights) for w in weights], rel=1e-12)
        assert float(sum((Fraction(share.epsilon) for share in plan.shares), Fraction(0))) == epsilon
        parts = ["node"] * first + ["two levels"] * ((depth - first) // 2)
        assert [share.part for share in plan.shares] == [*parts[:-1], f"{parts[-1]} and leaf"]
    for asked, epsilons in (({"depth": 2, "lookahead": "1", "level_shares": (1, 3)}, [0.25, 0.75]),) + (
        ({"depth": 4, "level_shares": (1, 2, 3, 4)}, [0.3, 0.7]),
    ):
        by_hand = plan_of(schema_of(), 1.0, **asked)
        assert [share.epsilon for share in by_hand.shares] == pytest.approx(epsilons)
        assert {share.set_by for share in by_hand.shares} == {"you"}


def test_weighed_choices_keep_the_ledger_and_hold():
    found = verify(GROWING, epsilon=1.0, universes=(Universe((2,), depth=2, max_rows=3),), class_weights=(1, 3))
    assert (found.verdict, found.composed) == ("holds", 1.0)
    assert found.log_ratio > 0.5


class NoDraw(Simulation):
    """A source of which nothing may be asked."""

    def draw(self, mechanism, values):
        raise AssertionError("a draw")


@pytest.mark.parametrize("asked", [{"leaves": "honest"}, {"lookahead": 1}, {"depth": 3}])
def test_too_many_rows_are_refused_by_their_number_alone_before_anything_is_drawn(asked, monkeypatch):
    """With class weights each counts as one of the heaviest class, whatever the classes of the rows are."""
    monkeypatch.setattr(scores, "MAX_ROWS", 2000)
    schema = schema_of("categories")
    for weights, n_rows in ((None, 2000), ((1, 3), 20)):
        few, many = (of_target(table(schema, n), np.zeros(n)) for n in (n_rows, n_rows + 1))
        assert fit(few, **{"epsilon": 1.0, "depth": 2, "class_weights": weights, "seed": 1, **asked}).model
        with pytest.raises(DpvizError, match=r"^At most 2,000 rows can be scored exactly; with class weights.* 20\."):
            fit(many, **{"epsilon": 1.0, "depth": 2, "class_weights": weights, "source": NoDraw(1), **asked})


# --- its shape


@pytest.mark.parametrize("lookahead", [1, pytest.param("auto", marks=pytest.mark.slow)])
@pytest.mark.parametrize("n_classes", [2, 7])
def test_the_tree_is_complete_to_its_depth_whatever_the_rows(n_classes, lookahead):
    """Only at the last level may one label for everybody take the place of a split."""
    for epsilon, n_rows, depth in product([1e-6, 0.5, 1e6], (0, 3, 60), (3, 4)):
        data = table(schema_of("categories", n_classes), n_rows)
        for seed in range(2):
            tree = fit(data, epsilon=epsilon, max_depth=4, depth=depth, seed=seed, lookahead=lookahead).model
            leaves = {placed.depth for placed in tree.nodes() if isinstance(placed.node, Leaf)}
            assert leaves <= ({depth - 1, depth} if n_classes <= 5 else {depth})


def test_one_label_for_everybody_is_chosen_where_no_split_helps():
    pure = of_target(table(schema_of("numbers", 2), 400), np.zeros(400))
    roots = [fit(pure, epsilon=1.0, depth=1, seed=seed, lookahead=1).model.root for seed in range(20)]
    assert Leaf(0) in roots
    assert Leaf(1) not in roots


# --- without noise


@pytest.mark.parametrize("lookahead", [1, 2])
def test_a_heavy_rare_class_is_named_where_equal_weights_hardly_name_it(lookahead):
    data = table(schema_of("numbers"), 2000, seed=2)
    rare = (data.columns[0] > 6) & (np.arange(2000) % 3 == 0)
    plain, heavy = (
        fit(of_target(data, rare), epsilon=2.0, depth=2, seed=1, class_weights=weights, lookahead=lookahead).model
        for weights in (None, (1, 20))
    )
    assert plain.predict(data)[rare].mean() < 0.1
    assert heavy.predict(data)[rare].mean() > 0.9
