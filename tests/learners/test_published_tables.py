"""The papers' tables as they were measured: who has a column in them repeats most of its cells in the stored page."""

import csv

import numpy as np
import pytest

import dpviz
from dpviz.learners.papers import COLUMNS
from tests.support.paths import ROOT

PAPERS = ROOT / "data" / "benchmarks" / "papers.csv"


@pytest.mark.parametrize("name", COLUMNS)
def test_a_learner_with_a_column_in_the_papers_tables_repeats_most_of_it(name):
    _, method = COLUMNS[name]
    with PAPERS.open(encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["paper"].startswith("PrivaTree")]
    found = [line["found"] for line in lines if method.lower() in line["what"].lower()]
    assert found.count("same") > len(found) / 2


@pytest.mark.verify
@pytest.mark.parametrize(("epsilon", "least"), [(0.1, 0.828), (1.0, 0.838)])
def test_pf_tree_reaches_its_mark_on_adult(shared_data, epsilon, least):
    table = dpviz.read_csv(shared_data / "adult.csv.gz")
    data = dpviz.encode(table, dpviz.propose_schema(table))
    accuracies = [
        dpviz.fit("pf-tree", train, epsilon=epsilon, max_depth=4, seed=100 * fold + draw).score(test)
        for fold, (train, test) in enumerate(data.folds(5, seed=1))
        for draw in range(2)
    ]
    assert np.mean(accuracies) >= least
