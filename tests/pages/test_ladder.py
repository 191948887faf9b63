"""Drag and watch: what the view goes through is what the library trains."""

import base64
import gzip
import json
import re
from html import escape

import streamlit as st

import dpviz
from dpviz.app.controls import DEPTHS
from dpviz.app.held_out import TEST_SHARE
from dpviz.app.tree.ladder import SLOTS, take_dragged
from dpviz.evaluation.tree import ladder
from dpviz.figures.tree.text import node_in_words
from dpviz.table.role import DataRole
from tests.pages.opened import after_work, in_use, opened, tree_on_screen


def steps_of(test, along="epsilon") -> list[dict]:
    (view,) = [found for found in test.main.get("bidi_component") if found.key == "tree-view"]
    packed = json.loads(view.proto.json)["ladders"].get(along)
    return json.loads(gzip.decompress(base64.b64decode(packed))) if packed else []


def climbed(**url):
    """The page once all ladders are there."""
    test = opened("tree", tree="Complete", **url)
    for slot in SLOTS.values():
        after_work(test, slot)
    return test.run()


def of_the_library(epsilon, depth):
    rows, _ = in_use(DataRole.SIMULATED).data.split(TEST_SHARE, seed=0)
    return dpviz.fit("pf-tree", rows, epsilon=epsilon, max_depth=depth, depth=depth, seed=1).model


def same_nodes(step, model):
    """Every node stands in both drawings with what it asks or predicts."""
    for drawing in (step["wide"], step["narrow"]):
        drawn = dict(re.findall(r'data-path="([^"]+)"[^>]* aria-label="([^"]+)', drawing))
        assert list(drawn) == sorted(placed.id for placed in model.nodes())
        for placed in model.nodes():
            assert drawn[placed.id].startswith(escape(node_in_words(model, placed.path)))
    return True


def test_every_state_drawn_is_the_tree_of_its_epsilon_node_by_node():
    steps = steps_of(climbed(depth="2"))
    assert [step["value"] for step in steps] == list(ladder.EPSILONS)
    for step in steps:
        assert same_nodes(step, of_the_library(step["value"], 2))
        assert f"ε = {step['value']:g}: test accuracy" in step["words"]


def test_every_state_drawn_is_the_tree_of_its_depth_node_by_node():
    steps = steps_of(climbed(epsilon="0.5"), "depth")
    assert [step["value"] for step in steps] == list(ladder.DEPTHS)
    for step in steps:
        assert same_nodes(step, of_the_library(0.5, step["value"]))
        assert f"Depth {step['value']}: test accuracy" in step["words"]


def test_the_tree_on_screen_is_one_of_them():
    test = climbed(depth="2", epsilon="0.37")
    accuracy = tree_on_screen(test).held_out.measures["accuracy"]
    (now,) = [step for step in steps_of(test) if step["value"] == 0.37]
    (deep,) = [step for step in steps_of(test, "depth") if step["value"] == 2]
    for step in (now, deep):
        assert f"test accuracy {accuracy:.1%};" in step["words"]


def test_a_depth_that_is_dragged_to_is_one_the_sidebar_has(monkeypatch):
    state = {"depth": "auto", "view": {"depth": 3}}
    monkeypatch.setattr(st, "session_state", state)
    take_dragged("view", "depth")
    assert state["depth"] == "3"
    assert {str(depth) for depth in ladder.DEPTHS} <= set(DEPTHS)


def test_private_rows_and_learners_without_noise_have_nothing_to_drag():
    for test in (opened("tree", DataRole.PRIVATE), opened("tree", learner="Decision tree (not private)")):
        assert not {*SLOTS.values()} & {*test.session_state["_work"].slots}
        assert not steps_of(test)
