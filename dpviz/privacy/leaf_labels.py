"""Labels of many leaves at once. The leaves of a tree hold disjoint rows, so all labels together cost what one label costs.

A leaf without rows has equal counts, so every rule here labels it uniformly, and probabilities are worked out for leaves with
rows alone. Which leaves those are must stay private: *every* leaf of a published tree has a label.

Source: Fletcher & Islam 2017, Algorithm 2, line 25; its addendum of August 2021 for permute-and-flip.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.accounting.events import Event, Step
from dpviz.errors import no_exact_sampler
from dpviz.privacy.selection import ExponentialMechanism, PermuteAndFlip
from dpviz.privacy.sensitivity import Sensitivity, check_epsilon
from dpviz.privacy.source import NoiseSource, Output, record_sampler
from dpviz.privacy.uniform import combination, product_distribution
from dpviz.randomness import secure_integers

#: Leaves whose probabilities are computed at once.
_CHUNK_SIZE = 8192


MAJORITY = Sensitivity(1.0, monotone=False, source="a row can make one class a largest one, or stop it from being one")


@dataclass(frozen=True, slots=True)
class GlobalMajority:
    """The exponential mechanism on utility 1 for the largest counts and 0 otherwise, with its global sensitivity 1.

    Sound, but hardly better than a coin flip: the odds of the majority are exp(eps/2), however large it is.
    Source: Fletcher & Islam 2017, Equation (9).
    """

    epsilon: float
    title: ClassVar[str] = "exponential mechanism on the majority"

    def probabilities(self, counts: np.ndarray) -> np.ndarray:
        """Exact probabilities over the last axis, same shape as `counts`."""
        return self._mechanism.probabilities(_is_largest(counts))

    def sample_exactly(self, counts: np.ndarray) -> int:
        """One class by OpenDP."""
        return self._mechanism.sample_exactly(_is_largest(counts))

    def event(self, part: str, level: int | None) -> Event:
        """One selection."""
        return MAJORITY.event(self.epsilon, self.title, part, level, bounded_range=self._mechanism.bounded_range)

    @property
    def _mechanism(self) -> ExponentialMechanism:
        return ExponentialMechanism(self.epsilon, MAJORITY)


def _is_largest(counts: np.ndarray) -> np.ndarray:
    return (counts == counts.max(axis=-1, keepdims=True)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class SmoothMajority:
    """P(k) proportional to exp(eps u_k / (2 S)), u_k = 1 for the largest counts and 0 otherwise, S = exp(-j eps).

    Published, but not differentially private: j is the gap between the two largest counts, and where it grows by one, log-odds
    change by eps/2 exp(j eps) (exp(eps) - 1), which no finite epsilon bounds. Smooth sensitivity calibrates *noise* of certain
    shapes, and must not scale the exponential mechanism. Permute-and-flip on the counts is simpler, sound, and about as accurate.
    Source: Fletcher & Islam 2017, Theorem 1, and Xin et al. 2019; the criticism is in the addendum of August 2021 to the former.
    """

    epsilon: float
    title: ClassVar[str] = "exponential mechanism with smooth sensitivity"

    def __post_init__(self) -> None:
        check_epsilon("SmoothMajority", self.epsilon)

    def release(self, counts: np.ndarray, *, source: NoiseSource, part: str, level: int | None = None) -> Output[int]:
        """Choose a class by `counts` (shape (n_classes,), int64, private). Its cost is unbounded: the event is non-private."""
        return Output(int(source.draw(self, counts)), self.event(part, level))

    def event(self, part: str, level: int | None) -> Step:
        """A step without a finite cost."""
        because = "the smooth sensitivity of the majority gives the exponential mechanism unbounded odds"
        return Step.unbounded(because, part, level)

    def sample(self, counts: np.ndarray, rng: np.random.Generator) -> int:
        """One class."""
        return int(rng.choice(len(counts), p=self.probabilities(counts)))

    def sample_exactly(self, counts: np.ndarray) -> int:
        """Always raises RefusedRelease."""
        raise no_exact_sampler(self.title)

    def probabilities(self, counts: np.ndarray) -> np.ndarray:
        """Exact probabilities over the last axis (at least two classes), same shape as `counts`."""
        ordered = np.sort(counts, axis=-1)
        gap = ordered[..., -1:] - ordered[..., -2:-1]
        with np.errstate(over="ignore"):  # infinite odds: certainly the majority
            others = np.exp(-self.epsilon / 2 * np.exp(gap * self.epsilon)) if self.epsilon else 1.0
        weights = np.where(counts == ordered[..., -1:], 1.0, others)
        return weights / weights.sum(axis=-1, keepdims=True)


#: A mechanism that labels one leaf by its class counts.
LabelRule = ExponentialMechanism | PermuteAndFlip | GlobalMajority | SmoothMajority


@dataclass(frozen=True)
class LabelLeaves:
    """One label per leaf, drawn independently by `rule`. Counts are exact rows, int64 of shape (n_leaves, n_classes), private."""

    rule: LabelRule
    title: ClassVar[str] = "labels of leaves"

    def release(
        self, counts: np.ndarray, *, source: NoiseSource, part: str = "leaf", level: int | None = None
    ) -> Output[np.ndarray]:
        """Class codes of all leaves, uint8 of shape (n_leaves,), and the event of one tree's labels."""
        labels = combination(source.draw(self, counts), np.full(len(counts), counts.shape[1]))
        return Output(labels.astype(np.uint8), record_sampler(source, self.rule.event(part, level)))

    def sample(self, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Labels; uniform where a leaf has no rows."""
        labels = rng.integers(counts.shape[1], size=len(counts), dtype=np.uint8)
        held = np.flatnonzero(counts.any(axis=1))
        points = rng.random(len(held))
        for start in range(0, len(held), _CHUNK_SIZE):
            part = slice(start, start + _CHUNK_SIZE)
            ends = self.rule.probabilities(counts[held[part]]).cumsum(axis=1)[:, :-1]  # the last one is 1
            labels[held[part]] = (points[part, None] > ends).sum(axis=1)
        return labels

    def sample_exactly(self, counts: np.ndarray) -> np.ndarray:
        """Labels by the rule's exact sampler; uniform from the operating system's entropy where a leaf has no rows."""
        n_leaves, n_classes = counts.shape
        self.rule.sample_exactly(np.zeros(n_classes, dtype=np.int64))  # raises RefusedRelease whatever the rows
        labels = secure_integers(n_classes, n_leaves)
        held = np.flatnonzero(counts.any(axis=1))
        labels[held] = [self.rule.sample_exactly(row) for row in counts[held]]
        return labels

    def probabilities(self, counts: np.ndarray) -> np.ndarray:
        """Exact probabilities of all labels together; raises UnsupportedError for too many leaves."""
        return product_distribution(list(self.rule.probabilities(counts)), "Labels of leaves")

    def log_likelihood(self, counts: np.ndarray, labels: np.ndarray) -> float:
        """ln of the probability of these labels, shape (n_leaves,)."""
        with np.errstate(divide="ignore"):
            return float(np.log(self.rule.probabilities(counts)[np.arange(len(labels)), labels]).sum())
