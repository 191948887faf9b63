"""What was done to the rows, as frozen records.

An event holds what accounting needs and nothing else: no data, no random choices, no arithmetic; `guarantee` works out the cost.
Two events express composition: `Sequential` (the same rows again) and `Parallel` (disjoint *rows*; the features of one row are
not disjoint data).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Select:
    """A private selection at cost `epsilon`. `part` says what for (node, leaf, ...); `level` is a depth (root = 0) or None."""

    epsilon: float
    mechanism: str
    part: str
    level: int | None = None
    kind: ClassVar[str] = "select"


@dataclass(frozen=True, slots=True)
class Noise:
    """Noisy numbers at cost `epsilon` under pure differential privacy (geometric, Laplace)."""

    epsilon: float
    mechanism: str
    part: str
    level: int | None = None
    kind: ClassVar[str] = "noise"


@dataclass(frozen=True, slots=True)
class Approximate:
    """A step at cost (epsilon, delta), as stated by whoever made it. Sequences add both; disjoint rows take both maxima."""

    epsilon: float
    delta: float
    mechanism: str
    part: str
    level: int | None = None
    kind: ClassVar[str] = "approximate"


@dataclass(frozen=True, slots=True)
class GaussianRounds:
    """Rounds of Gaussian noise on sums over the same rows, which together cost (epsilon, delta)."""

    #: epsilon, delta: cost of all rounds. `guarantee` raises DpvizError where that is too little.
    epsilon: float
    delta: float
    #: Standard deviation over the largest change one row makes in a round (several variances: what they compose to).
    noise_multiplier: float
    #: Probability with which each row, independently, takes part in a round; 1: every row in every round.
    sampling: float
    #: Rounds in which a row can take part at full weight; histograms that cost as much as so many rounds are among them.
    rounds: int
    #: Renyi order of an individual filter, which stops each row before it exceeds the loss of `rounds` full rounds.
    order: float | None
    part: str
    level: int | None = None
    kind: ClassVar[str] = "gaussian rounds"
    mechanism: ClassVar[str] = "Gaussian"

    @property
    def reason(self) -> str:
        """What was done, in words."""
        drawn = "every row in each" if self.sampling >= 1 else f"each row drawn with probability {self.sampling:g}"
        filtered = "" if self.order is None else f"; individual filter at Renyi order {self.order:g}"
        noise = f"noise {self.noise_multiplier:.4g} times a row's largest change"
        return f"{self.rounds:,} rounds, {drawn}; {noise}{filtered}; delta {self.delta:g}"


@dataclass(frozen=True, slots=True)
class NoCost:
    """A step that touches no row, e.g. a random split of a declared range."""

    part: str
    level: int | None = None
    kind: ClassVar[str] = "no cost"


@dataclass(frozen=True, slots=True)
class NonPrivate:
    """A step that publishes something exact, so that epsilon is infinite. `reason` says what."""

    reason: str
    part: str
    level: int | None = None
    kind: ClassVar[str] = "non-private"


@dataclass(frozen=True, slots=True)
class Sequential:
    """Steps that may touch the same rows: costs add up."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Parallel:
    """Steps on disjoint sets of rows: the largest cost counts."""

    events: tuple[Event, ...]


Spend = Select | Noise | Approximate | GaussianRounds | NoCost | NonPrivate
Event = Spend | Sequential | Parallel


def walk(event: Event, path: str = "") -> Iterator[tuple[str, Spend]]:
    """Every single step with its path, such as "2b.1": numbers count steps in sequence, letters disjoint parts."""
    match event:
        case Sequential(events):
            for number, step in enumerate(events, start=1):
                yield from walk(step, f"{path}.{number}" if path else str(number))
        case Parallel(events):
            for number, step in enumerate(events):
                yield from walk(step, f"{path}{_letter(number)}")
        case _:
            yield path or "1", event


def _letter(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else f"[{number}]"
