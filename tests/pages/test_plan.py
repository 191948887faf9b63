import json
import re
from dataclasses import replace
from functools import partial
from threading import Event

import pytest

from dpviz.app import expected, plan_tab
from dpviz.app.frame import PLAN_TAB
from dpviz.errors import Cancelled
from dpviz.evaluation import plan as found_by
from dpviz.evaluation import plan as planner
from dpviz.learners import get_learner
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole
from tests.support.pages import (
    OF_EACH_KIND,
    after_work,
    bundled,
    buttons,
    in_use,
    job_of,
    opened,
    said_in_boxes,
    shown,
    texts,
    values_in,
    with_few_trees,
)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Few draws."""

    steps = found_by.consequences_steps

    def few(world, setup, **look):
        return steps(world, setup, epsilons=(0.01, 0.1, 1.0), draws=10, **look)

    monkeypatch.setattr(found_by, "consequences_steps", few)
    monkeypatch.setattr(planner, "Search", partial(planner.Search, stages=(40,)))
    monkeypatch.setattr(planner, "EPSILONS", (0.01, 1.0, 10.0))
    monkeypatch.setattr(planner, "GRIDS", {"epsilon": planner.EPSILONS, "n_rows": (100, 400), "max_depth": (3, 2, 1)})
    monkeypatch.setattr(planner, "check", partial(planner.check, draws=30))


def settled(test):
    """After whatever runs has ended."""
    return after_work(test, plan_tab.CURVES, plan_tab.ANSWER, plan_tab.CHECK)


def asked(role: DataRole = DataRole.SIMULATED, **url: str):
    """The page once everything on it was asked for."""
    test = settled(opened("compare", role, tab=PLAN_TAB, **url))
    for start in ("Find the answer", "Compute the three curves"):
        for button in [button for button in test.button if button.label.startswith(start) and not button.disabled]:
            test = settled(button.click().run())
    return test


def pressed(test, start: str):
    """The page after its button was pressed, unless there is nothing to press."""
    (button,) = [button for button in test.button if button.label.startswith(start)]
    return test if button.disabled else settled(button.click().run())


@pytest.mark.slow
@pytest.mark.parametrize("role", list(DataRole))
def test_nothing_begins_before_it_is_asked_for(role):
    test, asked_for = opened("compare", role, tab=PLAN_TAB), (plan_tab.CURVES, plan_tab.ANSWER, plan_tab.CHECK)
    assert [job_of(test, slot) for slot in (*asked_for, expected.SLOT)] == [None] * 4
    for rate in [box for box in test.number_input if box.label.startswith("Of 100 rows")]:
        rate.set_value(17.0).run()  # who types a base rate asks
        assert job_of(test, expected.SLOT) is not None
    assert [job_of(test, slot) for slot in asked_for] == [None] * 3


@pytest.mark.slow
def test_what_to_expect_of_a_bundled_sample_is_simulated_once_for_all_sessions_and_a_stop_is_said(monkeypatch):
    def stopped(*_, **__):
        raise Cancelled

    first = after_work(opened("publish", rows=bundled()), expected.SLOT)
    assert job_of(first, expected.SLOT) is not None
    monkeypatch.setattr(expected, "expected_steps", stopped)
    assert job_of(opened("publish", rows=bundled()), expected.SLOT) is None
    own = after_work(opened("publish", rows=replace(bundled(), sample=None)), expected.SLOT)
    assert ("info", "Stopped before there was an answer.") in said_in_boxes(own)


@pytest.mark.slow
def test_what_to_expect_is_first_shown_after_a_few_trees_and_judged_after_all(monkeypatch):
    go_on, steps = Event(), expected.expected_steps

    def paused(*asked, **how):
        first, *rest = steps(*asked, **how)
        yield first
        go_on.wait(60)
        yield from rest

    monkeypatch.setattr(expected, "expected_steps", paused)
    monkeypatch.setattr(expected, "_PATIENCE", 60)
    test = opened("publish", rows=replace(bundled(), sample=None))
    first_look, judged = "A first look: 3 of 10 trees at each strength.", re.compile("Better than always|ot reliably better")
    assert first_look in texts(test)
    assert test.get("plotly_chart")[0].proto.alt.startswith("If features say little")
    assert not any(judged.search(said) for _, said in said_in_boxes(test))
    go_on.set()
    test = after_work(test, expected.SLOT)
    assert first_look not in texts(test)
    assert any(judged.search(said) for _, said in said_in_boxes(test))


@pytest.mark.slow
def test_private_rows_are_never_drawn_from(monkeypatch):
    """Nothing that reads rows is called: the plan is made from the schema alone."""
    loaded = in_use(DataRole.PRIVATE)

    def refuse(*_, **__):
        raise AssertionError("private rows were read")

    for name in ("take", "split", "class_counts"):
        of_rows = getattr(EncodedDataset, name)

        def guarded(self, *given, _of_rows=of_rows, **more):
            return refuse() if self.fingerprint == loaded.data.fingerprint else _of_rows(self, *given, **more)

        monkeypatch.setattr(EncodedDataset, name, guarded)
    test = pressed(asked(DataRole.PRIVATE, **{"wish-accuracy": "60", "sure": "50"}), "Find the answer")
    said = texts(test)
    assert "schema alone" in said
    assert "world" not in test.session_state
    assert "no algorithm can be right more often here" in said
    search, _ = values_in(test, plan_tab.ANSWER)[-1]
    assert search.place.world.n_rows == 1_000


@pytest.mark.parametrize("name", [name for name in OF_EACH_KIND if name != "dpa"])  # which takes as long as all others
@pytest.mark.slow
def test_a_learner_of_each_kind_gets_three_consequences_or_a_reason(name):
    test = asked(**with_few_trees(name))
    said = texts(test)
    problems = [text for kind, text in said_in_boxes(test) if kind == "error"]
    assert bool(problems) != ("Accuracy** at ε = 1" in said)
    if not get_learner(name).spends_epsilon and not problems:
        assert "nothing limits what may be learned" in said or "No protection is proved" in said
    if name == "pf-tree":
        assert re.search(r"allows at most 6\d\\\.?\d* to be right", said)
        *_, chart = test.get("plotly_chart")
        assert "what this algorithm does allows" in chart.proto.alt
        assert len(test.dataframe[-1].value) == 3
        (before,) = values_in(test, plan_tab.CURVES)
        test.session_state["epsilon"] = 0.1
        assert "Accuracy** at ε = 0.1" in texts(test.run())  # the cursor follows, nothing is computed anew
        assert values_in(test, plan_tab.CURVES) == [before]
        assert not any("stale" in text for _, text in said_in_boxes(test))


@pytest.mark.slow
@pytest.mark.parametrize(("wanted", "word"), [("Accuracy → ε", "ε"), ("Reliable labels → depth", "epth")])
def test_a_question_is_answered_with_its_picture_and_checked_until_another_wish_makes_it_stale(wanted, word):
    test = asked(wanted=wanted, **{"wish-accuracy": "60", "wish-labels": "60", "sure": "50"})
    (found,) = [text for kind, text in said_in_boxes(test) if kind == "success"]
    assert word in found.split(".**")[0]
    assert "confidence" in found
    _, answer = values_in(test, plan_tab.ANSWER)[-1]
    [picture] = [chart.proto for chart in test.get("plotly_chart") if chart.proto.alt.startswith("Wanted: ")]
    drawn = {
        place: share for trace in json.loads(picture.spec)["data"] for place, share in zip(trace["x"], trace["y"], strict=True)
    }
    assert drawn == pytest.approx({point.place: 100 * point.share for point in answer.points})
    test = pressed(test, "Check it on")
    assert "fresh simulations" in texts(test)
    wish = "wish-accuracy" if "Accuracy" in wanted else "wish-labels"
    test.number_input(key=wish).set_value(62.0).run()
    boxes = said_in_boxes(test)
    assert any("stale" in text for _, text in boxes)
    assert any("60%" in text for kind, text in boxes if kind == "success")
    assert not [label for label in buttons(test) if label.startswith("Check it")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "words"),
    [
        ({"wish-accuracy": "99"}, "Not reachable"),
        ({"wanted": "Poisoned rows → ε", "protect": "1"}, "withstands 1 poisoned row"),
        ({"wanted": "Poisoned rows → ε", "protect": "50000"}, "Not reachable"),
        ({"world": "The schema alone", "wish-accuracy": "95", "strength": "0.6"}, "80% is the most anybody reaches"),
        ({"attack": "Which of n people", "candidates": "1000"}, "which of 1,000 people"),
    ],
)
def test_what_cannot_be_reached_is_not_checked_and_poison_ceiling_and_attack_are_said(url, words):
    test = asked(**url)
    assert words in shown(test)
    if words == "Not reachable":
        assert not [label for label in buttons(test) if label.startswith("Check it")]


@pytest.mark.slow
def test_typed_marginals_reach_the_world_and_bad_ones_are_refused():
    test = opened("compare", tab=PLAN_TAB, world="The schema alone", marginals="typed here")
    test.text_input(key="weights age").set_value("1 3").run()
    test = pressed(test, "Find the answer")
    search, _ = values_in(test, plan_tab.ANSWER)[-1]
    assert search.place.world.marginals == {"age": (1.0, 3.0)}
    for typed, kind_said, word in (("1 -3", "error", "age"), ("much", "warning", "Weights are numbers")):
        test.text_input(key="weights age").set_value(typed).run()
        assert any(word in text for kind, text in said_in_boxes(test) if kind == kind_said)
