"""The register on the Publish page: readable without the rows, and it says when the register is not as it was written."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import dpviz
from dpviz.errors import UnsupportedError
from dpviz.release import files
from dpviz.table.role import DataRole
from tests.support.pages import PAGES, alerts, in_use, page_text, texts, whole_app, with_boxes_open
from tests.support.paths import SOON
from tests.support.release_rows import OF_PATIENTS, publish, requested, small_rows, start

NAME = "clinic <2024>"
OF_THREE = small_rows(schema=OF_PATIENTS)


@pytest.fixture
def kept(register):
    """Two releases, one of them interrupted, a raised cap and a look."""
    register.declare(NAME, epsilon_cap=1.0, unit="one patient", rows_per_unit=3)
    register.assign("f", NAME)
    for token, epsilon in (("a", 0.25), ("b", 0.5)):
        start(register, token, epsilon, name=NAME, fingerprint="f")
    register.change_caps(NAME, epsilon_cap=1.5, reason="a second study", made_by="the officer")
    register.note_use("f", what="tree", learner="pf-tree", settings={}, times=7)
    return register


def open_view(view: str = "Register") -> AppTest:
    test = AppTest.from_file(str(PAGES / "publish.py"), default_timeout=SOON)
    test.query_params["publish-view"] = view
    return test.run()


@pytest.fixture
def book(register):
    """A register of small rows without a release."""
    register.declare(NAME, epsilon_cap=1.0, unit="one patient", rows_per_unit=3)
    register.assign(OF_THREE.identity, NAME)
    return register


@pytest.mark.slow
def test_it_shows_data_sets_caps_releases_and_looks_without_the_rows(kept):
    test = open_view()
    said = page_text(test)
    assert "Every ε: add/remove one patient, up to 3 rows." in said
    assert "Permanently spent by 2 releases: ε = 0.75." in said
    assert "Left: ε = 0.75 of 1.5" in said
    assert said.count("add/remove one patient") == 2  # above the data set, and in the box that says how it adds up
    tables = "\n".join(found.proto.body for found in test.get("html"))
    assert '>the officer</td><td data-name="reason">a second study<' in tables
    assert "clinic &lt;2024&gt;" in tables
    assert not test.dataframe  # a grid would scroll sideways
    assert tables.count("interrupted, counted") == 2
    assert "Explored, covered by no guarantee: 7 looks" in [item.label for item in test.expander]
    assert "loaded" not in test.session_state


@pytest.mark.slow
def test_a_released_file_is_checked_without_rows_under_a_line_that_names_it(book):
    content = Path(publish(book, OF_THREE, requested(0.75)).file).read_bytes()
    test = whole_app().switch_page(str(PAGES / "publish.py")).run()
    test.segmented_control(key="publish-view").set_value("Check a file").run()
    assert "predicts" not in page_text(test)  # no table is named
    test.file_uploader[0].set_value(("release.json", content, "application/json")).run()
    assert not test.exception
    assert "PF-tree · predicts y · checked without rows" in page_text(test)
    assert ("success", True) in [(kind, "In the register, as it was released" in text) for kind, text in alerts(test)]
    assert "Guaranteed: ε = 0.75 (add/remove one patient, up to 3 rows)" in page_text(test)
    test.file_uploader[0].set_value(("other.json", content + b"\n", "application/json")).run()
    assert ("error", True) in [(kind, "that release wrote another file" in text) for kind, text in alerts(test)]
    lowered = content.replace(b'"guarantee": {\n   "epsilon": 0.25', b'"guarantee": {\n   "epsilon": 0.05')
    assert lowered != content
    test.file_uploader[0].set_value(("lowered.json", lowered, "application/json")).run()
    assert "other.json" not in page_text(test)
    assert any(kind == "error" for kind, _ in alerts(test))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pf-tree", "pf-forest", "privatree"])
def test_a_simulation_is_drawn_and_asked_about_one_person_and_its_verdict_is_ours(kept, name):
    few = {"trees": 4} if name == "pf-forest" else {}
    result = dpviz.fit(name, in_use(DataRole.SIMULATED).data, epsilon=1.0, max_depth=3, seed=3, **few)
    document = json.loads(result.to_json())
    document["privacy"]["claim"]["verdict"] = "holds"
    test = open_view("Check a file")
    test.file_uploader[0].set_value(("mine.json", json.dumps(document).encode(), "application/json")).run()
    said = page_text(with_boxes_open(test).run())
    assert "Predicted " in said
    assert ("Not guaranteed" in said) == (name == "privatree")
    for content, what in ((b"{}", "This entry is missing"), (b"age,ward\n41,north\n", "It is not JSON")):
        test.file_uploader[0].set_value(("none", content, "")).run()
        assert [kind for kind, text in alerts(test) if what in text] == ["error"]


def test_a_register_that_is_not_as_it_was_written_is_said_in_red_and_an_empty_one_says_where_it_begins(
    kept, monkeypatch, tmp_path
):
    files.keep_counter(kept.path, 10**6)
    assert ("error", True) in [(kind, "The latest entry is missing" in said) for kind, said in alerts(open_view())]
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "other.db"))
    said = texts(open_view())
    assert "Nothing is registered yet" in said
    assert "No entry was changed" not in said


@pytest.mark.slow
@pytest.mark.parametrize("is_refused", [False, True])
def test_the_report_of_a_release_is_offered_with_its_author_unless_it_cannot_be_written(monkeypatch, book, is_refused):
    def refuse(form, given):
        raise UnsupportedError("The report does not predict as the model does.", remedy="-")

    if is_refused:
        monkeypatch.setattr("dpviz.charts.publish.exports.export", refuse)
    publish(book, OF_THREE, requested(0.5))
    test = open_view()
    test.session_state["report 1"] = True
    test.run().text_input(key="report-author").set_value("the board").run()
    assert ("The report does not predict as the model does" in page_text(test)) == is_refused
    offered = [found.proto.label for found in test.get("download_button")]
    assert ("Report (HTML, for printing)" in offered) != is_refused
