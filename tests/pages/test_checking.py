"""The schema checked against the rows on the Data page: private counts only after a consent, and what follows from looking."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.schema_draft import SchemaDraft
from dpviz.io.tables.read import read_table
from dpviz.release.register import Register
from dpviz.table.column_draft import Use
from dpviz.table.role import DataRole
from tests.support.pages import button, click, data_page, declare, draft_of, edit, page_text, records, upload, work_of

#: 1,234 rows fit; 77 have a town nobody declared, 55 no age, 33 an age that is clipped.
ROWS = b"age,town,y\n" + b"40,north,n\n31,south,p\n" * 617 + b"40,west,n\n" * 77 + b",north,n\n" * 55 + b"500,north,p\n" * 33
COUNTS = {"1399", "1267", "1234", "77", "55", "33", "132"}
CHECK, DROPPED = "Check against the rows", {"missing": None, "unknown_as": None}

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("register")]


def declared(role: str = "private") -> AppTest:
    at = upload(data_page(), ROWS, role=role, name="ward.csv")
    age, y = {"use": "number", "low": "0", "high": "99", "missing": None}, {"use": "categories", "categories": "n; p"}
    return declare(at, "y", 1500, age=age, y=y, town={"use": "categories", "categories": "north; south", **DROPPED})


def with_more_towns(at: AppTest) -> AppTest:
    return edit(at, town={"categories": "north; south; west", **DROPPED})


def looked(role: str = "private") -> AppTest:
    """After a look at how the rows fit, which of private ones asks for a consent."""
    at = declared(role)
    if role == "private":
        assert button(at, CHECK).disabled
        next(box for box in at.checkbox if box.label.startswith("I may see")).check().run()
    return click(at, CHECK)


def numbers_on(at: AppTest) -> set[str]:
    tables = "".join([*(frame.value.to_csv() for frame in at.dataframe), *(part.proto.body for part in at.get("html"))])
    return set(re.findall(r"\d+", (page_text(at) + tables).replace(",", "")))


def test_of_private_rows_no_count_is_shown_before_the_owner_consents_and_then_of_every_column(register: Register) -> None:
    at = declared()
    assert not numbers_on(at) & COUNTS
    assert register.uncovered_uses() == ()
    assert "To keep rows with a text such as" not in page_text(at)
    at = looked()
    assert numbers_on(at) >= {"1267", "1399", "1234"}
    assert "To keep rows with a text such as" in page_text(at), "how a town nobody declared, or a number like <5, may stay"
    assert [tuple(line.values())[:3] for line in records(at, "How many cells of each column")] == [
        ("town", "5.5% (77)", "match no category"),
        ("age", "3.9% (55)", "are missing"),
        ("age", "2.4% (33)", "lie outside the range"),
    ]
    [noted] = register.uncovered_uses()
    assert (noted.what, noted.times) == ("how the rows fit the schema", 1)
    assert draft_of(at).read_fields() == 0


@pytest.mark.parametrize("source", ["", "town register 2024"])
def test_a_change_after_the_look_is_marked_unless_it_has_a_public_source_and_can_be_put_back(source: str) -> None:
    at = with_more_towns(looked())
    assert draft_of(at).column("town").read_now == {"categories"}
    assert not [found for found in at.button if found.label.startswith("I know")]
    assert "1 value changed after the look" in page_text(at)
    assert "The schema has changed since this look" in page_text(at)
    if source:
        next(box for box in at.text_input if box.label.startswith("Public source")).set_value(source).run()
        assert set(at.data_editor[0].value["source"]) == {"declared"}
    assert draft_of(at).read_fields() == (not source)
    schema = click(at, "Use this data").session_state["loaded"].schema
    assert (schema.read_fields(), schema.source) == (() if source else (("town", "categories"),), source)
    click(at, "Put back what was declared before the look")
    assert draft_of(at).read_fields() == 0
    assert draft_of(at).column("town").categories == ("north", "south")


def test_neither_the_file_chosen_again_nor_another_role_and_back_makes_the_look_forgotten() -> None:
    at = looked()
    at.file_uploader[0].set_value(("ward.csv", ROWS, "text/csv")).run()
    assert draft_of(edit(at, age={"use": "leave out"}, town={"use": "leave out"})).read_fields() >= 1
    work_of(at).change_role(DataRole.PUBLIC)
    at.run()
    assert work_of(at).draft is None
    work_of(at).change_role(DataRole.PRIVATE)
    work_of(at).choose("ward.csv", read_table(ROWS), SchemaDraft.blank(("age", "town", "y")))
    draft = draft_of(at)
    draft = draft.with_columns(draft.column("age").edit(use=Use.NUMBER, low=1.0, high=99.0))
    assert draft.column("age").read_now >= {"low"}


def test_public_rows_are_checked_without_a_consent_and_nothing_is_marked(register: Register) -> None:
    at = looked("public")
    assert "1267" in numbers_on(at)
    assert not at.checkbox
    assert draft_of(with_more_towns(at)).read_fields() == 0
    assert register.uncovered_uses() == ()


def test_a_schema_that_contradicts_itself_is_an_error_and_no_look() -> None:
    at = edit(declared(), age={"low": "100", "high": "0"})
    next(box for box in at.checkbox if box.label.startswith("I may see")).check().run()
    click(at, CHECK)
    assert "Nothing was looked at." in page_text(at)
    assert draft_of(at).before is None
