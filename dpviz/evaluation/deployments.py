"""What others published with: entries of the public registry of deployments of differential privacy, as they stand there.

`data/reference/dp_deployments.csv`, MIT License, copyright 2025 OpenDP. No entry has been approved by the registry's reviewers.
"""

import csv
from dataclasses import dataclass
from functools import cache
from typing import Literal

from dpviz.installation import bundled

FILE = "data/reference/dp_deployments.csv"
#: What one epsilon protects: everything of one person, a person's month, a person's day or less, or something else.
Protects = Literal["person", "month", "day", "other"]

#: The first word of a unit that is found decides; those of a part of a person's data come before those of a person.
_WORDS: tuple[tuple[str, Protects], ...] = (
    ("month", "month"),
    ("day", "day"),
    ("event", "day"),
    ("trip", "day"),
    ("user", "person"),
    ("person", "person"),
    ("individual", "person"),
    ("birth", "person"),
)


@dataclass(frozen=True)
class Deployment:
    """One entry: `epsilon` is None where the registry gives none (rho, or nothing)."""

    name: str
    curators: str
    year: int
    variant: str
    unit: str
    epsilon: float | None
    delta: str
    rho: str
    status: str

    @property
    def protects(self) -> Protects:
        """What its unit of privacy is, in one of four kinds."""
        unit = self.unit.lower()
        return next((kind for word, kind in _WORDS if word in unit), "other")


@cache
def deployments() -> tuple[Deployment, ...]:
    """Every entry, the smallest epsilon first, those without one last."""
    with bundled(FILE).open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    same = ("name", "curators", "variant", "delta", "rho", "status")
    entries = (
        Deployment(
            year=int(line["published"][:4]),
            unit=line["unit"].strip(),
            epsilon=float(line["epsilon"]) if line["epsilon"] else None,
            **{name: line[name] for name in same},
        )
        for line in lines
    )
    return tuple(sorted(entries, key=lambda item: (item.epsilon is None, item.epsilon or 0.0, item.name)))
