"""The papers' tables as they were measured: who is said to repeat its paper's numbers does so in the stored page."""

import csv
import math

import pytest

from dpviz.learners import get_learner, learner_names
from tests.support.paths import ROOT

#: A cell within this of the published one is as published.
CLOSE = 0.015


def stored(paper: str) -> list[dict[str, str]]:
    with (ROOT / "data" / "benchmarks" / "papers.csv").open(encoding="utf-8") as file:
        return [line for line in csv.DictReader(line for line in file if line[0] != "#") if line["paper"].startswith(paper)]


def test_what_is_said_to_be_the_same_is_within_chance_and_hardly_a_cell_differs():
    cells = [line for line in stored("PrivaTree") if line["printed"] and line["here"] and "poisoned" not in line["what"]]
    assert len(cells) > 250
    for line in cells:
        apart = abs(float(line["here"]) - float(line["printed"]))
        chance = 2 * math.hypot(float(line["printed_error"] or 0), float(line["error"] or 0))
        if line["found"] == "same":
            assert apart <= max(chance, CLOSE) + 0.0015, line  # three digits are printed
    assert sum(line["found"] == "differs" for line in cells) < len(cells) / 10


@pytest.mark.parametrize("name", [name for name in learner_names() if get_learner(name).published])
def test_a_learner_with_a_column_in_the_papers_tables_is_in_the_stored_page(name):
    _, method = get_learner(name).published
    found = [line["found"] for line in stored("PrivaTree") if method.lower() in line["what"].lower()]
    assert found.count("same") > len(found) / 2
