"""Forests, packed and not: votes and ties, rows fall as through the single trees, documents come back whole, bad ones named."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DocumentError, DpvizError, SchemaError
from dpviz.models.document import PackedForestBody, model_body, packed_from
from dpviz.models.hashed_forest import HashedForest, fractions, leaves_reached, mix
from dpviz.models.packed_forest import LEAF, PackedForest, PackedTrees
from dpviz.models.tree import Branch, Forest, Leaf, ThresholdRule, Tree
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.table.strict_json import read as parsed
from tests.support.tables import schema_of, table

SCHEMA = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("a", "b", "c")))
PACKED = Schema((NumericFeature("x", 0, 1), CategoricalFeature("c", ("red", "green", "blue"))), ClassTarget("y", ("no", "yes")))


def rows(*values: float) -> EncodedDataset:
    return EncodedDataset(SCHEMA, (np.array(values),), np.zeros(len(values), dtype=np.uint8))


def step(left: int, right: int) -> Tree:
    return Tree(SCHEMA, Branch(ThresholdRule(0, 0.5), Leaf(left), Leaf(right)))


def read(*trees: str) -> PackedForest:
    return packed_from(parsed(PackedForestBody, {"form": "-", "trees": list(trees)}), PACKED)


def test_most_votes_win_and_ties_go_to_the_lowest_class() -> None:
    forest = Forest(SCHEMA, (step(0, 1), step(2, 1), step(1, 1)))
    assert forest.votes(rows(0.1, 0.9)).tolist() == [[1, 1, 1], [0, 3, 0]]
    assert forest.predict_proba(rows(0.9)).tolist() == [[0.0, 1.0, 0.0]]
    predicted = forest.predict(rows(0.1, 0.9))
    assert (predicted.dtype, predicted.tolist()) == (np.uint8, [0, 1])
    assert Forest(SCHEMA, (step(2, 2), step(1, 1))).predict(rows(0.5)).tolist() == [1]
    nothing = Forest(SCHEMA, ())
    assert nothing.predict(rows(0.1, 0.2)).tolist() == [0, 0]
    assert nothing.predict_proba(rows(0.1)).tolist() == [[1 / 3, 1 / 3, 1 / 3]]
    other = Schema((NumericFeature("z", 0, 1),), SCHEMA.target)
    with pytest.raises(SchemaError, match="lack the model's columns"):
        Forest(SCHEMA, (Tree(other, Leaf(0)),))


@pytest.mark.parametrize("name", ["pf-forest", "jpw-forest", "random-forest"])
def test_a_row_falls_as_through_the_unpacked_trees(name: str) -> None:
    data = table(schema_of("mixed", 3), 200)
    model = dpviz.fit(name, data, epsilon=1.0, max_depth=4, seed=2, trees=6).model
    values = np.column_stack(data.columns).astype(float)
    for root, tree in zip(model.splits.roots, model.trees, strict=True):
        np.testing.assert_array_equal(tree.predict(data), model.labels[model.splits.leaf_of(values, root)])
    assert len(model.trees) == 6
    assert model.trees[-1] == model.trees[5]
    assert [tree.schema for tree in model.trees[1:3]] == [data.schema] * 2
    votes = model.votes(data)
    np.testing.assert_array_equal(model.predict(data), votes.argmax(axis=1))
    if name != "jpw-forest":  # which adds up counts
        assert (votes.sum(axis=1) == 6).all()
        np.testing.assert_allclose(model.predict_proba(data), votes / 6)


#: A leaf, or a feature, its threshold (NaN: one child per category) and its children.
SUBTREES = st.recursive(
    st.just(()),
    lambda below: st.tuples(st.just(0), st.just(0.5), below, below) | st.tuples(st.just(1), st.just(np.nan), below, below, below),
    max_leaves=12,
)


@given(st.lists(SUBTREES, min_size=1, max_size=5))
def test_trees_and_children_follow_from_what_nodes_ask_for(roots) -> None:
    """Breadth first, tree after tree; also where the trees of several parts are joined."""
    nodes, tree_of, first = [], [], []
    for number, root in enumerate(roots):
        waiting, start = [root], len(nodes)
        for node in waiting:
            nodes.append(node[:2] if node else (LEAF, np.nan))
            tree_of.append(number)
            first.append(start + len(waiting) if node else 0)
            waiting += node[2:]
    whole = PackedTrees.of(PACKED, nodes)
    cut = tree_of.index(len(roots) - 1)
    parts = [PackedTrees.of(PACKED, part) for part in (nodes[:cut], nodes[cut:]) if part]
    for trees in (whole, PackedTrees.concatenate(parts)):
        assert trees.n_trees == len(roots)
        assert (trees.tree.tolist(), trees.first_child.tolist()) == (tree_of, first)
        assert trees.roots.tolist() == [tree_of.index(number) for number in range(len(roots))]
        assert [len(trees.children(node)) for node in range(len(nodes))] == trees.n_children.tolist()


def test_noisy_counts_add_up_over_trees_and_the_compact_document_comes_back() -> None:
    forest = read("0<=0.5 =0:5,-3 =1:-2,4", "=0:1,-9")
    data = EncodedDataset(PACKED, (np.array([0.2, 0.9]), np.zeros(2, dtype=np.uint8)), np.zeros(2, dtype=np.uint8))
    assert forest.votes(data).tolist() == [[6, -12], [-1, -5]]
    assert forest.predict_proba(data).tolist() == [[1.0, 0.0], [0.5, 0.5]]
    trees = ("0<=0.5 1? =0 =1 =0 =1", "1<=0.5 =1 =0")
    forest = read(*trees)
    assert model_body(forest)["trees"] == list(trees)
    assert packed_from(parsed(PackedForestBody, model_body(forest)), PACKED) == forest
    assert forest != read("0<=0.5 1? =0 =1 =0 =0", trees[1])
    assert forest != "a forest"
    (tree,) = read("1? =0 =1 =0").trees  # one child per category becomes a chain of rules
    assert [placed.node.rule.codes for placed in tree.nodes() if hasattr(placed.node, "rule")] == [(0,), (1,)]


def test_a_document_that_is_no_forest_is_named() -> None:
    for trees, what in [
        ([], "trees"),
        (["=0", 3], "must be a text"),
        *(([tree], "The number of nodes does not fit") for tree in (" ", "0<=0.5 =0", "=0 =1", "=0 0<=1 =1 =0")),
        (["=2"], "Class 2 does not fit the schema"),
        (["=0:1"], "Class 0 does not fit the schema"),
        (["=0:1,99999999999999999999"], "Class 0 does not fit the schema"),
        (["0<=nan =0 =1"], "'nan' is not a number"),
        (["0? =0 =1"], "Feature number 0 has no categories"),
        (["7<=1 =0 =1"], "There is no feature number 7"),
        (["leaf"], "'leaf' is not a node"),
        (["=0:1,2", "=1"], "Some leaves lack their counts"),
    ]:
        with pytest.raises(DocumentError, match=what) as problem:
            packed_from(parsed(PackedForestBody, {"form": "-", "trees": trees}), PACKED)
        assert problem.value.where.startswith("trees")
    document = json.loads(dpviz.fit("dpa", table(schema_of()), epsilon=1.0, seed=0, trees=5).to_json())
    for roots, where in [(None, "roots"), ([{"leaf": "c0"}, 7], "roots[1]"), ([{"leaf": "c9"}], "roots[0].leaf")]:
        with pytest.raises(DocumentError) as problem:
            dpviz.model_from_json(json.dumps(document | {"roots": roots}))
        assert problem.value.where == where


@pytest.mark.slow
def test_hashed_leaves_keep_their_labels_and_leaves_without_rows_have_uniform_ones() -> None:
    data, nothing = table(schema_of("mixed", 3), 3000), (np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint8))
    forest = HashedForest(data.schema, 3, np.arange(40, dtype=np.uint64), *nothing, label_key=5)
    votes = forest.votes(data)
    np.testing.assert_array_equal(votes, forest.votes(data))
    assert (votes.sum(axis=1) == 40).all()
    assert abs(votes.mean(axis=0) / 40 - 1 / 3).max() < 0.05
    keys, values = np.array([3], dtype=np.uint64), np.column_stack(data.columns).astype(float)
    leaves = np.unique(leaves_reached(data.schema, 4, values, np.full(3000, keys[0])))
    for label in (0, 1):
        listed = HashedForest(data.schema, 4, keys, leaves, np.full(len(leaves), label, dtype=np.uint8), label_key=5)
        assert (listed.predict(data) == label).all()
        np.testing.assert_allclose(listed.predict_proba(data)[:, label], 1)
    with pytest.raises(DpvizError, match="too many leaves to be written down"):
        model_body(forest)
    spread = fractions(mix(np.arange(100_000, dtype=np.uint64)))
    counts = np.bincount((spread * 100).astype(int), minlength=100)
    assert 0 <= spread.min() < spread.max() < 1
    assert 50 < np.square(counts - 1000).sum() / 1000 < 160  # chi-square with 99 degrees of freedom
