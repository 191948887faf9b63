"""The installed dashboard in a real browser: opened from an empty folder, it is the one of the clone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.installing import build_wheel, clean_environment, install
from tests.support.serving import running
from tests.support.visiting import downloaded, idle, open_downloads

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.verify]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `dpviz app` after `pip install "dpviz[app]"`, started in an empty folder."""
    programs = install(build_wheel(tmp_path_factory.mktemp("wheel")), tmp_path_factory.mktemp("installed"), {"app"})
    command = [str(programs / "dpviz"), "app", "--no-browser", "--port"]
    with running(command, tmp_path_factory.mktemp("empty"), clean_environment()) as address:
        yield address


def test_it_is_the_dashboard_of_the_clone_wherever_it_is_started(page: Any, installed: str, app: str) -> None:
    """A sample's tree, the settings of the page, and the stored verdicts."""
    trees, verdicts = [], []
    for address in (installed, app):
        page.goto(f"{address}/?data=clinic&epsilon=0.5&depth=3&draw=7")
        assert page.get_by_role("heading").first.evaluate("heading => getComputedStyle(heading).fontWeight") == "650"
        expect(page.get_by_test_id("stAppDeployButton")).to_have_count(0)
        open_downloads(page)
        trees.append(Path(downloaded(page, "Download simulation (JSON)").path()).read_bytes())
        page.goto(f"{address}/audit")
        idle(page)
        verdicts.append(page.get_by_text("stored run").first.inner_text())
    assert trees[0] == trees[1]
    assert verdicts[0] == verdicts[1]
