"""What was done to the rows, as frozen records.

An event holds what accounting needs and nothing else: no data, no random choice, no arithmetic. What it costs is
`guarantee`'s business. Composition is spelled out by two events: `Sequential` (the same rows again) and `Parallel`
(disjoint *rows*; features of one row are not disjoint data).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Select:
    """A private selection of cost `epsilon`. `part` says what for (node, leaf, ...), `level` is the depth (root = 0) or None."""

    epsilon: float
    mechanism: str
    part: str
    level: int | None = None
    kind: ClassVar[str] = "select"


@dataclass(frozen=True, slots=True)
class Noise:
    """Noisy numbers of cost `epsilon` under pure differential privacy (geometric, Laplace)."""

    epsilon: float
    mechanism: str
    part: str
    level: int | None = None
    kind: ClassVar[str] = "noise"


@dataclass(frozen=True, slots=True)
class Approximate:
    """A step of cost (epsilon, delta), priced by whoever made it. Steps in sequence add both, disjoint rows take both maxima."""

    epsilon: float
    delta: float
    mechanism: str
    part: str
    level: int | None = None
    kind: ClassVar[str] = "approximate"


@dataclass(frozen=True, slots=True)
class GaussianRounds:
    """Rounds of Gaussian noise on what the same rows add up to, priced together at (epsilon, delta); the price is checked.

    Attributes
    ----------
    epsilon, delta : float
        What the rounds cost. `guarantee` raises where that is too little.
    noise_multiplier : float
        Standard deviation over the largest change one row makes to a round (with several variances: what they compose to).
    sampling : float
        Probability with which each row takes part in a round, independently; 1: all rows always do.
    rounds : int
        Rounds that a row can take part in at full weight.
    order : float or None
        Of Renyi's divergence, where an individual filter stops each row before it exceeds the loss of so many full rounds.
    """

    epsilon: float
    delta: float
    noise_multiplier: float
    sampling: float
    rounds: int
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
    """A step that publishes something exact; epsilon is infinite. `reason` says what."""

    reason: str
    part: str
    level: int | None = None
    kind: ClassVar[str] = "non-private"


@dataclass(frozen=True, slots=True)
class Sequential:
    """Steps that may touch the same rows: costs add."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Parallel:
    """Steps on disjoint sets of rows: the largest cost counts."""

    events: tuple[Event, ...]


Spend = Select | Noise | Approximate | GaussianRounds | NoCost | NonPrivate
Event = Spend | Sequential | Parallel


def walk(event: Event, path: str = "") -> Iterator[tuple[str, Spend]]:
    """Every single step with its path, e.g. "1.2": which step in sequence, then `a`, `b`, ... for disjoint parts."""
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
