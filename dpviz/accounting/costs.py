"""What the steps of a ledger cost, whatever they were for, in a form that repeats: the nodes of a level have one cost together.

`dpviz/accounting/profile.py` says what a cost lets rows tell, `dpviz/accounting/renyi.py` what it is at one order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from dpviz.accounting.events import (
    Approximate,
    Event,
    GaussianRounds,
    NoCost,
    NonPrivate,
    Parallel,
    RandomParts,
    Select,
    Sequential,
)


@dataclass(frozen=True, slots=True)
class Pure:
    """Any step at cost epsilon."""

    epsilon: float


@dataclass(frozen=True, slots=True)
class Range:
    """A step whose losses lie within a range of length epsilon."""

    epsilon: float


@dataclass(frozen=True, slots=True)
class Stated:
    """Any step at cost (epsilon, delta)."""

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class Rounds:
    """Gaussian rounds, as in `events.GaussianRounds`."""

    noise_multiplier: float
    sampling: float
    rounds: int
    order: float | None
    epsilon: float


@dataclass(frozen=True, slots=True)
class Everything:
    """Something published exactly."""


@dataclass(frozen=True, slots=True)
class InTurn:
    """Costs on the same rows, and how often each."""

    costs: frozenset[tuple[Cost, int]]


@dataclass(frozen=True, slots=True)
class Largest:
    """Different costs of disjoint rows."""

    costs: frozenset[Cost]


@dataclass(frozen=True, slots=True)
class Mean:
    """Costs of the parts of a random assignment, and their probabilities."""

    costs: tuple[Cost, ...]
    chances: tuple[float, ...]
    shared: bool  #: By all rows of a person


#: What a step costs.
Cost = Pure | Range | Stated | Rounds | Everything | InTurn | Largest | Mean
FREE = InTurn(frozenset())


def cost_of(event: Event) -> Cost:
    """What an event costs."""
    match event:
        case Sequential(events):
            return _in_turn(map(cost_of, events))
        case Parallel(events):
            costs = frozenset(map(cost_of, events)) - {FREE}
            return Largest(costs) if len(costs) > 1 else next(iter(costs), FREE)
        case RandomParts(events, chances, shared):
            return Mean(tuple(map(cost_of, events)), chances, shared)
        case NoCost():
            return FREE
        case NonPrivate():
            return Everything()
        case _ if math.isinf(event.epsilon):
            return Everything()
        case GaussianRounds(epsilon, _, noise, sampling, rounds, order):
            return Rounds(noise, min(sampling, 1.0), rounds, order, epsilon)
        case Approximate(epsilon, delta):
            return Stated(epsilon, delta)
        case _ if not event.epsilon:
            return FREE
        case Select(epsilon, bounded_range=True):
            return Range(epsilon)
        case _:
            return Pure(event.epsilon)


def _in_turn(costs: Iterator[Cost]) -> Cost:
    times: Counter[Cost] = Counter()
    for cost in costs:
        times.update(dict(cost.costs) if isinstance(cost, InTurn) else {cost: 1})
    return next(iter(times)) if list(times.values()) == [1] else InTurn(frozenset(times.items()))


def assignments_of(cost: Cost) -> Iterator[Mean]:
    """Every random assignment inside."""
    match cost:
        case InTurn(costs):
            for one, _ in costs:
                yield from assignments_of(one)
        case Largest(costs):
            for one in costs:
                yield from assignments_of(one)
        case Mean(costs):
            yield cost
            for one in costs:
                yield from assignments_of(one)
