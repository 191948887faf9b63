"""What steps cost as Renyi divergence of one order, between tables that differ in one row: an upper bound, in both directions.

At one fixed order these losses add up, also where each step is chosen by what came of those before. A sum that is held below a
budget fixed beforehand is a *filter*: whatever is chosen, all steps together keep the (epsilon, delta) the budget converts to.

- A *pure* step costs at most what randomised response does. One of *bounded range* eps costs at most order eps^2 / 8.
- *Gaussian rounds* cost what each does, so many times. Where an individual filter kept their sum at an order of its own, smaller
  orders cost no more and larger ones are not bounded; without sampling its sum of squares bounds every order.
- On disjoint rows the largest cost counts. Of random assignment it is the mean of exp((order - 1) loss), which is jointly convex.
- A step known by its epsilon and a delta alone has no Renyi loss.

Source: Mironov 2017, Proposition 1 (composition); Feldman & Zrnic 2021 and Lecuyer 2021 (filter); Bun & Steinke 2016,
Proposition 3.3 (pure); Cesar & Rogers 2021 (bounded range); Canonne, Kamath & Steinke 2020, Proposition 12 (conversion).
"""

from __future__ import annotations

import math
from functools import lru_cache

from dpviz.accounting.costs import Cost, Everything, InTurn, Largest, Mean, Pure, Range, Rounds, Stated, cost_of
from dpviz.accounting.events import Event
from dpviz.accounting.gaussian import GRID_SLACK, ORDERS, renyi_loss, renyi_offset

#: Relative error of the arithmetic here, counted as loss.
_ROUNDING = 1e-9
#: Beyond, losses leave the floating-point range.
_LARGE = 300.0


def renyi(event: Event, order: float) -> float:
    """The Renyi divergence of this order that one row can cause, rounded up; infinite where nothing bounds it."""
    return _loss(cost_of(event), order) * (1 + _ROUNDING)


@lru_cache(maxsize=4096)
def _loss(cost: Cost, order: float) -> float:
    match cost:
        case Everything():
            return math.inf
        case Pure(epsilon) | Stated(epsilon, 0.0):
            return pure_loss(epsilon, order)
        case Range(epsilon):
            return min(order * epsilon**2 / 8, pure_loss(epsilon, order))
        case Stated():
            return math.inf
        case Rounds():
            return _rounds(cost, order)
        case InTurn(costs):
            return math.fsum(times * _loss(one, order) for one, times in costs)
        case Largest(costs):
            return max(_loss(one, order) for one in costs)
        case Mean(costs, chances):
            return _mean([_loss(one, order) for one in costs], chances, order)


def pure_loss(epsilon: float, order: float) -> float:
    """Randomised response: no algorithm of this epsilon loses more. Its closed form as a difference of hyperbolic cosines."""
    return min(epsilon, (_log_cosh((order - 0.5) * epsilon) - _log_cosh(epsilon / 2)) / (order - 1))


def _log_cosh(x: float) -> float:
    if x > 1:
        return x + math.log1p(math.exp(-2 * x)) - math.log(2)
    return math.log1p(2 * math.sinh(x / 2) ** 2)


def _rounds(cost: Rounds, order: float) -> float:
    grid = (2 * order - 1) / (order - 1) * GRID_SLACK
    if cost.order is None or cost.sampling >= 1:
        return grid + cost.rounds * renyi_loss(cost.noise_multiplier, cost.sampling, order)
    if order > cost.order:
        return math.inf
    return grid + cost.rounds * renyi_loss(cost.noise_multiplier, cost.sampling, cost.order)


def _mean(losses: list[float], chances: tuple[float, ...], order: float) -> float:
    """Of randomly assigned parts; in what they leave to 1 a row is in none."""
    found = [(loss, chance) for loss, chance in zip(losses, chances, strict=True) if chance]
    largest = max((loss for loss, _ in found), default=0.0)
    if (order - 1) * largest > _LARGE:
        return largest
    grown = math.fsum(chance * math.expm1((order - 1) * loss) for loss, chance in found)
    return min(largest, math.log1p(grown) / (order - 1))


def budget(order: float, epsilon: float, delta: float) -> float:
    """The most Renyi loss of this order that still keeps (epsilon, delta), rounded down; 0 or less where none does."""
    return (epsilon - renyi_offset(order, delta)) * (1 - _ROUNDING)


def best_order(epsilon: float, delta: float) -> float:
    """The order whose budget holds most Gaussian noise: a function of the cap alone, so it may be fixed before any release."""
    return max(ORDERS, key=lambda order: budget(order, epsilon, delta) / order)


def pure_epsilon(order: float, loss: float) -> float:
    """The largest epsilon of which every pure algorithm keeps to this Renyi loss, rounded down."""
    if not loss > 0:
        return 0.0
    low, high = loss, loss + 2.0  # a loss is never above its epsilon
    while pure_loss(high, order) * (1 + _ROUNDING) <= loss:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if pure_loss(middle, order) * (1 + _ROUNDING) <= loss else (low, middle)
    return low if pure_loss(low, order) * (1 + _ROUNDING) <= loss else 0.0
