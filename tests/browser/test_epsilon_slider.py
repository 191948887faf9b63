"""The control of epsilon in a browser, without a server: what somebody types while messages come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpviz.app import epsilon_slider as module

pytestmark = [pytest.mark.browser, pytest.mark.verify]

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
