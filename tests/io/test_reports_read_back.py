"""The private test result of a document: read back, and refused where its table cannot be."""

import json

import pytest

import dpviz
from dpviz.errors import DocumentError
from dpviz.io.results import test_result_of as result_of
from tests.support.tables import schema_of, table

SCHEMA = schema_of("mixed", 3)


@pytest.fixture(scope="module")
def result():
    return dpviz.fit("pf-tree", table(SCHEMA, 200), epsilon=1.0, leaves="honest", depth=2, seed=1)


@pytest.fixture(scope="module")
def document(result):
    return json.loads(result.to_json())


def test_it_is_read_back_with_every_figure_or_there_is_none(result, document):
    found = result_of(document, SCHEMA)
    assert found == result.test_report
    assert document["test_report"]["accuracy"]["value"] == found.accuracy.value
    assert document["test_report"]["confusion"][2][1]["high"] == found.confusion[2][1].high
    assert result_of({}, SCHEMA) is None


def test_what_cannot_be_is_refused_with_its_place(document):
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
            result_of({**document, "test_report": {**document["test_report"], entry: value}}, SCHEMA)
