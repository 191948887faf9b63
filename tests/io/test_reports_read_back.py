"""The private test result of a document: read back, and refused where its table cannot be."""

import copy
import json

import jsonschema
import pytest

import dpviz
from dpviz.errors import DocumentError
from dpviz.io.results import test_result_of as result_of
from dpviz.results.json_schema import JSON_SCHEMA
from tests.support.tables import schema_of, table

SCHEMA = schema_of("mixed", 3)
RESULT = dpviz.fit("pf-tree", table(SCHEMA, 200), epsilon=1.0, leaves="honest", depth=2, seed=1)
DOCUMENT = json.loads(RESULT.to_json())


def test_it_is_read_back_with_every_figure():
    found = result_of(DOCUMENT, SCHEMA)
    assert found == RESULT.test_report
    assert DOCUMENT["test_report"]["accuracy"]["value"] == found.accuracy.value
    assert DOCUMENT["test_report"]["confusion"][2][1]["high"] == found.confusion[2][1].high


def test_a_document_without_a_test_has_none():
    assert result_of({}, SCHEMA) is None


@pytest.mark.slow
def test_the_published_schema_describes_it():
    schema = json.loads(JSON_SCHEMA.read_text(encoding="utf-8"))
    jsonschema.validate(DOCUMENT, schema)
    broken = copy.deepcopy(DOCUMENT)
    del broken["test_report"]["table"][0]["counts"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema)


def test_what_cannot_be_is_refused_with_its_place():
    for entry, value, says in [
        ("table", [], "test_report.table: This must be a list"),
        ("table", [{"leaf": "c1"}], "test_report.table: Every answer of the model needs its counts"),
        ("table", [{"leaf": "c9", "counts": [1, 2, 3]}], r"test_report.table\[0\].leaf"),
        ("table", [{"leaf": "c1", "counts": [1, 2]}], r"test_report.table\[0\].counts: One number per class"),
        ("share", 0, "test_report.share: This must be a number > 0"),
        ("epsilon", -1.0, "test_report.epsilon: This must be a number > 0"),
        ("epsilon", "1", r"test_report.epsilon"),
    ]:
        with pytest.raises(DocumentError, match=says):
            result_of({**DOCUMENT, "test_report": {**DOCUMENT["test_report"], entry: value}}, SCHEMA)
