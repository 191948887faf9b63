"""The Robustness page: verdict, curves and tables; private rows ask first; jobs, their end and what is stale."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.robustness import run as robustness_run
from dpviz.app.robustness.ask import Cell, RobustnessRequest, first_learners
from dpviz.app.robustness.run import ATTACK, CURVES
from dpviz.app.state import Loaded
from dpviz.errors import DpvizError
from dpviz.evaluation.robustness.attacks import ATTACKS
from dpviz.learners import DEFAULT, get_learner, learner_names
from dpviz.table.encode import encode
from dpviz.table.role import DataRole
from tests.support.pages import after_work, bundled, job_of, opened, said_in_boxes, texts

#: One curve of few draws.
LITTLE: dict[str, Any] = {"robust-draws": "100", "robust-epsilons": ["0.1"], "robust-learners": [get_learner(DEFAULT).title]}


def named(names: list[str]) -> list[str]:
    return [get_learner(name).title for name in names]


def page(role: DataRole = DataRole.SIMULATED, *names: str, **url: str | list[str]) -> AppTest:
    settings = {"learners": named(list(names or (DEFAULT,)))} | url
    return opened("robustness", role, **LITTLE | {f"robust-{key}": value for key, value in settings.items()})  # type: ignore[arg-type]


def finished(test: AppTest, slot: str = CURVES) -> AppTest:
    assert job_of(test, slot) is not None
    return after_work(test, slot)


def said(test: AppTest) -> str:
    headers = "\n".join(header.value for header in test.header)
    return f"{headers}\n{texts(test)}".replace("\\", "").replace("\u2060", "")


def button(test: AppTest, label: str):
    return next(item for item in test.button if item.label.startswith(label))


@pytest.mark.slow
def test_curves_of_rows_anyone_may_see_begin_by_themselves_and_give_a_verdict():
    test = finished(page())
    assert "withstands up to" in said(test)
    assert "ε = 0.1 (add/remove one row)" in said(test)
    assert "a changed row counts as two" in said(test)
    assert "holds for all numbers of poisoned rows at once" in said(test)
    assert "without noise" in said(test)
    assert len(test.get("plotly_chart")) == 1
    assert test.get("plotly_chart")[0].proto.alt
    assert len(test.dataframe) == 1
    assert len(test.get("download_button")) == 1


@pytest.mark.slow
def test_curves_of_a_bundled_sample_are_there_for_the_next_session_and_for_no_other_rows_of_the_same_values():
    first, second = after_work(session_on(bundled()), CURVES), session_on(bundled())
    assert job_of(first, CURVES) is not None
    assert job_of(second, CURVES) is None
    drawn, again = (test.get("plotly_chart")[0].proto.spec for test in (first, second))
    assert drawn == again
    encoded_anew = encode(bundled().table, bundled().schema)
    for rows in (replace(bundled(), sample=None), replace(bundled(), data=encoded_anew)):
        assert job_of(session_on(rows), CURVES) is not None
    private = session_on(replace(bundled(), role=DataRole.PRIVATE))
    assert job_of(private, CURVES) is None
    assert not private.get("plotly_chart")


def session_on(rows: Loaded) -> AppTest:
    return opened("robustness", rows.role, rows=rows, **LITTLE)


@pytest.mark.slow
def test_nothing_is_computed_on_private_rows_before_it_is_asked_for():
    test = page(DataRole.PRIVATE)
    assert job_of(test, CURVES) is None
    assert not test.get("plotly_chart")
    assert "keep it to yourself" in said(test)
    button(test, "Compute 1 of 1 curves").click().run()
    finished(test)
    assert len(test.get("plotly_chart")) == 1
    assert "not to be published" in said(test)


def test_much_work_waits_for_the_button():
    test = page(draws="10,000")
    assert job_of(test, CURVES) is None
    assert button(test, "Compute 1 of 1 curves (up to 10,000 fits)")


@pytest.mark.slow
def test_a_violated_claim_is_struck_through_and_gives_its_reason():
    test = finished(page(DataRole.SIMULATED, "privatree", epsilons=["5"]))
    assert "~~published: up to" in said(test)
    assert "no guarantee. Its privacy claim is violated." in said(test)
    assert "No curve here is proved" in said(test)


@pytest.mark.slow
def test_what_is_shown_for_other_settings_is_marked_stale():
    test = finished(page())
    test.select_slider(key="robust-draws").set_value(10_000).run()
    assert "The curves below are stale" in said(test)
    assert len(test.get("plotly_chart")) == 1
    assert button(test, "Compute 1 of 1 curves")


@pytest.mark.slow
def test_other_units_and_goals_compute_nothing():
    test = finished(page())
    test.selectbox(key="robust-goal").select("an accuracy of my own").run()
    job = job_of(test, CURVES)
    test.number_input(key="robust-wanted").set_value(99.0).run()
    assert "No curve here is proved to stay above the 99.0% you asked for" in said(test)
    assert job_of(test, CURVES) is job


@pytest.mark.slow
def test_attacks_are_measured_when_asked_for_and_join_the_table():
    test = finished(page())
    button(test, "Measure (1 curves)").click().run()
    finished(test, ATTACK)
    assert "Measured for these settings" in said(test)
    measured = test.dataframe[1].value
    assert set(measured.attack) == {ATTACKS["leaf-flips"].title}


def test_a_private_learner_has_a_curve_per_epsilon():
    cells = RobustnessRequest(tuple(learner_names()[:1]), (0.1, 1.0), "auto", 100, 1, 0).cells
    assert cells == (Cell(learner_names()[0], 0.1), Cell(learner_names()[0], 1.0))


def test_a_learner_without_epsilon_is_one_curve():
    voter = next(name for name in learner_names() if get_learner(name).one_voter_per_row)
    assert RobustnessRequest((voter,), (0.1, 1.0), "auto", 100, 1, 0).cells == (Cell(voter, None),)


def test_the_first_learners_hold_a_vote_and_the_default():
    first = first_learners(learner_names())
    assert first[:2] == [DEFAULT, "privatree"]  # the better of PrivaTree's forms
    assert any(get_learner(name).one_voter_per_row for name in first)


def test_every_error_is_said_in_a_box(monkeypatch):
    def refuse(*args, **given):
        raise DpvizError("Certifying failed.", remedy="Try again.")

    monkeypatch.setattr(robustness_run, "certify", refuse)
    test = finished(page())
    assert [kind for kind, text in said_in_boxes(test) if "Certifying failed" in text.replace("\\", "")] == ["error"]
