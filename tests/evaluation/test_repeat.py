"""Rows on their way to workers."""

import gc
import os
import signal
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import numpy as np
import pytest

from dpviz.errors import FailedWork
from dpviz.evaluation import repeat as workers
from dpviz.evaluation.poisoning import draw
from dpviz.io.samples import load_sample
from dpviz.learners import FitRequest
from dpviz.table.encode import encode
from tests.support.paths import ROOT, SOON


def test_the_last_two_tables_stay_with_their_counts(monkeypatch):
    monkeypatch.setattr(workers, "_TABLES", {})
    data = clinic()
    kept = workers.process_local_copy(data)
    assert kept.caches_counts
    assert workers.process_local_copy(workers.without_caches(data)) is kept
    assert workers.process_local_copy(replace(data, not_row_wise="chosen")) is not kept  # same rows, another claim
    workers.process_local_copy(data.take(slice(0, 50), share=0.5))
    assert len(workers._TABLES) == 2
    assert workers.process_local_copy(data) is not kept


def test_the_same_rows_of_other_persons_are_another_table(monkeypatch):
    """What is held out of a fit goes by persons, and what a person loses by how many rows one has."""
    monkeypatch.setattr(workers, "_TABLES", {})
    data = clinic()
    of_two, of_three = (np.arange(data.n_rows) // rows for rows in (2, 3))
    for persons, rows in ((None, None), (of_two, 2), (of_two, 3), (of_three, 3)):
        given = replace(data, persons=persons, rows_per_person=rows)
        kept = workers.process_local_copy(given)
        assert kept.persons is persons
        assert kept.rows_per_person == rows
        assert workers.process_local_copy(workers.without_caches(given)) is kept


@pytest.mark.slow
def test_draws_in_this_process_leave_no_rows_behind():
    """Rows of private tables are drawn on too; a server must not keep them."""
    data = clinic()
    left = weakref.ref(data.target)
    draw(FitRequest.of("pf-tree", epsilon=1.0, max_depth=2), data, data, draws=3, seed=1)
    del data
    gc.collect()
    assert left() is None


def clinic():
    return encode(*load_sample("clinic"))


def test_no_process_waits_for_the_slow_task_of_another_and_results_keep_their_order():
    last, count = Event(), 10 * workers._AHEAD

    def work(number: int) -> int:
        if number == 0:
            assert last.wait(SOON)  # until everything else was done
        elif number == count - 1:
            last.set()
        return number

    with ThreadPoolExecutor(2) as pool:
        assert list(workers.parallel_map(work, range(count), pool)) == list(range(count))


def doubled(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
def test_a_killed_worker_is_said_and_the_next_work_finds_new_ones():
    with pytest.raises(FailedWork, match="A worker process ended before its work was done; it was killed, or memory ran out"):
        list(workers.parallel_map(doubled, range(8), 2))
    assert list(workers.parallel_map(doubled, (1, 2), 2)) == [2, 4]


def frozen(_):
    return gc.get_freeze_count()


@pytest.mark.slow
def test_workers_look_for_no_garbage_among_packages():
    """loky collects garbage once a second, which among those of scikit-learn takes a tenth of it."""
    workers.start_workers(2)
    assert min(workers.parallel_map(frozen, range(2), 2)) > 10_000


STAYS = """
import sys
from dpviz.evaluation.repeat import parallel_map
print(*parallel_map(abs, range(int(sys.argv[1])), 2), flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
# 1: the other worker has had nothing to do
@pytest.mark.parametrize("tasks", [pytest.param(1, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.verify)])
def test_workers_end_with_a_process_that_is_killed(tasks):
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    process = subprocess.Popen([sys.executable, "-c", STAYS, str(tasks)], text=True, **options)
    assert process.stdout.readline().split() == [str(task) for task in range(tasks)]
    process.kill()
    assert process.communicate(timeout=SOON)[0] == ""  # the output ends when no worker holds it any more


WAITS = """
import signal
from threading import Event
from dpviz.evaluation.repeat import parallel_map
signal.signal(signal.SIGINT, signal.default_int_handler)
def tasks():
    yield from ((), ())
    print("under way", flush=True)
list(parallel_map(lambda _: Event().wait(), tasks(), 2))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
def test_an_interrupt_does_not_wait_for_what_workers_are_doing():
    """They leave the signal to the process that started them, and would go on for ever."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    process = subprocess.Popen([sys.executable, "-c", WAITS], text=True, **options)
    assert process.stdout.readline() == "under way\n"
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in process.communicate(timeout=SOON)[1]
