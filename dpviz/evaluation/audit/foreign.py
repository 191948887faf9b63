"""Audit code that is not ours: a lower confidence bound on epsilon from what it puts out on two neighbouring tables.

Nothing of the algorithm need be known but what it shows: its outputs, one per independent run on each table.

What the bound says: with the stated confidence this code keeps no guarantee below it, where neighbours are what the two tables
are to each other (add/remove one row). What it does not say: that a guarantee at or above it holds. Other tables, other outputs
and more runs may show more, and so may whoever reads the code.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.errors import DpvizError, ParameterError, place
from dpviz.evaluation.audit.distinguishing import CELLS, Shown, distinguish, most_that_shows
from dpviz.randomness import generator
from dpviz.results.wording import number_text
from dpviz.table.checked_numbers import checked_number, checked_share, is_number

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
