"""The fits that the Compare page draws: a part each, so that another learner or more draws only add to what is there."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from dpviz.app import background
from dpviz.app.parts import escape_markdown
from dpviz.app.state import DataInUse
from dpviz.evaluation import sweep
from dpviz.evaluation.sweep import KEYS, SweepGrid, as_frame, pending_batches
from dpviz.learners import get_learner

if TYPE_CHECKING:
    import pandas as pd

    from dpviz.charts.compare import Axis
    from dpviz.progress import Progress, Stop

SLOT = "compare"
EPSILON, DEPTH, ROWS = "epsilon", "max_depth", "n_rows"
#: Most fits of a first look, which begins unasked after every change; and such looks, the finest first: so many splits, draws
#: per split, and every so manieth place of the axis.
FIRST_LOOK = 100
LOOKS = ((2, 5, 1), (2, 5, 2), (2, 4, 2), (2, 3, 2), (2, 2, 2), (2, 1, 2), (1, 1, 2), (1, 1, 4))
#: Fits of other comparisons that stay.
KEPT = 30_000


@dataclass(frozen=True)
class CompareRequest:
    """The fits of `grid`, with `metric` drawn `along` a column of the frame; `axis` is over what curves along ε are drawn.

    `n_train` is where "all rows" stands on an axis of rows: as many as are trained on, from the public count.
    """

    along: str
    metric: str
    grid: SweepGrid
    n_train: int
    axis: Axis

    @property
    def places(self) -> tuple[float, ...]:
        """The places of the axis."""
        found: tuple[Any, ...] = {EPSILON: self.grid.epsilons, DEPTH: self.grid.max_depths, ROWS: self.grid.n_rows}[self.along]
        return tuple(place or self.n_train for place in found)

    def frame(self, values: Sequence[Any]) -> pd.DataFrame:
        """The rows of fits, with a number for "all rows" where rows are the axis."""
        frame = as_frame(values)
        return frame.assign(n_rows=frame.n_rows.replace(0, self.n_train)) if self.along == ROWS else frame


@cache
def ideas_of(names: tuple[str, ...]) -> str:
    """The idea of each learner, as Markdown."""
    return "\n".join(f"- **{escape_markdown(spec.title)}**: {escape_markdown(spec.idea)}" for spec in map(get_learner, names))


def fits_of(asked: CompareRequest, rows: DataInUse) -> background.Task:
    """The fits of a comparison; values are rows of its frame. Those of a bundled sample are the same in every session."""
    grid, data = asked.grid, rows.data
    origin = json.dumps([data.key, str(rows.role), grid.seed, grid.folds, grid.depth, asdict(grid)["params"]], sort_keys=True)

    def run(missing: Sequence[Hashable], progress: Progress, stop: Stop) -> Iterator[tuple[Hashable, background.Result]]:
        import pandas as pd

        wanted, every = set(missing), (key for batch in grid.batches() for key in batch.row_keys())
        done = pd.DataFrame([key for key in every if (origin, *key) not in wanted], columns=list(KEYS))
        for batch in sweep.run_batches(grid, data, pending_batches(grid, done), workers=background.WORKERS, stop=stop):
            yield from (((origin, *(row[name] for name in KEYS)), background.Result(row)) for row in batch)

    keys = tuple((origin, *key) for batch in grid.batches() for key in batch.row_keys())
    more: dict[str, Any] = {"keep": KEPT, "shared": rows.is_as_bundled}
    return background.Task(SLOT, keys, run, fallback_key=(data.key, asked.along), asked=asked, **more)


def first_look_at(asked: CompareRequest, whole: background.Task) -> background.Task:
    """All where there are few, else the fits of the finest of LOOKS that has at most FIRST_LOOK."""
    fold, repeat, axis = (1 + KEYS.index(name) for name in ("fold", "repeat", asked.along))
    keys: tuple[Any, ...] = whole.keys
    places = list(dict.fromkeys(key[axis] for key in keys if key[axis] != math.inf))
    for folds, repeats, stride in LOOKS:
        if len(keys) <= FIRST_LOOK:
            break
        kept = {*places[::stride], places[-1], math.inf}
        keys = tuple(key for key in whole.keys if key[fold] < folds and key[repeat] < repeats and key[axis] in kept)  # type: ignore[index]
    return replace(whole, keys=keys)
