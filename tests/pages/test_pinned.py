"""Two trees at once: what is pinned, what stands beside it, and that neither costs anything."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app import training
from dpviz.app.training import PATH as SLOT
from dpviz.table.role import DataRole
from tests.support.pages import after_work, click, in_use, opened, steps_of, texts, tree_on_screen


def at(test: AppTest, epsilon: float) -> AppTest:
    test.session_state["epsilon"] = epsilon
    test.run()
    assert not test.exception, [found.message for found in test.exception]
    return test


def drawing(test: AppTest) -> str:
    (view,) = [found for found in test.get("bidi_component") if found.key == "tree-view"]
    return json.loads(view.proto.json)["wide"]


def names(test: AppTest) -> list[str]:
    """What the trees in the drawing are called; one name for a tree alone."""
    return names_in(drawing(test))


def names_in(drawn: str) -> list[str]:
    return [part.split('"')[1] for part in drawn.split(' role="tree" aria-label=')[1:]]


@pytest.fixture
def looks(monkeypatch) -> list[float]:
    """The epsilon of every fit of a tree on screen, in order."""
    found: list[float] = []
    public, private = training._tree, training._private_tree

    def noted(fit):
        return lambda asked, *args, **how: found.append(asked.request.settings.epsilon) or fit(asked, *args, **how)

    monkeypatch.setattr(training, "_tree", noted(public))
    monkeypatch.setattr(training, "_private_tree", noted(private))
    return found


@pytest.mark.slow
def test_the_pinned_tree_stands_beside_every_step_that_is_dragged_through():
    test = click(opened("tree", depth="2", epsilon="1"), "Pin this tree")
    after_work(after_work(test, SLOT), f"{SLOT}-beside-pinned")
    first, now = steps_of(test.run())[0], "Now: ε = 0.1"
    pinned = "Pinned: PF-tree, ε = 1, depth 2, seed 1"
    assert names_in(first["wide"]) == [pinned, now]
    assert names_in(first["narrow"]) == [now, pinned]
    assert first["words"].split(". ")[-1].startswith(("Of ", "The tree now", "Both trees"))
    click(test, "Unpin")
    assert len(names_in(steps_of(test.run())[0]["wide"])) == 1


@pytest.mark.slow
def test_private_rows_are_looked_at_once_per_setting_however_often_trees_are_swapped(looks, monkeypatch):
    noted: list[str] = []
    monkeypatch.setattr(training, "note", lambda loaded, what, *more: noted.append(what))
    test = at(click(opened("tree", DataRole.PRIVATE, depth="2", epsilon="2"), "Pin this tree"), 0.5)
    first = drawing(test)
    assert names(test) == ["Pinned: PF-tree, ε = 2, depth 2", "Now: PF-tree, ε = 0.5, depth 2"]
    assert drawing(click(click(test, "Swap"), "Swap")) == first
    click(click(test, "Unpin"), "Pin this tree")
    assert looks == [2.0, 0.5]
    assert len(noted) == 2
    assert "Test accuracy" not in texts(test)
    assert "ccuracy" not in "".join(found.value.to_string() for found in test.table)
    assert not {training.RERUNS, "resampling-of-pinned", SLOT} & {*test.session_state["_work"].jobs}


@pytest.mark.slow
def test_a_pinned_private_tree_outlives_the_shelf_of_trees(looks):
    test = at(click(opened("tree", DataRole.PRIVATE, depth="2", epsilon="2"), "Pin this tree"), 0.5)
    pinned = test.session_state["_pinned"][1]
    test.session_state["_work"].results["tree"].clear()
    click(test, "Swap")
    assert tree_on_screen(test) is pinned
    assert looks.count(2.0) == 1


@pytest.mark.slow
def test_a_pinned_tree_of_other_rows_is_gone():
    test = click(opened("tree", depth="2"), "Pin this tree")
    other = in_use(DataRole.PUBLIC)
    test.session_state["loaded"] = replace(other)
    assert len(names(test.run())) == 1


@pytest.mark.slow
def test_the_next_tree_stands_beside_a_pinned_one_swapped_without_a_fit_until_it_is_unpinned(looks):
    test = at(click(opened("tree", depth="2", epsilon="2"), "Pin this tree"), 0.5)
    assert names(test) == ["Pinned: PF-tree, ε = 2, depth 2, seed 1", "Now: PF-tree, ε = 0.5, depth 2, seed 1"]
    (table,) = test.table
    now = tree_on_screen(test).held_out.measures["accuracy"]
    assert f"{now:.1%}" in table.value.to_string()
    assert "-1.5" in table.value.to_string()
    for epsilon, pinned in ((2.0, 0.5), (0.5, 2.0)):
        click(test, "Swap")
        assert tree_on_screen(test).asked.request.settings.epsilon == test.session_state["epsilon"] == epsilon
        assert names(test)[0] == f"Pinned: PF-tree, ε = {pinned:g}, depth 2, seed 1"
    click(test, "Unpin")
    assert len(names(test)) == 1
    assert looks == [2.0, 0.5]
