"""Documents of two small fits, word for word; and what an earlier version wrote is read, says the same, and predicts the same.

`written_before` holds a document of each kind of model, of persons with several rows and of a release, as dpviz wrote them in
November 2026, and what they predicted then. They are never written anew.
"""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

import dpviz
from dpviz.io.results import load_result
from dpviz.results.json_schema import JSON_SCHEMA
from tests.support.documents import FOLDER, rows
from tests.support.exports_models import number_schema, rows_of, schema_with_stand_ins
from tests.support.golden_charts import assert_text


def document_of(learner: str) -> dict[str, Any]:
    """The document of one fit, versions left out, floats to ten digits (logarithms differ in the last one by platform)."""
    document = json.loads(dpviz.fit(learner, rows(), epsilon=3.0, depth=2, max_depth=2, seed=2024).to_json())
    document["versions"] = dict.fromkeys(document["versions"], "*")
    return rounded(document)


def rounded(value: Any) -> Any:
    """Every float to ten significant digits."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


@pytest.mark.parametrize("learner", ["pf-tree", "privatree"])
def test_the_document_is_the_golden_one(learner):
    assert_text(FOLDER / f"{learner}.json", json.dumps(document_of(learner), indent=1, ensure_ascii=False) + "\n")


BEFORE = FOLDER / "written_before"
PREDICTED = dict(line.split("\t") for line in (BEFORE / "predictions.txt").read_text(encoding="utf-8").splitlines())
any_file = pytest.mark.parametrize("name", sorted(PREDICTED))


def rows_for(name: str):
    if name.endswith("-number"):
        return rows_of(number_schema(), 40)
    return rows_of(schema_with_stand_ins(3 if name.endswith("-3") else 2), 40 if "-" in name else 300)


def test_every_file_is_read_here():
    assert {path.stem for path in BEFORE.glob("*.json")} == set(PREDICTED)
    kinds = {json.loads(path.read_text(encoding="utf-8"))["kind"] for path in BEFORE.glob("*.json")}
    assert kinds == {"tree", "forest", "packed-forest", "boosted", "constant", "linear"}


@any_file
def test_it_is_read_and_predicts_what_it_predicted(name):
    result = load_result(BEFORE / f"{name}.json")
    found = result.model.predict(rows_for(name)).tolist()[:40]
    assert found == pytest.approx([float(value) for value in PREDICTED[name].split()], rel=1e-12)


@any_file
def test_it_is_said_again_as_it_was(name):
    before = json.loads((BEFORE / f"{name}.json").read_text(encoding="utf-8"))
    again = json.loads(load_result(BEFORE / f"{name}.json").to_json())
    gone = set(before["learner"]["parameters"]) - set(again["learner"]["parameters"])  # what nobody can ask for any more
    assert before["learner"]["name"] == "s-gbdt" or not gone
    for name in gone:
        del before["learner"]["parameters"][name]
    if before["learner"]["name"] == "pf-tree":  # what nobody could ask for then
        assert again["learner"]["parameters"].pop("lookahead") == "1"
    for part in set(before) - {"versions", "assumptions", "promised", "register"}:
        assert says(again[part], before[part]), part


def says(now, before) -> bool:
    """Everything that was said before; what is said besides came later."""
    if isinstance(before, dict) and set(before) == {"value", "low", "high"}:  # intervals are made again: they were too narrow
        return now["value"] == before["value"] and now["low"] <= before["low"] <= before["high"] <= now["high"]
    if isinstance(before, dict):
        return all(name in now and says(now[name], value) for name, value in before.items())
    if isinstance(before, list):
        return len(now) == len(before) and all(map(says, now, before))
    return now == before


@any_file
def test_the_published_schema_still_describes_it(name):
    document = json.loads((BEFORE / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(json.loads(JSON_SCHEMA.read_text(encoding="utf-8"))).validate(document)
