"""A session's work: what is shown meanwhile, what a new task stops, what a stop leaves."""

from __future__ import annotations

from threading import Event

import pytest
import streamlit as st

from dpviz.app.work import session
from dpviz.app.work.session import begin, begin_unasked, cancel, last_shown, poll
from dpviz.app.work.tasks import Answer, Task, in_one, in_parts
from dpviz.errors import DpvizError, Unforeseen

SOON = 240.0


@pytest.fixture(autouse=True)
def session_of_its_own(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(session, "session_name", lambda: "me")


class Gate:
    """A part that waits until it is let go."""

    def __init__(self, value):
        self.value, self.began, self.go, self.runs = value, Event(), Event(), 0

    def __call__(self, progress, stop):
        self.runs += 1
        self.began.set()
        assert self.go.wait(SOON)
        return self.value


def job_of(slot):
    return st.session_state["_work"].jobs[slot][0]


def done(task):
    begin(task)
    assert job_of(task.slot).wait(SOON)
    return poll(task)


def open_gate(value):
    gate = Gate(value)
    gate.go.set()
    return gate


def test_an_answer_stays_and_is_not_computed_again():
    gate = open_gate(1)
    task = in_one("slot", "a", gate)
    assert done(task).result == 1
    assert begin_unasked(task).is_current
    assert gate.runs == 1


def test_the_last_answer_is_shown_and_marked_until_there_is_a_new_one():
    first, gate = in_one("slot", "a", open_gate(1), asked="first"), Gate(2)
    done(first)
    second = in_one("slot", "b", gate, asked="second")
    begin(second)
    status = poll(second)
    assert (status.asked, status.result, status.is_current) == ("first", 1, False)
    gate.go.set()
    assert job_of("slot").wait(SOON)
    status = poll(second)
    assert (status.asked, status.result, status.is_current) == ("second", 2, True)
    assert poll(first).is_current


def test_answers_about_something_else_are_not_shown():
    done(in_one("slot", "a", open_gate(1), about="these rows"))
    status = poll(in_one("slot", "b", open_gate(2), about="other rows"))
    assert status.shown == ()
    assert last_shown("slot", "these rows") == (1,)


def test_a_new_task_stops_the_one_before_and_other_slots_go_on():
    mine, other = Gate(1), Gate(2)
    begin(in_one("slot", "a", mine))
    begin(in_one("other", "a", other))
    before = job_of("slot")
    poll(in_one("slot", "b", open_gate(3)))
    assert before.is_stopped
    assert not job_of("other").is_stopped
    mine.go.set()
    other.go.set()


def test_asking_twice_joins_the_work_under_way():
    gate = Gate(1)
    task = in_one("slot", "a", gate)
    begin(task)
    job = job_of("slot")
    begin(task)
    assert job_of("slot") is job
    gate.go.set()


def test_cancelled_work_is_not_begun_again_unasked_and_goes_on_when_asked():
    gate = Gate("late")
    task = in_parts("slot", {"a": open_gate("early"), "b": gate})
    begin(task)
    assert gate.began.wait(SOON)
    cancel(task)
    status = begin_unasked(task)
    assert (status.job, status.was_stopped, status.values, status.is_current) == (None, True, ("early",), True)
    gate.go.set()
    assert done(task).n_missing == 0


def test_half_of_an_answer_waits_behind_the_last_whole_one_until_its_work_is_begun():
    done(in_parts("slot", {"a": open_gate(1), "b": open_gate(2)}))
    gate = Gate(3)
    more = in_parts("slot", {"b": open_gate(2), "c": gate})
    status = poll(more)
    assert (status.shown, status.is_current, status.values, status.n_missing) == ((1, 2), False, (2,), 1)
    begin(more)
    assert poll(more).shown == (2,)
    assert poll(more).is_current
    gate.go.set()


def test_what_fails_as_a_whole_is_told_and_what_is_done_stays():
    problem = DpvizError("Enough.")

    def compute(missing, progress, stop):
        yield "a", Answer(1)
        raise problem

    task = Task("slot", ("a", "b"), compute)
    status = done(task)
    assert status.problems == (problem,)
    assert status.values == (1,)
    assert begin_unasked(task).job is None


def test_an_error_nobody_expected_stays_until_it_is_tried_again_and_its_place_is_logged_without_its_words(caplog):
    def fail(progress, stop):
        raise ValueError(f"cannot read {cell}")

    cell = str(66_000)
    task = in_one("slot", "a", fail)
    begin(task)
    assert job_of("slot").wait(SOON)
    for _ in range(2):
        (problem,) = poll(task).problems
        assert isinstance(problem, Unforeseen)
    assert begin_unasked(task).job is None
    assert "ValueError in work off the page" in caplog.text
    assert ", in fail" in caplog.text
    assert cell not in caplog.text


def test_the_first_answer_is_awaited_but_not_the_others():
    gate = Gate(2)
    task = in_parts("slot", {"a": open_gate(1), "b": gate})
    assert begin_unasked(task, SOON).values == (1,)
    gate.go.set()
