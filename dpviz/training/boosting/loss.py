"""The losses that boosting minimises: gradients by row, and how much each row weighs in its leaf.

A number is scaled to [-1, 1] by its declared range, so its gradients are at most 2; gradients of class probabilities are at
most 1. The weight of a row is in [0, 1]: its curvature over the largest possible curvature, or 1.

Source: Friedman 2001; Kirschte et al. 2023, Algorithms 4 and 6 (the mean over a public row count instead of the exact one).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.accounting.events import Event
from dpviz.models.base import n_scores
from dpviz.privacy.gaussian import CONTRIBUTION_BITS, contributions
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.source import NoiseSource
from dpviz.table.schema import NumericTarget, Schema
from dpviz.training.params import number

#: Where gradients of class probabilities, and of a scaled number, are clipped by default.
_CLIP_CLASSES, _CLIP_NUMBER = 0.5, 0.3
#: The share of rows of the second class is clipped to lie at least this far inside (0, 1).
_RARE = 0.01


def gradient_limit() -> Any:
    """The field of every boosting learner for where a row's gradient is clipped, in the units named above. Public."""
    usual = f"0: {_CLIP_CLASSES:g} for classes, {_CLIP_NUMBER:g} for a number."
    return number(0.0, "Gradient limit", f"Larger gradients are cut. {usual}", low=0, high=2)


class Loss(ABC):
    """A loss by row. By default all scores start from 0, and nothing is released before the first tree."""

    n_scores = 1  #: Scores of a row
    curvature = 1.0  #: What a weight of 1 stands for: a leaf's value is its gradients over `curvature` times its weights
    spread = 1.0  #: One unit of spread, in scores: a log-odds of 1, or a twentieth of a number's declared range
    usual_clip = _CLIP_CLASSES  #: Where gradients are clipped by default
    widest = 0.5  #: The largest size of `centred`

    @abstractmethod
    def gradients(self, scores: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(downhill, weight) of every row: shapes (n_rows, n_scores) and (n_rows,). Private."""

    def centre(self, target: np.ndarray) -> np.ndarray:
        """Values whose mean gives the initial score, shape (n_rows,). Private."""
        return np.zeros(len(target))

    def initial(self, mean: float) -> float:
        """The score to start from, for a (noisy) mean of `centred`."""
        return 0.0


@dataclass(frozen=True)
class SquaredLoss(Loss):
    """Half the square of target - score, both scaled to [-1, 1]."""

    low: float
    high: float
    spread = 0.1
    usual_clip = _CLIP_NUMBER
    widest = 1.0

    def gradients(self, scores: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals; every row weighs 1."""
        return self.centre(target)[:, None] - scores, np.ones(len(target))

    def centre(self, target: np.ndarray) -> np.ndarray:
        """Place in the declared range, from -1 to 1."""
        return np.clip((target - self.low) / (self.high - self.low) * 2 - 1, -1.0, 1.0)

    def initial(self, mean: float) -> float:
        """The mean itself, inside the range."""
        return min(1.0, max(-1.0, mean))


@dataclass(frozen=True)
class LogisticLoss(Loss):
    """Log-loss of two classes; scores are log-odds of the second. `newton` weights rows by their curvature p (1 - p)."""

    newton: bool

    @property
    def curvature(self) -> float:  # type: ignore[override]
        """p (1 - p) is at most 1/4; without Newton's step gradients are used as they are."""
        return 0.25 if self.newton else 1.0

    def gradients(self, scores: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Class minus its probability."""
        chance = np.minimum(-scores[:, 0], 500)
        np.exp(chance, out=chance)
        chance += 1
        np.divide(1, chance, out=chance)
        weights = 4 * chance if self.newton else np.ones(len(target))
        if self.newton:
            weights *= 1 - chance
        return (target - chance)[:, None], weights

    def centre(self, target: np.ndarray) -> np.ndarray:
        """1/2 for the second class, -1/2 for the first."""
        return target - 0.5

    def initial(self, mean: float) -> float:
        """Log-odds of the share of the second class."""
        share = min(1 - _RARE, max(_RARE, mean + 0.5))
        return math.log(share / (1 - share))


@dataclass(frozen=True)
class SoftmaxLoss(Loss):
    """Log-loss of more classes, with one score per class: one number for all to start from would change nothing."""

    n_scores: int  # type: ignore[misc]
    curvature = 0.25

    def gradients(self, scores: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Classes minus their probabilities; every row weighs 1."""
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        return (np.arange(self.n_scores) == target[:, None]) - chances, np.ones(len(target))


def loss_of(schema: Schema, newton: bool) -> Loss:
    """The loss for a target."""
    target = schema.target
    if isinstance(target, NumericTarget):
        return SquaredLoss(target.low, target.high)
    return LogisticLoss(newton) if n_scores(schema) == 1 else SoftmaxLoss(n_scores(schema))


def initial_score(
    loss: Loss, target: np.ndarray, n_public: int, epsilon: float, source: NoiseSource
) -> tuple[float, tuple[Event, ...]]:
    """(score to start from, its events): the noisy sum of `centred` over a public row count; nothing is released at epsilon 0.

    One row moves the sum by at most `widest`, so geometric noise on the grid of contributions gives pure epsilon-DP.
    """
    if not epsilon:
        return loss.initial(0.0), ()
    steps = np.array([contributions(loss.centre(target), loss.widest).sum()]).astype(np.int64)
    noise = GeometricNoise(epsilon, l1=loss.widest * 2.0**CONTRIBUTION_BITS)
    noisy = noise.release(steps, source=source, part="initial score")
    return loss.initial(float(noisy.value[0]) / 2.0**CONTRIBUTION_BITS / n_public), (noisy.event,)
