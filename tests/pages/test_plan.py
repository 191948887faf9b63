"""The second tab of Compare, and what to expect: nothing begins unasked, private rows stay unread, answers have a picture."""

import json
import re
from dataclasses import replace
from functools import partial
from itertools import pairwise
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
    alerts,
    bundled_clinic,
    in_use,
    job_of,
    open_page,
    page_text,
    texts,
    values_in,
    with_few_trees,
)
from tests.support.paths import SOON

FIND, CURVES = "Find the answer", "Compute the three curves"
SLOTS = (plan_tab.CURVES, plan_tab.ANSWER)

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Few draws."""
    few = partial(found_by.consequences_steps, epsilons=(0.01, 0.1, 1.0), draws=10)
    monkeypatch.setattr(found_by, "consequences_steps", few)
    monkeypatch.setattr(planner, "Search", partial(planner.Search, stages=(40,)))
    monkeypatch.setattr(planner, "EPSILONS", (0.01, 1.0, 10.0))
    monkeypatch.setattr(planner, "GRIDS", {"epsilon": planner.EPSILONS, "n_rows": (100, 400), "max_depth": (3, 2, 1)})


def tab(role=DataRole.SIMULATED, **url):
    return after_work(open_page("compare", role, tab=PLAN_TAB, **url), *SLOTS)


def pressed(test, start):
    """The page after its button was pressed, unless there is nothing to press."""
    found = [one for one in test.button if one.label.startswith(start) and not one.disabled]
    return after_work(found[0].click().run(), *SLOTS) if found else test


def asked(role=DataRole.SIMULATED, **url):
    """The page once everything on it was asked for."""
    return pressed(pressed(tab(role, **url), FIND), CURVES)


@pytest.mark.parametrize("role", list(DataRole))
def test_nothing_begins_before_it_is_asked_for(role):
    test = open_page("compare", role, tab=PLAN_TAB)
    assert [job_of(test, slot) for slot in (*SLOTS, expected.SLOT)] == [None] * 3
    assert "Every ε: add/remove one row." in page_text(test)
    parts = [one for one in test.main if one.type in ("header", "button_group")]
    heads = [head.value for head, part in pairwise(parts) if part.type == "button_group" and part.label == "Simulate with"]
    assert heads == ["Work backwards from a goal"] * (role is not DataRole.PRIVATE)
    for rate in [box for box in test.number_input if box.label.startswith("Of 100 rows")]:
        rate.set_value(17.0).run()  # who types a base rate asks
        assert job_of(test, expected.SLOT) is not None
    assert [job_of(test, slot) for slot in SLOTS] == [None] * 2


def test_what_to_expect_is_simulated_once_for_all_sessions_shown_early_judged_after_all_and_a_stop_is_said(monkeypatch):
    def stopped(*_, **__):
        raise Cancelled

    def paused(*asked, **how):
        first, *rest = steps(*asked, **how)
        yield first
        go_on.wait(SOON)
        yield from rest

    go_on, steps, judged = Event(), expected.expected_steps, re.compile("Better than always|ot reliably better")
    monkeypatch.setattr(expected, "expected_steps", paused)
    monkeypatch.setattr(expected, "_PATIENCE", SOON)
    test = open_page("publish", rows=bundled_clinic())
    assert "A first look: 3 of 10 trees at each strength." in texts(test)
    assert not any(judged.search(said) for _, said in alerts(test))
    go_on.set()
    test = after_work(test, expected.SLOT)
    assert "A first look" not in texts(test)
    assert any(judged.search(said) for _, said in alerts(test))
    monkeypatch.setattr(expected, "expected_steps", stopped)
    assert job_of(open_page("publish", rows=bundled_clinic()), expected.SLOT) is None
    own = after_work(open_page("publish", rows=replace(bundled_clinic(), sample=None)), expected.SLOT)
    assert any(kind == "info" and text.startswith("Stopped") for kind, text in alerts(own))


def test_another_world_is_planted_whatever_is_changed_of_it(monkeypatch):
    planted, plant = [], plan_tab.plant

    def noted(schema, **how):
        planted.append({name: how[name] for name in ("n_rows", "strength", "depth")})
        return plant(schema, **how)

    monkeypatch.setattr(plan_tab, "plant", noted)
    schema = replace(in_use(DataRole.PRIVATE).schema, source="a codebook of this test")  # sessions of tests share what they keep
    test = open_page("compare", DataRole.PRIVATE, schema=schema, tab=PLAN_TAB)
    (world,) = planted
    changes = {"planted": ("depth", 3), "strength": ("strength", 0.8), "plan-rows": ("n_rows", 500)}
    for key, (name, value) in changes.items():
        slider = test.select_slider if key == "plan-rows" else test.slider
        slider(key=key).set_value(value).run()
        world = world | {name: value}
        assert planted[-1] == world


def test_private_rows_are_never_drawn_from(monkeypatch):
    """Nothing that reads rows is called: the plan is made from the schema alone."""
    loaded = in_use(DataRole.PRIVATE)
    for name in ("take", "split", "class_counts"):
        of_rows = getattr(EncodedDataset, name)

        def guarded(self, *given, _of_rows=of_rows, **more):
            assert self.fingerprint != loaded.data.fingerprint, "private rows were read"
            return _of_rows(self, *given, **more)

        monkeypatch.setattr(EncodedDataset, name, guarded)
    test = asked(DataRole.PRIVATE, **{"wish-accuracy": "60", "sure": "50"})
    assert "schema alone" in texts(test)
    assert "world" not in test.session_state
    search, _ = values_in(test, plan_tab.ANSWER)[-1]
    assert search.place.world.n_rows == 1_000


@pytest.mark.parametrize("name", [name for name in OF_EACH_KIND if name != "dpa"])  # which takes as long as all others
def test_a_learner_of_each_kind_gets_three_consequences_or_a_reason(name):
    test = asked(**with_few_trees(name))
    said = texts(test)
    problems = [text for kind, text in alerts(test) if kind == "error"]
    assert bool(problems) != ("Accuracy** at ε = 1" in said)
    if not get_learner(name).spends_epsilon and not problems:
        assert "nothing limits what may be learned" in said or "No protection is proved" in said
    if name == "pf-tree":
        assert re.search(r"allows at most 6\d\\\.?\d* to be right", said)
        (before,) = values_in(test, plan_tab.CURVES)
        test.session_state["epsilon"] = 0.1
        assert "Accuracy** at ε = 0.1" in texts(test.run())  # the cursor follows, nothing is computed anew
        assert values_in(test, plan_tab.CURVES) == [before]
        assert not any("stale" in text for _, text in alerts(test))


@pytest.mark.parametrize(("wanted", "word"), [("Accuracy → ε", "ε"), ("Reliable labels → depth", "epth")])
def test_a_question_is_answered_with_its_picture_until_another_wish_makes_it_stale(wanted, word):
    test = pressed(tab(wanted=wanted, **{"wish-accuracy": "60", "wish-labels": "60", "sure": "50"}), FIND)
    found = dict(alerts(test))["success"]
    assert word in found.split(".**")[0]
    assert "confidence" in found
    _, answer = values_in(test, plan_tab.ANSWER)[-1]
    [picture] = [chart.proto for chart in test.get("plotly_chart") if chart.proto.alt.startswith("Wanted: ")]
    traces = json.loads(picture.spec)["data"]
    drawn = {place: share for trace in traces for place, share in zip(trace["x"], trace["y"], strict=True)}
    assert drawn == pytest.approx({point.place: 100 * point.share for point in answer.points})
    test.number_input(key="wish-accuracy" if "Accuracy" in wanted else "wish-labels").set_value(62.0).run()
    boxes = alerts(test)
    assert any("stale" in text for _, text in boxes)
    assert any("60%" in text for kind, text in boxes if kind == "success")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ({"wish-accuracy": "99"}, "Not reachable"),
        ({"world": "The schema alone", "wish-accuracy": "95", "strength": "0.6"}, "80% is the most anybody reaches"),
    ],
)
def test_what_cannot_be_reached_and_the_ceiling_are_said(url, words):
    assert words in page_text(pressed(tab(**url), FIND))
