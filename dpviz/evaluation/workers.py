"""The same work on many tasks, in this process or spread over several by joblib, results in the order of the tasks.

Workers are polite: they yield to whatever else the machine does, and leave Ctrl-C to the process that asked.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from threading import current_thread, main_thread
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: Arrays above this many bytes go to the workers once, through shared memory.
_SHARED_ABOVE = "100K"


def spread(work: Callable[[T], R], tasks: Iterable[T], workers: int = 1) -> Iterator[R]:
    """`work` on each task, one result after the other.

    Parameters
    ----------
    work : callable
        A function of a module, so that it can be sent.
    tasks : iterable
        Taken a little ahead of need; when it ends early, so does the work.
    workers : int
        1 works in this process; more are joblib's n_jobs, on the backend that is active there.
    """
    if workers == 1:
        yield from map(work, tasks)
        return
    from joblib import Parallel, delayed

    away = (delayed(_run_away)(os.getpid(), work, task) for task in tasks)
    look = {"n_jobs": workers, "pre_dispatch": f"{2 * workers}", "max_nbytes": _SHARED_ABOVE}
    try:
        parallel = Parallel(return_as="generator", **look)
    except ValueError:  # a backend that can only hand over everything at once: give it a little at a time
        while wave := list(islice(away, 4 * workers)):
            yield from Parallel(**look)(wave)
        return
    results = parallel(away)
    try:
        yield from results
    finally:
        results.close()


def _run_away(home: int, work: Callable[[T], R], task: T) -> R:
    if os.getpid() != home:
        _enter_worker()
    return work(task)


@cache
def _enter_worker() -> None:
    """Once per worker process."""
    if hasattr(os, "nice"):
        os.nice(10)
    if current_thread() is main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
