"""The published JSON Schema of `dpviz-tree/1` describes what every learner writes, and refuses what no reader could use."""

import copy
import json
import re

import jsonschema
import pytest

from dpviz.io.exports.contract import ExportInput
from dpviz.learners import FitRequest, fit
from dpviz.models.document import _READERS, model_from_json
from dpviz.release.release import preview_terms, released_document
from dpviz.results.document import NO_REGISTER_ENTRY, Recorded, is_recorded, statement_of
from dpviz.results.json_schema import JSON_SCHEMA, json_schema_text
from tests.support.exports_models import CASES, exportable, rows_of, schema_with_stand_ins
from tests.support.paths import ROOT

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


def test_the_published_file_is_what_the_types_say():
    assert JSON_SCHEMA.read_text(encoding="utf-8") == json_schema_text(), "run: python -m dpviz.results.json_schema"


def test_the_page_beside_it_shows_a_document_that_is_valid_and_can_be_read():
    page = (ROOT / "docs" / "reference" / "model-format.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```json\n(.*?)```", page, re.S)
    VALIDATOR.validate(json.loads(example))
    assert model_from_json(example).n_leaves == 3
    assert statement_of(json.loads(example)).claim.is_sound
    assert {f"`{kind}`" for kind in _READERS} - set(re.findall(r"`[a-z-]+`", page)) == set()


def test_a_release_from_the_register_is_valid():
    request = FitRequest.of("pf-tree", max_depth=2, depth=2)
    data = rows_of(schema_with_stand_ins())
    seal = Recorded("0" * 16, "0" * 64)
    released = fit("pf-tree", data, epsilon=1.0, depth=2, accept_rows=True)
    document = json.loads(released_document(released, preview_terms(data.schema, request), seal))
    assert {"assumptions", "promised", "register"} <= set(document)
    VALIDATOR.validate(document)


def test_how_often_rows_were_explored_stays_out_of_a_released_file():
    """Terms say it to their owner."""
    data, request = rows_of(schema_with_stand_ins()), FitRequest.of("majority")
    terms = preview_terms(data.schema, request, explored=4711)
    assert "4,711 looks" in str(terms.assumptions)
    simulated = fit("majority", data, epsilon=1.0, seed=1)
    text = released_document(simulated, terms, Recorded("0" * 16, "0" * 64))
    assert {entry["kind"] for entry in json.loads(text)["assumptions"]}.isdisjoint({"tuning"})
    assert "looks at these rows" not in text


@pytest.mark.slow
def test_every_learner_writes_a_valid_document():
    for learner, schema in CASES:
        VALIDATOR.validate(exportable(learner, schema).document)


def test_a_release_that_no_register_counts_says_so_and_a_simulation_has_nothing_to_say():
    released = fit("pf-tree", rows_of(schema_with_stand_ins()), epsilon=1.0, accept_rows=True)
    document = json.loads(released.to_json())
    assert (document["register"], is_recorded(document)) == (None, False)
    assert NO_REGISTER_ENTRY in ExportInput(released.to_json()).verdict.because
    assert any(NO_REGISTER_ENTRY in fact for fact in ExportInput(released.to_json()).facts)
    simulated = json.loads(fit("pf-tree", rows_of(schema_with_stand_ins()), epsilon=1.0, seed=1).to_json())
    assert "register" not in simulated
    assert NO_REGISTER_ENTRY not in ExportInput(json.dumps(simulated)).verdict.because


@pytest.fixture(scope="module")
def valid() -> dict:
    return exportable("privatree", schema_with_stand_ins()).document


@pytest.mark.slow
def test_what_no_reader_could_use_is_refused(valid):
    for path, value in [
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
    ]:
        spoilt = copy.deepcopy(valid)
        place = spoilt
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        assert VALIDATOR.is_valid(valid)
        assert not VALIDATOR.is_valid(spoilt)
