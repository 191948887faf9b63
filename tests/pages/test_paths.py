"""Drag and watch: what the view goes through is what the library trains."""

import re
from html import escape

import pytest

import dpviz
from dpviz.app.held_out import TEST_SHARE
from dpviz.app.training import PATH as SLOT
from dpviz.evaluation import paths
from dpviz.figures.tree.text import node_in_words
from dpviz.table.role import DataRole
from tests.support.pages import after_work, in_use, opened, steps_of, tree_on_screen


def climbed(**url):
    """The page once its ladder is there."""
    return after_work(opened("tree", tree="Complete", **url), SLOT).run()


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


@pytest.mark.slow
def test_every_state_drawn_is_the_tree_of_its_epsilon_node_by_node():
    steps = steps_of(climbed(depth="2"))
    assert [step["value"] for step in steps] == list(paths.EPSILONS)
    for step in steps:
        assert same_nodes(step, of_the_library(step["value"], 2))
        assert f"ε = {step['value']:g}: test accuracy" in step["words"]
        assert 'class="split"' in step["split"]


@pytest.mark.slow
def test_the_tree_on_screen_is_one_of_them():
    test = climbed(depth="2", epsilon="0.37")
    accuracy = tree_on_screen(test).held_out.measures["accuracy"]
    (now,) = [step for step in steps_of(test) if step["value"] == 0.37]
    assert now["said"]["lead"] == f"{accuracy:.1%}"
    assert now["said"]["tested"].endswith("this tree alone")
    assert "ε = 0.37 (add/remove one row)" in now["guarantee"]["words"]


@pytest.mark.slow
def test_private_rows_learners_without_noise_and_very_deep_trees_have_nothing_to_drag():
    deep = opened("tree", depth="8", learner="FS tree")
    for test in (opened("tree", DataRole.PRIVATE), opened("tree", learner="Decision tree (not private)"), deep):
        assert SLOT not in test.session_state["_work"].jobs
        assert not steps_of(test)
