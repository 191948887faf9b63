"""Random trees for boosting: shapes are what they are called, cells partition the rows, and no row is looked at."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from dpviz.models.packed_forest import LEAF, values_of
from dpviz.privacy.source import Simulation
from dpviz.table.candidates import multiscale_grid
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.boosting.trees import SHAPES, draw_boosting_trees
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
