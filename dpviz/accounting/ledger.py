"""What was spent: the event a learner returned, what it proves, and its entries in a JSON document.

What a document says was done is composed again when it is read, not believed.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import groupby
from typing import Any, get_args

from dpviz.accounting.events import Event, Parallel, Sequential, Spend, walk
from dpviz.accounting.guarantee import PrivacyLoss, guarantee
from dpviz.table.strict_json import read, read_entry, read_kind, with_infinity, wrong

_KINDS: dict[str, type[Spend]] = {kind.kind: kind for kind in get_args(Spend)}
_STEP = re.compile(r"\.?(\d+)|([a-z])|(\[\d+\])")
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

    def rows(self) -> tuple[LedgerRow, ...]:
        """Every step, one line each."""
        return tuple(_row(path, step) for path, step in walk(self.event))

    def spent(self) -> dict[tuple[str, int | None], float]:
        """Epsilon per (part, level) on the path that costs a row the most; infinite where a step is non-private."""
        groups: dict[tuple[str, int | None], list[Spend]] = defaultdict(list)
        for step in _worst_path(self.event):
            groups[step.part, step.level].append(step)
        return {key: _total(steps) for key, steps in groups.items()}


def _row(path: str, step: Spend) -> LedgerRow:
    return LedgerRow(
        path=path,
        kind=step.kind,
        mechanism=getattr(step, "mechanism", ""),
        part=step.part,
        level=step.level,
        epsilon=guarantee(step).epsilon,
        note=getattr(step, "reason", ""),
    )


def _worst_path(event: Event) -> list[Spend]:
    """The single steps on the path that costs a row the most (the first such path)."""
    match event:
        case Parallel(events):
            return max(map(_worst_path, events), key=_total, default=[])
        case Sequential(events):
            return [spend for step in events for spend in _worst_path(step)]
        case _:
            return [event]


def _total(steps: list[Spend]) -> float:
    return guarantee(Sequential(tuple(steps))).epsilon


def ledger_entries(ledger: Ledger) -> list[dict[str, Any]]:
    """One entry per step: its line of the ledger, and what else its cost follows from."""
    steps = zip(ledger.rows(), walk(ledger.event), strict=True)
    return [asdict(row) | {k: v for k, v in asdict(step).items() if k != "reason"} for row, (_, step) in steps]  # it is the note


def ledger_from(entries: Sequence[Any], where: str) -> Ledger:
    """The ledger of these entries. Raises DocumentError for one that is no step, or lacks what its cost follows from."""
    steps = [(_place(entry, f"{where}[{k}]"), _step(entry, f"{where}[{k}]")) for k, entry in enumerate(entries)]
    return Ledger(_nested(steps, 0, where))


def _step(entry: Any, where: str) -> Spend:
    kind = read_kind(_KINDS, entry, where)
    named = with_infinity(entry, "epsilon") | {"reason": entry.get("note", "")}
    return read(kind, {item.name: named[item.name] for item in fields(kind) if item.name in named}, where)


def _place(entry: Any, where: str) -> tuple[str, ...]:
    """The parts of a path such as "2b.1"."""
    path = read_entry(str, entry, "path", where)
    if not re.fullmatch(rf"(?:{_STEP.pattern})+", path) or len(path) > _DEEPEST:
        raise wrong("This is no path of a step.", f"{where}.path")
    return tuple(number or letter or more for number, letter, more in _STEP.findall(path))


def _nested(steps: Sequence[tuple[tuple[str, ...], Spend]], depth: int, where: str) -> Event:
    if len(steps) == 1 and len(steps[0][0]) == depth:
        return steps[0][1]
    if any(len(place) == depth for place, _ in steps) or len({place[depth].isdigit() for place, _ in steps}) > 1:
        raise wrong("The paths of the steps contradict each other.", where)
    inside = tuple(_nested(list(group), depth + 1, where) for _, group in groupby(steps, key=lambda step: step[0][depth]))
    return Sequential(inside) if not steps or steps[0][0][depth].isdigit() else Parallel(inside)
