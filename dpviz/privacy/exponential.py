"""The exponential mechanism: the classic private selection.

Source: McSherry & Talwar 2007; sampled as arg max of scaled utility plus Gumbel noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.errors import NotReleasable
from dpviz.privacy.sensitivity import Sensitivity, check_epsilon
from dpviz.privacy.source import NoiseSource, Released


@dataclass(frozen=True, slots=True, eq=False)
class ExponentialMechanism:
    """P_i proportional to w_i exp(a u_i), a = eps/(2 Delta), or eps/Delta when the utility is monotone.

    Utility: epsilon -> 0 gives a choice by the weights alone, epsilon -> infinity a choice by weight among the best.

    Attributes
    ----------
    log_weights : array, optional
        ln w_i, shape (n_candidates,); none means equal weights. They must not depend on private rows, with one exception:
        widths of the intervals between private values, when a uniform point of the chosen interval is published in place
        of its index (that is the mechanism over points of a public range).
    """

    epsilon: float
    sensitivity: Sensitivity
    log_weights: np.ndarray | None = None
    title: ClassVar[str] = "exponential mechanism"

    def __post_init__(self) -> None:
        check_epsilon("ExponentialMechanism", self.epsilon)

    def release(self, utilities: np.ndarray, *, source: NoiseSource, part: str, level: int | None = None) -> Released[int]:
        """Choose an index of `utilities` (shape (n_candidates,), private)."""
        event = self.sensitivity.event(self.epsilon, self.title, part, level)
        return Released(int(source.draw(self, utilities)), event)

    def sample(self, utilities: np.ndarray, rng: np.random.Generator) -> int:
        """One index."""
        logits = self._logits(utilities)
        return int((logits + rng.gumbel(size=logits.shape)).argmax())

    def sample_exactly(self, utilities: np.ndarray) -> int:
        """One index by OpenDP; raises NotReleasable when there are weights or the utilities are no integers."""
        if np.asarray(utilities).dtype.kind not in "iu":
            raise NotReleasable(f"{self.title} on real-valued utilities")
        if self.log_weights is not None:
            raise NotReleasable(f"{self.title} with weights")
        from dpviz.privacy import exact

        integers, scale = self.sensitivity.integers_and_scale(self.epsilon, utilities)
        return exact.exponential_mechanism(integers, scale, self.sensitivity.monotone)

    def probabilities(self, utilities: np.ndarray) -> np.ndarray:
        """Exact distribution over the last axis, same shape as `utilities`."""
        logits = self._logits(utilities)
        weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True)

    def _logits(self, utilities: np.ndarray) -> np.ndarray:
        behind = np.max(utilities, axis=-1, keepdims=True) - utilities  # before scaling: exact for integers
        logits = -self.sensitivity.exponent(self.epsilon) * behind
        return logits if self.log_weights is None else logits + self.log_weights
