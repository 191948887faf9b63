"""The export section and the session file in a real browser: what is downloaded runs."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dpviz.io.exports.sql import TABLE, identifier
from dpviz.io.samples import load_sample
from tests.support.visiting import choose, downloaded, idle, open_downloads

pytestmark = [pytest.mark.browser, pytest.mark.verify]


def _open_tree(page: Any, app: str) -> None:
    page.goto(f"{app}/?data=clinic&epsilon=0.5&depth=3&draw=7")
    open_downloads(page)


def _downloaded(page: Any, button: str, folder: Path) -> Path:
    found = downloaded(page, button)
    path = folder / found.suggested_filename
    found.save_as(path)
    return path


def test_downloaded_sql_runs_and_nothing_else_is_fetched(page: Any, app: str, tmp_path: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    _open_tree(page, app)
    choose(page, "Export format", "SQL for SQLite")
    sql = _downloaded(page, "Download simulation (SQL for SQLite)", tmp_path).read_text(encoding="utf-8")
    names = load_sample("clinic")[1].feature_names
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE {TABLE} ({', '.join(map(identifier, names))})")
    base.execute(f"INSERT INTO {TABLE} DEFAULT VALUES")
    assert len(base.execute(sql).fetchall()) == 1
    assert not [url for url in asked if not url.startswith((app, "data:", "blob:"))]


_WHILE_STALE = """button => {
  const box = button.closest("[data-stale]"), now = getComputedStyle(button).pointerEvents;
  box.setAttribute("data-stale", "true");
  const then = getComputedStyle(button).pointerEvents;
  box.setAttribute("data-stale", "false");
  return [now, then];
}"""


def test_a_file_cannot_be_taken_while_the_page_is_drawn_anew_for_other_settings(page: Any, app: str) -> None:
    _open_tree(page, app)
    button = page.get_by_role("button", name="Download simulation (JSON)")
    button.wait_for()
    idle(page)
    assert button.evaluate(_WHILE_STALE) == ["auto", "none"]
