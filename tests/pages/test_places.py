"""Nothing a hand may be on moves while work goes on: Streamlit makes anew, and so closes, a list whose place has changed."""

from __future__ import annotations

from threading import Event, current_thread
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.background import Job
from dpviz.app.training import PATH, RERUNS
from tests.support.pages import after_work, opened


def _places(block: Any, path: tuple[int, ...] = ()) -> dict[str, tuple[int, ...]]:
    """Where the block of every widget stands, by the widget's name."""
    found = {}
    for place, child in block.children.items():
        if hasattr(child, "children"):
            found |= _places(child, (*path, place))
        elif name := getattr(child, "id", "") or getattr(child.proto, "id", ""):
            found[name] = path
    return found


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Event:
    """Draws and paths wait for it; trees do not."""
    gate, run = Event(), Job.run

    def after_the_gate(job: Job) -> None:
        assert "dpviz_tree" in current_thread().name or gate.wait(60)
        run(job)

    monkeypatch.setattr(Job, "run", after_the_gate)
    return gate


def test_no_control_of_the_tree_page_moves_when_draws_and_the_path_are_there(gate: Event) -> None:
    test: AppTest = opened("tree", depth="2")
    early = _places(test._tree)
    gate.set()
    late = _places(after_work(test, RERUNS, PATH)._tree)
    stayed = early.keys() & late.keys()
    assert len(stayed) > 15
    assert {name: (early[name], late[name]) for name in stayed if early[name] != late[name]} == {}
