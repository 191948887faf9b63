"""The planner: questions asked backwards. How much epsilon, how many rows or which depth does a goal need?

A goal is about single trees, because one tree is what its owner gets: "in 9 of 10 trees, accuracy on rows kept aside is at
least 80 %". Each draw is a fresh tree on a fresh split or a fresh simulation of the world, so the answer covers noise and rows.
Many trees on private rows spend many times epsilon: worlds are simulated or public (`simulate.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from dpviz.errors import DpvizError, ParameterError
from dpviz.evaluation.checks import require_classes
from dpviz.evaluation.plan.search import Answer, Rung, judged, search
from dpviz.evaluation.plan.simulate import World
from dpviz.evaluation.workers import spread
from dpviz.learners import fit, get_learner, require_task
from dpviz.models.constant import Constant
from dpviz.models.tree import Leaf, Tree
from dpviz.randomness import seed_from
from dpviz.table.dataset import EncodedDataset
from dpviz.training.contract import FitResult
from dpviz.training.exact_trace import exact_trace

#: Four a decade, from much privacy to hardly any.
EPSILONS = (*(float(f"{digit}e{power}") for power in range(-3, 1) for digit in (1, 2, 3, 5)), 10.0)
ROWS = tuple(digit * 10**power for power in range(2, 5) for digit in (1, 2, 5)) + (100_000,)
#: From deep to shallow: labels of fewer leaves are more reliable.
DEPTHS = tuple(range(8, 0, -1))
#: Draws of a check, none of which the answer has seen.
CHECK_DRAWS = 300
_CHUNK = 10

#: accuracy: on rows kept aside. labels: share of the leaves whose label is the majority of the training rows there.
Measure = Literal["accuracy", "labels"]
#: What is looked for, everything else held fixed.
Along = Literal["epsilon", "n_rows", "max_depth"]
Progress = Callable[[float], None]
Stop = Callable[[], bool]


@dataclass(frozen=True)
class Setup:
    """How trees are grown.

    Attributes
    ----------
    learner : str
    settings : mapping
        epsilon, max_depth, depth as for `fit`.
    params : mapping
        The learner's own.
    n_rows : int or None
        Training rows; None: as many as the world has.
    """

    learner: str
    settings: Mapping[str, Any]
    params: Mapping[str, Any] = field(default_factory=dict)
    n_rows: int | None = None

    def at(self, along: Along, place: float) -> Setup:
        """The same with another epsilon, number of rows, or fixed depth."""
        if along == "n_rows":
            return replace(self, n_rows=int(place))
        changed = {"epsilon": float(place)} if along == "epsilon" else {"max_depth": int(place), "depth": int(place)}
        return replace(self, settings={**self.settings, **changed})

    def fit(self, data: EncodedDataset, seed: int) -> FitResult:
        """One tree."""
        return fit(self.learner, data, seed=seed, **self.settings, **self.params)


@dataclass(frozen=True, slots=True)
class Goal:
    """In a share `sureness` of the trees, `measure` is at least `target`."""

    measure: Measure
    target: float
    sureness: float = 0.9

    def __post_init__(self) -> None:
        for name in ("target", "sureness"):
            value = getattr(self, name)
            if not 0 < value < 1:
                raise ParameterError("a goal", name, value, "a number between 0 and 1, both excluded")


def ladder_of(along: Along) -> tuple[float, ...]:
    """The places an answer is looked for at, from the least likely to the most."""
    return {"epsilon": EPSILONS, "n_rows": ROWS, "max_depth": DEPTHS}[along]


def plan(
    world: World,
    setup: Setup,
    along: Along,
    goal: Goal,
    *,
    seed: int,
    ladder: Sequence[float] | None = None,
    confidence: float = 0.95,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Answer:
    """The least epsilon, fewest rows, or deepest tree that fulfils a goal.

    Parameters
    ----------
    world : World
        Simulated rows, or rows that may be looked at.
    seed : int
        Repeatable; does not depend on `workers`.
    ladder : sequence of float, optional
        Places to choose from, `ladder_of(along)` unless given.
    confidence : float
        With this probability every statement of the answer is right, provided that going along the ladder never makes success
        less likely. What is said of a single place needs no such proviso.

    Raises
    ------
    ParameterError, SchemaError, WrongTask, DpvizError
        For what cannot be planned.
    """
    places = tuple(ladder_of(along) if ladder is None else ladder)
    require_classes(world.schema, "A plan")
    require_task(get_learner(setup.learner), world.schema)

    def draw(at: int, count: int, before: int) -> np.ndarray:
        seeds = [seed_from(seed, at, number) for number in range(before, before + count)]
        return outcomes(world, setup.at(along, places[at]), goal.measure, seeds, workers=workers)

    return search(places, draw, target=goal.target, sureness=goal.sureness, confidence=confidence, progress=progress, stop=stop)


def check(
    world: World,
    setup: Setup,
    along: Along,
    place: float,
    goal: Goal,
    *,
    seed: int,
    draws: int = CHECK_DRAWS,
    confidence: float = 0.95,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Rung:
    """How often fresh trees fulfil a goal at one place, with two-sided limits; for an answer, give another seed than its own."""
    seeds = [seed_from(seed, 1_000_003, number) for number in range(draws)]
    found = outcomes(world, setup.at(along, place), goal.measure, seeds, workers=workers, progress=progress, stop=stop)
    return judged(place, found, goal.target, goal.sureness, (1 - confidence) / 2)


def outcomes(
    world: World,
    setup: Setup,
    measure: Measure,
    seeds: Sequence[int],
    *,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> np.ndarray:
    """The measure of one fresh tree per seed, each on a draw of the world of its own."""
    chunks = [tuple(seeds[start : start + _CHUNK]) for start in range(0, len(seeds), _CHUNK)]
    found: list[np.ndarray] = []
    for part in spread(_Task(world, setup, measure).run, _until(stop, chunks), workers):
        found.append(part)
        if progress is not None:
            progress(sum(map(len, found)) / len(seeds))
    return np.concatenate(found) if found else np.empty(0)


def _until(stop: Stop | None, chunks: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    for chunk in chunks:
        if stop is not None and stop():
            return
        yield chunk


@dataclass(frozen=True)
class _Task:
    world: World
    setup: Setup
    measure: Measure

    def run(self, seeds: Sequence[int]) -> np.ndarray:
        """One outcome per seed."""
        return np.array([self._one(seed) for seed in seeds])

    def _one(self, seed: int) -> float:
        train, test = self.world.draw(self.setup.n_rows, seed=seed)
        result = self.setup.fit(train, seed)
        return result.score(test) if self.measure == "accuracy" else reliability(result, train)


def reliability(result: FitResult, data: EncodedDataset) -> float:
    """Share of the leaves whose label is a most frequent class of the rows there. Leaves without rows do not count."""
    match result.model:
        case Tree() as tree:
            pass
        case Constant(schema, label):
            tree = Tree(schema, Leaf(label))
        case _:
            raise DpvizError(
                f"{get_learner(result.learner).title} is not a single tree, so it has no leaf labels.",
                remedy="Choose a learner that grows one tree.",
            )
    trace = exact_trace(tree, data)
    leaves = ((placed.node, trace.counts[placed.path]) for placed in tree.nodes() if isinstance(placed.node, Leaf))
    right = [counts[leaf.label] == counts.max() for leaf, counts in leaves if counts.any()]
    return float(np.mean(right)) if right else 1.0
