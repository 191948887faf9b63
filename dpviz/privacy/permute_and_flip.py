"""Permute-and-flip: private selection that is never worse than the exponential mechanism.

Source: McKenna & Sheldon 2020; equal to arg max of utility plus one-sided exponential noise (Ding et al. 2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.errors import NotReleasable
from dpviz.privacy.sensitivity import Sensitivity, check_epsilon
from dpviz.privacy.source import NoiseSource, Released

#: Gauss-Legendre nodes; the integrand is a polynomial, so (candidates + 1) / 2 nodes would be exact.
_MOST_NODES = 256


@dataclass(frozen=True, slots=True)
class PermuteAndFlip:
    """P(i) = c_i * integral over t in [0, 1] of prod_{j != i} (1 - t c_j) with c_j = exp(a (u_j - max u)).

    a = eps/(2 Delta), or eps/Delta when the utility is monotone.

    Utility: epsilon -> 0 gives a uniform choice, epsilon -> infinity the best candidate (uniform among ties).
    Source: McKenna & Sheldon 2020, Proposition 2 and Equation (2).
    """

    epsilon: float
    sensitivity: Sensitivity
    title: ClassVar[str] = "permute-and-flip"

    def __post_init__(self) -> None:
        check_epsilon("PermuteAndFlip", self.epsilon)

    def release(self, utilities: np.ndarray, *, source: NoiseSource, part: str, level: int | None = None) -> Released[int]:
        """Choose an index of `utilities` (shape (n_candidates,), int64, private)."""
        event = self.sensitivity.event(self.epsilon, self.title, part, level)
        return Released(int(source.draw(self, utilities)), event)

    def sample(self, utilities: np.ndarray, rng: np.random.Generator) -> int:
        """One index."""
        scaled = utilities * self.sensitivity.exponent(self.epsilon)
        scaled += rng.standard_exponential(len(scaled))
        return int(scaled.argmax())

    def sample_exactly(self, utilities: np.ndarray) -> int:
        """One index by OpenDP; raises NotReleasable unless the utilities are integers."""
        if np.asarray(utilities).dtype.kind not in "iu":
            raise NotReleasable(f"{self.title} on real-valued utilities")
        from dpviz.privacy import exact

        integers, scale = self.sensitivity.integers_and_scale(self.epsilon, utilities)
        return exact.permute_and_flip(integers, scale, self.sensitivity.monotone)

    def probabilities(self, utilities: np.ndarray) -> np.ndarray:
        """Exact distribution over the last axis, same shape as `utilities`.

        The integrand is a polynomial of degree n_candidates - 1, which Gauss-Legendre quadrature integrates exactly with
        half as many nodes; above 512 candidates it is smooth enough that 256 nodes leave no visible error.
        """
        behind = np.max(utilities, axis=-1, keepdims=True) - utilities  # before scaling: exact for integers
        coins = np.exp(-self.sensitivity.exponent(self.epsilon) * behind)
        nodes, weights = _unit_quadrature(min(coins.shape[-1] // 2 + 1, _MOST_NODES))
        tails = np.log1p(-nodes[:, None] * coins[..., None, :])  # (..., nodes, candidates)
        others = np.exp(tails.sum(axis=-1, keepdims=True) - tails)
        chances = coins * np.einsum("k,...kc->...c", weights, others)
        return chances / chances.sum(axis=-1, keepdims=True)


def _unit_quadrature(count: int) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2
