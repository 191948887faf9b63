"""Drag and watch: the tree on screen at some 25 epsilons and at every depth, drawn in the background for the view."""

import base64
import gzip
import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import streamlit as st

from dpviz.app.component import event_in
from dpviz.app.controls import Asked
from dpviz.app.epsilon_slider import take_epsilon
from dpviz.app.held_out import parts_of, rows_of_the_tree
from dpviz.app.state import Loaded
from dpviz.app.tree import fresh
from dpviz.app.tree.climbing import Climb
from dpviz.app.trees import canonical_key
from dpviz.app.work import tasks
from dpviz.app.work.pool import Lane
from dpviz.app.work.session import begin_unasked, poll
from dpviz.app.work.tasks import Answer, Task, in_one
from dpviz.errors import DpvizError
from dpviz.evaluation.tree import ladder
from dpviz.evaluation.workers import light, spread
from dpviz.figures.tree.ladder import Step, beside_pinned, scale_of, step_in_words, strip_svg
from dpviz.figures.tree.pair import Side
from dpviz.progress import Progress, Stop, steps
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget

#: What is dragged -> the slot of its work. Epsilon first: depths wait for it.
SLOTS = {"epsilon": "ladder", "depth": "ladder-of-depths"}
WORDS = {"epsilon": "Drawing the tree at other ε, to drag through", "depth": "Drawing the tree at other depths, to drag through"}
_WHAT = {"epsilon": "ε =", "depth": "Depth"}
#: With more rows it takes too long to begin by itself.
MOST_ROWS = 100_000
#: Steps in one worker process: epsilons share their counts there, depths have little to share and the deep ones take long.
TOGETHER = {"epsilon": 9, "depth": 1}
#: Steps the server keeps, of all sessions: some thirty ladders.
KEPT = 1000


def ladder_task(along: str, asked: Asked, loaded: Loaded, *, fold: bool) -> Task | None:
    """The drawings at all epsilons (`along` "epsilon") or depths ("depth"), one part each; None where there are none."""
    if loaded.data.n_rows > MOST_ROWS or not fresh.is_drawn_again(asked, loaded):
        return None
    parts = parts_of(loaded.data)
    if parts is None:
        return None
    train, test = map(light, parts)
    same = {"role": loaded.role, "seed": asked.draw, **asked.params}
    climb = Climb(asked.learner, train, test, same, fold=fold, counts_rows=loaded.role.may_show_rows)
    wanted = {}
    epsilons = sorted({*ladder.EPSILONS, asked.settings["epsilon"]})
    for value in epsilons if along == "epsilon" else ladder.DEPTHS:
        changed = {"epsilon": value} if along == "epsilon" else {"max_depth": value, "depth": value}
        there = Asked(asked.learner, asked.settings | changed, asked.params, asked.draw, {})
        key = canonical_key(loaded, there, draw=asked.draw, ladder=along, fold=fold)
        wanted[key] = value, {**there.settings, "draws": fresh.draws_of(there.settings)}
    more: dict[str, Any] = {"lane": Lane.LADDER, "is_shared": True, "keep": KEPT}
    return Task(SLOTS[along], tuple(wanted), partial(_climbed, climb, wanted, TOGETHER[along]), **more)


def _climbed(
    climb: Climb,
    wanted: Mapping[Any, tuple[float, Mapping[str, Any]]],
    together: int,
    missing: Sequence[Hashable],
    _: Progress,
    stop: Stop,
) -> Iterator[tuple[Hashable, Answer]]:
    """The missing steps, a few at a time in a worker process."""
    chunks = [missing[start : start + together] for start in range(0, len(missing), together)]
    asked = steps([[wanted[key] for key in keys] for keys in chunks], None, stop)
    for keys, found in zip(chunks, spread(climb.steps, asked, tasks.WORKERS), strict=False):  # fewer after a stop
        for key, one in zip(keys, found, strict=True):
            yield key, Answer(problem=one) if isinstance(one, DpvizError) else Answer(one)


def ladders_now(
    asked: Asked, loaded: Loaded, *, fold: bool, pinned: tuple[str, Side] | None = None
) -> tuple[tuple[Task, str] | None, dict[str, str]]:
    """The work under way on the ladders with its words, None without any, and what the view takes of those that are done.

    They begin by themselves, one after the other. A depth that the learner refuses is left out. `pinned`, a tree that stands
    beside every step, comes with a key that says which.
    """
    found = {along: ladder_task(along, asked, loaded, fold=fold) for along in SLOTS}
    tasks = {along: task for along, task in found.items() if task is not None}
    for task in tasks.values():
        poll(task)  # stops the work on what was asked before
    packed: dict[str, str] = {}
    for along, task in tasks.items():
        status = begin_unasked(task)
        if status.n_missing:
            return (task, WORDS[along]), packed
        shown = status.values
        if pinned is not None:
            task = _beside_pinned(along, task.keys, shown, *pinned)
            paired = begin_unasked(task)
            if paired.n_missing:
                return (task, WORDS[along]), packed
            (shown,) = paired.values
        packed[along] = _packed(shown, _WHAT[along], _measure(rows_of_the_tree(loaded)))
    return None, packed


def _beside_pinned(along: str, keys: tuple[Hashable, ...], shown: tuple[Step, ...], key: str, pinned: Side) -> Task:
    def make(*, progress: Progress, stop: Stop) -> tuple[Step, ...]:
        return tuple(beside_pinned(one, _WHAT[along], pinned) for one in steps(shown, progress, stop))

    return in_one(f"{SLOTS[along]}-beside-pinned", (keys, key), make, lane=Lane.SHORT, keep=1)


def _measure(train: EncodedDataset) -> str:
    if not isinstance(train.schema.target, ClassTarget):
        return "R²"
    return "balanced accuracy" if ladder.has_rare_classes(train) else "test accuracy"


@lru_cache(maxsize=64)
def _packed(steps: tuple[Step, ...], what: str, measure: str) -> str:
    """Everything the view shows, as gzipped JSON in base 64: the drawings repeat each other. "" without any step."""
    if not steps:
        return ""
    scale = scale_of(steps)
    shown = [
        {"value": one.value, "wide": one.wide, "narrow": one.narrow, "strip": strip_svg(one, scale)}
        | {"words": step_in_words(one, what, measure)}
        for one in steps
    ]
    return base64.b64encode(gzip.compress(json.dumps(shown).encode(), 6)).decode()


def take_dragged(key: str, along: str) -> None:
    """The sidebar takes the epsilon or depth that was dragged to in the view of this key."""
    if along == "epsilon":
        take_epsilon(key)
    elif event_in(key, along) is not None:
        st.session_state["depth"] = str(event_in(key, along))
