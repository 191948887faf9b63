"""What a release lets others learn about one row or one person: one scale for every learner, tighter than e^epsilon.

Somebody who knows everything but whether a row was used (or everything but one of its values) looks at what was released. How
well they can do at best follows from the *trade-off curve* of all steps: the least rate of false negatives for every rate of
false positives, over all tests of "it was used" against "it was not". Everything here is read from that curve, and every number
is at least the true one: `profile` composes upward, and the plain bound of epsilon and delta is used where it says more.

Source: Kairouz, Oh & Viswanath 2015 and Dong, Roth & Su 2022 (tests and trade-offs); Hayes, Mahloujifar & Balle 2023, Theorem 2
(guessing a value, which is guessing with the power of a test at the level of an uninformed guess).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np
from msgspec import Meta

from dpviz.accounting.costs import cost_of, partitions_of
from dpviz.accounting.events import ApproximateDP, Event, Step, Unbounded
from dpviz.accounting.gaussian import bisect
from dpviz.accounting.guarantee import PrivacyLoss, for_unit, guarantee
from dpviz.accounting.profile import MAX_LOSS, Group, Profile, profile, pure_deltas
from dpviz.table.strict_json import wrong
from dpviz.table.validation import validate_count, validate_delta, validate_loss

_Share = Annotated[float, Meta(ge=0, le=1)]
#: Rows of a group beyond which the plain bound is all that is said.
MAX_ROWS = 10_000
#: Rows that are assigned one by one of which is said what events keep.
_MAX_ASSIGNMENT_ROWS = 40
#: Where a document states the curve.
_BASE_RATES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9)
_FALSE_POSITIVES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5)
#: What stated numbers are rounded to, towards more risk.
_DIGITS = 10**6
#: By how much numbers of another computer or version may be smaller than ours.
_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Risk:
    """What was done to the rows, seen by whoever wants to know about a group of them.

    The group: `rows` rows of each of `persons` persons, of whom all or none were used. Nothing here is private.
    """

    event: Event
    persons: int = 1
    rows: int = 1

    @classmethod
    def of_any(cls, loss: PrivacyLoss) -> Risk:
        """That of any mechanism with this loss of one row, where no more is known of it."""
        return cls(Step(ApproximateDP(loss.epsilon, loss.delta), "model", mechanism="any"))

    def for_rows(self, rows: int) -> Risk:
        """The risk of a person with so many rows. Raises ParameterError unless it is a whole number of at least 1."""
        return replace(self, rows=validate_count("Risk", "rows", rows))

    def for_persons(self, persons: int) -> Risk:
        """The risk of so many persons together. Raises ParameterError unless it is a whole number of at least 1."""
        return replace(self, persons=validate_count("Risk", "persons", persons))

    def guesses(self, base_rate: float = 0.5) -> float:
        """The largest share of right guesses whether the rows were used, where that is so at `base_rate`.

        Without the release max(base_rate, 1 - base_rate) can be right. Raises ParameterError outside [0, 1].
        """
        rate = _share("base_rate", base_rate)
        if rate in (0.0, 1.0):
            return 1.0
        return min(1.0, 1 - rate + rate * self._profile.at(math.log((1 - rate) / rate)))

    def false_negatives(self, false_positive_rate: float) -> float:
        """The least rate of false negatives of a test with this rate of false positives. Raises ParameterError outside [0, 1]."""
        return 1 - self._power(_share("false_positive_rate", false_positive_rate))

    def attribute_guesses(self, base_rate: float) -> float:
        """The largest share of right guesses of a value that would be guessed with this probability without the release.

        Even by somebody who knows everything else about everybody. Raises ParameterError outside [0, 1].
        """
        return self._power(_share("base_rate", base_rate))

    def delta(self, epsilon: float) -> float:
        """The least delta with which this is (epsilon, delta)-differentially private. Raises ParameterError below 0."""
        epsilon = validate_loss("Risk", "epsilon", epsilon)
        composed = max(self._profile.at(epsilon), self._profile.of_absence.at(epsilon))
        return min(composed, self.plain.delta) if epsilon >= self.plain.epsilon else composed

    @cached_property
    def epsilon(self) -> float:
        """The least epsilon at the delta of one person's guarantee: pure steps add up, Gaussian ones to less than their sum."""
        return self.epsilon_at(guarantee(self.event, self.rows).delta)

    def epsilon_at(self, allowed: float) -> float:
        """The least epsilon at this delta; infinite where there is none. Raises ParameterError outside [0, 1]."""
        allowed = _share("delta", allowed)
        low, high = 0.0, min(self.plain.epsilon, MAX_LOSS) * (1 - 1e-9)
        if self.delta(high) > allowed:
            return self.plain.epsilon if self.plain.delta <= allowed else math.inf
        return bisect(lambda epsilon: self.delta(epsilon) <= allowed, low, high, times=60)[1]

    @cached_property
    def plain(self) -> PrivacyLoss:
        """What the plain theorems give: of a person the guarantee for all rows, of several epsilons and deltas that grow."""
        return for_unit(guarantee(self.event, self.rows), self.persons)

    def remains(self, below: np.ndarray) -> np.ndarray:
        """The least probability that events keep, which had probability 1 - `below`, when so many rows come or go.

        Some may come and others go. 0 where that is not known: where a row that comes tells something else than one that goes
        (rounds of samples), where the rows of a person are assigned together, and where many rows are assigned one by one, which
        would take seconds.

        Parameters
        ----------
        below : ndarray of shape (n,)
            Probabilities of the complements, increasing.
        """
        assigned = list(partitions_of(cost_of(self.event)))
        if any(one.shared for one in assigned) or (assigned and self.persons * self.rows > _MAX_ASSIGNMENT_ROWS):
            return np.zeros(len(below))
        composed = self._profile
        if not np.array_equal(composed.present, composed.absent):
            return np.zeros(len(below))
        return np.array([1 - self._power(level) for level in below.tolist()])

    def _power(self, level: float) -> float:
        """The largest rate of true positives at this rate of false ones: every point of the profile is a line above it."""
        lines = self._profile.present + np.exp(self._profile.losses) * level
        return float(np.clip(np.min(lines), level, 1.0))

    @cached_property
    def _profile(self) -> Profile:
        group = Group(self.persons, self.rows)
        is_known = self.plain.is_finite and group.total <= MAX_ROWS
        composed = profile(cost_of(self.event), group) if is_known else profile(Unbounded(), Group())
        if self.plain.epsilon > MAX_LOSS:
            return composed.tighten(np.ones_like(composed.losses))
        return composed.tighten(self.plain.delta + (1 - self.plain.delta) * pure_deltas(composed.losses, self.plain.epsilon))


@dataclass(frozen=True, slots=True)
class StatedRisk:
    """What a document says of the risk of so many rows of one person, as pairs of a rate and what is said of it."""

    rows: Annotated[int, Meta(ge=1)]
    guesses: tuple[tuple[_Share, _Share], ...]  #: By base rate: the largest share of right guesses
    false_negatives: tuple[tuple[_Share, _Share], ...]  #: By rate of false positives: the least rate of false negatives

    @classmethod
    def of(cls, risk: Risk) -> StatedRisk:
        """Rounded towards more risk."""
        guesses = ((rate, min(1.0, math.ceil(risk.guesses(rate) * _DIGITS) / _DIGITS)) for rate in _BASE_RATES)
        misses = ((rate, math.floor(risk.false_negatives(rate) * _DIGITS) / _DIGITS) for rate in _FALSE_POSITIVES)
        return cls(risk.rows, tuple(guesses), tuple(misses))


def stated_risks(risk: Risk, rows_per_person: int | None) -> tuple[StatedRisk, ...]:
    """What a document says of one row and of one person: so that a reader without the rows, or without dpviz, has it.

    Empty where nothing bounds the loss.
    """
    units = dict.fromkeys((1, rows_per_person or 1))
    return tuple(StatedRisk.of(risk.for_rows(rows)) for rows in units) if risk.plain.is_finite else ()


def check_risks(risks: Sequence[StatedRisk], risk: Risk, where: str) -> None:
    """Raise DocumentError where a document states less than what its steps compose to."""
    for place, stated in enumerate(risks):
        ours = risk.for_rows(stated.rows)
        if any(ours.guesses(rate) > value + _TOLERANCE for rate, value in stated.guesses):
            raise wrong("The steps of the ledger allow more right guesses than this.", f"{where}[{place}].guesses")
        if any(ours.false_negatives(rate) < value - _TOLERANCE for rate, value in stated.false_negatives):
            raise wrong("The steps of the ledger allow fewer false negatives than this.", f"{where}[{place}].false_negatives")


def _share(name: str, value: float) -> float:
    return validate_delta("Risk", name, value)
