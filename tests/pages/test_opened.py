"""A model file on the Tree page: looked at, asked, compared; what the file claims about itself is not believed."""

import json

import pytest
from streamlit.testing.v1 import AppTest

import dpviz
from dpviz.app import opened as opened_model
from dpviz.app.parts import take_upload
from dpviz.io.results import result_from_json, with_our_verdict
from dpviz.table.role import DataRole
from tests.support.pages import PAGES, click, in_use, opened, records, texts


def with_file(result, role=DataRole.SIMULATED):
    test = opened("tree", role)
    test.session_state[opened_model._OPENED] = with_our_verdict(result_from_json(result.to_json()))
    return test.run()


def fit(name, **asked):
    return dpviz.fit(name, in_use(DataRole.SIMULATED).data, epsilon=1.0, max_depth=3, seed=3, **asked)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pf-tree", "pf-forest", "logistic"])
def test_a_model_is_shown_asked_and_compared(name):
    result = fit(name, **({"trees": 4} if name == "pf-forest" else {}))
    test = with_file(result)
    said = texts(test)
    assert "A model from a file" in said
    assert {len(line) for line in records(test, "Measures of both models")} == {3}
    assert "Predicted " in texts(test)
    assert "A model from a file" not in texts(click(test, "Close the file"))
    private = with_file(result, DataRole.PRIVATE)
    assert not [found for found in private.get("html") if "from the file" in found.proto.body]


def test_the_line_on_top_names_the_file_that_is_open():
    test = AppTest.from_file(str(PAGES.parent / "app.py"), default_timeout=60)
    content = fit("pf-tree").to_json()
    test.session_state["_opened_result"] = with_our_verdict(result_from_json(content))
    test.session_state["_opened_name"] = "ward.json"
    said = texts(test.run())
    assert "ward.json" in said.replace("\\", "").replace("\u2060", "")
    assert " rows · " not in said


def test_a_verdict_in_a_file_is_not_believed():
    document = json.loads(fit("privatree").to_json())
    document["privacy"]["claim"]["verdict"] = "holds"
    assert with_our_verdict(result_from_json(json.dumps(document))).claim.verdict == "violated"


class Upload:
    name = "tree.json"

    def __init__(self, content):
        self.content = content

    def getvalue(self):
        return self.content


def test_what_is_no_model_is_refused_and_changes_nothing(monkeypatch):
    state = {"model-file-0": Upload(b"{}"), "model-file-count": 0}
    monkeypatch.setattr(opened_model.st, "session_state", state)
    take_upload("model-file", "model-file-0", opened_model._open)
    assert "This entry is missing" in str(state["model-file-problem"])
    assert opened_model._OPENED not in state
    state["model-file-1"] = Upload(fit("pf-tree").to_json().encode())
    take_upload("model-file", "model-file-1", opened_model._open)
    assert state["model-file-problem"] is None
    assert state["model-file-count"] == 2
    assert state[opened_model._OPENED].learner == "pf-tree"
