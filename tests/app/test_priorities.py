"""Two sessions on one server: a tree is on screen while sweeps, maps, attacks and searches of other sessions run and wait."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from dpviz.app import audit as audit_results
from dpviz.app import share_map, training
from dpviz.app.frame import PLAN_TAB
from dpviz.errors import Cancelled
from dpviz.evaluation import attacks, poisoning, sweep
from dpviz.evaluation import plan as planner
from dpviz.learners import get_learner
from dpviz.release.register import Register
from dpviz.table.role import DataRole
from tests.support.pages import SHARES, after_work, in_use, job_of, opened, texts, tree_on_screen

SOON = 240.0


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
    monkeypatch.setattr(sweep, "run_batches", work)
    monkeypatch.setattr(poisoning, "certify", work)
    monkeypatch.setattr(attacks, "attack_curve", work)
    monkeypatch.setattr(planner, "plan_steps", work)
    monkeypatch.setattr(share_map, "share_map", work)
    monkeypatch.setattr(audit_results, "verify_each", work)
    yield work
    work.go.set()


#: Page -> (what its link says, the button to press if the work does not begin by itself, the slot of its work).
LONG_WORK = {
    "compare": ({}, "", "compare"),
    "robustness": ({"robust-draws": "100"}, "", "robustness"),
    "plan": ({"tab": PLAN_TAB}, "Find the answer", "plan"),
    "tree": ({"learner": get_learner("privatree").title}, "", share_map.MAP),
    "audit": ({}, "Search again", audit_results.SLOT),
}


def busy(page: str) -> Any:
    """A session with long work under way, or in line, on this page."""
    link, button, slot = LONG_WORK[page]
    test = opened("compare" if page == "plan" else page, open_boxes=[SHARES] if page == "tree" else [], **link)
    if button:
        next(found for found in test.button if found.label.startswith(button)).click().run()
    assert not test.exception, [found.message for found in test.exception]
    return test, slot


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page if page == "compare" else pytest.param(page, marks=pytest.mark.slow) for page in LONG_WORK]
)
def test_a_tree_overtakes_long_work_of_another_session(page: str, held: Held) -> None:
    first, slot = busy(page)
    assert held.began.wait(SOON)
    second = opened("tree", depth="2")
    assert tree_on_screen(second).asked.request.settings.depth == 2
    assert "Would be guaranteed if released" in texts(second)
    assert not job_of(second, training.TREE).is_stopped
    assert job_of(second, training.PATH).wait(SOON)  # other epsilons do not wait either
    assert not job_of(first, slot).is_done
    assert not held.go.is_set()


@pytest.mark.slow
def test_a_tree_overtakes_the_work_of_many_sessions_that_stands_in_line(held: Held) -> None:
    others = [busy(page) for page in (*LONG_WORK, *LONG_WORK)]
    assert held.began.wait(SOON)
    second = opened("tree", depth="2")
    assert tree_on_screen(second).asked.request.settings.depth == 2
    jobs = [job_of(test, slot) for test, slot in others]
    assert not any(job.is_done for job in jobs)
    assert sum(job.began is not None for job in jobs) == 1


@pytest.mark.slow
def test_a_release_overtakes_it_too(held: Held, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DPVIZ_REGISTER", str(tmp_path / "releases.db"))
    register = Register()
    register.declare("clinic", epsilon_cap=1.0)
    register.assign(in_use(DataRole.PRIVATE).data.fingerprint, "clinic")
    busy("compare")
    assert held.began.wait(SOON)
    second = opened("publish", DataRole.PRIVATE, epsilon="0.5")
    second.checkbox(key="publish-agreed").check().run()
    next(found for found in second.button if found.label == "Release").click().run()
    assert "Released: number 1" in texts(after_work(second, "publish"))
    assert not held.go.is_set()
