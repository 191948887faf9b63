"""A browser, a page in it, and the app behind an address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.serving import BROWSER_ARGUMENTS, serve
from tests.browser.visiting import visitor
from tests.conftest import ROOT


@pytest.fixture(scope="session")
def chromium(browser_path: str | None) -> Iterator[Any]:
    """One browser for all browser tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path, args=BROWSER_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page of a session of its own, high enough for everything to be in view."""
    context = visitor(chromium, viewport={"width": 1440, "height": 2400})
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def app() -> Iterator[str]:
    """The address of the running dashboard."""
    with serve(ROOT / "app.py") as address:
        yield address
