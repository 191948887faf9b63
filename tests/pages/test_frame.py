"""app.py around the pages: the line on top, what survives a walk, one run per change, and what the server must check."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys

import pytest
import streamlit as st
from streamlit.runtime.context import ContextProxy
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from dpviz.app import background, controls
from dpviz.app.serving import CHECKED
from dpviz.release.register import Register
from dpviz.table.role import DataRole
from tests.support.pages import PAGES, column_cells, draft_of, edit, page_text, texts, upload, whole_app, work_of
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow


def go(test: AppTest, page: str) -> AppTest:
    link = dict(test.query_params)
    test.switch_page(str(PAGES / f"{page}.py"))
    for name, values in link.items():  # a browser takes bound parameters along, AppTest does not
        test.query_params[name] = values
    texts(test.run().run())  # nor, on the run that changes the page, the values of widgets
    return test


def line(test: AppTest) -> str:
    """The line on top of every page."""
    return test.main.markdown[1].value


def first_box(test: AppTest) -> str:
    return test.info[0].value.replace("\\", "")


def test_a_newcomer_sees_a_trained_tree_at_once_under_one_guarantee_and_one_control_of_epsilon() -> None:
    test = whole_app()
    assert test.title[0].value == "Tree"
    views = {view.key: view for view in test.main.get("bidi_component")}
    assert [*views] == ["frame-style", "guarantee", "_epsilon_slider", "tree-view", "split"]
    assert first_box(test).count("Would be guaranteed if released: ε") == 1
    words = json.loads(views["guarantee"].proto.json)["words"]
    assert not [said for said in (words, "Would be guaranteed") if said in texts(test).replace(test.info[0].value, "")]
    boxes = (test.slider, test.select_slider, test.number_input, test.selectbox, test.text_input)
    assert not [one.label for kind in boxes for one in kind if "ε" in one.label]


def test_one_change_of_epsilon_runs_the_script_once_and_settings_survive_a_walk_through_the_pages(monkeypatch) -> None:
    """Draws in the background may end during the run and ask for another one, sooner or later: that one is not the change's."""
    runs = []
    asked, rerun = controls.ask_settings, st.rerun
    test = whole_app()
    with monkeypatch.context() as patch:
        by_work = (background.__file__, str(PAGES / "tree.py"))  # the page's own call is for draws that have ended
        patch.setattr(st, "rerun", lambda: None if sys._getframe(1).f_code.co_filename in by_work else rerun())
        patch.setattr(controls, "ask_settings", lambda *more: runs.append(1) or asked(*more))
        test.session_state["epsilon"] = 0.3
        test.run()
    assert runs == [1]
    for away in ("compare", "data"):
        go(go(test, away), "tree")
        assert test.session_state["epsilon"] == 0.3
        assert "ε = 0.3 " in first_box(test)


def test_the_line_names_the_table_being_declared_and_what_was_typed_is_there_when_one_comes_back() -> None:
    at = go(whole_app(), "data")
    edit(at, age={"low": "5"})
    go(go(at, "compare"), "data")
    assert draft_of(at).column("age").low == 5.0
    assert column_cells(at, "age")["low"] == "5"
    upload(at, b"age,y\n1,2\n2,3\n")
    assert "public" in at.main.markdown[0].value
    assert line(at) == "**mine\\.csv** · 2 columns · being declared; other pages still use Health check"
    revision = work_of(at).revision
    at.selectbox(key=f"target-{revision}").set_value("y").run()
    at.number_input(key=f"n-public-{revision}").set_value(4321).run()
    at.switch_page(str(PAGES / "compare.py")).run()
    assert line(at).startswith("**Health check**")
    at.switch_page(str(PAGES / "data.py")).run()
    assert (at.number_input(key=f"n-public-{revision}").value, at.selectbox(key=f"target-{revision}").value) == (4321, "y")
    assert (at.radio(key="role").value, work_of(at).table.n_rows) == ("public", 2)


def test_the_line_on_every_page_names_the_sample_in_use_and_the_address_holds_it_but_nothing_of_an_upload() -> None:
    at = whole_app(data=":red[x]")
    assert "There is no sample called" in at.error[0].value
    assert "\\:red\\[x\\]" in at.error[0].value
    assert line(at).startswith("**Health check** · 2,500 rows · predicts `diagnosis`")
    go(at, "data")
    at.selectbox(key="sample-simulated").set_value("clinic").run()
    assert at.query_params["data"] in ("clinic", ["clinic"])
    for page in sorted(PAGES.glob("*.py")):
        at.switch_page(str(page)).run()
        assert not at.exception, page
        assert page.stem in ("learn", "audit") or line(at).startswith("**Clinic**"), page
    at = go(whole_app(data="clinic"), "data")
    assert line(at).startswith("**Clinic**")
    upload(at, b"diagnosis,y\n1,a\n2,b\n", role="private", name="secret.csv")
    values = " ".join(f"{name}={value}" for name, value in at.query_params.items())
    assert not [word for word in ("secret", "diagnosis") if word in values]


def test_seven_pages_hold_everything_and_every_address_of_before_leads_to_one() -> None:
    dashboard = runpy.run_path(str(ROOT / "app.py"))
    listed = [file for group in dashboard["GROUPS"].values() for file, *_ in group]
    assert sorted(listed) == sorted(path.stem for path in PAGES.glob("*.py"))
    assert len(listed) == 7
    leads = {"tree": "tree", "budget": "tree", "plan": "compare", "register": "publish", "epsilon": "learn"}
    assert {name: file for name, (file, _) in dashboard["LEAD_TO"].items()} == leads


def test_the_files_of_pages_are_no_app_of_their_own() -> None:
    """Also tells when Streamlit no longer has the private switch: see whether the first visitor of a fresh server needs it."""
    assert "uses_pages_directory" in vars(PagesManager)
    words = "import dpviz.app.serving, streamlit.runtime.pages_manager as found; print(found.PagesManager.uses_pages_directory)"
    done = subprocess.run([sys.executable, "-c", words], cwd=PAGES.parent, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("checks", [False, True])
def test_private_rows_need_a_server_that_checks_requests_and_others_do_not(checks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ContextProxy, "headers", {"Host": "localhost:8501"} | ({CHECKED: "1"} if checks else {}))
    at = whole_app()
    assert at.title[0].value == "Tree"
    assert any("dpviz app" in words.value for words in at.caption) is not checks
    at.switch_page(str(PAGES / "data.py")).run()
    at.radio(key="role").set_value("private").run()
    assert bool(at.get("file_uploader")) is checks
    assert any("dpviz app" in problem.value for problem in at.error) is not checks


@pytest.mark.parametrize("role", list(DataRole))
@pytest.mark.parametrize("view", ["Register", "Release"])
def test_a_register_of_private_rows_needs_such_a_server(view, role, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    Register().declare("clinic", epsilon_cap=1.0, role=role)
    monkeypatch.setattr(ContextProxy, "headers", {"Host": "localhost:8501"})
    at = whole_app().switch_page(str(PAGES / "publish.py")).run()
    at.segmented_control(key="publish-view").set_value(view).run()
    assert any("not shown here" in problem.value for problem in at.error) is (role is DataRole.PRIVATE)
    assert ("clinic" in page_text(at)) <= (role is not DataRole.PRIVATE)
