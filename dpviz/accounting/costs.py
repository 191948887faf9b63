"""What an event costs, whatever its steps are for, in a form that repeats: the nodes of a level have one cost together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dpviz.accounting import events
from dpviz.accounting.events import Event, Free, GaussianRounds, Parallel, RandomPartition, Sequential, Unbounded


@dataclass(frozen=True, slots=True)
class Composition:
    """Costs on the same rows, and how often each."""

    costs: frozenset[tuple[Cost, int]]


@dataclass(frozen=True, slots=True)
class ParallelComposition:
    """Different costs of disjoint rows."""

    costs: frozenset[Cost]


@dataclass(frozen=True, slots=True)
class MixedComposition:
    """Costs of the parts of a random partition, and their probabilities."""

    costs: tuple[Cost, ...]
    probabilities: tuple[float, ...]
    shared: bool  #: By all rows of a person


Cost = events.Cost | Composition | ParallelComposition | MixedComposition
FREE = Composition(frozenset())


def cost_of(event: Event) -> Cost:
    """What an event costs."""
    match event:
        case Sequential(steps):
            return compose(map(cost_of, steps))
        case Parallel(steps):
            costs = frozenset(map(cost_of, steps)) - {FREE}
            return ParallelComposition(costs) if len(costs) > 1 else next(iter(costs), FREE)
        case RandomPartition(steps, probabilities, shared):
            return MixedComposition(tuple(map(cost_of, steps)), probabilities, shared)
    cost = event.cost
    if isinstance(cost, Free) or not (cost.epsilon or getattr(cost, "delta", 0)):
        return FREE
    if math.isinf(cost.epsilon):
        return Unbounded()
    return replace(cost, sampling=1.0) if isinstance(cost, GaussianRounds) and cost.sampling > 1 else cost


def compose(costs: Iterable[Cost]) -> Cost:
    """All of these on the same rows."""
    times: Counter[Cost] = Counter()
    for cost in costs:
        times.update(dict(cost.costs) if isinstance(cost, Composition) else {cost: 1})
    return next(iter(times)) if list(times.values()) == [1] else Composition(frozenset(times.items()))


def partitions_of(cost: Cost) -> Iterator[MixedComposition]:
    """Every random partition inside."""
    match cost:
        case Composition(costs):
            for one, _ in costs:
                yield from partitions_of(one)
        case ParallelComposition(costs):
            for one in costs:
                yield from partitions_of(one)
        case MixedComposition(costs):
            yield cost
            for one in costs:
                yield from partitions_of(one)
