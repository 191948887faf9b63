"""The first place of a ladder where something succeeds often enough: stochastic bisection with a stated confidence.

The probability p(x) of success must not fall along the ladder. At a rung, draws are made in stages until an exact
(Clopper-Pearson) limit shows p >= reliability or p < reliability, or the draws run out. All limits of a search together fail with
probability at most 1 - confidence (union bound over rungs and stages; every rung has its own draws).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dpviz.errors import ParameterError
from dpviz.evaluation.checks import require_between_0_and_1
from dpviz.evaluation.intervals import clopper_pearson
from dpviz.progress import Progress, Stop, is_stopped

#: Draws made at a rung by the end of the first, second, ... stage.
STAGES = (30, 80, 200, 500)

#: yes: shown to succeed often enough; no: shown not to; open: undecided.
Verdict = Literal["yes", "no", "open"]
#: (position on the ladder, number of draws, draws made there before) -> outcomes
Draw = Callable[[int, int, int], np.ndarray]


@dataclass(frozen=True)
class Rung:
    """A place of the ladder that was tested.

    Attributes
    ----------
    place : float
    outcomes : ndarray, read-only
        One per draw.
    successes : int
        Outcomes that reach the target.
    low, high : float
        Limits of the probability of success; those of a whole search hold together with its confidence.
    verdict : Verdict
    """

    place: float
    outcomes: np.ndarray
    successes: int
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
class Answer:
    """The result of a search.

    Attributes
    ----------
    ladder : tuple of float
    rungs : tuple of Rung
        Those tested, in the order of the ladder.
    target, reliability, confidence : float
    is_complete : bool
        False after a stop.
    """

    ladder: tuple[float, ...]
    rungs: tuple[Rung, ...]
    target: float
    reliability: float
    confidence: float
    is_complete: bool = True

    @property
    def reached(self) -> Rung | None:
        """The first rung shown to succeed often enough, if any."""
        return next((rung for rung in self.rungs if rung.verdict == "yes"), None)

    @property
    def missed(self) -> Rung | None:
        """The last rung shown not to, if any."""
        return next((rung for rung in reversed(self.rungs) if rung.verdict == "no"), None)

    @property
    def is_refuted(self) -> bool:
        """True when even the last place of the ladder was shown not to be enough."""
        return self.missed is not None and self.missed.place == self.ladder[-1]

    @property
    def last(self) -> Rung | None:
        """The last rung tested."""
        return self.rungs[-1] if self.rungs else None


def search(
    ladder: Sequence[float],
    draw: Draw,
    *,
    target: float,
    reliability: float = 0.9,
    confidence: float = 0.95,
    stages: Sequence[int] = STAGES,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Answer:
    """The first place of the ladder where an outcome is at least `target` with probability `reliability`.

    Parameters
    ----------
    ladder : sequence of float
        Ordered so that success becomes likelier, or stays as likely.
    draw : callable (position, count, before) -> ndarray of shape (count,)
        `count` fresh outcomes at a position where `before` were already made.
    progress : callable (share in (0, 1]), optional
    stop : callable () -> bool, or threading.Event, optional
        Asked between stages; the result so far is returned.
    """
    if not ladder:
        raise ParameterError("a search", "ladder", ladder, "at least one place")
    require_between_0_and_1("a search", "reliability", reliability)
    require_between_0_and_1("a search", "confidence", confidence)
    return _Search(tuple(ladder), draw, target, reliability, confidence, tuple(stages), progress, stop).run()


def most_rungs(n_places: int) -> int:
    """The most rungs a search may test: the last place, and two bisections."""
    return min(n_places, 2 * math.ceil(math.log2(n_places + 1)) + 1)


@dataclass
class _Search:
    """A search in progress."""

    ladder: tuple[float, ...]
    draw: Draw
    target: float
    reliability: float
    confidence: float
    stages: tuple[int, ...]
    progress: Progress | None
    stop: Stop | None
    found: dict[int, Rung] = field(default_factory=dict)
    is_stopped: bool = False

    @property
    def failure(self) -> float:
        """Probability with which each limit may be wrong."""
        return (1 - self.confidence) / (most_rungs(len(self.ladder)) * len(self.stages) * 2)

    def run(self) -> Answer:
        """The last place first, because no other matters when it fails; then two bisections."""
        last = len(self.ladder) - 1
        if self._verdict(last) == "yes":
            self._bisect(-1, last, open_is="no")  # the first shown to succeed
        if self._verdict(last) != "no":
            known = [at for at, rung in self.found.items() if rung.verdict == "no"]
            undecided = [at for at, rung in self.found.items() if rung.verdict != "no"]
            self._bisect(max(known, default=-1), min(undecided, default=last), open_is="yes")  # the last shown to fail
        rungs = tuple(rung for _, rung in sorted(self.found.items()))
        if self.progress is not None and not self.is_stopped:
            self.progress(1.0)
        return Answer(self.ladder, rungs, self.target, self.reliability, self.confidence, not self.is_stopped)

    def _bisect(self, no: int, yes: int, *, open_is: Verdict) -> None:
        while yes - no > 1 and not self.is_stopped:
            middle = (no + yes) // 2
            verdict = self._verdict(middle)
            is_yes = (open_is if verdict == "open" else verdict) == "yes"
            no, yes = (no, middle) if is_yes else (middle, yes)

    def _verdict(self, at: int) -> Verdict:
        if at not in self.found:
            rung = self._tested(at)
            if rung is None:
                return "open"
            self.found[at] = rung
            if self.progress is not None:
                self.progress(min(0.99, len(self.found) / most_rungs(len(self.ladder))))
        return self.found[at].verdict

    def _tested(self, at: int) -> Rung | None:
        rung, outcomes = None, np.empty(0)
        for total in self.stages:
            self.is_stopped = is_stopped(self.stop)
            if self.is_stopped:
                break
            outcomes = np.concatenate([outcomes, self.draw(at, total - len(outcomes), len(outcomes))])
            rung = judged(self.ladder[at], outcomes, self.target, self.reliability, self.failure)
            if rung.verdict != "open":
                break
        return rung


def judged(place: float, outcomes: np.ndarray, target: float, reliability: float, failure: float) -> Rung:
    """The verdict on outcomes at a place; each limit is wrong with probability at most `failure`."""
    outcomes = np.asarray(outcomes, dtype=float)
    outcomes.flags.writeable = False
    successes = int((outcomes >= target).sum())
    low, high = map(float, clopper_pearson(successes, len(outcomes), failure))
    verdict: Verdict = "yes" if low >= reliability else "no" if high < reliability else "open"
    return Rung(place, outcomes, successes, low, high, verdict)
