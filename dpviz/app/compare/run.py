"""What the Compare page computes: a part per fit, so that another learner or more draws only add to what is there.

Fits run in worker processes at lower priority, so that the server goes on answering. Only the first points, for which nobody
should wait, are computed here while the worker processes start.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from threading import Thread
from time import monotonic

import streamlit as st

from dpviz.app.compare.ask import CompareRequest
from dpviz.app.explorations import keep_unnoted, note
from dpviz.app.state import Loaded
from dpviz.app.work import tasks
from dpviz.app.work.session import Status, begin, begin_unasked, poll
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
#: Fits of other comparisons that stay in the session.
KEPT = 30_000
_STARTED = "_compare_started"


def compare_task(request: CompareRequest, loaded: Loaded) -> Task:
    """The fits of a comparison; values are rows of its frame."""
    origin = origin_of(loaded, request.grid)
    keys = tuple((origin, *key) for batch in request.grid.batches() for key in batch.row_keys())
    compute = partial(_rows, request.grid, loaded.data, origin)
    about = (loaded.data.fingerprint, request.along)
    return Task(SLOT, keys, compute, about=about, asked=request, keep=KEPT, patience=PATIENCE)


def origin_of(loaded: Loaded, grid: SweepGrid) -> str:
    """One text for all grids whose rows may stand in one frame: the same table, role, splits and parameters."""
    parts = [loaded.data.fingerprint, str(loaded.role), grid.seed, grid.folds, grid.depth, asdict(grid)["params"]]
    return json.dumps(parts, sort_keys=True)


def key_of(origin: str, row: Row) -> Hashable:
    """The key of a fit by its row of the frame."""
    return (origin, *(row[name] for name in KEYS))


def _rows(
    grid: SweepGrid, data: EncodedDataset, origin: str, missing: Sequence[Hashable], progress: Progress, stop: Stop
) -> Iterator[tuple[Hashable, Answer]]:
    import pandas as pd

    wanted = set(missing)
    every = (key for batch in grid.batches() for key in batch.row_keys())
    done = pd.DataFrame([key for key in every if (origin, *key) not in wanted], columns=list(KEYS))
    for rows in _all_batches(grid, data, pending(grid, done), stop):
        yield from ((key_of(origin, row), Answer(row)) for row in rows)


def _all_batches(grid: SweepGrid, data: EncodedDataset, left: list[Batch], stop: Stop) -> Iterator[list[Row]]:
    """The first here, one at least, while worker processes start; the others there."""
    Thread(target=start_workers, args=(tasks.WORKERS,), daemon=True).start()
    until, n_done = monotonic() + FIRST_POINTS, 0

    def is_enough() -> bool:
        return is_stopped(stop) or (n_done > 0 and monotonic() > until)

    for found in run_batches(grid, data, left, stop=is_enough):
        n_done += 1
        yield found
    yield from run_batches(grid, data, left[n_done:], workers=tasks.WORKERS, stop=stop)


def begin_noted(task: Task, loaded: Loaded) -> None:
    """Begin; on private rows that is an exploration no guarantee covers, and it is noted."""
    learners = ", ".join(task.asked.grid.learners)
    keep_unnoted(note(loaded, "curves on the Compare page", learners, {}, times=max(1, poll(task).n_missing)))
    begin(task)


def first_curves(task: Task, loaded: Loaded) -> Status:
    """The first curves of a table begin unasked; private rows are never computed on unasked."""
    status, started = poll(task), st.session_state.setdefault(_STARTED, set())
    if loaded.role is DataRole.PRIVATE or status.shown is not None or loaded.data.fingerprint in started:
        return status
    started.add(loaded.data.fingerprint)
    return begin_unasked(task)
