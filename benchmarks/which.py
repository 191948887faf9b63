"""Which of S-GBDT and PF-tree leads, from stored pages: the threshold of `dpviz.which_learner` on halves of the tables.

A learner leads a cell by the mean of AUC and accuracy. Tables are split in halves by size (every second), a threshold of rows
times epsilon per feature is chosen on one half for the least mean loss, and its hits are counted on the other half. Nothing is
measured.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from pathlib import Path

from dpviz.commands import console
from dpviz.learners.which import FROM

PAGES = Path(__file__).resolve().parents[1] / "data" / "benchmarks"
#: Features of the tables of rivals.md, and rows and features of those with numbers as targets.
FEATURES = {
    "vote": 16,
    "breast-w": 9,
    "diabetes": 8,
    "compas-two-years": 11,
    "heloc": 22,
    "bank-marketing": 7,
    "default-of-credit-card-clients": 20,
    "default-full": 23,
    "adult_train": 14,
    "bank-full": 16,
}
NUMBERS = {"rents": (3_000, 9), "Abalone": (4_177, 8)}


@dataclass(frozen=True, slots=True)
class Cell:
    """By how much S-GBDT leads PF-tree on a table at an epsilon: AUC and accuracy, or R² alone."""

    data: str
    n_rows: int
    n_features: int
    epsilon: float
    leads: tuple[float, ...]

    @property
    def lead(self) -> float:
        """The mean of its measures."""
        return sum(self.leads) / len(self.leads)

    @property
    def rows_times_epsilon(self) -> float:
        """Without features."""
        return self.n_rows * self.epsilon

    @property
    def per_feature(self) -> float:
        """What the rule reads."""
        return self.rows_times_epsilon / self.n_features


Place = Callable[[Cell], float]


def stored_classes() -> list[Cell]:
    """The cells of rivals.md, the smallest table first."""
    page = (PAGES / "rivals.md").read_text(encoding="utf-8")
    auc, accuracy = (list(_lines(page, f"## {part}")) for part in ("AUC", "Accuracy"))
    both = zip(auc, accuracy, strict=True)
    found = [Cell(a["data"], _rows(a), FEATURES[a["data"]], float(a["epsilon"]), (_lead(a), _lead(b))) for a, b in both]
    return sorted(found, key=lambda cell: (cell.n_rows, cell.epsilon))


def stored_numbers() -> list[Cell]:
    """The cells of probabilities.md that have both learners."""
    page = (PAGES / "probabilities.md").read_text(encoding="utf-8")
    lines = list(_lines(page, "## Numbers"))
    return [Cell(a["data"], *NUMBERS[a["data"]], float(a["ε"]), (_mean(a["R2, S-GBDT"]) - _mean(a["R2"]),)) for a in lines]


def halves(cells: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """Every second table by size, and the others."""
    names = list(dict.fromkeys(cell.data for cell in cells))
    first, second = ([cell for cell in cells if cell.data in names[start::2]] for start in (0, 1))
    return first, second


def threshold(cells: Sequence[Cell], place: Place) -> float:
    """The middle (geometric) between two places that loses least on these cells: below it PF-tree is taken."""
    places = sorted(map(place, cells))
    return min((sqrt(low * high) for low, high in pairwise(places)), key=lambda at: _lost(cells, place, at))


def hits(cells: Sequence[Cell], place: Place, at: float) -> int:
    """Cells where the learner that this threshold takes leads."""
    return sum((place(cell) >= at) == (cell.lead > 0) for cell in cells)


def _lost(cells: Sequence[Cell], place: Place, at: float) -> float:
    return sum(abs(cell.lead) for cell in cells if (place(cell) >= at) != (cell.lead > 0))


def _lines(page: str, heading: str) -> Iterator[dict[str, str]]:
    """The lines of the first table below the heading."""
    part = page.split(f"{heading}\n", 1)[1].split("\n|", 1)[1].split("\n\n", 1)[0]
    head, _, *lines = [[cell.strip(" *") for cell in line.strip("| ").split(" | ")] for line in part.splitlines()]
    return (dict(zip(head, line, strict=True)) for line in lines)


def _mean(cell: str) -> float:
    found = re.match(r"-?[\d.]+", cell)
    assert found, cell
    return float(found[0])


def _rows(line: dict[str, str]) -> int:
    return int(line["rows"].replace(",", ""))


def _lead(line: dict[str, str]) -> float:
    return _mean(line["S-GBDT"]) - _mean(line["PF-tree"])


def add_arguments(parser: ArgumentParser) -> None:
    """No option."""
    parser.set_defaults(run=_run)


def _run(_: Namespace) -> int:
    cells = stored_classes()
    places: dict[str, Place] = {
        "rows times epsilon": lambda cell: cell.rows_times_epsilon,
        "rows times epsilon per feature": lambda cell: cell.per_feature,
    }
    rows = []
    for words, place in places.items():
        for own, other in (halves(cells), halves(cells)[::-1]):
            at = threshold(own, place)
            found = (f"{hits(part, place, at)} of {len(part)}" for part in (own, other))
            rows.append((words, f"{at:.1f}", *found))
    console.show_table("thresholds", ("OF", "CHOSEN", "HITS", "HITS ELSEWHERE"), rows)
    groups = {
        "classes, from": [cell for cell in cells if cell.per_feature >= FROM],
        "classes, below": [cell for cell in cells if cell.per_feature < FROM],
        "numbers": stored_numbers(),
    }
    for words, group in groups.items():
        means = ", ".join(f"{sum(column) / len(group):+.3f}" for column in zip(*(cell.leads for cell in group), strict=True))
        console.show_pairs([(f"{words}: S-GBDT leads by", f"{means}; in {sum(cell.lead > 0 for cell in group)} of {len(group)}")])
    return 0
