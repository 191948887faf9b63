"""The smallest place of a ladder where something succeeds often enough: stochastic bisection with a stated confidence.

What is asked is a probability p(x) of success that does not fall along the ladder. At a rung, draws are made in looks of growing
size until an exact (Clopper-Pearson) limit shows p >= sureness or p < sureness, or the draws run out. All limits of a search
together fail with probability at most 1 - confidence (union bound over rungs and looks; every rung has draws of its own).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dpviz.errors import ParameterError
from dpviz.evaluation.intervals import clopper_pearson

#: Draws made at a rung when it is looked at for the first, second, ... time.
LOOKS = (30, 80, 200, 500)

#: yes: shown to succeed often enough; no: shown not to; open: the draws do not tell.
Verdict = Literal["yes", "no", "open"]
#: (position on the ladder, number of draws, draws made there before) -> outcomes
Draw = Callable[[int, int, int], np.ndarray]


@dataclass(frozen=True)
class Rung:
    """A place that was looked at.

    Attributes
    ----------
    place : float
        Of the ladder.
    outcomes : ndarray, read-only
        One per draw.
    successes : int
        Outcomes that reach the target.
    low, high : float
        Limits of the probability of success; all of a search hold together with its confidence.
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
    """What a search found.

    Attributes
    ----------
    ladder : tuple of float
    rungs : tuple of Rung
        Looked at, in the order of the ladder.
    target, sureness, confidence : float
    is_complete : bool
        False after a stop.
    """

    ladder: tuple[float, ...]
    rungs: tuple[Rung, ...]
    target: float
    sureness: float
    confidence: float
    is_complete: bool = True

    @property
    def reached(self) -> Rung | None:
        """The first rung shown to succeed often enough; None where none was."""
        return next((rung for rung in self.rungs if rung.verdict == "yes"), None)

    @property
    def missed(self) -> Rung | None:
        """The last rung shown not to, before the one that does."""
        return next((rung for rung in reversed(self.rungs) if rung.verdict == "no"), None)

    @property
    def is_refuted(self) -> bool:
        """True when even the last place of the ladder was shown not to be enough: not reachable."""
        return self.missed is not None and self.missed.place == self.ladder[-1]

    @property
    def last(self) -> Rung | None:
        """The rung furthest along the ladder that was looked at."""
        return self.rungs[-1] if self.rungs else None


def search(
    ladder: Sequence[float],
    draw: Draw,
    *,
    target: float,
    sureness: float = 0.9,
    confidence: float = 0.95,
    looks: Sequence[int] = LOOKS,
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Answer:
    """The first place of the ladder where an outcome is at least `target` with probability `sureness`.

    Parameters
    ----------
    ladder : sequence of float
        Ordered so that success becomes likelier, or stays as likely.
    draw : callable (position, count, before) -> ndarray of shape (count,)
        `count` fresh outcomes at a position where `before` were made already.
    progress : callable (share in (0, 1]), optional
    stop : callable () -> bool, optional
        Looked at between looks; what was found so far is returned.
    """
    if not ladder:
        raise ParameterError("a search", "ladder", ladder, "at least one place")
    for name, value in (("sureness", sureness), ("confidence", confidence)):
        if not 0 < value < 1:
            raise ParameterError("a search", name, value, "a number between 0 and 1, both excluded")
    walk = _Walk(tuple(ladder), draw, target, sureness, confidence, tuple(looks), progress, stop)
    return walk.run()


def most_rungs(n_places: int) -> int:
    """Rungs a search may look at: two bisections, and the last place."""
    return min(n_places, 2 * math.ceil(math.log2(n_places + 1)) + 1)


@dataclass
class _Walk:
    """A search under way."""

    ladder: tuple[float, ...]
    draw: Draw
    target: float
    sureness: float
    confidence: float
    looks: tuple[int, ...]
    progress: Callable[[float], None] | None
    stop: Callable[[], bool] | None
    found: dict[int, Rung] = field(default_factory=dict)
    is_stopped: bool = False

    @property
    def failure(self) -> float:
        """What each limit may be wrong with."""
        return (1 - self.confidence) / (most_rungs(len(self.ladder)) * len(self.looks) * 2)

    def run(self) -> Answer:
        """The last place first, because nothing else matters when it fails; then two bisections between what is known."""
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
        return Answer(self.ladder, rungs, self.target, self.sureness, self.confidence, not self.is_stopped)

    def _bisect(self, no: int, yes: int, *, open_is: Verdict) -> None:
        while yes - no > 1 and not self.is_stopped:
            middle = (no + yes) // 2
            said = self._verdict(middle)
            said = open_is if said == "open" else said
            no, yes = (no, middle) if said == "yes" else (middle, yes)

    def _verdict(self, at: int) -> Verdict:
        if at not in self.found:
            rung = self._look(at)
            if rung is None:
                return "open"
            self.found[at] = rung
            if self.progress is not None:
                self.progress(min(0.99, len(self.found) / most_rungs(len(self.ladder))))
        return self.found[at].verdict

    def _look(self, at: int) -> Rung | None:
        outcomes = np.empty(0)
        for look in self.looks:
            if self.stop is not None and self.stop():
                self.is_stopped = True
                break
            outcomes = np.concatenate([outcomes, self.draw(at, look - len(outcomes), len(outcomes))])
            rung = judged(self.ladder[at], outcomes, self.target, self.sureness, self.failure)
            if rung.verdict != "open":
                return rung
        return judged(self.ladder[at], outcomes, self.target, self.sureness, self.failure) if len(outcomes) else None


def judged(place: float, outcomes: np.ndarray, target: float, sureness: float, failure: float) -> Rung:
    """What outcomes at a place show; each limit is wrong with probability at most `failure`."""
    outcomes = np.asarray(outcomes, dtype=float)
    outcomes.flags.writeable = False
    successes = int((outcomes >= target).sum())
    low, high = map(float, clopper_pearson(successes, len(outcomes), failure))
    verdict: Verdict = "yes" if low >= sureness else "no" if high < sureness else "open"
    return Rung(place, outcomes, successes, low, high, verdict)
