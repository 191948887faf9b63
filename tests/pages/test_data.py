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
from dpviz.app import schema_editor
from dpviz.app.parts import escape_markdown
from dpviz.app.preparation import Preparation
from dpviz.app.schema_draft import SchemaDraft
from dpviz.app.table_files import tables_on_server
from dpviz.errors import Cancelled, DpvizError, ReadingWarning
from dpviz.io.tables.read import read_table
from dpviz.table.column_draft import Use
from dpviz.table.dates import DateFeature
from dpviz.table.role import DataRole
from dpviz.table.schema import ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.table.schema_json import schema_from_json
from tests.support.pages import button, click, column_cells, data_page, declare, draft_of, edit, page_text, texts, upload, work_of
from tests.support.table_files import COLUMNS, drawn_rows, excel_bytes, parquet_bytes, stata_bytes

HOSTILE = ("<b>age</b>", '"quoted"', "**[x](y)**", "$a$ and $b$", ":red[b] :material/home:", "😀 city", "n" * 200)
CSV = b"age,city,y\n" + b"".join(
    b"%d,%s,%s\n" % (20 + i % 40, b"abc"[i % 3 : i % 3 + 1], b"ny"[i % 2 : i % 2 + 1]) for i in range(120)
)
USE = "Use this data"


def filled(content: bytes = CSV, **how: Any) -> AppTest:
    return click(upload(data_page(), content, **how), "Fill in from the data")


def private(content: bytes = CSV) -> AppTest:
    return upload(data_page(), content, role="private")


def on_screen(test: AppTest) -> str:
    """What is said, and every cell of a grid or table."""
    return page_text(test) + "".join(frame.value.to_csv() for frame in (*test.data_editor, *test.dataframe))


def take(test: AppTest, place: int, name: str, content: bytes) -> AppTest:
    """A file in the first uploader, of tables, or in the second, of schemas."""
    test.file_uploader[place].set_value((name, content, "application/octet-stream")).run()
    assert not test.exception
    return test


# --- reading


@pytest.mark.slow
def test_a_workbook_of_several_sheets_asks_which() -> None:
    rows = drawn_rows(0, 5)
    at = upload(data_page(), excel_bytes(rows, other=rows[:2]), name="book.xlsx")
    for sheet, said in (("nope", "There is no such sheet"), ("other", "")):
        assert "sheet" in at.error[0].value
        next(asked for asked in at.text_input if "Which sheet" in asked.label).set_value(sheet).run()
        assert said in page_text(at)
    assert work_of(at).table.n_rows <= 2


@pytest.mark.slow
def test_reading_can_be_stopped_and_leaves_what_there_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object, progress: Callable[[float], None], stop: Callable[[], bool], **__: object) -> None:
        while not stop():
            progress(0.5)
        raise Cancelled

    at = take(upload(data_page(), CSV), 0, "empty.csv", b"")
    assert at.error
    with monkeypatch.context() as patch:
        patch.setattr("dpviz.app.table_files.read_table", endless)
        patch.setattr("dpviz.app.table_files._SECONDS", 0.0)
        assert not take(at, 0, "large.csv", CSV).error, "of another file"
        click(at, "Cancel")
    assert "Reading was stopped" in at.error[0].value
    assert (at.file_uploader[0].value, work_of(at).title) == (None, "mine.csv")
    assert work_of(take(at, 0, "small.csv", CSV)).title == "small.csv"


@pytest.mark.slow
def test_a_messy_file_says_what_where_and_what_to_do_and_the_table_at_hand_stays() -> None:
    at = upload(data_page(), CSV)
    assert not at.file_uploader[0].proto.type, "any kind may be chosen: the browser's own refusal says not what to do"
    for content, what, where in (
        (b"", "The file is empty\\.", ""),
        (b"%PDF-1.7 age,ward", "This is a PDF document, not CSV", ""),
        (b"1,2\n3,4\n", "The first line holds only numbers", "row 1"),
        (b"PK\x03\x04rest", "This ZIP archive is damaged", ""),
        (b"x" * 50_000 + b",b\n1,2\n", "The name of column 1 has over 10,000 letters", "row 1"),
    ):
        [box] = take(at, 0, "broken.csv", content).error
        for words in (what, "**What to do:**", f"**Where:** {where}" if where else "", "Nothing below has changed."):
            assert words in box.value
        assert (work_of(at).title, at.session_state["loaded"].sample) == ("mine.csv", "health")
    at.segmented_control(key="way-public").set_value("A sample").run()
    assert not at.error


@pytest.mark.slow
@pytest.mark.parametrize("role", ["public", "private"])
def test_what_the_reader_doubts_is_said_in_the_words_of_python(role: str) -> None:
    for content, words in (
        (b"age,town,y\n1,Z\xfcrich,n\n2,Bern,p\n", "Some cells are not UTF-8: letters in them are lost. Save the file in UTF-8"),
        (b"59,town,y\n1,Chur,n\n2,Bern,p\n", "the first line seems to be a row. Say that the first"),
    ):
        at = upload(data_page(), content, role=role)
        assert words in page_text(at).replace("\u200b", "")
        assert ("Bern" in page_text(at)) <= (role == "public")


@pytest.mark.slow
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
    at = take(upload(data_page(), content, role=role), 1, "s.json", schema.to_json().encode())
    assert not any(escape_markdown(word) in warning.value for warning in at.warning for word in words)
    if role == "private":
        at.checkbox(key=f"check-{work_of(at).revision}").set_value(True).run()
    click(at, "Check against the rows")
    said = [warning.value for warning in at.warning]
    assert [word for word in words if escape_markdown(word) not in said] == []
    assert not any(cell in " ".join(said) for cell in ("5-6", "<5", "3 March", "maybe"))


# --- private rows


@pytest.mark.slow
def test_private_rows_fill_in_nothing_and_show_only_names() -> None:
    at = data_page()
    at.toggle(key="look").set_value(True).run()
    assert "most frequent" in at.get("plotly_chart")[0].proto.alt, "of rows that anyone may see"
    at = upload(at, b"age,city,y\n31,Bielefeld,n\n47,Castrop,y\n88,Bielefeld,n\n", role="private")
    assert draft_of(at) == SchemaDraft.blank(("age", "city", "y"))
    assert not [one for one in at.button if one.label == "Fill in from the data"]
    assert not [*at.toggle, *at.get("plotly_chart")]
    assert not [cell for cell in ("31", "47", "88", "Bielefeld", "Castrop") if cell in on_screen(at)]
    with pytest.raises(DpvizError, match="Nothing may be filled in here"):
        schema_editor.fill_in(
            Preparation(DataRole.PRIVATE, "mine", None, read_table(CSV), SchemaDraft.blank(("age", "city", "y")))
        )


@pytest.mark.slow
def test_of_private_rows_the_first_line_is_shown_only_when_the_owner_says_it_holds_names() -> None:
    at = data_page()
    at.radio(key="role").set_value("private").run()
    assert (work_of(at).table, work_of(at).draft, work_of(at).sample) == (None, None, None), "a sample keeps its own role"
    assert at.session_state["loaded"].sample == "health"
    assert at.radio(key="first-line-private").value is None
    take(at, 0, "<i>rows.csv", b"45,HIV+,45\n31,none,2\n")
    assert "is here, but not read yet" in page_text(at)
    assert "HIV" not in on_screen(at)
    assert "Rename them" not in [one.label for one in at.button]
    at.file_uploader[0].set_value(None).run()
    at.radio(key="first-line-private").set_value("The first row").run()
    assert "Give the column names first" in page_text(at)
    at.text_area(key="names").set_value("name\nage\n finding \n").run()
    at.selectbox(key="delimiter").set_value(";").run()
    take(at, 0, "rows.csv", b"John Smith;45;HIV+\nJane Roe;31;none\n")
    assert (work_of(at).table.names, work_of(at).table.n_rows) == (("name", "age", "finding"), 2)
    assert not [cell for cell in ("Smith", "Roe", "45", "31", "HIV") if cell in on_screen(at)]


@pytest.mark.slow
def test_columns_of_one_name_are_renamed_when_the_owner_accepts_the_offer() -> None:
    at = private(b"age,y,age\n31,n,4\n47,y,5\n")
    assert "Columns 1 and 3 have the same name" in page_text(at)
    click(at, "Rename them")
    assert not at.error
    assert draft_of(at) == SchemaDraft.blank(("age", "y", "age (2)"))
    assert all(uploader.value is None for uploader in at.file_uploader)


@pytest.mark.slow
def test_a_private_file_that_names_its_columns_is_read_unasked_and_its_labels_fill_nothing_in(tmp_path: Path) -> None:
    at = data_page()
    at.radio(key="role").set_value("private").run()
    take(at, 0, "t.dta", stata_bytes(drawn_rows(0, 40), tmp_path))
    assert draft_of(at) == SchemaDraft.blank(tuple(COLUMNS))
    assert not [label for label in ("maybe", "São", "Rio") if label in on_screen(at)]


@pytest.mark.parametrize("role", ["private", "public"])
@pytest.mark.slow
def test_data_are_declared_by_hand_and_nobody_is_told_how_private_rows_fit(role: str) -> None:
    for classes in ("n; y", "never; seen"):
        at = upload(data_page(), CSV, role=role)
        uses = {"age": {"use": "number"}, "city": {"use": "leave out"}, "y": {"use": "categories", "categories": classes}}
        declare(at, "y", 100, **uses)
        assert "Still missing: low and high for `age`." in page_text(at)
        edit(at, age={"low": "18", "high": "50", "whole": True})
        button(at, USE).click().run()
        assert not at.exception
        if role == "private":
            assert not at.error
            assert not at.session_state["loaded"].schema.read_fields()
            assert "120" not in "".join(element.value for element in (*at.main.markdown, *at.main.caption))
        else:
            assert ("None of 120 rows can be used" in "".join(box.value for box in at.error)) == ("seen" in classes)


# --- the grid


@pytest.mark.slow
def test_filling_in_marks_every_value_and_use_keeps_the_marks() -> None:
    at = upload(data_page(), gzip.compress(CSV), name="mine.csv.gz")
    assert draft_of(at) == SchemaDraft.blank(("age", "city", "y"))
    assert all(uploader.value is None for uploader in at.file_uploader)
    assert button(at, USE).disabled
    assert "Still missing: the column to predict." in page_text(at)
    draft = draft_of(click(at, "Fill in from the data"))
    assert (draft.target, draft.n_public_read) == ("y", True)
    assert all(column.read_now for column in draft.columns)
    assert list(at.data_editor[0].value["source"]) == ["read from data"] * 3
    click(at, USE)
    now = at.session_state["loaded"]
    assert (now.role, now.title, now.sample) == (DataRole.PUBLIC, "mine.csv.gz", None)
    assert len(now.schema.read_fields()) == draft.read_fields() == 7
    at.radio(key="role").set_value("private").run()
    assert draft_of(at).read_fields() == 0
    assert button(at, USE).disabled


@pytest.mark.slow
def test_what_someone_types_or_vouches_for_is_declared() -> None:
    at = edit(filled(), age={"low": "18"})
    assert draft_of(at).column("age").read == {"high"}
    edit(at, age={"low": "18", "high": "59", "unit": "years"})  # what was read, too
    age = draft_of(at).column("age")
    assert (age.low, age.high, age.unit, age.read) == (18.0, 59.0, "years", frozenset())
    typed = {"categories": "a;  b ; ;other", "groups": "A = a; alpha=a", "missing": "", "unknown_as": "rest"}
    edit(at, city=typed, y={"groups": "no = n; yes = y"})
    schema = draft_of(at).schema()
    assert draft_of(at).column("city").read == frozenset()
    assert schema.feature("city").categories == ("a", "b", "other", "rest")
    assert (schema.feature("city").groups, schema.feature("city").missing_as) == ((("A", "a"), ("alpha", "a")), None)
    assert schema.target.groups == (("no", "n"), ("yes", "y"))
    edit(at, city={"groups": "A"})
    assert "'A' does not say which category it counts as" in page_text(at)
    assert draft_of(at).column("city").groups == ()
    again = click(filled(), "I know these")
    assert not [column for column in draft_of(again).columns if column.read]


@pytest.mark.slow
def test_numbers_typed_or_pasted_mean_what_they_say_and_a_bad_range_changes_nothing_in_use() -> None:
    at = filled(b"p,q,y\n" + b"".join(b"%d,%d,%s\n" % (k, k, b"np"[k % 2 :][:1]) for k in range(30)))
    edit(at, p={"low": "-220,5", "high": "1.000,5"}, q={"low": "1.000", "high": "7"})
    for _ in range(2):
        assert (draft_of(at).column("p").low, draft_of(at).column("p").high) == (-220.5, 1000.5)
        assert column_cells(at, "p")["low"] == "−220.5"
        edit(at, p={"low": "−220.5", "high": "1000.5"}, q={"low": "1.000", "high": "7"})  # as it is shown
    assert draft_of(at).column("q").low is None
    assert "may be 1 or 1000" in page_text(at)
    before = at.session_state["loaded"]
    edit(at, q={"low": "99"})
    button(at, USE).click().run()
    [box] = at.error
    for words in ("The range \\[99, 7\\] is too narrow", "**Where:** q", "The data in use are as they were: Health check."):
        assert words in box.value
    assert at.session_state["loaded"] is before
    assert draft_of(at).column("q").low == 99.0


@pytest.mark.slow
def test_missing_and_unknown_cells_go_to_a_declared_catch_all_unless_the_owner_says_otherwise() -> None:
    at = private(b"age,town,y\n40,north,n\n31,west,p\n,south,n\n22,,p\n")
    columns = {
        "age": {"use": "number", "low": "0", "high": "99", "whole": True},
        "y": {"use": "categories", "categories": "n; p"},
    }
    declare(at, "y", 100, **columns, town={"use": "categories", "categories": "north; south"})
    assert (column_cells(at, "age")["missing"], column_cells(at, "town")["missing"]) == ("middle", "other")
    assert draft_of(at).schema().feature("town").categories == ("north", "south", "other")
    data = click(at, USE).session_state["loaded"].data
    assert [column.tolist() for column in data.columns] == [[40, 31, 50, 22], [0, 2, 1, 2]]
    edit(at, age={"missing": None}, town={"missing": "", "unknown_as": None})
    assert column_cells(at, "age")["missing"] == column_cells(at, "town")["unknown_as"] == "drop the row"
    assert click(at, USE).session_state["loaded"].data.n_rows == 1
    edit(at, age={"missing": "middle"}, town={"missing": "drop the row", "unknown_as": "south"})
    assert (draft_of(at).column("age").missing_number, draft_of(at).column("town").missing_as) == ("middle", None)


@pytest.mark.slow
def test_a_date_is_a_use_of_its_own_its_rule_follows_and_what_was_typed_of_other_columns_stays() -> None:
    at = private(b"day,age,y\n2020-01-01,2,n\n2021-02-01,3,p\n")
    at.selectbox(key=f"target-{work_of(at).revision}").set_value("y").run()
    edit(at, age={"use": "number", "low": "0", "high": "9", "missing_codes": "999; k.A."}, day={"use": "date"})
    assert draft_of(at).column("age").missing_codes == ("999", "k.A.")
    day, age = draft_of(at).column("day"), draft_of(at).column("age")
    assert (day.use, day.part, day.whole) == (Use.NUMBER, "year", True)
    assert (age.low, age.high, age.part) == (0, 9, "")
    assert [column_cells(at, "day")[name] for name in ("use", "part", "order")] == ["date", "year", "ymd"]
    edit(at, day={"use": "date", "part": "month", "low": "1", "high": "12"})
    assert draft_of(at.run()).column("day").part == "month"
    edit(at, day={"use": "number"})
    assert (draft_of(at).column("day").part, column_cells(at, "age")["low"]) == ("", "0")


SHELLS = b"sex,length,weight,rings\n" + b"".join(
    b"%s,%.3f,%.3f,%d\n" % (b"MFI"[k % 3 : k % 3 + 1], 0.1 + k % 71 / 100, 0.02 + k % 97 / 50, 3 + k % 26) for k in range(200)
)


@pytest.mark.slow
def test_a_number_to_predict_is_read_declared_and_used() -> None:
    at = upload(data_page(), SHELLS)
    at.selectbox(key=f"target-{work_of(at).revision}").set_value("rings").run()
    goal = draft_of(click(at, "Fill in from the data")).column("rings")
    assert (goal.use, goal.low, goal.high, bool(goal.read_now)) == (Use.NUMBER, 3.0, 28.0, True)
    edit(at, rings={"low": "3", "high": "30"})
    now = click(at, USE).session_state["loaded"]
    assert now.schema.target == NumericTarget("rings", 3.0, 30.0)
    assert "s-gbdt" in now.learners
    assert "pf-forest" not in now.learners
    edit(at, rings={"use": "leave out"})
    assert "how to use `rings`" in page_text(at)


@pytest.mark.slow
def test_rows_are_bound_to_persons() -> None:
    visits = b"who,x,y\n" + b"".join(b"%d,%d,%s\n" % (k // 4, k % 9, b"np"[k % 9 > 4 :][:1]) for k in range(80))
    at = upload(data_page(), visits)
    at.selectbox(key=f"person-{work_of(at).revision}").set_value("who").run()
    at.number_input(key=f"rows-{work_of(at).revision}").set_value(2).run()
    now = click(click(at, "Fill in from the data"), USE).session_state["loaded"]
    assert (now.person, now.data.rows_per_person, now.data.n_rows) == ("who", 2, 40)
    assert now.schema.feature_names == ("x",)
    assert "40 rows of persons who have more" in page_text(at)
    assert button(at, USE).disabled
    at = upload(data_page(), visits)
    at.number_input(key=f"rows-word-{work_of(at).revision}").set_value(3).run()
    now = click(click(at, "Fill in from the data"), USE).session_state["loaded"]
    assert (now.person, now.data.rows_per_person, now.schema.rows_per_person, now.data.n_rows) == (None, None, 3, 80)


@pytest.mark.slow
def test_hostile_names_reach_the_page_as_they_are_turn_nothing_and_are_bounded_wherever_they_are_listed() -> None:
    header = ",".join('"' + name.replace('"', '""') + '"' for name in HOSTILE)
    rows = "".join(f"{i},{i % 7},{i % 5},{i % 3},{i % 11},{'uv'[i % 2]},{'pq'[i % 2]}\n" for i in range(60))
    at = filled(f"{header}\n{rows}".encode())
    assert tuple(at.data_editor[0].value["name"]) == (HOSTILE[-1], *HOSTILE[:-1])
    edit(at, **{name: {"low": None} for name in HOSTILE[:3]})
    assert 'Still missing: low for `<b>age</b>`, `"quoted"`, `**[x](y)**`.' in texts(at)
    odd = ("\u202eage\u2066 \u200b", "c\x1b[2J\u2028ity", "n" * 9_000, "y")
    rows = "".join(f"{i},\u202e{'ab'[i % 2]},{i % 3},{'ny'[i % 2]}\n" for i in range(60))
    at = filled(f"{','.join(odd)}\n{rows}".encode())
    told = [str(cell) for grid in (*at.dataframe, *at.data_editor) for cell in grid.value.to_numpy().ravel()]
    told += [option for kind in (at.selectbox, at.multiselect) for box in kind for option in box.options]
    told += [element.value for kind in (at.markdown, at.caption, at.warning, at.error) for element in kind]
    assert any("age" in text for text in told)
    assert [text for text in told if re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00-\x09\x0b-\x1f\u2028]", text)] == []
    assert max(map(len, told)) < 2_000
    at.selectbox(key=f"target-{work_of(at).revision}").select(odd[0]).run()
    assert draft_of(at).target == odd[0].strip()


# --- the schema as a file


@pytest.mark.slow
def test_an_unfinished_schema_is_downloaded_as_a_codebook_that_opens_again() -> None:
    at = private()
    at.selectbox(key=f"person-{work_of(at).revision}").set_value("city").run()
    edit(at, age={"use": "number", "low": "0,5"})
    assert [one.label for one in at.download_button] == ["Download codebook"]
    before = draft_of(at)
    text = schema_editor.codebook(before)
    assert schema_editor.document(before) == ("", "Still missing: the column to predict.")
    at = take(private(b"y,city,age\n1,2,3\n"), 1, "d.csv", text.encode())
    assert not at.error
    assert {column.name: column for column in draft_of(at).columns} == {column.name: column for column in before.columns}
    assert (draft_of(at).person, draft_of(at).column("age").low) == ("city", 0.5)


@pytest.mark.slow
def test_a_schema_travels_with_its_person_column_and_a_broken_file_changes_nothing() -> None:
    at = filled()
    draft = draft_of(at).with_persons("city", 3)
    work_of(at).replace_draft(draft)
    text, why_not = schema_editor.document(draft)
    assert not why_not
    assert schema_from_json(text) == replace(draft.schema(), person="city")
    again = take(filled(), 1, "s.json", text.encode())
    assert not again.error
    before = draft_of(again)
    assert (before.person, before.rows_per_person) == ("city", 3)
    for document, what in (
        (b"{", "It is not JSON"),
        (text.replace('"age"', '"z"').encode(), "which the table does not have"),
        (b'{"format": "dpviz-session/1", "schema": {}}', "It is a session file of an earlier version"),
    ):
        assert what in take(again, 1, "s.json", document).error[0].value
        assert draft_of(again) == before


@pytest.mark.slow
def test_a_codebook_fills_the_draft_as_far_as_it_goes_and_what_of_it_is_not_taken_is_said() -> None:
    book = b"Name;Type;Low;High;Categories;Missing;If missing;Role\nage;integer;0;120;;999, k.A.;40,5;\n"
    book += b"id;leave out;;;;;;person\ny;categories;;;n|p;;;target\nb;number;0;1;;;;\n"
    at = take(private(b"id,age,town,y\n1,2,a,n\n2,3,b,p\n"), 1, "codebook.csv", book)
    draft = draft_of(at)
    assert (draft.target, draft.person, draft.rows_per_person) == ("y", "id", 1)
    assert draft.gaps() == (("how to use", "town"), ("row count", ""))
    assert (draft.column("age").missing_codes, draft.column("age").missing_number) == (("999", "k.A."), 40.5)
    assert "lines about columns that the table does not have: `b`" in page_text(at)
    schema = draft_of(edit(at, town={"use": "leave out"})).schema()
    assert (schema.read_fields(), schema.feature_names) == ((), ("age",))


# --- tables on the server


def offered(at: AppTest, role: str = "private") -> list[str]:
    """What stands in the list of tables on the server; nothing where there is no such list."""
    at.radio(key="role").set_value(role).run()
    ways = [way for way in at.segmented_control if way.key == f"way-{role}"]
    if not ways or "On the server" not in ways[0].options:
        return []
    ways[0].set_value("On the server").run()
    assert not at.exception
    return list(server(at).options)


def server(at: AppTest) -> Any:
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
    assert offered(data_page()) == []
    monkeypatch.setenv("DPVIZ_TABLES", str(folder))
    assert [offered(data_page(), role) for role in ("simulated", "public")] == [[], []]
    at = data_page()
    assert offered(at) == [f"{name} ({folder})" for name in ("link.csv", "mine.csv", "rows.parquet")]
    at.radio(key="first-line-private").set_value("Column names").run()
    server(at).set_value(f"mine.csv ({folder})").run()
    assert (work_of(at).title, draft_of(at)) == ("mine.csv", SchemaDraft.blank(("age", "city", "y")))
    assert server(at).value is None
    assert not re.search(r"\b(31|47|59)\b", on_screen(at))
    listed = tables_on_server()
    monkeypatch.setattr("dpviz.app.table_files.tables_on_server", lambda: listed)
    (folder / "mine.csv").unlink()
    (folder / "mine.csv").symlink_to(folder.parent / "outside" / "secret.csv")  # it leads elsewhere by now
    before = work_of(at).table
    server(at).set_value(f"mine.csv ({folder})").run()
    assert "leads out of its folder" in at.error[0].value
    assert work_of(at).table is before
    server(at).set_value(f"rows.parquet ({folder})").run()
    assert work_of(at).title == "rows.parquet"


@pytest.mark.slow
def test_a_table_in_an_engine_is_read_as_its_file_would_be(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with duckdb.connect(str(folder.parent / "base.duckdb")) as base:
        base.execute(f"CREATE TABLE rows AS SELECT *, [1] AS visits FROM read_csv('{folder / 'mine.csv'}')")
        base.execute("CREATE TABLE odd AS SELECT [1] AS t")
    place = f"duckdb:///{folder.parent / 'base.duckdb'}"
    monkeypatch.setenv("DPVIZ_TABLES", f"{place}?table=rows\n\n{place}?table=odd\n{place}?table=none")
    at = data_page()
    assert offered(at) == [f"{name} ({place})" for name in ("rows", "odd", "none")]
    server(at).set_value(f"rows ({place})").run()
    table = work_of(at).table
    assert table is not None
    assert table.fingerprint == read_table(CSV).fingerprint
    assert table.notes == ("Left out columns of lists, records or types of a library: 'visits'.",)
    for name, said in (("odd", "type list are not read"), ("none", "no such table")):
        server(at).set_value(f"{name} ({place})").run()
        assert said in at.error[0].value
        assert work_of(at).table is table
    monkeypatch.setattr("dpviz.app.table_files.MAX_ROWS", 119)
    server(at).set_value(f"rows ({place})").run()
    assert "more than 119 rows" in at.error[0].value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "said"),
    [("postgresql://me:hunter2@host/base?table=t", "may not hold a password"), ("/no/such/folder", "The folder cannot be read")],
)
def test_a_wrong_configuration_is_said_without_a_password(line: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPVIZ_TABLES", line)
    at = data_page()
    at.radio(key="role").set_value("private").run()
    at.segmented_control(key="way-private").set_value("On the server").run()
    assert not at.exception
    assert said in at.error[0].value
    assert "hunter2" not in page_text(at)
