"""Drag epsilon and watch: the tree on screen at some 25 epsilons, drawn in the background, for the view to go through."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

from dpviz.app.controls import Asked
from dpviz.app.held_out import Parts, parts_of, rows_of_the_tree
from dpviz.app.state import Loaded
from dpviz.app.tree import fresh
from dpviz.app.trees import canonical_key
from dpviz.app.work.session import begin_unasked
from dpviz.app.work.tasks import Task, in_parts
from dpviz.evaluation.tree import ladder
from dpviz.figures.tree.ladder import Step, scale_of, step, step_in_words, strip_svg
from dpviz.models.constant import as_tree
from dpviz.progress import Progress, Stop
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import ClassTarget

SLOT = "ladder"
#: With more rows it takes too long to begin by itself.
MOST_ROWS = 100_000


def ladder_task(asked: Asked, loaded: Loaded, *, fold: bool) -> Task | None:
    """The drawings of all epsilons, one part each, and before them what they are compared with; None where there are none."""
    parts = parts_of(loaded.data.fingerprint, loaded.data)
    if parts is None or loaded.data.n_rows > MOST_ROWS or not fresh.is_drawn_again(asked, loaded):
        return None
    others = {name: value for name, value in asked.settings.items() if name != "epsilon"}
    about = Asked(asked.learner, others, asked.params, asked.draw, {})
    given = {"role": loaded.role, "seed": asked.draw, "draws": fresh.DRAWS, **others, **asked.params}
    rows = rows_of_the_tree(loaded) if loaded.role.may_show_rows else None
    parts = parts[0].with_cached_counts(), parts[1]
    makes: dict[str, Any] = {canonical_key(loaded, about, ladder="lines"): partial(_references, parts, others["max_depth"])}
    for epsilon in ladder.EPSILONS:
        key = canonical_key(loaded, about, draw=asked.draw, ladder=epsilon, fold=fold)
        makes[key] = partial(_step, asked.learner, parts, rows, fold, {"epsilon": epsilon, **given})
    return in_parts(SLOT, makes, keep=2 * len(makes))


def _step(
    name: str, parts: Parts, rows: EncodedDataset | None, fold: bool, given: dict[str, Any], *, progress: Progress, stop: Stop
) -> Step:
    found = ladder.rung(name, *parts, progress=progress, stop=stop, **given)
    tree = as_tree(found.result.model)
    assert tree is not None
    return step(found, tree, rows=rows, fold=fold)


def _references(parts: Parts, max_depth: int, *, progress: Progress, stop: Stop) -> dict[str, float]:
    return ladder.references(*parts, max_depth=max_depth)


def ladder_now(asked: Asked, loaded: Loaded, *, fold: bool) -> tuple[Task, str] | None:
    """The work on the ladder, which begins by itself, and what the view takes of it: "" until it is done."""
    task = ladder_task(asked, loaded, fold=fold)
    if task is None:
        return None
    status = begin_unasked(task)
    if not status.is_done:
        return task, ""
    lines, *steps = status.values
    measure = "test accuracy" if isinstance(loaded.schema.target, ClassTarget) else "R²"
    return task, _packed(tuple(steps), tuple(lines.items()), measure)


@lru_cache(maxsize=8)
def _packed(steps: tuple[Step, ...], lines: tuple[tuple[str, float], ...], measure: str) -> str:
    """Everything the view shows, as gzipped JSON in base 64: the drawings repeat each other."""
    scale, beside = scale_of(steps, dict(lines)), dict(lines)
    shown = [_shown(one, beside, scale, measure) for one in steps]
    return base64.b64encode(gzip.compress(json.dumps(shown).encode(), 6)).decode()


def _shown(one: Step, beside: Mapping[str, float], scale: tuple[float, float], measure: str) -> dict[str, Any]:
    words, strip = step_in_words(one, measure, beside), strip_svg(one, beside, scale)
    return {"epsilon": one.epsilon, "wide": one.wide, "narrow": one.narrow, "strip": strip, "words": words}
