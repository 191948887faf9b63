"""What the Compare page computes: a part per fit, so that another learner or more draws only add to what is there.

Fits run in worker processes at lower priority, so that the server goes on answering. Only the first points, for which nobody
should wait, are computed here while the worker processes start.
"""

import json
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from threading import Event, Thread
from time import monotonic
from typing import Any

import streamlit as st

from dpviz.app.compare.ask import CompareRequest
from dpviz.app.explorations import keep_unnoted, note
from dpviz.app.state import Loaded
from dpviz.app.work import tasks
from dpviz.app.work.session import Status, begin, begin_unasked, poll, values_of
from dpviz.app.work.tasks import Answer, Task
from dpviz.evaluation.compare.grid import KEYS, Batch, Row, SweepGrid, pending
from dpviz.evaluation.compare.sweep import run_batches
from dpviz.evaluation.workers import start_workers
from dpviz.progress import Progress, Stop, is_stopped
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole

#: Seconds that the first fits may take up the server's own process.
FIRST_POINTS = 1.0
SLOT = "compare"
#: Nobody has looked for so many seconds: the session is gone, and others are waiting.
PATIENCE = 120
#: A first look at a large comparison: so many splits and draws, at every other place of the axis.
COARSE_FOLDS, COARSE_REPEATS = 2, 5
#: A comparison of no more fits is computed whole.
SMALL = 250
#: Fits of other comparisons that stay in the session.
KEPT = 30_000
#: Worker processes have been started before.
_THERE = Event()
_STARTED, _PACE = "_compare_started", "_compare_pace"
_PACE_OF_SAMPLES: list[tuple[int, float]] = []


def compare_task(request: CompareRequest, loaded: Loaded) -> Task:
    """The fits of a comparison; values are rows of its frame. Those of a bundled sample are the same in every session."""
    origin = origin_of(loaded, request.grid)
    keys = tuple((origin, *key) for batch in request.grid.batches() for key in batch.row_keys())
    compute = partial(_rows, request.grid, loaded.data, origin, _pace(loaded))
    more: dict[str, Any] = {"keep": KEPT, "patience": PATIENCE, "is_shared": loaded.is_as_bundled}
    return Task(SLOT, keys, compute, about=(loaded.data.fingerprint, request.along), asked=request, **more)


def _pace(loaded: Loaded) -> list[tuple[int, float]]:
    """(fits done, seconds since it began) of the last comparison: of any session where its fits are shared."""
    return _PACE_OF_SAMPLES if loaded.is_as_bundled else st.session_state.setdefault(_PACE, [])


def coarse_task(request: CompareRequest, loaded: Loaded) -> Task:
    """The fits of a first look; all of them where there are few."""
    whole, grid = compare_task(request, loaded), request.grid
    if len(whole.keys) <= SMALL:
        return whole
    epsilons = {*grid.epsilons[::2], grid.epsilons[-1], math.inf}
    fold, repeat, epsilon = (1 + KEYS.index(name) for name in ("fold", "repeat", "epsilon"))
    keys = (key for key in whole.keys if key[fold] < COARSE_FOLDS and key[repeat] < COARSE_REPEATS and key[epsilon] in epsilons)  # type: ignore[index]
    return replace(whole, keys=tuple(keys))


def task_in_view(request: CompareRequest, loaded: Loaded) -> Task:
    """The first look of a table's first comparison until it is there; else the whole comparison."""
    coarse = coarse_task(request, loaded)
    started = st.session_state.setdefault(_STARTED, {})
    is_first = loaded.role is not DataRole.PRIVATE and started.setdefault(loaded.data.fingerprint, coarse.keys) == coarse.keys
    return coarse if is_first and len(values_of(coarse)) < len(coarse.keys) else compare_task(request, loaded)


def is_first_look(request: CompareRequest, loaded: Loaded, status: Status) -> bool:
    """True when what is shown is the first look at exactly this comparison, and nothing more was asked for."""
    coarse = coarse_task(request, loaded)
    is_there = len(values_of(coarse)) == len(coarse.keys)
    return is_there and not status.is_current and len(status.shown) == len(coarse.keys) > 0


def seconds_for(n_fits: int, loaded: Loaded) -> float | None:
    """About how long so many fits take, by the pace of those before; None before any."""
    pace = list(_pace(loaded))  # another session may begin anew meanwhile
    if len(pace) < 2:
        return None
    (n_half, half), (n_done, done) = pace[len(pace) // 2 - 1], pace[-1]  # worker processes take a while to start
    return n_fits * (done - half) / max(1, n_done - n_half)


def origin_of(loaded: Loaded, grid: SweepGrid) -> str:
    """One text for all grids whose rows may stand in one frame: the same table, role, splits and parameters."""
    parts = [loaded.data.fingerprint, str(loaded.role), grid.seed, grid.folds, grid.depth, asdict(grid)["params"]]
    return json.dumps(parts, sort_keys=True)


def key_of(origin: str, row: Row) -> Hashable:
    """The key of a fit by its row of the frame."""
    return (origin, *(row[name] for name in KEYS))


def _rows(
    grid: SweepGrid,
    data: EncodedDataset,
    origin: str,
    pace: list[tuple[int, float]],
    missing: Sequence[Hashable],
    progress: Progress,
    stop: Stop,
) -> Iterator[tuple[Hashable, Answer]]:
    import pandas as pd

    wanted = set(missing)
    every = (key for batch in grid.batches() for key in batch.row_keys())
    done = pd.DataFrame([key for key in every if (origin, *key) not in wanted], columns=list(KEYS))
    began, n_fits = monotonic(), 0
    pace.clear()
    for rows in _all_batches(grid, data, pending(grid, done), stop):
        yield from ((key_of(origin, row), Answer(row)) for row in rows)
        n_fits += len(rows)
        pace.append((n_fits, monotonic() - began))


def _all_batches(grid: SweepGrid, data: EncodedDataset, left: list[Batch], stop: Stop) -> Iterator[list[Row]]:
    """The first here, one at least, while this server has no worker processes yet; the others there."""
    Thread(target=_start_workers, daemon=True).start()
    until, n_done = monotonic() + FIRST_POINTS, 0

    def is_enough() -> bool:
        return is_stopped(stop) or (n_done > 0 and (_THERE.is_set() or monotonic() > until))

    for found in run_batches(grid, data, left, stop=is_enough):
        n_done += 1
        yield found
    yield from run_batches(grid, data, left[n_done:], workers=tasks.WORKERS, stop=stop)


def _start_workers() -> None:
    start_workers(tasks.WORKERS)
    _THERE.set()


def begin_noted(task: Task, loaded: Loaded) -> None:
    """Begin; on private rows that is an exploration no guarantee covers, and it is noted."""
    learners = ", ".join(task.asked.grid.learners)
    keep_unnoted(note(loaded, "curves on the Compare page", learners, {}, times=max(1, poll(task).n_missing)))
    begin(task)


def first_curves(task: Task, loaded: Loaded) -> Status:
    """The first look at a table begins unasked; private rows are never computed on unasked."""
    status = poll(task)
    if loaded.role is DataRole.PRIVATE or status.shown:
        return status
    coarse = coarse_task(task.asked, loaded)
    if st.session_state.get(_STARTED, {}).get(loaded.data.fingerprint) != coarse.keys:
        return status
    if task.keys == coarse.keys:
        return begin_unasked(task)
    poll(coarse)  # another session took this first look: it is what is shown last here too
    return poll(task)
