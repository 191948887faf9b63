"""DPBoost's splits: all thresholds at once follow the exponential mechanism's distribution; the gain keeps its sensitivity."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from dpviz.privacy.source import Simulation
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.boosting.greedy import GreedyTree, places

X = NumericFeature("x", 0, 10)
WHOLE = NumericFeature("k", 0, 10, whole=True)
COLOUR = CategoricalFeature("c", ("a", "b", "c"))


def growth(features, columns, gradients, epsilons, seed=0, clip=1.0, ridge=1.0, numeric_weight=1.0):
    schema = Schema(tuple(features), ClassTarget("y", ("n", "p")))
    asked = clip, ridge, tuple(epsilons), numeric_weight
    return GreedyTree(schema, tuple(columns), np.asarray(gradients, float), *asked, Simulation(seed))


def gain(gradients, left, ridge=1.0):
    return sum(gradients[side].sum() ** 2 / max(side.sum() + ridge, 1e-12) for side in (left, ~left))


def test_places_cover_the_range_once_and_know_who_goes_left():
    found = places(X, np.array([0.0, 2.5, 2.5, 9.0]))
    assert found.low.tolist() == [0.0, 2.5, 9.0]
    assert found.high.tolist() == [2.5, 9.0, 10.0]
    assert (found.first.tolist(), found.end.tolist()) == ([0, 0, 0], [1, 3, 4])
    np.testing.assert_allclose(found.weight, [0.25, 0.65, 0.1])
    of_colour = places(COLOUR, np.array([0, 0, 2], dtype=np.uint8))
    assert (of_colour.first.tolist(), of_colour.end.tolist()) == ([0, 2, 2], [2, 2, 3])
    np.testing.assert_allclose(of_colour.weight, [1, 1, 1])
    assert places(X, np.array([])).weight.tolist() == [1.0]
    np.testing.assert_allclose(places(X, np.array([2.5]), 4.0).weight, [1, 3])


@pytest.mark.slow
def test_a_threshold_follows_the_distribution_over_the_whole_range():
    x, gradients = np.array([1.0, 4.0, 6.0]), np.array([1.0, -1.0, 0.5])
    epsilon, drawn = 4.0, []
    for seed in range(3000):
        (_, threshold, _), _ = growth([X], [x], gradients, [epsilon], seed).tree()
        drawn.append(threshold)
    bins = np.linspace(0, 10, 21)
    middles = (bins[:-1] + bins[1:]) / 2
    distribution = np.array([np.exp(epsilon * gain(gradients, x <= point) / 6) for point in middles])
    counts, _ = np.histogram(drawn, bins)
    assert chisquare(counts, distribution / distribution.sum() * 3000).pvalue > 1e-4
    wrong = np.array([np.exp(3 * epsilon * gain(gradients, x <= point) / 6) for point in middles])
    assert chisquare(counts, wrong / wrong.sum() * 3000).pvalue < 1e-4


def test_a_category_against_the_rest_follows_the_distribution():
    codes, gradients = np.array([0, 1, 1, 2], dtype=np.uint8), np.array([0.2, 1.0, 1.0, -0.5])
    epsilon, n, drawn = 6.0, 1500, []
    for seed in range(n):
        _, (inside, _) = growth([COLOUR], [codes], gradients, [epsilon], seed).tree()
        (code,) = set(codes[inside].tolist())
        drawn.append(code)
    counts = np.bincount(drawn, minlength=3)
    for factor, fits in ((1, True), (2, False)):
        weights = np.array([np.exp(factor * epsilon * gain(gradients, codes == code) / 6) for code in range(3)])
        assert (chisquare(counts, weights / weights.sum() * n).pvalue > 1e-4) == fits


@pytest.mark.parametrize(("numeric_weight", "share"), [(1.0, 1 / 4), (6.0, 6 / 9)])
@pytest.mark.slow
def test_without_gains_every_category_weighs_one_and_a_number_what_is_asked(numeric_weight, share):
    columns, n = (np.array([3.0, 7.0]), np.array([0, 2], dtype=np.uint8)), 1500
    drawn = [growth([X, COLOUR], columns, [0, 0], [1.0], seed, numeric_weight=numeric_weight).tree()[0][0] for seed in range(n)]
    for expected, fits in ((share, True), (1 / 2, False)):
        counts = np.bincount(drawn, minlength=2)
        assert (chisquare(counts, n * np.array([expected, 1 - expected])).pvalue > 1e-4) == fits


def test_the_sensitivity_is_reached():
    full = np.append(np.ones(2000), -1.0)
    everyone = np.ones(2001, dtype=bool)
    assert gain(full[:-1], everyone[:-1], 0) - gain(full, everyone, 0) == pytest.approx(3, abs=0.01)
    assert growth([X], [np.ones(2)], [1, 1], [1.0], clip=2.0).sensitivity.value == 12.0


def test_a_tree_is_complete_and_its_leaves_partition_the_rows():
    rng = np.random.default_rng(1)
    columns = (rng.uniform(0, 10, 50), rng.integers(0, 11, 50).astype(np.int32), rng.integers(0, 3, 50).astype(np.uint8))
    _, leaves = growth([X, WHOLE, COLOUR], columns, rng.uniform(-1, 1, 50), [1.0] * 4).tree()
    assert len(leaves) == 16
    assert sorted(np.concatenate(leaves).tolist()) == list(range(50))
    nested, empty = growth([X, WHOLE, COLOUR], [column[:0] for column in columns], [], [1.0] * 3).tree()
    assert [len(rows) for rows in empty] == [0] * 8
    assert not isinstance(nested, int)


def test_with_much_budget_the_best_split_is_found_and_whole_numbers_are_cut_between():
    k = np.repeat(np.arange(11), 20).astype(np.int32)
    gradients = np.where(k <= 6, -1.0, 1.0)
    for seed in range(20):
        (feature, threshold, _), leaves = growth([X, WHOLE], [np.full(220, 5.0), k], gradients, [50.0], seed).tree()
        assert (feature, threshold) == (1, 6.5)
        assert [len(rows) for rows in leaves] == [140, 80]
