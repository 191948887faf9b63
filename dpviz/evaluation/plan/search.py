"""The first place of a grid where something succeeds often enough: a look everywhere, then a search with stated confidence.

The probability p(x) of success must not fall along the grid. Draws are made in stages. The first stage looks at every point;
where it crosses the reliability, two points go on until an exact (Clopper-Pearson) limit shows p >= reliability or
p < reliability, or the draws run out, and bisection follows where that does not settle it. The limits of all points at all stages
fail together with probability at most 1 - confidence (union bound), so it does not matter which points are chosen, nor
that points share draws.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dpviz.errors import ParameterError
from dpviz.evaluation.intervals import clopper_pearson
from dpviz.progress import Progress, Stop, is_stopped
from dpviz.table.checked_numbers import checked_share

#: Draws made at a point by the end of the first, second, ... stage; the first is made everywhere.
STAGES = (10, 30, 80, 200, 500)

#: yes: shown to succeed often enough; no: shown not to; open: undecided.
Verdict = Literal["yes", "no", "open"]
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
    verdict: Verdict

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
    def reached(self) -> GridPoint | None:
        """The first point shown to succeed often enough, if any."""
        return next((point for point in self.points if point.verdict == "yes"), None)

    @property
    def missed(self) -> GridPoint | None:
        """The last point shown not to, if any."""
        return next((point for point in reversed(self.points) if point.verdict == "no"), None)

    @property
    def is_refuted(self) -> bool:
        """True when even the last place of the grid was shown not to be enough."""
        return self.missed is not None and self.missed.place == self.grid[-1]


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
    found: dict[int, GridPoint] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if not self.grid:
            raise ParameterError("a search", "grid", self.grid, "at least one place")
        checked_share("a search", "reliability", self.reliability)
        checked_share("a search", "confidence", self.confidence)

    @property
    def failure(self) -> float:
        """Probability with which each limit may be wrong."""
        return (1 - self.confidence) / (len(self.grid) * len(self.stages) * 2)

    def answers(self) -> Iterator[SearchAnswer]:
        """What is known after every stage, ever more sharply; the last answer is complete unless the search was stopped.

        A first look everywhere, the two points between which it crosses, then two bisections.
        """
        try:
            yield self._drawn(range(len(self.grid)), self.stages[0])
            yield from self._settled(self._crossing())
            yield from self._bisected("yes")  # the first shown to succeed
            yield from self._bisected("no")  # the last shown to fail
        except _Stopped:
            yield self._answer(is_complete=False)
            return
        self._tell(1.0)
        yield self._answer(is_complete=True)

    def _crossing(self) -> tuple[int, ...]:
        """The last point that a first look finds below the reliability, and the first above; the last point if none is."""
        above = [at for at, point in self.found.items() if point.share >= self.reliability]
        first = min(above, default=len(self.grid) - 1)
        return tuple(at for at in (first - 1, first) if at >= 0)

    def _bisected(self, wanted: Verdict) -> Iterator[SearchAnswer]:
        """Settle points until the first "yes", or the last "no", has a settled neighbour."""
        while (between := self._between(wanted))[1] - between[0] > 1:
            no, yes = between
            last = len(self.grid) - 1
            yield from self._settled((last if yes > last else (no + yes) // 2,))  # no other place matters when the last one fails

    def _between(self, wanted: Verdict) -> tuple[int, int]:
        """(the settled point before, or -1; the first "yes", or the end), or (the last "no", or -1; the settled point after)."""
        settled = [at for at in self.found if self._is_settled(at)]
        found = [at for at in settled if self.found[at].verdict == wanted]
        if wanted == "yes":
            first = min(found, default=len(self.grid))
            return max((at for at in settled if at < first), default=-1), first
        last = max(found, default=-1)
        return last, min((at for at in settled if at > last), default=len(self.grid))

    def _is_settled(self, at: int) -> bool:
        point = self.found[at]
        return point.verdict != "open" or point.n_draws >= self.stages[-1]

    def _settled(self, places: Sequence[int]) -> Iterator[SearchAnswer]:
        """Draw at these places until each has a verdict or all its draws."""
        for total in self.stages:
            wanted = [at for at in places if not self._is_settled(at) and self.found[at].n_draws < total]
            if wanted:
                yield self._drawn(wanted, total)

    def _drawn(self, places: Sequence[int], total: int) -> SearchAnswer:
        """Draws up to `total` at places with equally many so far."""
        if is_stopped(self.stop):
            raise _Stopped
        before = {at: self.found[at].outcomes if at in self.found else np.empty(0) for at in places}
        n_before = len(before[places[0]])
        fresh = self.draw(tuple(places), total - n_before, n_before)
        for at, outcomes in zip(places, fresh, strict=True):
            drawn = np.concatenate([before[at], outcomes])
            self.found[at] = judge_point(self.grid[at], drawn, self.target, self.reliability, self.failure)
        self._tell(min(0.95, sum(point.n_draws for point in self.found.values()) / (3 * self.stages[-1])))
        return self._answer(is_complete=False)

    def _tell(self, share: float) -> None:
        if self.progress is not None:
            self.progress(share)

    def _answer(self, *, is_complete: bool) -> SearchAnswer:
        points = tuple(point for _, point in sorted(self.found.items()))
        return SearchAnswer(self.grid, points, self.reliability, self.confidence, is_complete)


class _Stopped(Exception):
    """Somebody asked the search to stop."""


def judge_point(place: float, outcomes: np.ndarray, target: float, reliability: float, failure: float) -> GridPoint:
    """The verdict on outcomes at a place; each limit is wrong with probability at most `failure`."""
    outcomes = np.asarray(outcomes, dtype=float)
    outcomes.flags.writeable = False
    successes = int((outcomes >= target).sum())
    low, high = map(float, clopper_pearson(successes, len(outcomes), failure))
    verdict: Verdict = "yes" if low >= reliability else "no" if high < reliability else "open"
    return GridPoint(place, outcomes, successes, low, high, verdict)
