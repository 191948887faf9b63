"""The first place of a grid where something succeeds often enough: a look everywhere, then a search with stated confidence.

The probability p(x) of success must not fall along the grid. Draws are made in stages. The first stage looks at every point;
where it crosses the reliability, two points go on until an exact (Clopper-Pearson) limit shows p >= reliability or
p < reliability, or the draws run out, and bisection follows where that does not settle it. The limits of all points at all stages
fail together with probability at most 1 - confidence (union bound), so it does not matter which points are chosen, nor
that points share draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from dpviz.accounting.risk import Risk
from dpviz.errors import DpvizError, ParameterError
from dpviz.evaluation.metrics import clopper_pearson
from dpviz.evaluation.poisoning import PoisoningTable, certify
from dpviz.evaluation.repeat import Workers, in_chunks
from dpviz.evaluation.simulate import Setup, World, fit_setups
from dpviz.learners import FitRequest, get_learner, require_task
from dpviz.models.tree import Leaf, as_tree
from dpviz.progress import Progress, Stop, is_stopped, steps
from dpviz.randomness import seed_from
from dpviz.results.result import FitResult
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import require_classes
from dpviz.table.validation import validate_fraction
from dpviz.training.exact_trace import exact_trace

#: Draws made at a point by the end of the first, second, ... stage; the first is made everywhere.
STAGES = (10, 30, 80, 200, 500)

#: yes: shown to succeed often enough; no: shown not to; open: undecided.
PointVerdict = Literal["yes", "no", "open"]
#: (positions on the grid, number of draws, draws made there before) -> outcomes of shape (n_positions, n_draws). Draws with the
#: same number may share rows and noise between positions, as long as the draws at each position are independent of each other.
Draw = Callable[[Sequence[int], int, int], np.ndarray]


@dataclass(frozen=True)
class GridPoint:
    """A place of the grid that was tested."""

    place: float
    #: One per draw, read-only.
    outcomes: np.ndarray
    successes: int  #: Outcomes that reach the target
    #: low, high: limits of the probability of success; those of a whole search hold together with its confidence.
    low: float
    high: float
    verdict: PointVerdict

    @property
    def n_draws(self) -> int:
        """Draws made."""
        return len(self.outcomes)

    @property
    def share(self) -> float:
        """Successes among the draws."""
        return self.successes / self.n_draws


@dataclass(frozen=True)
class SearchAnswer:
    """The result of a search."""

    grid: tuple[float, ...]
    points: tuple[GridPoint, ...]  #: Those tested, in the order of the grid
    reliability: float
    confidence: float
    is_complete: bool = True  #: False after a stop, and while the search goes on

    @property
    def first_success(self) -> GridPoint | None:
        """The first point shown to succeed often enough, if any."""
        return next((point for point in self.points if point.verdict == "yes"), None)

    @property
    def last_failure(self) -> GridPoint | None:
        """The last point shown not to, if any."""
        return next((point for point in reversed(self.points) if point.verdict == "no"), None)

    @property
    def is_refuted(self) -> bool:
        """True when even the last place of the grid was shown not to be enough."""
        return self.last_failure is not None and self.last_failure.place == self.grid[-1]


@dataclass
class Search:
    """A search for the first place of the grid where an outcome is at least `target` with probability `reliability`.

    Raises ParameterError for an empty grid, or a `reliability` or `confidence` outside (0, 1).
    """

    grid: tuple[float, ...]  #: Ordered so that success becomes likelier, or stays as likely
    #: Callable (positions, count, before) -> ndarray of shape (n_positions, count): `count` fresh outcomes at each of the
    #: positions, where `before` were already made.
    draw: Draw
    target: float
    reliability: float = 0.9
    confidence: float = 0.95
    stages: tuple[int, ...] = STAGES
    progress: Progress | None = None
    stop: Stop | None = None  #: Asked between stages
    points: dict[int, GridPoint] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if not self.grid:
            raise ParameterError("a search", "grid", self.grid, "at least one place")
        validate_fraction("a search", "reliability", self.reliability)
        validate_fraction("a search", "confidence", self.confidence)

    @property
    def failure(self) -> float:
        """Probability with which each limit may be wrong."""
        return (1 - self.confidence) / (len(self.grid) * len(self.stages) * 2)

    def answers(self) -> Iterator[SearchAnswer]:
        """What is known after every stage, ever more sharply; the last answer is complete unless the search was stopped.

        A first look everywhere, the two points between which it crosses, then two bisections.
        """
        for places, total in self._next_draws():
            if is_stopped(self.stop):
                yield self._answer(is_complete=False)
                return
            yield self._draw(places, total)
        self._report(1.0)
        yield self._answer(is_complete=True)

    def _next_draws(self) -> Iterator[tuple[Sequence[int], int]]:
        """Where to draw next, and up to how many draws: until each place has a verdict or all its draws."""
        yield range(len(self.grid)), self.stages[0]
        for places in self._places():
            for total in self.stages:
                open_places = [at for at in places if not self._is_settled(at) and self.points[at].n_draws < total]
                if open_places:
                    yield open_places, total

    def _places(self) -> Iterator[tuple[int, ...]]:
        """What to settle next: the last point that a first look finds below the reliability, and the first above it.

        Then points until the first "yes", and the last "no", has a settled neighbour.
        """
        last = len(self.grid) - 1
        first = min((at for at, point in self.points.items() if point.share >= self.reliability), default=last)
        yield tuple(at for at in (first - 1, first) if at >= 0)
        for verdict in ("yes", "no"):
            while (bracket := self._bracket(verdict))[1] - bracket[0] > 1:
                no, yes = bracket
                yield (last if yes > last else (no + yes) // 2,)  # no other place matters when the last one fails

    def _bracket(self, verdict: str) -> tuple[int, int]:
        """(the settled point before, or -1; the first "yes", or the end), or (the last "no", or -1; the settled point after)."""
        settled = [at for at in self.points if self._is_settled(at)]
        alike = [at for at in settled if self.points[at].verdict == verdict]
        if verdict == "yes":
            first = min(alike, default=len(self.grid))
            return max((at for at in settled if at < first), default=-1), first
        last = max(alike, default=-1)
        return last, min((at for at in settled if at > last), default=len(self.grid))

    def _is_settled(self, at: int) -> bool:
        point = self.points[at]
        return point.verdict != "open" or point.n_draws >= self.stages[-1]

    def _draw(self, places: Sequence[int], total: int) -> SearchAnswer:
        """Draws up to `total` at places with equally many so far."""
        before = {at: self.points[at].outcomes if at in self.points else np.empty(0) for at in places}
        n_before = len(before[places[0]])
        fresh = self.draw(tuple(places), total - n_before, n_before)
        for at, outcomes in zip(places, fresh, strict=True):
            drawn = np.concatenate([before[at], outcomes])
            self.points[at] = judge_point(self.grid[at], drawn, self.target, self.reliability, self.failure)
        self._report(min(0.95, sum(point.n_draws for point in self.points.values()) / (3 * self.stages[-1])))
        return self._answer(is_complete=False)

    def _report(self, share: float) -> None:
        if self.progress is not None:
            self.progress(share)

    def _answer(self, *, is_complete: bool) -> SearchAnswer:
        points = tuple(point for _, point in sorted(self.points.items()))
        return SearchAnswer(self.grid, points, self.reliability, self.confidence, is_complete)


def judge_point(place: float, outcomes: np.ndarray, target: float, reliability: float, failure: float) -> GridPoint:
    """The verdict on outcomes at a place; each limit is wrong with probability at most `failure`."""
    outcomes = np.asarray(outcomes, dtype=float)
    outcomes.flags.writeable = False
    successes = int((outcomes >= target).sum())
    low, high = map(float, clopper_pearson(successes, len(outcomes), failure))
    verdict: PointVerdict = "yes" if low >= reliability else "no" if high < reliability else "open"
    return GridPoint(place, outcomes, successes, low, high, verdict)


# --- The planner works backwards from a goal: how much epsilon, how many rows or which depth does it need?

# A goal is about single trees, because one tree is what the owner gets: "in 9 of 10 trees, accuracy on held-out rows is at least
# 80%". Each draw is a fresh tree on a fresh split or a fresh simulation, so the answer covers both noise and rows. Many trees
# on private rows spend epsilon many times, so rows are simulated or public (`simulate.py`).

#: Four per decade, from much privacy to hardly any.
EPSILONS = (*(float(f"{digit}e{power}") for power in range(-3, 1) for digit in (1, 2, 3, 5)), 10.0)
ROWS = tuple(digit * 10**power for power in range(2, 5) for digit in (1, 2, 5)) + (100_000,)
#: From deep to shallow: labels of fewer leaves are more reliable.
DEPTHS = tuple(range(8, 0, -1))
_CHUNK = 10
#: Up to so many rows a first look takes a second.
_FEW_ROWS = 30_000

#: accuracy: on held-out rows. labels: share of the leaves whose label is the majority of the training rows there.
GoalMeasure = Literal["accuracy", "labels"]
#: The quantity to find, everything else being fixed.
Along = Literal["epsilon", "n_rows", "max_depth"]
#: The default places to search, from the least likely to succeed to the most.
GRIDS: dict[Along, tuple[float, ...]] = {"epsilon": EPSILONS, "n_rows": ROWS, "max_depth": DEPTHS}


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

    measure: GoalMeasure
    target: float
    reliability: float = 0.9

    def __post_init__(self) -> None:
        validate_fraction("a goal", "target", self.target)
        validate_fraction("a goal", "reliability", self.reliability)


def plan_steps(
    world: World,
    request: FitRequest,
    along: Along,
    goal: Goal,
    *,
    seed: int,
    grid: Sequence[float] | None = None,
    workers: Workers = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Iterator[SearchAnswer]:
    """What is known about the least epsilon, fewest rows, or deepest tree that reaches a goal, ever more sharply.

    The last answer is complete unless the search was stopped.
    Raises ParameterError, SchemaError, UnsupportedError or DpvizError for invalid arguments.

    `world`: simulated or public rows.
    `seed`: repeatable; does not depend on `workers`. A draw has the same rows and noise at every place.
    `grid`: places to choose from, by default those of GRIDS.
    The confidence of the answer supposes that success never becomes less likely along the grid; what it says of a single place
    does not.
    `workers`: the first look is taken in this process where rows are few: others take longer to start.
    """
    places = tuple(GRIDS[along] if grid is None else grid)
    require_classes(world.schema, "A plan")
    require_task(request.spec, world.schema)

    def draw(positions: Sequence[int], count: int, before: int) -> np.ndarray:
        setups = [setup_at(request, along, places[at]) for at in positions]
        seeds = [seed_from(seed, number) for number in range(before, before + count)]
        is_quick = not before and world.n_rows <= _FEW_ROWS
        return outcomes(world, setups, goal.measure, seeds, workers=1 if is_quick else workers)

    yield from Search(places, draw, goal.target, goal.reliability, progress=progress, stop=stop).answers()


def outcomes(world: World, setups: Sequence[Setup], measure: GoalMeasure, seeds: Sequence[int], **how: Any) -> np.ndarray:
    """The measure of one fresh tree per setup and seed, a line per setup, each seed with its own draw of the world.

    Setups share draws of the world, and the noise as far as they use the same; `how` is for `in_chunks`.
    """
    chunks = in_chunks(partial(_measure_fits, world, tuple(setups), measure), seeds, _CHUNK, **how)
    return np.concatenate(chunks, axis=1) if chunks else np.empty((len(setups), 0))


def _measure_fits(world: World, setups: tuple[Setup, ...], measure: GoalMeasure, seeds: Sequence[int]) -> np.ndarray:
    values = [
        [
            result.score(test) if measure == "accuracy" else label_accuracy(result, rows)
            for result, rows, test in fit_setups(world, setups, seed, noise=seed)
        ]
        for seed in seeds
    ]
    return np.array(values).T


def label_accuracy(result: FitResult, data: EncodedDataset) -> float:
    """Share of the leaves whose label is a most frequent class of their rows. Leaves without rows do not count."""
    tree = as_tree(result.model)
    if tree is None:
        what = f"{get_learner(result.learner).title} is not a single tree, so it has no leaf labels."
        raise DpvizError(what, remedy="Choose a learner that grows one tree.")
    counts = exact_trace(tree, data).counts
    leaves = ((placed.node.label, counts[placed.path]) for placed in tree.nodes() if isinstance(placed.node, Leaf))
    right = [rows[label] == rows.max() for label, rows in leaves if rows.any()]
    return float(np.mean(right)) if right else 1.0


# --- three consequences of an epsilon: accuracy, what can be inferred about one person, and how much poison is withstood

# Accuracy and protection refer to one training set and one test set of the world, held fixed while the noise varies, as the
# poisoning certificate does (`poisoning.py`).
#
#: Share of the outcomes outside a band, at each end.
TAIL = 0.05
#: All certificates together fail with at most this probability.
BETA = 0.05


@dataclass(frozen=True)
class Consequence:
    """The consequences of one epsilon: poisoning certificate, with the accuracies it rests on, and risk."""

    epsilon: float
    certificate: PoisoningTable
    risk: Risk  #: Of one person, by what a fit does

    @property
    def is_proved(self) -> bool:
        """False where nothing bounds what may be learned."""
        return not self.certificate.reason and math.isfinite(getattr(self.certificate.bounds[0], "epsilon", math.inf))

    @property
    def right_guesses(self) -> float:
        """The largest share of right guesses whether a person was used, at even odds."""
        return self.risk.guesses() if self.is_proved else 1.0

    def accuracy(self, share: float) -> float:
        """The quantile at `share` of the accuracies on the test rows; of a vote without noise its one accuracy."""
        bound = self.certificate.bounds[0]
        return float(np.quantile(getattr(bound, "draws", bound.accuracy), share))


@dataclass(frozen=True)
class Consequences:
    """The consequences of a grid of epsilons for one setup on one training set."""

    items: tuple[Consequence, ...]  #: By epsilon; fewer than there will be while more are computed, and after a stop
    n_draws: int  #: Per epsilon

    @property
    def majority(self) -> float:
        """Accuracy of always predicting the most frequent class."""
        return self.items[0].certificate.majority

    def at(self, epsilon: float) -> Consequence:
        """The consequences of the nearest epsilon on a log scale."""
        return min(self.items, key=lambda item: abs(math.log(item.epsilon / epsilon)))


def consequences_steps(
    world: World,
    request: FitRequest,
    *,
    seed: int,
    epsilons: Sequence[float] = EPSILONS,
    draws: int = 300,
    workers: Workers = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Iterator[Consequences]:
    """Accuracy and poisoning certificates along a grid of epsilons: first at its own, then everywhere more densely.

    `draws`: trees per epsilon.
    `stop`: asked between epsilons; those done so far are kept, at least one.
    Yields them with one epsilon more each time.
    """
    train, test = world.draw(seed=seed_from(seed, 0))
    options: dict[str, Any] = {"draws": draws, "beta": BETA / len(epsilons), "workers": workers, "stop": stop}
    items: dict[int, Consequence] = {}
    for at in steps(_order(epsilons, request.settings.epsilon), progress, stop, at_least=1):
        table = certify(request.at(epsilon=epsilons[at]), [(train, test)], seed=seed_from(seed, 1 + at), **options)
        risk = request.at(epsilon=epsilons[at]).risk(train.schema).for_rows(train.schema.rows_per_person)
        items[at] = Consequence(epsilons[at], table, risk)
        yield Consequences(tuple(item for _, item in sorted(items.items())), draws)


def _order(epsilons: Sequence[float], first: float) -> list[int]:
    """Positions: the nearest to the first epsilon, then every fourth, every second, the others."""
    nearest = min(range(len(epsilons)), key=lambda at: abs(math.log(epsilons[at] / first)))
    coarse_first = sorted(range(len(epsilons)), key=lambda at: (at % 4 > 0) + at % 2)
    return list(dict.fromkeys([nearest, *coarse_first]))
