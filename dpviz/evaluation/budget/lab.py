"""The budget lab: how accurate a tree is when the shares of its epsilon are moved, and what one step more of a share buys.

The measure is accuracy on the training rows, averaged over draws, as in Figure 2 of Vos et al. 2023 (arXiv 2305.15394). The k-th
draw has the same seed at every point, so that differences between points are less noisy than the points. Computed from many
trees and from the rows themselves: for simulated and public rows only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpviz.errors import Cancelled, ParameterError
from dpviz.evaluation.budget.shares import STEPS, MovableShares, Shares
from dpviz.evaluation.workers import spread
from dpviz.learners import fit
from dpviz.randomness import child_seeds
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import Schema

#: Two-sided 95 % of a normal distribution.
Z = 1.959964
_CHUNK = 2

Progress = Callable[[float], None]
Stop = Callable[[], bool]


@dataclass(frozen=True)
class ShareMap:
    """Training accuracy at every point, draw by draw.

    Attributes
    ----------
    question : MovableShares
    n_rows : int
        Rows trained on. Private.
    points : tuple of shares
    scores : ndarray of shape (n_points, n_draws), read-only
    same_as : tuple of int
        Per point the first point that leads to the same plan; itself for most.
    n_asked : int
        Draws asked for; more than there are after a stop.
    """

    question: MovableShares
    n_rows: int
    points: tuple[Shares, ...]
    scores: np.ndarray = field(repr=False)
    same_as: tuple[int, ...]
    n_asked: int

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
        """Points that the draws do not tell from the best one: paired difference within 95 %."""
        behind = self.scores[self.best] - self.scores
        limit = Z * np.nan_to_num(standard_error(behind), nan=np.inf)
        return tuple(np.flatnonzero(behind.mean(axis=1) <= limit).tolist())

    def centre(self) -> Shares:
        """Mean of the points as good as the best: where the good region lies."""
        return tuple(np.mean([self.points[place] for place in self.as_good], axis=0).tolist())

    def nearest(self, shares: Shares) -> int:
        """Position of the point closest to these shares."""
        whole = np.array(shares) / sum(shares)
        return int(np.square(np.array(self.points) - whole).sum(axis=1).argmin())

    @property
    def has_twins(self) -> bool:
        """True when different shares lead to the same plan, so that moving between them changes nothing."""
        return any(place != first for place, first in enumerate(self.same_as))


@dataclass(frozen=True)
class StepGain:
    """What one step more of a share buys: a difference of training accuracy with its 95 % interval, paired by draw.

    `shares` is where it leads; the others give what it takes, in proportion.
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
    """Of the mean along the last axis; NaN with fewer than two."""
    count = scores.shape[-1]
    return scores.std(axis=-1, ddof=1) / np.sqrt(count) if count > 1 else np.full(scores.shape[:-1], np.nan)


def share_map(
    question: MovableShares,
    data: EncodedDataset,
    *,
    draws: int = 50,
    seed: int,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> ShareMap:
    """Accuracy on the training rows at every point of the question.

    Parameters
    ----------
    draws : int
        Draws per point, at least 1.
    seed : int
        Repeatable; the k-th draw does not depend on `draws` or `workers`.
    progress : callable (share in (0, 1]), optional
    stop : callable () -> bool, optional
        Looked at between draws. What is done is kept; raises Cancelled when that is nothing.
    """
    firsts = _firsts(question, data.schema)
    distinct = sorted(set(firsts))
    asked = [question.asked(question.points[place]) for place in distinct]
    scores = _scores(question.learner, data, asked, draws=draws, seed=seed, workers=workers, progress=progress, stop=stop)
    rows = [distinct.index(first) for first in firsts]
    return ShareMap(question, data.n_rows, question.points, scores[rows], firsts, draws)


def _firsts(question: MovableShares, schema: Schema) -> tuple[int, ...]:
    """Per point the first one with the same plan, so that equal work is done once."""
    known: dict[Any, int] = {}
    return tuple(known.setdefault(_identity(question, schema, point), at) for at, point in enumerate(question.points))


def _identity(question: MovableShares, schema: Schema, shares: Shares) -> tuple[Any, ...]:
    plan = question.plan(schema, shares)
    return tuple((share.part, share.level, share.group, f"{share.epsilon:.9g}") for share in plan.shares)


def one_step_more(
    question: MovableShares,
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
    """What moving `step` of epsilon to each share buys, from `shares`. A share that cannot take it is left out."""
    start = tuple(value / sum(shares) for value in shares)
    moves = {part: moved(start, at, step) for at, part in enumerate(question.parts) if start[at] + step < 1}
    asked = [question.asked(point) for point in (start, *moves.values())]
    scores = _scores(question.learner, data, asked, draws=draws, seed=seed, workers=workers, progress=progress, stop=stop)
    return tuple(_gain(part, point, scores[at] - scores[0]) for at, (part, point) in enumerate(moves.items(), start=1))


def moved(shares: Shares, to: int, step: float) -> Shares:
    """`step` more for one share, taken from the others in proportion to what they have."""
    rest = (1 - shares[to] - step) / (1 - shares[to])
    return tuple(value + step if at == to else value * rest for at, value in enumerate(shares))


def _gain(part: str, shares: Shares, differences: np.ndarray) -> StepGain:
    mean = float(differences.mean())
    reach = Z * float(np.nan_to_num(standard_error(differences), nan=np.inf))
    return StepGain(part, shares, mean, mean - reach, mean + reach, len(differences))


@dataclass(frozen=True)
class _Task:
    """Some draws of one learner on the same rows, each asked in several ways."""

    learner: str
    data: EncodedDataset
    asked: Sequence[Mapping[str, Any]]

    def run(self, seeds: Sequence[int]) -> np.ndarray:
        """Accuracy on the training rows, shape (n_asked, n_seeds)."""
        rows = self.data.with_cached_counts()
        return np.array([[fit(self.learner, rows, seed=seed, **asked).score(rows) for seed in seeds] for asked in self.asked])


def _scores(
    learner: str,
    data: EncodedDataset,
    asked: Sequence[Mapping[str, Any]],
    *,
    draws: int,
    seed: int,
    workers: int,
    progress: Progress | None,
    stop: Stop | None,
) -> np.ndarray:
    if draws < 1:
        raise ParameterError("the budget lab", "draws", draws, "at least 1")
    seeds = child_seeds(seed, draws)
    chunks = (seeds[start : start + _CHUNK] for start in range(0, draws, _CHUNK))
    found: list[np.ndarray] = []
    for part in spread(_Task(learner, data, asked).run, _until(stop, chunks), workers):
        found.append(part)
        if progress is not None:
            progress(sum(piece.shape[1] for piece in found) / draws)
    if not found:
        raise Cancelled
    return np.concatenate(found, axis=1)


def _until(stop: Stop | None, chunks: Iterator[list[int]]) -> Iterator[list[int]]:
    for chunk in chunks:
        if stop is not None and stop():
            return
        yield chunk
