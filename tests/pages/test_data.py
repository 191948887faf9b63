"""The Data page, run by Streamlit's own test driver: role, table, schema, use, and what goes wrong on the way."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

import dpviz
from dpviz.app import schema_editor, schema_files
from dpviz.app.parts import plain
from dpviz.app.prepared import Prepared
from dpviz.app.schema_draft import SchemaDraft
from dpviz.app.server_tables import tables_on_server
from dpviz.errors import Cancelled, DpvizError, ReadingWarning
from dpviz.io.csv import read_csv
from dpviz.table.column_draft import Use
from dpviz.table.dates import DateFeature
from dpviz.table.role import DataRole
from dpviz.table.schema import ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.table.schema_json import schema_from_json
from tests.support.pages import button, shown
from tests.support.paths import ROOT
from tests.support.table_files import COLUMNS, drawn_rows, excel_bytes, feather_bytes, parquet_bytes, spss_bytes, stata_bytes

HOSTILE = ("<b>age</b>", '"quoted"', "**[x](y)**", "$a$ and $b$", ":red[b] :material/home:", "😀 city", "n" * 200)
CSV = b"age,city,y\n" + b"".join(
    b"%d,%s,%s\n" % (20 + i % 40, b"abc"[i % 3 : i % 3 + 1], b"ny"[i % 2 : i % 2 + 1]) for i in range(120)
)


def _page() -> AppTest:
    at = AppTest.from_file(str(ROOT / "pages" / "data.py"), default_timeout=60).run()
    assert not at.exception
    return at


def _upload(at: AppTest, content: bytes, *, role: str = "public", name: str = "mine.csv") -> AppTest:
    at.radio(key="role").set_value(role).run()
    if role == "private":
        at.radio(key="first-line-private").set_value("Column names").run()
    else:
        at.segmented_control(key=f"way-{role}").set_value("A file").run()
    at.file_uploader[0].set_value((name, content, "text/csv")).run()
    assert not at.exception
    return at


def _filled(at: AppTest) -> AppTest:
    button(at, "Fill in from the data").click().run()
    assert not at.exception
    return at


def _work(at: AppTest) -> Prepared:
    return at.session_state["prepared"]


def _draft(at: AppTest) -> SchemaDraft:
    draft = _work(at).draft
    assert draft is not None
    return draft


def _edit(at: AppTest, grid: str, edits: dict[int, dict[str, Any]]) -> AppTest:
    """Type into a grid: the driver sets the widget's state, as a browser would."""
    key = at.session_state[f"{grid}-base"][1]
    at.session_state[key] = {"edited_rows": edits, "added_rows": [], "deleted_rows": []}
    at.run()
    assert not at.exception
    return at


def _texts(at: AppTest) -> str:
    kinds = (at.caption, at.markdown, at.error, at.info, at.warning)
    return "\n".join(element.value for elements in kinds for element in elements)


@pytest.mark.slow
def test_a_workbook_of_several_sheets_asks_which_and_typed_files_ask_nothing() -> None:
    rows = drawn_rows(0, 5)
    at = _upload(_page(), excel_bytes(rows, other=rows[:2]), name="book.xlsx")
    assert "There are 2 sheets" in _texts(at)
    sheet = next(asked for asked in at.text_input if "Which sheet" in asked.label)
    sheet.set_value("nope").run()
    assert "There is no such sheet" in _texts(at)
    next(asked for asked in at.text_input if "Which sheet" in asked.label).set_value("other").run()
    assert not at.exception
    assert _work(at).table.n_rows <= 2
    at = _page()
    at.radio(key="role").set_value("private").run()
    at.file_uploader[0].set_value(("t.parquet", parquet_bytes(rows), "application/octet-stream")).run()
    assert _work(at).table.names == ("age", "share", "town", "day", "ok")


def test_reading_can_be_stopped_and_leaves_what_there_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object, progress: Callable[[float], None], stop: Callable[[], bool], **__: object) -> None:
        while True:
            progress(0.5)
            if stop():
                raise Cancelled

    at = _upload(_page(), CSV)
    with monkeypatch.context() as patch:
        patch.setattr("dpviz.app.table_files.read_table", endless)
        patch.setattr("dpviz.app.table_files._SECONDS", 0.0)
        at.file_uploader[0].set_value(("large.csv", CSV, "text/csv")).run()
        button(at, "Cancel").click().run()
    assert "Reading was stopped" in at.error[0].value
    assert at.file_uploader[0].value is None
    assert at.session_state["prepared"].title == "mine.csv"
    at.file_uploader[0].set_value(("small.csv", CSV, "text/csv")).run()
    assert at.session_state["prepared"].title == "small.csv"


def test_columns_can_be_looked_at_unless_the_rows_are_private() -> None:
    at = _page()
    at.toggle(key="look").set_value(True).run()
    assert not at.exception
    assert "Column in full" in [box.label for box in at.selectbox]
    assert "most frequent" in at.get("plotly_chart")[0].proto.alt
    at.radio(key="role").set_value("private").run()
    at = _upload(at, CSV, role="private")
    assert len(at.toggle) == 0
    assert len(at.get("plotly_chart")) == 0


def test_one_list_is_given_to_several_columns_at_once() -> None:
    at = _upload(_page(), b"q1,q2,q3,y\n1,2,3,n\n", role="private")
    at.selectbox(key=f"target-{_work(at).revision}").set_value("y").run()
    _edit(at, "kinds", {0: {"use": "categories"}})
    revision = _work(at).revision
    at.multiselect(key=f"list-columns-{revision}").set_value(["q1", "q3"]).run()
    at.text_area(key=f"list-{revision}").set_value("never\nat times\n\nyes, often").run()
    button(at, "Give them this list").click().run()
    assert not at.exception
    for name in ("q1", "q3"):
        column = _draft(at).column(name)
        assert (column.use, column.categories) == (Use.CATEGORIES, ("never", "at times", "yes, often"))
    assert _draft(at).column("q2").use is None
    assert list(at.data_editor[1].value["categories"]) == ["never; at times; yes, often"] * 2


@pytest.mark.slow
def test_missing_and_unknown_cells_go_to_a_declared_catch_all_unless_the_owner_says_otherwise() -> None:
    rows = b"age,town,y\n40,north,n\n31,west,p\n,south,n\n22,,p\n"
    at = _upload(_page(), rows, role="private")
    revision = _work(at).revision
    at.selectbox(key=f"target-{revision}").set_value("y").run()
    at.radio(key=f"goal-{revision}-2").set_value(Use.CATEGORIES).run()
    next(area for area in at.text_area if area.label.startswith("Classes")).set_value("n\np").run()
    at.number_input(key=f"n-public-{_work(at).revision}").set_value(100).run()
    _edit(at, "kinds", {0: {"use": "number"}, 1: {"use": "categories"}})
    _edit(at, "numbers", {0: {"low": "0", "high": "99", "whole": True}})
    _edit(at, "categories", {0: {"categories": "north; south"}})
    assert list(at.data_editor[1].value["missing_number"]) == ["middle"]
    schema = _draft(at).schema()
    assert schema.feature("town").categories == ("north", "south", "other")
    button(at, "Use this data").click().run()
    data = at.session_state["loaded"].data
    assert data.n_rows == 4
    assert data.columns[0].tolist() == [40, 31, 50, 22]
    assert data.columns[1].tolist() == [0, 2, 1, 2]
    _edit(at, "numbers", {0: {"low": "0", "high": "99", "whole": True, "missing_number": None}})
    _edit(at, "categories", {0: {"categories": "north; south", "missing_as": "", "unknown_as": None}})
    button(at, "Use this data").click().run()
    assert at.session_state["loaded"].data.n_rows == 1


def test_edits_survive_when_a_column_changes_its_use() -> None:
    at = _filled(_upload(_page(), b"p,q,y\n" + b"".join(b"%d,%d,%d\n" % (i, i * 2, i % 2) for i in range(30))))
    _edit(at, "numbers", {0: {"low": -5.0}})
    _edit(at, "kinds", {1: {"use": "leave out"}})
    assert [column.name for column in _draft(at).used_as(Use.NUMBER)] == ["p"]
    assert _draft(at).column("p").low == -5.0
    assert list(at.data_editor[1].value["low"]) == ["-5"]


def test_private_rows_fill_in_nothing_and_show_only_names() -> None:
    secret = b"age,city,y\n31,Bielefeld,n\n47,Castrop,y\n88,Bielefeld,n\n"
    at = _upload(_page(), secret, role="private")
    assert _draft(at) == SchemaDraft.blank(("age", "city", "y"))
    assert not [button for button in at.button if button.label == "Fill in from the data"]
    assert list(at.data_editor[0].value["use"]) == [None] * 3
    assert "nothing is filled in" in _texts(at)
    shown = _texts(at) + "".join(frame.value.to_csv() for frame in (*at.data_editor, *at.dataframe))
    assert not [cell for cell in ("31", "47", "88", "Bielefeld", "Castrop") if cell in shown]


def test_of_private_rows_the_first_line_is_shown_only_when_the_owner_says_it_holds_names() -> None:
    at = _page()
    at.radio(key="role").set_value("private").run()
    assert at.radio(key="first-line-private").value is None
    assert "Say first what the first line holds" in _texts(at)
    at.file_uploader[0].set_value(("<i>rows.csv", b"age\n31\n", "text/csv")).run()
    assert "is here, but not read yet" in _texts(at)
    at.file_uploader[0].set_value(None).run()
    at.radio(key="first-line-private").set_value("The first row").run()
    assert "Give the column names first" in _texts(at)
    at.text_area(key="names").set_value("name\nage\n finding \n").run()
    at.selectbox(key="delimiter").set_value(";").run()
    at.file_uploader[0].set_value(("rows.csv", b"John Smith;45;HIV+\nJane Roe;31;none\n", "text/csv")).run()
    assert not at.exception
    table = _work(at).table
    assert table is not None
    assert table.names == ("name", "age", "finding")
    assert table.n_rows == 2
    shown = _texts(at) + "".join(frame.value.to_csv() for frame in (*at.data_editor, *at.dataframe))
    assert not [cell for cell in ("Smith", "Roe", "45", "31", "HIV") if cell in shown]


def test_a_bad_range_shows_the_error_and_keeps_the_data_in_use() -> None:
    at = _filled(_upload(_page(), CSV))
    before = at.session_state["loaded"]
    _edit(at, "numbers", {0: {"low": 99.0}})
    button(at, "Use this data").click().run()
    [box] = at.error
    assert "The range \\[99, 59\\] is too narrow or infinite\\." in box.value
    assert "**Where:** age" in box.value
    assert "The data in use are as they were: Health check." in box.value
    assert at.session_state["loaded"] is before
    assert _draft(at).column("age").low == 99.0


def test_hostile_names_reach_the_page_as_they_are() -> None:
    header = ",".join('"' + name.replace('"', '""') + '"' for name in HOSTILE)
    rows = "".join(f"{i},{i % 7},{i % 5},{i % 3},{i % 11},{'uv'[i % 2]},{'pq'[i % 2]}\n" for i in range(60))
    at = _filled(_upload(_page(), f"{header}\n{rows}".encode()))
    assert tuple(at.data_editor[0].value["name"]) == HOSTILE[:-1]
    assert at.selectbox(key=f"target-{_work(at).revision}").value == HOSTILE[-1]
    goal = next(radio for radio in at.radio if radio.label.endswith(" is"))
    assert goal.label == "`" + "n" * 59 + "…` is"
    _edit(at, "numbers", {row: {"low": None} for row in range(3)})
    assert 'Still missing: low for `<b>age</b>`, `"quoted"`, `**[x](y)**`.' in _texts(at)


@pytest.mark.slow
def test_an_unfinished_schema_is_downloaded_as_a_codebook_that_opens_again() -> None:
    at = _upload(_page(), CSV, role="private")
    at.selectbox(key=f"person-{_work(at).revision}").set_value("city").run()
    _edit(at, "kinds", {0: {"use": "number"}})
    _edit(at, "numbers", {0: {"low": "0,5"}})
    assert [button.label for button in at.download_button if button.label.startswith("Download ")] == ["Download codebook"]
    assert "Still missing: the column to predict." in _texts(at)
    text, before = schema_files.codebook(_draft(at)), _draft(at)
    assert schema_files.document(before) == ("", "Still missing: the column to predict.")
    at = _upload(_page(), b"y,city,age\n1,2,3\n", role="private")
    at.file_uploader[1].set_value(("d.csv", text.encode(), "text/csv")).run()
    assert not at.error
    assert {column.name: column for column in _draft(at).columns} == {column.name: column for column in before.columns}
    assert (_draft(at).person, _draft(at).column("age").low) == ("city", 0.5)


SHELLS = b"sex,length,weight,rings\n" + b"".join(
    b"%s,%.3f,%.3f,%d\n" % (b"MFI"[k % 3 : k % 3 + 1], 0.1 + k % 71 / 100, 0.02 + k % 97 / 50, 3 + k % 26) for k in range(200)
)


@pytest.mark.slow
def test_a_number_to_predict_is_read_declared_and_used() -> None:
    at = _upload(_page(), SHELLS, role="public")
    revision = _work(at).revision
    at.selectbox(key=f"target-{revision}").set_value("rings").run()
    button(at, "Fill in from the data").click().run()
    goal = _work(at).draft.column("rings")
    assert (goal.use, goal.low, goal.high) == (Use.NUMBER, 3.0, 28.0)
    assert goal.read_now
    revision = _work(at).revision
    button(at, "I know this range without the data").click().run()
    assert not _work(at).draft.column("rings").read_now
    at.number_input(key=f"goal-high-{revision}-3").set_value(30.0).run()
    button(at, "Use this data").click().run()
    now = at.session_state["loaded"]
    assert now.schema.target == NumericTarget("rings", 3.0, 30.0)
    assert "s-gbdt" in now.learners
    assert "pf-forest" not in now.learners


def test_rows_are_bound_to_persons() -> None:
    visits = b"who,x,y\n" + b"".join(b"%d,%d,%s\n" % (k // 4, k % 9, b"np"[k % 9 > 4 :][:1]) for k in range(80))
    at = _upload(_page(), visits)
    at.selectbox(key=f"person-{_work(at).revision}").set_value("who").run()
    at.number_input(key=f"rows-{_work(at).revision}").set_value(2).run()
    at = _filled(at)
    button(at, "Use this data").click().run()
    assert not at.exception
    now = at.session_state["loaded"]
    assert (now.person, now.data.rows_per_person, now.data.n_rows) == ("who", 2, 40)
    assert now.schema.feature_names == ("x",)
    assert "40 rows of persons who have more" in _texts(at)
    assert button(at, "Use this data").disabled


@pytest.mark.slow
def test_a_date_is_a_use_of_its_own_and_its_rule_follows() -> None:
    at = _upload(_page(), b"day,age,y\n2020-01-01,2,n\n2021-02-01,3,p\n", role="private")
    at.selectbox(key=f"target-{_work(at).revision}").set_value("y").run()
    _edit(at, "kinds", {1: {"use": "number"}})
    _edit(at, "numbers", {0: {"low": "0", "high": "9"}})
    _edit(at, "kinds", {0: {"use": "date"}, 1: {"use": "number"}})
    day, age = _draft(at).column("day"), _draft(at).column("age")
    assert (day.use, day.part, day.whole) == (Use.NUMBER, "year", True)
    assert (age.low, age.high, age.part) == (0, 9, "")
    assert list(at.data_editor[0].value["use"])[:2] == ["date", "number"]
    _edit(at, "numbers", {0: {"part": "month", "low": "1", "high": "12"}})
    at.run()
    assert _draft(at).column("day").part == "month"
    _edit(at, "kinds", {0: {"use": "number"}})
    assert _draft(at).column("day").part == ""


@pytest.mark.slow
def test_columns_of_one_name_are_renamed_when_the_owner_accepts_the_offer() -> None:
    at = _upload(_page(), b"age,y,age\n31,n,4\n47,y,5\n", role="private")
    assert "Columns 1 and 3 have the same name" in _texts(at)
    button(at, "Rename them").click().run()
    assert not at.exception
    assert not at.error
    assert _draft(at) == SchemaDraft.blank(("age", "y", "age (2)"))
    assert all(uploader.value is None for uploader in at.file_uploader)


def test_of_private_rows_columns_are_renamed_only_where_the_first_line_holds_names() -> None:
    at = _page()
    at.radio(key="role").set_value("private").run()
    at.file_uploader[0].set_value(("rows.csv", b"45,HIV+,45\n31,none,2\n", "text/csv")).run()
    assert "Say first what the first line holds" in _texts(at)
    assert not [button for button in at.button if button.label == "Rename them"]
    assert "HIV" not in _texts(at)
    assert _work(at).table is None or _work(at).table.names[0] != "45"


@pytest.mark.parametrize("kind", ["dta", "sav", "parquet", "feather"])
def test_labels_inside_a_private_file_fill_nothing_in(kind: str, tmp_path: Path) -> None:
    rows = drawn_rows(0, 40)
    write = {"dta": stata_bytes, "sav": spss_bytes, "parquet": lambda rows, _: parquet_bytes(rows)}
    content = write.get(kind, lambda rows, _: feather_bytes(rows))(rows, tmp_path)
    at = _page()
    at.radio(key="role").set_value("private").run()
    at.file_uploader[0].set_value((f"t.{kind}", content, "application/octet-stream")).run()
    assert not at.exception
    assert _draft(at) == SchemaDraft.blank(tuple(COLUMNS))
    shown = _texts(at) + "".join(frame.value.to_csv() for frame in (*at.data_editor, *at.dataframe))
    assert not [label for label in ("maybe", "São", "Rio") if label in shown]


def test_a_name_turns_nothing_and_is_bounded_wherever_it_is_listed() -> None:
    odd = ("\u202eage\u2066 \u200b", "c\x1b[2J\u2028ity", "n" * 9_000, "y")
    rows = "".join(f"{i},\u202e{'ab'[i % 2]},{i % 3},{'ny'[i % 2]}\n" for i in range(60))
    at = _filled(_upload(_page(), f"{','.join(odd)}\n{rows}".encode()))
    told = [str(cell) for grid in at.dataframe for cell in grid.value.to_numpy().ravel()]
    told += [option for kind in (at.selectbox, at.multiselect) for box in kind for option in box.options]
    told += [element.value for kind in (at.markdown, at.caption, at.warning, at.error) for element in kind]
    assert any("age" in text for text in told)
    assert [text for text in told if re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00-\x09\x0b-\x1f\u2028]", text)] == []
    assert max(map(len, told)) < 2_000
    at.selectbox(key=f"target-{_work(at).revision}").select(odd[0]).run()
    assert _draft(at).target == odd[0].strip()


def test_a_messy_file_says_what_where_and_what_to_do_and_the_table_at_hand_stays() -> None:
    at = _upload(_page(), CSV)
    for content, what, where in (
        (b"", "The file is empty\\.", ""),
        (b"a,a\n1,2\n", "have the same name", "row 1"),
        (b"1,2\n3,4\n", "The first line holds only numbers", "row 1"),
        (b"PK\x03\x04rest", "This ZIP archive is damaged", ""),
        (b"x" * 50_000 + b",b\n1,2\n", "The name of column 1 has over 10,000 letters", "row 1"),
    ):
        at.file_uploader[0].set_value(("broken.csv", content, "text/csv")).run()
        assert not at.exception
        [box] = at.error
        assert what in box.value
        assert "**What to do:**" in box.value
        assert f"**Where:** {where}" in box.value or not where
        assert "Nothing below has changed." in box.value
        assert (_work(at).title, at.session_state["loaded"].sample) == ("mine.csv", "health")
    at.segmented_control(key="way-public").set_value("A sample").run()
    assert not at.error


def test_filling_in_marks_every_value_and_use_keeps_the_marks() -> None:
    at = _upload(_page(), gzip.compress(CSV), name="mine.csv.gz")
    assert _draft(at) == SchemaDraft.blank(("age", "city", "y"))
    assert all(uploader.value is None for uploader in at.file_uploader)
    assert button(at, "Use this data").disabled
    assert "Still missing: the column to predict." in _texts(at)
    draft = _draft(_filled(at))
    assert (draft.target, draft.n_public_read) == ("y", True)
    assert all(column.read_now for column in draft.columns)
    assert list(at.data_editor[0].value["source"]) == ["read from data"] * 2
    button(at, "Use this data").click().run()
    now = at.session_state["loaded"]
    assert (now.role, now.title, now.sample) == (DataRole.PUBLIC, "mine.csv.gz", None)
    assert len(now.schema.read_fields()) == draft.read_fields() == 7
    at.radio(key="role").set_value("private").run()
    assert _draft(at).read_fields() == 0
    assert list(at.data_editor[0].value["use"]) == [None, None]
    assert button(at, "Use this data").disabled
    with pytest.raises(DpvizError, match="Nothing may be filled in here"):
        schema_editor.fill_in(Prepared(DataRole.PRIVATE, "mine", None, read_csv(CSV), SchemaDraft.blank(("age", "city", "y"))))


def test_what_someone_types_or_vouches_for_is_declared() -> None:
    at = _filled(_upload(_page(), CSV))
    _edit(at, "numbers", {0: {"low": 18.0}})
    assert _draft(at).column("age").read == {"high"}
    _edit(at, "numbers", {0: {"low": 18.0, "high": 59.0, "unit": "years"}})  # what was read, too
    age = _draft(at).column("age")
    assert (age.low, age.high, age.unit, age.read) == (18.0, 59.0, "years", frozenset())
    _edit(at, "categories", {0: {"categories": "a;  b ; ;other", "groups": "A = a; alpha=a", "unknown_as": "rest"}})
    city = _draft(at).column("city")
    assert (city.categories, city.groups, city.read) == (("a", "b", "other"), (("A", "a"), ("alpha", "a")), frozenset())
    assert _draft(at).schema().feature("city").categories == ("a", "b", "other", "rest")
    _edit(at, "categories", {0: {"groups": "A"}})
    assert "'A' does not say which category it counts as" in shown(at)
    assert _draft(at).column("city").groups == ()
    at.text_input(key=f"groups-{_work(at).revision}-2").set_value("no = n; yes = y").run()
    assert _draft(at).schema().target.groups == (("no", "n"), ("yes", "y"))
    again = _filled(_upload(_page(), CSV))
    button(again, "I know this range without the data").click().run()
    button(again, "I know this list without the data").click().run()
    assert not _draft(again).column("age").read
    assert not _draft(again).column("y").read or not _draft(again).column("city").read


def test_numbers_pasted_into_the_grid_mean_what_they_say() -> None:
    at = _filled(_upload(_page(), b"p,q,y\n" + b"".join(b"%d,%d,%s\n" % (k, k, b"np"[k % 2 :][:1]) for k in range(30))))
    _edit(at, "numbers", {0: {"low": "-220,5", "high": "1.000,5"}, 1: {"low": "1.000", "high": 7}})
    assert (_draft(at).column("p").low, _draft(at).column("p").high) == (-220.5, 1000.5)
    assert _draft(at).column("q").low is None
    assert "may be 1 or 1000" in shown(at)
    assert not _draft(at).column("p").read_now & {"low", "high"}


@pytest.mark.parametrize("role", ["private", "public"])
@pytest.mark.slow
def test_data_are_declared_by_hand_and_nobody_is_told_how_private_rows_fit(role: str) -> None:
    for classes in ("n\ny", "never\nseen"):
        at = _upload(_page(), CSV, role=role)
        revision = _work(at).revision
        at.selectbox(key=f"target-{revision}").set_value("y").run()
        at.radio(key=f"goal-{revision}-2").set_value(Use.CATEGORIES).run()
        next(area for area in at.text_area if area.label.startswith("Classes")).set_value(classes).run()
        at.number_input(key=f"n-public-{revision}").set_value(100).run()
        _edit(at, "kinds", {0: {"use": "number"}, 1: {"use": "leave out"}})
        assert "Still missing: low and high for `age`." in _texts(at)
        _edit(at, "numbers", {0: {"low": 18.0, "high": 50.0, "whole": True}})
        button(at, "Use this data").click().run()
        now, is_private = at.session_state["loaded"], role == "private"
        if is_private:
            assert not at.error
            assert not now.schema.read_fields()
            assert "120" not in "".join(element.value for element in (*at.main.markdown, *at.main.caption))
        assert is_private or ("None of 120 rows can be used" in "".join(box.value for box in at.error)) == ("seen" in classes)


@pytest.mark.slow
def test_a_schema_travels_with_its_person_column_and_a_broken_file_changes_nothing() -> None:
    at = _filled(_upload(_page(), CSV))
    draft = _draft(at).with_persons("city", 3)
    _work(at).replace_draft(draft)
    text, why_not = schema_files.document(draft)
    assert not why_not
    assert schema_from_json(text) == replace(draft.schema(), person="city")
    again = _filled(_upload(_page(), CSV))
    again.file_uploader[1].set_value(("s.json", text.encode(), "application/json")).run()
    assert not again.error
    assert (_draft(again).person, _draft(again).rows_per_person) == ("city", 3)
    before = _draft(again)
    for document, what in (
        (b"{", "It is not JSON"),
        (b'{"format": "other/9"}', "is not known here"),
        (b"[]", "This must be an object"),
        (b"7", "This must be an object"),
        (b"{}", "This entry is missing"),
        (text.replace('"age"', '"z"').encode(), "which the table does not have"),
        (b'{"format": "dpviz-session/1", "schema": {}}', "It is a session file of an earlier version"),
    ):
        again.file_uploader[1].set_value(("s.json", document, "application/json")).run()
        assert what in again.error[0].value
        assert _draft(again) == before


@pytest.mark.parametrize("role", ["public", "private"])
def test_what_the_reader_doubts_is_said_in_the_words_of_python(role: str) -> None:
    for content, words in (
        (b"age,town,y\n1,Z\xfcrich,n\n2,Bern,p\n", "Some cells are not UTF-8: letters in them are lost. Save the file in UTF-8"),
        (b"59,town,y\n1,Chur,n\n2,Bern,p\n", "the first line seems to be a row. Say that the first"),
        (b"age,town,y\n1,Chur,n,5\n2,Bern,p,6\n", "Most lines have one cell more than the first line"),
        (b'age,town,y\n1,"a \\"b\\" c",n\n2,Bern,p\n', "a backslash stands before a quote"),
    ):
        at = _upload(_page(), content, role=role)
        assert words in shown(at).replace("\u200b", "")
        assert ("Bern" in _texts(at)) <= (role == "public")


@pytest.mark.parametrize("role", ["public", "private"])
def test_cells_that_cannot_be_read_are_named_by_kind_in_the_words_of_python_once_it_is_asked_how_rows_fit(role: str) -> None:
    content = b"age,day,y\n" + b"5-6,2020-03-01,n\n<5,3 March 2020,p\n40%,2020-03-02,p\n40,1/2/2020,maybe\n41,2020-03-05,n\n" * 8
    schema = Schema(
        (NumericFeature("age", 0, 99), DateFeature("day", 1, 12, part="month")), ClassTarget("y", ("n", "p")), n_public=40
    )
    with pytest.warns(ReadingWarning) as caught:
        dpviz.encode(content, schema)
    words = [str(warning.message) for warning in caught if issubclass(warning.category, ReadingWarning)]
    assert len(words) == 3
    at = _upload(_page(), content, role=role)
    at.file_uploader[1].set_value(("s.json", schema.to_json().encode(), "application/json")).run()
    assert not any(plain(word) in warning.value for warning in at.warning for word in words)
    if role == "private":
        at.checkbox(key=f"check-{_work(at).revision}").set_value(True).run()
    button(at, "Check against the rows").click().run()
    said = [warning.value for warning in at.warning]
    assert [word for word in words if plain(word) not in said] == []
    assert not any(cell in " ".join(said) for cell in ("5-6", "<5", "3 March", "maybe"))


def test_a_codebook_fills_the_draft_as_far_as_it_goes_and_what_of_it_is_not_taken_is_said() -> None:
    at = _upload(_page(), b"id,age,town,y\n1,2,a,n\n2,3,b,p\n", role="private")
    book = b"Name;Type;Low;High;Categories;Missing;If missing;Role\nage;integer;0;120;;999, k.A.;40,5;\n"
    book += b"id;leave out;;;;;;person\ny;categories;;;n|p;;;target\nb;number;0;1;;;;\n"
    at.file_uploader[1].set_value(("codebook.csv", book, "text/csv")).run()
    assert not at.exception
    draft = _draft(at)
    assert (draft.target, draft.person, draft.rows_per_person) == ("y", "id", 1)
    assert draft.gaps() == (("how to use", "town"), ("row count", ""))
    assert draft.column("age").missing_codes == ("999", "k.A.")
    assert draft.column("age").missing_number == 40.5
    assert "lines about columns that the table does not have: `b`" in _texts(at)
    _edit(
        at,
        "kinds",
        {next(place for place, name in enumerate(at.data_editor[0].value["name"]) if name == "town"): {"use": "leave out"}},
    )
    assert not _draft(at).schema().read_fields()
    assert _draft(at).schema().feature_names == ("age",)


# --- tables on the server


def _offered(at: AppTest, role: str = "private") -> list[str]:
    """What stands in the list of tables on the server; nothing where there is no such list."""
    at.radio(key="role").set_value(role).run()
    ways = [way for way in at.segmented_control if way.key == f"way-{role}"]
    if not ways or "On the server" not in ways[0].options:
        return []
    ways[0].set_value("On the server").run()
    assert not at.exception
    return list(_server(at).options)


def _server(at: AppTest) -> Any:
    return next(box for box in at.selectbox if box.label == "Table on the server")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tables, and what is none or lies elsewhere."""
    made, outside = tmp_path / "tables", tmp_path / "outside"
    for folder in (made, outside, made / "inner.csv"):
        folder.mkdir()
    (made / "mine.csv").write_bytes(CSV)
    (made / "rows.parquet").write_bytes(parquet_bytes(drawn_rows(1, 20)))
    for name in (".hidden.csv", "notes.pdf"):
        (made / name).write_bytes(CSV)
    (outside / "secret.csv").write_bytes(CSV)
    (made / "link.csv").symlink_to("mine.csv")
    (made / "out.csv").symlink_to(outside / "secret.csv")
    (made / "up.csv").symlink_to("../outside/secret.csv")
    (made / "circle.csv").symlink_to("circle.csv")
    return made


@pytest.mark.slow
def test_only_tables_of_allowed_folders_are_offered_and_only_as_private_rows(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _offered(_page()) == []
    monkeypatch.setenv("DPVIZ_TABLES", str(folder))
    assert [_offered(_page(), role) for role in ("simulated", "public")] == [[], []]
    at = _page()
    assert _offered(at) == [f"{name} ({folder})" for name in ("link.csv", "mine.csv", "rows.parquet")]
    at.radio(key="first-line-private").set_value("Column names").run()
    _server(at).set_value(f"mine.csv ({folder})").run()
    assert (_work(at).title, _draft(at)) == ("mine.csv", SchemaDraft.blank(("age", "city", "y")))
    assert _server(at).value is None
    shown = _texts(at) + "".join(frame.value.to_csv() for frame in (*at.data_editor, *at.dataframe))
    assert not re.search(r"\b(31|47|59)\b", shown)
    _server(at).set_value(f"rows.parquet ({folder})").run()
    assert _work(at).title == "rows.parquet"


def test_a_file_that_leads_elsewhere_by_now_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPVIZ_TABLES", str(folder))
    at = _page()
    _offered(at)
    listed = tables_on_server()
    monkeypatch.setattr("dpviz.app.table_files.tables_on_server", lambda: listed)
    (folder / "mine.csv").unlink()
    (folder / "mine.csv").symlink_to(folder.parent / "outside" / "secret.csv")
    at.radio(key="first-line-private").set_value("Column names").run()
    _server(at).set_value(f"mine.csv ({folder})").run()
    assert "leads out of its folder" in at.error[0].value
    assert _work(at).table is None or _work(at).title != "mine.csv"


@pytest.mark.slow
def test_a_table_in_an_engine_is_read_as_its_file_would_be(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with duckdb.connect(str(folder.parent / "base.duckdb")) as base:
        base.execute(f"CREATE TABLE rows AS SELECT * FROM read_csv('{folder / 'mine.csv'}')")
        base.execute("CREATE TABLE odd AS SELECT [1] AS t")
    place = f"duckdb:///{folder.parent / 'base.duckdb'}"
    monkeypatch.setenv("DPVIZ_TABLES", f"{place}?table=rows\n\n{place}?table=odd\n{place}?table=none")
    at = _page()
    assert _offered(at) == [f"{name} ({place})" for name in ("rows", "odd", "none")]
    _server(at).set_value(f"rows ({place})").run()
    table = _work(at).table
    assert table is not None
    assert table.fingerprint == read_csv(CSV).fingerprint
    for name, said in (("odd", "type list are not read"), ("none", "no such table")):
        _server(at).set_value(f"{name} ({place})").run()
        assert said in at.error[0].value
        assert _work(at).table is table
    monkeypatch.setattr("dpviz.app.server_tables.MAX_ROWS", 119)
    _server(at).set_value(f"rows ({place})").run()
    assert "more than 119 rows" in at.error[0].value


@pytest.mark.parametrize(
    ("line", "said"),
    [("postgresql://me:hunter2@host/base?table=t", "may not hold a password"), ("/no/such/folder", "The folder cannot be read")],
)
def test_a_wrong_configuration_is_said_without_a_password(line: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPVIZ_TABLES", line)
    at = _page()
    at.radio(key="role").set_value("private").run()
    at.segmented_control(key="way-private").set_value("On the server").run()
    assert not at.exception
    assert said in at.error[0].value
    assert "hunter2" not in _texts(at) + at.error[0].value
