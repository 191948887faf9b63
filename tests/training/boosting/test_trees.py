"""Trees of boosting, drawn or greedy: shapes, laws of cuts, cells that partition the rows, histograms and sums they follow."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from dpviz.models.packed_forest import LEAF, values_of
from dpviz.privacy.source import Simulation
from dpviz.table.candidates import multiscale_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.boosting.greedy import GreedyTree, places
from dpviz.training.boosting.histograms import EDGES, FeatureHistograms, release_histograms
from dpviz.training.boosting.trees import SHAPES, Drawing, FollowingTrees, draw_boosting_trees
from tests.support.tables import schema_of, table


def draw(shape, count=40, depth=3, multiscale=0.5, schema=None, seed=5):
    return draw_boosting_trees(schema or schema_of("mixed"), shape, count, depth, multiscale, source=Simulation(seed))


def features_of(trees, tree):
    splits = trees.splits
    return {int(f) for f in splits.feature[splits.tree == tree] if f != LEAF}


def test_features_take_turns_and_categories_have_a_cell_each_alone_and_random_groups_in_pairs():
    trees = draw("one feature")
    asked = [features_of(trees, tree) for tree in range(40)]
    assert {len(features) for features in asked} <= {0, 1}
    for cycle in range(10):
        assert set().union(*asked[4 * cycle : 4 * cycle + 4]) == {0, 1, 2, 3}
    assert len({tuple(map(tuple, asked[4 * cycle : 4 * cycle + 4])) for cycle in range(10)}) > 1
    schema = schema_of("categories")
    assert set(draw("one feature", 8, 1, schema=schema).n_cells) == {4, 12}
    pairs = draw("two features", 30, 2, schema=schema)
    assert set(pairs.n_cells) == {4}
    towns = np.arange(12)
    rows = np.column_stack([np.zeros(12), towns])
    groupings = {tuple(pairs.cells_of(rows, tree)) for tree in range(30)}
    assert len(groupings) > 5


@pytest.mark.parametrize("shape", SHAPES)
def test_every_row_falls_into_one_cell_of_every_tree(shape):
    for kind, depth in product(("numbers", "categories", "mixed"), (1, 2, 5)):
        schema = schema_of(kind)
        trees, rows = draw(shape, 12, depth, schema=schema), values_of(table(schema, 400))
        for tree in range(12):
            cells = trees.cells_of(rows, tree)
            assert cells.min() >= 0
            assert cells.max() < trees.n_cells[tree]
            assert set(trees.cells_by_tree()[tree]) == set(range(trees.n_cells[tree]))
        assert trees.splits.n_trees == 12


@pytest.mark.parametrize("multiscale", [0.0, 1.0])
def test_cuts_lie_inside_the_declared_range_and_on_the_grid_where_asked(multiscale):
    schema = schema_of("numbers")
    splits = draw("one feature", 100, 3, multiscale, schema=schema).splits
    grid = multiscale_grid(schema)
    for feature, declared in enumerate(schema.features):
        cuts = splits.threshold[splits.feature == feature]
        assert declared.low < cuts.min() < cuts.max() < declared.high
        on_grid = np.isin(cuts, grid.features[feature].thresholds).mean()
        assert on_grid == 1.0 if multiscale else declared.whole or on_grid < 0.1
        if declared.whole:
            assert (cuts % 1 == 0.5).all()


@pytest.mark.parametrize(("weight", "share"), [(1.0, 0.5), (4.0, 0.8), (0.25, 0.2)])
def test_numbers_are_asked_for_by_their_weight(weight, share):
    schema = Schema((NumericFeature("x", 0, 1), CategoricalFeature("c", ("a", "b"))), ClassTarget("y", ("n", "p")))
    trees = draw_boosting_trees(schema, "random", 4000, 1, 0.0, numeric_weight=weight, source=Simulation(3))
    asked = trees.splits.feature[trees.splits.roots]
    assert abs(np.mean(asked == 0) - share) < 4.5 * np.sqrt(share * (1 - share) / 4000)


def test_random_trees_are_complete_set_one_category_apart_and_cut_uniformly_in_the_declared_range():
    schema = Schema((CategoricalFeature("c", ("a", "b", "c", "d")),), ClassTarget("y", ("n", "p")))
    trees = draw_boosting_trees(schema, "random", 2000, 1, 0.0, source=Simulation(3))
    assert set(trees.n_cells.tolist()) == {2}
    cells = np.array([trees.cells_of(np.arange(4.0)[:, None], tree) for tree in range(2000)])
    assert (cells == 0).sum(axis=1).tolist() == [1] * 2000
    assert (np.abs((cells == 0).sum(axis=0) - 500) < 4.5 * np.sqrt(2000 * 0.25 * 0.75)).all()
    assert set(draw("random", 20, 4).n_cells.tolist()) == {16}
    schema = Schema((NumericFeature("x", 0, 8), NumericFeature("k", 0, 4, whole=True)), ClassTarget("y", ("n", "p")))
    splits = draw_boosting_trees(schema, "random", 800, 3, 0.0, source=Simulation(4)).splits
    x, k = (splits.threshold[splits.feature == feature] for feature in (0, 1))
    assert kstest(x, "uniform", (0, 8)).pvalue > 1e-4
    assert kstest(x, "uniform", (0, 7)).pvalue < 1e-4
    assert chisquare([np.sum(k == place) for place in (0.5, 1.5, 2.5, 3.5)]).pvalue > 1e-4
    assert set(k) == {0.5, 1.5, 2.5, 3.5}


CROWDED = Schema(
    (NumericFeature("x", 0, 16), CategoricalFeature("c", ("a", "b")), NumericFeature("w", 0, 160, whole=True)),
    ClassTarget("y", ("n", "p")),
    n_public=1000,
)


def crowded_rows(n_rows: int = 1000) -> EncodedDataset:
    """All x lie in the first sixteenth of the range, w everywhere."""
    codes = np.zeros(n_rows, dtype=np.uint8)
    return EncodedDataset(CROWDED, (np.full(n_rows, 0.5), codes, np.arange(n_rows) % 160 + 0.0), codes)


class Kept:
    """A source that adds nothing and keeps what it was asked for."""

    name, seed = "kept", None

    def __init__(self) -> None:
        self.scales: list[float] = []
        self.values: list[np.ndarray] = []

    def draw(self, mechanism, values):
        self.scales.append(mechanism.scale)
        self.values.append(values)
        return values


@pytest.mark.parametrize("rounds", [1, 7])
def test_one_row_moves_the_histograms_by_what_their_rounds_pay_for(rounds):
    with_it, without = Kept(), Kept()
    release_histograms(crowded_rows(), 3.0, rounds, source=with_it)
    release_histograms(crowded_rows(999), 3.0, rounds, source=without)
    moved = np.sqrt(np.square((with_it.values[0] - without.values[0]) / with_it.scales[0]).sum())
    assert moved == pytest.approx(np.sqrt(rounds) / 3.0, rel=1e-12)


def test_without_noise_shares_are_those_of_the_rows():
    found = release_histograms(crowded_rows(), 1e-6, 1, source=Kept()).below
    assert set(found) == {0, 2}
    assert found[0] == pytest.approx(np.where(EDGES < 0.5 / 16, 0, 1), abs=1e-6)
    assert found[2] == pytest.approx([0, *((crowded_rows().columns[2] <= edge * 160).mean() for edge in EDGES[1:])], abs=1e-6)


@pytest.mark.parametrize("high", [True, False])
def test_cuts_reach_rows_that_crowd_in_a_thousandth_of_the_range(high):
    """A declared range of a long tail: without fine ends, no cut would fall among the crowded_rows."""
    schema = Schema((NumericFeature("x", 0, 1000),), ClassTarget("y", ("n", "p")), n_public=10_000)
    x = np.linspace(0, 1, 10_000)
    data = EncodedDataset(schema, (1000 - x if high else x,), np.zeros(10_000, dtype=np.uint8))
    cuts = 1000 * release_histograms(data, 20.0, 1, source=Simulation(2)).quantiles(0, np.array([0.25, 0.5, 0.75]))
    assert np.abs((1000 - cuts[::-1] if high else cuts) - [0.25, 0.5, 0.75]).max() < 0.1


def test_cuts_are_quantiles_of_what_was_released():
    masses = FeatureHistograms({0: np.where(EDGES > 0, 1.0, 0.0), 2: EDGES})
    drawing = Drawing(CROWDED, 0.5, masses, Simulation(4))
    of_x, of_w = (np.concatenate([drawing.parts([place], [4], grouped=False)[0].cuts for _ in range(100)]) for place in (0, 2))
    assert 0 < of_x.min() < 0.01 * 2**-8 < 0.05 * 2**-8 < of_x.max() <= 2.0**-12
    assert len(of_x) == len(of_w) == 300
    assert np.histogram(of_w, 4, (0, 160))[0].min() > 50
    assert set(of_w % 1) == {0.5}


ROWS = values_of(table(schema_of("mixed"), 50))


def drawn(cells: tuple[int, ...], seed: int) -> FollowingTrees:
    return FollowingTrees(Drawing(schema_of("mixed"), 0.5, None, Simulation(seed)), cells, Simulation(seed))


def asked(signal: float, count: int, seed: int = 3, cells: tuple[int, ...] = (4,)) -> list[list[int]]:
    """The features of `count` trees, where the first cell of feature 2 holds `signal`, and all sums noise of scale 1."""
    trees, rng, found = drawn(cells, seed), np.random.default_rng(seed), []
    for tree in range(count):
        trees.draw(tree)
        found.append(trees.asked)
        sums = rng.normal(size=trees.shape)
        if 2 in trees.asked:
            np.moveaxis(sums, trees.asked.index(2), 0)[0] += signal
        trees.learn(sums.reshape(-1, 1), 1.0)
    return found


def shares(trees: list[list[int]]) -> np.ndarray:
    """How often each feature was the first one, after their turns."""
    return np.bincount([first for first, *_ in trees[4:]], minlength=4) / (len(trees) - 4)


def test_every_feature_has_its_turn_first_and_the_trees_that_were_drawn_are_those_of_the_model():
    for seed in range(5):
        assert sorted(first for first, *_ in asked(0.0, 4, seed)) == [0, 1, 2, 3]
    trees = drawn((4, 2), 1)
    cells = []
    for tree in range(12):
        trees.draw(tree)
        cells.append(trees.cells_of(ROWS, tree))
        np.testing.assert_array_equal(trees.cells_of(ROWS, tree), cells[-1])  # asked again
        trees.learn(np.zeros((trees.n_cells[tree], 1)), 1.0)
    whole = trees.all()
    assert whole.n_cells.tolist() == trees.n_cells
    for tree in range(12):
        np.testing.assert_array_equal(whole.cells_of(ROWS, tree), cells[tree])


@pytest.mark.slow
def test_then_a_feature_with_much_to_learn_is_asked_most_and_the_others_now_and_then():
    counts = shares(asked(30.0, 804))
    assert 0.75 < counts[2] < 0.88  # three quarters, and a quarter of the last one
    assert counts[[0, 1, 3]].min() > 0.03


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


@pytest.mark.slow
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


def test_a_greedy_tree_is_complete_its_leaves_partition_the_rows_and_with_much_budget_it_finds_the_best_split():
    rng = np.random.default_rng(1)
    columns = (rng.uniform(0, 10, 50), rng.integers(0, 11, 50).astype(np.int32), rng.integers(0, 3, 50).astype(np.uint8))
    _, leaves = growth([X, WHOLE, COLOUR], columns, rng.uniform(-1, 1, 50), [1.0] * 4).tree()
    assert len(leaves) == 16
    assert sorted(np.concatenate(leaves).tolist()) == list(range(50))
    nested, empty = growth([X, WHOLE, COLOUR], [column[:0] for column in columns], [], [1.0] * 3).tree()
    assert [len(rows) for rows in empty] == [0] * 8
    assert not isinstance(nested, int)
    k = np.repeat(np.arange(11), 20).astype(np.int32)
    gradients = np.where(k <= 6, -1.0, 1.0)
    for seed in range(20):
        (feature, threshold, _), leaves = growth([X, WHOLE], [np.full(220, 5.0), k], gradients, [50.0], seed).tree()
        assert (feature, threshold) == (1, 6.5)
        assert [len(rows) for rows in leaves] == [140, 80]
