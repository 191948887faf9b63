"""What is proved about one learner on one split, as lower bounds by number of poisoned rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

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


class Bounds(Protocol):
    """Lower bounds on an accuracy by rows added or removed; NaN where nothing is proved."""

    @property
    def accuracy(self) -> float:
        """Mean accuracy without poison."""

    @property
    def reason(self) -> str:
        """Why `tight` and `low` prove nothing; empty when they do."""

    def published(self, rows: int) -> float:
        """What the learner's paper claims."""

    def tight(self, rows: int) -> float:
        """What is proved if the draws are all there is to draw."""

    def low(self, rows: int) -> float:
        """What is proved with confidence, for all numbers of rows at once."""


@dataclass(frozen=True)
class Certificate:
    """What privacy proves, from draws on one split.

    Attributes
    ----------
    draws : ndarray of shape (n_draws,)
        Something in [0, 1] per draw on the clean training rows: accuracy, or 1 minus attack success.
    epsilon, delta : float
        Proved privacy loss, add/remove one row.
    claimed : float
        The paper's epsilon.
    reason : str
        Why nothing is proved; empty when something is.
    beta : float
        The band fails with at most this probability.
    """

    draws: np.ndarray
    epsilon: float
    delta: float
    claimed: float
    reason: str
    beta: float

    @classmethod
    def of(cls, found: Draws, beta: float, *, test: int = 0) -> Certificate:
        """The certificate of draws scored on one of their test sets."""
        claim = found.first.claim
        return cls(found.of(test), found.epsilon, found.delta, claim.epsilon, found.reason, beta)

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
        """The tight bound for the draws' own distribution; NaN with a reason."""
        return math.nan if self.reason else tight_bound(self._distribution, rows, self.epsilon, self.delta)

    def low(self, rows: int) -> float:
        """The tight bound for the distribution below the band; NaN with a reason."""
        return math.nan if self.reason else tight_bound(self._band, rows, self.epsilon, self.delta)

    @cached_property
    def _distribution(self) -> Distribution:
        return distribution_of(self.draws)

    @cached_property
    def _band(self) -> Distribution:
        return band_distribution(self.draws, self.beta)


@dataclass(frozen=True)
class VoteCertificate:
    """What a vote on disjoint rows proves, test row by test row; no noise, so no confidence to speak of.

    Attributes
    ----------
    withstands : ndarray of shape (n_rows,), int64
        Poisoned rows that cannot change the prediction; -1 where it is wrong already.
    """

    withstands: np.ndarray
    reason: str = ""

    @classmethod
    def of(cls, forest: Forest, test: EncodedDataset) -> VoteCertificate:
        """From the votes on test rows."""
        votes = forest.votes(test)
        return cls(np.where(votes.argmax(axis=1) == test.target, certified_rows(votes), -1))

    @property
    def accuracy(self) -> float:
        """Share of test rows predicted right."""
        return self.low(0)

    def low(self, rows: int) -> float:
        """Share of test rows predicted right whatever `rows` additions and removals do."""
        return float(np.mean(self.withstands >= rows))

    published = tight = low
