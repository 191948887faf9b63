"""Terms of the glossary are marked where a page uses them first, explained under the pointer, and listed below; Help is there."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.visiting import idle

pytestmark = [pytest.mark.browser, pytest.mark.verify]

MARKED = "CSS.highlights.get('dpviz-term')?.size ?? 0"


def test_a_term_is_marked_explained_and_listed(page: Any, app: str) -> None:
    page.goto(f"{app}/epsilon")
    idle(page)
    page.wait_for_function(f"{MARKED} > 3")
    terms = page.evaluate("[...CSS.highlights.get('dpviz-term')].map(String)")
    assert "ε" in terms
    assert len(terms) == len({term.lower() for term in terms})
    x, y = page.evaluate(
        """() => {
        const range = [...CSS.highlights.get('dpviz-term')].find((one) => String(one) === 'ε');
        const box = range.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    }"""
    )
    page.mouse.move(x, y)
    assert "privacy loss" in page.locator(".words .tip").inner_text()
    page.mouse.move(2, 2)
    assert not page.locator(".words .tip").is_visible()
    page.get_by_text("Words on this page").click()
    assert page.locator(".words dt").count() == len(terms)


def test_help_leads_to_the_page_or_says_how_to_build_it(page: Any, app: str) -> None:
    page.goto(f"{app}/plan")
    link = page.get_by_role("link", name="Help")
    address = link.get_attribute("href")
    assert address.endswith("manual/how-to/choose-epsilon.html")
    found = page.request.get(f"{app}/manual/how-to/choose-epsilon.html")
    assert (found.status, "Choose ε" in found.text()) == (200, True) or (found.status, "make docs" in found.text()) == (404, True)
