"""Take the pictures of every page: `python -m tests.browser.screenshots [PAGE ...]` writes data/screenshots/.

1440 and 390 px wide, light and dark, on the loan sample. README shows some of them. Needs a Chromium (DPVIZ_BROWSER, one on the
path, or Playwright's own).
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.browser.serving import BROWSER_ARGUMENTS, ROOT, serve

FOLDER = ROOT / "data" / "screenshots"
WIDTHS = {"wide": 1440, "narrow": 390}
TALLEST = 2600
COLOURS = 128  # of a palette: a page of flat colours loses nothing visible


def pages() -> list[str]:
    """Every page by name, in the order of the files."""
    return sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


def take(browser: Any, address: str, page_name: str, size: str, scheme: str) -> Path:
    """One picture of one page; its path."""
    width = WIDTHS[size]
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{address}/{'' if page_name == 'tree' else page_name}")
    page.get_by_role("heading", level=1).first.wait_for()
    _settle(page)
    height = page.evaluate("document.querySelector('[data-testid=stMain] > *').scrollHeight")
    page.set_viewport_size({"width": width, "height": min(height + 20, TALLEST)})
    _settle(page)
    path = FOLDER / f"{page_name}-{size}-{scheme}.png"
    page.screenshot(path=path, animations="disabled")
    context.close()
    _shrink(path)
    return path


def _settle(page: Any) -> None:
    page.wait_for_load_state("networkidle")
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    busy = "[data-testid=stSkeleton], [data-stale=true], [data-testid=stProgress]"
    page.wait_for_function(f"!document.querySelector('{busy}')", timeout=300_000)
    page.evaluate("document.fonts.ready")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def _shrink(path: Path) -> None:
    from PIL import Image

    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def main(names: list[str]) -> None:
    """Take the pictures of these pages, all by default."""
    FOLDER.mkdir(exist_ok=True)
    binary = os.environ.get("DPVIZ_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
    with serve(ROOT / "app.py") as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=binary, args=BROWSER_ARGUMENTS)
        for name in names or pages():
            for size in WIDTHS:
                for scheme in ("light", "dark"):
                    print(take(browser, address, name, size, scheme).relative_to(ROOT))
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
