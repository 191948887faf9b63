"""Boosted trees: leaf values add up, predictions follow the kind of target, documents come back whole, bad ones are named."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dpviz.errors import DocumentError, UnsupportedError
from dpviz.models.boosted import BoostedTrees
from dpviz.models.document import BoostedBody, boosted_from, model_body
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.table.strict_json import read as parsed

FEATURES = (NumericFeature("x", 0, 1), CategoricalFeature("c", ("red", "green", "blue")), NumericFeature("k", 0, 9, whole=True))
NUMBER = Schema(FEATURES, NumericTarget("y", 0, 10))
TWO = Schema(FEATURES, ClassTarget("y", ("no", "yes")))
THREE = Schema(FEATURES, ClassTarget("y", ("a", "b", "c")))
#: The first asks for x alone, the second for c alone, the third for two features, the fourth for nothing.
TREES = ("0<=0.5 =1.5 0<=0.75 =-2.0 =0.25", "1? =0.5 =-0.5 =3.0", "2<=4.5 1<=0.5 =2.0 =-7.0 =1.0", "=0.125")


def read(schema: Schema = NUMBER, trees: tuple[str, ...] = TREES, initial: float = 2.0) -> BoostedTrees:
    return boosted_from(parsed(BoostedBody, {"form": "-", "trees": list(trees), "initial": initial}), schema)


def rows(schema: Schema = NUMBER, n_rows: int = 300, seed: int = 3) -> EncodedDataset:
    rng = np.random.default_rng(seed)
    x = rng.choice([0.0, 0.25, 0.5, 0.5000001, 0.75, 1.0], n_rows)
    columns = (x, rng.integers(0, 3, n_rows).astype(np.uint8), rng.integers(0, 10, n_rows).astype(np.int32))
    target = rng.uniform(0, 10, n_rows) if schema is NUMBER else rng.integers(0, len(schema.classes), n_rows).astype(np.uint8)
    return EncodedDataset(schema, columns, target)


SHALLOW = ("0<=0.5 2<=4.5 =1.5 =0.25 1? =0.5 =-0.5 =3.0",)  # two features on each side of the root, three in all
DEEP = ("0<=0.5 2<=4.5 1? =1.5 =2.5 =0.5 =0.25 =-1.0",)  # three on one side: it falls through
MIXED = ("1? 0<=0.25 =1.0 =2.0 2<=3.5 =3.0 =4.0 0<=0.75 =5.0 =6.0", "2<=1.5 =0.5 0<=0.5 =0.25 =0.75", *TREES)


def by_hand(x: float, c: int, k: int) -> list[float]:
    first = 1.5 if x <= 0.5 else -2.0 if x <= 0.75 else 0.25
    third = (-7.0 if c == 0 else 1.0) if k <= 4.5 else 2.0
    return [first, [0.5, -0.5, 3.0][c], third, 0.125]


def test_the_values_of_the_leaves_a_row_reaches_add_up() -> None:
    data, model = rows(), read()
    expected = np.array([by_hand(*row) for row in zip(*data.columns, strict=True)])
    np.testing.assert_allclose(model.scores(data), 2.0 + expected.sum(axis=1))
    np.testing.assert_array_equal(np.column_stack([tree.predict(data) for tree in model.trees]), expected)


@pytest.mark.parametrize("schema", [NUMBER, TWO, THREE])
def test_trees_add_up_to_scores_whatever_is_looked_up_and_whichever_rows_come_along(schema):
    for trees in (SHALLOW, DEEP, MIXED):
        model, data = read(schema, trees * 3), rows(schema, n_rows=20_000)
        added = np.column_stack([tree.predict(data) for tree in model.trees])
        initial, n_scores = model.initial, model.n_scores
        expected = np.column_stack([initial + added[:, score::n_scores].sum(axis=1) for score in range(n_scores)])
        found = model.scores(data).reshape(len(data.target), -1)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        few = data.take(slice(19_000, 19_010), share=0.1)
        np.testing.assert_array_equal(model.scores(few).reshape(10, -1), found[19_000:19_010])
        one = data.take(slice(19_000, 19_001), share=0.1)  # of a model that has filled no table
        np.testing.assert_array_equal(read(schema, trees * 3).scores(one).reshape(1, -1), found[19_000:19_001])
        if n_scores == 1:
            states = np.array([state.copy() for state in model.accumulated(data)])
            assert (states[0] == 2.0).all()
            np.testing.assert_allclose(np.diff(states, axis=0).T, added, atol=1e-12)
            np.testing.assert_allclose(states[-1], model.scores(data))


def test_predictions_follow_the_kind_of_target() -> None:
    data, model = rows(), read()
    assert model.scores(data).min() < 0
    np.testing.assert_array_equal(model.predict(data), np.clip(model.scores(data), 0, 10))
    with pytest.raises(UnsupportedError):
        model.predict_proba(data)
    data, model = rows(TWO), read(TWO, initial=-1.0)
    np.testing.assert_array_equal(model.predict(data) == 1, model.scores(data) > 0)
    np.testing.assert_allclose(model.predict_proba(data)[:, 1], 1 / (1 + np.exp(-model.scores(data))))
    data, model = rows(THREE), read(THREE, (*TREES, "=0.5", "0<=0.5 =4.0 =0.0"))
    scores = model.scores(data)
    np.testing.assert_array_equal(model.predict(data), scores.argmax(axis=1))
    np.testing.assert_allclose(np.log(model.predict_proba(data)), scores - np.log(np.exp(scores).sum(axis=1))[:, None])


def test_nothing_can_be_changed_values_fit_the_leaves_and_the_document_comes_back_exactly() -> None:
    model = read()
    with pytest.raises(ValueError, match="read-only"):
        model.values[0] = 1.0
    with pytest.raises(ValueError, match="leaves need as many values"):
        BoostedTrees(model.splits, np.zeros(3), 0.0)
    assert model == read()
    for other in (read(initial=2.5), read(trees=(*TREES[:3], "=0.25")), "boosted trees"):
        assert model != other
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
        *(({"trees": [f"={text}"], "initial": 0}, f"'{text}' is not a number") for text in ("nan", "1e999", "1:4")),
        ({"trees": ["9" * 6000 + "<=0.5 =0 =1"], "initial": 0}, "is not a node"),
        ({"trees": ["0<=inf =0 =1"], "initial": 0}, "'inf' is not a number"),
    ]:
        with pytest.raises(DocumentError, match=what):
            boosted_from(parsed(BoostedBody, {"form": "-", **document}), NUMBER)
    with pytest.raises(DocumentError, match="Every class must have the same number of trees"):
        read(THREE)
