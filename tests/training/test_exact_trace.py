"""The teaching view: exact counts of every node."""

import numpy as np
import pytest

import dpviz
from dpviz.errors import SchemaError
from dpviz.models.tree import Branch, NumberLeaf, ThresholdRule, Tree
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, NumericTarget, Schema
from tests.support.oracles import counts, trees
from tests.support.tables import schema_of, table


def test_exact_counts_are_those_of_the_rows_that_reach_each_node():
    data = table(schema_of("mixed", 3), 80)
    tree = dpviz.fit("pf-tree", data, epsilon=1.0, depth=3, seed=2).model
    trace = dpviz.exact_trace(tree, data)
    expected = {id(node): counts.class_counts(data, rows) for _, node, rows in trees.rows_by_node(tree, data)}
    assert set(trace.counts) == {placed.path for placed in tree.nodes()}
    for placed in tree.nodes():
        np.testing.assert_array_equal(trace.counts[placed.path], expected[id(placed.node)])
    assert trace.rows("") == 80
    assert not trace.means
    with pytest.raises(TypeError):
        trace.counts["L"] = 1
    with pytest.raises(SchemaError, match="lack the model's columns"):
        dpviz.exact_trace(tree, table(schema_of("numbers"), 5))


def test_a_numeric_target_has_exact_rows_and_means():
    schema = Schema((NumericFeature("x", 0, 10),), NumericTarget("y", 0, 100))
    data = EncodedDataset(schema, (np.array([1.0, 2.0, 9.0]),), np.array([10.0, 20.0, 60.0]))
    rule = ThresholdRule(0, 5.0)
    trace = dpviz.exact_trace(Tree(schema, Branch(rule, NumberLeaf(1.0), Branch(rule, NumberLeaf(2.0), NumberLeaf(3.0)))), data)
    assert {path: trace.rows(path) for path in trace.counts} == {"": 3, "L": 2, "R": 1, "RL": 0, "RR": 1}
    assert (trace.means[""], trace.means["L"], trace.means["RR"]) == (30.0, 15.0, 60.0)
    assert np.isnan(trace.means["RL"])
