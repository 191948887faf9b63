"""Below the tree: where epsilon goes, shares moved on the bar, and the map of other shares."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app import split_view
from dpviz.table.role import DataRole
from tests.support.pages import (
    SHARES,
    after_work,
    buttons,
    click,
    job_of,
    opened,
    said_in_boxes,
    texts,
    tree_on_screen,
    values_in,
    with_few_trees,
)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Few draws."""
    monkeypatch.setattr(split_view, "DRAWS", 3)
    monkeypatch.setattr(split_view, "DRAWS_LARGE", 2)


@pytest.fixture
def bar(monkeypatch) -> dict[str, Any]:
    """What the bar was shown last, and what is called when it reports something."""
    seen: dict[str, Any] = {}
    monkeypatch.setattr(split_view, "component", lambda *_, **__: lambda **given: seen.update(given))
    return seen


def report(test: AppTest, bar: dict[str, Any], event: str, value: Any) -> None:
    """The bar reports an event, as it does in a browser: its callback runs, then the page."""
    state: dict[str, Any] = {split_view.KEY: {event: value}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split_view.st, "session_state", state)
        bar[f"on_{event}_change"]()
    for key in state.keys() - {split_view.KEY}:
        test.session_state[key] = state[key]
    texts(test.run())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "url", "chosen"),
    [
        ("pf-tree", {"depth": "4"}, [0.25, 0.75]),  # two choices of two levels each
        ("pf-tree", {"depth": "3", "pf-tree.lookahead": "1"}, [0.2, 0.3, 0.5]),
        ("privatree", {}, [0.1, 0.3, 0.6]),
        ("privatree-star", {}, [0.3, 0.7]),  # whose quantiles have no share
    ],
)
def test_shares_moved_on_the_bar_are_those_of_the_next_tree_until_the_rule_is_asked_for_again(name, url, chosen, bar):
    test = opened("tree", **(with_few_trees(name) | url))
    by_rule = bar["data"]
    for odd in (None, [], [1.0], [0.5, 0.25, 0.25, 0.0], "0.5,0.5", {"0": 1}):  # what no bar reports
        report(test, bar, "shares", odd)
    assert not bar["data"]["byHand"]
    assert len(by_rule["shares"]) == len(by_rule["names"]) == len(chosen)
    report(test, bar, "shares", chosen)
    assert bar["data"]["byHand"]
    assert bar["data"]["shares"] == pytest.approx(chosen, abs=1e-3)
    plan = tree_on_screen(test).result.plan
    assert "you" in {share.set_by for share in plan.shares}
    if name == "pf-tree":  # levels that are one choice pay their shares at once
        assert [share.epsilon for share in plan.shares] == pytest.approx(chosen, abs=1e-3)
    else:
        assert plan.of("leaf", plan.depth) == pytest.approx(chosen[-1] * plan.epsilon, rel=1e-3)
    report(test, bar, "rule", True)
    assert bar["data"]["shares"] == pytest.approx(by_rule["shares"])
    assert not bar["data"]["byHand"]


def test_a_level_share_needs_a_fixed_depth_and_not_all_weights_may_be_zero():
    test = opened("tree")
    assert test.toggle(key="pf-tree.level_shares.by-hand").disabled
    test.selectbox(key="depth").set_value("3").run()
    test.toggle(key="pf-tree.level_shares.by-hand").set_value(True).run()
    test.number_input(key="pf-tree.level_shares.depth 1").set_value(2.0).run()
    plan = tree_on_screen(test).result.plan
    assert [share.levels for share in plan.shares] == [1, 2]  # two levels are one choice, which pays both their shares
    assert [share.epsilon for share in plan.shares] == pytest.approx([0.25, 0.75])
    assert {share.set_by for share in plan.shares} == {"you"}
    for level in range(3):
        test.number_input(key=f"pf-tree.level_shares.depth {level}").set_value(0.0).run()
    assert "not all 0" in dict(said_in_boxes(test))["error"]


# --- the share map


def map_page(name: str = "privatree", **url: str) -> AppTest:
    """The Tree page with the map open and there."""
    test = opened("tree", open_boxes=[SHARES], **(with_few_trees(name) | url))
    return after_work(test, split_view.MAP)


def maps(test: AppTest) -> list[str]:
    """What the maps are drawn from."""
    return [chart.proto.spec for chart in test.get("plotly_chart") if "Training accuracy" in chart.proto.alt]


@pytest.mark.slow
def test_a_point_of_a_line_for_two_shares_can_be_used():
    test = map_page("privatree-corrected")
    (point,) = (words for words in test.selectbox(key="lab-map-point").options if words.startswith("levels (30%)"))
    test.selectbox(key="lab-map-point").select(point).run()
    click(test, "Use these shares")
    assert [test.number_input(key=f"privatree-corrected.shares.{part}").value for part in ("node", "leaf")] == [30.0, 70.0]
    plan = tree_on_screen(test).result.plan
    assert plan.of("leaf", plan.depth) == pytest.approx(0.7 * plan.epsilon)


@pytest.mark.slow
def test_shares_of_levels_fix_the_depth_and_do_not_make_the_map_stale_which_another_epsilon_does():
    test = map_page("pf-tree", epsilon="0.5")
    (found,) = values_in(test, split_view.MAP)
    job = job_of(test, split_view.MAP)
    click(test, "Use these shares")
    plan = tree_on_screen(test).result.plan
    assert found.movable.request.settings.depth == "auto"
    assert plan.depth == sum(found.movable.levels) == int(test.selectbox(key="depth").value)
    assert {share.set_by for share in plan.shares} == {"you"}
    assert "in use" in maps(test)[0]
    test.selectbox(key="depth").set_value("4").run()  # the map stays, and is of fewer levels than there are shares now
    assert "automatic choice" in maps(test)[0]
    test = map_page("pf-tree", depth="3")
    test.toggle(key="pf-tree.level_shares.by-hand").set_value(True).run()
    assert not any("stale" in text for _, text in said_in_boxes(test))
    job = job_of(test, split_view.MAP)
    test.session_state["epsilon"] = 0.3
    test.run()
    assert any("stale" in text for _, text in said_in_boxes(test))
    assert job_of(test, split_view.MAP) in (None, job)


def test_there_is_no_map_of_private_rows():
    test = opened("tree", DataRole.PRIVATE, open_boxes=[SHARES], depth="2")
    assert "No map for private rows" in texts(test)
    assert not [label for label in buttons(test) if label.startswith("Compute the map")]
    assert split_view.MAP not in test.session_state["_work"].jobs
