"""`dpboost`: the least error over all thresholds, and what is changed from outside."""

from __future__ import annotations

import numpy as np

from benchmarks.boosting.rival import VARIANTS, measure
from dpviz.learners.published.boosted import dpboost
from dpviz.privacy.source import Simulation
from tests.support.prices import prices


def test_with_falling_rows_the_first_tree_has_the_most_and_every_fold_is_measured() -> None:
    data, falling = prices(2000), next(variant for variant in VARIANTS if "fewer rows" in variant.title)
    with falling.changed():
        counts = np.bincount(dpboost.rows_to_trees(data, 3, Simulation(0)))
    np.testing.assert_allclose(counts / 2000, np.array([1, 0.7, 0.49]) / 2.19, atol=0.04)
    assert [fold for fold, _ in measure(prices(200), falling, 1.0)] == [0, 1, 2, 3, 4]
