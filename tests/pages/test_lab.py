import json

import pytest

from dpviz.app.budget import lab as lab_screen
from dpviz.evaluation.budget.shares import MovableShares
from dpviz.learners import FitRequest, get_learner
from dpviz.table.role import DataRole
from tests.support.pages import (
    LEARNERS,
    after_work,
    in_use,
    opened,
    said_in_boxes,
    texts,
    tree_on_screen,
    values_in,
    with_few_trees,
)

SETTINGS = {"epsilon": 1.0, "max_depth": 4, "depth": "auto"}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Few draws."""
    monkeypatch.setattr(lab_screen, "DRAWS", 3)
    monkeypatch.setattr(lab_screen, "GAIN_DRAWS", 5)


def pressed(test, start: str):
    (button,) = [button for button in test.button if button.label.startswith(start)]
    button.click().run()
    return after_work(test, lab_screen.MAP, lab_screen.GAINS)


def lab(name: str = "privatree", role: DataRole = DataRole.SIMULATED, **url: str):
    return opened("budget", role, beside="Nothing", **(with_few_trees(name) | url))


def map_of(test) -> str:
    """What the map is drawn from, where it is a line."""
    return next(chart.proto.spec for chart in test.get("plotly_chart") if "Training accuracy" in chart.proto.alt)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_has_a_lab_or_a_reason_why_not(name):
    said = texts(lab(name, depth="2"))
    movable = MovableShares.of(FitRequest.of(name, **{**SETTINGS, "depth": 2}), in_use(DataRole.SIMULATED).schema) is not None
    assert ("has no shares to move" in said) != movable
    assert ("Training accuracy over the shares of" in said) == movable


@pytest.mark.slow
def test_the_map_is_drawn_with_words_and_a_table():
    test = pressed(lab(depth="1"), "Compute the map")
    ((_, found),) = values_in(test, lab_screen.MAP)
    assert found.n_draws == 3
    assert [view.key for view in test.main.get("bidi_component")][-1] == "lab-map"
    assert any(len(table.value) == 36 for table in test.dataframe)
    assert "mean of 3 draws" in texts(test)


@pytest.mark.slow
def test_a_line_is_drawn_for_two_shares_and_its_point_can_be_used():
    test = pressed(lab("privatree-corrected"), "Compute the map")
    assert json.loads(map_of(test))["data"]
    test.select_slider(key="lab-map-point").set_value(30.0).run()
    next(button for button in test.button if button.label == "Use these shares").click().run()
    assert not test.exception
    assert test.number_input(key="privatree-corrected.shares.node").value == 30.0
    assert test.number_input(key="privatree-corrected.shares.leaf").value == 70.0
    plan = tree_on_screen(test).result.plan
    assert plan.of("leaf", plan.depth) == pytest.approx(0.7 * plan.epsilon)


@pytest.mark.slow
def test_shares_of_levels_fix_the_depth_when_they_are_used():
    test = pressed(lab("pf-tree", epsilon="0.5"), "Compute the map")
    ((_, found),) = values_in(test, lab_screen.MAP)
    next(button for button in test.button if button.label == "Use these shares").click().run()
    plan = tree_on_screen(test).result.plan
    assert found.movable.request.settings.depth == "auto"
    assert not test.exception
    assert plan.depth == sum(found.movable.levels) == int(test.selectbox(key="depth").value)
    assert {share.set_by for share in plan.shares} == {"you"}
    assert "in use" in map_of(test)
    test.selectbox(key="depth").set_value("4").run()  # the map stays, and is of fewer levels than there are shares now
    assert not test.exception
    assert "automatic choice" in map_of(test)
    assert "in use" not in map_of(test)


@pytest.mark.slow
def test_the_shares_in_use_do_not_make_the_map_stale_another_epsilon_does_and_it_stays():
    test = pressed(lab("pf-tree", depth="3"), "Compute the map")
    test.toggle(key="pf-tree.level_shares.by-hand").set_value(True).run()
    assert not any("stale" in text for _, text in said_in_boxes(test))
    test.session_state["epsilon"] = 0.5
    test.run()
    assert any("stale" in text for _, text in said_in_boxes(test))
    assert "in use" in map_of(test)
    assert "Try one step more" not in " ".join(button.label for button in test.button)


@pytest.mark.slow
def test_one_step_more_says_what_it_buys():
    test = pressed(pressed(lab("pf-tree", depth="3"), "Compute the map"), "Try one step")
    said = texts(test)
    assert "moved there from the other shares" in said
    assert "5 draws" in " ".join(button.label for button in test.button)


@pytest.mark.slow
def test_few_and_many_rows_stand_side_by_side(monkeypatch):
    monkeypatch.setattr(lab_screen, "DRAWS_LARGE", 2)
    test = opened("budget", learner=get_learner("privatree").title, depth="1", beside="Loan applications (20,000 rows)")
    said = texts(pressed(test, "Compute the map"))
    assert "The good share for leaves" in said
    assert "with 784 rows" in said.replace("\\", "")
    assert "with 20,000 rows" in said.replace("\\", "")
    assert [view.key for view in test.main.get("bidi_component")][-2:] == ["lab-map", "lab-map-beside"]


def test_private_rows_get_a_reason_and_no_button():
    test = lab(role=DataRole.PRIVATE)
    assert "closed for private rows" in texts(test)
    assert not [button for button in test.button if button.label.startswith("Compute the map")]
    assert lab_screen.MAP not in test.session_state["_work"].jobs
