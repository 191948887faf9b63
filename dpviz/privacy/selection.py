"""Private selection: permute-and-flip, and the classic exponential mechanism.

Both prefer a candidate of utility u by the factor exp(a u), where a = epsilon / width: `Sensitivity.width` is twice the
sensitivity, or once if the utility is monotone.
Permute-and-flip is never worse than the exponential mechanism; only the latter takes weights.

Source: McKenna & Sheldon 2020 (permute-and-flip; the same as adding one-sided exponential noise, Ding et al. 2021); McSherry &
Talwar 2007 (exponential mechanism; the same as adding Gumbel noise).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from dpviz.accounting.events import Step
from dpviz.errors import no_exact_sampler
from dpviz.privacy.sensitivity import Sensitivity, check_epsilon
from dpviz.privacy.source import NoiseSource, Output, record_sampler

#: Gauss-Legendre nodes; the integrand is a polynomial, so (candidates + 1) / 2 nodes would be exact.
_MAX_NODES = 256


@dataclass(frozen=True, slots=True)
class _Selection:
    """What both mechanisms share; each adds how an index is sampled and with which probabilities."""

    epsilon: float
    sensitivity: Sensitivity
    title: ClassVar[str]
    #: Whether its losses have a bounded range, as `accounting.events.BoundedRange` means it.
    bounded_range: ClassVar[bool]

    def __post_init__(self) -> None:
        check_epsilon(type(self).__name__, self.epsilon)

    def release(self, utilities: np.ndarray, *, source: NoiseSource, part: str, level: int | None = None) -> Output[int]:
        """Choose an index of `utilities` (shape (n_candidates,), private)."""
        return Output(int(source.draw(self, utilities)), record_sampler(source, self.event(part, level)))  # type: ignore[arg-type]

    def event(self, part: str, level: int | None) -> Step:
        """The event of one choice."""
        return self.sensitivity.event(self.epsilon, self.title, part, level, bounded_range=self.bounded_range)

    def _logits(self, utilities: np.ndarray) -> np.ndarray:
        behind = np.max(utilities, axis=-1, keepdims=True) - utilities  # before scaling: exact for integers
        return -self.sensitivity.exponent(self.epsilon) * behind

    def _integers_and_scale(self, utilities: np.ndarray) -> tuple[list[int], float]:
        """What OpenDP takes; raises RefusedRelease unless the utilities are integers."""
        if np.asarray(utilities).dtype.kind not in "iu":
            raise no_exact_sampler(f"{self.title} on real-valued utilities")
        return self.sensitivity.integers_and_scale(self.epsilon, utilities)


@dataclass(frozen=True, slots=True)
class PermuteAndFlip(_Selection):
    """P(i) = c_i * integral over t in [0, 1] of prod_{j != i} (1 - t c_j) with c_j = exp(a (u_j - max u)).

    Utility: epsilon -> 0 gives a uniform choice, epsilon -> infinity the best candidate (uniform among ties).
    Source: McKenna & Sheldon 2020, Proposition 2 and Equation (2).
    """

    title: ClassVar[str] = "permute-and-flip"
    bounded_range: ClassVar[bool] = False

    def sample(self, utilities: np.ndarray, rng: np.random.Generator) -> int:
        """One index."""
        scaled = utilities * self.sensitivity.exponent(self.epsilon)
        scaled += rng.standard_exponential(len(scaled))
        return int(scaled.argmax())

    def sample_exactly(self, utilities: np.ndarray) -> int:
        """One index by OpenDP; raises RefusedRelease unless the utilities are integers."""
        integers, scale = self._integers_and_scale(utilities)
        from dpviz.privacy import exact

        return exact.permute_and_flip(integers, scale, self.sensitivity.monotone)

    def probabilities(self, utilities: np.ndarray) -> np.ndarray:
        """Exact probabilities over the last axis, same shape as `utilities`.

        The integrand is a polynomial of degree n_candidates - 1, which Gauss-Legendre quadrature integrates exactly with
        half as many nodes; above 512 candidates it is so smooth that 256 nodes leave no visible error.
        """
        coins = np.exp(self._logits(utilities))
        nodes, weights = _unit_quadrature(min(coins.shape[-1] // 2 + 1, _MAX_NODES))
        tails = np.log1p(-nodes[:, None] * coins[..., None, :])  # (..., nodes, candidates)
        others = np.exp(tails.sum(axis=-1, keepdims=True) - tails)
        chances = coins * np.einsum("k,...kc->...c", weights, others)
        return chances / chances.sum(axis=-1, keepdims=True)


@lru_cache(maxsize=_MAX_NODES)
def _unit_quadrature(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


@dataclass(frozen=True, slots=True, eq=False)
class ExponentialMechanism(_Selection):
    """P(i) proportional to w_i exp(a u_i).

    Utility: epsilon -> 0 gives a choice by the weights alone, epsilon -> infinity a choice by weight among the best.
    """

    #: ln w_i, shape (n_candidates,); None for equal weights. They must not depend on private rows, with one exception: widths of
    #: the intervals between private values, when a uniform point of the chosen interval is published instead of its index (that
    #: is the mechanism over the points of a public range).
    log_weights: np.ndarray | None = None
    title: ClassVar[str] = "exponential mechanism"
    bounded_range: ClassVar[bool] = True

    def sample(self, utilities: np.ndarray, rng: np.random.Generator) -> int:
        """One index."""
        logits = self._weights(utilities)
        return int((logits + rng.gumbel(size=logits.shape)).argmax())

    def sample_exactly(self, utilities: np.ndarray) -> int:
        """One index by OpenDP; raises RefusedRelease when there are weights or the utilities are not integers."""
        integers, scale = self._integers_and_scale(utilities)
        if self.log_weights is not None:
            raise no_exact_sampler(f"{self.title} with weights")
        from dpviz.privacy import exact

        return exact.exponential_mechanism(integers, scale, self.sensitivity.monotone)

    def probabilities(self, utilities: np.ndarray) -> np.ndarray:
        """Exact probabilities over the last axis, same shape as `utilities`."""
        logits = self._weights(utilities)
        weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True)

    def _weights(self, utilities: np.ndarray) -> np.ndarray:
        logits = self._logits(utilities)
        return logits if self.log_weights is None else logits + self.log_weights
