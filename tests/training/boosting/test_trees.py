"""Trees drawn for boosting: shapes, cells that partition the rows, cuts by released histograms and sums, and no row looked at."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from dpviz.models.packed_forest import LEAF, values_of
from dpviz.privacy.source import Simulation
from dpviz.table.candidates import multiscale_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.boosting.following import FollowingTrees
from dpviz.training.boosting.histograms import EDGES, FeatureHistograms, release_histograms
from dpviz.training.boosting.trees import SHAPES, Drawing, draw_boosting_trees
from tests.support.tables import schema_of, table


def draw(shape, count=40, depth=3, multiscale=0.5, schema=None, seed=5):
    return draw_boosting_trees(schema or schema_of("mixed"), shape, count, depth, multiscale, source=Simulation(seed))


def features_of(trees, tree):
    splits = trees.splits
    return {int(f) for f in splits.feature[splits.tree == tree] if f != LEAF}


def test_one_feature_at_a_time_all_in_turn():
    trees = draw("one feature")
    asked = [features_of(trees, tree) for tree in range(40)]
    assert {len(features) for features in asked} <= {0, 1}
    for cycle in range(10):
        assert set().union(*asked[4 * cycle : 4 * cycle + 4]) == {0, 1, 2, 3}
    assert len({tuple(map(tuple, asked[4 * cycle : 4 * cycle + 4])) for cycle in range(10)}) > 1


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_every_row_falls_into_one_cell_of_every_tree(shape, kind, depth):
    schema = schema_of(kind)
    trees, rows = draw(shape, 12, depth, schema=schema), values_of(table(schema, 400))
    for tree in range(12):
        cells = trees.cells_of(rows, tree)
        assert cells.min() >= 0
        assert cells.max() < trees.n_cells[tree]
        of_leaves = trees.cell[trees.leaves_of(tree)]
        assert set(of_leaves) == set(range(trees.n_cells[tree]))
    assert trees.splits.n_trees == 12


def test_categories_have_a_cell_each_alone_and_random_groups_in_pairs():
    schema = schema_of("categories")
    assert set(draw("one feature", 8, 1, schema=schema).n_cells) == {4, 12}
    pairs = draw("two features", 30, 2, schema=schema)
    assert set(pairs.n_cells) == {4}
    towns = np.arange(12)
    rows = np.column_stack([np.zeros(12), towns])
    groupings = {tuple(pairs.cells_of(rows, tree)) for tree in range(30)}
    assert len(groupings) > 5


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


def test_random_trees_are_complete_and_set_one_category_apart():
    schema = Schema((CategoricalFeature("c", ("a", "b", "c", "d")),), ClassTarget("y", ("n", "p")))
    trees = draw_boosting_trees(schema, "random", 2000, 1, 0.0, source=Simulation(3))
    assert set(trees.n_cells.tolist()) == {2}
    cells = np.array([trees.cells_of(np.arange(4.0)[:, None], tree) for tree in range(2000)])
    assert (cells == 0).sum(axis=1).tolist() == [1] * 2000
    assert (np.abs((cells == 0).sum(axis=0) - 500) < 4.5 * np.sqrt(2000 * 0.25 * 0.75)).all()
    assert set(draw("random", 20, 4).n_cells.tolist()) == {16}


def test_random_cuts_are_uniform_in_the_declared_range_at_every_level():
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
    of_x, of_w = (np.concatenate([drawing.part(place, 4, grouped=False).cuts for _ in range(100)]) for place in (0, 2))
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
        trees.cells_of(ROWS, tree)
        found.append(trees.asked)
        sums = rng.normal(size=trees.shape)
        if 2 in trees.asked:
            np.moveaxis(sums, trees.asked.index(2), 0)[0] += signal
        trees.learn(sums.reshape(-1, 1), 1.0)
    return found


def shares(trees: list[list[int]]) -> np.ndarray:
    """How often each feature was the first one, after their turns."""
    return np.bincount([first for first, *_ in trees[4:]], minlength=4) / (len(trees) - 4)


def test_every_feature_has_its_turn_first():
    for seed in range(5):
        assert sorted(first for first, *_ in asked(0.0, 4, seed)) == [0, 1, 2, 3]


@pytest.mark.slow
def test_then_a_feature_with_much_to_learn_is_asked_most_and_the_others_now_and_then():
    counts = shares(asked(30.0, 804))
    assert 0.75 < counts[2] < 0.88  # three quarters, and a quarter of the last one
    assert counts[[0, 1, 3]].min() > 0.03


def test_the_trees_that_were_drawn_are_those_of_the_model():
    trees = drawn((4, 2), 1)
    cells = []
    for tree in range(12):
        cells.append(trees.cells_of(ROWS, tree))
        np.testing.assert_array_equal(trees.cells_of(ROWS, tree), cells[-1])  # asked again
        trees.learn(np.zeros((trees.n_cells[tree], 1)), 1.0)
    whole = trees.all()
    assert whole.n_cells.tolist() == trees.n_cells
    for tree in range(12):
        np.testing.assert_array_equal(whole.cells_of(ROWS, tree), cells[tree])
