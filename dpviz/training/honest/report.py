"""A private test result: what a model is worth on rows it never saw, from one released table of noisy counts.

The table says how many rows of each class got each answer of the model; an answer is a label with probabilities (a leaf of a
tree, a band of scores). Everything else is computed from it: post-processing, at no further cost.

**Intervals.** Accuracy, log loss and the like are ratios A / B of sums over cells. For the true value t, W = A - t B has mean
0 and variance sum_c (n_c + s^2) (a_c - t b_c)^2: each count is about Poisson and carries noise of variance s^2. The interval
holds every t with W^2 <= z^2 Var W, a quadratic inequality (Fieller 1954), and is the whole range where noise hides B. AUC is
bilinear in the counts of the two classes, W = sum_ij pos_i neg_j (psi_ij - t), treated alike.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.models.document import write_leaf
from dpviz.models.tree import Leaf
from dpviz.privacy.geometric import GeometricNoise
from dpviz.table.schema import Schema

#: The part of the plan and of the ledger.
TEST = "test"
#: Two-sided 95% of a normal distribution.
Z = 1.959964
CONFIDENCE = 0.95
#: Bands of predicted probability for which calibration is told.
BANDS = 10


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number that was estimated from noisy counts, with the ends of its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CalibrationBand:
    """Rows whose probability was predicted as about `predicted`; `observed` is the share for which it came true."""

    predicted: float
    observed: Estimate


@dataclass(frozen=True)
class TestReport:
    """A model's test result."""

    schema: Schema
    share: float  #: Part of the rows that coins kept for this test
    epsilon: float  #: What each of these rows pays for the table; they pay for nothing else
    #: Every answer of the model with the released noisy counts of the rows that got it, per actual class.
    table: tuple[Leaf, ...]
    #: Such counts of other rows, in the order of `table`, that made the probabilities but not the labels (honest leaves, as many
    #: answers as leaves): they tell of labels too, at the same noise.
    counted: tuple[tuple[int, ...], ...] | None = None

    __test__ = False  # no test of pytest's

    @cached_property
    def counts(self) -> np.ndarray:
        """Released noisy counts, int64 of shape (n_answers, n_classes)."""
        return np.array([answer.counts for answer in self.table], dtype=np.int64)

    @property
    def n_rows(self) -> int:
        """Rows of the test, from noisy counts; may be far off, even negative, where there are few."""
        return int(self.counts.sum())

    @cached_property
    def _of_labels(self) -> tuple[np.ndarray, float]:
        """All counts that know nothing of how the labels were chosen, and the variance of their noise."""
        if self.counted is None:
            return self.counts, self.noise_variance
        return self.counts + np.array(self.counted, dtype=np.int64), 2 * self.noise_variance

    @property
    def noise_variance(self) -> float:
        """Of the noise on each count."""
        return GeometricNoise(self.epsilon).variance

    @cached_property
    def _is_right(self) -> np.ndarray:
        """1 where the class of the column is the answer's label: float64 of the shape of `counts`."""
        labels = np.array([answer.label for answer in self.table])
        return (labels[:, None] == np.arange(self.counts.shape[1])).astype(np.float64)

    @cached_property
    def accuracy(self) -> Estimate:
        """Share of the rows whose label is right."""
        return self._label_ratio(self._is_right, np.ones_like(self._is_right))

    @cached_property
    def confusion(self) -> tuple[tuple[Estimate, ...], ...]:
        """Share of all rows per actual class (rows) and predicted class (columns)."""
        labels, classes = np.array([answer.label for answer in self.table]), range(self.counts.shape[1])
        every = np.ones(self.counts.shape)

        def cell(actual: int, predicted: int) -> Estimate:
            chosen = np.zeros(self.counts.shape)
            chosen[labels == predicted, actual] = 1
            return self._label_ratio(chosen, every)

        return tuple(tuple(cell(actual, predicted) for predicted in classes) for actual in classes)

    @cached_property
    def recalls(self) -> tuple[Estimate, ...]:
        """Per class: share of its rows whose label is right."""
        columns = np.eye(self.counts.shape[1])[:, None, :] * np.ones((1, len(self.table), 1))
        return tuple(self._label_ratio(self._is_right * column, column) for column in columns)

    @cached_property
    def balanced_accuracy(self) -> Estimate:
        """Mean of `recalls`: every class counts alike.

        Recalls come from different counts, so the squares of their distances to the ends add up (Zou & Donner 2008).
        """
        number = len(self.recalls)
        value = sum(recall.value for recall in self.recalls) / number
        below, above = (math.hypot(*(getattr(r, end) - r.value for r in self.recalls)) / number for end in ("low", "high"))
        return Estimate(value, max(0.0, value - below), min(1.0, value + above))

    @cached_property
    def largest_share(self) -> Estimate:
        """Share of the rows that are of the most frequent class: the accuracy of always saying it."""
        columns = np.eye(self.counts.shape[1])[:, None, :] * np.ones((1, len(self.table), 1))
        return max((self._label_ratio(column, np.ones_like(column)) for column in columns), key=lambda share: share.value)

    @cached_property
    def has_probabilities(self) -> bool:
        """False where the model gives labels only."""
        return all(answer.shares is not None for answer in self.table)

    @cached_property
    def _shares(self) -> np.ndarray:
        return np.array([answer.shares for answer in self.table], dtype=np.float64)

    @cached_property
    def log_loss(self) -> Estimate | None:
        """Mean of -ln(probability of the actual class); None without probabilities."""
        if not self.has_probabilities:
            return None
        losses = -np.log(np.maximum(self._shares, 1e-9))
        return self._ratio(losses, np.ones_like(losses), low=float(losses.min()), high=float(losses.max()))

    @cached_property
    def auc(self) -> Estimate | None:
        """Chance that a row of the second class is ranked above one of the first (ties: half); None for more than two classes."""
        if not self.has_probabilities or self.counts.shape[1] != 2:
            return None
        negative, positive = self.counts.T.astype(np.float64)
        scores = self._shares[:, 1]
        wins = (np.sign(scores[:, None] - scores[None, :]) + 1) / 2  # (positive's answer, negative's answer)
        of_positive, of_negative = (np.maximum(column, 0) + self.noise_variance for column in (positive, negative))
        value, whole = positive @ wins @ negative, positive.sum() * negative.sum()
        spread = (
            _quadratic(of_positive, wins @ negative, negative.sum())
            + _quadratic(of_negative, positive @ wins, positive.sum())
            - _quadratic(np.outer(of_positive, of_negative), wins, 1.0)  # counted twice: the sums above are noisy themselves
        )
        return fieller(value, whole, spread, 0.0, 1.0)

    @cached_property
    def calibration(self) -> tuple[CalibrationBand, ...]:
        """By bands of the predicted probability: of the second of two classes, of the predicted label among more."""
        if not self.has_probabilities:
            return ()
        binary = self.counts.shape[1] == 2
        predicted = self._shares[:, 1] if binary else self._shares.max(axis=1)
        came_true = np.zeros_like(self._shares)
        came_true[np.arange(len(self.table)), 1 if binary else self._shares.argmax(axis=1)] = 1
        band_of = np.minimum((predicted * BANDS).astype(np.int64), BANDS - 1)
        return tuple(self._band(predicted, came_true, band_of == band) for band in np.unique(band_of))

    def _band(self, predicted: np.ndarray, came_true: np.ndarray, inside: np.ndarray) -> CalibrationBand:
        weights = np.maximum(self.counts[inside].sum(axis=1), 1)
        rows = np.repeat(inside[:, None], self.counts.shape[1], axis=1).astype(np.float64)
        return CalibrationBand(float(np.average(predicted[inside], weights=weights)), self._ratio(came_true * rows, rows))

    def _label_ratio(self, top: np.ndarray, bottom: np.ndarray) -> Estimate:
        """A ratio that depends on labels alone."""
        return _ratio(*self._of_labels, top, bottom, 0.0, 1.0)

    def _ratio(self, top: np.ndarray, bottom: np.ndarray, low: float = 0.0, high: float = 1.0) -> Estimate:
        """sum(counts * top) / sum(counts * bottom) over the rows of the test alone."""
        return _ratio(self.counts, self.noise_variance, top, bottom, low, high)

    def to_dict(self) -> dict[str, Any]:
        """For the JSON document."""
        return {
            "share": self.share,
            "epsilon": self.epsilon,
            "confidence": CONFIDENCE,
            "table": [write_leaf(self.schema, answer) for answer in self.table],
            **({} if self.counted is None else {"counted": [list(row) for row in self.counted]}),
            "accuracy": entry(self.accuracy),
            "confusion": [list(map(entry, row)) for row in self.confusion],
            "auc": entry(self.auc),
            "log_loss": entry(self.log_loss),
            "calibration": [{"predicted": band.predicted, "observed": entry(band.observed)} for band in self.calibration],
        }


def entry(estimate: Estimate | None) -> dict[str, float] | None:
    """For the JSON document."""
    if estimate is None:
        return None
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _ratio(counts: np.ndarray, noise_variance: float, top: np.ndarray, bottom: np.ndarray, low: float, high: float) -> Estimate:
    value, whole = float((counts * top).sum()), float((counts * bottom).sum())
    return fieller(value, whole, _quadratic(np.maximum(counts, 0) + noise_variance, top, bottom), low, high)


def _quadratic(weights: np.ndarray, top: np.ndarray, bottom: np.ndarray | float) -> np.ndarray:
    """Coefficients (1, t, t^2) of sum weights * (top - t bottom)^2."""
    bottom = np.broadcast_to(bottom, top.shape)
    return np.array([(weights * top * top).sum(), -2 * (weights * top * bottom).sum(), (weights * bottom * bottom).sum()])


def fieller(value: float, whole: float, spread: np.ndarray, low: float, high: float) -> Estimate:
    """value / whole, and every t in [low, high] with (value - t whole)^2 <= Z^2 (spread at t)."""
    constant = value * value - Z * Z * spread[0]
    linear = -2 * value * whole - Z * Z * spread[1]
    square = whole * whole - Z * Z * spread[2]
    inside = linear * linear - 4 * square * constant
    if whole <= 0 or square <= 0 or inside < 0:  # noise hides how many rows there are
        return Estimate(float(min(max(value / whole, low), high)) if whole > 0 else (low + high) / 2, low, high)
    middle, width = -linear / (2 * square), math.sqrt(inside) / (2 * square)
    ends = (min(max(end, low), high) for end in (value / whole, middle - width, middle + width))
    return Estimate(*map(float, ends))
