"""Boosted trees: leaf values add up, predictions follow the kind of target, documents come back whole, bad ones are named."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dpviz.errors import DocumentError, NoProbabilities
from dpviz.evaluation.measures import auc
from dpviz.models.boosted import BoostedTrees
from dpviz.models.document import model_body
from dpviz.models.packed_text import BoostedBody, boosted_from
from dpviz.table.dataset import EncodedDataset
from dpviz.table.strict_json import read as parsed
from tests.support.boosted import NUMBER, THREE, TREES, TWO, read, rows


def by_hand(x: float, c: int, k: int) -> list[float]:
    first = 1.5 if x <= 0.5 else -2.0 if x <= 0.75 else 0.25
    third = (-7.0 if c == 0 else 1.0) if k <= 4.5 else 2.0
    return [first, [0.5, -0.5, 3.0][c], third, 0.125]


def test_the_values_of_the_leaves_a_row_reaches_add_up() -> None:
    data, model = rows(), read()
    expected = np.array([by_hand(*row) for row in zip(*data.columns, strict=True)])
    np.testing.assert_allclose(model.contributions(data), expected)
    np.testing.assert_allclose(model.scores(data), 2.0 + expected.sum(axis=1))
    assert model.scores(data).min() < 0


def test_a_number_is_clipped_to_its_declared_range() -> None:
    data, model = rows(), read()
    np.testing.assert_array_equal(model.predict(data), np.clip(model.scores(data), 0, 10))
    assert set(read(initial=99.0).predict(data)) == {10.0}


def test_positive_log_odds_are_the_second_class_and_rank_rows() -> None:
    data, model = rows(TWO), read(TWO, initial=-1.0)
    predicted = model.predict(data)
    assert predicted.dtype == np.uint8
    np.testing.assert_array_equal(predicted == 1, model.scores(data) > 0)
    telling = EncodedDataset(TWO, data.columns, predicted)
    assert auc(telling.target, model.predict_proba(telling)) == 1.0
    np.testing.assert_allclose(model.predict_proba(data)[:, 1], 1 / (1 + np.exp(-model.scores(data))))


def test_with_three_classes_trees_add_to_their_scores_in_turn() -> None:
    data = rows(THREE)
    model = read(THREE, (*TREES, "=0.5", "0<=0.5 =4.0 =0.0"))
    added = model.contributions(data)
    expected = 2.0 + np.column_stack([added[:, k] + added[:, k + 3] for k in range(3)])
    np.testing.assert_allclose(model.scores(data), expected)
    np.testing.assert_array_equal(model.predict(data), expected.argmax(axis=1))
    np.testing.assert_allclose(np.log(model.predict_proba(data)), expected - np.log(np.exp(expected).sum(axis=1))[:, None])


def test_a_number_has_no_probabilities() -> None:
    with pytest.raises(NoProbabilities):
        read().predict_proba(rows())


def test_scores_build_up_tree_by_tree() -> None:
    for schema in [NUMBER, TWO]:
        data, model = rows(schema), read(schema)
        states = [state.copy() for state in model.accumulated(data)]
        assert len(states) == 5
        assert (states[0] == 2.0).all()
        np.testing.assert_allclose(np.diff(np.array(states), axis=0).T, model.contributions(data))
        np.testing.assert_allclose(states[-1], model.scores(data))


def test_nothing_can_be_changed_and_values_must_fit_the_leaves() -> None:
    model = read()
    with pytest.raises(ValueError, match="read-only"):
        model.values[0] = 1.0
    with pytest.raises(ValueError, match="leaves need as many values"):
        BoostedTrees(model.splits, np.zeros(3), 0.0)
    assert model == read()
    assert model != read(initial=2.5)
    assert model != read(trees=(*TREES[:3], "=0.25"))
    assert model != "boosted trees"


def test_the_document_is_compact_and_comes_back_exactly() -> None:
    for schema in [NUMBER, TWO]:
        model = read(schema, (f"0<={1 / 3!r} ={0.1 + 0.2!r} =-1e-300", *TREES), initial=1 / 7)
        body = json.loads(json.dumps(model_body(model)))
        assert body["trees"][1:] == list(TREES)
        assert boosted_from(parsed(BoostedBody, body), schema) == model


def test_a_bad_document_is_named() -> None:
    for document, what in [
        ({"initial": 0.0}, "trees: This entry is missing"),
        ({"initial": 0.0, "trees": []}, "trees: This must be a list"),
        ({"trees": ["=0"]}, "initial"),
        ({"trees": ["=0"], "initial": "NaN"}, "initial"),
        ({"trees": ["=0"], "initial": True}, "initial"),
        ({"trees": ["=0", 3], "initial": 0}, r"trees\[1\].*This must be a text; got a whole number"),
        ({"trees": ["=nan"], "initial": 0}, "'nan' is not a number"),
        ({"trees": ["=1e999"], "initial": 0}, "'1e999' is not a number"),
        ({"trees": ["=1:4"], "initial": 0}, "'1:4' is not a number"),
        ({"trees": ["0<=0.5 =0"], "initial": 0}, "The number of nodes does not fit"),
        ({"trees": ["=0 =1"], "initial": 0}, "The number of nodes does not fit"),
        ({"trees": ["9<=0.5 =0 =1"], "initial": 0}, "There is no feature number 9"),
        ({"trees": ["9" * 6000 + "<=0.5 =0 =1"], "initial": 0}, "is not a node"),
        ({"trees": ["0<=inf =0 =1"], "initial": 0}, "'inf' is not a number"),
        ({"trees": ["0? =0 =1"], "initial": 0}, "Feature number 0 has no categories"),
        ({"trees": ["leaf"], "initial": 0}, "'leaf' is not a node"),
    ]:
        with pytest.raises(DocumentError, match=what):
            boosted_from(parsed(BoostedBody, {"form": "-", **document}), NUMBER)


def test_three_classes_need_as_many_trees_each() -> None:
    with pytest.raises(DocumentError, match="Every class must have the same number of trees"):
        read(THREE)


def test_its_trees_say_what_they_add() -> None:
    data, model = rows(), read()
    assert len(model.trees) == 4
    for place, tree in enumerate(model.trees):
        np.testing.assert_array_equal(tree.predict(data), model.contributions(data)[:, place])
    assert model.trees[3].values == (0.125,)


@pytest.mark.parametrize("schema", [NUMBER, TWO, THREE])
def test_what_is_looked_up_is_what_the_trees_add(schema):
    for trees in [
        ("0<=0.5 2<=4.5 =1.5 =0.25 1? =0.5 =-0.5 =3.0",),  # two features on each side of the root, three in all
        ("0<=0.5 2<=4.5 1? =1.5 =2.5 =0.5 =0.25 =-1.0",),  # three on one side: it falls through
        ("1? 0<=0.25 =1.0 =2.0 2<=3.5 =3.0 =4.0 0<=0.75 =5.0 =6.0", "2<=1.5 =0.5 0<=0.5 =0.25 =0.75", *TREES),
    ]:
        model, data = read(schema, trees * 3), rows(schema, n_rows=20_000)
        added = model.contributions(data)
        expected = [model.initial + added[:, score :: model.n_scores].sum(axis=1) for score in range(model.n_scores)]
        found = model.scores(data).reshape(len(data.target), -1).T
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_what_a_row_gets_depends_on_no_other_row():
    model, data = read(), rows(n_rows=40_000)
    few = data.take(slice(39_000, 39_010), share=0.1)
    np.testing.assert_array_equal(model.scores(data)[39_000:39_010], model.scores(few))
