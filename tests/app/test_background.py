"""Background work: how a job stops and what it tells, that no line waits for another, what is kept, shown and drawn when."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from threading import Event
from typing import Any
from unittest.mock import MagicMock

import pytest
import streamlit as st

from dpviz.app import background
from dpviz.app.background import Job, Result, Task, autostart, in_one, in_parts, start, state
from dpviz.errors import Cancelled, DpvizError, FailedWork, ParameterError
from tests.support.paths import SOON


class Gate:
    """Work that says when it began, and goes on when it is let or stopped."""

    def __init__(self, value: Any = None) -> None:
        self.value, self.began, self.go, self.was_stopped, self.runs = value, Event(), Event(), None, 0

    def __call__(self, progress: Any, stop: Any) -> Any:
        self.runs += 1
        self.began.set()
        progress(0.5)
        assert self.go.wait(SOON)
        self.was_stopped = stop()
        return self.value


@pytest.fixture
def gate():
    """Makes gates, and opens them all at the end."""
    made: list[Gate] = []

    def make(value: Any = None) -> Gate:
        made.append(Gate(value))
        return made[-1]

    yield make
    for one in made:
        one.go.set()


def open_gate(value: Any) -> Gate:
    found = Gate(value)
    found.go.set()
    return found


# --- jobs


def test_work_in_line_never_begins_once_stopped_and_work_under_way_is_told(own_threads, gate):
    running, waiting = gate(), gate()
    first, second = own_threads.submit("bulk", running), own_threads.submit("bulk", waiting)
    assert running.began.wait(SOON)
    assert not first.wait(0.0)
    assert (first.share, second.began) == (0.5, None)
    first.stop()
    second.stop()
    running.go.set()
    assert second.wait(SOON)
    assert running.was_stopped is True
    assert not waiting.began.is_set()
    assert isinstance(second.error, Cancelled)


def test_a_line_waits_for_no_other(own_threads, gate):
    held = gate()
    last = [own_threads.submit("bulk", held) for _ in range(background.THREADS["bulk"] + 1)][-1]
    assert held.began.wait(SOON)
    for priority in ("tree", "short", "path"):
        assert own_threads.submit(priority, lambda progress, stop: None).wait(SOON)
    assert last.began is None


@pytest.mark.parametrize(
    ("raised", "kind"),
    [(ParameterError("x", "y", 1, "z"), ParameterError), (MemoryError(), FailedWork), (ValueError("cell 66000"), FailedWork)],
)
def test_what_work_raises_is_an_error_of_ours_whose_log_quotes_nothing_and_progress_never_goes_back(raised, kind, caplog):
    told = []

    def work(progress, stop):
        for share in (0.25, 0.1, 3.0):
            progress(share)
            told.append(job.share)
        raise raised

    job = Job(work)
    job.run()
    assert told == [0.25, 0.25, 1.0]
    assert isinstance(job.error, kind)
    assert job.error.__traceback__ is None, "which would hold rows"
    assert "66000" not in caplog.text
    assert (", in work" in caplog.text) == (type(raised) is ValueError)


@pytest.mark.slow
def test_a_server_ends_while_a_job_is_under_way():
    code = (
        "from threading import Event\n"
        "from dpviz.app.background import Pool\n"
        "began = Event()\n"
        "Pool().submit('bulk', lambda progress, stop: (began.set(), Event().wait()))\n"
        f"assert began.wait({SOON})\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], timeout=2 * SOON, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


# --- tasks of a session


@pytest.fixture
def session(monkeypatch):
    """A session without a page."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(background, "while_connected", lambda name, work: work)


def job_of(slot):
    return st.session_state["_work"].jobs[slot][0]


def done(task, *, again=False):
    start(task, again=again)
    assert job_of(task.name).wait(SOON)
    return state(task)


def kept(slot):
    return st.session_state["_work"].results[slot]


@pytest.mark.usefixtures("session")
class TestParts:
    def test_a_stop_keeps_what_is_done_and_what_is_half_done_is_made_again(self):
        def half(progress, stop):
            job_of("slot").stop()
            return "half"

        never = open_gate("never")
        task = in_parts("slot", {"a": open_gate("whole"), "b": half, "c": never})
        status = done(task)
        assert (status.was_stopped, status.values, status.n_missing, never.runs) == (True, ("whole", "half"), 2, 0)
        assert autostart(task).job is None, "not begun again unasked"
        again = done(in_parts("slot", {"a": open_gate("new"), "b": open_gate("made"), "c": never}))
        assert again.values == ("whole", "made", "never")

    def test_a_problem_spares_the_other_parts_and_is_tried_again(self):
        def failing(progress, stop):
            raise problem

        problem = DpvizError("Not this one.")
        status = done(in_parts("slot", {"a": failing, "b": open_gate("made")}))
        assert (status.problems, status.values) == ((problem,), ("made",))
        assert done(in_parts("slot", {"a": open_gate("now"), "b": failing})).values == ("now", "made")

    def test_again_makes_what_is_there_anew_puts_it_last_and_the_oldest_of_others_make_room(self):
        done(in_parts("slot", {key: open_gate(key) for key in range(10)}))
        done(in_parts("slot", {0: open_gate("new"), 1: open_gate(1)}, keep=3), again=True)
        assert [(key, result.value) for key, result in kept("slot").items()] == [(7, 7), (8, 8), (9, 9), (0, "new"), (1, 1)]

    def test_every_part_is_looked_for_a_few_times_however_many_there_are(self):
        looks = []

        class Key(int):
            def __hash__(self):
                looks.append(self)
                return int(self)

        task = in_parts("slot", {Key(number): open_gate(number) for number in range(200)})
        done(task)
        looks.clear()
        assert len(done(task, again=True).values) == 200
        assert len(looks) < 20 * 200

    def test_progress_of_parts_rises_to_one_and_steps_are_shown_until_the_last(self):
        task = in_one("slot", "a", lambda progress, stop: iter((1, 2, 3)), is_last=lambda value: value == 3)
        status = done(task)
        assert (status.values, status.n_missing, job_of("slot").share) == ((3,), 0, 1.0)
        half = done(in_one("other", "a", lambda progress, stop: iter((1, 2)), is_last=lambda value: value == 3))
        assert (half.values, half.n_missing, half.was_stopped) == ((2,), 1, True)

    def test_what_fails_as_a_whole_is_told_and_what_is_done_stays(self):
        def compute(missing, progress, stop):
            yield "a", Result(1)
            raise problem

        problem = DpvizError("Enough.")
        task = Task("slot", ("a", "b"), compute)
        status = done(task)
        assert (status.problems, status.values) == ((problem,), (1,))
        assert autostart(task).job is None
        early = done(Task("early", (1, 2), lambda missing, progress, stop: [(1, Result(1))]))
        assert early.was_stopped


@pytest.mark.usefixtures("session")
class TestShown:
    def test_an_answer_stays_is_not_computed_again_and_is_shown_for_no_other_rows(self):
        work = open_gate(1)
        task = in_one("slot", "a", work, fallback_key="these rows")
        assert done(task).result == 1
        assert autostart(task).is_current
        assert work.runs == 1
        assert state(in_one("slot", "b", open_gate(2), fallback_key="other rows")).shown == ()

    def test_the_last_answer_is_shown_and_marked_until_there_is_a_new_one(self, gate):
        first, work = in_one("slot", "a", open_gate(1), asked="first"), gate(2)
        done(first)
        second = in_one("slot", "b", work, asked="second")
        start(second)
        status = state(second)
        assert (status.asked, status.result, status.is_current) == ("first", 1, False)
        work.go.set()
        assert job_of("slot").wait(SOON)
        status = state(second)
        assert (status.asked, status.result, status.is_current) == ("second", 2, True)
        assert state(first).is_current

    def test_a_new_task_stops_the_one_before_not_others_and_asking_twice_joins_the_work(self, gate):
        task = in_one("slot", "a", gate(1))
        start(task)
        start(in_one("other", "a", gate(2)))
        before = job_of("slot")
        start(task)
        assert job_of("slot") is before
        state(in_one("slot", "b", open_gate(3)))
        assert before.is_stopped
        assert not job_of("other").is_stopped

    def test_cancelled_work_is_not_begun_again_unasked_and_goes_on_when_asked(self, gate):
        work = gate("late")
        task = in_parts("slot", {"a": open_gate("early"), "b": work})
        assert autostart(task, SOON).values == ("early",), "the first answer is awaited, not the others"
        assert work.began.wait(SOON)
        state(task).job.stop()
        status = autostart(task)
        assert (status.job, status.was_stopped, status.values, status.is_current) == (None, True, ("early",), True)
        work.go.set()
        assert done(task).n_missing == 0

    def test_a_page_that_waits_for_an_answer_sees_no_work_on_it_under_way(self, monkeypatch, gate):
        last, submit = gate(), background.shared_pool().submit

        def compute(missing, progress, stop):
            yield "a", Result(1)
            last(progress, stop)  # the answer is there, and the work has not ended

        def submit_and_reach_the_end(*asked):
            job = submit(*asked)
            assert last.began.wait(SOON)
            wait = job.wait
            job.wait = lambda seconds: last.go.set() or wait(SOON)
            return job

        monkeypatch.setattr(background.shared_pool(), "submit", submit_and_reach_the_end)
        status = autostart(Task("slot", ("a",), compute), SOON)
        assert (status.values, status.job) == ((1,), None)

    def test_half_of_an_answer_waits_behind_the_last_whole_one_until_its_work_is_begun(self, gate):
        done(in_parts("slot", {"a": open_gate(1), "b": open_gate(2)}))
        more = in_parts("slot", {"b": open_gate(2), "c": gate(3)})
        status = state(more)
        assert (status.shown, status.is_current, status.values, status.n_missing) == ((1, 2), False, (2,), 1)
        start(more)
        assert (state(more).shown, state(more).is_current) == ((2,), True)


# --- on the page


class Rerun(Exception):
    """The page is to be drawn again."""


@pytest.fixture
def watch(monkeypatch) -> Callable[..., tuple[float, Callable[[], None]]]:
    """Watches a task without a browser: gives the seconds between two polls, and the poll."""
    fragments = list[tuple[float, Callable[[], None]]]()
    screen = MagicMock(session_state={}, button=lambda *_, **__: False)
    screen.rerun.side_effect = Rerun
    screen.fragment = lambda run_every: lambda function: fragments.append((run_every, function)) or function
    monkeypatch.setattr(background, "while_connected", lambda name, work: work)
    monkeypatch.setattr(background, "st", screen)

    def polls_of(task: Task, **how: Any) -> tuple[float, Callable[[], None]]:
        background.watch(task, "Computing", **how)
        return fragments[-1]

    return polls_of


def test_news_has_the_page_drawn_again_at_once_drawings_of_many_parts_come_less_often_and_at_end_only_the_end(
    monkeypatch, gate, watch
):
    drawn = list[background.Status]()
    gates = [gate(number) for number in range(5)]
    task = in_parts("slot", dict(enumerate(gates)))
    start(task)

    def open_next(number: int) -> None:
        gates[number].go.set()
        assert gates[number + 1].began.wait(SOON)

    assert gates[0].began.wait(SOON)
    (pause, drawing), (_, whole), (_, at_end) = watch(task, render=drawn.append), watch(task), watch(task, at_end=True)
    assert (pause, drawn) == (background.EVERY_FIRST, [])
    drawing()
    open_next(0)
    for poll in (drawing, whole):
        with pytest.raises(Rerun):
            poll()
    at_end()
    (pause, each), (_, whole) = watch(task, render=drawn.append), watch(task)
    monkeypatch.setattr(background, "MANY", len(gates))
    again, drawing = watch(task, render=drawn.append)
    assert (pause, again, [len(status.values) for status in drawn]) == (background.EVERY, background.EVERY, [1, 1])
    for number in (1, 2, 3):
        open_next(number)
        drawing()
    assert [len(status.values) for status in drawn[2:]] == [2, 3, 3], "half as many again are news, one more of three is none"
    assert drawn[-1] is drawn[-2], "what was made for it is not made again"
    each()
    assert len(drawn[-1].values) == 4, "of few parts each is news"
    with pytest.raises(Rerun):
        whole()
    job = state(task).job
    gates[4].go.set()
    assert job.wait(SOON)
    for poll in (drawing, at_end):
        with pytest.raises(Rerun):
            poll()


def test_many_parts_in_line_are_looked_at_seldom_and_the_page_is_drawn_again_when_their_turn_comes(monkeypatch, gate, watch):
    drawn, other, late = list[background.Status](), gate(), gate("late")
    monkeypatch.setattr(background, "MANY", 2)
    assert autostart(in_one("slot", "a", open_gate("early")), SOON).is_done
    start(in_one("other", "a", other))
    assert other.began.wait(SOON)
    task = in_parts("slot", {"a": open_gate("early"), "b": late})
    start(task)
    pause, poll = watch(task, render=drawn.append)
    poll()
    assert (pause, len(drawn)) == (background.EVERY_IN_LINE, 2)
    assert watch(task)[0] == background.EVERY, "nothing is drawn"
    other.go.set()
    assert late.began.wait(SOON)
    with pytest.raises(Rerun):
        poll()
    assert watch(task, render=drawn.append)[0] == background.EVERY
