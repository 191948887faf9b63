"""The window in which a numeric target is measured: a released centre, and a width chosen by counts.

Noise on a sum is as large as the largest number a row may add, so numbers are read within centre +- width; what lies beyond
counts as the end. The width is a half, a quarter, ... of the declared range, by permute-and-flip: a row costs a width 160 if it
lies beyond it, otherwise 64, 32, ... 1 as the width is halved (.4 of a row for the widest: chosen on public benchmark data). A
row lowers every utility by 1 to 160: sensitivity 160, monotone.

Source: this project.
"""

from dataclasses import dataclass

import numpy as np

from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import Sensitivity
from dpviz.privacy.source import NoiseSource, Released
from dpviz.table.schema import NumericTarget

BEYOND = 160
#: Cost of a row inside, from the widest window down.
INSIDE = 2 ** np.arange(6, -1, -1)
WIDTH = Sensitivity(BEYOND, monotone=True, source="a row lowers the utility of every width by 1 to 160")


@dataclass(frozen=True, slots=True)
class Window:
    """Numbers within `centre` +- `width`, in the target's units. Public once released."""

    centre: float
    width: float

    def place(self, numbers: np.ndarray) -> np.ndarray:
        """Where numbers lie: -1 at the lower end and beyond, 1 at the upper."""
        return np.clip((numbers - self.centre) / self.width, -1.0, 1.0)

    def number(self, place: float) -> float:
        """The number at a place."""
        return self.centre + self.width * place


def widths(target: NumericTarget) -> np.ndarray:
    """The public widths, widest first."""
    return (target.high - target.low) * 2.0 ** -np.arange(1, len(INSIDE) + 1)


def beyond_widths(numbers: np.ndarray, target: NumericTarget, centre: float) -> np.ndarray:
    """Per number: 0 or 1 for every width, widest first, 1 where it lies beyond; then 1. int64, (n_rows, n_widths + 1)."""
    distance = np.abs(numbers - centre)
    beyond = [distance > width for width in widths(target)]
    return np.stack([*beyond, np.ones(len(numbers), dtype=bool)], axis=1).astype(np.int64)


def width_utilities(beyond: np.ndarray) -> np.ndarray:
    """Utility of every width for the sums of `beyond_widths` over rows (private): int64, widest first."""
    outside, n_rows = beyond[:-1], beyond[-1]
    return -(BEYOND * outside + INSIDE * (n_rows - outside))


def released_window(
    beyond: np.ndarray, target: NumericTarget, centre: float, epsilon: float, *, source: NoiseSource, part: str
) -> Released[Window]:
    """A width around a released centre, by the sums of `beyond_widths` over rows (private)."""
    utilities = width_utilities(beyond)
    chosen = PermuteAndFlip(epsilon, WIDTH).release(utilities, source=source, part=part)
    return Released(Window(centre, float(widths(target)[chosen.value])), chosen.event)
