"""The schema checked against the rows on the Data page: private counts only after a consent, and what follows from looking."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.prepared import Prepared
from dpviz.app.schema_draft import SchemaDraft
from dpviz.io.csv import read_csv
from dpviz.release.register import Register
from dpviz.table.column_draft import Use
from dpviz.table.role import DataRole
from tests.support.pages import button
from tests.support.paths import ROOT

#: 1,234 rows fit; 77 have a town nobody declared, 55 no age, 33 an age that is clipped.
ROWS = b"age,town,y\n" + b"40,north,n\n31,south,p\n" * 617 + b"40,west,n\n" * 77 + b",north,n\n" * 55 + b"500,north,p\n" * 33
COUNTS = {"1399", "1267", "1234", "77", "55", "33", "132"}


@pytest.fixture(autouse=True)
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Register:
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    return Register()


def declared(role: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "pages" / "data.py"), default_timeout=60).run()
    at.radio(key="role").set_value(role).run()
    if role == "private":
        at.radio(key="first-line-private").set_value("Column names").run()
    else:
        at.segmented_control(key=f"way-{role}").set_value("A file").run()
    at.file_uploader[0].set_value(("ward.csv", ROWS, "text/csv")).run()
    revision = work_of(at).revision
    at.selectbox(key=f"target-{revision}").set_value("y").run()
    at.radio(key=f"goal-{revision}-2").set_value(Use.CATEGORIES).run()
    next(area for area in at.text_area if area.label.startswith("Classes")).set_value("n\np").run()
    at.number_input(key=f"n-public-{revision}").set_value(1500).run()
    edit(at, "kinds", {0: {"use": "number"}, 1: {"use": "categories"}})
    edit(at, "numbers", {0: {"low": "0", "high": "99", "missing_number": None}})
    declare_towns(at, "north; south")
    assert not at.exception
    return at


def declare_towns(at: AppTest, towns: str) -> None:
    edit(at, "categories", {0: {"categories": towns, "missing_as": None, "unknown_as": None}})


def work_of(at: AppTest) -> Prepared:
    return at.session_state["prepared"]


def edit(at: AppTest, grid: str, edits: dict[int, dict[str, Any]]) -> None:
    at.session_state[at.session_state[f"{grid}-base"][1]] = {"edited_rows": edits, "added_rows": [], "deleted_rows": []}
    at.run()
    assert not at.exception


def look(at: AppTest) -> None:
    if work_of(at).role == "private":
        assert button(at, "Check against the rows").disabled
        next(box for box in at.checkbox if box.label.startswith("I may see")).check().run()
    button(at, "Check against the rows").click().run()
    assert not at.exception


def said(at: AppTest) -> str:
    kinds = (at.caption, at.markdown, at.error, at.info, at.warning)
    return "\n".join(element.value for elements in kinds for element in elements)


def numbers_on(at: AppTest) -> set[str]:
    tables = "".join([*(frame.value.to_csv() for frame in at.dataframe), *(part.proto.body for part in at.get("html"))])
    return set(re.findall(r"\d+", (said(at) + tables).replace(",", "")))


@pytest.mark.slow
def test_of_private_rows_no_count_is_shown_before_the_owner_consents(register: Register) -> None:
    at = declared("private")
    assert not numbers_on(at) & COUNTS
    assert register.uncovered_uses() == ()
    assert "To keep rows with a text such as" not in said(at)
    look(at)
    assert "1,267** of 1,399 rows are used" in said(at)
    assert "To keep rows with a text such as" in said(at), "how a town nobody declared, or a number like <5, may stay"
    assert "1,234 rows are used without a changed cell" in said(at)
    assert numbers_on(at) >= {"77", "55", "33"}
    [noted] = register.uncovered_uses()
    assert (noted.what, noted.times) == ("how the rows fit the schema", 1)
    assert work_of(at).draft.read_fields() == 0


@pytest.mark.slow
def test_a_change_after_the_look_is_marked_and_can_be_put_back() -> None:
    at = declared("private")
    look(at)
    declare_towns(at, "north; south; west")
    town = work_of(at).draft.column("town")
    assert town.read_now == {"categories"}
    assert not [found for found in at.button if found.label.startswith("I know")]
    assert "1 value changed after the look. Name the public source: a release refuses it without one." in said(at)
    assert "The schema has changed since this look" in said(at)
    button(at, "Use this data").click().run()
    assert at.session_state["loaded"].schema.read_fields() == (("town", "categories"),)
    button(at, "Put back what was declared before the look").click().run()
    assert work_of(at).draft.read_fields() == 0
    assert work_of(at).draft.column("town").categories == ("north", "south")


@pytest.mark.slow
def test_of_every_column_it_is_said_which_share_does_not_fit() -> None:
    at = declared("private")
    look(at)
    [table] = [part.proto.body for part in at.get("html") if "<table" in part.proto.body]
    cells = re.findall(r'<td data-name="(?:Column|Cells|Fault)">(.*?)</td>', table)
    assert [tuple(cells[place : place + 3]) for place in range(0, len(cells), 3)] == [
        ("town", "5.5% (77)", "match no category"),
        ("age", "3.9% (55)", "are missing"),
        ("age", "2.4% (33)", "lie outside the range"),
    ]


@pytest.mark.slow
def test_a_correction_with_a_public_source_stays_declared_and_the_source_goes_into_the_schema() -> None:
    at = declared("private")
    look(at)
    declare_towns(at, "north; south; west")
    next(box for box in at.text_input if box.label.startswith("Public source")).set_value("town register 2024").run()
    assert work_of(at).draft.read_fields() == 0
    assert "counts as declared" in said(at)
    assert {source for grid in at.data_editor for source in grid.value["source"]} == {"declared"}
    button(at, "Use this data").click().run()
    schema = at.session_state["loaded"].schema
    assert (schema.read_fields(), schema.source) == ((), "town register 2024")


@pytest.mark.slow
def test_choosing_the_file_again_does_not_make_the_look_forgotten() -> None:
    at = declared("private")
    look(at)
    at.file_uploader[0].set_value(("ward.csv", ROWS, "text/csv")).run()
    edit(at, "kinds", {0: {"use": "leave out"}, 1: {"use": "leave out"}})
    assert work_of(at).draft.read_fields() >= 1


@pytest.mark.slow
def test_public_rows_are_checked_without_a_consent_and_nothing_is_marked(register: Register) -> None:
    at = declared("public")
    look(at)
    assert "1,267** of 1,399 rows are used" in said(at)
    assert not at.checkbox
    declare_towns(at, "north; south; west")
    assert work_of(at).draft.read_fields() == 0
    assert register.uncovered_uses() == ()


@pytest.mark.slow
def test_a_schema_that_contradicts_itself_is_an_error_and_no_look() -> None:
    at = declared("private")
    edit(at, "numbers", {0: {"low": "100", "high": "0"}})
    next(box for box in at.checkbox if box.label.startswith("I may see")).check().run()
    button(at, "Check against the rows").click().run()
    assert "Nothing was looked at." in said(at)
    assert work_of(at).draft.before is None


@pytest.mark.slow
def test_another_role_and_back_does_not_make_the_look_forgotten() -> None:
    at = declared("private")
    look(at)
    work_of(at).change_role(DataRole.PUBLIC)
    at.run()
    assert work_of(at).draft is None
    work_of(at).change_role(DataRole.PRIVATE)
    work_of(at).choose("ward.csv", read_csv(ROWS), SchemaDraft.blank(("age", "town", "y")))
    changed = work_of(at).draft.column("age").edited(use=Use.NUMBER, low=1.0, high=99.0)
    assert changed.read_now >= {"low"}
