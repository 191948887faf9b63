"""Stored measurements: the rule for which learner to take agrees with them, and learners repeat the tables of their papers."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

import dpviz
from benchmarks.accuracy import COLUMNS
from dpviz.errors import ParameterError, SchemaError
from dpviz.learners import recommend
from dpviz.learners.recommend import FROM, MeasuredAdvantage, which_learner
from tests.support.paths import ROOT


class Cell(NamedTuple):
    """By how much S-GBDT leads PF-tree on a table at an epsilon: in AUC and accuracy, or in R² alone."""

    n_rows: int
    n_features: int
    epsilon: float
    leads: tuple[float, ...]

    @property
    def is_ahead(self) -> bool:
        return sum(self.leads) > 0

    @property
    def place(self) -> float:
        """What the rule reads."""
        return self.n_rows * self.epsilon / self.n_features


def stored() -> Iterator[Cell]:
    with (ROOT / "data" / "benchmarks" / "which_learner.csv").open(encoding="utf-8") as file:
        for line in csv.DictReader(line for line in file if not line.startswith("#")):
            leads = tuple(float(line[name]) for name in ("AUC", "accuracy", "R2") if line[name])
            yield Cell(int(line["rows"]), int(line["features"]), float(line["epsilon"]), leads)


CLASSES = [cell for cell in stored() if len(cell.leads) == 2]
NUMBERS = [cell for cell in stored() if len(cell.leads) == 1]


def schema(n_rows: int | None, n_features: int, *, classes: int = 2, number: bool = False) -> dpviz.Schema:
    features = tuple(dpviz.NumericFeature(f"f{place}", 0, 1) for place in range(n_features))
    target = dpviz.NumericTarget("y", 0, 1) if number else dpviz.ClassTarget("y", tuple("abcdefgh"[:classes]))
    return dpviz.Schema(features, target, n_public=n_rows)


def require_measured(said: MeasuredAdvantage, cells: list[Cell], sign: int) -> None:
    """What is said of some cells is what is stored of them."""
    means = [round(sign * sum(column) / len(cells) + 1e-9, 3) for column in zip(*(cell.leads for cell in cells), strict=True)]
    assert [by for _, by in said.measures] == means
    assert (said.ahead, said.cells) == (sum(sign * sum(cell.leads) > 0 for cell in cells), len(cells))


def test_the_rule_is_what_is_stored_and_right_on_most_of_it() -> None:
    for cell in [*CLASSES, *NUMBERS]:
        found = which_learner(schema(cell.n_rows, cell.n_features, number=len(cell.leads) == 1), epsilon=cell.epsilon)
        assert found.learner == ("s-gbdt" if cell.place >= FROM else "pf-tree")
    for cells in (CLASSES, NUMBERS):
        assert sum((cell.place >= FROM) == cell.is_ahead for cell in cells) > 0.8 * len(cells)
    require_measured(recommend.CLASSES, [cell for cell in CLASSES if cell.place >= FROM], 1)
    require_measured(recommend.FEW, [cell for cell in CLASSES if cell.place < FROM], -1)
    require_measured(recommend.NUMBERS, NUMBERS, 1)
    page = (ROOT / "docs" / "how-to" / "compare-algorithms.md").read_text(encoding="utf-8")
    for lead in (recommend.CLASSES, recommend.FEW, recommend.NUMBERS):
        assert all(f"{by:.3f}".removeprefix("0") in page for _, by in lead.measures)


def test_many_classes_and_few_rows_keep_one_tree_and_nothing_is_said_without_epsilon_or_rows() -> None:
    assert which_learner(schema(10**6, 5, classes=3), epsilon=1).learner == "pf-tree"
    few = which_learner(schema(499, 5), epsilon=0.1)
    assert (few.learner, few.lost) == ("pf-tree", recommend.FEW.behind("S-GBDT"))
    for epsilon in [0, -1, float("nan"), float("inf"), "1", None]:
        with pytest.raises(ParameterError):
            which_learner(schema(100, 1), epsilon=epsilon)
    with pytest.raises(SchemaError, match="public row count"):
        which_learner(schema(None, 1), epsilon=1)


def test_rows_of_one_person_share_its_epsilon_in_the_rule_too() -> None:
    one, twenty = (which_learner(replace(schema(500, 5), rows_per_person=rows), epsilon=1) for rows in (1, 20))
    assert (one.learner, twenty.learner) == ("s-gbdt", "pf-tree")
    assert "There are 5 rows times epsilon per feature" in twenty.reason


PAPERS = ROOT / "data" / "benchmarks" / "papers.csv"


def test_a_learner_with_a_column_in_the_papers_tables_repeats_most_of_it():
    for name in COLUMNS:
        _, method = COLUMNS[name]
        with PAPERS.open(encoding="utf-8") as file:
            lines = [line for line in csv.DictReader(file) if line["paper"].startswith("PrivaTree")]
        found = [line["found"] for line in lines if method.lower() in line["what"].lower()]
        assert found.count("same") > len(found) / 2


@pytest.mark.verify
@pytest.mark.parametrize(("epsilon", "least"), [(0.1, 0.828), (1.0, 0.838)])
def test_pf_tree_reaches_its_mark_on_adult(shared_data, epsilon, least):
    table = dpviz.read_table(shared_data / "adult.csv.gz")
    data = dpviz.encode(table, dpviz.propose_schema(table))
    accuracies = [
        dpviz.fit("pf-tree", train, epsilon=epsilon, max_depth=4, seed=100 * fold + draw).score(test)
        for fold, (train, test) in enumerate(data.folds(5, seed=1))
        for draw in range(2)
    ]
    assert np.mean(accuracies) >= least
