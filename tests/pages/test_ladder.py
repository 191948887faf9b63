"""Drag epsilon and watch: what the view goes through is what the library trains."""

import base64
import gzip
import json
import re

import dpviz
from dpviz.app.held_out import TEST_SHARE
from dpviz.app.tree.ladder import SLOT
from dpviz.evaluation.tree import ladder
from dpviz.table.role import DataRole
from tests.pages.opened import after_work, in_use, opened, tree_on_screen


def steps_of(test) -> list[dict]:
    (view,) = [found for found in test.main.get("bidi_component") if found.key == "tree-view"]
    packed = json.loads(view.proto.json)["ladder"]
    return json.loads(gzip.decompress(base64.b64decode(packed))) if packed else []


def test_every_state_drawn_is_the_tree_of_its_epsilon_node_by_node():
    test = opened("tree", depth="2", tree="Complete")
    after_work(test, SLOT)
    steps = steps_of(test.run())
    assert [step["epsilon"] for step in steps] == list(ladder.EPSILONS)
    rows, _ = in_use(DataRole.SIMULATED).data.split(TEST_SHARE, seed=0)
    for step in steps:
        model = dpviz.fit("pf-tree", rows, epsilon=step["epsilon"], max_depth=2, depth=2, seed=1).model
        for drawing in (step["wide"], step["narrow"]):
            assert re.findall(r'data-path="([^"]+)"', drawing) == sorted(placed.id for placed in model.nodes())
        assert f"ε = {step['epsilon']:g}: test accuracy" in step["words"]


def test_the_tree_on_screen_is_one_of_them():
    test = opened("tree", depth="2", epsilon="1", tree="Complete")
    after_work(test, SLOT)
    (now,) = [step for step in steps_of(test.run()) if step["epsilon"] == 1.0]
    accuracy = tree_on_screen(test).held_out.measures["accuracy"]
    assert f"test accuracy {accuracy:.3f};" in now["words"]


def test_private_rows_and_learners_without_noise_have_nothing_to_drag():
    for test in (opened("tree", DataRole.PRIVATE), opened("tree", learner="Decision tree (not private)")):
        assert SLOT not in test.session_state["_work"].slots
        assert not steps_of(test)
