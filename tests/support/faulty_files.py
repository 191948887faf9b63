"""From a faulty file and its codebook to a tree, as its owner does it: `python -m tests.support.faulty_files FOLDER [KIND ...]`.

Prints clicks and seconds, and leaves pictures of every step in FOLDER.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.support.faulty_tables import FILES, Faulty
from tests.support.owner import Owner
from tests.support.serving import BROWSER_ARGUMENTS, ROOT, installed_browser, serve
from tests.support.visiting import idle, visitor


def from_file_to_tree(owner: Owner, address: str, made: Faulty) -> None:
    """Private rows: role, file, codebook, target, row count, use, tree."""
    page = owner.page
    page.goto(f"{address}/data")
    idle(page)
    owner.click(page.get_by_text("Private", exact=True))
    page.get_by_text("From private rows only the column names are shown").wait_for()
    idle(page)
    if not made.file_name.endswith(".parquet"):
        owner.click(page.get_by_role("radiogroup").get_by_text("Column names", exact=True))
        page.get_by_text("Say first what the first line holds").wait_for(state="detached")
        idle(page)
    owner.choose("Table", made.file_name, made.content)
    page.get_by_text("Public schema").wait_for()
    owner.look("1 read")
    owner.choose("codebook", "codebook.csv", made.codebook)
    page.get_by_text("Ranges of the numbers").wait_for()
    owner.look("2 codebook")
    owner.click(page.get_by_role("combobox", name="Column to predict"))
    page.keyboard.type(made.target)
    owner.click(page.get_by_role("option", name=made.target, exact=True))
    owner.type(page.get_by_role("spinbutton", name="Public row count"), f"{made.n_rows}")
    page.get_by_text("Still missing").first.wait_for(state="detached")
    owner.look("3 declared")
    owner.click(page.get_by_role("button", name="Use this data"))
    page.get_by_text("This is the data in use").wait_for()
    owner.look("4 in use")
    owner.click(page.get_by_test_id("stSidebarNav").get_by_text("Tree", exact=True))
    page.get_by_text("Private test result", exact=True).wait_for()
    page.get_by_role("treeitem").first.wait_for()
    owner.look("5 tree")


def main(folder: Path, kinds: list[str]) -> None:
    """Drive every kind of file, and print what it took."""
    with serve(ROOT / "app.py") as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=installed_browser(), args=BROWSER_ARGUMENTS)
        for kind in kinds or list(FILES):
            made = FILES[kind]()
            pictures = folder / kind
            pictures.mkdir(parents=True, exist_ok=True)
            context = visitor(browser, viewport={"width": 1440, "height": 1600}, reduced_motion="reduce")
            owner = Owner(context.new_page(), pictures)
            try:
                from_file_to_tree(owner, address, made)
            finally:
                print(f"{kind}: {owner.clicks} clicks, {time.monotonic() - owner.began:.0f} s")
                owner.page.screenshot(path=pictures / "last.png", full_page=True)
                context.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
