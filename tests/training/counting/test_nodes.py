"""Counts of a node against counting by hand, and siblings against their parent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.table.candidates import equal_width_grid, multiscale_grid
from dpviz.training.counting.arrays import counter_of
from dpviz.training.counting.nodes import CountedNode, left_counts
from tests.support.oracles import counts
from tests.support.tables import schema_of, table

GRIDS = {"multiscale": multiscale_grid, "equal width": lambda schema: equal_width_grid(schema, 10)}
any_grid = pytest.mark.parametrize("make", GRIDS.values(), ids=GRIDS)
any_table = pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])


def root_of(data, make=multiscale_grid) -> CountedNode:
    return counter_of(data).root(make(data.schema))


@any_grid
@any_table
@pytest.mark.parametrize("n_classes", [2, 7])
def test_a_histogram_counts_every_row_once_per_feature(make, kind, n_classes):
    data = table(schema_of(kind, n_classes), 50)
    root = root_of(data, make)
    np.testing.assert_array_equal(root.histogram, counts.histogram(root.grid, data, range(50)))
    assert root.histogram.sum() == 50 * data.n_features


@any_grid
@any_table
def test_left_counts_are_the_rows_the_rules_send_left(make, kind):
    data = table(schema_of(kind, 3), 40)
    root = root_of(data, make)
    rules = counts.rules_of(root.grid)
    np.testing.assert_array_equal(left_counts(root.grid, root.histogram), counts.left_counts(rules, data, range(40)))


def test_left_counts_keep_the_type_of_the_histogram():
    root = root_of(table(schema_of("mixed"), 20))
    grid = root.grid
    assert left_counts(grid, root.histogram).dtype == np.int64
    halves = root.histogram / 2
    assert left_counts(grid, halves).dtype == np.float64
    np.testing.assert_array_equal(left_counts(grid, halves) * 2, left_counts(grid, root.histogram))


@given(seed=st.integers(0, 10**6), n_rows=st.integers(0, 60), choice=st.integers(0, 10**6))
def test_siblings_partition_their_parent_and_subtraction_equals_counting(seed, n_rows, choice):
    data = table(schema_of("mixed", 3), n_rows, seed)
    node, rows = root_of(data), np.arange(n_rows)
    grid = node.grid
    for step in range(3):
        candidate = (choice * 31**step + step) % grid.n_candidates
        feature, index = grid.locate(candidate)
        rule = counts.rules_of(grid)[candidate]
        left, right = node.children(feature, grid.features[feature].left_bins(index))
        goes_left = np.array([counts.goes_left(rule, data.columns[feature][row]) for row in rows], dtype=bool)
        sides = (left, rows[goes_left]), (right, rows[~goes_left])
        for child, own in sides:
            assert child.level == step + 1
            np.testing.assert_array_equal(child.class_counts, counts.class_counts(data, own))
            np.testing.assert_array_equal(child.histogram, counts.histogram(grid, data, own))
            np.testing.assert_array_equal(child.class_counts, counts.class_counts(data, own))
        node, rows = sides[0] if (choice >> step) & 1 else sides[1]


def test_many_bins_and_classes_do_not_wrap_around():
    # 65 thresholds x 2 features in 16 bits; 1500 categories x 50 classes need 32
    from dpviz.table.dataset import EncodedDataset
    from dpviz.table.schema import CategoricalFeature, ClassTarget, Schema

    schema = Schema((CategoricalFeature("c", tuple(map(str, range(1500)))),), ClassTarget("y", tuple(map(str, range(50)))))
    codes = np.arange(1500, dtype=np.uint16)
    data = EncodedDataset(schema, (codes,), (codes % 50).astype(np.uint8))
    histogram = root_of(data).histogram
    assert histogram.shape == (1500, 50)
    assert (histogram[codes, codes % 50] == 1).all()
    assert histogram.sum() == 1500
