"""The planner works backwards from a goal: how much epsilon, how many rows or which depth does it need?

A goal is about single trees, because one tree is what the owner gets: "in 9 of 10 trees, accuracy on held-out rows is at least
80%". Each draw is a fresh tree on a fresh split or a fresh simulation, so the answer covers both noise and rows. Many trees
on private rows spend epsilon many times, so rows are simulated or public (`simulate.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Any, Literal

import numpy as np

from dpviz.errors import DpvizError
from dpviz.evaluation.checks import require_between_0_and_1, require_classes
from dpviz.evaluation.plan.search import Answer, Rung, Search, judged
from dpviz.evaluation.plan.simulate import World
from dpviz.evaluation.workers import in_chunks
from dpviz.learners import fit, get_learner, require_task
from dpviz.models.constant import as_tree
from dpviz.models.tree import Leaf
from dpviz.progress import Progress, Stop
from dpviz.randomness import seed_from
from dpviz.table.dataset import EncodedDataset
from dpviz.training.contract import FitResult
from dpviz.training.exact_trace import exact_trace

#: Four per decade, from much privacy to hardly any.
EPSILONS = (*(float(f"{digit}e{power}") for power in range(-3, 1) for digit in (1, 2, 3, 5)), 10.0)
ROWS = tuple(digit * 10**power for power in range(2, 5) for digit in (1, 2, 5)) + (100_000,)
#: From deep to shallow: labels of fewer leaves are more reliable.
DEPTHS = tuple(range(8, 0, -1))
#: Draws of a check, which are independent of the answer.
CHECK_DRAWS = 300
_CHUNK = 10
#: Up to so many rows a first look takes a second.
_FEW_ROWS = 30_000

#: accuracy: on held-out rows. labels: share of the leaves whose label is the majority of the training rows there.
Measure = Literal["accuracy", "labels"]
#: The quantity to find, everything else being fixed.
Along = Literal["epsilon", "n_rows", "max_depth"]
#: The default places to search, from the least likely to succeed to the most.
LADDERS: dict[Along, tuple[float, ...]] = {"epsilon": EPSILONS, "n_rows": ROWS, "max_depth": DEPTHS}


@dataclass(frozen=True)
class Setup:
    """How trees are grown."""

    learner: str
    settings: Mapping[str, Any]  #: epsilon, max_depth, depth as for `fit`
    params: Mapping[str, Any] = field(default_factory=dict)  #: The learner's own
    n_rows: int | None = None  #: Training rows; None: as many as the world has

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
    """In a share `reliability` of the trees, `measure` is at least `target`."""

    measure: Measure
    target: float
    reliability: float = 0.9

    def __post_init__(self) -> None:
        require_between_0_and_1("a goal", "target", self.target)
        require_between_0_and_1("a goal", "reliability", self.reliability)


def plan_steps(
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
) -> Iterator[Answer]:
    """What is known about the least epsilon, fewest rows, or deepest tree that reaches a goal, ever more sharply.

    The last answer is complete unless the search was stopped.
    Raises ParameterError, SchemaError, WrongTask or DpvizError for invalid arguments.

    `world`: simulated or public rows.
    `seed`: repeatable; does not depend on `workers`. A draw has the same rows and noise at every place.
    `ladder`: places to choose from, by default those of LADDERS.
    `confidence`: probability that every statement of the answer is right, provided that success never becomes less likely along
    the ladder. Statements about a single place do not need this assumption.
    `workers`: the first look is taken in this process where rows are few: others take longer to start.
    """
    places = tuple(LADDERS[along] if ladder is None else ladder)
    require_classes(world.schema, "A plan")
    require_task(get_learner(setup.learner), world.schema)

    def draw(positions: Sequence[int], count: int, before: int) -> np.ndarray:
        setups = [setup.at(along, places[at]) for at in positions]
        seeds = [seed_from(seed, number) for number in range(before, before + count)]
        here = 1 if not before and world.n_rows <= _FEW_ROWS else workers
        return outcomes(world, setups, goal.measure, seeds, workers=here)

    yield from Search(places, draw, goal.target, goal.reliability, confidence, progress=progress, stop=stop).answers()


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
    **how: Any,
) -> Rung:
    """How often fresh trees reach a goal at one place, with two-sided limits; to check an answer, use another seed.

    `how` is for `outcomes`.
    """
    seeds = [seed_from(seed, 1_000_003, number) for number in range(draws)]
    [found] = outcomes(world, [setup.at(along, place)], goal.measure, seeds, **how)
    return judged(place, found, goal.target, goal.reliability, (1 - confidence) / 2)


def outcomes(world: World, setups: Sequence[Setup], measure: Measure, seeds: Sequence[int], **how: Any) -> np.ndarray:
    """The measure of one fresh tree per setup and seed, a line per setup, each seed with its own draw of the world.

    Setups share draws of the world, and the noise as far as they use the same; `how` is for `in_chunks`.
    """
    found = in_chunks(partial(_fits, world, tuple(setups), measure), seeds, _CHUNK, **how)
    return np.concatenate(found, axis=1) if found else np.empty((len(setups), 0))


def _fits(world: World, setups: tuple[Setup, ...], measure: Measure, seeds: Sequence[int]) -> np.ndarray:
    return np.array([list(_of_one_seed(world, setups, measure, seed)) for seed in seeds]).T


def _of_one_seed(world: World, setups: tuple[Setup, ...], measure: Measure, seed: int) -> Iterator[float]:
    for n_rows, alike in groupby(setups, key=lambda setup: setup.n_rows):
        train, test = world.draw(n_rows, seed=seed)
        rows = train.with_cached_counts() if len(setups) > 1 else train
        for setup in alike:
            result = setup.fit(rows, seed)
            yield result.score(test) if measure == "accuracy" else label_accuracy(result, rows)


def label_accuracy(result: FitResult, data: EncodedDataset) -> float:
    """Share of the leaves whose label is a most frequent class of their rows. Leaves without rows do not count."""
    tree = as_tree(result.model)
    if tree is None:
        what = f"{get_learner(result.learner).title} is not a single tree, so it has no leaf labels."
        raise DpvizError(what, remedy="Choose a learner that grows one tree.")
    counts = exact_trace(tree, data).counts
    leaves = ((placed.node.label, counts[placed.path]) for placed in tree.nodes() if isinstance(placed.node, Leaf))
    right = [here[label] == here.max() for label, here in leaves if here.any()]
    return float(np.mean(right)) if right else 1.0
