"""A privacy officer in a real browser, at a server that never had the rows: account and report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from dpviz.release.register import Register
from dpviz.table.role import DataRole
from tests.support.paths import ROOT
from tests.support.release_rows import OF_PATIENTS, publish, requested, small_rows
from tests.support.serving import serve
from tests.support.visiting import idle, press

pytestmark = [pytest.mark.browser, pytest.mark.verify]

NAME = "ward seven"
AS_WRITTEN = "No entry was changed"


@pytest.fixture
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Register:
    """What the owner hands on: a register with a raised cap and two releases."""
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    found = Register()
    found.declare(NAME, epsilon_cap=1.0, unit="one patient", rows_per_unit=3, role=DataRole.PRIVATE)
    rows = small_rows(schema=OF_PATIENTS)
    found.assign(rows.identity, NAME)
    found.change_caps(NAME, epsilon_cap=1.5, reason="a second study", made_by="the board")
    publish(found, rows, requested(0.25))
    publish(found, rows, requested(0.5))
    return found


@pytest.fixture
def officer(register: Register, visit: Any) -> Iterator[Any]:
    """The register on the Publish page of a server that was started for this register alone."""
    with serve(ROOT / "app.py") as address:
        page = visit(viewport={"width": 1440, "height": 2400}).new_page()
        page.goto(f"{address}/register")  # the former address
        idle(page)
        yield page


def downloaded(page: Any, button: str, nth: int = 0) -> str:
    with page.expect_download() as download:
        press(page, page.get_by_role("button", name=button).nth(nth))
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_an_officer_reads_the_account_and_takes_the_report_away_without_the_rows(officer: Any, register: Register) -> None:
    expect(officer.get_by_text(AS_WRITTEN)).to_be_visible()
    expect(officer.get_by_role("heading", name=NAME)).to_be_visible()
    expect(officer.get_by_text("Every ε: add/remove one patient, up to 3 rows.")).to_be_visible()
    expect(officer.get_by_text("Permanently spent by 2 releases: ε = 0.75")).to_be_visible()
    expect(officer.get_by_text("Left: ε = 0.75 of 1.5")).to_be_visible()
    caps = downloaded(officer, "Register (JSON)")
    assert all(words in caps for words in (NAME, "a second study", "the board"))
    press(officer, officer.get_by_text("Report to sign"))
    box = officer.get_by_role("textbox", name="Author, beside the signature line")
    box.fill("the authors")
    box.press("Enter")
    idle(officer)
    report = downloaded(officer, "Report (HTML, for printing)")
    assert "Guaranteed: ε = 0.5 (add/remove one patient, up to 3 rows)" in report
    assert "the authors</span>Author" in report
    assert len(register.releases()) == 2
    assert register.uncovered_uses() == ()
