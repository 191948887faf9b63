import json

import pytest

from dpviz.app.budget import lab as lab_screen
from dpviz.app.parts import plain
from dpviz.evaluation.budget.shares import MovableShares
from dpviz.learners import FitRequest
from dpviz.table.role import DataRole
from tests.support.pages import (
    OF_EACH_KIND,
    buttons,
    in_use,
    opened,
    refusal,
    said_in_boxes,
    shown,
    texts,
    tree_on_screen,
    with_few_trees,
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "role"),
    [*((name, DataRole.SIMULATED) for name in OF_EACH_KIND), ("pf-tree", DataRole.PRIVATE), ("dpa", DataRole.PUBLIC)],
)
def test_a_learner_of_each_kind_has_its_figure_and_a_lab_or_a_reason_why_not(name, role):
    test = opened("budget", role, depth="2", beside="Nothing", **with_few_trees(name))
    said, charts = texts(test), test.get("plotly_chart")
    if why := refusal(name, role):
        assert not charts
        assert any(plain(why) in text for kind, text in said_in_boxes(test) if kind == "error")
        return
    assert charts
    assert all(json.loads(chart.proto.spec)["data"] for chart in charts)
    assert all("add/remove one row" in chart.proto.alt for chart in charts[: 1 + (name == "s-gbdt")])
    assert all(len(table.value) for table in test.dataframe)
    result = tree_on_screen(test).result
    assert result.claim.because in shown(test)
    verdict = {"holds": "which holds", "unproven": "which is not proven", "violated": "which is violated"}
    assert verdict.get(result.claim.verdict, "Nothing is claimed") in said
    movable = MovableShares.of(FitRequest.of(name, epsilon=1.0, max_depth=4, depth=2), in_use(role).schema) is not None
    if role is DataRole.PRIVATE:
        assert "closed for private rows" in said
        assert not [label for label in buttons(test) if label.startswith("Compute the map")]
        assert lab_screen.MAP not in test.session_state["_work"].jobs
    else:
        assert ("has no shares to move" in said) != movable
        assert any(label.startswith("Compute the map") for label in buttons(test)) == movable


@pytest.mark.slow
def test_a_level_share_needs_a_fixed_depth():
    test = opened("budget")
    toggle = test.toggle(key="pf-tree.level_shares.by-hand")
    assert toggle.disabled
    test.selectbox(key="depth").set_value("3").run()
    toggle = test.toggle(key="pf-tree.level_shares.by-hand")
    assert not toggle.disabled
    toggle.set_value(True).run()
    test.number_input(key="pf-tree.level_shares.depth 1").set_value(2.0).run()
    plan = tree_on_screen(test).result.plan
    assert [share.levels for share in plan.shares] == [1, 2]  # two levels are one choice, which pays both their shares
    assert [share.epsilon for share in plan.shares] == pytest.approx([0.25, 0.75])
    assert {share.set_by for share in plan.shares} == {"you"}


def test_weights_that_are_all_zero_are_refused_in_words():
    test = opened("budget", depth="1")
    toggle = test.toggle(key="pf-tree.level_shares.by-hand")
    toggle.set_value(True).run()
    test.number_input(key="pf-tree.level_shares.depth 0").set_value(0.0).run()
    (problem,) = [text for kind, text in said_in_boxes(test) if kind == "error"]
    assert "not all 0" in problem
