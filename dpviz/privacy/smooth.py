"""The majority class by the exponential mechanism with smooth sensitivity. Published, but not differentially private.

The rule gives the majority utility 1 and every other class 0, and divides by exp(-j eps), where j is the gap between the two
largest counts. Its log-odds are eps/2 exp(j eps). When j grows by one, they change by eps/2 exp(j eps) (exp(eps) - 1), which no
finite epsilon bounds: smooth sensitivity calibrates *noise* of certain shapes, and must not scale the exponential mechanism.
Permute-and-flip on the counts is simpler, sound, and about as accurate.

Source: Fletcher & Islam 2017, Theorem 1, and Xin et al. 2019; the criticism is in the addendum of August 2021 to the former.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.accounting.events import Step
from dpviz.errors import no_exact_sampler
from dpviz.privacy.sensitivity import check_epsilon
from dpviz.privacy.source import NoiseSource, Released

REASON = "the smooth sensitivity of the majority gives the exponential mechanism unbounded odds"


@dataclass(frozen=True, slots=True)
class SmoothMajority:
    """P(k) proportional to exp(eps u_k / (2 S)), u_k = 1 for the largest counts and 0 otherwise, S = exp(-j eps).

    Utility: epsilon -> 0 gives a uniform class, epsilon -> infinity the majority (uniform among ties, where j = 0).
    """

    epsilon: float
    title: ClassVar[str] = "exponential mechanism with smooth sensitivity"

    def __post_init__(self) -> None:
        check_epsilon("SmoothMajority", self.epsilon)

    def release(self, counts: np.ndarray, *, source: NoiseSource, part: str, level: int | None = None) -> Released[int]:
        """Choose a class by `counts` (shape (n_classes,), int64, private). Its cost is unbounded: the event is non-private."""
        return Released(int(source.draw(self, counts)), self.event(part, level))

    def event(self, part: str, level: int | None) -> Step:
        """A step without a finite cost."""
        return Step.unbounded(REASON, part, level)

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
