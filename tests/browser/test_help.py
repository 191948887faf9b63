"""Help of a page, and the glossary, are one click away."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.verify]


@pytest.mark.parametrize(
    ("name", "file", "said"), [("Help", "how-to/choose-epsilon", "Choose ε"), ("Glossary", "reference/glossary", "privacy loss")]
)
def test_it_leads_to_the_page_or_says_how_to_build_it(page: Any, app: str, name: str, file: str, said: str) -> None:
    page.goto(f"{app}/plan")
    assert page.get_by_role("link", name=name).get_attribute("href").endswith(f"manual/{file}.html")
    found = page.request.get(f"{app}/manual/{file}.html")
    assert (found.status, said in found.text()) == (200, True) or (found.status, "make docs" in found.text()) == (404, True)
