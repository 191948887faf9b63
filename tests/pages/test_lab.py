import json

import pytest

from dpviz.app.budget import lab as lab_screen
from dpviz.learners import get_learner
from dpviz.table.role import DataRole
from tests.support.pages import (
    after_work,
    opened,
    said_in_boxes,
    shown,
    texts,
    tree_on_screen,
    values_in,
    with_few_trees,
)


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


@pytest.mark.slow
def test_a_line_is_drawn_for_two_shares_and_its_point_can_be_used():
    test = pressed(lab("privatree-corrected"), "Compute the map")
    assert json.loads(map_of(test))["data"]
    (point,) = (words for words in test.selectbox(key="lab-map-point").options if words.startswith("nodes (30%)"))
    test.selectbox(key="lab-map-point").select(point).run()
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
def test_few_and_many_rows_stand_side_by_side_and_one_step_more_says_what_it_buys(monkeypatch):
    monkeypatch.setattr(lab_screen, "DRAWS_LARGE", 2)
    test = opened("budget", learner=get_learner("privatree").title, depth="1", beside="Loan applications (20,000 rows)")
    test = pressed(test, "Compute the map")
    said = shown(test)
    assert "mean of 3 draws" in said
    assert "with 784 rows" in said
    assert "with 20,000 rows" in said
    assert sum("Training accuracy" in chart.proto.alt for chart in test.get("plotly_chart")) == 2
    assert any(len(table.value) == 36 for table in test.dataframe)
    assert {found.n_draws for _, found in values_in(test, lab_screen.MAP)} <= {2, 3}
    test = pressed(pressed(lab("pf-tree", depth="3"), "Compute the map"), "Try one step")
    assert "moved there from the other shares" in texts(test)
