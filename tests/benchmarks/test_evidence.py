"""`evidence`: the page is the one that is stored, and everything it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.evidence import CLAIMS, ITEMS, Backed, Item, evidence_page

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "data" / "benchmarks"


def test_the_stored_page_is_the_one_that_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    again = "run: python -m benchmarks evidence --out data/benchmarks/evidence.md"
    assert (PAGES / "evidence.md").read_text() == evidence_page(), again
    assert main(["evidence"]) == 0
    assert capsys.readouterr().out == evidence_page() + "\n"


@pytest.mark.parametrize(
    "item", [pytest.param(item, id=f"{paper}, {item.name}") for paper, items in ITEMS.items() for item in items]
)
def test_an_item_is_on_its_page_or_says_why_it_is_not_here(item: Item) -> None:
    assert bool(item.page) != bool(item.not_here)
    if item.page:
        file, _, heading = item.page.partition("#")
        text = (PAGES / file).read_text()
        assert re.search(rf"^## {re.escape(heading)}(?![\w.])", text, re.MULTILINE) if heading else text


@pytest.mark.parametrize("backed", CLAIMS, ids=lambda backed: backed.claim)
def test_a_claim_is_backed_by_a_line_that_is_there(backed: Backed) -> None:
    line = f"{backed.line}(" if backed.line.startswith("def ") else backed.line
    assert line in (ROOT / backed.file).read_text()


def test_no_item_or_claim_stands_twice() -> None:
    assert all(len({item.name for item in items}) == len(items) for items in ITEMS.values())
    assert len({backed.claim for backed in CLAIMS}) == len(CLAIMS)
