"""DPGDF: its exact distribution from definitions, what it ignores and refuses, and that it owns up."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpviz
from dpviz.evaluation.audit.enumeration import Enumeration
from dpviz.models.tree import Leaf, SubsetRule
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.oracles import counts as counted
from tests.support.oracles import mechanisms as oracle
from tests.support.oracles import trees
from tests.support.tables import schema_of, table

SCHEMA = Schema(
    (CategoricalFeature("c", ("a", "b", "d")), NumericFeature("x", 0, 1), CategoricalFeature("e", ("u", "v"))),
    ClassTarget("y", ("n", "p")),
)
#: One category against the rest.
RULES = [SubsetRule(0, (0,)), SubsetRule(0, (1,)), SubsetRule(0, (2,)), SubsetRule(2, (0,)), SubsetRule(2, (1,))]


def data_of(n_rows: int) -> EncodedDataset:
    return table(SCHEMA, n_rows, seed=3)


def majority(counts, epsilon: float) -> np.ndarray:
    best, second = sorted(counts, reverse=True)[:2]
    weight = math.exp(epsilon / 2 * math.exp(epsilon * (best - second)))
    odds = [weight if count == best else 1.0 for count in counts]
    return np.array(odds) / sum(odds)


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_the_distribution_of_a_stump_is_its_definition(epsilon):
    data, found = data_of(12), {}
    source = Enumeration()
    for model, chance in source.outcomes(lambda: dpviz.fit("dpgdf", data, epsilon=epsilon, depth=1, source=source).model):
        key = model.root.rule, model.root.left.label, model.root.right.label
        found[key] = found.get(key, 0.0) + chance
    left = counted.left_counts(RULES, data, range(12))
    total = counted.class_counts(data, range(12))
    utilities = [0.5 - float(counted.weighted_gini(side, total - side)) for side in left]
    splits = oracle.exponential_mechanism(utilities, epsilon / 2, [1.0] * len(RULES))  # eps/2 over 2 * 1/2
    expected = {
        (rule, l_label, r_label): split * majority(side, epsilon / 2)[l_label] * majority(total - side, epsilon / 2)[r_label]
        for rule, split, side in zip(RULES, splits, left, strict=True)
        for l_label in (0, 1)
        for r_label in (0, 1)
    }
    assert found == pytest.approx(expected, rel=1e-10)


def test_with_a_huge_epsilon_it_is_greedy_and_stops_below_eleven_rows_or_when_pure():
    data = table(schema_of("categories"), 200)
    model = dpviz.fit("dpgdf", data, epsilon=1e5, depth=4, seed=0).model
    rules = [SubsetRule(f, (c,)) for f, feature in enumerate(data.schema.features) for c in range(len(feature.categories))]
    stopped = 0
    for level, node, rows in trees.rows_by_node(model, data):
        counts = counted.class_counts(data, rows)
        finished = level == 4 or len(rows) < 11 or (counts > 0).sum() < 2
        assert isinstance(node, Leaf) is bool(finished)
        if isinstance(node, Leaf):
            stopped += level < 4
            assert counts[node.label] == counts.max()
            continue
        best = trees.best(rules, data, rows, lambda left, right: -counted.weighted_gini(left, right))
        assert trees.utility_of(node.rule, data, rows, lambda left, right: -counted.weighted_gini(left, right)) == best
    assert stopped
