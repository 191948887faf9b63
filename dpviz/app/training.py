"""Which tree the settings ask for, and its training in the background; the same tree with fresh noise, and at other epsilons.

A tree's key is one canonical JSON text of the rows' key, role, learner, settings, parameters and draw. Rows are never
hashed by Streamlit (it samples large tables). Noise: simulated and public rows use the draw number as a visible seed; private
rows get exact noise where every mechanism has an exact sampler, else a seed from the operating system that stays in the session.
"""

import hashlib
import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import streamlit as st

from dpviz.app import background
from dpviz.app.controls import TreeSettings
from dpviz.app.explorations import keep_unnoted, note
from dpviz.app.held_out import HeldOut, Parts, measure_held_out, parts_of, rows_of_the_tree, tested_text
from dpviz.app.state import DataInUse, unit_in_use
from dpviz.charts.tree.paths import PathSteps, measure_of, packed_steps
from dpviz.errors import Cancelled, DpvizError
from dpviz.evaluation import paths
from dpviz.evaluation.repeat import parallel_map, without_caches
from dpviz.evaluation.resampling import Resamples, resample
from dpviz.learners import FitRequest
from dpviz.models.tree import Tree, as_tree
from dpviz.privacy.source import ExactNoise, Simulation
from dpviz.progress import Progress, Stop, is_stopped, steps
from dpviz.randomness import random_128_bits
from dpviz.results.result import FitResult
from dpviz.table.role import DataRole
from dpviz.table.schema import Schema

#: Names of the work: the tree on screen, its reruns, and the trees at other epsilons.
TREE, RERUNS, PATH = "tree", "resampling", "path"
#: Trees of this session, reruns and drawn epsilons of all sessions that can be shown again without training.
KEPT, KEPT_RERUNS, KEPT_STEPS = 32, 60, 1000
#: Seconds that the page waits for a tree, and then for its reruns, rather than show them later.
SHORT, SHORT_RERUNS = 0.35, 0.12
#: Reruns of a tree; of deep trees, which take longer, one in so many from so many levels on.
DRAWS, OF_DEEP = 30, ((7, 6), (6, 3))
#: With more rows, or more levels, the trees at other epsilons take too long to begin by themselves.
MAX_ROWS, MAX_LEVELS = 100_000, 7
#: Epsilons in one worker process: they share their counts there.
TOGETHER = 9
_ENTROPY = "_entropy"
_packed = lru_cache(maxsize=64)(packed_steps)


@dataclass(frozen=True, slots=True)
class TrainedTree:
    """A tree and, unless the rows are private, how it does on rows held out from its training.

    `unnoted` is why an exploration of private rows could not be noted in the register.
    """

    settings: TreeSettings
    result: FitResult
    held_out: HeldOut | None
    unnoted: DpvizError | None = None

    @property
    def tree(self) -> Tree | None:
        """The model as a complete tree; None for other kinds of model."""
        return as_tree(self.result.model)


class UnseenSimulation(Simulation):
    """A simulation whose seed nobody can read: neither the result nor the file it is written to knows it."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.seed = None

    def enter(self, place: int) -> None:
        """Nothing: trees of private rows never share noise, because two that do cancel it."""


def canonical_key(in_use: DataInUse, request: FitRequest, **more: Any) -> str:
    """One text per question: equal questions, equal text; different rows, settings or roles, different text."""
    parts = {"data": in_use.data.key, "role": str(in_use.role), "request": request.key, **more}
    return json.dumps(parts, sort_keys=True, allow_nan=False)


def tree_task(asked: TreeSettings, in_use: DataInUse) -> background.Task:
    """The training of the tree asked for."""
    key = canonical_key(in_use, asked.request, draw=asked.draw)
    if in_use.role is DataRole.PRIVATE:
        secret = f"{st.session_state.setdefault(_ENTROPY, random_128_bits())} {key}".encode()
        make = partial(_private_tree, asked, in_use, int.from_bytes(hashlib.sha256(secret).digest(), "big"))
    else:  # also the simulated rows that stand for private ones, whose request has no seed
        seeded = replace(asked, request=asked.request.at(seed=asked.draw))
        make = partial(_tree, seeded, in_use, parts_of(in_use.data))
    return background.in_one(TREE, key, make, fallback_key=about(in_use), priority="tree", keep=KEPT)


def about(in_use: DataInUse) -> tuple[str, str]:
    """Whose trees may stand in for each other, until one is there."""
    return in_use.data.key, str(in_use.role)


def _tree(asked: TreeSettings, in_use: DataInUse, parts: Parts | None, *, progress: Progress, stop: Stop) -> TrainedTree:
    request = asked.request.at(seed=asked.draw)  # of rows that stand in for private ones the sidebar names no seed
    result = request.fit(parts[0] if parts else in_use.data)
    _require_wanted(stop)
    progress(0.5)
    counted = measure_held_out(result.model, parts) if parts and not in_use.is_made_up else None
    _require_wanted(stop)
    return TrainedTree(asked, result, counted)


def _private_tree(asked: TreeSettings, in_use: DataInUse, secret: int, *, progress: Progress, stop: Stop) -> TrainedTree:
    """With noise that nobody can repeat, and never by a learner that publishes rows as they are."""
    request = asked.request
    if not request.spec.spends_epsilon:
        raise DpvizError(f"{request.spec.title} is not shown on private rows.", remedy="Choose an algorithm that spends ε.")
    is_exact = request.plan(in_use.data.schema).is_exact
    result = request.fit(in_use.data, ExactNoise() if is_exact else UnseenSimulation(secret))
    _require_wanted(stop)
    return TrainedTree(asked, result, None, note(in_use, "tree on screen", request.learner, request.arguments))


def _require_wanted(stop: Stop) -> None:
    """A tree that nobody wants any more is not shown, whole as it is."""
    if is_stopped(stop):
        raise Cancelled


# --- on the page


def tree_on_page(asked: TreeSettings, in_use: DataInUse) -> TrainedTree | None:
    """Train what is asked for; returns the tree to draw: that one, or until it is there the one before, and says so.

    Its result says whom the rows in use protect, whatever rows stand in for them.
    """
    task = tree_task(asked, in_use)
    status = background.autostart(task, SHORT)
    words = "Showing the previous tree; training the new one" if status.shown else "Training the tree"
    background.show(task, words, stale="")
    if status.was_stopped:
        st.button("Train it after all", icon=":material/play_arrow:", on_click=background.start, args=(task,))
    trained: TrainedTree | None = status.result
    if trained is None:
        return None
    if status.is_current:
        keep_unnoted(trained.unnoted)
    return replace(trained, result=replace(trained.result, unit=unit_in_use()))


# --- the same tree with fresh noise, never of private rows: every rerun would spend epsilon again


def resampling_task(request: FitRequest, in_use: DataInUse) -> background.Task:
    """These settings with fresh noise, again and again. The draws do not depend on the draw on screen."""
    rows = rows_of_the_tree(in_use)
    draws = draws_of(request, rows.schema)
    make = partial(resample, request, rows, draws=draws, seed=0, workers=background.WORKERS)
    return background.in_one(
        RERUNS, canonical_key(in_use, request, draws=draws), make, priority="short", keep=KEPT_RERUNS, shared=True
    )


def draws_of(request: FitRequest, schema: Schema) -> int:
    """How often a tree that is trained by this schema is drawn again."""
    try:
        depth = request.plan(schema).depth
    except DpvizError:  # the fit says why
        return DRAWS
    return max(1, DRAWS // next((part for levels, part in OF_DEEP if depth >= levels), 1))


def is_resampled(request: FitRequest, in_use: DataInUse) -> bool:
    """Whether a tree has noise that may be drawn again: never for private rows, nor for those that stand in for them."""
    return in_use.role is not DataRole.PRIVATE and request.spec.spends_epsilon and not in_use.is_made_up


def current_resamples(request: FitRequest, in_use: DataInUse) -> Resamples | None:
    """The draws of these settings, which begin by themselves; None until they have ended, and where there are none.

    Results are shared: half the draws of a session that went away are not shown while the rest is being made.
    """
    if not is_resampled(request, in_use):
        return None
    status = background.autostart(resampling_task(request, in_use), SHORT_RERUNS)
    drawn: tuple[Resamples, ...] = () if status.job is not None else status.values
    return drawn[0] if drawn and drawn[0].n_done else None


# --- the same tree at some 30 epsilons, drawn for the slider to be dragged through


def path_task(request: FitRequest, in_use: DataInUse, *, fold: bool) -> background.Task | None:
    """The drawings at all epsilons, one part each; None where there are none."""
    depth = request.settings.depth
    too_much = in_use.data.n_rows > MAX_ROWS or (depth != "auto" and int(depth) > MAX_LEVELS)
    if too_much or in_use.role is DataRole.PRIVATE or not request.spec.spends_epsilon:
        return None
    parts = parts_of(in_use.data)
    if parts is None:
        return None
    train, test = map(without_caches, parts)
    unit = unit_in_use()
    fit_steps = PathSteps(train, test, in_use.role, fold=fold, unit=unit)
    wanted = {}
    for value in sorted({*paths.EPSILONS, request.settings.epsilon}):
        there = request.at(epsilon=value)
        key = canonical_key(in_use, there, draw=request.seed, path="epsilon", fold=fold, unit=repr(unit))
        wanted[key] = value, there, draws_of(there, train.schema) if is_resampled(there, in_use) else 0
    more: dict[str, Any] = {"priority": "path", "shared": True, "keep": KEPT_STEPS}
    return background.Task(PATH, tuple(wanted), partial(_fit_path, fit_steps, wanted), **more)


def _fit_path(
    fit_steps: PathSteps,
    wanted: Mapping[Any, tuple[float, FitRequest, int]],
    missing: Sequence[Hashable],
    _: Progress,
    stop: Stop,
) -> Iterator[tuple[Hashable, background.Result]]:
    """The missing steps, a few at a time in a worker process."""
    chunks = [missing[start : start + TOGETHER] for start in range(0, len(missing), TOGETHER)]
    asked = steps([[wanted[key] for key in keys] for keys in chunks], None, stop)
    for keys, found in zip(chunks, parallel_map(fit_steps.steps, asked, background.WORKERS), strict=False):  # fewer after a stop
        for key, one in zip(keys, found, strict=True):
            yield key, background.Result(problem=one) if isinstance(one, DpvizError) else background.Result(one)
    background.launch_workers()  # the next page may need more of the same processes


def current_path(request: FitRequest, in_use: DataInUse, *, fold: bool) -> tuple[background.Task | None, str]:
    """The work under way on the path, None without any, and what the view takes of it once it is done. It begins by itself."""
    task = path_task(request, in_use, fold=fold)
    if task is None:
        return None, ""
    status = background.autostart(task)
    if status.n_missing:
        return task, ""
    return None, _packed(status.values, measure_of(rows_of_the_tree(in_use)), tested_text(in_use))
