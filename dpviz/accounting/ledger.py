"""What was spent: the event a learner returned, what it proves, and its entries in a JSON document.

What a document says was done is composed again when it is read, not believed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from dpviz.accounting.events import (
    ApproximateDP,
    BoundedRange,
    Cost,
    Event,
    Free,
    GaussianRounds,
    Parallel,
    PlacedStep,
    PureDP,
    RandomPartition,
    Sequential,
    Step,
    Unbounded,
    is_exact,
    placed_steps,
)
from dpviz.accounting.guarantee import PrivacyLoss, guarantee
from dpviz.accounting.plan import BudgetPlan
from dpviz.errors import ParameterError
from dpviz.table.strict_json import read, read_entry, read_kind, with_infinity, wrong

#: Kinds of steps in a document -> their costs; a selection may have losses of a bounded range instead.
_KINDS = {
    "select": PureDP,
    "noise": PureDP,
    "approximate": ApproximateDP,
    "gaussian rounds": GaussianRounds,
    "no cost": Free,
    "non-private": Unbounded,
}
_OF_COST = {kind: name for name, kind in _KINDS.items()}
#: Mechanisms that add noise to numbers; other pure ones select.
_NOISE = ("geometric", "Laplace", "objective perturbation")
_STEP = re.compile(r"\.?(\d+)|([a-zA-Z])|(\[\d+\])")
_DEEPEST = 200


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One step of a ledger: where it was taken, what it was, for which part and level, at what cost; `note` explains it."""

    path: str
    kind: str
    mechanism: str
    part: str
    level: int | None
    epsilon: float
    note: str = ""


@dataclass(frozen=True)
class Ledger:
    """The steps that touched the rows, nested like the model they built."""

    event: Event

    @cached_property
    def guarantee(self) -> PrivacyLoss:
        """The privacy loss of all steps together, under add/remove one row."""
        return guarantee(self.event)

    @property
    def is_exact(self) -> bool:
        """True if an exact sampler drew every step that is random and costs anything; False of a file, which cannot tell."""
        return is_exact(self.event)

    def rows(self) -> tuple[LedgerRow, ...]:
        """Every step, one line each."""
        return tuple(map(_row, placed_steps(self.event)))

    def with_assignment_of(self, plan: BudgetPlan | None) -> Ledger:
        """The same steps, where only this plan's random assignment of the rows it holds out is believed. None: no other is.

        How likely the parts of another assignment are is not known, so they count as disjoint rows: the largest, not the mean.
        """
        return Ledger(_with_assignment(self.event, () if plan is None else plan.probabilities))

    def spent(self) -> dict[tuple[str, int | None], float]:
        """Epsilon per (part, level) on the path that costs a row the most; infinite where a step is non-private."""
        groups: dict[tuple[str, int | None], list[Step]] = defaultdict(list)
        for step in _worst_path(self.event):
            groups[step.part, step.level].append(step)
        return {key: _total(steps) for key, steps in groups.items()}


def _with_assignment(event: Event, probabilities: tuple[float, ...]) -> Event:
    if isinstance(event, Step):
        return event
    inside = tuple(_with_assignment(one, probabilities) for one in event.events)
    if not isinstance(event, RandomPartition):
        return type(event)(inside)
    stated = event.probabilities
    is_told = len(stated) == len(probabilities) and bool(np.allclose(stated, probabilities, rtol=0, atol=1e-9))
    return RandomPartition(inside, stated, event.shared) if is_told else Parallel(inside)


def _row(placed: PlacedStep) -> LedgerRow:
    step, kind = placed.step, _kind_of(placed.step)
    mechanism = "" if kind in ("no cost", "non-private") else step.mechanism
    note = step.cost.note if isinstance(step.cost, GaussianRounds) else step.note if kind == "non-private" else ""
    return LedgerRow(placed.path, kind, mechanism, step.part, step.level, guarantee(step).epsilon, note)


def _kind_of(step: Step) -> str:
    if isinstance(step.cost, PureDP):
        return "noise" if step.mechanism in _NOISE else "select"
    return _OF_COST.get(type(step.cost), "select")


def _worst_path(event: Event) -> list[Step]:
    """The single steps on the path that costs a row the most (the first such path)."""
    match event:
        case Parallel(events) | RandomPartition(events):
            return max(map(_worst_path, events), key=_total, default=[])
        case Sequential(events):
            return [step for one in events for step in _worst_path(one)]
        case _:
            return [event]


def _total(steps: list[Step]) -> float:
    return guarantee(Sequential(tuple(steps))).epsilon


def ledger_entries(ledger: Ledger) -> list[dict[str, Any]]:
    """One entry per step: its line of the ledger, and what else its cost follows from."""
    return [_entry(placed) for placed in placed_steps(ledger.event)]


def _entry(placed: PlacedStep) -> dict[str, Any]:
    row, cost = _row(placed), placed.step.cost
    more = {name: value for name, value in asdict(cost).items() if name != "epsilon"}
    more |= {"bounded_range": isinstance(cost, BoundedRange)} if row.kind == "select" else {}
    assigned = {"chances": list(placed.probabilities), "shared": list(placed.shared)} if placed.probabilities else {}
    return asdict(row) | more | assigned


def ledger_from(entries: Sequence[Any], where: str) -> Ledger:
    """The ledger of these entries. Raises DocumentError for one that is no step, or lacks what its cost follows from.

    What an older version of dpviz did not write takes the side on which more is lost: no bounded range, and disjoint rows where
    a random assignment put them.
    """
    return Ledger(_nest([_parse_step(entry, f"{where}[{k}]") for k, entry in enumerate(entries)], 0, where))


@dataclass(frozen=True, slots=True)
class _ParsedStep:
    """A step that was read: the parts of its path, how likely rows are assigned to each (else None), and what it is."""

    place: tuple[str, ...]
    assigned: tuple[tuple[float, bool] | None, ...]
    step: Step


def _parse_step(entry: Any, where: str) -> _ParsedStep:
    place = _place(entry, where)
    chances = read(list[float], entry.get("chances", []), f"{where}.chances")
    shared = read(list[bool], entry.get("shared", []), f"{where}.shared")
    if not len(chances) == len(shared) == sum(part.isupper() for part in place):
        raise wrong(
            "A step has one chance for every random assignment on its path, and whether it is shared.", f"{where}.chances"
        )
    assigned = iter(zip(chances, shared, strict=True))
    return _ParsedStep(place, tuple(next(assigned) if part.isupper() else None for part in place), _step(entry, where))


def _step(entry: Any, where: str) -> Step:
    kind = read_kind({name: name for name in _KINDS}, entry, where)
    named = with_infinity(entry, "epsilon")
    about = read(_About, named, where)
    cost: type[Cost] = _KINDS[kind]
    mechanism, note = "Gaussian" if cost is GaussianRounds else "", ""
    if cost is Unbounded:
        note = read(str, entry.get("note", ""), f"{where}.note")
    elif cost in (PureDP, ApproximateDP):
        mechanism = read_entry(str, entry, "mechanism", where)
    if kind == "select" and read(bool, entry.get("bounded_range", False), f"{where}.bounded_range"):
        if "exponential" not in mechanism:
            raise wrong("Only exponential mechanisms have losses of a bounded range.", f"{where}.bounded_range")
        cost = BoundedRange
    return Step(read(cost, named, where), about.part, about.level, mechanism, note)


@dataclass(frozen=True, slots=True)
class _About:
    part: str
    level: int | None = None


def _place(entry: Any, where: str) -> tuple[str, ...]:
    """The parts of a path such as "2b.1"."""
    path = read_entry(str, entry, "path", where)
    if not re.fullmatch(rf"(?:{_STEP.pattern})+", path) or len(path) > _DEEPEST:
        raise wrong("This is no path of a step.", f"{where}.path")
    return tuple(number or letter or more for number, letter, more in _STEP.findall(path))


def _nest(steps: Sequence[_ParsedStep], depth: int, where: str) -> Event:
    if len(steps) == 1 and len(steps[0].place) == depth:
        return steps[0].step
    if any(len(step.place) == depth for step in steps) or len({_kind(step.place[depth]) for step in steps}) > 1:
        raise wrong("The paths of the steps contradict each other.", where)
    groups = [list(group) for _, group in groupby(steps, key=lambda step: step.place[depth])]
    if len({group[0].place[depth] for group in groups}) < len(groups):  # one part said twice would cost its larger half
        raise wrong("The steps of one part do not stand together.", where)
    inside = tuple(_nest(group, depth + 1, where) for group in groups)
    if not steps or steps[0].place[depth].isdigit():
        return Sequential(inside)
    return _random_parts(groups, inside, depth, where) if steps[0].place[depth].isupper() else Parallel(inside)


def _kind(part: str) -> tuple[bool, bool]:
    """Tells parts of a path apart: steps in sequence, disjoint rows, parts of a random assignment."""
    return part.isdigit(), part.isupper()


def _random_parts(groups: Sequence[list[_ParsedStep]], inside: tuple[Event, ...], depth: int, where: str) -> RandomPartition:
    said = [{step.assigned[depth] for step in group} for group in groups]
    parts = [of_part for one in said for of_part in one if of_part is not None]
    if len(parts) != len(groups) or len({shared for _, shared in parts}) != 1:
        raise wrong("The steps of a random assignment contradict each other.", where)
    try:
        return RandomPartition(inside, tuple(chance for chance, _ in parts), parts[0][1])
    except ParameterError as error:
        raise wrong("The chances of a random assignment add up to more than 1.", where) from error
