"""What composition proves about an event, in exact arithmetic.

Epsilons are floats, and every float is a rational number: sums and maxima are taken over fractions and rounded *up* once at the
end, so a reported epsilon is never below the true one.

Source: sequential and parallel composition, McSherry 2009, Theorems 3 and 4 (PrivaTree's Theorems 1 and 2); with a delta,
Dwork & Roth 2014, Theorem 3.16.
"""

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from heapq import nlargest

from dpviz.accounting.events import Event, GaussianRounds, RandomPartition, Sequential, Step
from dpviz.accounting.gaussian import covers, epsilon_of_group, is_plain
from dpviz.errors import DpvizError, ParameterError
from dpviz.table.validation import is_loss, is_number, validate_count, validate_delta, validate_loss

#: Printed wherever an epsilon is printed.
NEIGHBOURS = "add/remove one row"


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """(epsilon, delta) under add/remove one row or one person. Epsilon is infinite where something was published exactly."""

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", validate_loss("PrivacyLoss", "epsilon", self.epsilon))
        object.__setattr__(self, "delta", validate_delta("PrivacyLoss", "delta", self.delta))

    @property
    def is_finite(self) -> bool:
        """True when there is any guarantee at all."""
        return math.isfinite(self.epsilon)

    @property
    def guesses_right(self) -> float:
        """Largest share of right guesses whether one row was used, even odds before: e^eps / (1 + e^eps), plus delta."""
        if not self.is_finite:
            return 1.0
        return min(1.0, 1.0 / (1.0 + math.exp(-self.epsilon)) + self.delta)


def for_unit(loss: PrivacyLoss, rows: int) -> PrivacyLoss:
    """The loss of a unit with `rows` rows, rounded up: rows epsilon, and rows e^((rows - 1) epsilon) delta.

    Source: group privacy, Dwork & Roth 2014, Theorem 2.2; with a delta, the sum of a geometric series, bounded from above.
    """
    rows = validate_count("for_unit", "rows", rows)
    if rows == 1 or not loss.is_finite:
        return loss
    epsilon = round_up(Fraction(loss.epsilon) * rows)
    if not loss.delta:
        return PrivacyLoss(epsilon)
    exponent = (rows - 1) * loss.epsilon
    grown = rows * loss.delta * math.exp(exponent) if exponent < 700 else 1.0
    return PrivacyLoss(epsilon, min(1.0, math.nextafter(grown, math.inf)))


def epsilon_of_row(epsilon: float, rows: int) -> float:
    """What each of the rows of a person may cost, so that all of them cost at most `epsilon`: an equal part, rounded down."""
    return epsilon if rows == 1 else round_down(Fraction(epsilon) / validate_count("epsilon_of_row", "rows", rows))


def of_person(row: PrivacyLoss, rows: int) -> PrivacyLoss:
    """What a plan asks of a person with so many rows, which asks `row` of each: all epsilons, rounded up, and the same delta.

    Delta stays, for noise is priced for all rows of a person together; of any other mechanism it grows: see `for_unit`.
    """
    if rows == 1 or not row.is_finite:
        return row
    return PrivacyLoss(round_up(Fraction(row.epsilon) * rows), row.delta)


def guarantee(event: Event, rows: int = 1) -> PrivacyLoss:
    """The loss the composition theorems give for `event`, where a person has so many rows, rounded up.

    No steps cost 0; publishing anything exactly costs infinity. Pure steps and those of bounded range cost `rows` times their
    epsilon. Rounds of Gaussian noise that are neither sampled nor filtered move `rows` times as far, at the same delta. Of all
    others only their epsilon and delta are known: see `for_unit`. Raises ParameterError for fewer than one row.
    """
    epsilon, delta = _cost(event, validate_count("guarantee", "rows", rows))
    return PrivacyLoss(round_up(epsilon), min(1.0, round_up(delta)))


def _cost(event: Event, rows: int) -> tuple[Fraction | float, Fraction]:
    """(epsilon, exact or the float infinity; the exact delta) of so many rows of one person."""
    if isinstance(event, Step):
        return _cost_of_step(event, rows)
    costs = [_cost(one, rows) for one in event.events]
    epsilons, deltas = [epsilon for epsilon, _ in costs], [delta for _, delta in costs]
    if isinstance(event, Sequential):
        return sum(epsilons, Fraction(0)), sum(deltas, Fraction(0))
    # The rows of a person may be in as many disjoint parts: j of them cost a part at most j / rows of the epsilon of all, so all
    # parts together cost at most the largest, and no larger delta. Of Gaussian noise that is so because the delta at c mu of a
    # move by mu grows with mu.
    together = isinstance(event, RandomPartition) and event.shared
    return max(epsilons, default=Fraction(0)), sum(nlargest(1 if together else rows, deltas), Fraction(0))


def _cost_of_step(step: Step, rows: int) -> tuple[Fraction | float, Fraction]:
    cost, delta = step.cost, getattr(step.cost, "delta", 0)
    if not is_loss(cost.epsilon):
        raise DpvizError(f"An event must cost a non-negative epsilon. Got {step!r}.")
    if not (is_number(delta) and 0 <= delta <= 1):
        raise DpvizError(f"An event must cost a delta in [0, 1]. Got {step!r}.")
    if isinstance(cost, GaussianRounds) and not covers(cost):
        raise DpvizError(f"Rounds of Gaussian noise cost more than they say: {step!r}.")
    if math.isinf(cost.epsilon):
        return math.inf, Fraction(delta)
    if rows == 1 or not delta:
        return Fraction(cost.epsilon) * rows, Fraction(delta)
    if isinstance(cost, GaussianRounds) and is_plain(cost):
        return Fraction(epsilon_of_group(cost, rows)), Fraction(delta)
    loss = for_unit(PrivacyLoss(cost.epsilon, delta), rows)
    return Fraction(loss.epsilon), Fraction(loss.delta)


def round_up(value: Fraction | float) -> float:
    """The smallest float that is at least `value`, infinity above the largest."""
    if value > sys.float_info.max:
        return math.inf
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def round_down(value: Fraction) -> float:
    """The largest float that is at most `value`."""
    if value > sys.float_info.max:
        return sys.float_info.max
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def split_budget(epsilon: float, weights: tuple[float, ...]) -> tuple[float, ...]:
    """Shares of `epsilon` proportional to `weights`, whose exact sum never exceeds it.

    The smallest positive share takes what rounding leaves over, rounded down, so that the composed total prints as `epsilon`.
    """
    if not (is_number(epsilon) and epsilon >= 0):
        raise ParameterError("split_budget", "epsilon", epsilon, "finite and not negative")
    if not (all(is_number(weight) and weight >= 0 for weight in weights) and any(weights)):
        raise ParameterError("split_budget", "weights", weights, "finite and not negative, at least one above 0")
    return _split(epsilon, weights)


@lru_cache(maxsize=4096)
def _split(epsilon: float, weights: tuple[float, ...]) -> tuple[float, ...]:
    total = sum(map(Fraction, weights))
    shares = [round_down(Fraction(epsilon) * Fraction(weight) / total) for weight in weights]
    smallest = min((i for i, weight in enumerate(weights) if weight > 0), key=weights.__getitem__)
    rest = sum((Fraction(share) for i, share in enumerate(shares) if i != smallest), Fraction(0))
    shares[smallest] = round_down(Fraction(epsilon) - rest)
    return tuple(shares)
