"""A question asked backwards on the Compare page, by keyboard alone; the share map's cells by list and by mouse."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.visiting import press, settled

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
