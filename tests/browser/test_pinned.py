"""Two trees at once in a real browser: pin, choose another epsilon, unpin; on a telephone; by keyboard too."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.visiting import idle, settled

pytestmark = [pytest.mark.browser, pytest.mark.verify]


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
