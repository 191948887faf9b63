"""What was spent: the event a learner returned, and what it proves."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from dpviz.accounting.events import Event, Parallel, Sequential, Spend, walk
from dpviz.accounting.guarantee import PrivacyLoss, guarantee


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
