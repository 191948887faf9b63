"""Two trees at once: what is pinned, what stands beside it, and that neither costs anything."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app import training
from dpviz.app.training import PATH as SLOT
from dpviz.table.role import DataRole
from tests.support.pages import click, in_use, opened, texts, tree_on_screen

pytestmark = pytest.mark.slow


def at(test: AppTest, epsilon: float) -> AppTest:
    test.session_state["epsilon"] = epsilon
    texts(test.run())
    return test


def names(drawn: AppTest | str) -> list[str]:
    """What the trees in a drawing, by default that of the page, are called; one name for a tree alone."""
    if isinstance(drawn, AppTest):
        (view,) = [found for found in drawn.get("bidi_component") if found.key == "tree-view"]
        drawn = json.loads(view.proto.json)["wide"]
    return [part.split('"')[1] for part in drawn.split(' role="tree" aria-label=')[1:]]


@pytest.fixture
def looks(monkeypatch) -> list[float]:
    """The epsilon of every fit of a tree on screen, in order."""
    found: list[float] = []

    def noted(fit):
        return lambda asked, *args, **how: found.append(asked.request.settings.epsilon) or fit(asked, *args, **how)

    for name in ("_tree", "_private_tree"):
        monkeypatch.setattr(training, name, noted(getattr(training, name)))
    return found


@pytest.mark.parametrize("role", [DataRole.SIMULATED, DataRole.PRIVATE])
def test_the_next_tree_stands_beside_a_pinned_one_until_it_is_unpinned(looks, monkeypatch, role):
    noted: list[str] = []
    monkeypatch.setattr(training, "note", lambda loaded, what, *more: noted.append(what))
    test = at(click(opened("tree", role, depth="2", epsilon="2"), "Pin this tree"), 0.5)
    seed = "" if role is DataRole.PRIVATE else ", seed 1"
    first = [f"Pinned: PF-tree, ε = 2, depth 2{seed}", f"Now: PF-tree, ε = 0.5, depth 2{seed}"]
    assert names(test) == first
    (table,) = (found.value.to_string() for found in test.table)
    assert "-1.5" in table
    if role is DataRole.PRIVATE:
        assert "ccuracy" not in table
        assert "held\\-out" not in texts(test)
        assert not {training.RERUNS, SLOT} & {*test.session_state["_work"].jobs}
    else:
        assert f"{tree_on_screen(test).held_out.measures['accuracy']:.1%}" in table
    click(click(test, "Unpin"), "Pin this tree")
    assert looks == [2.0, 0.5]
    assert len(noted) == 2 * (role is DataRole.PRIVATE)


def test_a_pinned_tree_of_other_rows_is_gone():
    test = click(opened("tree", depth="2"), "Pin this tree")
    test.session_state["loaded"] = replace(in_use(DataRole.PUBLIC))
    assert len(names(test.run())) == 1
