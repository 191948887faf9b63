"""The same work on many tasks: in this process, in processes that are kept for a while, or on an executor that is given.

Worker processes run at low priority and leave Ctrl-C to the process that started them. Rows reach them through pipes, not files.
"""

import gc
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import islice
from threading import Thread
from time import sleep
from typing import Any, TypeVar, cast

from dpviz.errors import FailedWork
from dpviz.learners import FitRequest
from dpviz.progress import Progress, Stop, steps
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset
from dpviz.table.validation import validate_count
from dpviz.training.nodes import NodeCache

T = TypeVar("T")
R = TypeVar("R")

#: Seconds that idle worker processes are kept.
IDLE = 300
#: Libraries that would use every processor in each of the workers.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
#: Bytes of counts that a worker process remembers. loky ends a process that has grown by 300 MB, with all it remembers; two
#: thirds of that are packages and rows.
_CACHE_BYTES = 96_000_000
_MAX_TABLES = 2
#: Tasks that an executor has at a time.
_AHEAD = 2 * (os.cpu_count() or 1)
_TABLES: dict[Hashable, EncodedDataset] = {}


#: How many processes, 1 for this one alone; or what runs the work, such as Dask's `Client.get_executor()`.
Workers = int | Executor


def checked_workers(asker: str, workers: Workers) -> Workers:
    """What was asked for; raises ParameterError where it is neither an executor nor a whole number of at least 1."""
    allowed = "a whole number of at least 1, or an executor of concurrent.futures"
    return workers if isinstance(workers, Executor) else validate_count(asker, "workers", workers, allowed=allowed)


def parallel_map(work: Callable[[T], R], tasks: Iterable[T], workers: Workers = 1) -> Iterator[R]:
    """Yield the result of `work` on each task, in order.

    Raises FailedWork where a process was killed. Results that were yielded before stand, and the
    next call starts new processes.

    `work`: a function of a module (or a method, or a partial of one), so that it can be sent to a process.
    `tasks`: consumed a little ahead of the workers; when it ends early, so does the work.
    """
    if workers == 1:
        yield from map(work, tasks)
        return
    executor = workers if isinstance(workers, Executor) else processes(workers)
    left, under_way = iter(tasks), deque[Future[R]]()
    try:
        while True:
            unfinished = [future for future in under_way if not future.done()]
            more = [executor.submit(work, task) for task in islice(left, _AHEAD - len(unfinished))]
            under_way.extend(more)
            if not under_way:
                return
            if under_way[0].done():
                yield under_way.popleft().result()
            else:  # whatever ends first makes room: no process waits for the slow task of another
                wait([*unfinished, *more], return_when=FIRST_COMPLETED)
    except BrokenProcessPool as error:
        raise FailedWork("workers") from error
    except KeyboardInterrupt:
        if executor is not workers:  # else the end of this process would wait for what they are doing
            executor.shutdown(kill_workers=True)  # type: ignore[call-arg]
        raise
    finally:  # a caller that leaves early, or a task that failed
        for future in under_way:
            future.cancel()


def processes(workers: int) -> Executor:
    """So many worker processes: those of the last call, where they are still there."""
    from joblib.externals.loky import get_reusable_executor

    threads = str(max((os.cpu_count() or 1) // workers, 1))
    how = {"timeout": IDLE, "initializer": _enter_worker, "initargs": (os.getpid(),)}
    return cast(Executor, get_reusable_executor(workers, env=dict.fromkeys(_THREAD_VARIABLES, threads), **how))


def in_chunks(
    work: Callable[[Sequence[T]], R],
    items: Sequence[T],
    size: int,
    *,
    workers: Workers = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
    at_least: int = 0,
) -> list[R]:
    """`work` on `size` items at a time: one result per chunk, in order.

    After a stop no chunk is started any more, except that the first `at_least` chunks always are; their results are returned.
    """
    chunks = [items[start : start + size] for start in range(0, len(items), size)]
    results: list[R] = []
    for result in parallel_map(work, steps(chunks, None, stop, at_least=at_least), workers):
        results.append(result)
        if progress is not None:
            progress(min(1.0, len(results) * size / len(items)))
    return results


#: What is measured of a fit, on the rows it was trained on.
Measure = Callable[[FitResult, EncodedDataset], R]


def fit_each(
    requests: Sequence[FitRequest], data: EncodedDataset, seeds: Sequence[int], measure: Measure[R], size: int, **how: Any
) -> list[list[R]]:
    """What is measured of every request, fitted with every seed: a list per seed, in order; fewer after a stop.

    `measure`: a function of a module, or a partial of one.
    `size`: seeds between two looks at `stop`; `how` is for `in_chunks`.
    """
    away = how.get("workers", 1) != 1
    fits = partial(_fits, tuple(requests), without_caches(data) if away else data.with_cached_counts(), measure, away)
    return [found for chunk in in_chunks(fits, seeds, size, **how) for found in chunk]


def _fits(
    requests: Sequence[FitRequest], data: EncodedDataset, measure: Measure[R], away: bool, seeds: Sequence[int]
) -> list[list[R]]:
    rows = process_local_copy(data) if away else data
    return [[measure(request.at(seed=seed).fit(rows), rows) for request in requests] for seed in seeds]


def start_workers(workers: int) -> None:
    """Start worker processes for `parallel_map` ahead of need, which takes a second or two."""
    for _ in parallel_map(_import_packages, range(workers), workers):
        pass


def _import_packages(_: int) -> None:
    """What some learners import when they first train takes longer than all the rest, and stays."""
    if "sklearn.ensemble" not in sys.modules:
        import_module("sklearn.ensemble")
        gc.freeze()


def without_caches(data: EncodedDataset) -> EncodedDataset:
    """The same rows without what is cheap to compute again; the fingerprint goes along."""
    lean = replace(data, report=None)
    lean.__dict__["fingerprint"] = data.fingerprint
    return lean


def process_local_copy(data: EncodedDataset) -> EncodedDataset:
    """The copy of these rows that this process keeps: fits share its counts from one task to the next.

    The last two tables stay in memory until the process ends: for simulated and public rows, and for workers, which end soon.
    """
    key = data.key, data.identity, data.not_row_wise, data.rows_per_person
    kept = _TABLES.pop(key, None) or data.with_cached_counts()
    _TABLES[key] = kept
    for oldest in list(_TABLES)[:-_MAX_TABLES]:
        _TABLES.pop(oldest, None)
    return kept


def _enter_worker(home: int) -> None:
    """As a worker process starts: give way to the screen, remember little, leave Ctrl-C to the process that started it.

    It also ends with that process. A worker that waited for its first task to do so would outlive a killed process by minutes.
    """
    Thread(target=_exit_with_parent, args=(home,), daemon=True).start()
    NodeCache.max_bytes = _CACHE_BYTES
    if hasattr(os, "nice"):
        os.nice(19)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # loky collects garbage once a second: never among packages


def _exit_with_parent(home: int) -> None:
    """The workers of a process that was killed would go on, and keep the rows they have."""
    while os.getppid() == home:
        sleep(1)
    os._exit(1)
