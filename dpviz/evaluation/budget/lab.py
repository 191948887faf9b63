"""The budget lab: the accuracy of a tree as the shares of its epsilon are moved, and the gain from one step more of a share.

Accuracy is on the training rows, averaged over draws, as in Figure 2 of Vos et al. 2023 (arXiv 2305.15394). The k-th draw has the
same seed at every point, so that differences are less noisy than the points themselves. Computed from many trees and from exact
rows: for simulated and public rows only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from dpviz.errors import Cancelled
from dpviz.evaluation.budget.shares import STEPS, MovableShares, Shares
from dpviz.evaluation.workers import in_chunks
from dpviz.learners import FitRequest
from dpviz.progress import Progress, Stop
from dpviz.randomness import child_seeds
from dpviz.table.checked_numbers import checked_count
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema

#: Two-sided 95% of a normal distribution.
Z = 1.959964
_CHUNK = 2


@dataclass(frozen=True)
class ShareMap:
    """Training accuracy at every point, draw by draw."""

    movable: MovableShares
    #: Rows trained on. Private.
    n_rows: int
    points: tuple[Shares, ...]
    scores: np.ndarray = field(repr=False)  #: Shape (n_points, n_draws), read-only
    same_as: tuple[int, ...]  #: Per point the first point with the same plan, mostly itself
    n_asked: int  #: Draws asked for; more than `n_draws` after a stop

    def __post_init__(self) -> None:
        self.scores.flags.writeable = False

    @property
    def n_draws(self) -> int:
        """Draws done."""
        return self.scores.shape[1]

    @property
    def means(self) -> np.ndarray:
        """Mean accuracy per point."""
        return self.scores.mean(axis=1)

    @property
    def errors(self) -> np.ndarray:
        """Standard error of each mean; NaN with a single draw."""
        return standard_error(self.scores)

    @property
    def best(self) -> int:
        """Position of the highest mean."""
        return int(self.means.argmax())

    @property
    def as_good(self) -> tuple[int, ...]:
        """Points statistically tied with the best: the 95% interval of the paired difference holds 0."""
        behind = self.scores[self.best] - self.scores
        limit = Z * np.nan_to_num(standard_error(behind), nan=np.inf)
        return tuple(np.flatnonzero(behind.mean(axis=1) <= limit).tolist())

    def centre(self) -> Shares:
        """Mean of the points tied with the best."""
        return tuple(np.mean([self.points[place] for place in self.as_good], axis=0).tolist())

    def nearest(self, shares: Shares) -> int:
        """Position of the point closest to these shares."""
        whole = np.array(shares) / sum(shares)
        return int(np.square(np.array(self.points) - whole).sum(axis=1).argmin())

    @property
    def has_twins(self) -> bool:
        """True when different shares lead to the same plan."""
        return any(place != first for place, first in enumerate(self.same_as))


@dataclass(frozen=True)
class StepGain:
    """The gain in training accuracy from one step more of a share, with its 95% interval, paired by draw.

    `shares` are those after the step, which the other parts pay for in proportion.
    """

    part: str
    shares: Shares
    gain: float
    low: float
    high: float
    n_draws: int

    @property
    def kind(self) -> str:
        """One of "gain", "loss", or "unclear" when the interval holds 0."""
        return "gain" if self.low > 0 else "loss" if self.high < 0 else "unclear"


def standard_error(scores: np.ndarray) -> np.ndarray:
    """Standard error of the mean along the last axis; NaN with fewer than two."""
    count = scores.shape[-1]
    return scores.std(axis=-1, ddof=1) / np.sqrt(count) if count > 1 else np.full(scores.shape[:-1], np.nan)


def share_map(
    movable: MovableShares,
    data: EncodedDataset,
    *,
    draws: int = 50,
    seed: int,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> ShareMap:
    """Accuracy on the training rows at every point.

    `draws`: draws per point, at least 1.
    `seed`: repeatable; the k-th draw does not depend on `draws` or `workers`.
    `stop`: asked between draws. The draws done so far are kept; raises Cancelled when there are none.
    """
    firsts = _firsts(movable, data.schema)
    distinct = sorted(set(firsts))
    how: dict[str, Any] = {"draws": draws, "seed": seed, "workers": workers, "progress": progress, "stop": stop}
    scores = _scores(movable, data, [movable.points[place] for place in distinct], **how)
    rows = [distinct.index(first) for first in firsts]
    return ShareMap(movable, data.n_rows, movable.points, scores[rows], firsts, draws)


def _firsts(movable: MovableShares, schema: Schema) -> tuple[int, ...]:
    """Per point the first one with the same plan, so that it is fitted only once."""
    known: dict[Any, int] = {}
    return tuple(known.setdefault(_identity(movable, schema, point), at) for at, point in enumerate(movable.points))


def _identity(movable: MovableShares, schema: Schema, shares: Shares) -> tuple[Any, ...]:
    plan = movable.asked(shares).plan(schema)
    return tuple((share.part, share.level, share.group, f"{share.epsilon:.9g}") for share in plan.shares)


def one_step_more(
    movable: MovableShares,
    data: EncodedDataset,
    shares: Shares,
    *,
    draws: int = 200,
    seed: int,
    step: float = 1 / STEPS,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> tuple[StepGain, ...]:
    """The gain from moving `step` of epsilon to each share. A share that cannot take it is left out."""
    start = tuple(value / sum(shares) for value in shares)
    moves = {part: move_share(start, at, step) for at, part in enumerate(movable.parts) if start[at] + step < 1}
    how: dict[str, Any] = {"draws": draws, "seed": seed, "workers": workers, "progress": progress, "stop": stop}
    scores = _scores(movable, data, [start, *moves.values()], **how)
    return tuple(_gain(part, point, scores[at] - scores[0]) for at, (part, point) in enumerate(moves.items(), start=1))


def move_share(shares: Shares, to: int, step: float) -> Shares:
    """`step` more for one share, taken from the others in proportion."""
    rest = (1 - shares[to] - step) / (1 - shares[to])
    return tuple(value + step if at == to else value * rest for at, value in enumerate(shares))


def _gain(part: str, shares: Shares, differences: np.ndarray) -> StepGain:
    mean = float(differences.mean())
    reach = Z * float(np.nan_to_num(standard_error(differences), nan=np.inf))
    return StepGain(part, shares, mean, mean - reach, mean + reach, len(differences))


def _scores(
    movable: MovableShares, data: EncodedDataset, points: Sequence[Shares], *, draws: int, seed: int, **how: Any
) -> np.ndarray:
    """Accuracy on the training rows, shape (n_points, n_draws). Raises Cancelled when nothing was done."""
    checked_count("the budget lab", "draws", draws)
    fits = partial(_fits, data, [movable.asked(point) for point in points])
    found = in_chunks(fits, child_seeds(seed, draws), _CHUNK, **how)
    if not found:
        raise Cancelled
    return np.concatenate(found, axis=1)


def _fits(data: EncodedDataset, requests: Sequence[FitRequest], seeds: Sequence[int]) -> np.ndarray:
    rows = data.with_cached_counts()
    return np.array([[request.at(seed=seed).fit(rows).score(rows) for seed in seeds] for request in requests])
