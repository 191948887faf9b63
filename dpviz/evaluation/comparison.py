"""Learners compared from a sweep's frame: bands of outcomes, and differences on the same splits.

Two learners draw their noise independently and share only the split. So they are compared within each fold, over all pairs of
a draw of one and a draw of the other, and every fold has the same weight.

Common random numbers would not make a difference surer here, although the same seed gives a node the same noise: two learners ask
different questions there. Measured on loans (40 draws each, epsilon .01 to 1, 37 pairs of learners and epsilons), the standard
deviation of a difference was .88 to 1.08 times that of independent draws, median 1.01. For `pf-tree` at depths one apart (loans,
clinic, rents; epsilon .03 to 3; 45 cases) the median was .89. So only the epsilons of a learner share noise (`Batch.seed_of`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpviz.evaluation.metrics import OF_CLASSES, OF_NUMBERS, RARE, TABLE, wilson
from dpviz.learners.variants import place_of
from dpviz.table.schema import NumericTarget, Schema

if TYPE_CHECKING:
    import pandas as pd

#: Column of the frame -> its name for people.
METRICS = {name: metric.title for name, metric in TABLE.items() if metric.title}
#: Metrics for which less is better.
ERRORS = tuple(name for name, metric in TABLE.items() if metric.is_error)
#: Quantiles at the ends of a band: nine in ten outcomes lie inside.
BAND = (0.05, 0.95)
_SEVERITY = ("holds", "none", "unproven", "violated")


@dataclass(frozen=True, slots=True)
class Point:
    """Outcomes at one point of a curve."""

    #: The requested epsilon (infinite for a learner without privacy), the maximum depth, or the training rows (0 = all).
    x: float
    composed: float  #: The largest epsilon that the steps of a fit compose to
    #: low, median, high: 5%, 50% and 95% quantiles over draws and folds together.
    low: float
    median: float
    high: float
    n_fits: int
    guesses: float = math.inf  #: Of 100 about one unit: the most right ones; infinite where nothing bounds them
    claimed_guesses: float = math.inf  #: The same by the claimed epsilon alone, whether the claim holds or not


@dataclass(frozen=True, slots=True)
class Curve:
    """One learner's points, by x, and the worst verdict on its claim among them."""

    learner: str
    verdict: str
    points: tuple[Point, ...]

    @property
    def is_private(self) -> bool:
        """True when something is claimed."""
        return self.verdict != "none"

    @property
    def is_sound(self) -> bool:
        """True when its claim holds at every point."""
        return self.verdict == "holds"

    def at(self, x: float) -> Point | None:
        """The point at `x`; the only one of a learner that has just one; None where nothing was fitted."""
        if len(self.points) == 1 and math.isinf(self.points[0].x):
            return self.points[0]
        return next((point for point in self.points if point.x == x), None)


def curves(frame: pd.DataFrame, along: str, metric: str = "accuracy") -> tuple[Curve, ...]:
    """One curve per learner, in the registry's order. `along` is epsilon, max_depth or n_rows.

    Fits without a value of the metric (no scores, so no AUC) are left out.
    """
    known = frame.dropna(subset=[metric])
    groups = {str(learner): rows for learner, rows in known.groupby("learner")}
    return tuple(
        Curve(name, max(groups[name].verdict, key=_SEVERITY.index), tuple(_points(groups[name], along, metric)))
        for name in sorted(groups, key=place_of)
    )


def _points(rows: pd.DataFrame, along: str, metric: str) -> Iterator[Point]:
    places, values, composed = (rows[name].to_numpy(dtype=float) for name in (along, metric, "composed"))
    for x in np.unique(places):
        there = places == x
        low, median, high = np.quantile(values[there], (BAND[0], 0.5, BAND[1]))
        yield Point(float(x), float(composed[there].max()), float(low), float(median), float(high), int(there.sum()))


def with_guesses(
    curves: Sequence[Curve], guesses: Callable[[str, float], float], claimed_guesses_at: Callable[[float], float]
) -> tuple[Curve, ...]:
    """The curves with what each (learner, epsilon) lets somebody guess, and what its claim would let them.

    What is not private has no place among them.
    """

    def placed(curve: Curve) -> Iterator[Point]:
        for point in curve.points:
            is_free = math.isinf(point.x)
            yield (
                point
                if is_free
                else replace(point, guesses=guesses(curve.learner, point.x), claimed_guesses=claimed_guesses_at(point.x))
            )

    return tuple(replace(curve, points=tuple(placed(curve))) for curve in curves)


def at_equal_risk(curves: Iterable[Curve], most: float) -> dict[str, Point]:
    """Learner -> its point with the largest epsilon that allows at most so many right guesses of 100.

    Without privacy its only point; a learner all of whose points allow more is left out.
    """
    points = {}
    for curve in curves:
        within = [point for point in curve.points if point.guesses <= most or math.isinf(point.x)]
        if within:
            points[curve.learner] = max(within, key=lambda point: point.x)
    return points


def rows_at_risk(frame: pd.DataFrame, points: Mapping[str, Point]) -> pd.DataFrame:
    """The fits of these points."""
    epsilons = {learner: point.x for learner, point in points.items()}
    return frame[frame.learner.map(epsilons) == frame.epsilon]


def metrics_for(schema: Schema, majority: float = 0.0) -> tuple[str, ...]:
    """The metrics for this kind of target, the one to show first first. `majority`: share of the most frequent class."""
    names = OF_NUMBERS if isinstance(schema.target, NumericTarget) else OF_CLASSES
    first = "balanced_accuracy" if majority >= RARE else ""
    return tuple(sorted((name for name in METRICS if name in names), key=lambda name: name != first))


def majority_level(frame: pd.DataFrame, metric: str = "accuracy") -> float | None:
    """What a constant prediction reaches: the largest class's accuracy or the mean's RMSE (median over folds), AUC 0.5, R² 0."""
    level = TABLE[metric].constant
    if isinstance(level, str):
        return float(frame.groupby("fold")[level].first().median()) if len(frame) else None
    return level


def rows_at(frame: pd.DataFrame, along: str, x: float) -> pd.DataFrame:
    """The fits at one x; along epsilon also those of learners without privacy, whose epsilon is infinite."""
    at_x = frame[along] == x
    return frame[at_x | np.isinf(frame.epsilon)] if along == "epsilon" else frame[at_x]


@dataclass(frozen=True, slots=True)
class Difference:
    """One learner against another on the same splits."""

    learner: str
    other: str
    #: Choose a split at random and let each learner draw its noise once, independently: the probability that `learner` does
    #: better on the held-out rows, a tie counting half.
    probability: float
    #: probability_low, probability_high: 95% interval given the number of draws (Wilson 1927; conservative, as it treats outcomes
    #: at each split as coin flips). It does not cover the choice of rows. Both equal `probability` when neither learner is
    #: random.
    probability_low: float
    probability_high: float
    #: low, median, high: 5%, 50% and 95% quantiles of how much better `learner` does.
    low: float
    median: float
    high: float
    #: n_folds, n_draws: splits both were fitted on; independent pairs of draws over all of them (0 when neither learner is
    #: random).
    n_folds: int
    n_draws: int


def difference(rows: pd.DataFrame, learner: str, other: str, metric: str = "accuracy") -> Difference | None:
    """Compare two learners in `rows` (see `rows_at`); None when no split has both."""
    ours, theirs = (_outcomes(rows, name, metric) for name in (learner, other))
    folds = sorted(ours.keys() & theirs.keys())
    if not folds:
        return None
    sign = -1 if metric in ERRORS else 1
    pairs = [sign * np.subtract.outer(ours[fold], theirs[fold]).ravel() for fold in folds]
    probability = float(np.mean([np.mean(gap > 0) + np.mean(gap == 0) / 2 for gap in pairs]))
    drawn = [found for name, found in ((learner, ours), (other, theirs)) if _draws(rows, name)]
    n_draws = sum(min((len(found[fold]) for found in drawn), default=0) for fold in folds)  # pairs that share no draw
    low, median, high = _quantiles(pairs)
    return Difference(learner, other, probability, *wilson(probability, n_draws), low, median, high, len(folds), n_draws)


def _quantiles(groups: Sequence[np.ndarray]) -> list[float]:
    """Low, median and high of all values together, every group having the same weight; of two that are one, their middle.

    So the other learner's difference from this one has the same numbers with the other sign.
    """
    sizes, values, shares = np.array([len(group) for group in groups]), np.concatenate(groups), (BAND[0], 0.5, BAND[1])
    weights = np.repeat(np.lcm.reduce(sizes) // sizes, sizes)  # whole numbers, whose sums are exact
    least, mirrored = (np.quantile(side, shares, weights=weights, method="inverted_cdf") for side in (values, -values))
    return ((least - mirrored[::-1]) / 2).tolist()


def _outcomes(rows: pd.DataFrame, learner: str, metric: str) -> dict[int, np.ndarray]:
    fits = rows[rows.learner == learner].dropna(subset=[metric])
    folds, values = fits.fold.to_numpy(), fits[metric].to_numpy(dtype=float)
    return {int(fold): values[folds == fold] for fold in np.unique(folds)}


def _draws(rows: pd.DataFrame, learner: str) -> bool:
    """False for a learner without privacy, which is not random."""
    return not np.isinf(rows.epsilon[rows.learner == learner]).all()
