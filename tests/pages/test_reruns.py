"""The tree again: with fresh noise, at every epsilon it is dragged through; nothing a hand may be on moves meanwhile."""

from __future__ import annotations

import re
from html import escape
from threading import Event, current_thread
from typing import Any

import pytest

import dpviz
from dpviz.app import background, training
from dpviz.app.background import Job, Result, Status
from dpviz.app.held_out import TEST_SHARE
from dpviz.app.training import PATH, RERUNS
from dpviz.charts.tree.text import node_in_words
from dpviz.evaluation import paths
from dpviz.evaluation.resampling import Resamples
from dpviz.learners import FitRequest
from dpviz.table.role import DataRole
from tests.support.pages import after_work, in_use, opened, steps_of, texts, tree_on_screen


@pytest.mark.slow
def test_every_state_drawn_is_the_tree_of_its_epsilon_node_by_node_and_the_one_on_screen_is_among_them():
    test = after_work(opened("tree", tree="Complete", depth="2", epsilon="0.37"), PATH).run()
    steps, accuracy = steps_of(test), tree_on_screen(test).held_out.measures["accuracy"]
    assert [step["value"] for step in steps] == sorted([*paths.EPSILONS, 0.37])
    rows, _ = in_use(DataRole.SIMULATED).data.split(TEST_SHARE, seed=0)
    for step in steps:
        epsilon = step["value"]
        model = dpviz.fit("pf-tree", rows, epsilon=epsilon, max_depth=2, depth=2, seed=1).model
        for drawing in (step["wide"], step["narrow"]):  # every node stands in both with what it asks or predicts
            drawn = dict(re.findall(r'data-path="([^"]+)"[^>]* aria-label="([^"]+)', drawing))
            assert list(drawn) == sorted(placed.id for placed in model.nodes())
            for placed in model.nodes():
                assert drawn[placed.id].startswith(escape(node_in_words(model, placed.path)))
        assert f"ε = {epsilon:g}: test accuracy" in step["words"]
        assert f"ε = {epsilon:g} (add/remove one row)" in step["guarantee"]["words"]
        assert 'class="split"' in step["split"]
        assert step["said"]["tested"].endswith("this tree alone")
        assert epsilon != 0.37 or step["said"]["lead"] == f"{accuracy:.1%}"


@pytest.mark.slow
def test_private_rows_learners_without_noise_and_very_deep_trees_have_nothing_to_drag():
    deep = opened("tree", depth="8", learner="FS tree")
    for test in (opened("tree", DataRole.PRIVATE), opened("tree", learner="Decision tree (not private)"), deep):
        assert PATH not in test.session_state["_work"].jobs
        assert not steps_of(test)


@pytest.mark.slow
def test_fresh_draws_show_features():
    test = after_work(opened("tree", depth="2", fresh="true", epsilon="0.5"), RERUNS)
    said = texts(test)
    assert all(words in said for words in ("is asked about most", "of 4 draws predict what this tree predicts"))
    assert any("Of 4 draws, those that ask about a feature." in found.proto.body for found in test.get("html"))


@pytest.mark.parametrize("is_running", [True, False])
def test_draws_that_another_session_left_half_done_are_not_shown_while_the_rest_is_made(monkeypatch, is_running):
    loaded = in_use(DataRole.SIMULATED)
    half = Resamples((tree_on_screen(opened("tree", depth="2")).tree,), 30)
    job = Job(lambda progress, stop: None) if is_running else None
    now = Status((Result(half, complete=False),), (), None, False, job, False, None)
    monkeypatch.setattr(background, "autostart", lambda *_: now)
    assert training.resamples_now(FitRequest.of("pf-tree", max_depth=2, depth=2), loaded) is (None if is_running else half)


def places(block: Any, path: tuple[int, ...] = ()) -> dict[str, tuple[int, ...]]:
    """Where the block of every widget stands, by the widget's name."""
    found = {}
    for place, child in block.children.items():
        if hasattr(child, "children"):
            found |= places(child, (*path, place))
        elif name := getattr(child, "id", "") or getattr(child.proto, "id", ""):
            found[name] = path
    return found


def test_no_control_of_the_tree_page_moves_when_draws_and_the_path_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit makes anew, and so closes, a list whose place has changed."""
    gate, run = Event(), Job.run

    def after_the_gate(job: Job) -> None:  # draws and paths wait for it; trees do not
        assert "dpviz_tree" in current_thread().name or gate.wait(60)
        run(job)

    monkeypatch.setattr(Job, "run", after_the_gate)
    test = opened("tree", depth="2")
    early = places(test._tree)
    gate.set()
    late = places(after_work(test, RERUNS, PATH)._tree)
    stayed = early.keys() & late.keys()
    assert len(stayed) > 15
    assert {name: (early[name], late[name]) for name in stayed if early[name] != late[name]} == {}
