"""The planner works backwards from a goal: how much epsilon, how many rows or which depth does it need?

A goal is about single trees, because one tree is what the owner gets: "in 9 of 10 trees, accuracy on held-out rows is at least
80%". Each draw is a fresh tree on a fresh split or a fresh simulation, so the answer covers both noise and rows. Many trees
on private rows spend epsilon many times, so rows are simulated or public (`simulate.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Literal

import numpy as np

from dpviz.errors import DpvizError
from dpviz.evaluation.plan.search import GridPoint, Search, SearchAnswer, judge_point
from dpviz.evaluation.plan.simulate import World
from dpviz.evaluation.workers import in_chunks
from dpviz.learners import FitRequest, get_learner, require_task
from dpviz.models.constant import as_tree
from dpviz.models.tree import Leaf
from dpviz.progress import Progress, Stop
from dpviz.randomness import seed_from
from dpviz.results.result import FitResult
from dpviz.table.checked_numbers import checked_share
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import require_classes
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
GRIDS: dict[Along, tuple[float, ...]] = {"epsilon": EPSILONS, "n_rows": ROWS, "max_depth": DEPTHS}


#: What is trained, and on how many rows; None: as many as the world has.
Setup = tuple[FitRequest, int | None]


def setup_at(request: FitRequest, along: Along, place: float) -> Setup:
    """The same with another epsilon, number of rows, or fixed depth."""
    match along:
        case "n_rows":
            return request, int(place)
        case "epsilon":
            return request.at(epsilon=float(place)), None
        case _:
            return request.at(max_depth=int(place), depth=int(place)), None


@dataclass(frozen=True, slots=True)
class Goal:
    """In a share `reliability` of the trees, `measure` is at least `target`."""

    measure: Measure
    target: float
    reliability: float = 0.9

    def __post_init__(self) -> None:
        checked_share("a goal", "target", self.target)
        checked_share("a goal", "reliability", self.reliability)


def plan_steps(
    world: World,
    request: FitRequest,
    along: Along,
    goal: Goal,
    *,
    seed: int,
    grid: Sequence[float] | None = None,
    confidence: float = 0.95,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Iterator[SearchAnswer]:
    """What is known about the least epsilon, fewest rows, or deepest tree that reaches a goal, ever more sharply.

    The last answer is complete unless the search was stopped.
    Raises ParameterError, SchemaError, WrongTask or DpvizError for invalid arguments.

    `world`: simulated or public rows.
    `seed`: repeatable; does not depend on `workers`. A draw has the same rows and noise at every place.
    `grid`: places to choose from, by default those of GRIDS.
    `confidence`: probability that every statement of the answer is right, provided that success never becomes less likely along
    the grid. Statements about a single place do not need this assumption.
    `workers`: the first look is taken in this process where rows are few: others take longer to start.
    """
    places = tuple(GRIDS[along] if grid is None else grid)
    require_classes(world.schema, "A plan")
    require_task(request.spec, world.schema)

    def draw(positions: Sequence[int], count: int, before: int) -> np.ndarray:
        setups = [setup_at(request, along, places[at]) for at in positions]
        seeds = [seed_from(seed, number) for number in range(before, before + count)]
        here = 1 if not before and world.n_rows <= _FEW_ROWS else workers
        return outcomes(world, setups, goal.measure, seeds, workers=here)

    yield from Search(places, draw, goal.target, goal.reliability, confidence, progress=progress, stop=stop).answers()


def check(
    world: World,
    request: FitRequest,
    along: Along,
    place: float,
    goal: Goal,
    *,
    seed: int,
    draws: int = CHECK_DRAWS,
    confidence: float = 0.95,
    **how: Any,
) -> GridPoint:
    """How often fresh trees reach a goal at one place, with two-sided limits; to check an answer, use another seed.

    `how` is for `outcomes`.
    """
    seeds = [seed_from(seed, 1_000_003, number) for number in range(draws)]
    [found] = outcomes(world, [setup_at(request, along, place)], goal.measure, seeds, **how)
    return judge_point(place, found, goal.target, goal.reliability, (1 - confidence) / 2)


def outcomes(world: World, setups: Sequence[Setup], measure: Measure, seeds: Sequence[int], **how: Any) -> np.ndarray:
    """The measure of one fresh tree per setup and seed, a line per setup, each seed with its own draw of the world.

    Setups share draws of the world, and the noise as far as they use the same; `how` is for `in_chunks`.
    """
    found = in_chunks(partial(_fits, world, tuple(setups), measure), seeds, _CHUNK, **how)
    return np.concatenate(found, axis=1) if found else np.empty((len(setups), 0))


def _fits(world: World, setups: tuple[Setup, ...], measure: Measure, seeds: Sequence[int]) -> np.ndarray:
    return np.array([list(_of_one_seed(world, setups, measure, seed)) for seed in seeds]).T


def _of_one_seed(world: World, setups: tuple[Setup, ...], measure: Measure, seed: int) -> Iterator[float]:
    for n_rows, alike in groupby(setups, key=lambda setup: setup[1]):
        train, test = world.draw(n_rows, seed=seed)
        rows = train.with_cached_counts() if len(setups) > 1 else train
        for request, _ in alike:
            result = request.at(seed=seed).fit(rows)
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
