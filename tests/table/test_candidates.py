"""Candidate grids: what they offer, that they offer it once, and that binning follows `<=` to the last bit."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import SchemaError
from dpviz.randomness import generator
from dpviz.table.candidates import (
    FEW_ROWS,
    QUARTERS,
    ThresholdCells,
    bin_column,
    equal_width_grid,
    key_of,
    multiscale_fractions,
    multiscale_grid,
    partition_candidates,
    prefix_candidates,
    thresholds_candidates,
)
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.growing import rule_of
from tests.support.oracles import counts
from tests.support.tables import schema_of, table

TARGET = ClassTarget("y", ("n", "p"))


def thresholds_of(feature: NumericFeature) -> np.ndarray:
    return multiscale_grid(Schema((feature,), TARGET)).features[0].thresholds


def test_numbers_are_split_at_sixteenths_and_towards_both_ends_also_in_quarters_for_a_numeric_target():
    expected = {i / 16 for i in range(1, 16)}
    expected |= {end for k in range(1, 17) for near in (2.0**-k, 1.5 * 2.0**-k) for end in (near, 1 - near)}
    fractions, quarters = multiscale_fractions(), multiscale_fractions(QUARTERS)
    assert fractions.tolist() == sorted(expected)
    assert len(fractions) == 65
    assert np.array_equal(thresholds_of(NumericFeature("x", -8, 8)), -8 + 16 * fractions)
    (found,) = multiscale_grid(Schema((NumericFeature("x", 0, 1),), NumericTarget("y", 0, 1))).features
    assert np.array_equal(found.thresholds, quarters)
    assert expected | {1.25 / 64, 1.75 / 64, 1 - 1.25 / 64, 1.25 * 2.0**-15} <= set(quarters)
    assert np.diff(quarters).min() == np.diff(fractions).min() == 2.0**-17


@given(low=st.floats(-1e9, 1e9), width=st.floats(2, 1e9), narrow=st.floats(1e-9, 1e9), whole=st.booleans())
def test_thresholds_increase_inside_the_range_and_lie_between_two_whole_numbers(low, width, narrow, whole):
    high = low + (width if whole else max(narrow, math.ulp(low) * 4))
    cuts = thresholds_of(NumericFeature("x", low, high, whole=whole))
    assert 1 <= len(cuts) <= 65
    assert (np.diff(cuts) > 0).all()
    assert low <= cuts[0]
    assert cuts[-1] <= high
    if whole:
        assert (cuts - np.floor(cuts) == 0.5).all()
        assert math.ceil(low) < cuts[0]
        assert cuts[-1] < math.floor(high)


def test_a_short_whole_range_gets_every_threshold_there_is():
    for width in range(1, 12):
        assert thresholds_of(NumericFeature("x", 3, 3 + width, whole=True)).tolist() == [3.5 + i for i in range(width)]
    assert thresholds_of(NumericFeature("x", 0.5, 1.4, whole=True)).tolist() == [0.5], "the one whole number, 1, goes right"


@pytest.mark.parametrize("c", [*range(1, 11), 11, 12, 40])
def test_categories_have_every_partition_once_or_one_against_the_rest_and_prefixes(c):
    candidates, everyone = partition_candidates(c), frozenset(range(c))
    lefts = [frozenset(np.flatnonzero(candidates.left_bins(index)).tolist()) for index in range(candidates.n_candidates)]
    sides = {frozenset([side, everyone - side]) for side in lefts}
    assert all(0 < len(side) < c for side in lefts)
    assert len(sides) == len(lefts) == (2 ** (c - 1) - 1 if c <= 10 else c + (c - 3))
    if c > 10:
        offered = [frozenset([i]) for i in range(c)] + [frozenset(range(end)) for end in range(1, c)]
        assert sides == {frozenset([side, everyone - side]) for side in offered}


def test_prefixes_equal_widths_and_repeated_thresholds():
    candidates = prefix_candidates(4)
    assert [np.flatnonzero(candidates.left_bins(i)).tolist() for i in range(3)] == [[0], [0, 1], [0, 1, 2]]
    assert prefix_candidates(1).n_candidates == 0
    grid = equal_width_grid(Schema((NumericFeature("x", -1, 4), CategoricalFeature("c", ("a", "b", "c"))), TARGET), 5)
    np.testing.assert_allclose(grid.features[0].thresholds, [0, 1, 2, 3])
    assert (grid.features[0].n_bins, grid.n_candidates) == (5, 4 + 2)
    assert thresholds_candidates([2.0, 1.0, 2.0]).thresholds.tolist() == [1.0, 2.0]


def test_candidates_have_one_key_where_their_bins_are_the_same_and_only_there():
    """Counts are kept by it, and records hold the bins of the grid that has it."""
    narrow, wide = (multiscale_grid(Schema((NumericFeature("x", 0, high),), TARGET)) for high in (1, 2))
    assert narrow.n_bins == wide.n_bins
    assert narrow.key != wide.key
    assert key_of(narrow.features) != key_of(wide.features)
    assert key_of(narrow.features) == key_of([thresholds_candidates(multiscale_fractions())])


def test_candidates_are_numbered_through_past_features_without_any():
    features = (
        CategoricalFeature("one", ("a",)),
        CategoricalFeature("two", ("a", "b")),
        CategoricalFeature("still one", ("a",)),
        NumericFeature("x", 0, 2, whole=True),
        CategoricalFeature("last", ("a",)),
    )
    grid = multiscale_grid(Schema(features, TARGET))
    assert [grid.locate(i) for i in range(grid.n_candidates)] == [(1, 0), (3, 0), (3, 1)]
    assert grid.n_bins == 1 + 2 + 1 + 3 + 1
    with pytest.raises(SchemaError, match="No feature can be split"):
        multiscale_grid(Schema(features[:1], TARGET))


@given(
    values=st.lists(st.floats(-3, 3) | st.integers(-40, 40).map(float), max_size=60),
    cuts=st.lists(st.floats(-2, 2) | st.integers(-45, 45).map(float), min_size=1, max_size=9),
    dtype=st.sampled_from([np.int16, np.int32, np.float64]),
)
def test_a_value_lies_in_the_bin_below_the_first_threshold_that_reaches_it(values, cuts, dtype):
    feature = thresholds_candidates(cuts)
    column = np.array([*values, *cuts], dtype=dtype)
    assert bin_column(feature, column).tolist() == [counts.bin_of(feature, value) for value in column.tolist()]


def test_bins_are_right_at_the_edges_of_types():
    feature = thresholds_candidates([-19999.5, -0.5, 19999.5])
    column = np.tile(np.arange(-20000, 20001, dtype=np.int16), 2)  # the span of the values is more than 16 bits with a sign hold
    np.testing.assert_array_equal(bin_column(feature, column), np.searchsorted(feature.thresholds, column.astype(np.float64)))
    for n in (1, FEW_ROWS):
        assert not bin_column(thresholds_candidates([]), np.arange(n, dtype=np.float64)).any()
    for n, dtype in ((255, np.uint8), (256, np.uint16)):
        binned = bin_column(thresholds_candidates(np.arange(n)), np.array([-1.0, n]))
        assert (binned.dtype, binned.tolist()) == (dtype, [0, n])
    codes = np.array([2, 0, 1], dtype=np.uint8)
    assert bin_column(prefix_candidates(3), codes) is codes


@pytest.mark.parametrize("make", [multiscale_grid, lambda schema: equal_width_grid(schema, 7)])
@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_candidates_are_numbered_in_order_and_send_left_what_their_rule_says(make, kind):
    data = table(schema_of(kind), 60)
    grid = make(data.schema)
    bins = grid.bin(data)
    places = [(f, i) for f, feature in enumerate(grid.features) for i in range(feature.n_candidates)]
    assert [grid.locate(number) for number in range(grid.n_candidates)] == places
    assert len(set(counts.rules_of(grid))) == grid.n_candidates
    for feature, index in places:
        rule = rule_of(grid, feature, index)
        expected = [counts.goes_left(rule, value) for value in data.columns[feature]]
        assert grid.features[feature].left_bins(index)[bins[feature]].tolist() == expected
        assert rule.goes_left(data.columns[feature]).tolist() == expected


@pytest.mark.parametrize(
    ("low", "width", "has_cells"),
    [
        (-4.0, 8.0, True),
        (1e-300, 1e-300, True),
        (-1e200, 1.9e200, True),
        (1e9, 1.0, True),
        (-1e9, 1.0, True),
        (1e9, 1e-3, False),
        (-1e300, 1.9e300, False),
        (0.0, 5e-324, False),
        (-1.7e308, math.inf, False),
    ],
)
def test_bins_by_cells_are_bins_by_search(low, width, has_cells):
    for scales in ((1.0, 1.5), QUARTERS):
        cuts = np.unique([-1.7e308, 1.7e308] if width == math.inf else low + width * multiscale_fractions(scales))
        cells = ThresholdCells.of(cuts)
        assert (cells is not None) == has_cells
        if cells is not None:
            inside = generator(5).uniform(low, low + width, 3000)
            beyond = [end * far for end in (-1, 1) for far in (0.0, 5e-324, 1e10, 1.7e308, math.inf, math.nan)]
            values = np.concatenate([inside, cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf), beyond])
            np.testing.assert_array_equal(cells.bins(values), np.searchsorted(cuts, values))
