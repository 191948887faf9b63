"""Reports and exports in a real browser: names are read as texts, nothing is fetched, nothing runs; letters are large enough, and
all text stays in its place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import dpviz
from dpviz.charts.publish.report import SignatureLine, report_html
from dpviz.errors import SchemaError, UnsupportedError
from dpviz.io.exports.contract import ExportInput
from dpviz.io.samples import load_sample
from tests.support.examples import examples
from tests.support.exports_models import ATTACKS, written
from tests.support.nasty_names import NAMES, SYNTAX

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.verify]

#: Every element with the names of its attributes, and what in it could run or lead elsewhere.
SHAPE = """[...document.querySelectorAll("*")].map(part => [
  part.tagName, [...part.attributes].map(one => one.name).filter(name => /^on|href|src|action|style$/.test(name)).join(),
].join(" "))"""
TOGETHER = 20


@pytest.mark.parametrize("form", ["report", "svg"])
def test_a_report_or_picture_shows_names_and_does_nothing(page: Any, tmp_path: Path, form: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (asked.append("dialog"), dialog.dismiss()))
    file = tmp_path / ("tree.html" if form == "report" else "tree.svg")

    def shown(text: str) -> set[str]:
        file.write_text(text, encoding="utf-8")
        page.goto(file.as_uri())
        return set(page.evaluate(SHAPE))

    plain = shown(written("plain", form))

    def check(name: str) -> None:
        try:
            text = written(name, form)
        except (UnsupportedError, SchemaError):  # there is no such name, or no such file
            return
        assert shown(text) <= plain

    for name in (*ATTACKS, *("".join(SYNTAX[start::TOGETHER]) for start in range(TOGETHER))):
        check(name)
    examples(20)(given(NAMES)(check))()
    assert set(asked) == {file.as_uri()}


WIDE, NARROW = '"DejaVu Sans Mono", monospace', '"Liberation Sans Narrow", "Arial Narrow", sans-serif'
#: Pixels of A4 between margins of 16 mm.
PAGE = {"width": 673, "height": 1001}
OUTSIDE = """() => {
  const outside = [], place = node => node.getBoundingClientRect();
  const check = (inner, outer, words) => {
    if (inner.left < outer.left - 0.6 || inner.right > outer.right + 0.6) outside.push(words);
  };
  for (const text of document.querySelectorAll("svg text")) {
    const around = text.closest("g.node")?.querySelector(".box") ?? text.closest("figure > svg");
    if (place(text).width) check(place(text), place(around), text.textContent);
  }
  const words = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const node = words.currentNode, range = document.createRange();
    if (node.parentElement.closest("svg")) continue;
    range.selectNodeContents(node);
    const around = node.parentElement.closest("td, th, .signature > p, .columns > section, .verdict, main");
    for (const line of range.getClientRects()) check(line, place(around), node.textContent);
  }
  return outside;
}"""
WIDTH = """() => {
  const probe = document.createElement("span");
  probe.textContent = "fill it in";
  document.body.append(probe);
  const width = probe.getBoundingClientRect().width;
  probe.remove();
  return width;
}"""
#: Of all text that shows, the height of the smallest in points.
SMALLEST = """() => {
  const words = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT), sizes = [];
  while (words.nextNode()) {
    const node = words.currentNode.parentElement;
    if (!words.currentNode.textContent.trim() || !node.checkVisibility() || node.closest("title, style")) continue;
    sizes.push(parseFloat(getComputedStyle(node).fontSize) * (node.getScreenCTM?.().d ?? 1) * 0.75);
  }
  return Math.min(...sizes);
}"""


@pytest.fixture(scope="module")
def report() -> str:
    """Of a tree with names that are cut and more levels than a page has room for, and of a data set with a long name."""
    data = dpviz.encode(*load_sample("loans"))
    given = ExportInput(dpviz.fit("pf-tree", data, epsilon=5.0, max_depth=6, seed=3).to_json())
    return report_html(
        given, SignatureLine("Loan applications at the savings bank of the whole district", "2026-01-31", "Officer")
    )


def printed(page: Any, report: str, font: str) -> None:
    page.emulate_media(media="print")
    page.set_content(report)
    page.add_style_tag(content=f"* {{ font-family: {font} !important }}")


def test_text_stays_in_its_place_in_any_font_and_no_letter_is_too_small_to_read(visit: Any, report: str) -> None:
    page, widths = visit(viewport=PAGE).new_page(), []
    for font in (WIDE, NARROW):
        printed(page, report, font)
        assert page.evaluate(OUTSIDE) == []
        widths.append(page.evaluate(WIDTH))
    assert widths[0] > 1.3 * widths[1]
    printed(page, report.replace("textLength=", "data-was="), WIDE)
    assert page.evaluate(OUTSIDE)  # what leaves its place is noticed
    page.set_content(report)
    assert 7 <= page.evaluate(SMALLEST) < 9
    assert page.evaluate(OUTSIDE) == []
    assert page.locator(".annex").evaluate("node => node.getBoundingClientRect().top") <= PAGE["height"]  # page one is one page
