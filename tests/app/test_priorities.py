"""Two sessions on one server: a tree is on screen while sweeps, maps, attacks and searches of other sessions run and wait."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from dpviz.app import audit as audit_results
from dpviz.app import split_view, training
from dpviz.app.frame import PLAN_TAB
from dpviz.errors import Cancelled
from dpviz.evaluation import attacks, poisoning, sweep
from dpviz.evaluation import plan as planner
from dpviz.learners import get_learner
from dpviz.release.register import Register
from dpviz.table.role import DataRole
from tests.support.pages import SHARES, click, in_use, job_of, open_page, release_tree, texts, tree_on_screen
from tests.support.paths import SOON

pytestmark = pytest.mark.slow


class Held:
    """Long work of any kind: it begins, waits until it is let go, and finds nothing."""

    def __init__(self) -> None:
        self.began, self.go = Event(), Event()

    def __call__(self, *asked: Any, **how: Any) -> Any:
        self.began.set()
        assert self.go.wait(SOON)
        raise Cancelled


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """What each page computes at length is held, trees are waited for."""
    work = Held()
    monkeypatch.setattr(training, "SHORT", SOON)
    places = (sweep, "run_batches"), (poisoning, "certify"), (attacks, "attack_curve"), (planner, "plan_steps")
    for module, name in (*places, (split_view, "share_map"), (audit_results, "verify_each")):
        monkeypatch.setattr(module, name, work)
    yield work
    work.go.set()


#: Page -> (what its link says, the button to press if the work does not begin by itself, the slot of its work).
LONG_WORK: dict[str, tuple[dict[str, str], str, str]] = {
    "compare": ({}, "", "compare"),
    "robustness": ({"robust-draws": "100"}, "", "robustness"),
    "plan": ({"tab": PLAN_TAB}, "Find the answer", "plan"),
    "tree": ({"learner": get_learner("privatree").title}, "", split_view.MAP),
    "audit": ({}, "Search again", audit_results.SLOT),
}


def busy(page: str) -> Any:
    """The job of a session with long work under way, or in line, on this page."""
    link, button, slot = LONG_WORK[page]
    test = open_page("compare" if page == "plan" else page, open_boxes=[SHARES] if page == "tree" else [], **link)
    return job_of(click(test, button) if button else test, slot)


def test_a_tree_and_other_epsilons_overtake_long_work_of_many_sessions_on_every_page(held: Held) -> None:
    jobs = [busy(page) for page in [*LONG_WORK] * 2]
    assert held.began.wait(SOON)
    second = open_page("tree", depth="2")
    assert tree_on_screen(second).settings.request.settings.depth == 2
    assert "Would be guaranteed if released" in texts(second)
    assert not job_of(second, training.TREE).is_stopped
    assert job_of(second, training.PATH).wait(SOON)
    assert not any(job.is_done for job in jobs)
    assert sum(job.began is not None for job in jobs) == 1
    assert not held.go.is_set()


def test_a_release_overtakes_it_too(held: Held, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    register = Register()
    register.declare("clinic", epsilon_cap=1.0)
    register.assign(in_use(DataRole.PRIVATE).data.fingerprint, "clinic")
    busy("compare")
    assert held.began.wait(SOON)
    assert "Released: number 1" in texts(release_tree(open_page("publish", DataRole.PRIVATE, epsilon="0.5")))
    assert not held.go.is_set()
