"""Trees that follow the released sums: turns first, then where something is left to learn."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.models.packed_forest import values_of
from dpviz.privacy.source import Simulation
from dpviz.training.boosting.following import FollowingTrees
from dpviz.training.boosting.trees import Drawing
from tests.support.tables import schema_of, table

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
        trees.learn(np.zeros((trees.n_cells[tree], 1)), 1.0)
    whole = trees.all()
    assert whole.n_cells.tolist() == trees.n_cells
    for tree in range(12):
        np.testing.assert_array_equal(whole.cells_of(ROWS, tree), cells[tree])
