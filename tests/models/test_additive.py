"""An additive model: scores by hand, and its document."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dpviz.errors import DocumentError, SchemaError
from dpviz.models.additive import AdditiveModel
from dpviz.models.document import model_body, model_from_json
from dpviz.table.schema import CategoricalFeature
from tests.contract.tables import hostile_schema, schema_of, table


def model_of(schema) -> AdditiveModel:
    rng = np.random.default_rng(2)
    numeric = [not isinstance(feature, CategoricalFeature) for feature in schema.features]
    cuts = tuple(tuple(sorted(rng.uniform(f.low, f.high, 3))) if n else () for f, n in zip(schema.features, numeric, strict=True))
    sizes = [len(c) + 1 if n else len(f.categories) for f, c, n in zip(schema.features, cuts, numeric, strict=True)]
    return AdditiveModel(schema, cuts, tuple(tuple(rng.normal(size=size).tolist()) for size in sizes), 0.25)


def document(model: AdditiveModel, **changes) -> str:
    body = {"format": "dpviz-tree/1", "kind": "additive", **model_body(model), "schema": model.schema.to_dict()}
    return json.dumps(body | changes)


@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_scores_are_looked_up_and_added(kind):
    model, data = model_of(schema_of(kind)), table(schema_of(kind), 40)
    for row, score in enumerate(model.scores(data)):
        expected = 0.25
        for column, cuts, values in zip(data.columns, model.cuts, model.values, strict=True):
            place = sum(1 for cut in cuts if cut <= column[row]) if cuts else int(column[row])
            expected += values[place]
        assert score == pytest.approx(expected)
    np.testing.assert_array_equal(model.predict(data), model.scores(data) > 0)
    assert model.predict(data).dtype == np.uint8
    np.testing.assert_allclose(model.predict_proba(data)[:, 1], 1 / (1 + np.exp(-model.scores(data))))


@pytest.mark.parametrize("schema", [schema_of("mixed"), hostile_schema()], ids=["plain", "hostile"])
def test_a_document_gives_the_model_back(schema):
    assert model_from_json(document(model_of(schema))) == model_of(schema)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"terms": []}, "terms"),
        ({"offset": "much"}, "offset"),
        ({"terms": [{"feature": "height", "cuts": [1], "values": [1]}, {"feature": "age", "cuts": [], "values": [0]}]}, "terms"),
        ({"terms": [{"feature": "height", "cuts": [2, 1], "values": [1]}, {"feature": "age"}]}, r"terms\[0\]\.cuts"),
        ({"terms": [{"feature": "age"}, {"feature": "height"}]}, "terms"),
    ],
)
def test_a_broken_document_is_refused_by_place(change, where):
    with pytest.raises(DocumentError, match=where):
        model_from_json(document(model_of(schema_of("numbers")), **change))


def test_rows_of_another_schema_are_refused():
    with pytest.raises(SchemaError, match="lack the model's columns"):
        model_of(schema_of("mixed")).scores(table(schema_of("numbers")))


def test_values_fit_the_schema():
    with pytest.raises(ValueError, match="two classes"):
        AdditiveModel(schema_of("numbers"), ((), ()), ((1.0,), (1.0, 2.0)), 0.0)
    with pytest.raises(ValueError, match="two classes"):
        AdditiveModel(schema_of("numbers", 3), ((), ()), ((1.0,), (1.0,)), 0.0)
