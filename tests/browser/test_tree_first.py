"""The picture leads: where the tree starts, that it is never empty, that nothing jumps, how little is said above it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.browser.screenshots import book_releases
from tests.support.serving import ROOT, serve
from tests.support.visiting import drawn, settled

pytestmark = [pytest.mark.browser, pytest.mark.verify]

#: Pixels of a screen 900 high above the tree, words on a first screen, and pixels that anything may move by.
HIGHEST, MAX_WORDS, STILL = 320, {"tree": 110, "others": 100}, 4
SCREEN = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"}
#: Pages whose settings stand in one row above a picture.
WITH_SETTINGS = ("compare", "robustness")
#: Pages that say whom an epsilon protects, of the first sample one person.
OF_A_UNIT = ("publish", "register")
#: Words that can be seen beside pictures, tables, icons and the list of pages.
WORDS = """() => {
  const seen = [];
  const walk = (root) => {
    for (const one of root.querySelectorAll("*")) {
      if (one.shadowRoot) walk(one.shadowRoot);
      if (one.closest("svg, figure, table, style, script") || !one.checkVisibility({ visibilityProperty: true })) continue;
      if (getComputedStyle(one).fontFamily.includes("Material")) continue;
      for (const text of [...one.childNodes].filter(({ nodeType, data }) => nodeType === 3 && data.trim())) {
        const range = document.createRange();
        range.selectNodeContents(text);
        const { top, bottom, width } = range.getBoundingClientRect();
        if (width > 1 && bottom > 0 && top < innerHeight) seen.push(...text.data.trim().split(/\\s+/));
      }
    }
  };
  walk(document.querySelector("[data-testid=stMain]"));
  return seen.filter((word) => /[\\p{L}\\d]/u.test(word));
}"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The dashboard with more tables than samples, and with two releases of the first sample in its register."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPVIZ_REGISTER", "")  # as it was, afterwards
        book_releases(folder)
        with serve(Path(__file__).with_name("more_tables.py")) as served:
            yield served


def places(page: Any) -> dict[str, float]:
    """The upper edge of every node, of the frame and of the settings."""
    found = page.locator(".stage [data-path]").evaluate_all(
        "nodes => nodes.map((node) => [node.dataset.path, node.querySelector('.box').getBoundingClientRect().y])"
    )
    parts = {part: page.locator(part).first.bounding_box()["y"] for part in (".stage", ".scale", ".guarantee", ".below")}
    return dict(found) | parts


def is_high_and_nothing_is_empty(page: Any, leads: bool = True) -> None:
    """The tree starts high, if it leads, and has a branch, and little is said around it."""
    box = page.locator(".stage").bounding_box()
    assert not leads or box["y"] <= HIGHEST
    assert not leads or box["width"] * box["height"] > 1440 * 900 / 3
    assert page.locator(".stage .branch").count() >= 1
    assert len(page.evaluate(WORDS)) <= MAX_WORDS["tree"]


@pytest.mark.parametrize("table", ["clinic", "rents"])
def test_nothing_moves_when_draws_arrive_and_all_that_is_said_follows_the_slider(visit: Any, address: str, table: str) -> None:
    page = visit(**SCREEN).new_page()
    page.goto(f"{address}/?data={table}&epsilon=1")
    page.locator(".stage [data-path=root]").wait_for()
    early = places(page)
    page.locator(".spread", has_text="among them").wait_for()
    settled(page)
    late = places(page)
    assert early.keys() == late.keys()
    assert {name: (early[name], late[name]) for name in early if abs(early[name] - late[name]) > STILL} == {}
    is_high_and_nothing_is_empty(page)
    smallest = page.locator(".stage text").evaluate_all(
        "texts => Math.min(...texts.map((text) => parseFloat(getComputedStyle(text).fontSize)))"
    )
    assert smallest >= 13
    for place in range(int(page.locator(".scale").get_attribute("max")) + 1):
        page.locator(".scale").evaluate("(scale, at) => { scale.value = at; scale.dispatchEvent(new Event('input')); }", place)
        epsilon = page.locator(".exact").input_value()
        page.evaluate("new Promise(requestAnimationFrame)")
        assert f"ε = {epsilon} " in page.locator(".guarantee").inner_text()
        assert page.locator(".measured").get_attribute("aria-label").startswith(f"ε = {epsilon}: ")
        assert page.locator(".stage .branch").count() >= 1


def test_the_style_of_the_page_is_there_with_the_first_view(visit: Any, address: str) -> None:
    """The browser loads what draws each kind of element as a file of its own: the style needs none that a view does not need."""
    page = visit(**SCREEN).new_page()
    page.route("**/Html.*.js", lambda route: route.abort())
    page.goto(f"{address}/?data=clinic&epsilon=1")
    page.locator(".stage [data-path=root]").wait_for()
    assert places(page)[".stage"] <= HIGHEST


@pytest.mark.parametrize("table", ["health", "loans", "digits", "wide", "private", "few", "skewed"])
def test_no_tree_is_ever_empty_and_it_starts_as_high_on_every_table(visit: Any, address: str, table: str) -> None:
    page = visit(**SCREEN).new_page()
    page.goto(f"{address}/?data={table}&epsilon=0.3")
    page.locator(".stage [data-path=root]").wait_for()
    leads = table != "private"  # there "What to expect" does
    is_high_and_nothing_is_empty(page, leads)
    page.locator(".exact").fill("0.01")
    page.locator(".exact").press("Enter")
    page.wait_for_url("**epsilon=0.01**")
    # where least comes back, most could be folded away
    page.locator(".survives", has_text="reruns" if leads else "").wait_for()
    drawn(page)
    is_high_and_nothing_is_empty(page, leads)


def test_little_is_said_on_the_first_screens_and_settings_are_one_row_high_up(visit: Any, address: str) -> None:
    page = visit(**SCREEN).new_page()
    for place in sorted(file.stem for file in (ROOT / "pages").glob("*.py") if file.stem != "tree"):
        for table in ("health", "clinic") if place in OF_A_UNIT else ("clinic",):
            page.goto(f"{address}/{place}?data={table}&robust-draws=100&draws=3&splits=1")
            page.get_by_role("heading", level=1).wait_for()
            settled(page)
            assert len(page.evaluate(WORDS)) <= MAX_WORDS["others"], (place, table)
        if place in WITH_SETTINGS:
            box, tabs = page.locator(".st-key-settings").bounding_box(), page.get_by_role("tablist")
            above = tabs.bounding_box()["height"] + 16 if tabs.count() else 0  # with the gap below them
            assert box["y"] + box["height"] <= 170 + above, place
            assert page.get_by_test_id("stSidebar").locator("input, [role=slider], [role=combobox]").count() == 0


def test_on_a_telephone_the_root_is_on_the_first_screen_and_the_table_of_releases_fits(visit: Any, address: str) -> None:
    page = visit(viewport={"width": 390, "height": 844}, reduced_motion="reduce").new_page()
    page.goto(f"{address}/?data=clinic")
    root = page.locator(".stage [data-path=root]")
    root.wait_for()
    settled(page)
    box = root.bounding_box()
    assert box["y"] + box["height"] <= 844
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.route("**/BidiComponent.*.js", lambda route: route.abort())  # the style of every page, which may come later
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{address}/register")
        page.get_by_role("tab", name="Releases (2)").click()
        found = page.locator(".dp-rows:visible")
        found.wait_for()
        box = found.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert found.evaluate("table => [...table.querySelectorAll('td')].every((td) => td.scrollWidth <= td.clientWidth + 1)")
        assert found.locator("tbody tr").count() == 2
        named = found.locator("td").first.evaluate("cell => getComputedStyle(cell, '::before').content")
        assert (named == '"no"') == (width == 390)
