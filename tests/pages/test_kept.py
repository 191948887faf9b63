"""Drafts that outlive their session, on the Data page: kept only where they may be, found again only by their address."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet_files
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.data.draft_json import draft_at
from dpviz.app.data.prepared import Prepared
from dpviz.table.role import DataRole
from tests.conftest import ROOT

ROWS = b"ward,age,y\nnorth,31,n\nsouth,47,p\n"
CONFIRM = "These are column names, not somebody's row: keep the draft"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    return tmp_path / "drafts"


def page(key: str = "") -> AppTest:
    at = AppTest.from_file(str(ROOT / "pages" / "data.py"), default_timeout=60)
    if key:
        at.query_params["draft"] = key
    at.run()
    assert not at.exception
    return at


def upload(at: AppTest, role: str, content: bytes = ROWS, name: str = "ward.csv") -> AppTest:
    if at.radio(key="role").value != role:
        at.radio(key="role").set_value(role).run()
    if role == "private":
        at.radio(key="first-line-private").set_value("Column names").run()
    elif role != "private":
        at.segmented_control(key=f"way-{role}").set_value("A file").run()
    at.file_uploader[0].set_value((name, content, "text/csv")).run()
    assert not at.exception
    return at


def work_of(at: AppTest) -> Prepared:
    return at.session_state["prepared"]


def click(at: AppTest, label: str) -> None:
    next(button for button in at.button if button.label == label).click().run()
    assert not at.exception


def said(at: AppTest) -> str:
    kinds = (at.caption, at.markdown, at.error, at.info)
    return "\n".join(element.value for elements in kinds for element in elements)


def files(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*")) if folder.exists() else []


def declared(at: AppTest) -> AppTest:
    revision = work_of(at).revision
    at.selectbox(key=f"target-{revision}").set_value("y").run()
    at.selectbox(key=f"person-{revision}").set_value("ward").run()
    at.number_input(key=f"n-public-{revision}").set_value(500).run()
    return at


def parquet() -> bytes:
    """The same rows in a file that asks nothing."""
    written = io.BytesIO()
    parquet_files.write_table(arrow_csv.read_csv(io.BytesIO(ROWS)), written)
    return written.getvalue()


def test_of_private_rows_nothing_is_kept_before_the_names_are_confirmed(folder: Path) -> None:
    at = declared(upload(page(), "private", parquet(), "ward.parquet"))
    assert files(folder) == []
    assert "a reload would lose it" in said(at)
    click(at, CONFIRM)
    [key] = files(folder)
    assert draft_at(key).draft == work_of(at).draft
    text = (folder / f"{key}.json").read_text()
    assert not [cell for cell in ("north", "31", "47", "ward.parquet") if cell in text]


def test_whoever_has_said_that_the_first_line_holds_names_is_not_asked_again(folder: Path) -> None:
    at = declared(upload(page(), "private"))
    assert CONFIRM not in [button.label for button in at.button]
    [key] = files(folder)
    assert draft_at(key).draft == work_of(at).draft
    text = (folder / f"{key}.json").read_text()
    assert not [cell for cell in ("north", "31", "47", "ward.csv") if cell in text]
    assert "ward.csv** is chosen" in said(at).replace("\\", "").replace("\u2060", "")


@pytest.mark.parametrize("role", ["private", "public"])
@pytest.mark.slow
def test_a_new_session_with_the_address_finds_the_draft_and_waits_for_its_file(role: str, folder: Path) -> None:
    at = declared(upload(page(), role))
    [key], before = files(folder), work_of(at).draft
    at = page(key)
    assert at.radio(key="role").value == role
    assert work_of(at).draft == before
    assert work_of(at).table is None
    assert "Choose its file again" in said(at)
    assert "its rows are never kept" in said(at)
    at.number_input(key=f"n-public-{work_of(at).revision}").set_value(600).run()
    upload(at, role)
    assert work_of(at).draft.n_public == 600
    assert (work_of(at).draft.person, work_of(at).draft.target) == ("ward", "y")
    assert work_of(at).table.n_rows == 2
    assert files(folder) == [key]
    assert draft_at(key).draft.n_public == 600


@pytest.mark.slow
def test_another_file_than_the_drafts_is_refused_and_the_draft_stays(folder: Path) -> None:
    at = upload(page(), "public")
    [key] = files(folder)
    at = upload(page(key), "public", b"ward,age\nnorth,31\n")
    assert "names the column 'y', which the table does not have" in said(at).replace("\\", "")
    at = upload(page(key), "public", b"y,ward,age,more\nnorth,31,1,1\n")
    assert "a column 'more', of which the draft does not know" in said(at).replace("\\", "")
    assert files(folder) == [key]
    at = upload(page(key), "public", b"y,ward,age\n1,2,3\n")
    assert work_of(at).draft.names == ("y", "ward", "age")


@pytest.mark.slow
def test_without_the_address_nobody_finds_a_draft(folder: Path) -> None:
    upload(page(), "public")
    [key] = files(folder)
    for other in ("", "f" * 32, "../releases", key[:-1]):
        at = page(other)
        assert work_of(at).sample == "health"
        assert key not in said(at)
        assert ("There is no draft at this address" in said(at)) == bool(other)


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": "dpviz-session/1"}', b"\xff\x00", b'{"format": 1e999}'])
def test_a_foreign_file_in_its_place_is_a_typed_error_and_the_page_works(content: bytes, folder: Path) -> None:
    upload(page(), "public")
    [key] = files(folder)
    (folder / f"{key}.json").write_bytes(content)
    at = page(key)
    assert len(at.error) == 1
    assert work_of(at).sample == "health"


def test_declaring_a_kept_table_private_takes_it_off_the_disk_until_its_names_are_confirmed(folder: Path) -> None:
    at = upload(page(), "public")
    click(at, "Fill in from the data")
    assert "north" in (folder / f"{files(folder)[0]}.json").read_text()
    at.radio(key="role").set_value("private").run()
    assert files(folder) == []
    click(at, CONFIRM)
    assert "north" not in (folder / f"{files(folder)[0]}.json").read_text()


def test_a_sample_is_kept_once_its_schema_is_edited_and_comes_back_with_its_rows(folder: Path) -> None:
    at = page()
    at.selectbox(key="sample-simulated").set_value("clinic").run()
    assert files(folder) == []
    at.number_input(key=f"n-public-{work_of(at).revision}").set_value(750).run()
    [key] = files(folder)
    at = page(key)
    assert (work_of(at).sample, work_of(at).draft.n_public, work_of(at).table.n_rows) == ("clinic", 750, 800)


def test_a_draft_is_forgotten_on_a_click(folder: Path) -> None:
    at = upload(page(), "public")
    click(at, "Forget this draft")
    assert files(folder) == []
    assert work_of(at).sample == "health"
    assert at.radio(key="role").value == "simulated"


def test_another_table_gets_another_address_and_leaves_the_first_draft(folder: Path) -> None:
    at = upload(page(), "public")
    [first] = files(folder)
    upload(at, "public", b"a,b\n1,2\n")
    assert len(files(folder)) == 2
    assert work_of(page(first)).draft.names == ("ward", "age", "y")


def test_a_full_disk_is_said_and_stops_nobody(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    at = upload(page(), "public")
    assert "No space left on device" in said(at)
    assert "a reload would lose the draft" in said(at)
    assert work_of(at).draft.names == ("ward", "age", "y")


def test_a_private_draft_stays_at_its_address_when_another_role_puts_its_table_aside(folder: Path) -> None:
    at = declared(upload(page(), "private"))
    [key] = files(folder)
    work_of(at).change_role(DataRole.PUBLIC)
    at.run()
    assert work_of(at).draft is None
    assert files(folder) == [key]
    assert work_of(page(key)).draft.target == "y"
