"""Audit code that is not ours: a lower confidence bound on epsilon from what it puts out on two neighbouring tables.

Nothing of the algorithm need be known but what it shows: its outputs, one per independent run on each table. The event that tells
the tables apart is chosen on one half of the outputs and tested on the other, so that choosing costs no confidence. So is the way
in which it is tested. Either by the ratio of its two probabilities, each of which gets half of beta; that is stronger for rare
events. Or by guessing: who takes every output that shows the event for one of the likelier table is right with probability at
most (e^eps + delta) / (1 + e^eps), on average over both tables. One limit is enough for that, at beta, and both errors count;
that is stronger where each is common, as for randomised response.

What the bound says: with the stated confidence this code keeps no guarantee below it, where neighbours are what the two tables
are to each other (add/remove one row). What it does not say: that a guarantee at or above it holds. Other tables, other outputs
and more runs may show more, and so may whoever reads the code.

Source: Clopper & Pearson 1934; Jagielski, Ullman & Oprea 2020 for epsilon >= ln((P(event) - delta) / P'(event)); Kairouz, Oh &
Viswanath 2015 for the two errors; Hoeffding 1956, Theorem 4: draws of two tables, whose guesses are right with different
probabilities, are right at least k times no more often than as many with the average one, for k above the mean by 1 or more.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.errors import DpvizError, ParameterError, path_text
from dpviz.evaluation.metrics import clopper_pearson
from dpviz.randomness import generator
from dpviz.results.wording import number_text
from dpviz.table.validation import is_number, validate_fraction, validate_number

#: One output per run, or a file of them: a number, a text, anything hashable; or several things that a run shows, by name.
Outputs = Sequence[Hashable] | Sequence[Mapping[str, Hashable]] | str | Path
#: What one run shows, by name; floats are told apart by cells.
RunOutput = dict[str, Hashable]
#: Cells for a number with more values than this; their limits are quantiles of the half that chooses.
CELLS = 20


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
        result = "Nothing is refuted"
        if self.bound > 0:
            result = f"No guarantee below epsilon = {number_text(self.bound)}{delta} holds"
        sentence = (
            f"{result} ({self.confidence:.0%} confidence): an event{seen} came {self.hits[0]:,} and {self.hits[1]:,} times in "
            f"{self.n_tested:,} runs on each table."
        )
        if self.claimed is not None:
            sentence += f" The claimed {number_text(self.claimed)} is {'refuted' if self.refutes else 'not refuted'}."
        return (
            f"{sentence} So many runs can show {number_text(self.largest)} at most. A small bound is no guarantee: other tables, "
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

    Returns
    -------
    OutputBound
        From outputs on one half of the runs, chosen on the other half; `refutes` says whether the claim can hold.

    Raises
    ------
    DpvizError
        Fewer than two outputs on a table, a file that cannot be read, or outputs that show different things. ParameterError for a
        DataFrame or a mapping in the place of the sequence, and for outputs that are nothing that can be compared.
    """
    if not is_number(delta) or not 0 <= delta < 1:
        raise ParameterError("audit_outputs", "delta", delta, "a number of at least 0 and below 1")
    beta = validate_fraction("audit_outputs", "beta", beta)
    if claimed is not None:
        claimed = validate_number("audit_outputs", "claimed", claimed, low=0, allowed="a number of at least 0, or None")
    delta = float(delta)
    tables = [[_by_name(one) for one in _read(outputs)] for outputs in (first, second)]
    n = min(map(len, tables))
    if n < 2:
        raise DpvizError("There are fewer than two outputs on a table.", remedy="Give one output per independent run.")
    if len({frozenset(one) for side in tables for one in side}) > 1:
        raise DpvizError("Not every output shows the same things.", remedy="Give every run's output the same names.")
    # a file may be sorted: which half chooses and which one tests is drawn
    mixed = [[side[at] for at in generator(seed).permutation(len(side))[:n]] for seed, side in enumerate(tables)]
    half = n // 2
    _discretise(mixed[0], mixed[1], half)
    event, outcomes, likelier_on, way = _choose(mixed[0][:half], mixed[1][:half], beta, delta)
    hits = [sum(one[event] in outcomes for one in side[half:]) for side in mixed]
    n_tested, how = n - half, {"beta": beta, "delta": delta}
    bound = float(way(hits[likelier_on], hits[1 - likelier_on], n_tested, **how))
    largest = max(float(way(n_tested, 0, n_tested, **how)) for way in _WAYS)
    return OutputBound(bound, delta, 1 - beta, largest, event, (hits[0], hits[1]), n_tested, claimed)


def _read(outputs: Outputs) -> Iterable[Any]:
    if isinstance(outputs, (str, Path)):
        try:
            lines = Path(outputs).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            raise DpvizError(
                "The outputs cannot be read.", where=path_text(outputs), remedy="Give a text file, one output per line."
            ) from None
        return map(_parse_line, lines)
    if isinstance(outputs, (Mapping, bytes)) or hasattr(outputs, "columns") or not isinstance(outputs, Iterable):
        # what a table lists is the names of its columns
        allowed = "a sequence with one output per run, such as the records of a table, or a path"
        raise ParameterError("audit_outputs", "outputs", type(outputs).__name__, allowed)
    return outputs


def _parse_line(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line


def _by_name(output: Any) -> dict[Any, Hashable]:
    """What a run shows, by name; lists and what else is no key of a dict as texts."""
    items = output.items() if isinstance(output, Mapping) else [("", output)]
    return {name: _hashable(value) for name, value in items}


def _hashable(value: Any) -> Hashable:
    value = value.tolist() if isinstance(value, np.ndarray) else value
    try:
        hash(value)
    except TypeError:
        try:
            return json.dumps(value, sort_keys=True)
        except (TypeError, ValueError):
            allowed = "numbers, texts, or lists and mappings of them"
            raise ParameterError("audit_outputs", "outputs", type(value).__name__, allowed) from None
    return value  # type: ignore[no-any-return]


def _discretise(first: list[RunOutput], second: list[RunOutput], half: int) -> None:
    """Numbers with few values stay as they are, with many they become cells; NaN and infinities become texts."""
    for name in first[0]:
        values = [one[name] for one in (*first, *second)]
        numbers = np.array([float(value) for value in values if isinstance(value, (int, float, np.integer, np.floating))])
        if len(numbers) == len(values) and np.all(np.isfinite(numbers)) and len(np.unique(numbers)) > CELLS:
            chosen = np.concatenate([numbers[:half], numbers[len(first) : len(first) + half]])
            limits = np.unique(np.quantile(chosen, np.linspace(0, 1, CELLS + 1)))
            cells: Sequence[Hashable] = np.searchsorted(limits, numbers, side="right").tolist()
        else:
            cells = [repr(value) if isinstance(value, (float, np.floating)) else value for value in values]
        for one, value in zip((*first, *second), cells, strict=True):
            one[name] = value


def bound_by_ratio(up: np.ndarray | int, down: np.ndarray | int, n: int, *, beta: float, delta: float = 0.0) -> np.ndarray:
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


#: How a bound follows from the hits on the likelier table and on the other, of n draws each.
_WAYS = (bound_by_ratio, bound_by_guesses)


def _choose(
    first: Sequence[RunOutput], second: Sequence[RunOutput], beta: float, delta: float
) -> tuple[str, frozenset[Hashable], int, Callable[..., np.ndarray]]:
    """What to look at, the event {likelihood ratio >= t} of it, the table on which that is likelier, and how to test it."""
    n, best = len(first), (-math.inf, "", frozenset[Hashable](), 0, _WAYS[0])
    for name in first[0]:
        counts = [Counter(one[name] for one in side) for side in (first, second)]
        for likelier_on, way in product((0, 1), _WAYS):
            up, down = counts[likelier_on], counts[1 - likelier_on]
            ranked = sorted(up, key=lambda seen: ((up[seen] + 0.5) / (down[seen] + 0.5), up[seen]), reverse=True)
            ups, downs = (np.cumsum([side[seen] for seen in ranked]) for side in (up, down))
            worth = way(ups, downs, n, beta=beta, delta=delta)
            last = int(worth.argmax())
            choice = (float(worth[last]), name, frozenset(ranked[: last + 1]), likelier_on, way)
            best = max(best, choice, key=lambda item: item[0])
    return best[1:]
