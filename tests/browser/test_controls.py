"""Controls in a browser: a question asked backwards by keyboard alone, cells of the share map, grips, pinned trees, work that is
cancelled, files while a page is drawn anew, what somebody types while messages come.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dpviz.app import epsilon_slider as module
from tests.support.visiting import idle, open_downloads, press, settled

pytestmark = [pytest.mark.browser, pytest.mark.verify]


def _tab_to(page: Any, found: Any) -> None:
    """Press Tab until `found` has the focus."""
    for _ in range(150):
        if found.evaluate("element => element === document.activeElement || element.contains(document.activeElement)"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("not reached by keyboard")


def test_a_question_is_asked_and_answered_by_keyboard_alone(page: Any, app: str) -> None:
    page.goto(f"{app}/plan?data=clinic&wish-accuracy=70&sure=80")
    button = page.get_by_role("button", name="Find the answer")
    button.wait_for()
    press(page, page.get_by_role("button", name="Compute the three curves"))
    page.get_by_text("The middle tree is right on").wait_for()
    press(page, button)
    page.get_by_text("All of this holds together with").wait_for()
    settled(page)
    _tab_to(page, page.get_by_role("spinbutton", name="Accuracy, %"))
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.get_by_text("what is shown is stale").wait_for()
    settled(page)
    _tab_to(page, button)
    page.keyboard.press("Enter")
    page.get_by_text("what is shown is stale").wait_for(state="detached")
    page.get_by_text(re.compile(r"of 100 guesses about .* may be right: ε = [\d.]+ \(add/remove one row\) is enough")).wait_for()
    slider = page.get_by_role("slider", name="ε (add/remove one row)")
    before = slider.get_attribute("aria-valuetext")
    slider.focus()
    for _ in range(3):  # .8, .65, .5
        page.keyboard.press("ArrowLeft")
    page.get_by_text("at ε = 0.5").first.wait_for()
    assert slider.get_attribute("aria-valuetext") != before
    settled(page)
    assert page.get_by_text("what is shown is stale").count() == 0  # the cursor moves, nothing is computed anew


def test_a_cell_of_the_share_map_is_used_by_list_and_by_mouse(page: Any, app: str) -> None:
    page.goto(f"{app}/budget?data=clinic&depth=3&pf-tree.lookahead=1")  # three choices: a triangle
    _open_the_map(page)
    cells = page.locator("[class*=st-key-lab-map] .scatterlayer path.point")
    cells.first.wait_for()
    settled(page)
    assert cells.count() >= 36
    in_use = page.locator("[class*=st-key-lab-map]").get_by_text("in use")
    assert in_use.count() == 0
    cells.nth(5).scroll_into_view_if_needed()
    box = cells.nth(5).bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)  # a layer of plotly's lies above
    in_use.wait_for()
    press(page, page.get_by_role("button", name="Use these shares"))
    press(page, page.locator("summary", has_text="Where does ε go?"))
    page.get_by_text("node, node and leaf: set by you").wait_for()


def _open_the_map(page: Any) -> None:
    box = page.locator("summary", has_text="Would other shares of ε do better?")
    box.wait_for()
    settled(page)  # the page may be drawn anew until then
    box.click()


def test_a_grip_on_the_bar_is_moved_by_mouse_and_by_keyboard_and_the_rule_comes_back(page: Any, app: str) -> None:
    page.goto(f"{app}/?data=clinic&depth=3&pf-tree.lookahead=1")
    first = page.get_by_role("slider", name="Shares of depth 0 and depth 1")
    first.wait_for()
    settled(page)
    by_rule = first.get_attribute("aria-valuenow")
    first.evaluate("grip => grip.scrollIntoView({block: 'center'})")
    box = first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + box["height"] / 2, steps=6)
    moved = first.get_attribute("aria-valuenow")
    page.mouse.up()
    page.get_by_role("button", name="Shares by the rule").wait_for()
    settled(page)
    assert int(first.get_attribute("aria-valuenow")) == int(moved) > int(by_rule)
    first.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(600)  # keys held down are one choice
    settled(page)
    assert int(first.get_attribute("aria-valuenow")) == int(moved) - 2
    assert first.evaluate("grip => grip === grip.getRootNode().activeElement")
    press(page, page.get_by_role("button", name="Shares by the rule"))
    page.get_by_role("button", name="Shares by the rule").wait_for(state="hidden")
    settled(page)
    assert first.get_attribute("aria-valuenow") == by_rule


def _trees(page: Any) -> list[str]:
    return page.get_by_role("tree").evaluate_all("trees => trees.map((tree) => tree.getAttribute('aria-label'))")


def _press(page: Any, name: str) -> None:
    button = page.get_by_role("button", name=name, exact=True)
    button.focus()
    button.press("Enter")


def _pinned(page: Any, address: str, epsilon: str) -> None:
    """Pin the tree of an address, and choose another epsilon."""
    page.goto(address)
    page.get_by_role("button", name="Pin this tree").wait_for()
    idle(page)
    _press(page, "Pin this tree")
    page.get_by_text("the next tree is shown next to the pinned one").wait_for()
    exact = page.get_by_role("spinbutton", name="ε, exactly")
    exact.fill(epsilon)
    exact.press("Enter")
    page.get_by_role("tree", name=f"Now: PF-tree, ε = {epsilon}, depth 2, seed 1").wait_for()


def test_a_pinned_tree_stands_beside_the_next(visit: Any, app: str) -> None:
    page = visit(viewport={"width": 1440, "height": 1400}).new_page()
    _pinned(page, f"{app}/?data=clinic&depth=2&epsilon=2", "0.5")
    assert _trees(page) == ["Pinned: PF-tree, ε = 2, depth 2, seed 1", "Now: PF-tree, ε = 0.5, depth 2, seed 1"]
    settled(page)  # the two are measured one after the other
    first, second = (tree.bounding_box() for tree in page.get_by_role("tree").all())
    assert first["x"] + first["width"] <= second["x"]

    # each tree is reached by Tab, and arrows stay in it
    page.get_by_role("tree").nth(0).locator("[data-path=root]").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    inside = "() => { const at = document.activeElement.shadowRoot.activeElement; return at.closest('[role=tree]').ariaLabel; }"
    assert page.evaluate(inside).startswith("Pinned")
    page.keyboard.press("Tab")
    assert page.evaluate(inside).startswith("Now")
    idle(page)
    _press(page, "Unpin")
    page.get_by_role("button", name="Pin this tree").wait_for()

    narrow = visit(viewport={"width": 390, "height": 1400}, color_scheme="dark", reduced_motion="reduce").new_page()
    _pinned(narrow, f"{app}/?data=clinic&depth=2&epsilon=0.5", "2")
    assert [name.partition(":")[0] for name in _trees(narrow)] == ["Now", "Pinned"]
    settled(narrow)
    above, below = (tree.bounding_box() for tree in narrow.get_by_role("tree").all())
    assert above["y"] + above["height"] <= below["y"]
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 390


def test_points_come_while_it_computes_and_cancelling_keeps_them(page: Any, app: str) -> None:
    page.goto(f"{app}/compare?data=clinic&draws=100&splits=10")
    page.get_by_text("A first look").wait_for()
    page.locator(".js-plotly-plot").first.wait_for()
    settled(page)
    with page.expect_download() as saved:
        press(page, page.locator(".st-key-curves .modebar-btn"))
    assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")
    assert saved.value.suggested_filename == "compare-epsilon-curves.png"
    page.get_by_role("button", name=re.compile("Refine: .* fits")).click()
    page.get_by_text(re.compile(r"Computing, [\d,]+ of [\d,]+ fits")).wait_for()
    page.locator(".js-plotly-plot").first.wait_for()  # a figure while the work goes on
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("The curves below show what is done.").wait_for()
    page.locator(".js-plotly-plot").first.wait_for()
    page.get_by_role("button", name=re.compile("Go on with .* fits")).wait_for()


_WHILE_STALE = """button => {
  const box = button.closest("[data-stale]"), now = getComputedStyle(button).pointerEvents;
  box.setAttribute("data-stale", "true");
  const then = getComputedStyle(button).pointerEvents;
  box.setAttribute("data-stale", "false");
  return [now, then];
}"""


def test_a_file_cannot_be_taken_while_the_page_is_drawn_anew_for_other_settings(page: Any, app: str) -> None:
    page.goto(f"{app}/?data=clinic&epsilon=0.5&depth=3&draw=7")
    open_downloads(page)
    button = page.get_by_role("button", name="Download simulation (JSON)")
    button.wait_for()
    idle(page)
    assert button.evaluate(_WHILE_STALE) == ["auto", "none"]


SOURCE = Path(module.__file__)
SHOW = """async (code) => {
  const view = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  window.sent = [];
  const setTriggerValue = (name, value) => window.sent.push(value);
  window.show = (epsilon) =>
    view.default({ data: { steps: [0.1, 1, 10], at: 1, epsilon }, parentElement: document.body, setTriggerValue });
  window.show(1);
}"""


def test_what_is_typed_stays_until_it_is_chosen(page: Any) -> None:
    """The first tree arrives while somebody types: once, the box said 1 again and Enter chose that."""
    page.set_content(SOURCE.with_suffix(".html").read_text(encoding="utf-8"))
    page.evaluate(SHOW, SOURCE.with_suffix(".js").read_text(encoding="utf-8"))
    exact = page.get_by_role("spinbutton", name="ε, exactly")
    exact.fill("2.5")
    page.evaluate("show(1)")
    exact.press("Enter")
    page.wait_for_function("sent.length > 0")
    assert page.evaluate("sent") == [2.5]
    page.evaluate("show(3)")
    assert exact.input_value() == "3"
    exact.fill("-1")  # nothing that can be chosen
    exact.blur()
    page.evaluate("show(3)")
    assert exact.input_value() == "3"
