"""A browser, a page in it, and the app behind an address."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.paths import ROOT
from tests.support.serving import BROWSER_ARGUMENTS, serve
from tests.support.visiting import PATIENCE, visitor

HAS_FAILED = pytest.StashKey[bool]()


@pytest.fixture(scope="module")
def chromium(browser_path: str | None) -> Iterator[Any]:
    """One browser per file. Playwright keeps an event loop running; tests that need one of their own come after it has ended."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path, args=BROWSER_ARGUMENTS)
        yield browser
        browser.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep whether a test has failed for what ends after it."""
    report = yield
    if report.when == "call":
        item.stash[HAS_FAILED] = report.failed
    return report


@pytest.fixture
def visit(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Opens sessions of their own, as `visitor` does, and ends them with the test, however that ends.

    Of a test that has failed it prints what stood on its pages: after a vain wait, that says more than the place in the test.
    """
    with ExitStack() as end:

        def visit(**look: Any) -> Any:
            context = visitor(chromium, **look)
            end.callback(leave, context)
            return context

        def leave(context: Any) -> None:
            for page in context.pages if request.node.stash.get(HAS_FAILED, False) else []:
                print(f"On {page.url}:", page.locator("body").inner_text(), sep="\n")
            context.close()

        yield visit


@pytest.fixture
def page(visit: Callable[..., Any]) -> Iterator[Any]:
    """A page of a session of its own, high enough for everything to be in view, which asks no other computer."""
    asked: list[str] = []
    opened = visit(viewport={"width": 1440, "height": 2400}).new_page()
    opened.on("request", lambda request: asked.append(request.url))
    yield opened
    assert [url for url in asked if url.startswith("http") and "//localhost" not in url] == []


@pytest.fixture(scope="session")
def app() -> Iterator[str]:
    """The address of the running dashboard."""
    with serve(ROOT / "app.py") as address:
        yield address
