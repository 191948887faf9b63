"""What was done to the rows, as frozen records.

An event holds what accounting needs and nothing else: no data, no random choices, no arithmetic; `guarantee` works out the cost.
Beside that it says whether an exact sampler drew what was released: no result is a release where one did not.
Three events express composition: `Sequential` (the same rows again), `Parallel` (disjoint *rows*; the features of one row are
not disjoint data) and `RandomParts` (disjoint rows, each of which a secret random assignment put into its part).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from dpviz.errors import ParameterError
from dpviz.table.checked_numbers import is_number


@dataclass(frozen=True, slots=True)
class Select:
    """A private selection at cost `epsilon`. `part` says what for (node, leaf, ...); `level` is a depth (root = 0) or None."""

    epsilon: float
    mechanism: str
    part: str
    level: int | None = None
    #: True if the losses of all outcomes, for one pair of neighbours, lie within a range of length epsilon (where pure privacy
    #: allows 2 epsilon): the exponential mechanism, never permute-and-flip. Source: Durfee & Rogers 2019, Theorem 1.
    bounded_range: bool = False
    #: Whether an exact sampler drew it; only its source says so (`privacy.source.drawn_by`).
    exact: bool = field(default=False, compare=False, repr=False)
    kind: ClassVar[str] = "select"


@dataclass(frozen=True, slots=True)
class Noise:
    """Noisy numbers at cost `epsilon` under pure differential privacy (geometric, Laplace)."""

    epsilon: float
    mechanism: str
    part: str
    level: int | None = None
    #: Whether an exact sampler drew it; only its source says so (`privacy.source.drawn_by`).
    exact: bool = field(default=False, compare=False, repr=False)
    kind: ClassVar[str] = "noise"


@dataclass(frozen=True, slots=True)
class Approximate:
    """A step at cost (epsilon, delta), as stated by whoever made it. Sequences add both; disjoint rows take both maxima."""

    epsilon: float
    delta: float
    mechanism: str
    part: str
    level: int | None = None
    #: Whether an exact sampler drew it; only its source says so (`privacy.source.drawn_by`).
    exact: bool = field(default=False, compare=False, repr=False)
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
    #: Whether an exact sampler drew it; only its source says so (`privacy.source.drawn_by`).
    exact: bool = field(default=False, compare=False, repr=False)
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


@dataclass(frozen=True, slots=True)
class RandomParts:
    """Steps on disjoint sets of rows, where a secret random assignment that looks at no row put every row into its set.

    The largest epsilon counts, as for disjoint rows. What one row risks is less: the mean, because it is in one part only, chosen
    at random (hockey-stick divergences are jointly convex).
    """

    events: tuple[Event, ...]
    #: The probability of every part; in what they leave to 1 a row is in none.
    chances: tuple[float, ...]
    shared: bool = False  #: True if all rows of a person are assigned together; else each by itself

    def __post_init__(self) -> None:
        if not (all(is_number(chance) and chance >= 0 for chance in self.chances) and sum(self.chances) <= 1 + 1e-12):
            raise ParameterError("RandomParts", "chances", self.chances, "not negative, and at most 1 in all")
        if not len(self.events) == len(self.chances) <= 26:
            raise ParameterError("RandomParts", "chances", self.chances, "one per part, of which there are at most 26")


Spend = Select | Noise | Approximate | GaussianRounds | NoCost | NonPrivate
Event = Spend | Sequential | Parallel | RandomParts


@dataclass(frozen=True, slots=True)
class Step:
    """A single step and its place among the others."""

    #: Such as "2b.1": numbers count steps in sequence, small letters disjoint parts, capitals randomly assigned ones.
    path: str
    spend: Spend
    chances: tuple[float, ...] = ()  #: Of the randomly assigned parts that it is in, outermost first
    shared: tuple[bool, ...] = ()  #: Whether the rows of a person are assigned together


def steps(event: Event) -> Iterator[Step]:
    """Every single step."""
    return _steps(event, "", (), ())


def _steps(event: Event, path: str, chances: tuple[float, ...], shared: tuple[bool, ...]) -> Iterator[Step]:
    match event:
        case Sequential(events):
            for number, step in enumerate(events, start=1):
                yield from _steps(step, f"{path}.{number}" if path else str(number), chances, shared)
        case Parallel(events):
            for number, step in enumerate(events):
                yield from _steps(step, f"{path}{_letter(number)}", chances, shared)
        case RandomParts(events, of_parts, by_person):
            for number, (step, chance) in enumerate(zip(events, of_parts, strict=True)):
                yield from _steps(step, f"{path}{chr(ord('A') + number)}", (*chances, chance), (*shared, by_person))
        case _:
            yield Step(path or "1", event, chances, shared)


def walk(event: Event) -> Iterator[tuple[str, Spend]]:
    """Every single step with its path."""
    return ((step.path, step.spend) for step in steps(event))


def is_exact(event: Event) -> bool:
    """True if an exact sampler drew every step that costs a finite epsilon; other steps are free or publish exact values."""
    match event:
        case Sequential(events) | Parallel(events) | RandomParts(events):
            return all(map(is_exact, events))
        case _:
            return getattr(event, "exact", True)


def _letter(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else f"[{number}]"
