"""Honest leaves: every row is in one part, the ledger is a maximum, and remembered counts change nothing."""

from dataclasses import replace

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import Parallel
from dpviz.models.tree import Tree
from dpviz.privacy.coins import Coins
from dpviz.privacy.source import Simulation
from dpviz.table.candidates import multiscale_grid
from dpviz.training.histograms import root_rows, rows_left
from dpviz.training.node_cache import Budget, NodeCache
from tests.contract.tables import schema_of, table

DATA = table(schema_of("mixed", 3), 400)


def fit(data=DATA, *, epsilon=1.0, **more):
    return dpviz.fit("pf-tree", data, epsilon=epsilon, depth=2, max_depth=2, leaves="honest", **{"seed": 3, **more})


def test_without_noise_the_counts_are_those_of_the_rows_whose_coins_say_so():
    result = fit(epsilon=1e6)
    parts = Coins((0.1, 0.05)).flip(DATA.n_rows, source=Simulation(3))
    leaf_of = result.model.leaf_of_rows(DATA)
    for part, leaves in ((1, result.model.leaves), (2, result.test_report.table)):
        for number, leaf in enumerate(leaves):
            there = (parts == part) & (leaf_of == number)
            assert leaf.counts == tuple(np.bincount(DATA.target[there], minlength=3).tolist())
    assert 0 < sum(sum(leaf.counts) for leaf in result.model.leaves) < 80


def test_the_tree_does_not_look_at_rows_that_are_set_aside():
    parts = Coins((0.1, 0.05)).flip(DATA.n_rows, source=Simulation(3))
    target = DATA.target.copy()
    target[parts > 0] = (target[parts > 0] + 1) % 3
    other = type(DATA)(DATA.schema, DATA.columns, target)
    labels = [Tree(DATA.schema, fit(data).model.root).predict(DATA).tolist() for data in (DATA, other)]
    assert labels[0] == labels[1]


@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 2.0])
def test_the_ledger_is_the_largest_of_three_parts_to_the_last_bit(epsilon):
    result = fit(epsilon=epsilon)
    assert isinstance(result.ledger.event, Parallel)
    assert len(result.ledger.event.events) == 3
    assert result.ledger.guarantee.epsilon == epsilon
    assert [(aside.part, aside.share, aside.epsilon) for aside in result.plan.aside] == [
        ("leaf counts", 0.15, epsilon),  # 200 declared rows times epsilon are few
        ("test", 0.05, epsilon),
    ]


def test_remembered_counts_give_the_same_model():
    assert fit(DATA.with_cached_counts(), seed=8).model == fit(seed=8).model


def test_counts_of_what_is_left_are_those_of_the_rows_that_are_left():
    cached, kept = DATA.with_cached_counts(), np.arange(DATA.n_rows) % 3 > 0
    grid = multiscale_grid(DATA.schema)
    roots = [rows_left(root_rows(data, grid), kept) for data in (DATA, cached)]
    bins = np.arange(grid.features[0].n_bins) < 5
    for plain, remembered in zip((roots[0], *roots[0].children(0, bins)), (roots[1], *roots[1].children(0, bins)), strict=True):
        assert plain.n_rows == remembered.n_rows
        np.testing.assert_array_equal(plain.histogram, remembered.histogram)
        np.testing.assert_array_equal(plain.class_counts, remembered.class_counts)


def test_what_the_same_coins_leave_is_counted_once_as_long_as_there_is_room():
    grid, kept = multiscale_grid(DATA.schema), np.arange(DATA.n_rows) % 3 > 0
    bins = np.arange(grid.features[0].n_bins) < 5
    root = root_rows(DATA.with_cached_counts(), grid)
    one, other = rows_left(root, kept), rows_left(root, ~kept)
    assert rows_left(root, kept) is one is not other
    assert rows_left(root, kept).children(0, bins)[0] is one.children(0, bins)[0]
    assert one.children(0, bins)[0].n_rows + other.children(0, bins)[0].n_rows == root.children(0, bins)[0].n_rows
    full = replace(root, cache=NodeCache(Budget(0)), is_held=False)
    assert rows_left(full, kept) is not rows_left(full, kept)
    np.testing.assert_array_equal(rows_left(full, kept).children(0, bins)[1].histogram, one.children(0, bins)[1].histogram)


def test_labels_alone_set_no_row_aside():
    result = dpviz.fit("pf-tree", DATA, epsilon=1.0, depth=2, max_depth=2, leaves="labels", seed=3)
    assert result.plan.aside == ()
    assert result.test_report is None
    assert all(leaf.counts is None and leaf.shares is None for leaf in result.model.leaves)


def test_what_is_known_of_labels_uses_every_row_that_did_not_choose_them():
    result = fit(epsilon=1e6)
    parts = Coins((0.1, 0.05)).flip(DATA.n_rows, source=Simulation(3))
    right = (result.model.predict(DATA) == DATA.target)[parts > 0]
    assert result.test_report.accuracy.value == pytest.approx(right.mean())


def test_a_release_has_a_test_result_and_says_what_it_cost():
    result = fit(seed=None)
    assert result.released
    assert result.ledger.guarantee.epsilon == 1.0
    assert 0 <= result.test_report.accuracy.low <= result.test_report.accuracy.value <= result.test_report.accuracy.high <= 1
