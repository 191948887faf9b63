"""Exports in a real browser, hostile names in them: they are read as texts, nothing is fetched, nothing runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from dpviz.errors import SchemaError, UnsupportedModel
from tests.support.examples import examples
from tests.support.exports_models import ATTACKS, written
from tests.support.nasty_names import NAMES, SYNTAX

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.verify]

#: Every element with the names of its attributes, and what in it could run or lead elsewhere.
SHAPE = """[...document.querySelectorAll("*")].map(part => [
  part.tagName, [...part.attributes].map(one => one.name).filter(name => /^on|href|src|action|style$/.test(name)).join(),
].join(" "))"""
TOGETHER = 20


@pytest.mark.parametrize("form", ["report", "svg"])
def test_a_report_or_picture_shows_names_and_does_nothing(page: Any, tmp_path: Path, form: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (asked.append("dialog"), dialog.dismiss()))
    file = tmp_path / ("tree.html" if form == "report" else "tree.svg")

    def shown(text: str) -> set[str]:
        file.write_text(text, encoding="utf-8")
        page.goto(file.as_uri())
        return set(page.evaluate(SHAPE))

    plain = shown(written("plain", form))

    def check(name: str) -> None:
        try:
            text = written(name, form)
        except (UnsupportedModel, SchemaError):  # there is no such name, or no such file
            return
        assert shown(text) <= plain

    for name in (*ATTACKS, *("".join(SYNTAX[start::TOGETHER]) for start in range(TOGETHER))):
        check(name)
    examples(20)(given(NAMES)(check))()
    assert set(asked) == {file.as_uri()}
