"""Counts of pairs of bins and of pairs of candidates, against counting by hand."""

import numpy as np
import pytest

from dpviz.table.candidates import multiscale_grid
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.counting.arrays import counter_of
from dpviz.training.two_levels import fit_into_memory, pair_counts
from tests.support.oracles import counts
from tests.support.tables import schema_of, table


@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
@pytest.mark.parametrize("n_classes", [2, 7])
def test_pairs_of_bins_are_counted_row_by_row(kind, n_classes):
    data = table(schema_of(kind, n_classes), 40)
    root = counter_of(data).root(multiscale_grid(data.schema))
    expected = counts.pairs(root.grid, data, range(40))
    np.testing.assert_array_equal(root.pairs, expected)
    np.testing.assert_array_equal(root.pairs, root.pairs.swapaxes(0, 1))
    feature, index = root.grid.locate(root.grid.n_candidates // 2)
    left, right = root.children(feature, root.grid.features[feature].left_bins(index))
    np.testing.assert_array_equal(left.pairs + right.pairs, root.pairs)


def test_rows_that_are_held_out_are_in_no_pair():
    data = table(schema_of("mixed", 2), 40).with_cached_counts()
    root = counter_of(data).root(multiscale_grid(data.schema))
    kept = np.arange(40) % 3 > 0
    left = root.of_part_0(np.where(kept, 0, 2).astype(np.uint8))
    np.testing.assert_array_equal(left.pairs, counts.pairs(root.grid, data, np.flatnonzero(kept)))


@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_pairs_of_candidates_are_the_rows_that_both_rules_send_left(kind):
    data = table(schema_of(kind, 3), 40)
    root = counter_of(data).root(multiscale_grid(data.schema))
    rules, found = counts.rules_of(root.grid), pair_counts(root)
    assert found.shape == (3, len(rules), len(rules))
    for first in (0, len(rules) // 3, len(rules) - 1):
        rows = [row for row in range(40) if counts.goes_left(rules[first], data.columns[rules[first].feature][row])]
        np.testing.assert_array_equal(found[:, first].T, counts.left_counts(rules, data, rows))


def test_the_schema_and_the_depth_say_whether_pairs_are_counted():
    numbers = [NumericFeature(f"n{place}", 0, 1) for place in range(60)]
    target = ClassTarget("y", ("a", "b"))
    few = multiscale_grid(Schema(tuple(numbers[:14]), target))
    assert fit_into_memory(few, 2, 6)
    assert not fit_into_memory(few, 2, 8)  # 64 nodes at once
    assert not fit_into_memory(multiscale_grid(Schema(tuple(numbers), target)), 2, 4)
    switches = [CategoricalFeature(f"c{place}", ("no", "yes")) for place in range(100)]
    assert fit_into_memory(multiscale_grid(Schema(tuple(switches[:40]), target)), 2, 4)
    assert not fit_into_memory(multiscale_grid(Schema(tuple(switches), target)), 2, 4)
    wide = tuple(CategoricalFeature(f"c{place}", tuple("abcdefghij")) for place in range(6))
    assert not fit_into_memory(multiscale_grid(Schema(wide, target)), 2, 4)
