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

from dpviz.app import background
from dpviz.app.compare.ask import CompareRequest
from dpviz.app.explorations import keep_unnoted, note
from dpviz.app.state import Loaded
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
#: Most fits of a first look, which begins unasked after every change.
FIRST_LOOK = 300
#: First looks, the finest first: so many splits, draws per split, and every so manieth place of the axis.
LOOKS = ((2, 5, 1), (2, 5, 2), (2, 4, 2), (2, 3, 2), (2, 2, 2), (2, 1, 2), (1, 1, 2), (1, 1, 4))
#: Fits of other comparisons that stay in the session.
KEPT = 30_000
#: Worker processes have been started before.
_THERE = Event()
_WHOLE, _PACE = "_compare_whole", "_compare_pace"
_PACE_OF_SAMPLES: dict[str, float] = {}


def compare_task(request: CompareRequest, loaded: Loaded) -> background.Task:
    """The fits of a comparison; values are rows of its frame. Those of a bundled sample are the same in every session."""
    origin = origin_of(loaded, request.grid)
    keys = tuple((origin, *key) for batch in request.grid.batches() for key in batch.row_keys())
    compute = partial(_rows, request.grid, loaded.data, origin, _pace(loaded))
    more: dict[str, Any] = {"keep": KEPT, "patience": PATIENCE, "shared": loaded.is_as_bundled}
    return background.Task(SLOT, keys, compute, fallback_key=(loaded.data.fingerprint, request.along), asked=request, **more)


def _pace(loaded: Loaded) -> dict[str, float]:
    """Learner -> seconds per fit in the last comparison it was part of: of any session where its fits are shared."""
    return _PACE_OF_SAMPLES if loaded.is_as_bundled else st.session_state.setdefault(_PACE, {})


def first_look(request: CompareRequest, loaded: Loaded) -> background.Task:
    """The fits of a first look: all where there are few, else those of the finest of LOOKS that has at most FIRST_LOOK."""
    whole = compare_task(request, loaded)
    fold, repeat, axis = (1 + KEYS.index(name) for name in ("fold", "repeat", request.along))
    places = list(dict.fromkeys(key[axis] for key in whole.keys if key[axis] != math.inf))  # type: ignore[index]
    keys = whole.keys
    for folds, repeats, stride in LOOKS:
        if len(keys) <= FIRST_LOOK:
            break
        kept = {*places[::stride], places[-1], math.inf}
        keys = tuple(k for k in whole.keys if k[fold] < folds and k[repeat] < repeats and k[axis] in kept)  # type: ignore[index]
    return replace(whole, keys=keys)


def in_view(request: CompareRequest, loaded: Loaded) -> tuple[background.Task, background.Status]:
    """What is worked on and shown: the first look until it is there or the whole is asked for, then the whole.

    A first look begins unasked, but never at private rows.
    """
    whole, coarse = compare_task(request, loaded), first_look(request, loaded)
    if st.session_state.get(_WHOLE) == whole.keys:
        return whole, background.state(whole)
    st.session_state.pop(_WHOLE, None)
    if len(background.values_of(coarse)) < len(coarse.keys):
        may_begin = loaded.role is not DataRole.PRIVATE and len(coarse.keys) <= FIRST_LOOK
        return coarse, background.autostart(coarse) if may_begin else background.state(coarse)
    background.state(coarse)  # is what is shown last, also where it was there already
    return whole, background.state(whole)


def is_first_look(request: CompareRequest, loaded: Loaded, status: background.Status) -> bool:
    """True when what is shown is the first look at exactly this comparison."""
    return not status.is_current and len(status.shown) == len(first_look(request, loaded).keys) > 0


def seconds_for(task: background.Task, loaded: Loaded) -> float | None:
    """About how long the missing fits of a comparison take; None where one of its learners was not timed before."""
    pace, there = _pace(loaded), background.state(task).results
    missing = [key[1] for key, answer in zip(task.keys, there, strict=True) if answer is None]  # type: ignore[index]
    return sum(pace[learner] for learner in missing) if pace.keys() >= set(missing) else None


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
    pace: dict[str, float],
    missing: Sequence[Hashable],
    progress: Progress,
    stop: Stop,
) -> Iterator[tuple[Hashable, background.Result]]:
    import pandas as pd

    wanted = set(missing)
    every = (key for batch in grid.batches() for key in batch.row_keys())
    done = pd.DataFrame([key for key in every if (origin, *key) not in wanted], columns=list(KEYS))
    learners = {str(key[1]) for key in wanted}  # type: ignore[index]
    began, n_fits, n_at_first = monotonic(), 0, 0
    for rows in _all_batches(grid, data, pending(grid, done), stop):
        yield from ((key_of(origin, row), background.Result(row)) for row in rows)
        n_fits += len(rows)
        if not n_at_first:  # the first ones also wait for the counts and for worker processes
            began, n_at_first = monotonic(), n_fits
        elif len(learners) < n_fits:
            pace.update(dict.fromkeys(learners, (monotonic() - began) / (n_fits - n_at_first)))


def _all_batches(grid: SweepGrid, data: EncodedDataset, left: list[Batch], stop: Stop) -> Iterator[list[Row]]:
    """The first here, one at least, while this server has no worker processes yet; the others there."""
    Thread(target=_start_workers, daemon=True).start()
    until, n_done = monotonic() + FIRST_POINTS, 0

    def is_enough() -> bool:
        return is_stopped(stop) or (n_done > 0 and (_THERE.is_set() or monotonic() > until))

    for found in run_batches(grid, data, left, stop=is_enough):
        n_done += 1
        yield found
    yield from run_batches(grid, data, left[n_done:], workers=background.WORKERS, stop=stop)


def _start_workers() -> None:
    start_workers(background.WORKERS)
    _THERE.set()


def begin_noted(task: background.Task, loaded: Loaded) -> None:
    """Begin; on private rows that is an exploration no guarantee covers, and it is noted."""
    learners = ", ".join(task.asked.grid.learners)
    keep_unnoted(note(loaded, "curves on the Compare page", learners, {}, times=max(1, background.state(task).n_missing)))
    if task.keys == compare_task(task.asked, loaded).keys:
        st.session_state[_WHOLE] = task.keys
    background.start(task)
