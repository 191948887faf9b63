"""BDPT: every draw against its definition, groups of values, and that it owns up."""

from __future__ import annotations

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import walk
from dpviz.models.tree import Branch, Leaf, SubsetRule, ThresholdRule
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.oracles import counts as counted
from tests.support.oracles import trees
from tests.support.recording import Recording
from tests.support.tables import schema_of, table

TWO = ClassTarget("y", ("n", "p"))


def groups_by_hand(column, size: int = 5) -> list[set[float]]:
    values = sorted({float(value) for value in column})
    return [set(values[start : start + size]) for start in range(0, len(values), size)]


def candidates_by_hand(data: EncodedDataset) -> list[tuple[int, set[float]]]:
    """(feature, values told apart from the rest), feature by feature."""
    found = []
    for position, (feature, column) in enumerate(zip(data.schema.features, data.columns, strict=True)):
        if isinstance(feature, CategoricalFeature):
            found += [(position, {float(code)}) for code in range(len(feature.categories))]
        else:
            found += [(position, group) for group in groups_by_hand(column)]
    return found


def utility(data: EncodedDataset, rows, feature: int, values: set[float]) -> float:
    inside = [row for row in rows if float(data.columns[feature][row]) in values]
    left, total = counted.class_counts(data, inside), counted.class_counts(data, rows)
    return 0.5 - float(counted.weighted_gini(left, total - left))


def test_every_draw_at_the_root_is_its_definition():
    for n_classes in [2, 3]:
        for kind in ["numbers", "categories", "mixed"]:
            data, source, epsilon, depth = table(schema_of(kind, n_classes), 60), Recording(2), 0.9, 3
            dpviz.fit("bdpt", data, epsilon=epsilon, depth=depth, source=source)
            (count, rows, noisy), (choice, utilities, _) = source.draws[:2]
            ratio = 2 ** (1 / 3)
            assert count.epsilon == pytest.approx((1 - ratio) / (1 - ratio ** (depth + 1)) * epsilon / 2)
            assert rows.tolist() == [60]
            assert choice.epsilon == pytest.approx(epsilon / (2 * depth))
            n = max(1.0, float(noisy[0]))
            assert choice.sensitivity.value == pytest.approx(1 - (n / (n + 1)) ** 2 - (1 / (n + 1)) ** 2)
            assert not choice.sensitivity.is_bound
            expected = [utility(data, range(60), *candidate) for candidate in candidates_by_hand(data)]
            # told apart from the rest is the same from both sides: the last group is the one that stays right
            assert sorted(utilities.tolist()) == pytest.approx(sorted(expected))
            np.testing.assert_allclose(utilities, expected)


def test_the_chosen_value_is_told_apart_from_the_rest():
    for kind in ["numbers", "categories", "mixed"]:
        data = table(schema_of(kind), 80)
        for seed in range(12):
            source = Recording(seed)
            model = dpviz.fit("bdpt", data, epsilon=1e5, depth=1, source=source).model
            chosen = candidates_by_hand(data)[source.draws[1][2]]
            assert source.draws[1][1][source.draws[1][2]] == pytest.approx(source.draws[1][1].max())
            sides = {True: set(), False: set()}
            for row in range(80):
                sides[float(data.columns[chosen[0]][row]) in chosen[1]].add(trees.predict_row(model.root, data, row))
            assert all(len(side) == 1 for side in sides.values())
            assert {type(p.node.rule) for p in model.nodes() if isinstance(p.node, Branch)} <= {ThresholdRule, SubsetRule}


def test_a_group_in_the_middle_takes_two_rules_and_one_level():
    schema = Schema((NumericFeature("x", 0, 20),), TWO)
    x = np.repeat(np.arange(15.0), 10)
    data = EncodedDataset(schema, (x,), ((x >= 5) & (x <= 9)).astype(np.uint8))
    result = dpviz.fit("bdpt", data, epsilon=1e5, depth=1, seed=0)
    inner = Branch(ThresholdRule(0, 4.0), Leaf(0), Leaf(1))
    assert result.model.root == Branch(ThresholdRule(0, 9.0), inner, Leaf(0))
    assert len([step for _, step in walk(result.ledger.event) if step.part == "leaf"]) == 2


def test_with_a_huge_epsilon_it_is_greedy_and_stops_when_pure():
    data = table(schema_of("categories", 3), 150)
    model = dpviz.fit("bdpt", data, epsilon=1e6, depth=3, seed=1).model
    candidates = candidates_by_hand(data)
    for level, node, rows in trees.rows_by_node(model, data):
        counts = counted.class_counts(data, rows)
        assert isinstance(node, Leaf) is bool(level == 3 or len(rows) < 2 or (counts > 0).sum() < 2)
        if isinstance(node, Leaf):
            assert counts[node.label] == counts.max()
        else:
            best = max(utility(data, rows, *candidate) for candidate in candidates)
            assert utility(data, rows, node.rule.feature, set(map(float, node.rule.codes))) == pytest.approx(best)
