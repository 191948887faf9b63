"""The Publish page in a real browser: private rows are declared, explored and released, once for two clicks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import dpviz
from dpviz.randomness import generator
from dpviz.release.register import Register
from dpviz.table.schema_json import schema_from_dict
from tests.support.visiting import downloaded, idle, press

pytestmark = pytest.mark.browser

SCHEMA = dpviz.Schema(
    (dpviz.NumericFeature("age", 0, 100), dpviz.CategoricalFeature("ward", ("north", "south"))),
    dpviz.ClassTarget("stays", ("no", "yes")),
    n_public=900,
)


@pytest.fixture
def patients(tmp_path: Path) -> tuple[Path, Path]:
    """Private rows and the schema somebody declared for them."""
    rng = generator(11)
    lines = ["age,ward,stays"]
    for age, ward in zip(rng.integers(18, 97, 903), rng.choice(["north", "south"], 903), strict=True):
        lines.append(f"{age},{ward},{'yes' if age > 60 else 'no'}")
    table, schema = tmp_path / "patients.csv", tmp_path / "patients.schema.json"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    SCHEMA.save(schema)
    return table, schema


def go(page: Any, place: str) -> None:
    page.get_by_test_id("stSidebarNav").get_by_text(place, exact=True).click()
    page.get_by_role("heading", level=1, name=place).wait_for()
    idle(page)


def use_private(page: Any, app: str, table: Path, schema: Path) -> None:
    """Say that the rows are private, upload them with the declared schema, put them into use."""
    page.goto(f"{app}/data")
    press(page, page.get_by_text("Private", exact=True))
    page.get_by_text("Say first what the first line holds").wait_for()
    press(page, page.get_by_text("Column names", exact=True))
    page.get_by_text("Say first what the first line holds").wait_for(state="detached")
    idle(page)
    page.get_by_test_id("stFileUploader").filter(has_text="Table").locator("input").set_input_files(table)
    page.get_by_text("Public schema").wait_for()
    page.get_by_test_id("stFileUploader").filter(has_text="Schema saved by dpviz").locator("input").set_input_files(schema)
    page.get_by_role("button", name="Use this data").and_(page.locator(":enabled")).wait_for()
    press(page, page.get_by_role("button", name="Use this data"))
    page.get_by_text("This is the data in use").wait_for()


def test_private_rows_from_declaring_to_the_cap(page: Any, app: str, patients: tuple[Path, Path]) -> None:
    use_private(page, app, *patients)
    go(page, "Tree")
    page.get_by_text("Preview: ε = 1 (add/remove one row)").wait_for()
    press(page, page.get_by_role("button", name="Explore the private rows"))
    press(page, page.get_by_role("button", name="Look at them and record it"))
    page.get_by_text("You look at the private rows").wait_for()
    page.get_by_text("Explored, not released").wait_for()
    idle(page)
    go(page, "Publish")
    page.get_by_role("textbox", name="Name of the data set").fill("ward patients")
    page.get_by_role("textbox", name="Whom it protects").fill("one patient")
    page.get_by_role("spinbutton", name="Cap on ε (add/remove one row)").fill("1")
    press(page, page.get_by_role("button", name="Declare it: nobody in it is in another"))
    page.get_by_text("settings were chosen after 1 look at these rows").first.wait_for()
    exact = page.get_by_role("spinbutton", name="ε, exactly")
    exact.fill("0.6")
    exact.press("Enter")
    page.get_by_text("One tree by PF-tree, ε = 0.6.").wait_for()
    press(page, page.get_by_text("permanently, even if the file is lost"))
    button = page.get_by_role("button", name="Release", exact=True)
    button.and_(page.locator(":enabled")).wait_for()
    idle(page)
    button.dblclick()  # as impatient people do
    page.get_by_text("Released: number").wait_for()
    page.get_by_text("Permanently spent by 1 release: ε = 0.6.").wait_for()
    page.get_by_text("Left: ε = 0.4 of 1").wait_for()
    expect(button).to_have_count(0)
    expect(page.get_by_text("nothing was spent")).to_have_count(0)
    text = Path(downloaded(page, "Download release (JSON)").path()).read_text(encoding="utf-8")
    document = json.loads(text)
    assert document["privacy"]["noise"] == {"source": "release"}
    assert not re.search(r"(?<![0-9a-f.])903(?![0-9a-f.])", text)  # as a number of its own, not in the digits of another
    data = dpviz.encode(dpviz.read_table(patients[0]), schema_from_dict(document["schema"]))
    assert (dpviz.model_from_json(text).predict(data) == data.target).mean() > 0.9
    assert len(Register().releases("ward patients")) == 1
    assert "patients" not in page.url
