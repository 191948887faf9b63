"""Drag and watch: the tree on screen at some 30 epsilons, drawn in the background for the view."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from dpviz.app import background
from dpviz.app.held_out import parts_of, rows_of_the_tree
from dpviz.app.protected import unit_in_use
from dpviz.app.state import Loaded
from dpviz.app.tree import resampling
from dpviz.app.trees import canonical_key
from dpviz.errors import DpvizError
from dpviz.evaluation.tree import paths
from dpviz.evaluation.workers import light, spread
from dpviz.figures.tree.pair import Side
from dpviz.figures.tree.path_steps import PathSteps
from dpviz.figures.tree.paths import DrawnStep, beside_pinned, measure_of, packed_steps
from dpviz.learners import FitRequest
from dpviz.progress import Progress, Stop, steps

SLOT = "path"
WORDS = "Drawing the tree at other ε, to drag through"
#: With more rows, or more levels at every epsilon, it takes too long to begin by itself.
MOST_ROWS, MOST_LEVELS = 100_000, 7
#: Steps in one worker process: they share their counts there.
TOGETHER = 9
#: Steps the server keeps, of all sessions: some thirty paths.
KEPT = 1000


def path_task(request: FitRequest, loaded: Loaded, *, fold: bool) -> background.Task | None:
    """The drawings at all epsilons, one part each; None where there are none."""
    depth = request.settings.depth
    too_much = loaded.data.n_rows > MOST_ROWS or (depth != "auto" and int(depth) > MOST_LEVELS)
    if too_much or not resampling.is_resampled(request, loaded):
        return None
    parts = parts_of(loaded.data)
    if parts is None:
        return None
    train, test = map(light, parts)
    unit = unit_in_use()
    fit_steps = PathSteps(train, test, loaded.role, fold=fold, unit=unit)
    wanted = {}
    for value in sorted({*paths.EPSILONS, request.settings.epsilon}):
        there = request.at(epsilon=value)
        key = canonical_key(loaded, there, draw=request.seed, path="epsilon", fold=fold, unit=repr(unit))
        wanted[key] = value, there, resampling.draws_of(there, train.schema)
    more: dict[str, Any] = {"priority": "path", "shared": True, "keep": KEPT}
    return background.Task(SLOT, tuple(wanted), partial(_climbed, fit_steps, wanted), **more)


def _climbed(
    fit_steps: PathSteps,
    wanted: Mapping[Any, tuple[float, FitRequest, int]],
    missing: Sequence[Hashable],
    _: Progress,
    stop: Stop,
) -> Iterator[tuple[Hashable, background.Result]]:
    """The missing steps, a few at a time in a worker process."""
    chunks = [missing[start : start + TOGETHER] for start in range(0, len(missing), TOGETHER)]
    asked = steps([[wanted[key] for key in keys] for keys in chunks], None, stop)
    for keys, found in zip(chunks, spread(fit_steps.steps, asked, background.WORKERS), strict=False):  # fewer after a stop
        for key, one in zip(keys, found, strict=True):
            yield key, background.Result(problem=one) if isinstance(one, DpvizError) else background.Result(one)


def path_now(
    request: FitRequest, loaded: Loaded, *, fold: bool, pinned: tuple[str, Side] | None = None
) -> tuple[background.Task | None, str]:
    """The work under way on the path, None without any, and what the view takes of it once it is done.

    It begins by itself. `pinned`, a tree that stands beside every step, comes with a key that says which.
    """
    task = path_task(request, loaded, fold=fold)
    if task is None:
        return None, ""
    status = background.autostart(task)
    if status.n_missing:
        return task, ""
    shown = status.values
    if pinned is not None:
        task = _beside_pinned(task.keys, shown, *pinned)
        paired = background.autostart(task)
        if paired.n_missing:
            return task, ""
        (shown,) = paired.values
    return None, _packed(shown, measure_of(rows_of_the_tree(loaded)), tested_text(loaded))


def _beside_pinned(keys: tuple[Hashable, ...], shown: tuple[DrawnStep, ...], key: str, pinned: Side) -> background.Task:
    def make(*, progress: Progress, stop: Stop) -> tuple[DrawnStep, ...]:
        return tuple(beside_pinned(one, pinned) for one in steps(shown, progress, stop))

    return background.in_one(f"{SLOT}-beside-pinned", (keys, key), make, priority="short", keep=1)


def tested_text(loaded: Loaded) -> str:
    """What stands beside the leading measure, as in "right on 4,000 held-out rows"; empty for rows that are made up."""
    if loaded.is_made_up:
        return ""
    parts = parts_of(loaded.data)
    assert parts is not None
    measure = measure_of(parts[0])
    return f"{'right' if measure == 'test accuracy' else measure} on {parts[1].n_rows:,} held-out rows"


@lru_cache(maxsize=64)
def _packed(steps: tuple[DrawnStep, ...], measure: str, tested: str) -> str:
    return packed_steps(steps, measure, tested)
