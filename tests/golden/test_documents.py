"""Documents of two small fits, word for word."""

import json
from typing import Any

import pytest

import dpviz
from tests.support.documents import FOLDER, rows
from tests.support.golden_charts import assert_text

any_learner = pytest.mark.parametrize("learner", ["pf-tree", "privatree"])


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


def text_of(learner: str) -> str:
    """The golden document as text."""
    return json.dumps(document_of(learner), indent=1, ensure_ascii=False) + "\n"


def golden(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@any_learner
def test_the_document_is_the_golden_one(learner):
    assert_text(FOLDER / f"{learner}.json", text_of(learner))


@any_learner
def test_a_golden_document_can_still_be_read(learner):
    # the promise to whoever kept a file: the version that wrote it may be older than the one that reads it
    model = dpviz.model_from_json(golden(f"{learner}.json"))
    fresh = dpviz.fit(learner, rows(), epsilon=3.0, depth=2, max_depth=2, seed=2024).model
    assert model.predict(rows()).tolist() == fresh.predict(rows()).tolist()
    assert json.loads(golden(f"{learner}.json"))["format"] == "dpviz-tree/1"
