"""`dpboost`: the least error over all thresholds, and what is changed from outside."""

from __future__ import annotations

import math

import numpy as np

import dpviz
from benchmarks.boosting.entrants import OTHERS, RIVAL_BEST
from benchmarks.boosting.rival import VARIANTS, figures, least_error, measure, variants_of
from dpviz.learners import fit
from dpviz.learners.published.boosted import dpboost
from dpviz.privacy.source import Simulation
from dpviz.randomness import generator
from tests.support.prices import classes, prices


def test_the_least_error_is_that_of_the_best_threshold() -> None:
    rng = generator(0)
    for _ in range(50):
        scores, target = rng.integers(0, 6, 30) / 5, rng.integers(0, 2, 30)
        tried = [float(np.mean((scores > cut) != target)) for cut in (-1.0, *np.unique(scores))]
        assert least_error(scores, target) == min(tried)
        assert least_error(scores, target) <= np.mean((scores > 0.5) != target)


def test_a_start_from_log_odds_is_free_and_ends_with_its_variant() -> None:
    data = classes(200)
    changed = next(variant for variant in VARIANTS if variant.title == "from the log-odds")
    with changed.changed():
        found = fit("dpboost", data, epsilon=1.0, max_depth=1, seed=1)
    share = float(np.mean(data.target))
    assert found.model.initial == math.log(share / (1 - share))  # type: ignore[attr-defined]
    assert dpviz.fit("dpboost", data, epsilon=1.0, max_depth=1, seed=1).model.initial == 0.0  # type: ignore[attr-defined]


def test_with_falling_rows_the_first_tree_has_the_most_and_every_fold_is_measured() -> None:
    data, falling = prices(2000), next(variant for variant in VARIANTS if "fewer rows" in variant.title)
    with falling.changed():
        counts = np.bincount(dpboost.rows_to_trees(data, 3, Simulation(0)))
    np.testing.assert_allclose(counts / 2000, np.array([1, 0.7, 0.49]) / 2.19, atol=0.04)
    assert [fold for fold, _ in measure(prices(200), falling, 1.0)] == [0, 1, 2, 3, 4]


def test_every_table_has_its_variants_and_the_settings_that_boosting_chooses_from() -> None:
    for data, others in OTHERS[RIVAL_BEST].items():
        titles = [variant.title for variant in variants_of(data)]
        assert len(set(titles)) == len(titles)
        assert {tuple(entrant.params) for entrant in others} <= {tuple(variant.params) for variant in variants_of(data)}
        assert ("from the log-odds" in titles) == (data == "Adult")


def test_classes_have_an_error_at_one_half_the_least_one_and_auc() -> None:
    data = classes(300)
    wrong, least, ranked = figures(fit("dpboost", data, epsilon=30.0, max_depth=2, seed=1).model, data)
    assert least <= wrong < 0.5 < ranked
