"""What is done to the rows, as frozen records: steps with their costs, and how steps compose.

One vocabulary for what may be spent (`plan.event`), what was spent (the ledger), and what either costs (`guarantee`, `risk`). A
record holds what accounting needs and nothing else: no data, no random choices, no arithmetic.
Composition: `Sequential` (the same rows again), `Parallel` (disjoint *rows*; the features of one row are not disjoint data) and
`RandomPartition` (disjoint rows, each of which a secret random assignment put into its part).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from dpviz.errors import ParameterError
from dpviz.table.validation import is_number


@dataclass(frozen=True, slots=True)
class PureDP:
    """Pure epsilon-differential privacy."""

    epsilon: float


@dataclass(frozen=True, slots=True)
class BoundedRange:
    """Pure, and the losses of all outcomes, for one pair of neighbours, lie within a range of length epsilon.

    Pure privacy allows 2 epsilon. True of the exponential mechanism, never of permute-and-flip. Source: Durfee & Rogers 2019,
    Theorem 1.
    """

    epsilon: float


@dataclass(frozen=True, slots=True)
class ApproximateDP:
    """(epsilon, delta), as stated by whoever made the step. Sequences add both; disjoint rows take both maxima."""

    epsilon: float
    delta: float


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

    @property
    def note(self) -> str:
        """What is done, in words."""
        drawn = "every row in each" if self.sampling >= 1 else f"each row drawn with probability {self.sampling:g}"
        filtered = "" if self.order is None else f"; individual filter at Renyi order {self.order:g}"
        noise = f"noise {self.noise_multiplier:.4g} times a row's largest change"
        return f"{self.rounds:,} rounds, {drawn}; {noise}{filtered}; delta {self.delta:g}"


@dataclass(frozen=True, slots=True)
class Free:
    """Touches no row, e.g. a random split of a declared range."""

    epsilon = 0.0


@dataclass(frozen=True, slots=True)
class Unbounded:
    """Publishes something exact, or costs more than is known: epsilon is infinite. The step's note says what."""

    epsilon = math.inf


Cost = PureDP | BoundedRange | ApproximateDP | GaussianRounds | Free | Unbounded


@dataclass(frozen=True, slots=True)
class Step:
    """One step on the rows. `part` says what for (node, leaf, ...); `level`: its depth (root = 0), the upper of two."""

    cost: Cost
    part: str
    level: int | None = None
    mechanism: str = ""
    note: str = ""  #: Why its cost is what it is
    #: Whether an exact sampler drew it; only its source says so (`privacy.source.record_sampler`).
    exact: bool = field(default=False, compare=False, repr=False)

    @property
    def epsilon(self) -> float:
        """Of its cost."""
        return self.cost.epsilon

    @classmethod
    def unbounded(cls, note: str, part: str, level: int | None = None) -> Step:
        """A step of which `note` says what it publishes."""
        return cls(Unbounded(), part, level, note=note)


@dataclass(frozen=True, slots=True)
class Sequential:
    """Steps that may touch the same rows: costs add up."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Parallel:
    """Steps on disjoint sets of rows: the largest cost counts."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class RandomPartition:
    """Steps on disjoint sets of rows, where a secret random assignment that looks at no row put every row into its set.

    The largest epsilon counts, as for disjoint rows. What one row risks is less: the mean, because it is in one part only, chosen
    at random (hockey-stick divergences are jointly convex).
    """

    events: tuple[Event, ...]
    #: Of every part; in what they leave to 1 a row is in none.
    probabilities: tuple[float, ...]
    shared: bool = False  #: True if all rows of a person are assigned together; else each by itself

    def __post_init__(self) -> None:
        given = self.probabilities
        if not (all(is_number(one) and one >= 0 for one in given) and sum(given) <= 1 + 1e-12):
            raise ParameterError("RandomPartition", "probabilities", given, "not negative, and at most 1 in all")
        if not len(self.events) == len(given) <= 26:
            raise ParameterError("RandomPartition", "probabilities", given, "one per part, of which there are at most 26")


Event = Step | Sequential | Parallel | RandomPartition
#: No step at all.
NO_STEP = Sequential(())


def sequence(*events: Event) -> Event:
    """These events on the same rows; the event itself where there is one."""
    return events[0] if len(events) == 1 else Sequential(events)


@dataclass(frozen=True, slots=True)
class PlacedStep:
    """A single step and its place among the others."""

    #: Such as "2b.1": numbers count steps in sequence, small letters disjoint parts, capitals randomly assigned ones.
    path: str
    step: Step
    probabilities: tuple[float, ...] = ()  #: Of the randomly assigned parts that it is in, outermost first
    shared: tuple[bool, ...] = ()  #: Whether the rows of a person are assigned together


def placed_steps(
    event: Event, path: str = "", probabilities: tuple[float, ...] = (), shared: tuple[bool, ...] = ()
) -> Iterator[PlacedStep]:
    """Every single step with its place."""
    match event:
        case Sequential(events):
            for number, one in enumerate(events, start=1):
                yield from placed_steps(one, f"{path}.{number}" if path else str(number), probabilities, shared)
        case Parallel(events):
            for number, one in enumerate(events):
                letter = chr(ord("a") + number) if number < 26 else f"[{number}]"
                yield from placed_steps(one, f"{path}{letter}", probabilities, shared)
        case RandomPartition(events, of_parts, by_person):
            for number, (one, of_part) in enumerate(zip(events, of_parts, strict=True)):
                yield from placed_steps(one, f"{path}{chr(ord('A') + number)}", (*probabilities, of_part), (*shared, by_person))
        case _:
            yield PlacedStep(path or "1", event, probabilities, shared)


def walk(event: Event) -> Iterator[tuple[str, Step]]:
    """Every single step with its path."""
    return ((placed.path, placed.step) for placed in placed_steps(event))


def is_exact(event: Event) -> bool:
    """True if an exact sampler drew every step that costs a finite epsilon; other steps are free or publish exact values."""
    if isinstance(event, Step):
        return event.exact or isinstance(event.cost, Free | Unbounded)
    return all(map(is_exact, event.events))
