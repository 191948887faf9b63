"""Take the pictures of every page: `python -m tests.browser.screenshots [PAGE ...]` writes data/screenshots/, which is not kept.

1440 and 390 px wide, light and dark, on the first sample, whose register holds two releases. `report`
is the printed report of the second: page one, and the first page of the annexes, on A4. Needs a Chromium (DPVIZ_BROWSER, one on
the path, or Playwright's own).
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from dpviz.charts.publish.report import SignatureLine, report_html
from dpviz.io.exports.contract import ExportInput
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
#: Pixels of a sheet.
A4 = {"width": 794, "height": 1123}
COLOURS = 128  # of a palette: a page of flat colours loses nothing visible


def pages() -> list[str]:
    """Every page by name, in the order of the files."""
    return sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


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
        _shrink(paths[-1])
    context.close()
    return paths


def print_report(browser: Any) -> Iterator[Path]:
    """Pictures of two pages of the report as it is printed; their paths."""
    entry = Register().releases()[1]
    signed = SignatureLine(entry.data_set, entry.finished[:10], "The statistician of the health check")
    page = browser.new_page(viewport=A4)
    page.emulate_media(media="print")
    page.set_content(report_html(ExportInput(Path(entry.file).read_text(encoding="utf-8")), signed))
    page.add_style_tag(content="body { padding: 16mm }")
    for number, others in ((1, ".annex, .annex ~ *"), (2, "main > :has(~ .annex)")):
        hidden = page.add_style_tag(content=f"{others} {{ display: none }}")
        path = FOLDER / f"report-page-{number}.png"
        page.screenshot(path=path)
        hidden.evaluate("tag => tag.remove()")
        _shrink(path)
        yield path
    page.close()


def _settle(page: Any) -> None:
    page.wait_for_load_state("networkidle")
    settled(page)
    page.evaluate("document.fonts.ready")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def _shrink(path: Path) -> None:
    from PIL import Image

    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


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
    with tempfile.TemporaryDirectory() as folder:
        book_releases(folder)
        _take_all(names)


def _take_all(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    with serve(ROOT / "app.py") as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=installed_browser(), args=BROWSER_ARGUMENTS)
        if "report" in names or not names:
            for path in print_report(browser):
                print(path.relative_to(ROOT))
        for name in [name for name in names if name != "report"] or ([] if names else pages()):
            for size in WIDTHS:
                for path in take(browser, address, name, size):
                    print(path.relative_to(ROOT), flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
