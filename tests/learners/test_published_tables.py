"""The papers' tables as they were measured: who has a column in them repeats most of its cells in the stored page."""

import csv

import pytest

from dpviz.learners import get_learner, learner_names
from tests.support.paths import ROOT

PAPERS = ROOT / "data" / "benchmarks" / "papers.csv"


@pytest.mark.parametrize("name", [name for name in learner_names() if get_learner(name).published])
def test_a_learner_with_a_column_in_the_papers_tables_repeats_most_of_it(name):
    _, method = get_learner(name).published
    with PAPERS.open(encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["paper"].startswith("PrivaTree")]
    found = [line["found"] for line in lines if method.lower() in line["what"].lower()]
    assert found.count("same") > len(found) / 2
