"""The ratio of the probabilities of everything that a fit released, on two tables.

A fit on one table is recorded: every mechanism, what it was asked about, what came out. Then the learner runs on the other table
and is given the same outcomes, so it asks the same questions of other rows. The mechanisms' laws say how likely each answer was
on either table; the logarithms of their ratios add up.

Who is in which part of a random assignment is not released: probabilities are averaged over the parts of the canary, and all
other rows are taken to be in the first part, where most of them are. That is exact where there are no others, and near it where
only the first part tells of them.

The laws decide what is guessed, never whether it was right: a mechanism that does not keep its law is still found out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np

from dpviz.errors import DpvizError, NotEnumerable
from dpviz.evaluation.audit.candidate_pairs import Pair
from dpviz.evaluation.audit.planned import PlannedLearner
from dpviz.privacy.geometric import GeometricNoise
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.privacy.source import Mechanism, Simulation
from dpviz.table.dataset import EncodedDataset

#: Outcomes whose ratio is remembered; noise in many steps never repeats.
_REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class Step:
    """A draw: what was asked of a mechanism, and what came out. `values` are private: those of a simulated or public table."""

    mechanism: Mechanism
    values: Any = field(repr=False)
    outcome: Any


class Recording(Simulation):
    """A simulation that keeps every draw, exact values too. It is for audits alone; nothing that came from it is a release."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.steps: list[Step] = []

    def draw(self, mechanism: Mechanism, values: Any) -> Any:
        """One draw, which is kept."""
        outcome = super().draw(mechanism, values)
        self.steps.append(Step(mechanism, values.copy() if isinstance(values, np.ndarray) else values, outcome))
        return outcome


class Replay:
    """A NoiseSource that gives recorded outcomes again, and adds up how much likelier they are here than there."""

    name = "replay"
    seed = None

    def __init__(self, recorded: Sequence[Step], assigned: tuple[int, ...] = ()) -> None:
        self._left = list(reversed(recorded))
        self._assigned = assigned  #: The part of every row, where rows are assigned at random
        self.asked: list[Any] = []  #: The values of every other draw
        self.log_ratio = 0.0

    def enter(self, place: int) -> None:
        """Nothing: outcomes are given."""

    def draw(self, mechanism: Mechanism, values: Any) -> Any:
        """The recorded outcome. Raises NotEnumerable where something else was asked, or its law is not known."""
        if not self._left:
            raise _other_steps()
        step = self._left.pop()
        if type(mechanism) is not type(step.mechanism):
            raise _other_steps()
        if isinstance(mechanism, RandomAssignment):
            return np.array(self._assigned, dtype=np.uint8)
        self.asked.append(values)
        self.log_ratio += _log_ratio(step, mechanism, values)
        return step.outcome

    def finish(self) -> float:
        """ln of the ratio of all outcomes together. Raises NotEnumerable where some were not asked for."""
        if self._left:
            raise _other_steps()
        return self.log_ratio


def _log_ratio(step: Step, mechanism: Any, values: Any) -> float:
    if mechanism == step.mechanism and _equal(values, step.values):
        return 0.0  # such as choices that look at no row, whatever their law
    if hasattr(mechanism, "log_likelihood") and mechanism == step.mechanism:
        return float(mechanism.log_likelihood(values, step.outcome) - mechanism.log_likelihood(step.values, step.outcome))
    if hasattr(mechanism, "probabilities") and np.ndim(step.outcome) == 0:
        here, there = mechanism.probabilities(values), step.mechanism.probabilities(step.values)  # type: ignore[attr-defined]
        with np.errstate(divide="ignore"):
            return float(np.log(here[step.outcome]) - np.log(there[step.outcome]))
    raise NotEnumerable(
        f"How likely an outcome of the mechanism {mechanism.title!r} is on both tables is not known.",
        remedy="Attack what is published instead.",
    )


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _other_steps() -> DpvizError:
    what = "On neighbouring tables this learner takes other steps, so no law says how likely its outcomes are on both."
    return NotEnumerable(what, remedy="Attack what is published instead.")


#: Of every step: the least and the largest numbers to which noise may have been added; None where that is not asked.
_Limits = list[tuple[np.ndarray, np.ndarray] | None]


class LikelihoodRatios:
    """ln P(released | with the canary) - ln P(released | without) of fits on a pair of tables."""

    def __init__(self, planned: PlannedLearner, tables: Pair) -> None:
        self.planned, self.tables = planned, tables
        self._known: dict[Any, float] = {}
        self._counted: dict[Any, _Limits] = {}

    def draw(self, place: int, seed: int) -> float:
        """The ratio of a fit on one of the tables. Raises NotEnumerable where laws are not known."""
        source = Recording(seed)
        self.planned.fit(self.tables[place], source)
        seen = [step for step in source.steps if not isinstance(step.mechanism, RandomAssignment)]
        chosen = tuple(step.outcome for step in seen if np.ndim(step.outcome) == 0)
        key = tuple(map(_telling, seen, self._counted.get(chosen, repeat(None))))
        if key in self._known:
            return self._known[key]
        asked: list[list[Any]] = []
        if len(seen) == len(source.steps):  # nothing is secret: the recorded fit has the ratio 1 to itself
            asked.append([step.values for step in seen])
            ratio = self._likelihood(self.tables[1 - place], source.steps, asked) * (-1 if place else 1)
        else:
            without, with_canary = (self._likelihood(table, source.steps, asked) for table in self.tables)
            ratio = with_canary - without
        if len(self._known) < _REMEMBERED:
            self._known[key] = ratio
        self._note_counted(chosen, [_limits(step, values) for step, *values in zip(seen, *asked, strict=True)])
        return ratio

    def _note_counted(self, chosen: Any, limits: _Limits) -> None:
        if not _equal(tuple(self._counted.setdefault(chosen, limits)), tuple(limits)):  # what is asked follows noise too
            self._counted[chosen] = [None] * len(limits)
            self._known.clear()

    def _likelihood(self, table: EncodedDataset, recorded: Sequence[Step], asked: list[list[Any]]) -> float:
        """ln of the probability of what was released, but for a number that is the same for both tables."""
        from scipy.special import logsumexp

        found = []
        for chance, assigned in _assignments(recorded, table.n_rows, has_canary=table is self.tables[1]):
            replay = Replay(recorded, assigned)
            self.planned.fit(table, replay)
            found.append(math.log(chance) + replay.finish())
            asked.append(replay.asked)
        return found[0] if len(found) == 1 else float(logsumexp(found))


def _limits(step: Step, values: Sequence[Any]) -> tuple[np.ndarray, np.ndarray] | None:
    if not isinstance(step.mechanism, GeometricNoise):
        return None
    return np.min(values, axis=0), np.max(values, axis=0)


def _telling(step: Step, limits: tuple[np.ndarray, np.ndarray] | None) -> Any:
    """What of an outcome tells the tables apart: beyond the limits every geometric count is equally telling."""
    if np.ndim(step.outcome) == 0:
        return step.outcome
    return (step.outcome if limits is None else np.clip(step.outcome, *limits)).tobytes()


def _assignments(recorded: Sequence[Step], n_rows: int, *, has_canary: bool) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Every part of the canary with its probability, others in the first; one that says nothing where none was drawn."""
    random = [step.mechanism for step in recorded if isinstance(step.mechanism, RandomAssignment)]
    if len(random) > 1:
        what = "Rows are assigned more than once, in too many ways to average over."
        raise NotEnumerable(what, remedy="Attack what is published instead.")
    if not random or not has_canary:
        yield 1.0, (0,) * n_rows
        return
    for part, share in enumerate((1 - sum(random[0].shares), *random[0].shares)):
        yield share, (*(0,) * (n_rows - 1), part)
