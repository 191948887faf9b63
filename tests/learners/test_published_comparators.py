"""The comparators' columns of the papers' tables, measured again. Needs ../shared.

A published cell is one run per fold, so chance is measured by the spread of single runs, ours and theirs.
"""

import csv
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dpviz
from benchmarks.data import bench_data
from dpviz.learners import get_learner
from dpviz.table.dataset import EncodedDataset

pytestmark = pytest.mark.verify

DATA = ("adult", "mushroom", "nursery", "vote", "breast-w", "diabetes", "MagicTelescope")
WITH_CATEGORIES = ("adult", "mushroom", "nursery", "vote")
#: The published run read a group that was never set; see the learner's file.
OFF = ("bdpt", "breast-w")
CELLS = [
    (learner, name)
    for learner, names in {"diffprivlib-tree": DATA, "bdpt": DATA, "dpgdf": WITH_CATEGORIES}.items()
    for name in names
    if (learner, name) != OFF
]


@cache
def encoded(folder: Path, name: str) -> EncodedDataset:
    return next(data for _, data in bench_data(folder, [name]))


@cache
def published(folder: Path) -> dict[tuple[str, str], tuple[float, float]]:
    with (folder.parent / "reference" / "privatree_tables.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if (row["version"], row["epsilon"]) == ("arXiv", "0.1")]
    return {(r["method"], r["dataset"]): (float(r["mean"]), float(r["stderr"])) for r in rows if r["stderr"]}


def accuracies(data: EncodedDataset, learner: str, draws: int) -> np.ndarray:
    """Accuracy on the part left out at epsilon .1, depth 4; shape (5 folds, draws)."""
    return np.array(
        [
            [dpviz.fit(learner, train, epsilon=0.1, max_depth=4, seed=100 * fold + draw).score(test) for draw in range(draws)]
            for fold, (train, test) in enumerate(data.folds(5, seed=1))
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("learner", "name"), CELLS)
def test_the_papers_tables_are_met(shared_data, learner, name):
    version, method = get_learner(learner).published
    assert version == "arXiv"
    mean, error = published(shared_data)[method, name]
    ours = accuracies(encoded(shared_data, name), learner, 5)
    one_run = float(ours.std(ddof=1)) / math.sqrt(5)
    assert abs(ours.mean() - mean) <= max(2 * math.hypot(error, one_run), 0.015)


def test_bdpt_on_breast_w_is_better_than_its_published_cell(shared_data):
    mean, _ = published(shared_data)["BDPT", "breast-w"]
    assert accuracies(encoded(shared_data, "breast-w"), "bdpt", 5).mean() > mean + 0.1
