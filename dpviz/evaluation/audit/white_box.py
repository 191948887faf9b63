"""A white-box attack: the ratio of the probabilities of everything that a fit released, on two tables.

A fit on one table is recorded: every mechanism, what it was asked about, what came out. Then the learner runs on the other table
and is given the same outcomes, so it asks the same questions of other rows. The mechanisms' laws say how likely each answer was
on either table; the logarithms of their ratios add up. The best test of one table against the other compares this sum with a
limit (Neyman & Pearson 1933). An attack that guesses by it is the strongest that this pair allows.

Who is in which part of a random assignment is not released: probabilities are averaged over the parts of the canary, and all
other rows are taken to be in the first part, where most of them are. That is exact where there are no others, and near it where
only the first part tells of them.

The laws decide what is guessed, never whether it was right: a mechanism that does not keep its law is still found out.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from typing import Any, Self

import numpy as np

from dpviz.errors import DpvizError, NotEnumerable
from dpviz.evaluation.audit.candidate_pairs import Pair
from dpviz.evaluation.audit.planned import PlannedLearner
from dpviz.evaluation.audit.wagers import STAKES, best_stake, growth, least_right, refutes, right_shown, wagered_bound
from dpviz.evaluation.workers import spread
from dpviz.learners import FitRequest
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.privacy.source import Mechanism, Simulation
from dpviz.progress import Progress, Stop, steps
from dpviz.table.dataset import EncodedDataset

#: Outcomes whose ratio is remembered; noise in many steps never repeats.
_REMEMBERED = 4096
#: Pairs of draws between two looks at what is shown; the first so many choose how to guess.
CHUNK = 50
#: Of how many times the draws an attack that needs more is not begun.
_HOPELESS = 4


@dataclass(frozen=True, slots=True)
class Step:
    """A draw: what was asked of a mechanism, and what came out. `values` are private: those of a simulated or public table."""

    mechanism: Mechanism
    values: Any = field(repr=False)
    outcome: Any


class Recording(Simulation):
    """A simulation that keeps every draw, exact values too. It is for audits alone; nothing that came from it is a release."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.steps: list[Step] = []

    def draw(self, mechanism: Mechanism, values: Any) -> Any:
        """One draw, which is kept."""
        outcome = super().draw(mechanism, values)
        self.steps.append(Step(mechanism, values.copy() if isinstance(values, np.ndarray) else values, outcome))
        return outcome


class Replay:
    """A NoiseSource that gives recorded outcomes again, and adds up how much likelier they are here than there."""

    name = "replay"
    seed = None

    def __init__(self, recorded: Sequence[Step], assigned: tuple[int, ...]) -> None:
        self._left = list(reversed(recorded))
        self._assigned = assigned  #: The part of every row, where rows are assigned at random
        self.asked: list[Any] = []  #: The values of every other draw
        self.log_ratio = 0.0

    def enter(self, place: int) -> None:
        """Nothing: outcomes are given."""

    def draw(self, mechanism: Mechanism, values: Any) -> Any:
        """The recorded outcome. Raises NotEnumerable where something else was asked, or its law is not known."""
        if not self._left:
            raise _other_steps()
        step = self._left.pop()
        if type(mechanism) is not type(step.mechanism):
            raise _other_steps()
        if isinstance(mechanism, RandomAssignment):
            return np.array(self._assigned, dtype=np.uint8)
        self.asked.append(values)
        self.log_ratio += _log_ratio(step, mechanism, values)
        return step.outcome

    def finish(self) -> float:
        """ln of the ratio of all outcomes together. Raises NotEnumerable where some were not asked for."""
        if self._left:
            raise _other_steps()
        return self.log_ratio


def _log_ratio(step: Step, mechanism: Any, values: Any) -> float:
    if mechanism == step.mechanism and _equal(values, step.values):
        return 0.0  # such as choices that look at no row, whatever their law
    if hasattr(mechanism, "log_likelihood") and mechanism == step.mechanism:
        return float(mechanism.log_likelihood(values, step.outcome) - mechanism.log_likelihood(step.values, step.outcome))
    if hasattr(mechanism, "probabilities") and np.ndim(step.outcome) == 0:
        here, there = mechanism.probabilities(values), step.mechanism.probabilities(step.values)  # type: ignore[attr-defined]
        with np.errstate(divide="ignore"):
            return float(np.log(here[step.outcome]) - np.log(there[step.outcome]))
    raise NotEnumerable(
        f"How likely an outcome of the mechanism {mechanism.title!r} is on both tables is not known.",
        remedy="Attack what is published instead.",
    )


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _other_steps() -> DpvizError:
    what = "On neighbouring tables this learner takes other steps, so no law says how likely its outcomes are on both."
    return NotEnumerable(what, remedy="Attack what is published instead.")


#: Of every step: the least and the largest numbers to which noise may have been added; None where that is not asked.
_Limits = list[tuple[np.ndarray, np.ndarray] | None]


@dataclass(frozen=True)
class WhiteBoxTask:
    """What every draw on a pair needs; it can be sent to another process unless the learner is unregistered."""

    request: FitRequest
    tables: Pair

    @cached_property
    def planned(self) -> PlannedLearner:
        """The learner on the schema of the pair."""
        return PlannedLearner(self.request, self.tables[0].schema)

    @cached_property
    def _known(self) -> dict[Any, float]:
        return {}

    @cached_property
    def _counted(self) -> dict[Any, _Limits]:
        return {}

    def show(self, seeds: Sequence[tuple[int, int]]) -> np.ndarray:
        """ln P(released | with the canary) - ln P(released | without), of draws without (column 0) and with it (column 1).

        Raises NotEnumerable where laws are not known.
        """
        return np.array([[self._ratio(table, seed) for table, seed in zip(self.tables, pair, strict=True)] for pair in seeds])

    def _ratio(self, drawn_from: EncodedDataset, seed: int) -> float:
        source = Recording(seed)
        self.planned.fit(drawn_from, source)
        seen = [step for step in source.steps if not isinstance(step.mechanism, RandomAssignment)]
        chosen = tuple(step.outcome for step in seen if np.ndim(step.outcome) == 0)
        key = tuple(map(_telling, seen, self._counted.get(chosen, repeat(None))))
        if key in self._known:
            return self._known[key]
        likelihoods, asked = [], list[list[Any]]()
        for table in self.tables:
            likelihoods.append(self._likelihood(table, source.steps, asked))
        ratio = likelihoods[1] - likelihoods[0]
        if len(self._known) < _REMEMBERED:
            self._known[key] = ratio
        self._note_counted(chosen, [_limits(step, values) for step, *values in zip(seen, *asked, strict=True)])
        return ratio

    def _note_counted(self, chosen: Any, limits: _Limits) -> None:
        if not _equal(tuple(self._counted.setdefault(chosen, limits)), tuple(limits)):  # what is asked follows noise too
            self._counted[chosen] = [None] * len(limits)
            self._known.clear()

    def _likelihood(self, table: EncodedDataset, recorded: Sequence[Step], asked: list[list[Any]]) -> float:
        """ln of the probability of what was released, but for a number that is the same for both tables."""
        from scipy.special import logsumexp

        found = []
        for chance, assigned in _assignments(recorded, table.n_rows, has_canary=table is self.tables[1]):
            replay = Replay(recorded, assigned)
            self.planned.fit(table, replay)
            found.append(math.log(chance) + replay.finish())
            asked.append(replay.asked)
        return float(logsumexp(found))


def _limits(step: Step, values: Sequence[Any]) -> tuple[np.ndarray, np.ndarray] | None:
    if not isinstance(step.mechanism, GeometricNoise):
        return None
    return np.min(values, axis=0), np.max(values, axis=0)


def _telling(step: Step, limits: tuple[np.ndarray, np.ndarray] | None) -> Any:
    """What of an outcome tells the tables apart: beyond the limits every geometric count is equally telling."""
    if np.ndim(step.outcome) == 0:
        return step.outcome
    return (step.outcome if limits is None else np.clip(step.outcome, *limits)).tobytes()


def _assignments(recorded: Sequence[Step], n_rows: int, *, has_canary: bool) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Every part of the canary with its probability, others in the first; one that says nothing where none was drawn."""
    random = [step.mechanism for step in recorded if isinstance(step.mechanism, RandomAssignment)]
    if len(random) > 1:
        what = "Rows are assigned more than once, in too many ways to average over."
        raise NotEnumerable(what, remedy="Attack what is published instead.")
    if not random or not has_canary:
        yield 1.0, (0,) * n_rows
        return
    for part, share in enumerate((1 - sum(random[0].shares), *random[0].shares)):
        yield share, (*(0,) * (n_rows - 1), part)


@dataclass(frozen=True)
class Way:
    """How to guess, chosen on draws of its own."""

    limit: float  #: The log ratio from which on to guess
    stake: float  #: The share of the money on every guess
    growth: float  #: Of ln money per draw, if the laws are kept; 0 for none


@dataclass(frozen=True)
class Ceiling:
    """What a perfect attack shows as often as not, of a learner that loses all that is proved, with so many pairs of draws."""

    share: float  #: Of the proved loss
    pairs: int

    def __str__(self) -> str:
        share = f"about {self.share:.0%}" if self.share >= 0.005 else "nothing"
        return f"With {self.pairs:,} pairs of fits even a perfect attack would show {share}"


@dataclass(frozen=True)
class Wanted:
    """What is proved of a learner on a pair, on the scale on which it is tight, and how much of it is to be shown.

    Without delta that is epsilon. Under delta no finite number of draws shows the epsilon of so rare an event: there it is the
    right guesses that the composed trade-off curve allows at even odds, which many draws do show.
    """

    epsilon: float
    delta: float
    right: float  #: The largest share of right guesses that is proved
    share: float  #: Of it, to be shown

    @classmethod
    def of(cls, planned: PlannedLearner, share: float) -> Self:
        """Of what is proved for any rows of the schema."""
        composed = planned.composed_on_any()
        return cls(composed.epsilon, composed.delta, planned.request.risk(planned.schema).guesses(), share)

    def ceiling(self, pairs: int, *, beta: float) -> Ceiling:
        """What so many pairs of draws can show of it. Without delta the most is lost by randomised response."""
        most = self.right if self.delta else 1 / (1 + math.exp(-self.epsilon))
        right = right_shown(most, pairs, beta=beta)
        return Ceiling(self.shown(math.log(right / (1 - right)), right), pairs)

    @property
    def tested(self) -> float:
        """The epsilon that is to be refuted; for right guesses, that of which this share of them is the most."""
        if not self.delta:
            return self.share * self.epsilon
        right = 0.5 + self.share * (self.right - 0.5)
        return math.log(right / (1 - right))

    def way(self, ratios: np.ndarray) -> Way:
        """How to guess and what to stake, by the log ratios of some draws."""
        sizes = np.sort(np.abs(ratios).ravel())[::-1]
        right = np.cumsum(1 / (1 + np.exp(-sizes))) / np.arange(1, len(sizes) + 1)
        fair = 1 / (1 + math.exp(-self.tested))
        by_draw = growth(right, fair) * np.arange(1, len(sizes) + 1) / len(sizes)
        best = len(sizes) - 1 if self.delta else int(by_draw.argmax())
        limit = 0.0 if self.delta else float(sizes[best]) * (1 - 1e-9)
        return Way(limit, best_stake(float(right[best]), self.tested), float(by_draw[best]))

    def shown(self, bound: float, right: float) -> float:
        """The share of what is proved that these lower bounds are."""
        return (right - 0.5) / (self.right - 0.5) if self.delta else bound / self.epsilon


@dataclass
class Tally:
    """Guesses so far: those that were sure enough, and those that every draw forces."""

    way: Way
    pairs: int = 0
    right: int = 0
    wrong: int = 0
    forced_right: int = 0

    @property
    def _stakes(self) -> np.ndarray:
        return np.array([self.way.stake])

    def add(self, ratios: np.ndarray) -> None:
        """Count what guesses by the signs of these log ratios were worth."""
        was_right = (ratios >= 0) == np.array([False, True])
        is_sure = np.abs(ratios) >= self.way.limit
        self.pairs += len(ratios)
        self.right += int((was_right & is_sure).sum())
        self.wrong += int((~was_right & is_sure).sum())
        self.forced_right += int(was_right.sum())

    def has_shown(self, wanted: Wanted, beta: float) -> bool:
        """True once the share of the proved loss is shown."""
        right, wrong = (self.forced_right, 2 * self.pairs - self.forced_right) if wanted.delta else (self.right, self.wrong)
        return refutes(right, wrong, self.pairs, wanted.tested, beta=beta, stakes=self._stakes)

    def found(self, wanted: Wanted, beta: float) -> dict[str, Any]:
        """What an AuditedBound says of it."""
        how: dict[str, Any] = {"beta": beta, "delta": wanted.delta, "stakes": self._stakes}
        bound = wagered_bound(self.right, self.wrong, self.pairs, **how)
        certain = wagered_bound(2 * self.pairs, 0, self.pairs, **how)
        stakes = self._stakes if wanted.delta else STAKES  # else guesses are forced that are worth less than this stake
        right = least_right(self.forced_right, 2 * self.pairs - self.forced_right, self.pairs, beta=beta, stakes=stakes)
        return {
            "bound": bound,
            "largest": certain,
            "event": f"the likelihood ratio of everything released, from e^{self.way.limit:.3g} on" if self.pairs else "",
            "hits": (self.wrong, self.right),
            "n_tested": self.right + self.wrong,
            "guesses": 100 * right,
            "strength": wanted.shown(bound, right),
        }


def choose_pair(
    tasks: Sequence[tuple[WhiteBoxTask, Wanted]], seeds: Sequence[tuple[int, int]], draws: int, beta: float
) -> tuple[WhiteBoxTask, Wanted, Way]:
    """The pair on which the laws promise the quickest proof, and how to guess there.

    Raises NotEnumerable where not even a perfect attack would show so much of the proved loss from so many `draws`, laws are not
    known, or they promise it on none of these pairs, or not from a few times as many draws.
    """
    tried, unknown = [], None
    highest = max((wanted.ceiling(draws, beta=beta) for _, wanted in tasks), key=lambda ceiling: ceiling.share)
    if highest.share < tasks[0][1].share:
        raise NotEnumerable(f"{highest} of what is proved.", remedy="Allow more draws, or ask for less.")
    for task, wanted in tasks:
        try:
            tried.append((task, wanted, wanted.way(replace(task).show(seeds))))
        except NotEnumerable as reason:
            unknown = reason
    if not tried and unknown is not None:
        raise unknown
    task, wanted, way = max(tried, key=lambda one: one[2].growth)
    if way.growth <= 0:
        what = f"No pair is known on which what is released tells {wanted.share:.0%} of what is proved."
        raise NotEnumerable(what, remedy="Give another pair, or ask for less.")
    needed = math.log(1 / beta) / way.growth / 2
    if needed > _HOPELESS * draws:
        what = f"To show {wanted.share:.0%} of what is proved would take about {needed:,.0f} draws on each table."
        raise NotEnumerable(what, remedy="Allow more draws, or ask for less.")
    return task, wanted, way


def guess_until(
    task: WhiteBoxTask,
    wanted: Wanted,
    way: Way,
    seeds: Sequence[tuple[int, int]],
    beta: float,
    *,
    workers: int,
    progress: Progress | None,
    stop: Stop | None,
) -> Tally:
    """Draw until the share of the proved loss is shown, or the seeds are used up."""
    show: Callable[[Sequence[tuple[int, int]]], np.ndarray] = replace(task).show  # without what was computed here
    chunks = [seeds[start : start + CHUNK] for start in range(0, len(seeds), CHUNK)]
    tally = Tally(way)
    for ratios in spread(show, steps(chunks, progress, stop), workers):
        tally.add(ratios)
        if tally.has_shown(wanted, beta):
            break
    return tally
