"""What somebody waits for on each page, in a browser: `python -m tests.browser.page_times [PAGE ...]`, on an idle machine.

Each after the page before has come to rest. First the first useful picture of every page in a session of its own with the scripts
in the browser's cache, as a ratio to a page of Streamlit alone with one chart of Plotly, in the same round; then for somebody who
comes from another page by the sidebar. Then Compare: its first look, everything it computes by default, and meanwhile the first
tree of another session. Last another depth of the tree, with twenty sessions, five of which compare. The exit code is 0 whether
or not a target is met. Needs a Chromium, as the pictures do.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from playwright.sync_api import sync_playwright

from tests.support.serving import BROWSER_ARGUMENTS, ROOT, installed_browser, serve
from tests.support.visiting import CHART, PATIENCE, PICTURES, settled, visitor

ROUNDS = 5
#: The largest ratio to the bare page, by page; seconds from another page, of Compare and of another depth with many sessions.
RATIOS, OTHER_PAGES = {"tree": 1.1, "data": 1.1}, 1.4
BY_THE_SIDEBAR, FIRST, COARSE, WHOLE, CHANGE = 0.5, 2.0, 3.0, 20.0, 1.0
SESSIONS = 20
#: What five of them ask Compare for: answers of a sample are shared between sessions, so each asks for more than all before.
COMPARING = ("draws=10", "draws=20", "draws=30", "draws=50", "draws=100")
BARE = """import plotly.graph_objects as go
import streamlit as st

st.plotly_chart(go.Figure(go.Scatter(x=[1, 2], y=[1, 2])))
"""


def seconds_until(page: Any, address: str, name: str) -> float:
    """Until the first useful picture of a page is to be seen."""
    start = monotonic()
    page.goto(f"{address}/{'' if name == 'tree' else name}")
    _await(page, page.locator(PICTURES.get(name, CHART)).first)
    return monotonic() - start


def _await(page: Any, picture: Any) -> None:
    """Looks again after every frame, which a locator that waits does after half a second only."""
    until = monotonic() + PATIENCE / 1000
    while not picture.is_visible():
        assert monotonic() < until, picture
        page.evaluate("new Promise(requestAnimationFrame)")


def main(names: list[str]) -> None:
    """Print two lines per page, three about Compare and one about many sessions."""
    pages = names or sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
    print(f"load average before it began {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, median of {ROUNDS} rounds")
    with TemporaryDirectory() as folder, sync_playwright() as driver:
        bare = Path(folder, "bare.py")
        bare.write_text(BARE)
        with serve(ROOT / "app.py") as address, serve(bare) as beside:
            browser = driver.chromium.launch(executable_path=installed_browser(), args=BROWSER_ARGUMENTS)
            context = visitor(browser, viewport={"width": 1440, "height": 900})
            for name in pages:
                _first_pictures(context, address, beside, name)
                page = context.new_page()
                page.goto(address)
                _say(f"{name}: by the sidebar", BY_THE_SIDEBAR, lambda name=name, page=page: _by_the_sidebar(page, name))
                page.close()
            if not names:
                for measure in (_compare, _with_many_sessions):
                    for words, target, seconds in measure(context, address):
                        print(f"{words}: {seconds:.2f} s ({_verdict(seconds, target)})", flush=True)
            browser.close()


def _first_pictures(context: Any, address: str, beside: str, name: str) -> None:
    cold = _in_new_session(context, address, name)  # it fills what the server and the browser keep
    _in_new_session(context, beside, "bare")
    rounds = [(_in_new_session(context, address, name), _in_new_session(context, beside, "bare")) for _ in range(ROUNDS)]
    ratio, target = median(own / bare for own, bare in rounds), RATIOS.get(name, OTHER_PAGES)
    own, bare = (median(seconds) for seconds in zip(*rounds, strict=True))
    times = f"{own:.2f} s beside {bare:.2f} s, before these {cold:.2f} s"
    verdict = "met" if ratio <= target else "not met"
    print(f"{name}: first useful picture {ratio:.2f} times the bare page, {times} (target {target:g} {verdict})", flush=True)


def _say(words: str, target: float, measure: Callable[[], float]) -> None:
    first = measure()  # it fills what the server and the browser keep
    found = [measure() for _ in range(ROUNDS)]
    spread = f"{min(found):.2f} to {max(found):.2f}, before these {first:.2f}"
    print(f"{words}: {median(found):.2f} s, {spread} ({_verdict(median(found), target)})", flush=True)


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
    picture = PICTURES.get(name, CHART)
    _press(page, "publish" if picture == PICTURES["tree"] else "tree")
    settled(page)
    assert not page.locator(picture).first.is_visible(), name
    start = monotonic()
    _press(page, name)
    _await(page, page.locator(PICTURES.get(name, CHART)).first)
    return monotonic() - start


def _press(page: Any, name: str) -> None:
    page.locator(f'[data-testid=stSidebarNavLink][href$="/{"" if name == "tree" else name}"]').click()


def _compare(context: Any, address: str) -> list[tuple[str, float, float]]:
    page, start = context.new_page(), monotonic()
    page.goto(f"{address}/compare?data=clinic")  # nobody has asked for it before
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


def _with_many_sessions(context: Any, address: str) -> list[tuple[str, float, float]]:
    comparing = [context.new_page() for _ in COMPARING]
    trees = [context.new_page() for _ in range(SESSIONS - len(COMPARING))]
    for page in trees:
        page.goto(address)
        settled(page)
    for page, more in zip(comparing, COMPARING, strict=True):
        page.goto(f"{address}/compare?{more}")
        page.get_by_role("button", name="Refine").click()
        page.get_by_role("button", name="Cancel").wait_for()
    found = [_another_depth(page, depth) for depth in (3, 2) for page in trees]
    for page in (*comparing, *trees):
        page.close()
    words = f"another depth, {SESSIONS} sessions, {len(COMPARING)} comparing: median {median(found):.2f} s, 95 of 100 within"
    return [(words, CHANGE, quantiles(found, n=20)[-1])]


def _another_depth(page: Any, depth: int) -> float:
    """From the choice, which does not wait for work on the depth before.

    In front: a page behind others gets one frame a second, and a click waits for two.
    """
    page.bring_to_front()
    page.get_by_role("combobox", name="Depth").click()
    option = page.get_by_role("option", name=str(depth)).first
    option.wait_for()
    start = monotonic()
    option.click()
    _await(page, page.locator(f'[aria-label*=", depth {depth},"]').first)
    return monotonic() - start


if __name__ == "__main__":
    main(sys.argv[1:])
