"""The export section in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.visiting import idle, open_downloads

pytestmark = [pytest.mark.browser, pytest.mark.verify]


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
