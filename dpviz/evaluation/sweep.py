"""Sweeps: how accurate learners are over epsilon, depth and number of rows, one fit per row of a tidy frame.

Every fit has a seed derived from what it is (learner, depth, rows, fold, repeat), so the frame is the same whatever the
number of workers and whatever was done before. Draws of one learner on one fold share what they count. Work goes through
joblib's public interface: with a Dask, Ray or Spark backend registered there, the same sweep runs on a cluster.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.errors import ParameterError
from dpviz.evaluation.metrics import metrics
from dpviz.learners import fit, get_learner, require_task
from dpviz.randomness import generator
from dpviz.table.dataset import EncodedDataset
from dpviz.training.params import Settings, make_params

if TYPE_CHECKING:
    import pandas as pd

#: What makes a row of the frame the one it is.
KEYS = ("learner", "epsilon", "max_depth", "n_rows", "fold", "repeat")

Row = dict[str, Any]


@dataclass(frozen=True)
class SweepGrid:
    """Everything to be fitted: the product of all these.

    Attributes
    ----------
    learners : tuple of str
    epsilons : tuple of float
        A learner without privacy is fitted once per depth, rows and fold; its epsilon in the frame is infinite.
    max_depths : tuple of int
    n_rows : tuple of int or None
        Training rows used; None is all of the fold.
    folds : int
        At least 2: cross-validation; 1: a single split, one row in five held out.
    repeats : int
        Draws of the learner per split.
    params : mapping
        Learner -> its own parameters.
    """

    learners: tuple[str, ...]
    epsilons: tuple[float, ...]
    max_depths: tuple[int, ...] = (4,)
    n_rows: tuple[int | None, ...] = (None,)
    folds: int = 5
    repeats: int = 10
    seed: int = 0
    depth: int | str = "auto"
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in (("learners", self.learners), ("epsilon", self.epsilons), ("max_depth", self.max_depths)):
            if not value:
                raise ParameterError("sweep", name, value, "at least one")
        for name, number in (("folds", self.folds), ("repeats", self.repeats)):
            if number < 1:
                raise ParameterError("sweep", name, number, "a whole number of at least 1")
        for name in self.learners:
            spec = get_learner(name)
            make_params(spec.Params, name, dict(self.params.get(name, {})))
        for epsilon, max_depth in product(self.epsilons, self.max_depths):
            Settings(epsilon=epsilon, max_depth=max_depth, depth=self.depth)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Batch:
    """Fits that run in one piece: one learner, epsilon, depth and number of rows on one fold, some repeats."""

    learner: str
    epsilon: float
    max_depth: int
    n_rows: int | None
    fold: int
    repeats: tuple[int, ...]

    def keys(self) -> Iterator[tuple[Any, ...]]:
        """The KEYS of each of its rows, with 0 for "all rows"."""
        for repeat in self.repeats:
            yield (self.learner, self.epsilon, self.max_depth, self.n_rows or 0, self.fold, repeat)


def sweep(
    learners: Sequence[str],
    data: EncodedDataset,
    *,
    epsilon: Sequence[float],
    max_depth: Sequence[int] = (4,),
    n_rows: Sequence[int | None] = (None,),
    folds: int = 5,
    repeats: int = 10,
    seed: int = 0,
    depth: int | str = "auto",
    params: Mapping[str, Mapping[str, Any]] | None = None,
    workers: int = 1,
    done: pd.DataFrame | None = None,
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> pd.DataFrame:
    """Fit the whole grid and return one row per fit.

    Parameters
    ----------
    learners, data, epsilon, max_depth, n_rows, folds, repeats, seed, depth, params
        As in SweepGrid.
    workers : int
        Processes; 1 works in this one.
    done : DataFrame, optional
        An earlier frame of the same grid; its rows are kept and not fitted again.
    progress : callable (share in (0, 1]), optional
    stop : callable () -> bool, optional
        Looked at between batches; rows done so far are returned.

    Returns
    -------
    DataFrame
        Columns `learner, epsilon, max_depth, n_rows, fold, repeat` (n_rows 0 = all rows of the fold), then `depth` used,
        `claimed` and `composed` epsilon, `verdict`, and the metrics of `dpviz.evaluation.metrics`.
    """
    grid = SweepGrid(
        tuple(learners), tuple(epsilon), tuple(max_depth), tuple(n_rows), folds, repeats, seed, depth, params or {}
    )
    rows: list[Row] = [] if done is None else done.to_dict("records")
    left = pending(grid, done)
    for number, batch_rows in enumerate(run_batches(grid, data, left, workers=workers, stop=stop), start=1):
        rows += batch_rows
        if progress is not None:
            progress(number / len(left))
    return as_frame(rows)


def as_frame(rows: Iterable[Row]) -> pd.DataFrame:
    """Rows as a frame in the order of KEYS, whatever the order they were done in."""
    import pandas as pd

    frame = pd.DataFrame(list(rows))
    return frame if frame.empty else frame.sort_values(list(KEYS), kind="stable", ignore_index=True)


def pending(grid: SweepGrid, done: pd.DataFrame | None = None, *, draws_per_batch: int = 10) -> list[Batch]:
    """Batches not in `done`, first one draw of everything, so that early results cover the whole grid."""
    known = set() if done is None or done.empty else set(done[list(KEYS)].itertuples(index=False, name=None))
    first, rest = [], []
    for batch in _all_batches(grid):
        repeats = [repeat for repeat, key in zip(batch.repeats, batch.keys(), strict=True) if key not in known]
        head, tail = repeats[:1], repeats[1:]
        first += [replace(batch, repeats=tuple(head))] if head else []
        chunks = (tail[start : start + draws_per_batch] for start in range(0, len(tail), draws_per_batch))
        rest += [replace(batch, repeats=tuple(chunk)) for chunk in chunks]
    return first + sorted(rest, key=lambda batch: (batch.fold, batch.repeats))


def _all_batches(grid: SweepGrid) -> Iterator[Batch]:
    for fold, learner, max_depth, n_rows in product(range(grid.folds), grid.learners, grid.max_depths, grid.n_rows):
        if get_learner(learner).spends_epsilon:
            for epsilon in grid.epsilons:
                yield Batch(learner, epsilon, max_depth, n_rows, fold, tuple(range(grid.repeats)))
        else:
            yield Batch(learner, float("inf"), max_depth, n_rows, fold, (0,))


def run_batches(
    grid: SweepGrid,
    data: EncodedDataset,
    batches: Sequence[Batch],
    *,
    workers: int = 1,
    stop: Callable[[], bool] | None = None,
) -> Iterator[list[Row]]:
    """Rows batch by batch, as they finish. After a stop no batch is started any more."""
    for learner in grid.learners:
        require_task(get_learner(learner), data.schema)
    from joblib import Parallel, delayed

    todo = (batch for batch in batches if stop is None or not stop())  # joblib takes from here a little ahead of need
    if workers == 1:
        yield from (_run(grid, data, batch) for batch in todo)
        return
    parallel = Parallel(n_jobs=workers, return_as="generator_unordered", pre_dispatch=f"{2 * workers}")
    results = parallel(delayed(_run_politely)(grid, data, batch) for batch in todo)
    try:
        yield from results
    finally:
        results.close()


def _run_politely(grid: SweepGrid, data: EncodedDataset, batch: Batch) -> list[Row]:
    _lower_priority()
    return _run(grid, data, batch)


@lru_cache(maxsize=1)
def _lower_priority() -> None:
    """Once per worker process: the screen comes first."""
    if hasattr(os, "nice"):
        os.nice(10)


def _run(grid: SweepGrid, data: EncodedDataset, batch: Batch) -> list[Row]:
    train, test = _split(data.fingerprint, data, grid.folds, grid.seed, batch.fold, batch.n_rows)
    params = dict(grid.params.get(batch.learner, {}))
    epsilon = batch.epsilon if np.isfinite(batch.epsilon) else 1.0  # a learner without privacy ignores it
    rows = []
    for repeat in batch.repeats:
        result = fit(
            batch.learner,
            train,
            epsilon=epsilon,
            max_depth=batch.max_depth,
            depth=grid.depth,
            seed=seed_of(grid.seed, batch, repeat),
            **params,
        )
        key = dict(zip(KEYS, (batch.learner, batch.epsilon, batch.max_depth, batch.n_rows or 0, batch.fold, repeat), strict=True))
        about = {
            "depth": result.plan.depth,
            "claimed": result.claim.epsilon,
            "composed": result.ledger.guarantee.epsilon,
            "verdict": result.claim.verdict,
        }
        rows.append(key | about | metrics(result.model, train, test))
    return rows


def seed_of(seed: int, batch: Batch, repeat: int) -> int:
    """The seed of one fit: from what it is, not from when or where it runs. The same for every epsilon (common draws)."""
    parts = (seed, zlib.crc32(batch.learner.encode()), batch.max_depth, batch.n_rows or 0, batch.fold, repeat)
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> 1)


_SPLITS: dict[tuple[Any, ...], tuple[EncodedDataset, EncodedDataset]] = {}
_MOST_SPLITS = 32


def _split(
    fingerprint: str, data: EncodedDataset, folds: int, seed: int, fold: int, n_rows: int | None
) -> tuple[EncodedDataset, EncodedDataset]:
    """(train, test) of a fold, kept in this process so that the fits of many batches share what they count."""
    key = (fingerprint, folds, seed, fold, n_rows)
    if key not in _SPLITS:
        if len(_SPLITS) >= _MOST_SPLITS:
            _SPLITS.clear()
        train, test = data.split(0.2, seed=seed) if folds == 1 else data.folds(folds, seed=seed)[fold]
        _SPLITS[key] = _part(train, n_rows, seed).remembering(), test
    return _SPLITS[key]


def _part(train: EncodedDataset, n_rows: int | None, seed: int) -> EncodedDataset:
    if n_rows is None or n_rows >= train.n_rows:
        return train
    rows = np.sort(generator(seed).permutation(train.n_rows)[:n_rows])
    return train.take(rows, share=n_rows / train.n_rows)
