"""What only a browser can tell about the Data page: literal names, grids that keep every edit, a link to a fresh server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.paths import ROOT
from tests.support.serving import serve
from tests.support.visiting import press

pytestmark = pytest.mark.browser

HOSTILE = (
    "<b>age</b>",
    "\"quoted\" 'x'",
    "**[x](y)** _e_ ~s~",
    "$a$ and $$b$$",
    ":red[b] :material/home: :smile: :blue-badge[x]",
    "a -> b <- c -- d => e",
    ":streamlit: _www.x.y WWW.x.y ~= z",
    "`code` ``x``",
    "# head",
    "1. one",
    "![i](http://x/y.png) www.example.com a@b.co",
    "<svg onload=alert(1)>",
    "&amp; &lt;",
    "\\n \\* \\",
    "😀 city",
    "n" * 200,
)
SCRIPT = f"""
import streamlit as st
from dpviz.app.parts import as_code, escape_markdown
for place, name in enumerate({HOSTILE!r}):
    st.container(key=f"plain{{place}}").markdown(escape_markdown(name))
    st.container(key=f"literal{{place}}").markdown(as_code(name))
st.container(key="end").markdown("end")
"""


def test_hostile_names_are_shown_literally(page: Any, tmp_path: Path) -> None:
    script = tmp_path / "names.py"
    script.write_text(SCRIPT, encoding="utf-8")
    with serve(script) as address:
        page.goto(address)
        page.get_by_text("end", exact=True).wait_for()
        for place, name in enumerate(HOSTILE):
            for kind, shown in (("plain", name), ("literal", name if len(name) <= 60 else name[:59] + "…")):
                box = page.locator(f".st-key-{kind}{place} [data-testid=stMarkdownContainer]")
                expect(box).not_to_be_empty()  # Markdown is drawn later than the page's last words
                assert box.text_content().replace("\u2060", "") == shown
                assert set(re.findall(r"<([a-z0-9]+)", box.inner_html())) <= {"p", "code"}


def _type(page: Any, grid: int, right: int, cell: tuple[int, int], text: str) -> None:
    """Type into a cell (column, row), by its place: the grid is a canvas.

    Each step waits until the grid has taken the one before. Its editor answers every key in a timer: where Enter comes before
    the timer of the last letter has fired, that one ends the editing, and the cell stays as it was.
    """
    frame, editor = page.locator("[data-testid=stDataFrame]").nth(grid), page.locator(".gdg-input")
    box = frame.bounding_box()
    page.mouse.click(box["x"] + right, box["y"] + 53 + 35 * cell[1])
    frame.locator(f"[data-testid=glide-cell-{cell[0]}-{cell[1]}]:focus").wait_for(state="attached")
    page.keyboard.type(text[0])
    page.locator(".gdg-input:focus").wait_for()
    page.keyboard.type(text[1:])
    expect(editor).to_have_value(text)
    page.evaluate("() => new Promise((fired) => setTimeout(fired, 9))")  # after all timers that were set before
    page.keyboard.press("Enter")
    editor.wait_for(state="detached")


@pytest.mark.verify
def test_a_link_to_a_fresh_server_opens_its_page_with_its_sample_and_grids_keep_every_edit(page: Any) -> None:
    with serve(ROOT / "app.py") as address:
        page.goto(f"{address}/data?data=wine")
        page.get_by_role("heading", name="Data", exact=True).wait_for()
        page.get_by_test_id("stSidebarNav").get_by_text("Explore").wait_for()
        read = "I know these {} columns"
        page.get_by_text(read.format(13)).wait_for()
        for row in (1, 2, 3):  # below the column to predict
            _type(page, 0, 410, (3, row), str(-row))
            _type(page, 0, 480, (4, row), "5000")
            page.get_by_text(read.format(13 - row)).wait_for()
        press(page, page.get_by_role("button", name="Use this data"))
        page.get_by_text("This is the data in use").wait_for()
        press(page, page.get_by_text("Codebook or schema as a file"))
        with page.expect_download() as download:
            press(page, page.get_by_role("button", name="Download schema"))
        text = Path(download.value.path()).read_text(encoding="utf-8")
        assert re.findall(r'"low": (\S+),', text)[:3] == ["-1", "-2", "-3"]
        assert re.findall(r'"high": (\S+),', text)[:3] == ["5000"] * 3
        assert download.value.suggested_filename == "wine.schema.json"
        assert "data=" not in page.url  # an edited sample is no longer what its name would bring back
