import json
import re
from dataclasses import replace
from functools import partial
from threading import Event

import pytest

from dpviz.app.plan import expected
from dpviz.app.plan import screen as plan_screen
from dpviz.errors import Cancelled
from dpviz.evaluation.plan import consequences as found_by
from dpviz.evaluation.plan import planner
from dpviz.learners import get_learner
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole
from dpviz.table.schema import NumericTarget
from tests.support.pages import (
    LEARNERS,
    after_work,
    bundled,
    in_use,
    job_of,
    opened,
    said_in_boxes,
    texts,
    values_in,
    with_few_trees,
)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Few draws."""

    def few(world, setup, **look):
        return found_by.consequences_steps(world, setup, epsilons=(0.01, 0.1, 1.0), draws=10, **look)

    monkeypatch.setattr(plan_screen, "consequences_steps", few)
    monkeypatch.setattr(planner, "Search", partial(planner.Search, stages=(40,)))
    monkeypatch.setattr(planner, "EPSILONS", (0.01, 1.0, 10.0))
    monkeypatch.setattr(planner, "GRIDS", {"epsilon": planner.EPSILONS, "n_rows": (100, 400), "max_depth": (3, 2, 1)})
    monkeypatch.setattr(planner, "check", partial(planner.check, draws=30))


def settled(test):
    """After whatever runs has ended."""
    return after_work(test, plan_screen.CURVES, plan_screen.ANSWER, plan_screen.CHECK)


def asked(role: DataRole = DataRole.SIMULATED, **url: str):
    """The page once everything on it was asked for."""
    test = settled(opened("plan", role, **url))
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
    test, asked_for = opened("plan", role), (plan_screen.CURVES, plan_screen.ANSWER, plan_screen.CHECK)
    assert [job_of(test, slot) for slot in (*asked_for, expected.SLOT)] == [None] * 4
    for rate in [box for box in test.number_input if box.label.startswith("Of 100 rows")]:
        rate.set_value(17.0).run()  # who types a base rate asks
        assert job_of(test, expected.SLOT) is not None
    assert [job_of(test, slot) for slot in asked_for] == [None] * 3


@pytest.mark.slow
def test_an_answer_comes_with_its_picture_and_another_one_is_asked_for_again():
    test = asked(**{"wish-accuracy": "60", "sure": "50"})
    (search, answer), *_ = values_in(test, plan_screen.ANSWER)
    [picture] = [chart.proto for chart in test.get("plotly_chart") if chart.proto.alt.startswith("Wanted: ")]
    shown = json.loads(picture.spec)["data"]
    drawn = {place: share for trace in shown for place, share in zip(trace["x"], trace["y"], strict=True)}
    assert drawn == pytest.approx({point.place: 100 * point.share for point in answer.points})
    test.number_input(key="wish-accuracy").set_value(62.0).run()
    assert len(values_in(settled(test), plan_screen.ANSWER)) == 1
    assert search.goal.target == 0.6


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.slow
def test_every_learner_gets_three_consequences_or_a_reason(name):
    test = asked(**with_few_trees(name))
    said = texts(test)
    problems = [text for kind, text in said_in_boxes(test) if kind == "error"]
    assert bool(problems) != ("Accuracy** at ε = 1" in said)
    if not get_learner(name).spends_epsilon and not problems:
        assert "nothing limits what may be learned" in said or "No protection is proved" in said


@pytest.mark.slow
def test_three_consequences_stand_on_one_axis_with_words_and_a_table():
    test = asked()
    said = texts(test)
    assert re.search(r"allows at most 6\d\\\.?\d* to be right", said)
    *_, chart = test.get("plotly_chart")
    spec = json.loads(chart.proto.spec)
    assert [shape["yref"] for shape in spec["layout"]["shapes"] if shape["x0"] == shape["x1"] == 1.0] == ["paper"]
    assert "what this algorithm does allows" in chart.proto.alt
    assert len(test.dataframe[-1].value) == 3


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
def test_what_to_expect_is_not_judged_by_a_first_look_where_the_rest_was_stopped(monkeypatch):
    steps = expected.expected_steps

    def stopped(*asked, **how):
        yield next(steps(*asked, **how))
        raise Cancelled

    monkeypatch.setattr(expected, "expected_steps", stopped)
    test = after_work(opened("publish", rows=replace(bundled(), sample=None)), expected.SLOT)
    assert "A first look: 3 of 10 trees at each strength." in texts(test)
    assert not any(re.search("Better than always|ot reliably better", said) for _, said in said_in_boxes(test))


@pytest.mark.slow
def test_neither_plan_nor_publish_offers_another_draw():
    for page in ("plan", "publish"):
        test = opened(page)
        assert not [button for button in test.button if button.label == "New noise"]
        assert "Seed" not in [box.label for box in test.number_input]


@pytest.mark.slow
def test_the_cursor_follows_epsilon_without_computing_anew():
    test = asked()
    (before,) = values_in(test, plan_screen.CURVES)
    test.session_state["epsilon"] = 0.1
    test.run()
    assert "Accuracy** at ε = 0.1" in texts(test)
    assert values_in(test, plan_screen.CURVES) == [before]
    assert not any("stale" in text for _, text in said_in_boxes(test))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("Accuracy → ε", "ε"),
        pytest.param("Accuracy → rows", "rows", marks=pytest.mark.slow),
        pytest.param("Reliable labels → ε", "ε", marks=pytest.mark.slow),
        pytest.param("Reliable labels → depth", "epth", marks=pytest.mark.slow),
    ],
)
def test_each_question_is_answered_and_can_be_checked(wanted, words):
    url = {"wish-accuracy": "60", "wish-labels": "60", "sure": "50"}
    test = pressed(asked(wanted=wanted, **url), "Find the answer")
    (answer,) = [text for kind, text in said_in_boxes(test) if kind == "success"]
    assert words in answer.split(".**")[0]
    assert "confidence" in answer
    test = pressed(test, "Check it on")
    assert "fresh simulations" in texts(test)
    assert isinstance(values_in(test, plan_screen.CHECK)[-1].n_draws, int)


@pytest.mark.slow
def test_what_cannot_be_reached_is_said_and_not_checked():
    test = pressed(asked(**{"wish-accuracy": "99"}), "Find the answer")
    (said,) = [text for kind, text in said_in_boxes(test) if kind == "warning"]
    assert "Not reachable" in said
    assert not [button for button in test.button if button.label.startswith("Check it")]


@pytest.mark.slow
def test_another_wish_makes_the_answer_stale_and_it_stays():
    test = pressed(asked(**{"wish-accuracy": "60", "sure": "50"}), "Find the answer")
    test.number_input(key="wish-accuracy").set_value(62.0).run()
    boxes = said_in_boxes(test)
    assert any("stale" in text for _, text in boxes)
    assert any("60%" in text for kind, text in boxes if kind == "success")
    assert not [button for button in test.button if button.label.startswith("Check it")]


@pytest.mark.slow
def test_poisoned_rows_are_answered_from_the_certificates():
    test = asked(wanted="Poisoned rows → ε", protect="1")
    assert any("withstands 1 poisoned row" in text for _, text in said_in_boxes(test))
    test.number_input(key="protect").set_value(50_000).run()
    assert any("Not reachable" in text for kind, text in said_in_boxes(test) if kind == "warning")


@pytest.mark.slow
def test_the_attack_model_changes_the_guesses():
    test = asked(attack="Which of n people", candidates="1000")
    said = texts(test)
    assert "which of 1,000 people" in said.replace("\\", "")
    assert "without the tree, 0\\.1" in said


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
    search, _ = values_in(test, plan_screen.ANSWER)[-1]
    assert search.place.world.n_rows == 1_000


@pytest.mark.slow
def test_the_schema_alone_needs_no_rows_and_says_its_ceiling():
    test = pressed(asked(world="The schema alone", **{"wish-accuracy": "95", "strength": "0.6"}), "Find the answer")
    said = texts(test)
    assert "80% of the rows follow it" in said
    assert "80% is the most anybody reaches" in said


@pytest.mark.slow
def test_typed_marginals_reach_the_world_and_bad_ones_are_refused():
    test = asked(world="The schema alone", marginals="typed here")
    test.text_input(key="weights age").set_value("1 3").run()
    settled(test)
    test = pressed(test, "Find the answer")
    search, _ = values_in(test, plan_screen.ANSWER)[-1]
    assert search.place.world.marginals == {"age": (1.0, 3.0)}
    test.text_input(key="weights age").set_value("1 -3").run()
    assert any("age" in text for kind, text in said_in_boxes(test) if kind == "error")
    test.text_input(key="weights age").set_value("much").run()
    assert any("Weights are numbers" in text for kind, text in said_in_boxes(test) if kind == "warning")


def test_a_number_to_predict_is_refused_in_words():
    schema = in_use(DataRole.SIMULATED).schema
    numeric = replace(schema.without("age"), target=NumericTarget("age", 18, 110))
    test = opened("plan", schema=numeric)
    (problem,) = [text for kind, text in said_in_boxes(test) if kind == "info"]
    assert "A plan needs a target of classes; `age` is a number" in problem
    assert "Choose a table" in problem
