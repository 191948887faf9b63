"""The main job in a real browser: a messy CSV becomes a private tree on screen and a JSON file that predicts the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect
from streamlit.proto.BackMsg_pb2 import BackMsg

import dpviz
from dpviz.app.held_out import TEST_SHARE
from dpviz.randomness import generator
from dpviz.table.schema_json import schema_from_dict
from tests.support.visiting import (
    CHART,
    IS_DARK,
    PICTURES,
    choose,
    downloaded,
    drawn,
    faults_of,
    idle,
    open_downloads,
    press,
    settled,
)

pytestmark = pytest.mark.browser

#: Pixels of a screen that is 900 high.
TWO_SCREENS = 1800
PAGES = ("", "data", "compare", "robustness", "plan", "audit", "learn", "epsilon", "publish", "register")


@pytest.fixture
def messy_csv(tmp_path: Path) -> Path:
    """Semicolons, decimal commas, missing cells, a hostile name, 600 rows whose class follows two columns."""
    rng = generator(7)
    lines = ['temperature;"<b>colour</b> ""x""";weight;well']
    for _ in range(600):
        temperature, colour, weight = rng.normal(37, 1), rng.choice(["red", "green", "blue"]), rng.integers(40, 120)
        well = temperature < 37.5 and colour != "red"
        cells = [f"{temperature:.1f}".replace(".", ","), str(colour), str(weight), "yes" if well else "no"]
        if rng.random() < 0.03:
            cells[int(rng.integers(0, 3))] = ""
        lines.append(";".join(cells))
    path = tmp_path / "clinic notes.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _upload(page: Any, address: str, path: Path) -> None:
    page.goto(f"{address}/data")
    press(page, page.get_by_text("Public", exact=True))
    press(page, page.get_by_role("radio", name="A file"))
    page.get_by_test_id("stFileUploader").filter(has_text="Table").locator("input[type=file]").set_input_files(path)
    page.get_by_text("Public schema").wait_for()
    press(page, page.get_by_role("button", name="Fill in from the data"))
    page.get_by_text("read from data").first.wait_for()
    press(page, page.get_by_role("button", name="Use this data"))
    page.get_by_text("This is the data in use").wait_for()


def nothing_says_guaranteed(page: Any) -> None:
    """Values were read from the rows: neither the banner, nor a report, nor the Publish page calls the tree guaranteed."""
    expect(page.get_by_text("Not guaranteed, because").first).to_be_visible()
    idle(page)
    choose(page, "Export format", "Report for a board")
    report = downloaded(page, "Download simulation (Report for a board)")
    shown = Path(report.path()).read_text(encoding="utf-8").split("<script")[0]
    assert "Not guaranteed, because" in shown
    assert "It is not a release, and not for the public." in shown
    page.get_by_test_id("stSidebarNav").get_by_text("Publish", exact=True).click()
    page.get_by_text("assumptions were read from the data").first.wait_for()
    for words in ("Guaranteed:", "Would be guaranteed"):
        assert words not in shown
        expect(page.get_by_text(words)).to_have_count(0)
    expect(page.get_by_role("button", name="Release", exact=True)).to_have_count(0)


def test_from_a_messy_csv_to_a_file_that_predicts_what_the_tree_predicts(page: Any, app: str, messy_csv: Path) -> None:
    _upload(page, app, messy_csv)
    page.get_by_test_id("stSidebarNav").get_by_text("Tree", exact=True).click()
    exact = page.get_by_role("spinbutton", name="ε, exactly")
    exact.fill("2.5")
    exact.press("Enter")
    page.wait_for_url(lambda url: "epsilon=2.5" in url)
    press(page, page.get_by_role("button", name="why?"))
    page.get_by_text("Its steps add up to ε = 2.5 (add/remove one row)").wait_for()  # ranges were read from the data
    page.keyboard.press("Escape")
    open_downloads(page)
    text = Path(downloaded(page, "Download simulation (JSON)").path()).read_text(encoding="utf-8")
    document = json.loads(text)
    assert document["format"] == "dpviz-tree/1"
    assert document["privacy"]["guarantee"]["epsilon"] == 2.5
    nothing_says_guaranteed(page)

    data = dpviz.encode(dpviz.read_table(messy_csv), schema_from_dict(document["schema"]))
    seed = document["privacy"]["noise"]["seed"]
    train, _ = data.split(TEST_SHARE, seed=0)  # the tree on screen is tested on the others
    again = dpviz.fit(document["learner"]["name"], replace(train, schema=data.schema), epsilon=2.5, max_depth=4, seed=seed)
    assert np.array_equal(dpviz.model_from_json(text).predict(data), again.model.predict(data))
    assert again.score(data) > 0.8


@pytest.mark.verify
def test_moving_the_slider_is_one_rerun_and_the_tree_follows(page: Any, app: str) -> None:
    sent: list[BackMsg] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda payload: sent.append(BackMsg.FromString(payload))))
    page.goto(app)
    page.get_by_role("button", name="Pin this tree").wait_for()  # beside the slider, with the first tree
    settled(page)
    slider = page.get_by_role("slider", name="ε (add/remove one row)")
    box = slider.bounding_box()
    across, height = box["x"] + box["width"] * 0.75, box["y"] + box["height"] / 2
    sent.clear()
    page.mouse.move(across, height)
    page.mouse.down()
    page.mouse.move(across - 60, height, steps=12)
    page.mouse.up()
    page.wait_for_url("**epsilon=*")
    idle(page)
    whole_page = [message for message in sent if message.HasField("rerun_script") and not message.rerun_script.fragment_id]
    assert len(whole_page) == 1  # the others ask how far background work is
    chosen = float(page.get_by_role("spinbutton", name="ε, exactly").input_value())
    assert 0.01 <= chosen < 1
    assert slider.get_attribute("aria-valuetext") == f"ε = {chosen:g}"
    # while work is polled, a value that is typed and then one that is chosen both stay
    exact = page.get_by_role("spinbutton", name="ε, exactly")
    exact.fill("0.37")
    exact.press("Enter")
    page.get_by_text("Preview: ε = 0.37 (add/remove one row)").wait_for()
    slider.press("ArrowRight")
    page.get_by_text("Preview: ε = 0.5 (add/remove one row)").wait_for()
    settled(page)
    assert exact.input_value() == "0.5"


def test_no_page_has_a_serious_accessibility_fault_or_scrolls_sideways_on_a_telephone(visit: Any, app: str) -> None:
    page = visit(viewport={"width": 1440, "height": 2400}, reduced_motion="reduce").new_page()
    faults: dict[str, list[str]] = {}
    for place in PAGES:
        page.set_viewport_size({"width": 1440, "height": 2400})
        page.emulate_media(color_scheme="light")
        page.goto(f"{app}/{place}?data=clinic&robust-draws=100&draws=3&splits=1")
        page.locator(PICTURES.get(place, CHART)).first.wait_for()
        drawn(page)
        faults[f"{place} light"] = faults_of(page)
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(IS_DARK)
        drawn(page)
        faults[f"{place} dark"] = faults_of(page, "color-contrast", "link-in-text-block")  # the rules about colours
        if place == "audit":
            content = page.locator("[data-testid=stMainBlockContainer] > *")
            assert content.evaluate("all => all.getBoundingClientRect().bottom") <= TWO_SCREENS
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_function("document.documentElement.scrollWidth <= 390")
    assert {where: found for where, found in faults.items() if found} == {}
