"""What all releases of a data set tell together, by the steps in their files: less than the sum of what each of them cost.

Two accounts, and it matters which one is read. The *sum* holds however the next epsilon was chosen, also by somebody who had seen
the releases before: caps count it, and nothing here gives any of it back. The *composed* total is that of the steps that were
run, as one sequence; it holds where the settings of each release did not depend on what was released before.

Source: Rogers, Roth, Ullman & Vadhan 2016 (losses chosen as one goes along: the sum); Dong, Roth & Su 2022, Theorem 3.2 (a fixed
sequence).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dpviz.accounting.events import Event, Sequential
from dpviz.accounting.guarantee import PrivacyLoss
from dpviz.accounting.ledger import Ledger, ledger_from
from dpviz.accounting.risk import Risk
from dpviz.errors import DpvizError
from dpviz.release.files import released_text
from dpviz.release.records import Entry
from dpviz.results.document import statement_of
from dpviz.table.strict_json import parse_json


@dataclass(frozen=True)
class Composed:
    """The releases of one data set as one sequence of steps."""

    risk: Risk
    delta: float  #: The largest of a single release, at which `loss` is stated
    n_unread: int  #: Releases without their file, which count as any algorithm of their cost

    @property
    def loss(self) -> PrivacyLoss:
        """What they cost one row, at the delta of a single release: never more than it is at the sum of all deltas."""
        return PrivacyLoss(self.risk.epsilon_at(self.delta), self.delta)


def composed(releases: Sequence[Entry]) -> Composed | None:
    """The total by what was run; None for fewer than two releases, which leave nothing to compose."""
    if len(releases) < 2:
        return None
    events = list(map(_event, releases))
    unread = sum(event == Risk.of_any(entry.loss).event for event, entry in zip(events, releases, strict=True))
    return Composed(Risk(Sequential(tuple(events))), max(entry.loss.delta for entry in releases), unread)


def _event(entry: Entry) -> Event:
    """What was done, or any algorithm of that cost where nothing says so."""
    with suppress(DpvizError):
        ledger = Ledger(_steps(entry.file, entry.sha256))
        if ledger.guarantee.epsilon <= entry.loss.epsilon and ledger.guarantee.delta <= entry.loss.delta:
            return ledger.event
    return Risk.of_any(entry.loss).event


@lru_cache(maxsize=1024)
def _steps(file: str, sha256: str) -> Event:
    """What a released file says was done. Raises DpvizError where it is gone, or is not the file that was released."""
    return ledger_from(statement_of(parse_json(released_text(Path(file), sha256))).ledger, "privacy.ledger").event
