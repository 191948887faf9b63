"""Forests: votes, ties, and the document."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dpviz
from dpviz.errors import DocumentError, SchemaError
from dpviz.models.tree import Branch, Forest, Leaf, ThresholdRule, Tree
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget, NumericFeature, Schema
from tests.support.tables import schema_of, table

SCHEMA = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("a", "b", "c")))


def rows(*values: float) -> EncodedDataset:
    return EncodedDataset(SCHEMA, (np.array(values),), np.zeros(len(values), dtype=np.uint8))


def always(label: int) -> Tree:
    return Tree(SCHEMA, Leaf(label))


def step(left: int, right: int) -> Tree:
    return Tree(SCHEMA, Branch(ThresholdRule(0, 0.5), Leaf(left), Leaf(right)))


def test_every_tree_has_one_vote() -> None:
    forest = Forest(SCHEMA, (step(0, 1), step(2, 1), always(1)))
    assert forest.votes(rows(0.1, 0.9)).tolist() == [[1, 1, 1], [0, 3, 0]]
    assert forest.predict_proba(rows(0.9)).tolist() == [[0.0, 1.0, 0.0]]


def test_most_votes_win_and_ties_go_to_the_lowest_class() -> None:
    predicted = Forest(SCHEMA, (step(2, 1), step(1, 2), always(2))).predict(rows(0.1, 0.9))
    assert (predicted.dtype, predicted.tolist()) == (np.uint8, [2, 2])
    assert Forest(SCHEMA, (always(2), always(1))).predict(rows(0.5)).tolist() == [1]


def test_a_forest_without_trees_predicts_the_first_class_and_knows_nothing() -> None:
    forest = Forest(SCHEMA, ())
    assert forest.predict(rows(0.1, 0.2)).tolist() == [0, 0]
    assert forest.predict_proba(rows(0.1)).tolist() == [[1 / 3, 1 / 3, 1 / 3]]


def test_trees_of_another_schema_are_refused() -> None:
    other = Schema((NumericFeature("z", 0, 1),), SCHEMA.target)
    with pytest.raises(SchemaError, match="lack the model's columns"):
        Forest(SCHEMA, (Tree(other, Leaf(0)),))


def document() -> dict:
    return json.loads(dpviz.fit("dpa", table(schema_of()), epsilon=1.0, seed=0, trees=5).to_json())


def test_what_is_wrong_in_a_document_is_named() -> None:
    for change, where in [
        ({"roots": None}, "roots"),
        ({"roots": [{"leaf": "c0"}, 7]}, "roots[1]"),
        ({"roots": [{"leaf": "c9"}]}, "roots[0].leaf"),
    ]:
        with pytest.raises(DocumentError) as problem:
            dpviz.model_from_json(json.dumps(document() | change))
        assert problem.value.where == where
