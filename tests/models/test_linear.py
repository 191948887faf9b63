"""A linear model: scores by hand, classes from scores, and its document."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dpviz.errors import DocumentError
from dpviz.models.document import model_body, model_from_json
from dpviz.models.linear import LinearModel
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericFeature, Schema
from tests.support.tables import schema_of, table


def model_of(schema: Schema, seed: int = 1) -> LinearModel:
    rng = np.random.default_rng(seed)
    rows = 1 if len(schema.classes) == 2 else len(schema.classes)
    weights = rng.normal(size=(rows, schema.n_features)).tolist()
    return LinearModel(schema, tuple(map(tuple, weights)), tuple(rng.normal(size=rows).tolist()))


def document(model: LinearModel, **changes) -> str:
    body = {"format": "dpviz-tree/1", "kind": "linear", **model_body(model), "schema": model.schema.to_dict()}
    return json.dumps(body | changes)


def score_by_hand(model: LinearModel, data: EncodedDataset, row: int, k: int) -> float:
    score = model.offsets[k]
    for weight, feature, column in zip(model.weights[k], model.schema.features, data.columns, strict=True):
        if isinstance(feature, NumericFeature):
            score += weight * (float(column[row]) - feature.low) / (feature.high - feature.low)
        elif len(feature.categories) > 1:
            score += weight * int(column[row]) / (len(feature.categories) - 1)
    return score


def test_scores_and_classes_are_those_worked_out_by_hand():
    for n_classes in [2, 3, 7]:
        schema = schema_of("mixed", n_classes)
        model, data = model_of(schema), table(schema, 30)
        by_hand = np.array([[score_by_hand(model, data, row, k) for k in range(len(model.offsets))] for row in range(30)])
        np.testing.assert_allclose(model.scores(data).reshape(30, -1), by_hand, rtol=1e-12)
        expected = by_hand[:, 0] > 0 if n_classes == 2 else by_hand.argmax(axis=1)
        np.testing.assert_array_equal(model.predict(data), expected)
        assert model.predict(data).dtype == np.uint8
        chances = 1 / (1 + np.exp(-by_hand))
        shares = np.column_stack([1 - chances, chances]) if n_classes == 2 else chances / chances.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(data), shares)
        named = [score["class"] for score in model_body(model)["scores"]]
        assert named == (["c1"] if n_classes == 2 else list(schema.classes))  # two classes have one score


def test_a_broken_document_is_refused_by_place():
    for scores, where in [
        (None, "scores"),
        ([], "scores"),
        ([3], "scores"),
        ([{"class": "c0", "offset": 0, "weights": {}}], "scores"),
        ([{"class": "c1", "offset": 0}], r"scores\[0\]\.weights"),
        ([{"class": "c1", "offset": "x", "weights": {}}], r"scores\[0\]\.offset"),
        ([{"class": "c1", "offset": 0, "weights": {"height": 1.0}}], r"scores\[0\]\.weights\.age"),
    ]:
        with pytest.raises(DocumentError, match=where):
            model_from_json(document(model_of(schema_of("numbers")), scores=scores))
