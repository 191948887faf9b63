"""The grid of a sweep: its batches, the seed of each fit, and what is still to be fitted."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from dpviz.errors import ParameterError
from dpviz.evaluation.compare.metrics import OF_CLASSES, OF_NUMBERS
from dpviz.learners import FitRequest, get_learner, require_task
from dpviz.learners.variants import parse_variant
from dpviz.randomness import seed_from
from dpviz.table.checked_numbers import checked_count
from dpviz.table.schema import Schema

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
        counts = [
            ("folds", self.folds),
            ("repeats", self.repeats),
            *(("n_rows", rows) for rows in self.n_rows if rows is not None),
        ]
        for name, number in counts:
            checked_count("sweep", name, number)
        checked_count("sweep", "seed", self.seed, 0)
        for name, epsilon, max_depth in product(self.learners, self.epsilons, self.max_depths):
            self.request(name, epsilon, max_depth)

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
        """Make every plan once, so that a learner that cannot run is reported first. Raises WrongTask, SchemaError."""
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


def pending(grid: SweepGrid, done: pd.DataFrame | None = None, *, draws_per_batch: int = 10) -> list[Batch]:
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
