"""Jobs and lanes: what a job tells, how it stops, and that no lane waits for another."""

import subprocess
import sys
from threading import Event

import pytest

from dpviz.app.work.pool import THREADS, Job, Pool
from dpviz.errors import Cancelled, OutOfMemory, ParameterError

SOON = 240.0  # a test that hangs fails after this many seconds; none waits that long when it passes


@pytest.fixture
def pool():
    made = Pool()
    yield made
    made.close()


class Gate:
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
    yield lambda: made.append(Gate()) or made[-1]
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
        "from dpviz.app.work.pool import Pool\n"
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
