"""The grid of a sweep: its batches, the seed of each fit, and what is still to be fitted."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.errors import DpvizError, ParameterError
from dpviz.evaluation.metrics import OF_CLASSES, OF_NUMBERS, metrics
from dpviz.evaluation.repeat import Workers, checked_workers, parallel_map, without_caches
from dpviz.learners import FitRequest, get_learner, require_task
from dpviz.learners.request import encoded_in_memory
from dpviz.learners.variants import parse_variant
from dpviz.progress import Progress, Stop, steps
from dpviz.randomness import generator, seed_from
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import NumericTarget, Schema
from dpviz.table.validation import validate_count

if TYPE_CHECKING:
    import pandas as pd

#: The columns that identify a row of the frame.
KEYS = ("learner", "epsilon", "max_depth", "n_rows", "fold", "repeat")
#: Then come these, then metrics.
ABOUT = ("depth", "claimed", "composed", "verdict")

Row = dict[str, Any]


def columns_of(names: Iterable[str]) -> tuple[str, ...]:
    """All columns in order: those of a number when `names` (of a row or a frame) include its metrics, else those of classes."""
    return (*KEYS, *ABOUT, *(OF_NUMBERS if OF_NUMBERS[0] in names else OF_CLASSES))


@dataclass(frozen=True)
class SweepGrid:
    """Everything to be fitted: the product of the first four, folds and repeats.

    Raises ParameterError or UnknownName for a grid that cannot be fitted.
    """

    learners: tuple[str, ...]  #: Names, or variants such as "pf-tree(lookahead=1)"
    #: A learner without privacy is fitted once per depth, rows and fold; its epsilon in the frame is infinite.
    epsilons: tuple[float, ...]
    max_depths: tuple[int | None, ...] = (None,)  #: None is each learner's own cap, and stands alone
    n_rows: tuple[int | None, ...] = (None,)  #: Training rows; None (or more than there are) means the whole fold
    folds: int = 5  #: At least 2: cross-validation; 1: a single split with one row in five held out
    repeats: int = 10  #: Draws of the learner per split
    seed: int = 0  #: For splits and noise
    #: int, "auto" or "exact". As for `fit`; "exact" grows trees of exactly each depth in `max_depths`.
    depth: int | str = "auto"
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  #: Learner -> its own parameters

    def __post_init__(self) -> None:
        axes = {"learners": self.learners, "epsilon": self.epsilons, "max_depth": self.max_depths, "n_rows": self.n_rows}
        for name, values in axes.items():
            if not values or any(one == other for place, one in enumerate(values) for other in values[:place]):
                raise ParameterError("sweep", name, values, "at least one, and none twice")
        if None in self.max_depths and len(self.max_depths) > 1:
            raise ParameterError("sweep", "max_depth", self.max_depths, "numbers of levels, or None alone")
        for name, least in (("folds", 1), ("repeats", 1), ("seed", 0)):
            object.__setattr__(self, name, validate_count("sweep", name, getattr(self, name), least))
        n_rows = tuple(None if rows is None else validate_count("sweep", "n_rows", rows) for rows in self.n_rows)
        object.__setattr__(self, "n_rows", n_rows)
        for name, epsilon, max_depth in product(self.learners, self.epsilons, self.max_depths):
            self.request(name, epsilon, max_depth)
        object.__setattr__(self, "epsilons", tuple(map(float, self.epsilons)))

    def request(self, learner: str, epsilon: float, max_depth: int | None) -> FitRequest:
        """One fit; a variant's own parameters count beside, and before, those of its learner."""
        name, own = parse_variant(learner)
        max_depth = get_learner(name).default_max_depth if max_depth is None else max_depth
        depth = max_depth if self.depth == "exact" else self.depth
        return FitRequest.of(name, epsilon=epsilon, max_depth=max_depth, depth=depth, **{**self.params.get(name, {}), **own})

    @property
    def train_share(self) -> float:
        """Share of all rows in a training fold."""
        return 0.8 if self.folds == 1 else 1 - 1 / self.folds

    def require_plans(self, schema: Schema) -> None:
        """Make every plan once, so that a learner that cannot run is reported first. Raises UnsupportedError, SchemaError."""
        part = schema.scaled(self.train_share)
        for name in self.learners:
            require_task(self.request(name, self.epsilons[0], self.max_depths[0]).spec, schema)
            for epsilon, max_depth in product(self.epsilons, self.max_depths):
                self.request(name, epsilon, max_depth).plan(part)

    def batches(self) -> Iterator[Batch]:
        """All fits, one batch per learner, epsilon, depth, number of rows and fold."""
        for fold, learner, asked, n_rows in product(range(self.folds), self.learners, self.max_depths, self.n_rows):
            request = self.request(learner, self.epsilons[0], asked)
            max_depth = request.settings.max_depth
            if request.spec.spends_epsilon:
                for epsilon in self.epsilons:
                    yield Batch(learner, epsilon, max_depth, n_rows, fold, tuple(range(self.repeats)))
            else:
                yield Batch(learner, float("inf"), max_depth, n_rows, fold, (0,))

    def part_of(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of `frame` in this grid. They must come from the same data, seed, folds and parameters."""
        keys = {key for batch in self.batches() for key in batch.row_keys()}
        return frame[[key in keys for key in _keys_of(frame)]]


@dataclass(frozen=True)
class Batch:
    """Fits that run together: some repeats of one learner, epsilon, depth and number of rows on one fold."""

    learner: str
    epsilon: float
    max_depth: int
    n_rows: int | None
    fold: int
    repeats: tuple[int, ...]

    def row_keys(self) -> Iterator[tuple[Any, ...]]:
        """The KEYS of each of its rows; 0 rows means all."""
        for repeat in self.repeats:
            yield self.learner, self.epsilon, self.max_depth, self.n_rows or 0, self.fold, repeat

    def seed_of(self, seed: int, repeat: int) -> int:
        """The seed of one fit, whenever and wherever it runs; the same for every epsilon (common random numbers)."""
        return seed_from(seed, zlib.crc32(self.learner.encode()), self.max_depth, self.n_rows or 0, self.fold, repeat)


def pending_batches(grid: SweepGrid, done: pd.DataFrame | None = None, *, draws_per_batch: int = 10) -> list[Batch]:
    """Batches not in `done`: first one draw of everything, so that early results cover the whole grid."""
    known = set() if done is None or done.empty else set(_keys_of(done))
    first, rest = [], []
    for batch in grid.batches():
        repeats = [repeat for repeat, key in zip(batch.repeats, batch.row_keys(), strict=True) if key not in known]
        head, tail = repeats[:1], repeats[1:]
        first += [replace(batch, repeats=tuple(head))] if head else []
        chunks = (tail[start : start + draws_per_batch] for start in range(0, len(tail), draws_per_batch))
        rest += [replace(batch, repeats=tuple(chunk)) for chunk in chunks]
    return first + sorted(rest, key=lambda batch: (batch.fold, batch.repeats))


def n_fits(batches: Sequence[Batch]) -> int:
    """The number of fits."""
    return sum(len(batch.repeats) for batch in batches)


def _keys_of(frame: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    return frame[list(KEYS)].itertuples(index=False, name=None)


# --- Sweeps: the accuracy of learners over epsilon, depth and number of rows, one fit per row of a tidy frame.

# The seed of a fit follows from its learner, depth, rows, fold and repeat, so the frame does not depend on the number of workers
# or on earlier sweeps. Draws of one learner on one fold share their counts.

#: Held-out share of a single split.
TEST_SHARE = 0.2
_MAX_SPLITS = 32
_MAX_SPLIT_BYTES = 2**29


def sweep(
    learners: Sequence[str],
    data: Any,
    *,
    schema: Schema | None = None,
    epsilon: Sequence[float],
    max_depth: Sequence[int | None] = (None,),
    n_rows: Sequence[int | None] = (None,),
    folds: int = 5,
    repeats: int = 10,
    seed: int = 0,
    depth: int | str = "auto",
    params: Mapping[str, Mapping[str, Any]] | None = None,
    workers: Workers = 1,
    done: pd.DataFrame | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> pd.DataFrame:
    """Fit the whole grid; return one row per fit.

    Parameters
    ----------
    learners : sequence of str
        Names, or variants of a learner such as "pf-tree(lookahead=1)" (`dpviz.learners.variants`).
    data, schema
        As for `fit`. Rows to compare learners on; what comes out is as private as they are.
    epsilon, max_depth, n_rows : sequences
        The grid. Rows are a number of training rows, None for all of them. A largest depth of None is the learner's own.
    folds, repeats : int
        Cross-validation by so many folds, or one split where folds is 1; each is fitted `repeats` times.
    seed : int
        All else follows from it.
    depth
        As for `fit`.
    params : mapping, optional
        Learner -> its own parameters.
    workers : int or concurrent.futures.Executor
        1 works in this process; more are processes of their own, and an executor may run elsewhere.
    done : DataFrame, optional
        An earlier frame of the same rows, seed, folds and parameters, whose rows are kept. A few are fitted again as a check.
    progress : callable (share in (0, 1]), optional
    stop : callable () -> bool, or threading.Event, optional
        Asked between batches; rows done so far are returned.

    Returns
    -------
    DataFrame
        Columns `learner, epsilon, max_depth, n_rows, fold, repeat` (n_rows 0 = all rows of the fold), then `depth` used,
        `claimed` and `composed` epsilon, `verdict`, and the metrics of `dpviz.evaluation.metrics`. The metrics are
        computed from exact rows: private if the rows are, and not covered by any epsilon in the frame.

    Raises
    ------
    UnknownName, ParameterError, SchemaError, UnsupportedError
        For what was asked.
    DpvizError
        `done` is not a frame of this sweep.
    """
    checked_workers("sweep", workers)
    data = encoded_in_memory("sweep", data, schema)
    axes = (_axis("epsilon", epsilon), _axis("max_depth", max_depth), _axis("n_rows", n_rows))
    grid = SweepGrid(tuple(learners), *axes, folds, repeats, seed, depth, params or {})
    if done is not None:
        _require_same_origin(grid, data, done)
    rows: list[Row] = [] if done is None else done.to_dict("records")
    left = pending_batches(grid, done)
    fitted = 0
    for batch_rows in run_batches(grid, data, left, workers=workers, stop=stop):
        rows += batch_rows
        fitted += len(batch_rows)
        if progress is not None:
            progress(fitted / n_fits(left))
    return as_frame(rows)


def _axis(name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    if isinstance(values, (str, bytes)) or not np.iterable(values):
        raise ParameterError("sweep", name, values, "a list of them, such as [0.1, 1]")
    return tuple(values)


def as_frame(rows: Iterable[Row]) -> pd.DataFrame:
    """Rows as a frame, sorted by KEYS."""
    import pandas as pd

    rows = list(rows)
    frame = pd.DataFrame(rows, columns=list(columns_of(rows[0] if rows else ())))
    return frame.sort_values(list(KEYS), kind="stable", ignore_index=True)


def _require_same_origin(grid: SweepGrid, data: EncodedDataset, done: pd.DataFrame) -> None:
    """Fit the first, middle and last row of `done` again; raises DpvizError when one comes out differently.

    So an earlier frame can be checked without storing anything about the rows in it.
    """
    names = OF_NUMBERS if isinstance(data.schema.target, NumericTarget) else OF_CLASSES
    lacks = [name for name in columns_of(names if len(done) else done.columns) if name not in done.columns]
    if lacks:
        raise DpvizError(f"The earlier frame has no column {lacks[0]!r}.", remedy="Give a frame that a sweep returned.")
    known = grid.part_of(done)
    for place in sorted({0, len(known) // 2, len(known) - 1}) if len(known) else ():
        row = known.iloc[place]
        depth, n_rows, fold, repeat = (int(row[name]) for name in KEYS[2:])
        batch = Batch(row.learner, row.epsilon, depth, n_rows or None, fold, (repeat,))
        [again] = _run(grid, data, batch)
        if not np.allclose([again[n] for n in names], [row[n] for n in names], rtol=1e-9, atol=1e-9, equal_nan=True):
            raise DpvizError(
                "The earlier frame was made from other rows, folds, seeds or parameters.",
                remedy="Use the same settings as then, or start afresh.",
            )


def run_batches(
    grid: SweepGrid,
    data: EncodedDataset,
    batches: Sequence[Batch],
    *,
    workers: Workers = 1,
    stop: Stop | None = None,
) -> Iterator[list[Row]]:
    """Rows batch by batch, as they finish. After a stop no further batch is started. Raises what `fit` raises."""
    grid.require_plans(data.schema)
    try:
        yield from parallel_map(partial(_run, grid, without_caches(data)), steps(batches, None, stop), workers)
    finally:  # they may be private: a server keeps no part of them
        _SPLITS.clear()


def _run(grid: SweepGrid, data: EncodedDataset, batch: Batch) -> list[Row]:
    train, test = _split(data, grid.folds, grid.seed, batch.fold, batch.n_rows)
    epsilon = batch.epsilon if np.isfinite(batch.epsilon) else 1.0  # a learner without privacy ignores it
    request = grid.request(batch.learner, epsilon, batch.max_depth)
    rows = []
    for repeat, key in zip(batch.repeats, batch.row_keys(), strict=True):
        result = request.at(seed=batch.seed_of(grid.seed, repeat)).fit(train)
        about = {
            "depth": result.plan.depth,
            "claimed": result.claim_of_person.epsilon,
            "composed": result.spent.epsilon,
            "verdict": result.claim.verdict,
        }
        rows.append(dict(zip(KEYS, key, strict=True)) | about | metrics(result.model, train, test))
    return rows


_SPLITS: dict[tuple[Any, ...], tuple[EncodedDataset, EncodedDataset]] = {}


def _split(data: EncodedDataset, folds: int, seed: int, fold: int, n_rows: int | None) -> tuple[EncodedDataset, EncodedDataset]:
    """(train, test) of a fold, kept while a sweep is under way (by a worker until it ends): many batches share their counts."""
    key = (data.key, folds, seed, fold, n_rows)
    found = _SPLITS.get(key)
    if found is None:
        _make_room(data)
        train, test = data.split(TEST_SHARE, seed=seed) if folds == 1 else data.folds(folds, seed=seed)[fold]
        found = _SPLITS[key] = (_part(train, n_rows, seed).with_cached_counts(), test)
    return found


def _make_room(data: EncodedDataset) -> None:
    """Drop the splits of another table, and limit the memory of this one's."""
    most = min(_MAX_SPLITS, _MAX_SPLIT_BYTES // (3 * data.nbytes + 1))
    if len(_SPLITS) >= most or any(key[0] != data.key for key in tuple(_SPLITS)):
        _SPLITS.clear()


def _part(train: EncodedDataset, n_rows: int | None, seed: int) -> EncodedDataset:
    """The first `n_rows` of one stratified order, so that smaller samples are subsets of larger ones."""
    if n_rows is None or n_rows >= train.n_rows:
        return train
    rows = np.sort(train.stratified_order(generator(seed))[:n_rows])
    return train.take(rows, share=n_rows / train.n_rows)
