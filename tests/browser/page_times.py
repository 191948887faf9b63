"""What somebody waits for on each page, in a browser: `python -m tests.browser.page_times [PAGE ...]`, on an idle machine.

On the loan sample, in so many rounds, each after the page before has come to rest. First the first useful picture of every page,
in a session of its own with the scripts in the browser's cache, and for somebody who comes from another page by the sidebar;
beside it what it takes before the server and the browser keep anything of that page. Then Compare: its first look, everything
it computes by default, and meanwhile the first tree of another session. The exit code is 0 whether or not a target is met.
Needs a Chromium, as the pictures do.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from statistics import median
from time import monotonic
from typing import Any

from playwright.sync_api import sync_playwright

from tests.support.serving import BROWSER_ARGUMENTS, ROOT, installed_browser, serve
from tests.support.visiting import CHART, PATIENCE, PICTURES, settled, visitor

ROUNDS = 3
FIRST, COARSE, WHOLE = 2.0, 4.0, 12.0


def seconds_until(page: Any, address: str, name: str) -> float:
    """Until the first useful picture of a page is to be seen."""
    start = monotonic()
    page.goto(f"{address}/{'' if name == 'tree' else name}")
    _await_picture(page, name)
    return monotonic() - start


def _await_picture(page: Any, name: str) -> None:
    """Looks again after every frame, which a locator that waits does after half a second only."""
    picture = page.locator(PICTURES.get(name, CHART)).first
    until = monotonic() + PATIENCE / 1000
    while not picture.is_visible():
        assert monotonic() < until, name
        page.evaluate("new Promise(requestAnimationFrame)")


def main(names: list[str]) -> None:
    """Print a line per page, and three about Compare."""
    pages = names or sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
    print(f"load average before it began {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, median of {ROUNDS} rounds")
    with serve(ROOT / "app.py") as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=installed_browser(), args=BROWSER_ARGUMENTS)
        context = visitor(browser, viewport={"width": 1440, "height": 900})
        for name in pages:
            _say(f"{name}: first useful picture", FIRST, lambda name=name: _in_new_session(context, address, name))
            page = context.new_page()
            page.goto(address)
            _say(f"{name}: by the sidebar", FIRST, lambda name=name, page=page: _by_the_sidebar(page, name))
            page.close()
        if not names:
            for words, target, seconds in _compare(context, address):
                print(f"{words}: {seconds:.1f} s ({_verdict(seconds, target)})")
        browser.close()


def _say(words: str, target: float, measure: Callable[[], float]) -> None:
    first = measure()  # it fills what the server and the browser keep
    found = [measure() for _ in range(ROUNDS)]
    spread = f"{min(found):.1f} to {max(found):.1f}, before these {first:.1f}"
    print(f"{words}: {median(found):.1f} s, {spread} ({_verdict(median(found), target)})", flush=True)


def _verdict(seconds: float, target: float) -> str:
    return f"target {target:g} s {'met' if seconds <= target else 'not met'}"


def _in_new_session(context: Any, address: str, name: str) -> float:
    page = context.new_page()
    seconds = seconds_until(page, address, name)
    settled(page)
    page.close()
    return seconds


def _by_the_sidebar(page: Any, name: str) -> float:
    """From a page at rest that has no picture of this kind, which would be taken for the new one."""
    _press(page, "tree" if name == "publish" else "publish")
    settled(page)
    start = monotonic()
    _press(page, name)
    _await_picture(page, name)
    return monotonic() - start


def _press(page: Any, name: str) -> None:
    page.locator(f'[data-testid=stSidebarNavLink][href$="/{"" if name == "tree" else name}"]').click()


def _compare(context: Any, address: str) -> list[tuple[str, float, float]]:
    page, start = context.new_page(), monotonic()
    page.goto(f"{address}/compare")
    refine = page.get_by_role("button", name="Refine")
    refine.wait_for()
    coarse = monotonic() - start
    start = monotonic()
    refine.click()
    page.get_by_role("button", name="Cancel").wait_for()
    other = context.new_page()
    tree = seconds_until(other, address, "tree")
    other.close()
    page.get_by_role("button", name="Cancel").wait_for(state="detached")
    page.get_by_text("Who beats whom").wait_for()
    whole = monotonic() - start
    page.close()
    return [
        ("Compare's first look", COARSE, coarse),
        ("Compare's full default", WHOLE, whole),
        ("the first tree of another session meanwhile", FIRST, tree),
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
