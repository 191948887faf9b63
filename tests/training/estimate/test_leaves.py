"""Honest leaves: every row is in one part, the ledger is a maximum, and remembered counts change nothing."""

import numpy as np
import pytest

import dpviz
from dpviz.accounting.events import RandomPartition
from dpviz.privacy.random_assignment import RandomAssignment
from dpviz.privacy.source import Simulation
from dpviz.table.candidates import multiscale_grid
from dpviz.training.counted_rows import counter_of
from tests.support.tables import schema_of, table

DATA = table(schema_of("mixed", 3), 400)


def fit(data=DATA, *, epsilon=1.0, **more):
    return dpviz.fit("pf-tree", data, epsilon=epsilon, depth=2, max_depth=2, **{"seed": 3, "leaves": "honest", **more})


def test_without_noise_the_counts_are_those_of_the_rows_assigned_to_them():
    result = fit(epsilon=1e6)
    parts = RandomAssignment((0.1, 0.05)).assign(DATA.n_rows, source=Simulation(3))
    leaf_of = result.model.leaf_of_rows(DATA)
    for part, leaves in ((1, result.model.leaves), (2, result.test_report.table)):
        for number, leaf in enumerate(leaves):
            there = (parts == part) & (leaf_of == number)
            assert leaf.counts == tuple(np.bincount(DATA.target[there], minlength=3).tolist())
    assert 0 < sum(sum(leaf.counts) for leaf in result.model.leaves) < 80


def test_the_tree_does_not_look_at_rows_that_are_set_aside():
    """More than half of them are, and without noise a tree that looked at their classes would be another one."""
    parts = RandomAssignment((0.1, 0.5)).assign(DATA.n_rows, source=Simulation(3))
    target = DATA.target.copy()
    target[parts > 0] = (target[parts > 0] + 1) % 3
    other = type(DATA)(DATA.schema, DATA.columns, target)

    def places(**given):
        models = [fit(data, epsilon=1e6, **given).model for data in (DATA, other)]
        return [(model.leaf_of_rows(DATA).tolist(), model.predict(DATA).tolist()) for model in models]

    one, another = places(test_share=0.5)
    assert one == another
    one, another = places(leaves="labels", test_share=None)
    assert one != another


@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 2.0])
def test_the_ledger_is_the_largest_of_three_parts_to_the_last_bit(epsilon):
    result = fit(epsilon=epsilon)
    assert isinstance(result.ledger.event, RandomPartition)
    assert result.ledger.event.probabilities == (1 - (0.15 + 0.05), 0.15, 0.05)
    assert len(result.ledger.event.events) == 3
    assert result.ledger.guarantee.epsilon == epsilon
    assert [(held_out.part, held_out.share, held_out.epsilon) for held_out in result.plan.held_out] == [
        ("leaf counts", 0.15, epsilon),  # 200 declared rows times epsilon are few
        ("test", 0.05, epsilon),
    ]


def test_counts_of_what_is_left_are_those_of_the_rows_that_are_left():
    cached, kept = DATA.with_cached_counts(), np.arange(DATA.n_rows) % 3 > 0
    grid = multiscale_grid(DATA.schema)
    roots = [counter_of(data).root(grid).without((~kept).astype(np.uint8)) for data in (DATA, cached)]
    bins = np.arange(grid.features[0].n_bins) < 5
    for plain, remembered in zip((roots[0], *roots[0].children(0, bins)), (roots[1], *roots[1].children(0, bins)), strict=True):
        assert plain.n_rows == remembered.n_rows
        np.testing.assert_array_equal(plain.histogram, remembered.histogram)
        np.testing.assert_array_equal(plain.class_counts, remembered.class_counts)


def test_what_is_known_of_labels_uses_every_row_that_did_not_choose_them():
    result = fit(epsilon=1e6)
    parts = RandomAssignment((0.1, 0.05)).assign(DATA.n_rows, source=Simulation(3))
    right = (result.model.predict(DATA) == DATA.target)[parts > 0]
    assert result.test_report.accuracy.value == pytest.approx(right.mean())


def test_a_release_has_a_test_result_and_says_what_it_cost():
    result = fit(seed=None, accept_rows=True)
    assert result.released
    assert result.ledger.guarantee.epsilon == 1.0
    assert 0 <= result.test_report.accuracy.low <= result.test_report.accuracy.value <= result.test_report.accuracy.high <= 1
