"""Background work: how a job stops and what it tells, that no line waits for another, what is kept, shown and drawn when."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
import streamlit as st

from dpviz.app import background
from dpviz.app.background import (
    THREADS,
    Job,
    Pool,
    Result,
    Task,
    autostart,
    cancel,
    drop_oldest,
    in_one,
    in_parts,
    last_shown,
    start,
    state,
    work_on,
)
from dpviz.errors import Cancelled, DpvizError, OutOfMemory, ParameterError, Unforeseen

SOON = 240.0  # a test that hangs fails after this many seconds; none waits that long when it passes


@pytest.fixture
def pool():
    made = Pool()
    yield made
    made.close()


class Held:
    """Work that says when it began, and goes on when it is let or stopped."""

    def __init__(self):
        self.began, self.go, self.was_stopped = Event(), Event(), None

    def __call__(self, progress, stop):
        self.began.set()
        progress(0.5)
        assert self.go.wait(SOON)
        self.was_stopped = stop()


@pytest.fixture
def gates():
    """Makes gates, and opens them all at the end."""
    made = []
    yield lambda: made.append(Held()) or made[-1]
    for gate in made:
        gate.go.set()


def nothing(progress, stop):
    pass


def test_an_error_is_kept_as_it_was(pool):
    def fail(progress, stop):
        raise ParameterError("x", "y", 1, "something else")

    job = pool.submit("me", "short", fail)
    assert job.wait(SOON)
    assert isinstance(job.error, ParameterError)
    assert "something else" in str(job.error)


def test_waiting_for_long_work_gives_up_and_the_work_goes_on(pool, gates):
    gate = gates()
    job = pool.submit("me", "bulk", gate)
    assert gate.began.wait(SOON)
    assert not job.wait(0.0)
    assert job.share == 0.5
    gate.go.set()
    assert job.wait(SOON)
    assert job.error is None


def test_a_stop_reaches_work_under_way_and_work_in_line_never_begins(pool, gates):
    running, waiting = gates(), gates()
    first, second = pool.submit("me", "bulk", running), pool.submit("me", "bulk", waiting)
    assert running.began.wait(SOON)
    first.stop()
    second.stop()
    running.go.set()
    assert second.wait(SOON)
    assert running.was_stopped is True
    assert not waiting.began.is_set()
    assert isinstance(second.error, Cancelled)


def test_work_that_nobody_has_looked_at_for_long_is_unwanted(pool, gates):
    forgotten, watched = gates(), gates()
    jobs = [pool.submit("me", "short", gate, patience=100.0) for gate in (forgotten, watched)]
    assert forgotten.began.wait(SOON)
    assert watched.began.wait(SOON)
    for job in jobs:
        job._last_seen -= 101.0
    jobs[1].mark_seen()
    forgotten.go.set()
    watched.go.set()
    assert all(job.wait(SOON) for job in jobs)
    assert (forgotten.was_stopped, watched.was_stopped) == (True, False)


def test_progress_never_goes_back_nor_past_the_end():
    told = []

    def work(progress, stop):
        for share in (0.25, 0.1, 3.0):
            progress(share)
            told.append(job.share)

    job = Job(work)
    job.run()
    assert told == [0.25, 0.25, 1.0]


def test_a_job_in_line_has_not_begun_and_says_nothing_of_the_time_left(pool, gates):
    gate = gates()
    first = pool.submit("me", "bulk", gate)
    second = pool.submit("you", "bulk", nothing)
    assert gate.began.wait(SOON)
    assert first.has_begun
    assert first.seconds_left >= 0
    assert not second.has_begun
    assert second.seconds_left is None
    gate.go.set()
    assert second.wait(SOON)
    assert second.has_begun


def test_a_tree_is_done_while_bulk_work_and_draws_of_many_sessions_run_and_wait(pool, gates):
    sweeps, draws = [gates() for _ in range(20)], [gates() for _ in range(20)]
    jobs = [pool.submit(f"session {number}", "bulk", gate) for number, gate in enumerate(sweeps)]
    jobs += [pool.submit(f"session {number}", "short", gate) for number, gate in enumerate(draws)]
    assert sweeps[0].began.wait(SOON)
    assert all(gate.began.wait(SOON) for gate in draws[: THREADS["short"]])
    tree = pool.submit("another", "tree", nothing)
    assert tree.wait(SOON)
    assert not any(job.is_done for job in jobs)
    assert sum(job.has_begun for job in jobs) == THREADS["bulk"] + THREADS["short"]


@pytest.mark.slow
def test_a_server_ends_while_a_job_is_under_way():
    code = (
        "from threading import Event\n"
        "from dpviz.app.background import Pool\n"
        "began = Event()\n"
        "Pool().submit('me', 'bulk', lambda progress, stop: (began.set(), Event().wait()))\n"
        "assert began.wait(30)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], timeout=2 * SOON, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_work_without_memory_is_a_message():
    def work(progress, stop):
        raise MemoryError

    job = Job(work)
    job.run()
    assert isinstance(job.error, OutOfMemory)


class Stopping:
    """A stop that the work itself asks for."""

    def __init__(self) -> None:
        self.flag = False

    def __call__(self) -> bool:
        return self.flag


def value(of):
    return lambda progress, stop: of


def run(task, shelf, *, tell=lambda share: None, stop=lambda: False, again=False):
    work_on(task, shelf, again=again)(tell, stop)


def test_a_stop_keeps_what_is_done_and_what_is_half_done_counts_as_missing():
    stop, shelf = Stopping(), {}

    def half(progress, stop):
        stop.flag = True
        return "half"

    with pytest.raises(Cancelled):
        run(in_parts("slot", {"a": value("whole"), "b": half, "c": value("never")}), shelf, stop=stop)
    assert shelf == {"a": Result("whole"), "b": Result("half", complete=False)}


def test_what_is_there_is_not_made_again_and_a_problem_spares_the_rest():
    problem = DpvizError("Not this one.")

    def failing(progress, stop):
        raise problem

    shelf = {"a": Result("before")}
    run(in_parts("slot", {"a": failing, "b": failing, "c": value("made")}), shelf)
    assert shelf["a"].value == "before"
    assert shelf["b"].problem is problem
    assert shelf["c"].value == "made"


def test_a_problem_and_half_an_answer_are_tried_again():
    shelf = {"a": Result(problem=DpvizError("Not yet.")), "b": Result("half", complete=False)}
    run(in_parts("slot", {"a": value("now"), "b": value("whole")}), shelf)
    assert shelf == {"a": Result("now"), "b": Result("whole")}


def test_again_makes_what_is_there_anew_and_puts_it_last():
    shelf = {"a": Result("old"), "b": Result("other")}
    run(in_parts("slot", {"a": value("new")}), shelf, again=True)
    assert list(shelf.items()) == [("b", Result("other")), ("a", Result("new"))]


def test_progress_only_rises_and_ends_at_one():
    shares: list[float] = []

    def tell(progress, stop):
        progress(0.5)
        progress(1.0)

    run(in_parts("slot", {"a": tell, "b": tell}), {}, tell=shares.append)
    assert np.allclose(sorted(set(shares)), [0.25, 0.5, 0.75, 1.0])
    assert shares == sorted(shares)


def test_work_that_ends_early_was_stopped():
    task = Task("slot", (1, 2), lambda missing, progress, stop: [(1, Result(1))])
    with pytest.raises(Cancelled):
        run(task, {})


def test_the_oldest_answers_of_others_make_room_and_those_of_the_task_stay():
    shelf = {key: Result(key) for key in range(10)}
    drop_oldest(shelf, Task("slot", (0, 1), lambda *_: (), keep=3))
    assert list(shelf) == [0, 1, 7, 8, 9]


@pytest.fixture
def session_of_its_own(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(background, "session_name", lambda: "me")


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
    start(task)
    assert job_of(task.name).wait(SOON)
    return state(task)


def open_gate(value):
    gate = Gate(value)
    gate.go.set()
    return gate


@pytest.mark.usefixtures("session_of_its_own")
class TestSession:
    """What is shown meanwhile, what a new task stops, what a stop leaves."""

    def test_an_answer_stays_and_is_not_computed_again(self):
        gate = open_gate(1)
        task = in_one("slot", "a", gate)
        assert done(task).result == 1
        assert autostart(task).is_current
        assert gate.runs == 1

    def test_the_last_answer_is_shown_and_marked_until_there_is_a_new_one(self):
        first, gate = in_one("slot", "a", open_gate(1), asked="first"), Gate(2)
        done(first)
        second = in_one("slot", "b", gate, asked="second")
        start(second)
        status = state(second)
        assert (status.asked, status.result, status.is_current) == ("first", 1, False)
        gate.go.set()
        assert job_of("slot").wait(SOON)
        status = state(second)
        assert (status.asked, status.result, status.is_current) == ("second", 2, True)
        assert state(first).is_current

    def test_answers_about_something_else_are_not_shown(self):
        done(in_one("slot", "a", open_gate(1), fallback_key="these rows"))
        status = state(in_one("slot", "b", open_gate(2), fallback_key="other rows"))
        assert status.shown == ()
        assert last_shown("slot", "these rows") == (1,)

    def test_a_new_task_stops_the_one_before_and_other_slots_go_on(self):
        mine, other = Gate(1), Gate(2)
        start(in_one("slot", "a", mine))
        start(in_one("other", "a", other))
        before = job_of("slot")
        state(in_one("slot", "b", open_gate(3)))
        assert before.is_stopped
        assert not job_of("other").is_stopped
        mine.go.set()
        other.go.set()

    def test_asking_twice_joins_the_work_under_way(self):
        gate = Gate(1)
        task = in_one("slot", "a", gate)
        start(task)
        job = job_of("slot")
        start(task)
        assert job_of("slot") is job
        gate.go.set()

    def test_cancelled_work_is_not_begun_again_unasked_and_goes_on_when_asked(self):
        gate = Gate("late")
        task = in_parts("slot", {"a": open_gate("early"), "b": gate})
        start(task)
        assert gate.began.wait(SOON)
        cancel(task)
        status = autostart(task)
        assert (status.job, status.was_stopped, status.values, status.is_current) == (None, True, ("early",), True)
        gate.go.set()
        assert done(task).n_missing == 0

    def test_half_of_an_answer_waits_behind_the_last_whole_one_until_its_work_is_begun(self):
        done(in_parts("slot", {"a": open_gate(1), "b": open_gate(2)}))
        gate = Gate(3)
        more = in_parts("slot", {"b": open_gate(2), "c": gate})
        status = state(more)
        assert (status.shown, status.is_current, status.values, status.n_missing) == ((1, 2), False, (2,), 1)
        start(more)
        assert state(more).shown == (2,)
        assert state(more).is_current
        gate.go.set()

    def test_what_fails_as_a_whole_is_told_and_what_is_done_stays(self):
        problem = DpvizError("Enough.")

        def compute(missing, progress, stop):
            yield "a", Result(1)
            raise problem

        task = Task("slot", ("a", "b"), compute)
        status = done(task)
        assert status.problems == (problem,)
        assert status.values == (1,)
        assert autostart(task).job is None

    def test_an_error_nobody_expected_stays_until_it_is_tried_again_and_its_place_is_logged_without_its_words(self, caplog):
        def fail(progress, stop):
            raise ValueError(f"cannot read {cell}")

        cell = str(66_000)
        task = in_one("slot", "a", fail)
        start(task)
        assert job_of("slot").wait(SOON)
        for _ in range(2):
            (problem,) = state(task).problems
            assert isinstance(problem, Unforeseen)
        assert autostart(task).job is None
        assert "ValueError in work off the page" in caplog.text
        assert ", in fail" in caplog.text
        assert cell not in caplog.text

    def test_the_first_answer_is_awaited_but_not_the_others(self):
        gate = Gate(2)
        task = in_parts("slot", {"a": open_gate(1), "b": gate})
        assert autostart(task, SOON).values == (1,)
        gate.go.set()


class Rerun(Exception):
    """The page is to be drawn again."""


class Screen:
    """What `watch` draws on; it keeps (pause, function) of every fragment of the last run."""

    def __init__(self) -> None:
        self.fragments: list[tuple[float, Callable[..., None]]] = []
        self.container = self.progress = MagicMock()
        self.session_state: dict[str, Any] = {}

    def fragment(self, run_every: float) -> Callable[[Callable[..., None]], Callable[..., None]]:
        def kept(function: Callable[..., None]) -> Callable[..., None]:
            self.fragments.append((run_every, function))
            return function

        return kept

    def button(self, *_: Any, **__: Any) -> bool:
        return False

    def rerun(self) -> None:
        raise Rerun


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    pool, screen = Pool(), Screen()
    monkeypatch.setattr(background, "session_name", lambda: "me")
    monkeypatch.setattr(background, "shared_pool", lambda: pool)
    monkeypatch.setattr(background, "st", screen)
    yield screen
    pool.close(wait=False)


class Parts:
    """Work in three parts, each of which waits until it is let go."""

    def __init__(self) -> None:
        self.began, self.go = [Event() for _ in range(3)], [Event() for _ in range(3)]
        self.task: Task = in_parts("slot", {number: self._part(number) for number in range(3)})
        start(self.task)
        assert self.began[0].wait(SOON)

    def _part(self, number: int) -> Callable[..., int]:
        def make(progress: Any, stop: Any) -> int:
            self.began[number].set()
            assert self.go[number].wait(SOON)
            return number

        return make

    def let_go(self, number: int) -> None:
        """And wait until its answer is there: the next part begins after that."""
        job = state(self.task).job
        self.go[number].set()
        if number + 1 < len(self.began):
            assert self.began[number + 1].wait(SOON)
        else:
            assert job is None or job.wait(SOON)


def watched(screen: Screen, parts: Parts, **how: Any) -> tuple[float, Callable[[], None]]:
    """(pause, poll) of what is drawn now."""
    screen.fragments.clear()
    background.watch(parts.task, "Computing", **how)
    return screen.fragments[0]


def test_the_first_answer_has_the_page_drawn_again_at_once_and_later_ones_are_drawn_less_often(screen: Screen) -> None:
    parts, drawn = Parts(), list[int]()
    how: dict[str, Any] = {"render": lambda status: drawn.append(len(status.values))}
    pause, again = watched(screen, parts, **how)
    assert pause == background.EVERY_TREE
    assert not drawn
    again()
    parts.let_go(0)
    with pytest.raises(Rerun):
        again()
    pause, again = watched(screen, parts, **how)
    assert pause == background.EVERY
    assert drawn == [1]
    parts.let_go(1)
    again()  # the other fragment draws it, in its time
    parts.let_go(2)
    with pytest.raises(Rerun):
        again()


def test_without_a_drawing_of_its_own_every_part_has_the_page_drawn_again_unless_only_the_end_counts(screen: Screen) -> None:
    parts = Parts()
    (pause, again), (_, again_at_end) = watched(screen, parts), watched(screen, parts, at_end=True)
    assert pause == background.EVERY_TREE
    parts.let_go(0)
    with pytest.raises(Rerun):
        again()
    again_at_end()
    pause, again = watched(screen, parts)
    assert pause == background.EVERY
    parts.let_go(1)
    parts.let_go(2)
