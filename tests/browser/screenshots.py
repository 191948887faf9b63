"""Take the pictures of every page: `python -m tests.browser.screenshots [PAGE ...]` writes data/screenshots/, which is not kept.

1440 and 390 px wide, light and dark, on the first sample, whose register holds two releases. Needs a Chromium (DPVIZ_BROWSER, one
on the path, or Playwright's own).
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from dpviz.io.samples import load_sample
from dpviz.learners import FitRequest
from dpviz.release.register import Register
from dpviz.release.release import release
from dpviz.table.encode import encode
from dpviz.table.role import DataRole
from tests.support.serving import BROWSER_ARGUMENTS, ROOT, installed_browser, serve
from tests.support.visiting import settled, visitor

FOLDER = ROOT / "data" / "screenshots"
WIDTHS = {"wide": 1440, "narrow": 390}
TALLEST = 2600


def take(browser: Any, address: str, page_name: str, size: str) -> list[Path]:
    """Both pictures of a page at one width, light and dark, of one session; their paths."""
    width = WIDTHS[size]
    context = visitor(browser, viewport={"width": width, "height": 900}, color_scheme="light", reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{address}/{'' if page_name == 'tree' else page_name}")
    page.get_by_role("heading", level=1).first.wait_for()
    _settle(page)
    height = page.evaluate("document.querySelector('[data-testid=stMain] > *').scrollHeight")
    page.set_viewport_size({"width": width, "height": min(height + 20, TALLEST)})
    paths = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        _settle(page)
        paths.append(FOLDER / f"{page_name}-{size}-{scheme}.png")
        page.screenshot(path=paths[-1], animations="disabled")
    context.close()
    return paths


def _settle(page: Any) -> None:
    page.wait_for_load_state("networkidle")
    settled(page)
    page.evaluate("document.fonts.ready")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def book_releases(folder: str) -> None:
    """A register with two releases of the first sample; the server uses it instead of the user's own."""
    os.environ["DPVIZ_REGISTER"] = str(Path(folder) / "releases.db")
    register, data = Register(), encode(*load_sample("health"))
    register.declare("Health check", epsilon_cap=3.0, unit="one person", role=DataRole.SIMULATED)
    register.assign(data.fingerprint, "Health check")
    for epsilon in (0.5, 0.8):
        release(register, "Health check", FitRequest.of("pf-tree", epsilon=epsilon), data)


def main(names: list[str]) -> None:
    """Take the pictures of these pages, all by default."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        book_releases(folder)
        with serve(ROOT / "app.py") as address, sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=installed_browser(), args=BROWSER_ARGUMENTS)
            for name in names or sorted(path.stem for path in (ROOT / "pages").glob("*.py")):
                for size in WIDTHS:
                    for path in take(browser, address, name, size):
                        print(path.relative_to(ROOT), flush=True)
            browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
