"""app.py around the pages: started as a script of another place, because the test driver stumbles over a folder `pages/`."""

from __future__ import annotations

import subprocess
import sys

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from dpviz.app.serving import CHECKED
from dpviz.release.register import Register
from dpviz.table.role import DataRole
from tests.support.pages import column_cells, draft_of, edit, whole_app
from tests.support.paths import ROOT

DATA = str(ROOT / "pages" / "data.py")


def _line(at: AppTest) -> str:
    """The line on top of every page."""
    return at.main.markdown[1].value


@pytest.mark.slow
def test_on_the_data_page_the_line_speaks_of_the_table_being_declared() -> None:
    at = whole_app().switch_page(DATA).run()
    at.radio(key="role").set_value("public").run()
    at.segmented_control(key="way-public").set_value("A file").run()
    at.file_uploader[0].set_value(("mine.csv", b"age,y\n1,2\n2,3\n", "text/csv")).run()
    assert not at.exception
    assert "public" in at.main.markdown[0].value
    assert _line(at) == "**mine\\.csv** · 2 columns · being declared; other pages still use Health check"
    revision = at.session_state["prepared"].revision
    at.selectbox(key=f"target-{revision}").set_value("y").run()
    at.number_input(key=f"n-public-{revision}").set_value(4321).run()
    at.switch_page(str(ROOT / "pages" / "compare.py")).run()
    assert _line(at).startswith("**Health check**")
    at.switch_page(DATA).run()
    assert at.number_input(key=f"n-public-{revision}").value == 4321, "what was typed is there when one comes back"
    assert at.selectbox(key=f"target-{revision}").value == "y"
    assert at.radio(key="role").value == "public"
    assert at.session_state["prepared"].table.n_rows == 2


@pytest.mark.slow
def test_an_unknown_sample_in_a_link_is_an_error_and_the_default_is_used() -> None:
    at = whole_app(data=":red[x]")
    assert "There is no sample called" in at.error[0].value
    assert "\\:red\\[x\\]" in at.error[0].value
    assert _line(at).startswith("**Health check**")


@pytest.mark.slow
def test_an_upload_leaves_only_settings_in_the_address() -> None:
    at = whole_app(data="clinic").switch_page(DATA).run()
    at.radio(key="role").set_value("private").run()
    at.radio(key="first-line-private").set_value("Column names").run()
    at.file_uploader[0].set_value(("secret.csv", b"diagnosis,y\n1,a\n2,b\n", "text/csv")).run()
    assert not at.exception
    values = " ".join(f"{name}={value}" for name, value in at.query_params.items())
    assert "secret" not in values
    assert "diagnosis" not in values


@pytest.mark.slow
def test_an_edit_in_a_grid_survives_a_visit_to_another_page() -> None:
    at = whole_app().switch_page(DATA).run()
    edit(at, age={"low": "5"})
    at.switch_page(str(ROOT / "pages" / "compare.py")).run()
    at.run()
    at.switch_page(DATA).run()
    assert not at.exception
    assert draft_of(at).column("age").low == 5.0
    assert column_cells(at, "age")["low"] == "5"


@pytest.mark.slow
def test_the_files_of_pages_are_no_app_of_their_own() -> None:
    """Also tells when Streamlit no longer has the private switch: see whether the first visitor of a fresh server needs it."""
    assert "uses_pages_directory" in vars(PagesManager)
    words = "import dpviz.app.serving, streamlit.runtime.pages_manager as found; print(found.PagesManager.uses_pages_directory)"
    done = subprocess.run([sys.executable, "-c", words], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.slow
@pytest.mark.parametrize("checks", [False, True])
def test_private_rows_need_a_server_that_checks_requests_and_others_do_not(checks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    headers = {"Host": "localhost:8501"} | ({CHECKED: "1"} if checks else {})
    monkeypatch.setattr(ContextProxy, "headers", headers)
    at = whole_app()
    assert at.title[0].value == "Tree"
    assert any("dpviz app" in line.value for line in at.caption) is not checks
    at.switch_page(DATA).run()
    at.radio(key="role").set_value("private").run()
    assert bool(at.get("file_uploader")) is checks
    assert any("dpviz app" in problem.value for problem in at.error) is not checks


@pytest.mark.slow
@pytest.mark.parametrize("role", list(DataRole))
@pytest.mark.parametrize("view", ["Register", "Release"])
def test_a_register_of_private_rows_needs_such_a_server(view, role, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    Register().declare("clinic", epsilon_cap=1.0, role=role)
    monkeypatch.setattr(ContextProxy, "headers", {"Host": "localhost:8501"})
    at = whole_app().switch_page(str(ROOT / "pages" / "publish.py")).run()
    at.segmented_control(key="publish-view").set_value(view).run()
    assert any("not shown here" in problem.value for problem in at.error) is (role is DataRole.PRIVATE)
    assert ("clinic" in " ".join(box.value for box in at.header)) <= (role is not DataRole.PRIVATE)


@pytest.mark.slow
def test_the_line_on_every_page_names_the_sample_in_use_and_the_address_holds_it() -> None:
    at = whole_app()
    assert at.title[0].value == "Tree"
    assert _line(at).startswith("**Health check** · 2,500 rows · predicts `diagnosis`")
    at.switch_page(DATA).run()
    assert "simulated" in at.main.markdown[0].value
    at.selectbox(key="sample-simulated").set_value("clinic").run()
    assert at.query_params["data"] in ("clinic", ["clinic"])
    for page in sorted((ROOT / "pages").glob("*.py")):
        at.switch_page(str(page)).run()
        assert not at.exception, page
        assert page.stem in ("learn", "audit") or _line(at).startswith("**Clinic**"), page
    assert _line(whole_app(data="clinic")).startswith("**Clinic**")
