"""In which line the work of each page waits: a tree, other epsilons or a release wait for no sweep, map, attack or search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app import audit, plan_tab, publish, split_view, training
from dpviz.app.background import Job
from dpviz.app.frame import PLAN_TAB
from dpviz.learners import get_learner
from dpviz.release.register import Register
from dpviz.table.role import DataRole
from tests.support.pages import SHARES, click, in_use, job_of, open_page, release_tree
from tests.support.paths import SOON

pytestmark = pytest.mark.slow


@pytest.fixture
def lines(own_threads: Any, monkeypatch: pytest.MonkeyPatch) -> dict[Job, str]:
    """The line of every job. What takes long stays in it for ever; trees are waited for."""
    found: dict[Job, str] = {}
    submit = own_threads.submit

    def stand(priority: Any, work: Any) -> Job:
        job = Job(work) if priority in ("bulk", "path") else submit(priority, work)
        found[job] = priority
        return job

    monkeypatch.setattr(own_threads, "submit", stand)
    monkeypatch.setattr(training, "SHORT", SOON)
    return found


@pytest.mark.parametrize(
    ("page", "url", "button", "slot", "line"),
    [
        ("compare", {}, "", "compare", "bulk"),
        ("robustness", {"robust-draws": "100"}, "", "robustness", "bulk"),
        ("robustness", {"robust-draws": "100"}, "Measure", "robustness-attack", "bulk"),
        ("compare", {"tab": PLAN_TAB}, "Find the answer", plan_tab.ANSWER, "bulk"),
        ("tree", {"learner": get_learner("privatree").title}, "", split_view.MAP, "bulk"),
        ("audit", {}, "Search again", audit.SLOT, "bulk"),
        ("tree", {"depth": "2"}, "", training.TREE, "tree"),
        ("tree", {"depth": "2"}, "", training.PATH, "path"),
    ],
)
def test_work_stands_in_its_line(lines, page: str, url: dict[str, str], button: str, slot: str, line: str) -> None:
    test: AppTest = open_page(page, open_boxes=[SHARES] if page == "tree" else [], **url)
    assert lines[job_of(click(test, button) if button else test, slot)] == line


def test_a_release_stands_where_trees_do(lines, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    register = Register()
    register.declare("clinic", epsilon_cap=1.0)
    register.assign(in_use(DataRole.PRIVATE).data.fingerprint, "clinic")
    test = release_tree(open_page("publish", DataRole.PRIVATE, epsilon="0.5"))
    assert lines[job_of(test, publish.SLOT)] == "tree"
