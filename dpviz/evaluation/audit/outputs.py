"""What an attacker learns from draws on two data sets: a distinguishing event, and a lower confidence bound on epsilon.

The event is chosen on one half of the draws and tested on the other, so that choosing costs no confidence. So is the way in which
it is tested. Either by the ratio of its two probabilities, each of which gets half of beta; that is stronger for rare events. Or
by guessing: who takes every draw that shows the event for one of the likelier table is right with probability at most
(e^eps + delta) / (1 + e^eps), on average over both tables. One limit is enough for that, at beta, and both errors count; that is
stronger where each is common, as for randomised response.

Source: Clopper & Pearson 1934; Jagielski, Ullman & Oprea 2020 for epsilon >= ln((P(event) - delta) / P'(event)); Kairouz, Oh &
Viswanath 2015 for the two errors; Hoeffding 1956, Theorem 4: draws of two tables, whose guesses are right with different
probabilities, are right at least k times no more often than as many with the average one, for k above the mean by 1 or more.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from dpviz.errors import DpvizError, ParameterError, place
from dpviz.evaluation.metrics import clopper_pearson
from dpviz.randomness import generator
from dpviz.results.wording import number_text
from dpviz.table.checked_numbers import checked_number, checked_share, is_number

#: What one draw shows: observable ("the rule at the root") -> its outcome. Floats are told apart by cells.
Shown = dict[str, Hashable]
#: Cells for an observable that is a float; their limits are quantiles of the half that chooses.
CELLS = 20


@dataclass(frozen=True)
class DistinguishingEvent:
    """An event, and how often it happened in the half of the draws it was tested on."""

    observed: str  #: The observable; empty when there were too few draws
    outcomes: frozenset[Hashable]  #: The event: the observable takes one of these values
    likelier_on: int  #: 0 or 1: the data set on which the event is likelier
    hits: tuple[int, int]  #: How often it happened on each data set
    n_draws: int  #: Draws it was tested on, per data set
    bound: float  #: Lower confidence bound on epsilon, at least 0


def distinguish(first: Sequence[Shown], second: Sequence[Shown], *, beta: float, delta: float = 0.0) -> DistinguishingEvent:
    """Choose an event on the first halves of the draws and bound epsilon on the second halves.

    `first`, `second`: independent draws on each data set, the same number.
    `beta`: the bound exceeds the true epsilon with at most this probability.
    `delta`: of the (epsilon, delta) guarantee under attack.
    """
    half = len(first) // 2
    if not half:
        return DistinguishingEvent("", frozenset(), 0, (0, 0), 0, 0.0)
    first, second = _in_cells(first, second, half)
    observed, outcomes, likelier_on, way = _choose(first[:half], second[:half], beta, delta)
    hits = [sum(shown[observed] in outcomes for shown in draws[half:]) for draws in (first, second)]
    n = len(first) - half
    bound = float(way(hits[likelier_on], hits[1 - likelier_on], n, beta=beta, delta=delta))
    return DistinguishingEvent(observed, outcomes, likelier_on, (hits[0], hits[1]), n, bound)


def _in_cells(first: Sequence[Shown], second: Sequence[Shown], half: int) -> tuple[list[Shown], list[Shown]]:
    """The same draws with the number of a cell for every float."""
    limits = {}
    for observed in (name for name, value in first[0].items() if isinstance(value, float)):
        values = np.array([shown[observed] for shown in (*first[:half], *second[:half])], dtype=np.float64)
        limits[observed] = np.unique(np.quantile(values, np.linspace(0, 1, CELLS + 1)))
    if not limits:
        return list(first), list(second)

    def cells(shown: Shown) -> Shown:
        numbers = {name: value for name, value in shown.items() if isinstance(value, float)}
        return shown | {name: int((limits[name] <= value).sum()) for name, value in numbers.items()}

    return list(map(cells, first)), list(map(cells, second))


def lower_bound(up: np.ndarray | int, down: np.ndarray | int, n: int, *, beta: float, delta: float = 0.0) -> np.ndarray:
    """max(0, ln((lower limit of up - delta) / upper limit of down)) for hits among n draws each, each limit at beta / 2."""
    at_least, _ = clopper_pearson(up, n, beta / 2)
    _, at_most = clopper_pearson(down, n, beta / 2)
    return np.log(np.maximum((at_least - delta) / at_most, 1.0))


def bound_by_guesses(up: np.ndarray | int, down: np.ndarray | int, n: int, *, beta: float, delta: float = 0.0) -> np.ndarray:
    """max(0, ln((m - delta) / (1 - m))) for a lower limit m, at beta, of the share of right guesses: `up` and n - `down` of n."""
    right = np.asarray(up) + (n - np.asarray(down))
    at_least, _ = clopper_pearson(right, 2 * n, beta)
    share = np.minimum(at_least, np.maximum(right - 1, 0) / (2 * n))  # at least 1 above the mean, as the theorem asks
    return np.log(np.maximum((share - delta) / (1 - share), 1.0))


class _Way(Protocol):
    """How a bound follows from the hits on the likelier table and on the other, of n draws each."""

    def __call__(
        self, up: np.ndarray | int, down: np.ndarray | int, n: int, *, beta: float, delta: float = 0.0
    ) -> np.ndarray: ...


_WAYS: tuple[_Way, ...] = (lower_bound, bound_by_guesses)


def most_that_shows(n: int, *, beta: float, delta: float = 0.0) -> float:
    """The largest bound n draws can give: that of an event that always happens on one data set and never on the other."""
    return max(float(way(n, 0, n, beta=beta, delta=delta)) for way in _WAYS) if n else 0.0


def _choose(
    first: Sequence[Shown], second: Sequence[Shown], beta: float, delta: float
) -> tuple[str, frozenset[Hashable], int, _Way]:
    best = (-math.inf, "", frozenset[Hashable](), 0, _WAYS[0])
    for observed in first[0]:
        counts = [Counter(shown[observed] for shown in draws) for draws in (first, second)]
        for likelier_on, way in product((0, 1), _WAYS):
            worth, outcomes = _best_prefix(counts[likelier_on], counts[1 - likelier_on], len(first), beta, delta, way)
            best = max(best, (worth, observed, outcomes, likelier_on, way), key=lambda item: item[0])
    return best[1:]


def _best_prefix(
    up: Counter[Hashable], down: Counter[Hashable], n: int, beta: float, delta: float, way: _Way
) -> tuple[float, frozenset[Hashable]]:
    """The event {likelihood ratio >= t} with the largest bound on these draws."""
    ranked = sorted(up, key=lambda outcome: ((up[outcome] + 0.5) / (down[outcome] + 0.5), up[outcome]), reverse=True)
    ups, downs = (np.cumsum([counts[outcome] for outcome in ranked]) for counts in (up, down))
    worth = way(ups, downs, n, beta=beta, delta=delta)
    last = int(worth.argmax())
    return float(worth[last]), frozenset(ranked[: last + 1])


# --- Audit code that is not ours: a lower confidence bound on epsilon from what it puts out on two neighbouring tables.

# Nothing of the algorithm need be known but what it shows: its outputs, one per independent run on each table.
#
# What the bound says: with the stated confidence this code keeps no guarantee below it, where neighbours are what the two tables
# are to each other (add/remove one row). What it does not say: that a guarantee at or above it holds. Other tables, other outputs
# and more runs may show more, and so may whoever reads the code.

#: An output: a number, a text, anything hashable; or several things that a run shows, by name.
Output = Hashable | Mapping[str, Hashable]
#: One output per run, or a file of them.
Outputs = Sequence[Hashable] | Sequence[Mapping[str, Hashable]] | str | Path


@dataclass(frozen=True)
class OutputBound:
    """The least privacy loss of code that is not ours. `str` says it in words."""

    bound: float  #: Lower bound on epsilon, with confidence `confidence`
    delta: float  #: Of the guarantee under attack
    confidence: float
    largest: float  #: The largest bound that so many outputs can show
    event: str  #: What was looked at: the name of the output, empty where outputs have none
    hits: tuple[int, int]  #: How often the event happened on the first and on the second table
    n_tested: int  #: Outputs on each table that tested the event; as many chose it
    claimed: float | None = None  #: The epsilon that the code claims

    @property
    def refutes(self) -> bool:
        """True when no guarantee of the claimed epsilon holds, at this confidence."""
        return self.claimed is not None and not self.bound <= self.claimed

    def __str__(self) -> str:
        seen = f" in {self.event}" if self.event else ""
        delta = f" and delta {number_text(self.delta)}" if self.delta else ""
        found = (
            f"No guarantee below epsilon = {number_text(self.bound)}{delta} holds ({self.confidence:.0%} confidence): an "
            f"event{seen} came {self.hits[0]:,} and {self.hits[1]:,} times in {self.n_tested:,} runs on each table."
        )
        if self.claimed is not None:
            found += f" The claimed {number_text(self.claimed)} is {'refuted' if self.refutes else 'not refuted'}."
        return (
            f"{found} So many runs can show {number_text(self.largest)} at most. A small bound is no guarantee: other tables, "
            "other outputs and more runs may show more."
        )


def audit_outputs(
    first: Outputs,
    second: Outputs,
    *,
    delta: float = 0.0,
    beta: float = 0.05,
    claimed: float | None = None,
) -> OutputBound:
    """Bound epsilon from below by the outputs of independent runs on two neighbouring tables.

    Parameters
    ----------
    first, second : sequence, or path
        One output per run. Mappings show several things; the most telling one is chosen. A file has one output per line: JSON
        (objects are mappings), else the line is a text. The longer of the two loses what the shorter does not have.
    delta : float
        Of the guarantee under attack.
    beta : float
        The bound is above the truth with at most this probability.
    claimed : float, optional
        The epsilon that the code claims.

    Raises
    ------
    DpvizError
        Fewer than two outputs on a table, a file that cannot be read, or outputs that show different things.
    """
    delta = _delta(delta)
    checked_share("audit_outputs", "beta", beta)
    _checked_claim(claimed)
    shown = [_shown(_outputs(given)) for given in (first, second)]
    n = min(map(len, shown))
    if n < 2:
        raise DpvizError("There are fewer than two outputs on a table.", remedy="Give one output per independent run.")
    if len({frozenset(one) for side in shown for one in side}) > 1:
        raise DpvizError("Not every output shows the same things.", remedy="Give every run's output the same names.")
    # a file may be sorted: which half chooses and which one tests is drawn
    mixed = [[side[place] for place in generator(seed).permutation(len(side))[:n]] for seed, side in enumerate(shown)]
    found = distinguish(*_told_apart(*mixed), beta=beta, delta=delta)
    return OutputBound(
        bound=found.bound,
        delta=delta,
        confidence=1 - beta,
        largest=most_that_shows(found.n_draws, beta=beta, delta=delta),
        event=found.observed,
        hits=found.hits,
        n_tested=found.n_draws,
        claimed=claimed,
    )


def _delta(delta: float) -> float:
    if not is_number(delta) or not 0 <= delta < 1:
        raise ParameterError("audit_outputs", "delta", delta, "a number of at least 0 and below 1")
    return float(delta)


def _checked_claim(claimed: float | None) -> None:
    if claimed is not None:
        checked_number("audit_outputs", "claimed", claimed, least=0, allowed="a number of at least 0, or None")


def _outputs(given: Outputs) -> Sequence[Hashable] | Sequence[Mapping[str, Hashable]]:
    if not isinstance(given, (str, Path)):
        return given
    try:
        lines = Path(given).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise DpvizError(
            "The outputs cannot be read.", where=place(given), remedy="Give a text file, one output per line."
        ) from None
    return [_parsed(line) for line in lines]


def _parsed(line: str) -> Output:
    """A line as JSON; an object shows what it holds by name, everything else in it is a text again."""
    try:
        value = json.loads(line)
    except ValueError:
        return line
    if isinstance(value, dict):
        return {name: _hashable(item) for name, item in value.items()}
    return _hashable(value)


def _hashable(value: Any) -> Hashable:
    return json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else value


def _shown(outputs: Iterable[Output]) -> list[Shown]:
    return [dict(output) if isinstance(output, Mapping) else {"": output} for output in outputs]


def _told_apart(first: list[Shown], second: list[Shown]) -> tuple[list[Shown], list[Shown]]:
    """Numbers with few values as they are, with many as floats, which are told apart by cells; NaN and infinities as texts."""
    for name in first[0]:
        values = [one[name] for one in (*first, *second)]
        numbers = [float(value) for value in values if isinstance(value, (int, float, np.integer, np.floating))]
        is_scale = len(numbers) == len(values) and bool(np.all(np.isfinite(numbers))) and len(set(numbers)) > CELLS
        for one in (*first, *second):
            value = one[name]
            one[name] = float(value) if is_scale else repr(value) if isinstance(value, (float, np.floating)) else value  # type: ignore[arg-type]
    return first, second
