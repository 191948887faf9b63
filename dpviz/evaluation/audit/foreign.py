"""Audit code that is not ours: a lower confidence bound on epsilon from what it puts out on two neighbouring tables.

Nothing of the algorithm need be known but what it shows. Either its outputs are given, one per independent run on each table, or
an estimator in scikit-learn's manner is fitted again and again and shows what it answers for the row that one table has more.

What the bound says: with the stated confidence this code keeps no guarantee below it, where neighbours are what the two tables
are to each other (add/remove one row). What it does not say: that a guarantee at or above it holds. Other tables, other outputs
and more runs may show more, and so may whoever reads the code.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.errors import DpvizError, ParameterError, cells_stay_inside, place
from dpviz.evaluation.audit.distinguishing import CELLS, Shown, distinguish, most_that_shows
from dpviz.evaluation.workers import in_chunks
from dpviz.progress import Progress, Stop
from dpviz.randomness import child_seeds, generator
from dpviz.results.wording import number_text
from dpviz.table.checked_numbers import checked_count, checked_number, checked_share, is_number

#: An output: a number, a text, anything hashable; or several things that a run shows, by name.
Output = Hashable | Mapping[str, Hashable]
#: One output per run, or a file of them.
Outputs = Sequence[Hashable] | Sequence[Mapping[str, Hashable]] | str | Path
#: Features and target of a table, with one entry per row.
Table = tuple[Any, Any]
#: Fits between two checks of `stop`.
CHUNK = 10


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


def audit_estimator(
    make: Callable[[int], Any],
    without: Table,
    with_one: Table,
    *,
    seed: int,
    draws: int = 1000,
    delta: float = 0.0,
    beta: float = 0.05,
    claimed: float | None = None,
    show: Callable[[Any], Mapping[str, Hashable]] = lambda fitted: {},
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> OutputBound:
    """Fit an estimator on two neighbouring tables again and again, and bound its epsilon from below.

    >>> make = lambda seed: RandomForestClassifier(epsilon=1.0, bounds=(0, 1), classes=[0, 1], random_state=seed)
    >>> print(dpviz.audit_estimator(make, (X[:-1], y[:-1]), (X, y), seed=0, claimed=1.0))

    Parameters
    ----------
    make : callable
        From a seed an estimator with `fit(X, y)` and `predict(X)`, unfitted. Its noise must be new for every seed.
    without, with_one : (X, y)
        Two tables, the second with one more row, which comes last. A row that no other resembles is seen best.
    seed : int
        Repeatable, if `make` is.
    draws : int
        Fits on each table. Half choose the event, half test it.
    delta, beta, claimed
        As for `audit_outputs`.
    show : callable, optional
        What else a fitted estimator shows, by name: counts, sums, splits. The more is shown, the stronger is the attack.
    progress : callable (share in [0, 1]), optional
    stop : callable () -> bool, or threading.Event, optional
        Asked between fits; the bound from those done so far is returned.

    Raises
    ------
    DpvizError
        The second table is not the first with one more row at the end, or something was raised on the way, which is named
        without its words: they may quote a cell.
    """
    _delta(delta)
    checked_share("audit_outputs", "beta", beta)
    _checked_claim(claimed)
    checked_count("audit_estimator", "draws", draws, 2)
    checked_count("audit_estimator", "seed", seed, 0)
    with cells_stay_inside(_in_words):
        canary = _last_row(without, with_one)

    def shown(pair: Sequence[tuple[int, int]]) -> list[list[Shown]]:
        return [
            [
                _answers(make(of).fit(*table), canary, with_one[0], show)
                for table, of in zip((without, with_one), seeds, strict=True)
            ]
            for seeds in pair
        ]

    seeds = child_seeds(seed, 2 * draws)
    pairs = list(zip(seeds[::2], seeds[1::2], strict=True))
    with cells_stay_inside(_in_words):
        chunks = in_chunks(shown, pairs, CHUNK, workers=1, progress=progress, stop=stop)
    found = [one for chunk in chunks for one in chunk]
    first, second = ([one[place] for one in found] for place in (0, 1))
    return audit_outputs(first, second, delta=delta, beta=beta, claimed=claimed)


def _in_words(theirs: Exception) -> DpvizError:
    what = f"The tables, or the estimator on them, ended with {type(theirs).__name__}."
    return DpvizError(what, remedy="Fit the estimator by yourself: its words may quote a cell, so they are not repeated here.")


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


def _rows(table: Table) -> list[tuple[Any, ...]]:
    X, y = (np.asarray(part) for part in table)
    return [(*np.ravel(cells).tolist(), target) for cells, target in zip(X, y.tolist(), strict=True)]


def _last_row(without: Table, with_one: Table) -> Any:
    """The features of the last row of the second table, as a table of one row."""
    one, other = _rows(without), _rows(with_one)
    if not other or Counter(map(repr, one)) != Counter(map(repr, other[:-1])):
        what = "The second table is not the first with one more row at its end."
        raise DpvizError(what, remedy="Put the row that is added last, and change no other.")
    X = with_one[0]
    return X.iloc[-1:] if hasattr(X, "iloc") else X[-1:]


def _answers(fitted: Any, canary: Any, everybody: Any, show: Callable[[Any], Mapping[str, Hashable]]) -> Shown:
    """What the fitted estimator answers for the row, how sure it is, and what it answers for everybody."""
    found: Shown = {
        "the prediction for the row": np.asarray(fitted.predict(canary)).ravel().tolist()[0],
        "the predictions for all rows": json.dumps(np.asarray(fitted.predict(everybody)).ravel().tolist()),
    }
    for name in ("predict_proba", "decision_function"):
        if hasattr(fitted, name):
            found["the score of the row"] = float(np.asarray(getattr(fitted, name)(canary), dtype=np.float64).ravel()[-1])
            break
    return found | dict(show(fitted))
