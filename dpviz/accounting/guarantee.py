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

from dpviz.accounting.events import Event, GaussianRounds, Sequential, Step
from dpviz.accounting.gaussian import covers
from dpviz.errors import DpvizError, ParameterError
from dpviz.table.checked_numbers import checked_count, checked_delta, checked_loss, is_loss, is_number

#: Printed wherever an epsilon is printed.
NEIGHBOURS = "add/remove one row"


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """(epsilon, delta) under add/remove one row. Epsilon is infinite where something was published exactly."""

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        checked_loss("PrivacyLoss", "epsilon", self.epsilon)
        checked_delta("PrivacyLoss", "delta", self.delta)

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
    rows = checked_count("for_unit", "rows", rows)
    if not loss.is_finite:
        return loss
    epsilon = round_up(Fraction(loss.epsilon) * rows)
    if not loss.delta:
        return PrivacyLoss(epsilon)
    exponent = (rows - 1) * loss.epsilon
    grown = rows * loss.delta * math.exp(exponent) if exponent < 700 else 1.0
    return PrivacyLoss(epsilon, min(1.0, math.nextafter(grown, math.inf)))


def guarantee(event: Event) -> PrivacyLoss:
    """The smallest loss the composition theorems give for `event`, rounded up.

    No steps cost 0; publishing anything exactly costs infinity.
    """
    return PrivacyLoss(round_up(_cost(event)), min(1.0, round_up(_delta(event))))


def _cost(event: Event) -> Fraction | float:
    """The exact epsilon: a fraction, or the float infinity."""
    if not isinstance(event, Step):
        costs = map(_cost, event.events)
        return sum(costs, Fraction(0)) if isinstance(event, Sequential) else max(costs, default=Fraction(0))
    cost = event.cost
    if not is_loss(cost.epsilon):
        raise DpvizError(f"An event must cost a non-negative epsilon. Got {event!r}.")
    if isinstance(cost, GaussianRounds) and not covers(cost):
        raise DpvizError(f"Rounds of Gaussian noise cost more than they say: {event!r}.")
    return math.inf if math.isinf(cost.epsilon) else Fraction(cost.epsilon)


def _delta(event: Event) -> Fraction:
    """The exact delta: added up in sequence, the largest over disjoint rows, 0 for pure steps."""
    if not isinstance(event, Step):
        deltas = map(_delta, event.events)
        return sum(deltas, Fraction(0)) if isinstance(event, Sequential) else max(deltas, default=Fraction(0))
    delta = getattr(event.cost, "delta", 0)
    if not (is_number(delta) and 0 <= delta <= 1):
        raise DpvizError(f"An event must cost a delta in [0, 1]. Got {event!r}.")
    return Fraction(delta)


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
