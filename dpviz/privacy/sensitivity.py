"""How much one row can change what a mechanism is given."""

from __future__ import annotations

from dataclasses import dataclass

from dpviz.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Largest change of any number when one row is added or removed.

    Attributes
    ----------
    value : float
        In the units of the numbers.
    monotone : bool
        True when adding a row never moves two numbers in opposite directions; selection then needs half the noise.
    source : str
        Why it holds: a proof in words or a citation.
    """

    value: float
    monotone: bool
    source: str

    def __post_init__(self) -> None:
        if not self.value > 0:
            raise ParameterError("Sensitivity", "value", self.value, "positive")

    def exponent(self, epsilon: float) -> float:
        """Factor on utilities inside exp(): eps / (2 Delta), or eps / Delta when monotone."""
        return epsilon / (self.value if self.monotone else 2 * self.value)


#: Counting rows: one row changes one count by one.
COUNT = Sensitivity(1.0, monotone=True, source="adding a row raises one count by one and lowers none")
