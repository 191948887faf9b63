"""Majority and CART."""

import math

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import dpviz
from dpviz.errors import SchemaError
from dpviz.models.constant import Constant
from dpviz.models.tree import Leaf
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from tests.support.tables import schema_of, table


def test_majority_with_a_huge_epsilon_is_the_most_frequent_class():
    data = table(schema_of("mixed", 3), 99)
    result = dpviz.fit("majority", data, epsilon=1e6, seed=0)
    assert result.model == Constant(data.schema, int(np.bincount(data.target).argmax()))
    assert result.score(data) == np.bincount(data.target).max() / 99


@pytest.mark.slow
def test_majority_chooses_with_the_odds_of_permute_and_flip():
    # counts 3 and 1 at epsilon ln 2: P(1) = c (1 - 1/2) with c = 1/4, so 1/8
    schema = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("n", "p")))
    data = EncodedDataset(schema, (np.zeros(4),), np.array([0, 0, 0, 1], dtype=np.uint8))
    draws = 4000
    ones = sum(dpviz.fit("majority", data, epsilon=math.log(2), seed=seed).model.label for seed in range(draws))
    assert abs(ones - draws / 8) < 4 * math.sqrt(draws * 7 / 64)


@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_cart_predicts_exactly_as_scikit_learn(kind):
    for depth in [1, 3, 8]:
        for n_classes in [2, 3, 7]:
            data, fresh = table(schema_of(kind, n_classes), 300), table(schema_of(kind, n_classes), 500, seed=9)
            ours = dpviz.fit("cart", data, epsilon=1.0, max_depth=depth, seed=0).model
            theirs = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(np.column_stack(data.columns), data.target)
            for rows in (data, fresh):
                np.testing.assert_array_equal(ours.predict(rows), theirs.predict(np.column_stack(rows.columns)))
            assert ours.depth == theirs.get_depth()
            assert ours.n_leaves == theirs.get_n_leaves()


def test_cart_with_a_class_nobody_has_labels_with_declared_codes():
    data = table(schema_of("numbers", 4), 60)
    data = EncodedDataset(data.schema, data.columns, np.where(data.target == 1, 3, data.target).astype(np.uint8))
    model = dpviz.fit("cart", data, epsilon=1.0, max_depth=8, depth=8, seed=0).model
    assert set(model.predict(data)) == set(data.target)


def test_cart_of_no_rows_is_a_leaf():
    assert dpviz.fit("cart", table(schema_of(), 0), epsilon=1.0, seed=0).model.root == Leaf(0)


def test_cart_refuses_a_range_single_precision_cannot_hold():
    schema = Schema((NumericFeature("mass", 0, 1e40),), ClassTarget("y", ("n", "p")))
    data = EncodedDataset(schema, (np.array([0.0, 1e40]),), np.array([0, 1], dtype=np.uint8))
    with pytest.raises(SchemaError, match="mass: 'cart' computes in single precision and cannot hold this range"):
        dpviz.fit("cart", data, epsilon=1.0, seed=0)
