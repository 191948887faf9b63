"""Packed forests: rows fall as they do through unpacked trees, documents come back whole, bad ones are named."""

from __future__ import annotations

import numpy as np
import pytest

import dpviz
from dpviz.errors import DocumentError, DpvizError
from dpviz.models.document import model_body
from dpviz.models.hashed_forest import HashedForest, fractions, leaves_reached, mix
from dpviz.models.packed_forest import PackedForest
from dpviz.models.packed_text import PackedForestBody, packed_from
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.table.strict_json import read as parsed
from tests.support.tables import schema_of, table

SCHEMA = Schema((NumericFeature("x", 0, 1), CategoricalFeature("c", ("red", "green", "blue"))), ClassTarget("y", ("no", "yes")))


def read(*trees: str, schema: Schema = SCHEMA) -> PackedForest:
    return packed_from(parsed(PackedForestBody, {"form": "-", "trees": list(trees)}), schema)


@pytest.mark.parametrize("name", ["pf-forest", "jpw-forest", "random-forest"])
def test_a_row_falls_as_through_the_unpacked_trees(name: str) -> None:
    data = table(schema_of("mixed", 3), 200)
    model = dpviz.fit(name, data, epsilon=1.0, max_depth=4, seed=2, trees=6).model
    values = np.column_stack(data.columns).astype(float)
    for root, tree in zip(model.splits.roots, model.trees, strict=True):
        labels = model.labels[model.splits.leaf_of(values, np.full(data.n_rows, root))]
        np.testing.assert_array_equal(tree.predict(data), labels)
    assert len(model.trees) == 6
    assert model.trees[-1] == model.trees[5]
    assert [tree.schema for tree in model.trees[1:3]] == [data.schema] * 2


def test_votes_count_trees_and_probabilities_are_their_shares() -> None:
    data = table(schema_of("mixed", 3), 50)
    model = dpviz.fit("pf-forest", data, epsilon=1.0, seed=2, trees=9).model
    votes = model.votes(data)
    assert (votes.sum(axis=1) == 9).all()
    np.testing.assert_allclose(model.predict_proba(data), votes / 9)
    np.testing.assert_array_equal(model.predict(data), votes.argmax(axis=1))


def test_noisy_counts_add_up_over_trees_and_negative_sums_count_nothing() -> None:
    forest = read("0<=0.5 =0:5,-3 =1:-2,4", "=0:1,-9")
    rows = EncodedDataset(SCHEMA, (np.array([0.2, 0.9]), np.zeros(2, dtype=np.uint8)), np.zeros(2, dtype=np.uint8))
    assert forest.votes(rows).tolist() == [[6, -12], [-1, -5]]
    assert forest.predict_proba(rows).tolist() == [[1.0, 0.0], [0.5, 0.5]]


def test_one_child_per_category_becomes_a_chain_of_rules() -> None:
    (tree,) = read("1? =0 =1 =0").trees
    assert tree.depth == 2
    assert [placed.node.rule.codes for placed in tree.nodes() if hasattr(placed.node, "rule")] == [(0,), (1,)]


def test_the_document_is_compact_and_comes_back() -> None:
    forest = read("0<=0.5 1? =0 =1 =0 =1", "1<=0.5 =1 =0")
    assert model_body(forest)["trees"] == ["0<=0.5 1? =0 =1 =0 =1", "1<=0.5 =1 =0"]
    again = packed_from(parsed(PackedForestBody, model_body(forest)), SCHEMA)
    assert again == forest
    assert again != read("0<=0.5 1? =0 =1 =0 =0", "1<=0.5 =1 =0")
    assert forest != "a forest"


def test_a_document_that_is_no_forest_is_named() -> None:
    for trees, what in [
        ([], "trees"),
        (["=0", 3], "must be a text"),
        ([" "], "The number of nodes does not fit"),
        (["0<=0.5 =0"], "The number of nodes does not fit"),
        (["=0 =1"], "The number of nodes does not fit"),
        (["=0 0<=1 =1 =0"], "The number of nodes does not fit"),
        (["=2"], "Class 2 does not fit the schema"),
        (["=0:1"], "Class 0 does not fit the schema"),
        (["=0:1,99999999999999999999"], "Class 0 does not fit the schema"),
        (["0<=nan =0 =1"], "'nan' is not a number"),
        (["0<=x =0 =1"], "'x' is not a number"),
        (["0? =0 =1"], "Feature number 0 has no categories"),
        (["7<=1 =0 =1"], "There is no feature number 7"),
        (["leaf"], "'leaf' is not a node"),
        (["=0:1,2", "=1"], "Some leaves lack their counts"),
    ]:
        with pytest.raises(DocumentError, match=what) as problem:
            packed_from(parsed(PackedForestBody, {"form": "-", "trees": trees}), SCHEMA)
        assert problem.value.where.startswith("trees")


class TestHashed:
    def test_equal_rows_get_equal_labels_and_leaves_without_rows_uniform_ones(self) -> None:
        data = table(schema_of("mixed", 3), 3000)
        forest = HashedForest(data.schema, 3, np.arange(40, dtype=np.uint64), *_nothing(), label_key=5)
        votes = forest.votes(data)
        np.testing.assert_array_equal(votes, forest.votes(data))
        assert (votes.sum(axis=1) == 40).all()
        assert abs(votes.mean(axis=0) / 40 - 1 / 3).max() < 0.05

    def test_listed_leaves_keep_their_labels(self) -> None:
        data = table(schema_of("mixed", 2), 400)
        keys, values = np.array([3], dtype=np.uint64), np.column_stack(data.columns).astype(float)
        leaves = np.unique(leaves_reached(data.schema, 4, values, np.full(400, keys[0])))
        for label in (0, 1):
            forest = HashedForest(data.schema, 4, keys, leaves, np.full(len(leaves), label, dtype=np.uint8), label_key=5)
            assert (forest.predict(data) == label).all()
            np.testing.assert_allclose(forest.predict_proba(data)[:, label], 1)

    def test_it_is_not_written_down(self) -> None:
        forest = HashedForest(SCHEMA, 3, np.arange(2, dtype=np.uint64), *_nothing(), label_key=5)
        with pytest.raises(DpvizError, match="too many leaves to be written down"):
            model_body(forest)

    def test_hashes_spread(self) -> None:
        values = fractions(mix(np.arange(100_000, dtype=np.uint64)))
        counts = np.bincount((values * 100).astype(int), minlength=100)
        assert values.min() >= 0
        assert values.max() < 1
        assert 50 < np.square(counts - 1000).sum() / 1000 < 160  # chi-square with 99 degrees of freedom


def _nothing() -> tuple[np.ndarray, np.ndarray]:
    return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint8)
