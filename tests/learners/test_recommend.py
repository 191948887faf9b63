"""Which learner to take: the rule agrees with the stored pages that it comes from, and with every sentence that says so."""

import csv
import inspect
from collections.abc import Iterator
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import pytest

import dpviz
from dpviz.errors import ParameterError, SchemaError
from dpviz.learners import recommend
from dpviz.learners.recommend import FROM, MeasuredAdvantage, which_learner

ROOT = Path(__file__).resolve().parents[2]


class Cell(NamedTuple):
    """By how much S-GBDT leads PF-tree on a table at an epsilon: in AUC and accuracy, or in R² alone."""

    data: str
    n_rows: int
    n_features: int
    epsilon: float
    leads: tuple[float, ...]

    @property
    def lead(self) -> float:
        return sum(self.leads) / len(self.leads)

    @property
    def per_feature(self) -> float:
        """What the rule reads."""
        return self.n_rows * self.epsilon / self.n_features


def stored() -> Iterator[Cell]:
    with (ROOT / "data" / "benchmarks" / "which_learner.csv").open(encoding="utf-8") as file:
        for line in csv.DictReader(line for line in file if not line.startswith("#")):
            leads = tuple(float(line[name]) for name in ("AUC", "accuracy", "R2") if line[name])
            yield Cell(line["data"], int(line["rows"]), int(line["features"]), float(line["epsilon"]), leads)


CLASSES = [cell for cell in stored() if len(cell.leads) == 2]
NUMBERS = [cell for cell in stored() if len(cell.leads) == 1]


def halves(cells: list[Cell]) -> list[list[Cell]]:
    """Every second table by size, and the others."""
    names = list(dict.fromkeys(cell.data for cell in cells))
    return [[cell for cell in cells if cell.data in names[start::2]] for start in (0, 1)]


def threshold(cells: list[Cell]) -> float:
    """The middle (geometric) between two places that loses least on these cells: below it PF-tree is taken."""
    places = sorted(map(place, cells))

    def lost(at: float) -> float:
        return sum(abs(cell.lead) for cell in cells if (place(cell) >= at) != (cell.lead > 0))

    return min((sqrt(low * high) for low, high in pairwise(places)), key=lost)


def hits(cells: list[Cell], at: float) -> int:
    """Cells where the learner that this threshold takes leads."""
    return sum((place(cell) >= at) == (cell.lead > 0) for cell in cells)


def schema(n_rows: int | None, n_features: int, *, classes: int = 2, number: bool = False) -> dpviz.Schema:
    features = tuple(dpviz.NumericFeature(f"f{place}", 0, 1) for place in range(n_features))
    names = tuple("abcdefgh"[:classes])
    target = dpviz.NumericTarget("y", 0, 1) if number else dpviz.ClassTarget("y", names)
    return dpviz.Schema(features, target, n_public=n_rows)


def place(cell: Cell) -> float:
    return cell.per_feature


def measured(cells: list[Cell], sign: int) -> tuple[list[float], int, int]:
    means = [round(sign * sum(column) / len(cells) + 1e-9, 3) for column in zip(*(cell.leads for cell in cells), strict=True)]
    return means, sum(sign * cell.lead > 0 for cell in cells), len(cells)


def told(lead: MeasuredAdvantage) -> tuple[list[float], int, int]:
    return [by for _, by in lead.measures], lead.ahead, lead.cells


def test_the_rule_hits_the_stored_cells_as_it_says() -> None:
    """Each half chooses a threshold for the other; the rule's own stands between the two."""
    first, second = halves(CLASSES)
    chosen = threshold(first), threshold(second)
    assert chosen[0] < FROM < chosen[1]
    found = hits(second, chosen[0]), hits(first, chosen[1])
    all_of = hits(CLASSES, FROM)
    said = " ".join(inspect.getdoc(recommend).split())
    assert f"{chosen[0]:.1f} hits {found[0]} of {len(second)} cells there" in said
    assert f"{chosen[1]:.1f} hits {found[1]} of {len(first)}" in said
    assert f"hits {all_of} of all {len(CLASSES)}" in said
    assert f"hits {hits(NUMBERS, FROM)} of {len(NUMBERS)} cells" in said


def test_the_function_is_the_rule() -> None:
    for cell in [*CLASSES, *NUMBERS]:
        found = which_learner(schema(cell.n_rows, cell.n_features, number=len(cell.leads) == 1), epsilon=cell.epsilon)
        assert found.learner == ("s-gbdt" if place(cell) >= FROM else "pf-tree")


def test_what_is_lost_is_what_is_stored() -> None:
    assert told(recommend.CLASSES) == measured([cell for cell in CLASSES if place(cell) >= FROM], 1)
    assert told(recommend.FEW) == measured([cell for cell in CLASSES if place(cell) < FROM], -1)
    assert told(recommend.NUMBERS) == measured(NUMBERS, 1)
    page = (ROOT / "docs" / "how-to" / "compare-algorithms.md").read_text(encoding="utf-8")
    for lead in (recommend.CLASSES, recommend.FEW, recommend.NUMBERS):
        assert all(f"{by:.3f}".removeprefix("0") in page for _, by in lead.measures)


def test_many_classes_and_few_rows_keep_one_tree() -> None:
    assert which_learner(schema(10**6, 5, classes=3), epsilon=1).learner == "pf-tree"
    few = which_learner(schema(499, 5), epsilon=0.1)
    assert (few.learner, few.lost) == ("pf-tree", recommend.FEW.behind("S-GBDT"))
    assert "9.98 rows" in few.reason


def test_no_epsilon() -> None:
    for epsilon in [0, -1, float("nan"), float("inf"), "1", None]:
        with pytest.raises(ParameterError):
            which_learner(schema(100, 1), epsilon=epsilon)


def test_no_declared_rows() -> None:
    with pytest.raises(SchemaError, match="public row count"):
        which_learner(schema(None, 1), epsilon=1)


def test_the_majority_class_is_nowhere_ahead() -> None:
    """Why a constant is never recommended."""
    with (ROOT / "data" / "benchmarks" / "accuracy.csv").open(encoding="utf-8") as file:
        means = {(line["data"], line["epsilon"], line["learner"]): float(line["mean"]) for line in csv.DictReader(file)}
    pairs = [
        (means[*place, "PF-tree: holds"], mean) for (*place, learner), mean in means.items() if learner.startswith("Majority")
    ]
    assert len(pairs) > 60
    assert all(ours >= constant for ours, constant in pairs)
