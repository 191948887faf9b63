import subprocess
import sys
from concurrent.futures import TimeoutError as NotDoneYet
from threading import Event

import pytest
from dpviz.app.work.jobs import LEAST_SHARE, MOST_KEPT, Jobs

from dpviz.errors import Cancelled, ParameterError

SOON = 30.0  # a test that hangs fails after this many seconds; none waits that long when it passes


@pytest.fixture
def jobs():
    pool = Jobs(workers=1)
    yield pool
    pool.close()


class Gate:
    """Work that says when it began and goes on when it is let, or stopped."""

    def __init__(self, result="done"):
        self.began, self.go, self.result = Event(), Event(), result

    def __call__(self, progress, stop):
        self.began.set()
        progress(0.5)
        assert self.go.wait(SOON)
        return "stopped" if stop.is_set() else self.result


def test_a_job_keeps_its_result(jobs):
    job = jobs.submit("me", "grow", "a", lambda progress, stop: 42)
    assert job.wait(SOON)
    assert job.result() == job.result() == 42
    assert jobs.find("me", "grow", "a") is job


def test_an_error_reaches_the_caller_as_it_was(jobs):
    def fail(progress, stop):
        raise ParameterError("x", "y", 1, "something else")

    job = jobs.submit("me", "grow", "a", fail)
    assert job.wait(SOON)
    with pytest.raises(ParameterError, match="something else"):
        job.result()


def test_a_timeout_inside_the_work_is_an_error_not_a_wait(jobs):
    def fail(progress, stop):
        raise TimeoutError("inside")

    job = jobs.submit("me", "grow", "a", fail)
    assert job.wait(SOON)
    with pytest.raises(TimeoutError, match="inside"):
        job.result()


def test_waiting_for_long_work_gives_up_and_the_work_goes_on(jobs):
    gate = Gate()
    job = jobs.submit("me", "grow", "a", gate)
    assert gate.began.wait(SOON)
    assert not job.wait(0.0)
    assert job.share == 0.5
    with pytest.raises(NotDoneYet):
        job.result()
    gate.go.set()
    assert job.wait(SOON)
    assert job.result() == "done"


def test_asking_again_for_the_same_key_joins_the_job_that_is_there(jobs):
    gate = Gate()
    job = jobs.submit("me", "grow", "a", gate)
    assert jobs.submit("me", "grow", "a", gate) is job
    gate.go.set()
    assert job.wait(SOON)
    assert jobs.submit("me", "grow", "a", gate) is job


def test_the_latest_wish_wins(jobs):
    first, second, third = Gate(), Gate("second"), Gate("third")
    running = jobs.submit("me", "grow", "a", first)
    assert first.began.wait(SOON)
    waiting = jobs.submit("me", "grow", "b", second)
    latest = jobs.submit("me", "grow", "c", third)
    third.go.set()
    first.go.set()
    assert latest.wait(SOON)
    assert latest.result() == "third"
    assert running.result() == "stopped"
    assert not second.began.is_set()
    with pytest.raises(Cancelled):
        waiting.result()


def test_lanes_and_sessions_do_not_stop_each_other(jobs):
    gate = Gate()
    mine = jobs.submit("me", "grow", "a", gate)
    jobs.submit("me", "redraws", "a", lambda progress, stop: 1)
    jobs.submit("you", "grow", "b", lambda progress, stop: 2)
    assert not mine.is_stopped
    gate.go.set()
    assert mine.wait(SOON)
    assert jobs.find("you", "grow", "a") is None


def test_a_stopped_job_may_keep_what_it_has_and_can_be_asked_for_anew(jobs):
    gate = Gate()
    job = jobs.submit("me", "redraws", "a", gate)
    assert gate.began.wait(SOON)
    job.stop()
    gate.go.set()
    assert job.wait(SOON)
    assert job.result() == "stopped"
    again = jobs.submit("me", "redraws", "a", lambda progress, stop: "new")
    assert again is not job
    assert again.wait(SOON)
    assert again.result() == "new"


def test_a_forgotten_job_is_gone(jobs):
    gate = Gate()
    job = jobs.submit("me", "grow", "a", gate)
    assert gate.began.wait(SOON)
    jobs.forget("me", "grow")
    assert job.is_stopped
    assert jobs.find("me", "grow", "a") is None
    gate.go.set()


def test_progress_never_goes_back_nor_past_the_end(jobs):
    told = []

    def work(progress, stop):
        for share in (0.25, 0.1, 3.0):
            progress(share)
            told.append(job_box[0].share)

    job_box = []
    ready = Event()

    def begin(progress, stop):
        assert ready.wait(SOON)
        work(progress, stop)

    job_box.append(jobs.submit("me", "grow", "a", begin))
    ready.set()
    assert job_box[0].wait(SOON)
    assert told == [0.25, 0.25, 1.0]


def test_results_of_sessions_that_never_come_back_are_dropped(jobs):
    for session in range(MOST_KEPT + 3):
        assert jobs.submit(str(session), "grow", "a", lambda progress, stop: 1).wait(SOON)
    assert jobs.find("0", "grow", "a") is None
    assert jobs.find(str(MOST_KEPT + 2), "grow", "a") is not None
    assert sum(jobs.find(str(session), "grow", "a") is not None for session in range(MOST_KEPT + 3)) == MOST_KEPT


def test_a_job_in_line_has_not_begun_and_says_nothing_of_the_time_left(jobs):
    gate = Gate()
    first = jobs.submit("me", "grow", "a", gate)
    second = jobs.submit("you", "grow", "a", lambda progress, stop: 1)
    assert gate.began.wait(SOON)
    assert first.has_begun
    assert first.seconds_left >= 0
    assert not second.has_begun
    assert second.seconds_left is None
    gate.go.set()
    assert second.wait(SOON)
    assert second.has_begun


def test_too_little_done_gives_no_estimate(jobs):
    job = jobs.submit("me", "grow", "a", lambda progress, stop: progress(LEAST_SHARE / 2))
    assert job.wait(SOON)
    assert job.seconds_left is None


def test_the_current_job_of_a_lane_is_found_without_its_key(jobs):
    assert jobs.current("me", "grow") is None
    job = jobs.submit("me", "grow", "a", lambda progress, stop: 1)
    assert jobs.current("me", "grow") is job
    assert jobs.current("you", "grow") is None


def test_a_server_ends_while_a_job_is_under_way():
    code = (
        "from threading import Event\n"
        "from dpviz.app.work.jobs import Jobs\n"
        "began = Event()\n"
        "Jobs(workers=1).submit('me', 'long', 'a', lambda progress, stop: (began.set(), Event().wait()))\n"
        "assert began.wait(30)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], timeout=2 * SOON, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
