import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpviz.evaluation.comparison import (
    curves,
    difference,
    majority_level,
    metrics_for,
    rows_at,
)
from dpviz.evaluation.metrics import wilson
from tests.support.numbers import schema_of_numbers
from tests.support.tables import schema_of


def fits(learner, outcomes, *, epsilon=1.0, composed=None, verdict="holds", **more):
    """Rows of a frame: `outcomes[fold]` holds the accuracies of its draws."""
    return [
        {
            "learner": learner,
            "epsilon": epsilon,
            "max_depth": 4,
            "n_rows": 0,
            "fold": fold,
            "repeat": repeat,
            "composed": epsilon if composed is None else composed,
            "verdict": verdict,
            "accuracy": value,
            "auc": math.nan,
            "majority": 0.5 + fold / 10,
            **more,
        }
        for fold, draws in enumerate(outcomes)
        for repeat, value in enumerate(draws)
    ]


def frame(*groups):
    return pd.DataFrame([row for group in groups for row in group])


def plain(outcomes):
    return fits("cart", [[value] for value in outcomes], epsilon=math.inf, verdict="none")


def test_a_band_holds_nine_of_ten_outcomes_and_the_worst_verdict_counts(rng):
    outcomes = rng.random((5, 40))
    (curve,) = curves(frame(fits("pf-tree", outcomes)), "epsilon")
    (point,) = curve.points
    expected = np.quantile(outcomes, [0.05, 0.5, 0.95])
    assert (point.low, point.median, point.high) == pytest.approx(tuple(expected))
    assert point.n_fits == 200
    assert curve.is_sound
    assert curve.is_private
    mixed = frame(
        fits("privatree", [[0.5]], composed=4.0),
        fits("privatree", [[0.6]], composed=7.0, verdict="violated"),
        fits("privatree", [[0.6]], composed=5.0, verdict="unproven"),
    )
    (curve,) = curves(mixed, "epsilon")
    assert curve.verdict == "violated"
    assert not curve.is_sound
    assert curve.points[0].composed == 7.0
    assert curves(frame(fits("pf-tree", [[0.5]])), "epsilon", "auc") == ()


def test_points_stand_in_order_and_learners_in_the_registrys():
    many = frame(
        plain([0.9]),
        fits("privatree", [[0.4]], epsilon=3.0),
        fits("pf-tree", [[0.7]], epsilon=10.0),
        fits("pf-tree", [[0.6]], epsilon=2.0),
    )
    found = curves(many, "epsilon")
    assert [curve.learner for curve in found] == ["pf-tree", "privatree", "cart"]
    assert [point.x for point in found[0].points] == [2.0, 10.0]
    assert found[0].at(10.0).median == 0.7
    assert found[0].at(5.0) is None
    assert found[2].at(5.0).median == 0.9
    assert not found[2].is_private


def test_the_level_of_guessing_is_the_median_over_folds_or_the_mean():
    table = frame(fits("pf-tree", [[0.9, 0.8], [0.7, 0.9], [0.8, 0.8]]))
    assert majority_level(table) == pytest.approx(0.6)
    assert majority_level(table, "auc") == 0.5
    assert majority_level(table, "balanced_accuracy") is None
    table = frame(fits("dp-mean", [[0.1], [0.2]], mean_rmse=12.5))
    assert majority_level(table, "r2") == 0.0
    assert majority_level(table, "rmse") == 12.5
    assert metrics_for(schema_of()) == ("accuracy", "balanced_accuracy", "auc", "log_loss", "brier")
    assert metrics_for(schema_of_numbers()) == ("r2", "rmse", "mae")
    assert metrics_for(schema_of(), 0.89)[0] == "accuracy"
    assert metrics_for(schema_of(), 0.9)[:2] == ("balanced_accuracy", "accuracy")


def test_rows_at_an_epsilon_bring_those_without_privacy():
    table = frame(plain([0.9]), fits("pf-tree", [[0.7]], epsilon=10.0), fits("pf-tree", [[0.6]], epsilon=2.0))
    assert rows_at(table, "epsilon", 2.0).accuracy.tolist() == [0.9, 0.6]
    assert rows_at(table, "max_depth", 4).accuracy.tolist() == [0.9, 0.7, 0.6]
    assert rows_at(table, "max_depth", 3).empty


def test_a_probability_counts_all_pairs_within_a_fold_as_mann_whitney_does(rng):
    ours = [[0.8, 0.7], [0.6, 0.6, 0.6, 0.6]]
    theirs = [[0.7, 0.9], [0.5, 0.5, 0.5, 0.7]]
    found = difference(frame(fits("pf-tree", ours), fits("privatree", theirs)), "pf-tree", "privatree")
    first = (1 + 0 + 0.5 + 0) / 4
    second = 0.75
    assert found.probability == pytest.approx((first + second) / 2)
    assert found.n_folds == 2
    assert found.n_draws == 2 + 4
    assert (found.probability_low, found.probability_high) == wilson(found.probability, 6)
    ours, theirs = rng.integers(0, 6, (2, 30)) / 6
    found = difference(frame(fits("pf-tree", [ours]), fits("privatree", [theirs])), "pf-tree", "privatree")
    assert found.probability == pytest.approx(stats.mannwhitneyu(ours, theirs).statistic / 900)


def test_swapping_turns_everything_round_equals_tie_and_less_error_is_ahead(rng):
    table = frame(fits("pf-tree", rng.random((3, 11))), fits("privatree", rng.random((3, 11))))
    here, there = difference(table, "pf-tree", "privatree"), difference(table, "privatree", "pf-tree")
    assert here.probability + there.probability == pytest.approx(1)
    assert here.probability_low + there.probability_high == pytest.approx(1)
    assert here.median == pytest.approx(-there.median, abs=0.02)
    table = frame(fits("pf-tree", [[0.5] * 4]), fits("privatree", [[0.5] * 4]))
    found = difference(table, "pf-tree", "privatree")
    assert found.probability == 0.5
    assert (found.low, found.median, found.high) == (0, 0, 0)
    rows = [{**row, "rmse": row["accuracy"]} for row in (*fits("dp-mean", [[9.0, 9.0]]), *fits("s-gbdt", [[6.0, 7.0]]))]
    found = difference(pd.DataFrame(rows), "s-gbdt", "dp-mean", "rmse")
    assert (found.probability, found.low, found.high) == (1.0, 2.0, 3.0)
    assert difference(pd.DataFrame(rows), "s-gbdt", "dp-mean", "accuracy").probability == 0


def test_learners_that_draw_nothing_are_compared_exactly_and_without_a_common_split_nothing_is():
    found = difference(frame(fits("pf-tree", [[0.5] * 7] * 2), plain([0.4, 0.6])), "pf-tree", "cart")
    assert found.probability == 0.5
    assert found.n_draws == 14
    table = frame(plain([0.4, 0.6, 0.7]), fits("majority", [[0.3], [0.3], [0.9]], epsilon=math.inf, verdict="none"))
    found = difference(table, "cart", "majority")
    assert found.n_draws == 0
    assert found.probability == found.probability_low == found.probability_high == pytest.approx(2 / 3)
    table = frame(fits("pf-tree", [[0.5]]), fits("privatree", [[], [0.5]]))
    assert difference(table, "pf-tree", "privatree") is None


def test_folds_weigh_alike_in_the_quantiles_however_many_draws_they_have(rng):
    sizes = (3, 7, 10)
    ours = [rng.random(size).tolist() for size in sizes]
    found = difference(frame(fits("pf-tree", ours), fits("privatree", [[0.0]] * 3)), "pf-tree", "privatree")
    repeated = np.concatenate([np.repeat(fold, 210 // size) for fold, size in zip(ours, sizes, strict=True)])
    expected = np.quantile(repeated, [0.05, 0.5, 0.95], method="inverted_cdf")
    assert (found.low, found.median, found.high) == tuple(expected)
