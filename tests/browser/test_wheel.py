"""The installed dashboard in a real browser: opened from an empty folder, it is the one of the clone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from playwright.sync_api import expect

from tests.support.installing import build_wheel, clean_environment, install
from tests.support.serving import running
from tests.support.visiting import downloaded, idle, open_downloads

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.verify]

TREE = "?data=clinic&epsilon=0.5&depth=3&draw=7"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `dpviz app` after `pip install "dpviz[app]"`, started in an empty folder."""
    programs = install(build_wheel(tmp_path_factory.mktemp("wheel")), tmp_path_factory.mktemp("installed"), {"app"})
    command = [str(programs / "dpviz"), "app", "--no-browser", "--port"]
    with running(command, tmp_path_factory.mktemp("empty"), clean_environment()) as address:
        yield address


def test_it_answers(installed: str) -> None:
    assert urlopen(f"{installed}/_stcore/health").read() == b"ok"


def _downloaded_tree(page: Any, address: str) -> bytes:
    page.goto(f"{address}/{TREE}")
    open_downloads(page)
    return Path(downloaded(page, "Download simulation (JSON)").path()).read_bytes()


def test_a_sample_gives_the_tree_it_gives_in_the_clone(page: Any, installed: str, app: str) -> None:
    assert _downloaded_tree(page, installed) == _downloaded_tree(page, app)


def test_the_settings_hold_wherever_it_is_started(page: Any, installed: str) -> None:
    outside: list[str] = []
    page.on("request", lambda request: outside.append(request.url) if "//localhost" not in request.url else None)
    page.goto(f"{installed}/{TREE}")
    heading = page.get_by_role("heading").first
    heading.wait_for()
    idle(page)
    assert heading.evaluate("heading => getComputedStyle(heading).fontWeight") == "650"
    expect(page.get_by_test_id("stAppDeployButton")).to_have_count(0)
    assert outside == []


def test_the_stored_verdicts_are_shown(page: Any, installed: str, app: str) -> None:
    shown = []
    for address in (installed, app):
        page.goto(f"{address}/audit")
        idle(page)
        shown.append(page.get_by_text("stored run").first.inner_text())
    assert shown[0] == shown[1]
