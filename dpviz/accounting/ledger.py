"""What was spent: the event a learner returned, and what it proves."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from dpviz.accounting.events import Event, Parallel, Sequential, walk
from dpviz.accounting.guarantee import PrivacyLoss, guarantee


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One step of a ledger: where, what, for which part and level, at what cost. `note` explains a non-private step."""

    path: str
    kind: str
    mechanism: str
    part: str
    level: int | None
    epsilon: float
    note: str = ""


@dataclass(frozen=True)
class Ledger:
    """The steps that touched the rows, in the shape of what was grown."""

    event: Event

    @cached_property
    def guarantee(self) -> PrivacyLoss:
        """What the steps compose to, under add/remove one row."""
        return guarantee(self.event)

    def rows(self) -> tuple[LedgerRow, ...]:
        """Every step, one line each."""
        return tuple(_row(path, step) for path, step in walk(self.event))

    def spent(self) -> dict[tuple[str, int | None], float]:
        """Epsilon per (part, level) on the path that costs one row the most; infinite where a step is non-private."""
        return dict(_worst_path(self.event))


def _row(path: str, step: object) -> LedgerRow:
    return LedgerRow(
        path=path,
        kind=step.kind,  # type: ignore[attr-defined]
        mechanism=getattr(step, "mechanism", ""),
        part=step.part,  # type: ignore[attr-defined]
        level=step.level,  # type: ignore[attr-defined]
        epsilon=guarantee(step).epsilon,  # type: ignore[arg-type]
        note=getattr(step, "reason", ""),
    )


def _worst_path(event: Event) -> dict[tuple[str, int | None], float]:
    match event:
        case Parallel(events):
            tallies = [_worst_path(step) for step in events]
            return max(tallies, key=lambda tally: sum(tally.values()), default={})
        case Sequential(events):
            total: dict[tuple[str, int | None], float] = defaultdict(float)
            for step in events:
                for key, cost in _worst_path(step).items():
                    total[key] += cost
            return total
        case _:
            return {(event.part, event.level): guarantee(event).epsilon}
