"""Journeys from a table to a tree or a report to sign, clicks counted: what a page wastes is seen here. A report took 40."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpviz.randomness import generator
from tests.support.paths import ROOT
from tests.support.serving import command_for, process_of
from tests.support.visiting import downloaded, idle, settled

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.verify]

#: The most clicks that a journey may take, with one refusal of rows that few fit.
MAX_CLICKS = 21
N_PATIENTS = 3_000
WARDS = {"internal medicine": ("internal medicine", "int. med."), "surgery": ("surgery", "Surgery"), "other": ("other", "other")}
CODEBOOK = """name,type,low,high,categories,missing,unit,labels,role
patient,leave out,,,,,,,person
admitted,date month dmy,1,12,,,,,
age,integer,18,99,,999,years,,
crp,number,0,200,,999; k.A.,mg/l,,
ward,categories,,,internal medicine; surgery; other,,,int. med. = internal medicine; Surgery = surgery,
days,number,0,60,,,,,
back,categories,,,no; yes,,,nein = no; ja = yes,target
"""
NAMES = ("patient", "admitted", "age", "crp", "ward", "days", "back")


def visits() -> list[list[Any]]:
    """One to three stays of each of 3,000 patients, as a hospital's export has them."""
    rng = generator(5)
    rows: list[list[Any]] = []
    for patient in range(N_PATIENTS):
        age = int(rng.integers(18, 97))
        for _ in range(int(rng.integers(1, 4))):
            crp, ward = float(rng.exponential(30)), list(WARDS)[int(rng.integers(3))]
            is_back = rng.random() < 0.15 + 0.5 * (age > 70) + 0.2 * (crp > 60)
            written = "" if rng.random() < 0.04 else WARDS[ward][int(rng.integers(2))]
            date = f"{int(rng.integers(1, 29)):02}.{int(rng.integers(1, 13)):02}.2024"
            row = [f"P{patient:05}", date, 999 if rng.random() < 0.04 else age, "k.A." if rng.random() < 0.04 else crp]
            row += [written, min(59.0, 2 + age / 4), "ja" if is_back else "nein"]
            rows.append(row)
    return rows


def as_csv(rows: list[list[Any]]) -> bytes:
    """With semicolons and decimal commas."""
    lines = (";".join(f"{cell:.2f}".replace(".", ",") if isinstance(cell, float) else str(cell) for cell in row) for row in rows)
    return "\n".join([";".join(NAMES), *lines]).encode()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[str]:
    """A server with a register of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DPVIZ_REGISTER": str(tmp_path / "releases.db")}
    with process_of(command_for(ROOT / "app.py"), ROOT, environment) as (address, _):
        yield address


class Owner:
    """Somebody at a page. A click is also one into a field that is typed into; a file takes two, a button and the file."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.done = list[str]()  #: What was clicked on

    def click(self, found: Any, what: str, *, rests: bool = True) -> None:
        """Once the server has nothing to run, or where it `rests`, once nothing moves either."""
        found.wait_for()
        (settled if rests else idle)(self.page)
        self.done.append(what)
        found.click()

    def press(self, name: str) -> None:
        """A button that may be pressed."""
        found = self.page.get_by_role("button", name=name, exact=True).and_(self.page.locator(":enabled"))
        self.click(found.first, name)

    def go(self, place: str) -> None:
        """To a page, by the list of pages."""
        self.click(self.page.get_by_test_id("stSidebarNav").get_by_text(place, exact=True), place, rests=False)
        self.page.get_by_role("heading", level=1, name=place).wait_for()

    def choose(self, uploader: str, name: str, content: bytes) -> None:
        """A file."""
        box = self.page.get_by_test_id("stFileUploader").filter(has_text=uploader).locator("input[type=file]")
        box.wait_for(state="attached")
        settled(self.page)
        self.done += [uploader, name]
        box.set_input_files({"name": name, "mimeType": "application/octet-stream", "buffer": content})

    def type(self, found: Any, text: str, what: str) -> None:
        """Into a field; Enter ends it."""
        found.wait_for()
        settled(self.page)
        self.done.append(what)
        found.fill(text)
        found.press("Enter")


def to_report(page: Any, address: str, table: tuple[str, bytes], codebook: bytes) -> tuple[Owner, str]:
    """From the address of the dashboard to a report to be signed; its text."""
    page.goto(address)
    owner = Owner(page)
    owner.go("Data")
    owner.click(page.get_by_text("Private", exact=True).first, "Private")
    owner.click(page.get_by_text("Column names", exact=True).first, "Column names")
    owner.choose("Table", *table)
    page.get_by_text(" columns · being declared").wait_for()
    owner.choose("Schema saved by dpviz, or a codebook", "codebook.csv", codebook)
    # what is typed before it has been taken would go into fields that it replaces
    page.get_by_test_id("stCaptionContainer").filter(has_text="codebook.csv").wait_for()
    for name, text in (("Public row count", "6000"), ("Rows kept of each person, at most", "3")):
        owner.type(page.get_by_role("spinbutton", name=name), text, name)
    owner.press("Use this data")
    page.get_by_role("button", name="See its tree").wait_for()
    owner.go("Publish")
    declared = (("textbox", "Name of the data set", "stays"), ("textbox", "Whom it protects", "one patient"))
    for kind, name, text in (*declared, ("spinbutton", "Cap on ε", "1")):
        owner.type(page.get_by_role(kind, name=name), text, name)
        settled(page)
        assert not page.get_by_text("Nothing was released yet").count()  # Enter declares nothing
    owner.press("Declare it: nobody in it is in another")
    spend = page.get_by_text("permanently, even if the file is lost")
    spend.wait_for()
    settled(page)
    owner.click(spend, "Spend for good")
    owner.press("Release")
    known, released = page.get_by_text("I know why; release it anyway"), page.get_by_text("Released: number 1")
    known.or_(released).first.wait_for()
    if known.count():  # a tenth of the rows or more hold codes of missing cells, which nobody looked at on Data
        owner.click(known, "I know why")
        owner.press("Release")
        released.wait_for()
    owner.click(page.get_by_text("Report to sign"), "Report to sign")
    report = downloaded(page, "Report (HTML, for printing)")
    owner.done.append("Report")
    return owner, Path(report.path()).read_text(encoding="utf-8")


def test_a_messy_table_becomes_a_report_to_sign_and_a_file_that_is_checked(page: Any, place: str, tmp_path: Path) -> None:
    owner, report = to_report(page, place, ("stays.csv", as_csv(visits())), CODEBOOK.encode())
    assert len(owner.done) <= MAX_CLICKS, owner.done
    assert "one patient, up to 3 rows" in report
    [released] = (tmp_path / "releases").glob("*.json")
    officer_checks(page, place, released.read_bytes())


#: The most clicks from the address of the dashboard to the tree of a file whose columns nobody has described.
MAX_CLICKS_TO_A_TREE = 15
#: What is pasted into the grid from "Use as" on, from the row of a column on: all that nobody may read from private rows, and of
#: public ones what a proposal cannot know. Source, range, categories, other texts, codes of missing cells follow the use.
PASTED = {
    "Private": (
        0,
        (
            "categories\t\t\t\tnein; ja",
            "date\t\t1\t366",
            "number\t\t18\t99\t\t\t999",
            "number\t\t0\t300\t\t\tk.A.; -9",
            "categories\t\t\t\tinternal medicine; surgery; other\tint. med. = internal medicine; Surgery = surgery",
            "number\t\t0\t60",
            f"categories\t\t\t\t{'; '.join(f'{place:02}' for place in range(1, 13))}",
        ),
    ),
    "Public": (2, ("number\t\t\t\t\t\t999", "number\t\t\t\t\t\tk.A.; -9")),
}


def as_messy_csv(rows: list[list[Any]]) -> bytes:
    """The same with zero-padded codes of a place, -9 where a laboratory did not answer, and a last row of totals."""
    rng = generator(6)
    rows = [[*row[:3], -9 if rng.random() < 0.04 else row[3], *row[4:], f"{int(rng.integers(1, 13)):02}"] for row in rows]
    totals = ["Gesamt", "", "", "", "", sum(row[5] for row in rows), "", ""]
    return as_csv([*rows, totals]).replace(b"back", b"back;place", 1)


def paste(owner: Owner, row: int, lines: tuple[str, ...]) -> None:
    """Lines of a spreadsheet into the grid of columns, from the second cell of a row on."""
    page = owner.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", "\n".join(lines))
    box = page.get_by_test_id("stDataFrame").first.bounding_box()
    page.mouse.click(box["x"] + 260, box["y"] + 53 + 35 * row)
    page.get_by_test_id(f"glide-cell-1-{row}").and_(page.locator(":focus")).wait_for(state="attached")
    owner.done.append("Use as")
    page.keyboard.press("Control+V")
    settled(page)


@pytest.mark.parametrize("role", ["Private", "Public"])
def test_a_messy_file_becomes_a_tree_without_a_codebook_and_its_zero_padded_codes_stay_codes(
    page: Any, place: str, role: str
) -> None:
    page.goto(place)
    owner = Owner(page)
    owner.go("Data")
    owner.click(page.get_by_text(role, exact=True).first, role)
    if role == "Private":
        owner.click(page.get_by_text("Column names", exact=True).first, "Column names")
    else:
        owner.click(page.get_by_role("radio", name="A file"), "A file")
    owner.choose("Table", "visits.csv", as_messy_csv(visits()))
    for box, option in (("Column to predict", "back"), ("Person ID column", "patient")):
        owner.click(page.get_by_role("combobox", name=box), box)
        owner.click(page.get_by_role("option", name=option, exact=True), option, rests=False)
    owner.type(page.get_by_role("spinbutton", name="Rows kept of each person, at most"), "3", "Rows kept of each person")
    if role == "Private":
        owner.type(page.get_by_role("spinbutton", name="Public row count"), "6000", "Public row count")
        settled(page)
        paste(owner, *PASTED[role])
    else:
        owner.press("Fill in from the data")
        page.get_by_text("read from data").first.wait_for()
        settled(page)
        paste(owner, *PASTED[role])
        owner.press("Fill in from the data")
        settled(page)
    codes = page.get_by_test_id("glide-cell-5-6").text_content()
    assert codes == "; ".join(f"{place:02}" for place in range(1, 13))
    low, high = (float(page.get_by_test_id(f"glide-cell-{column}-3").text_content()) for column in (3, 4))
    assert (0 <= low < 1, 150 < high <= 300) == (True, True)  # -9 is no number of a laboratory
    owner.press("Use this data")
    owner.press("See its tree")
    page.get_by_role("button", name="Pin this tree").wait_for()
    page.get_by_text("up to 3 rows of a person").wait_for()
    assert len(owner.done) <= MAX_CLICKS_TO_A_TREE, owner.done


def officer_checks(page: Any, address: str, released: bytes) -> None:
    """Without rows: a session of their own, the page, the file."""
    page.context.clear_cookies()
    page.goto(address)
    officer = Owner(page)
    officer.go("Publish")
    officer.click(page.get_by_role("radio", name="Check a file"), "Check a file")
    officer.choose("Released file", "release.json", released)
    page.get_by_text("In the register, as it was released: release number 1").wait_for()
    page.get_by_text("whether one patient is in the data").first.wait_for()
    assert len(officer.done) == 4
