"""The published JSON Schema of `dpviz-tree/1` describes what every learner writes, and refuses what no reader could use."""

import copy
import json

import jsonschema
import pytest

from dpviz.io.exports.json_document import JSON_SCHEMA
from dpviz.learners import fit
from dpviz.models.document import _READERS
from tests.io.exports_models import exportable, rows_of, schema_with_stand_ins
from tests.io.test_exports import CASES, IDS

SCHEMA = json.loads(JSON_SCHEMA.read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_itself_valid_and_fetches_nothing():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    references = [value for key, value in _entries(SCHEMA) if key == "$ref"]
    assert references
    assert all(reference.startswith("#/$defs/") for reference in references)


def _entries(value):
    if isinstance(value, dict):
        for key, item in value.items():
            yield key, item
            yield from _entries(item)
    elif isinstance(value, list):
        for item in value:
            yield from _entries(item)


def test_it_knows_every_kind_that_can_be_read():
    assert set(SCHEMA["properties"]["kind"]["enum"]) == set(_READERS)
    described = {part["if"]["properties"]["kind"]["const"] for part in SCHEMA["allOf"]}
    assert described == set(_READERS)


@pytest.mark.parametrize(("learner", "schema"), CASES, ids=IDS)
def test_every_learner_writes_a_valid_document(learner, schema):
    VALIDATOR.validate(exportable(learner, schema).document)


def test_a_release_is_valid_and_has_no_seed():
    document = json.loads(fit("pf-tree", rows_of(schema_with_stand_ins()), epsilon=1.0).to_json())
    VALIDATOR.validate(document)
    document["privacy"]["noise"]["seed"] = 3
    assert not VALIDATOR.is_valid(document)


@pytest.fixture(scope="module")
def valid() -> dict:
    return exportable("privatree", schema_with_stand_ins()).document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "dpviz-tree/2"),
        (("kind",), "oracle"),
        (("root",), None),
        (("root", "missing"), "up"),
        (("root", "op"), "<"),
        (("schema", "target"), {"kind": "classes", "name": "y", "classes": ["one"]}),
        (("schema", "features"), []),
        (("privacy", "neighbours"), "replace one row"),
        (("privacy", "guarantee", "epsilon"), -1),
        (("privacy", "claim", "verdict"), "probably"),
        (("privacy", "noise"), {"source": "simulation"}),
    ],
)
def test_what_no_reader_could_use_is_refused(valid, path, value):
    spoilt = copy.deepcopy(valid)
    place = spoilt
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert VALIDATOR.is_valid(valid)
    assert not VALIDATOR.is_valid(spoilt)
