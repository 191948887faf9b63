"""What is proved about one learner on one split, as lower bounds by number of poisoned rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.evaluation.robustness.certificates import (
    Distribution,
    band_distribution,
    certified_rows,
    distribution_of,
    published_bound,
    tight_bound,
)
from dpviz.evaluation.robustness.draws import Draws
from dpviz.models.forest import Forest
from dpviz.table.dataset import EncodedDataset


@dataclass(frozen=True)
class Certificate:
    """Lower bounds on a mean that privacy proves, from draws on one split."""

    #: Shape (n_draws,). One number in [0, 1] per draw on the clean training rows: accuracy, or 1 minus attack success.
    draws: np.ndarray
    #: epsilon, delta: proved privacy loss, add/remove one row.
    epsilon: float
    delta: float
    claimed: float  #: The paper's epsilon
    reason: str  #: Why nothing is proved; empty when something is
    beta: float  #: The band fails with at most this probability

    @classmethod
    def of(cls, found: Draws, beta: float, *, test: int = 0) -> Certificate:
        """The certificate of draws on one of their test sets."""
        return cls(found.of(test), found.epsilon, found.delta, found.first.claim.epsilon, found.reason, beta)

    @property
    def accuracy(self) -> float:
        """Mean over the draws."""
        return float(self.draws.mean())

    def published(self, rows: int) -> float:
        """e^(-k eps) times the mean, with the claimed epsilon; NaN where none is claimed."""
        if not math.isfinite(self.claimed):
            return math.nan
        return published_bound(self.accuracy, rows, self.claimed, self.delta)

    def tight(self, rows: int) -> float:
        """The tight bound, taking the draws for the true distribution; NaN with a reason."""
        return math.nan if self.reason else tight_bound(self._empirical, rows, self.epsilon, self.delta)

    def low(self, rows: int) -> float:
        """The tight bound with confidence, for all numbers of rows at once; NaN with a reason."""
        return math.nan if self.reason else tight_bound(self._band, rows, self.epsilon, self.delta)

    @cached_property
    def _empirical(self) -> Distribution:
        return distribution_of(self.draws)

    @cached_property
    def _band(self) -> Distribution:
        return band_distribution(self.draws, self.beta)


@dataclass(frozen=True)
class VoteCertificate:
    """The accuracy that a vote on disjoint rows keeps for certain, test row by test row; without noise."""

    #: Shape (n_rows,), int64. Poisoned rows that cannot change the prediction; -1 where it is wrong already.
    withstands: np.ndarray
    reason: str = ""

    @classmethod
    def of(cls, forest: Forest, test: EncodedDataset) -> VoteCertificate:
        """From the votes on test rows."""
        votes = forest.votes(test)
        return cls(np.where(votes.argmax(axis=1) == test.target, certified_rows(votes), -1))

    @property
    def accuracy(self) -> float:
        """Share of test rows predicted correctly."""
        return self.low(0)

    def low(self, rows: int) -> float:
        """Share of test rows predicted correctly whatever `rows` additions and removals do."""
        return float(np.mean(self.withstands >= rows))

    published = tight = low


Bounds = Certificate | VoteCertificate
