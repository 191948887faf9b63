"""The Compare page: points while it computes, cancelling keeps them, a chart is saved as PNG."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.visiting import press, settled

pytestmark = [pytest.mark.browser, pytest.mark.verify]


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
