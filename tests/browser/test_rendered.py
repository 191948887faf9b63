"""Exports in a real browser, names from nasty files in them: they are read as texts, nothing is fetched, nothing runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from dpviz.errors import NotExported, SchemaError
from tests.io.test_export_syntax import NAMES as ATTACKS
from tests.io.test_export_syntax import written
from tests.support.examples import examples
from tests.support.nasty_names import NAMES, SYNTAX

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.verify]

#: Every element with the names of its attributes, and what in it could run or lead elsewhere.
SHAPE = """[...document.querySelectorAll("*")].map(part => [
  part.tagName, [...part.attributes].map(one => one.name).filter(name => /^on|href|src|action|style$/.test(name)).join(),
].join(" "))"""
TOGETHER = 20


def exported(name: str, form: str) -> str | None:
    try:
        return written(name, form)
    except (NotExported, SchemaError):  # there is no such name, or no such file
        return None


def names_for(check: Any, count: int) -> None:
    """Calls `check` with every attack, every piece of syntax and made-up names."""
    for name in (*ATTACKS, *("".join(SYNTAX[start::TOGETHER]) for start in range(TOGETHER))):
        check(name)
    examples(count)(given(NAMES)(check))()


@pytest.fixture
def asked(page: Any) -> list[str]:
    """What the page asks for, and what it says or does on its own."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url))
    page.on("dialog", lambda dialog: (found.append("dialog"), dialog.dismiss()))
    return found


@pytest.mark.parametrize("form", ["report", "svg"])
def test_a_report_or_picture_shows_names_and_does_nothing(page: Any, asked: list[str], tmp_path: Path, form: str) -> None:
    file = tmp_path / ("tree.html" if form == "report" else "tree.svg")

    def shown(text: str) -> set[str]:
        file.write_text(text, encoding="utf-8")
        page.goto(file.as_uri())
        return set(page.evaluate(SHAPE))

    plain = shown(written("plain", form))
    asked.clear()

    def check(name: str) -> None:
        text = exported(name, form)
        assert text is None or shown(text) <= plain

    names_for(check, 20)
    assert set(asked) == {file.as_uri()}
