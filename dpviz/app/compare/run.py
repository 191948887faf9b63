"""Curves of this session: what was computed stays, what is missing is computed in the background by worker processes.

Rows of the frame are kept by table, splits and parameters, so that another learner or more draws only add to them. The
work runs outside the server's process (joblib), at lower priority: the server goes on answering. Only the first points, which
nobody should wait for, are computed here while the worker processes start.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpviz.app.compare.ask import Question
from dpviz.app.explorations import note_exploration
from dpviz.app.state import Loaded
from dpviz.app.work.jobs import Job, long_jobs, session_name
from dpviz.errors import Cancelled, DpvizError
from dpviz.evaluation.compare.grid import Batch, Row, SweepGrid, n_fits, pending
from dpviz.evaluation.compare.sweep import as_frame, run_batches
from dpviz.evaluation.workers import start_workers
from dpviz.table.dataset import EncodedDataset
from dpviz.table.role import DataRole

if TYPE_CHECKING:
    import pandas as pd

#: So long, in seconds, the first fits may take up the server's own process.
FIRST_POINTS = 1.0
#: Two at least, so that work never runs in the server's own process; not all of a large machine.
WORKERS = max(2, min(8, os.cpu_count() or 2))
LANE = "compare"
#: Nobody has looked for so many seconds: the session is gone, and others are waiting.
PATIENCE = 120
_STORE = "_compare"
_MOST_TABLES = 6


@dataclass
class Running:
    """Curves being computed: rows so far (those kept from before first) and the job that adds to them."""

    question: Question
    pool: str
    rows: list[Row]
    n_missing: int
    job: Job
    n_before: int
    seen: list[float]

    @property
    def frame(self) -> pd.DataFrame:
        """What is there now."""
        return as_frame(list(self.rows))

    def look(self) -> None:
        """Say that somebody is still interested."""
        self.seen[0] = monotonic()

    def await_points(self, seconds: float) -> None:
        """Return once there are rows, or the work has ended, or after so long."""
        until = monotonic() + seconds
        while not self.rows and monotonic() < until and not self.job.wait(0.05):
            pass

    @property
    def n_done(self) -> int:
        """Fits done by this job."""
        return len(self.rows) - self.n_before


@dataclass
class Store:
    """What a session has: rows by pool (same table, role, splits, parameters), the last shown question per axis, the work."""

    pools: dict[str, Any] = field(default_factory=dict)
    last: dict[tuple[str, str], Question] = field(default_factory=dict)
    running: Running | None = None
    problem: DpvizError | None = None
    is_stopped: bool = False


@dataclass(frozen=True)
class Shown:
    """What the page draws: a question with its rows, whether it is the one asked, and how many fits are missing for that."""

    question: Question | None
    frame: pd.DataFrame | None
    is_current: bool
    n_missing: int


def store() -> Store:
    """The one of this session."""
    return st.session_state.setdefault(_STORE, Store())


def pool_of(loaded: Loaded, grid: SweepGrid) -> str:
    """One text for all grids whose rows may stand in one frame."""
    parts = [loaded.data.fingerprint, str(loaded.role), grid.seed, grid.folds, grid.depth, asdict(grid)["params"]]
    return json.dumps(parts, sort_keys=True)


def shown_now(question: Question, loaded: Loaded) -> Shown:
    """The curves asked for if they are there, else the last ones of this table along this axis."""
    known = store().pools.get(pool_of(loaded, question.grid))
    missing = n_fits(pending(question.grid, known))
    place = (loaded.data.fingerprint, question.along)
    last = store().last.get(place)
    if known is not None and (not missing or (last is not None and last.grid == question.grid)):
        store().last[place] = question
        return Shown(question, question.grid.part_of(known), True, missing)
    if last is None:
        return Shown(None, None, False, missing)
    rows = last.grid.part_of(store().pools[pool_of(loaded, last.grid)])
    return Shown(replace(last, metric=question.metric), rows, False, missing)


def collect(question: Question, loaded: Loaded) -> Running | None:
    """What is running for this question. Work that ended, or was for another question, is stopped and its rows kept."""
    running = store().running
    if running is None:
        return None
    is_ours = running.question.grid == question.grid and running.pool == pool_of(loaded, question.grid)
    if is_ours and not running.job.is_done and not running.job.is_stopped:
        running.look()
        return running
    _keep(running, loaded)
    return None


def _keep(running: Running, loaded: Loaded) -> None:
    kept, job = store(), running.job
    kept.running, kept.is_stopped, kept.problem = None, job.is_stopped, None
    if job.is_done:
        try:
            job.result()
        except Cancelled:
            pass
        except DpvizError as problem:
            kept.problem = problem
    long_jobs().forget(session_name(), LANE)
    if not running.rows:
        return
    kept.pools[running.pool] = running.frame
    while len(kept.pools) > _MOST_TABLES:
        _drop(kept, next(iter(kept.pools)))
    kept.last[json.loads(running.pool)[0], running.question.along] = running.question


def _drop(kept: Store, pool: str) -> None:
    """Forget a pool and whatever was shown from it."""
    del kept.pools[pool]
    fingerprint, _, *identity = json.loads(pool)
    for place, question in list(kept.last.items()):
        grid = question.grid
        if place[0] == fingerprint and identity[:3] == [grid.seed, grid.folds, grid.depth]:
            del kept.last[place]


def start(question: Question, loaded: Loaded) -> Running:
    """Compute what is missing, in the background."""
    kept, pool = store(), pool_of(loaded, question.grid)
    known = kept.pools.get(pool)
    rows: list[Row] = [] if known is None else known.to_dict("records")
    left = pending(question.grid, known)
    kept.problem, kept.is_stopped = None, False
    seen = [monotonic()]
    note_exploration(loaded, "curves on the Compare page", ", ".join(question.grid.learners), {}, times=max(1, n_fits(left)))
    work = working(question.grid, loaded.data, left, rows, seen)
    job = long_jobs().submit(session_name(), LANE, f"{pool} {question.grid}", work)
    kept.running = Running(question, pool, rows, n_fits(left), job, len(rows), seen)
    return kept.running


def working(
    grid: SweepGrid, data: EncodedDataset, left: list[Batch], rows: list[Row], seen: list[float]
) -> Callable[[Callable[[float], None], Event], None]:
    """The work: rows are added as they come. It ends early when asked to, and when nobody has looked (`seen`) for long."""
    total, before = n_fits(left), len(rows)

    def work(progress: Callable[[float], None], stop: Event) -> None:
        def is_over() -> bool:
            return stop.is_set() or monotonic() - seen[0] > PATIENCE

        for found in _all_batches(grid, data, left, is_over):
            rows.extend(found)
            progress((len(rows) - before) / total)

    return work


def _all_batches(grid: SweepGrid, data: EncodedDataset, left: list[Batch], stop: Callable[[], bool]) -> Iterator[list[Row]]:
    """The first here, one at least, while worker processes start; the others there."""
    Thread(target=start_workers, args=(WORKERS,), daemon=True).start()
    until, n_done = monotonic() + FIRST_POINTS, 0

    def is_enough() -> bool:
        return stop() or (n_done > 0 and monotonic() > until)

    for found in run_batches(grid, data, left, stop=is_enough):
        n_done += 1
        yield found
    yield from run_batches(grid, data, left[n_done:], workers=WORKERS, stop=stop)


def starts_by_itself(loaded: Loaded) -> bool:
    """True for the first curves of a table whose rows anyone may see; private rows are never computed on unasked."""
    kept = store()
    seen = any(place[0] == loaded.data.fingerprint for place in kept.last)
    return loaded.role is not DataRole.PRIVATE and not seen and not kept.is_stopped and kept.problem is None
