"""The same work on many tasks, in this process or spread over several by joblib, results in the order of the tasks.

Workers are polite: they yield to whatever else the machine does, and leave Ctrl-C to the process that asked.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice, takewhile
from threading import Event, current_thread, main_thread
from typing import TypeVar

from dpviz.table.dataset import EncodedDataset

T = TypeVar("T")
R = TypeVar("R")

#: Arrays above this many bytes go to the workers once, through shared memory.
_SHARED_ABOVE = "100K"


def spread(work: Callable[[T], R], tasks: Iterable[T], workers: int = 1, *, in_order: bool = True) -> Iterator[R]:
    """`work` on each task, one result after the other.

    Parameters
    ----------
    work : callable
        A function of a module (or a method, or a partial of one), so that it can be sent.
    tasks : iterable
        Taken a little ahead of need; when it ends early, so does the work.
    workers : int
        1 works in this process; more are joblib's n_jobs, on the backend that is active there.
    in_order : bool
        False gives results as they finish.
    """
    if workers == 1:
        yield from map(work, tasks)
        return
    from joblib import Parallel, delayed

    _keep_to_ourselves(os.getpid())
    home, left = os.getpid(), Event()
    away = (delayed(_run_away)(home, work, task) for task in takewhile(lambda _: not left.is_set(), tasks))
    look = {"n_jobs": workers, "pre_dispatch": f"{2 * workers}", "max_nbytes": _SHARED_ABOVE}
    try:
        parallel = Parallel(return_as="generator" if in_order else "generator_unordered", **look)
    except ValueError:  # a backend that can only hand over everything at once: give it a little at a time
        while wave := list(islice(away, 4 * workers)):
            yield from Parallel(**look)(wave)
        return
    results = parallel(away)
    try:
        for found in results:  # noqa: UP028 - `yield from` would close joblib's generator before the lines below
            yield found
    finally:  # a caller that leaves early waits for what is under way: breaking it off would end workers others use
        left.set()
        for _ in results:
            pass


def start_workers(workers: int) -> None:
    """Have so many processes ready for `spread`; starting them takes a second or two."""
    for _ in spread(_import_learners, range(workers), workers):
        pass


def _import_learners(_: int) -> None:
    from dpviz.learners import registry

    registry()


@cache
def _keep_to_ourselves(process: int) -> None:
    """What is shared with workers lies in a folder that only this user may open; joblib's own can be read by everybody."""
    memory = "/dev/shm"
    chosen = os.environ.get("JOBLIB_TEMP_FOLDER") or (memory if os.access(memory, os.W_OK) else None)
    folder = tempfile.mkdtemp(prefix="dpviz-", dir=chosen)
    os.environ["JOBLIB_TEMP_FOLDER"] = folder
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


def light(data: EncodedDataset) -> EncodedDataset:
    """The same rows, light enough to be sent; the fingerprint goes along, so that workers need not compute it."""
    lean = replace(data, report=None, _binnings={})
    lean.__dict__["fingerprint"] = data.fingerprint
    return lean


def _run_away(home: int, work: Callable[[T], R], task: T) -> R:
    if os.getpid() != home:
        _enter_worker()
    return work(task)


@cache
def _enter_worker() -> None:
    """Once per worker process: the screen comes first, and Ctrl-C is for the process that asked."""
    if hasattr(os, "nice"):
        os.nice(10)
    if current_thread() is main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
