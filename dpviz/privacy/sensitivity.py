"""How much one row can change a mechanism's input."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpviz.accounting.events import BoundedRange, PureDP, Step
from dpviz.accounting.guarantee import round_up
from dpviz.errors import ParameterError
from dpviz.table.validation import is_loss, is_number, validate_count

#: Noise of a larger scale leaves 64-bit numbers: 64 scales are 2^63.
MAX_SCALE = 2.0**57


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Largest change of any number when one row is added or removed."""

    value: float  #: In the units of the numbers
    #: True if adding a row never moves two numbers in opposite directions; selection then needs half the noise.
    monotone: bool
    #: Why it holds: a proof in words or a citation. Where it is no bound, why not.
    source: str
    #: False for a published value that some data exceed. The cost of a mechanism that uses it is unknown: its event is
    #: non-private.
    is_bound: bool = True

    def __post_init__(self) -> None:
        if not is_number(self.value) or self.value <= 0:
            raise ParameterError("Sensitivity", "value", self.value, "positive and finite")

    @property
    def width(self) -> float:
        """How far apart one row can move two numbers: what a selection pays for, as for `BoundedRangeSensitivity`."""
        return self.value if self.monotone else 2 * self.value

    def exponent(self, epsilon: float) -> float:
        """The factor on utilities inside exp(): epsilon / width."""
        return epsilon / self.width

    def event(self, epsilon: float, mechanism: str, part: str, level: int | None, *, bounded_range: bool = False) -> Step:
        """The event of a selection with this sensitivity; it costs `epsilon` only if the value is a bound.

        `bounded_range`: the selection prefers utility u by exp(exponent(epsilon) u), divided by a constant. The exponents of one
        row then differ by at most epsilon between candidates: from 0 to epsilon if monotone, else from -epsilon/2 to epsilon/2.
        """
        if self.is_bound:
            cost = BoundedRange(epsilon) if bounded_range else PureDP(epsilon)
            return Step(cost, part, level, mechanism)
        return Step.unbounded(self.source, part, level)

    def integers_and_scale(self, epsilon: float, utilities: np.ndarray) -> tuple[list[int], float]:
        """Arguments of an exact sampler: integers, and 1 / exponent rounded up so that it never costs more than `epsilon`.

        At epsilon 0 no finite scale is large enough; equal utilities then give the same uniform choice.
        """
        if epsilon == 0:
            return [0] * len(utilities), 1.0
        return utilities.tolist(), round_up(Fraction(self.width) / Fraction(epsilon))


@dataclass(frozen=True, slots=True)
class BoundedRangeSensitivity:
    """One row more changes every utility of a selection by something in [low, low + value], with the same low for all.

    Odds between candidates then change by a factor of at most exp(epsilon) where exp(epsilon u / value) weighs them: what moves
    all utilities alike moves no odds.
    """

    value: int  #: In the units of the utilities, which are whole numbers
    source: str  #: Why it holds: a proof in words

    def __post_init__(self) -> None:
        validate_count("BoundedRangeSensitivity", "value", self.value)

    def rate(self, epsilon: float) -> Fraction:
        """The factor on utilities inside exp(), exactly."""
        return Fraction(epsilon) / self.value


def check_epsilon(owner: str, epsilon: float, *, positive: bool = False) -> None:
    """Raise ParameterError for an epsilon no mechanism can have: negative, infinite, NaN, or 0 where noise would be infinite."""
    if not is_number(epsilon) or not (epsilon > 0 if positive else epsilon >= 0):
        raise ParameterError(owner, "epsilon", epsilon, "positive and finite" if positive else "finite and not negative")


def check_scale(owner: str, l1: float, epsilon: float) -> None:
    """Raise ParameterError where noise of scale `l1` / `epsilon` would leave 64-bit numbers."""
    if not is_loss(l1) or l1 == 0:
        raise ParameterError(owner, "l1", l1, "positive and finite")
    if not 0 < l1 / epsilon < MAX_SCALE:
        raise ParameterError(owner, "epsilon", epsilon, f"so large that the noise has a scale below {MAX_SCALE:.3g}")


#: Counting rows: one row changes one count by one.
COUNT = Sensitivity(1.0, monotone=True, source="adding a row raises one count by one and lowers none")
