"""What three papers print, beside what was measured here, as `python -m benchmarks papers` collects it from the stored pages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal

from dpviz.errors import DpvizError
from dpviz.installation import bundled
from dpviz.learners import declared
from dpviz.training.contract import LearnerSpec

FILE = "data/benchmarks/papers.json"
#: Of a cell with a printed number. "": the paper prints none.
Found = Literal["", "same", "near", "differs"]
#: Pages that an experiment can be set on.
Place = Literal["compare", "robustness", "budget"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One number measured here. `printed` has the paper's, or the two ends of what it states; None at an open or unknown end."""

    data: str
    series: str  #: Learner, curve or what is stated
    x: str  #: Place on an axis (an epsilon, a share, a number of trees), or ""
    measured: float
    error: float | None  #: As the stored page has it: a standard error, or a deviation for forests
    printed: tuple[float | None, float | None] | None
    printed_error: float | None
    found: Found
    why: str = ""  #: Of cells that differ: a known reason, or ""


@dataclass(frozen=True, slots=True)
class Experiment:
    """How a page is set to an experiment: learners by name, epsilons, and the depth."""

    place: Place
    learners: tuple[str, ...]
    epsilons: tuple[float, ...]
    depth: str


@dataclass(frozen=True, slots=True)
class Item:
    """One table or figure of a paper."""

    name: str
    shows: str
    file: str  #: The stored page, in data/benchmarks; "" where the item is not here, and `not_here` says why
    differs: str  #: What is otherwise than in the paper
    not_here: str
    unit: str  #: What numbers are, as in "accuracy" or "percent"
    across: str  #: What `x` is, as in "epsilon"; "" without one
    cells: tuple[Cell, ...]
    experiment: Experiment | None

    @property
    def printed(self) -> tuple[Cell, ...]:
        """The cells beside which a number of the paper stands."""
        return tuple(cell for cell in self.cells if cell.printed is not None)

    @property
    def differing(self) -> tuple[Cell, ...]:
        """Those that are not as printed."""
        return tuple(cell for cell in self.cells if cell.found == "differs")

    @property
    def data_sets(self) -> tuple[str, ...]:
        """Every data set once, in order."""
        return tuple(dict.fromkeys(cell.data for cell in self.cells))


@dataclass(frozen=True, slots=True)
class Paper:
    """One of the three papers."""

    title: str
    author: str  #: The first one, as in the citations of its learners
    items: tuple[Item, ...]

    @property
    def here(self) -> tuple[Item, ...]:
        """Items with numbers."""
        return tuple(item for item in self.items if item.cells)

    def learners(self) -> tuple[LearnerSpec, ...]:
        """The learners that its numbered statements stand with."""
        return tuple(spec for spec in declared() if spec.statements and self.author in spec.citation)


@cache
def papers() -> tuple[Paper, ...]:
    """All three, from the stored file. Raises DpvizError when it is missing or not what this version reads."""
    try:
        return papers_of(json.loads(bundled(FILE).read_text(encoding="utf-8")))
    except (KeyError, TypeError, ValueError) as problem:
        again = "Make it again: python -m benchmarks papers --out data/benchmarks/papers.json."
        raise DpvizError("The stored numbers of the papers cannot be read.", where=FILE, remedy=again) from problem


def papers_of(stored: Sequence[dict[str, Any]]) -> tuple[Paper, ...]:
    """Read papers back; a cell is the list of its values. Raises KeyError, TypeError or ValueError."""
    return tuple(Paper(one["title"], one["author"], tuple(map(_item, one["items"]))) for one in stored)


def _item(stored: dict[str, Any]) -> Item:
    names = [field.name for field in fields(Cell)]
    given = (dict(zip(names, cell, strict=True)) for cell in stored["cells"])
    cells = tuple(Cell(**cell | {"printed": cell["printed"] and tuple(cell["printed"])}) for cell in given)
    asked = stored["experiment"]
    if asked is not None:
        asked = Experiment(asked["place"], tuple(asked["learners"]), tuple(asked["epsilons"]), asked["depth"])
    return Item(**stored | {"cells": cells, "experiment": asked})
