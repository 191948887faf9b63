"""The register for people who read it without the rows: caps and their history, releases, what was spent over time."""

from __future__ import annotations

from collections.abc import Sequence

from dpviz.figures.charts import Rows
from dpviz.figures.guarantee_text import number_text
from dpviz.release.records import CapChange


def moment(at: str) -> str:
    """A time of the register (ISO 8601, UTC) as people read it."""
    return at[:19].replace("T", " ")


def cap_rows(changes: Sequence[CapChange]) -> Rows:
    """Every cap a data set has had, oldest first, with who set it and why."""
    return [
        {
            "since (UTC)": moment(change.at),
            "cap on ε": number_text(change.epsilon_cap),
            "cap on δ": number_text(change.delta_cap),
            "set by": change.made_by or "declared" if not place else change.made_by or "not said",
            "reason": change.reason,
        }
        for place, change in enumerate(changes)
    ]
