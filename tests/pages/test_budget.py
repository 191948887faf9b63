import json

import pytest

from dpviz.app.parts import plain
from dpviz.learners import get_learner
from tests.support.pages import (
    LEARNERS_IN_ROLES,
    opened,
    refusal,
    said_in_boxes,
    shown,
    texts,
    tree_on_screen,
    with_few_trees,
)


@pytest.mark.parametrize(("name", "role"), LEARNERS_IN_ROLES)
@pytest.mark.slow
def test_every_learner_has_its_figure_with_words_and_tables(name, role):
    test = opened("budget", role, **with_few_trees(name))
    said = texts(test)
    charts = test.get("plotly_chart")
    if why := refusal(name, role):
        assert not charts
        assert any(plain(why) in text for kind, text in said_in_boxes(test) if kind == "error")
        return
    assert len(charts) == 1 + ("s-gbdt" in name)
    assert all(json.loads(chart.proto.spec)["data"] for chart in charts)
    assert all("add/remove one row" in chart.proto.alt for chart in charts)
    assert len(test.dataframe) == len(charts) + 1
    assert all(len(table.value) for table in test.dataframe)
    assert tree_on_screen(test).result.claim.because in said.replace("\\", "").replace("\u2060", "")


@pytest.mark.slow
def test_rules_and_their_numbers_are_named():
    said = texts(opened("budget", learner=get_learner("privatree").title))
    assert "Corollary 1" in said
    assert "**quantile, node, leaf**: set by a public rule" in said


@pytest.mark.slow
def test_shares_set_by_hand_reach_the_plan_and_are_called_yours():
    url = {"privatree.shares.by-hand": "true", "privatree.shares.leaf": "8", "privatree.grow_complete": "true"}
    test = opened("budget", learner=get_learner("privatree").title, **url)
    plan = tree_on_screen(test).result.plan
    assert plan.of("leaf", plan.depth) == pytest.approx(0.8 * plan.epsilon)
    assert "**quantile, node, leaf**: set by you" in texts(test)


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


def test_a_boosted_model_pays_by_round():
    test = opened("budget", learner=get_learner("s-gbdt").title, **{"s-gbdt.rounds": "20"})
    assert "rounds cost ε = 0.95 at δ =" in texts(test)


def test_the_shares_of_privatree_stand_beside_the_defaults():
    assert "PrivaTree, by its own count: quantile" in shown(opened("budget"))
    assert "PF-tree, by its own count:" in shown(opened("budget", learner=get_learner("privatree").title))
