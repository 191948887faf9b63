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
    CandidateGrid,
    ThresholdCells,
    bin_column,
    equal_width_grid,
    multiscale_fractions,
    multiscale_grid,
    partition_candidates,
    prefix_candidates,
    thresholds_candidates,
)
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.training.growing import rule_of
from tests.support.oracles import counts
from tests.support.tables import schema_of, table

TARGET = ClassTarget("y", ("n", "p"))


def grid_of(*features) -> CandidateGrid:
    return multiscale_grid(Schema(features, TARGET))


def thresholds_of(feature: NumericFeature) -> np.ndarray:
    return grid_of(feature).features[0].thresholds


def test_the_fractions_are_sixteenths_and_both_ends_halved_sixteen_times():
    fractions = multiscale_fractions()
    expected = {i / 16 for i in range(1, 16)}
    for k in range(1, 17):
        for near in (2.0**-k, 1.5 * 2.0**-k):
            expected |= {near, 1 - near}
    assert fractions.tolist() == sorted(expected)
    assert len(fractions) == 65
    assert np.array_equal(np.sort(1 - fractions), fractions)
    assert (fractions[0], fractions[-1]) == (2.0**-16, 1 - 2.0**-16)


def test_where_the_target_is_a_number_four_steps_lie_between_two_halvings():
    features = (NumericFeature("x", 0, 1),)
    (found,) = multiscale_grid(Schema(features, NumericTarget("y", 0, 1))).features
    fractions = multiscale_fractions(QUARTERS)
    assert np.array_equal(found.thresholds, fractions)
    assert set(multiscale_fractions()) < set(fractions)
    assert {1.25 / 64, 1.75 / 64, 1 - 1.25 / 64, 1.25 * 2.0**-15} <= set(fractions)
    assert np.diff(fractions).min() == np.diff(multiscale_fractions()).min() == 2.0**-17
    assert ThresholdCells.of(fractions) is not None


def test_a_number_gets_every_fraction_of_its_range():
    assert np.array_equal(thresholds_of(NumericFeature("x", 0, 1)), multiscale_fractions())
    assert np.array_equal(thresholds_of(NumericFeature("x", -8, 8)), -8 + 16 * multiscale_fractions())


@given(
    low=st.floats(-1e9, 1e9, allow_nan=False),
    width=st.floats(1e-9, 1e9, allow_nan=False),
    whole=st.booleans(),
)
def test_thresholds_increase_and_stay_in_the_range(low, width, whole):
    high = low + width
    if not low < high or (whole and math.ceil(low) > math.floor(high)):
        return
    cuts = thresholds_of(NumericFeature("x", low, high, whole=whole))
    assert (np.diff(cuts) > 0).all()
    assert low <= cuts[0]
    assert cuts[-1] <= high
    assert 1 <= len(cuts) <= 65


@given(low=st.integers(-5000, 5000), width=st.integers(1, 70000))
def test_whole_numbers_are_split_between_two_of_them_and_never_twice(low, width):
    cuts = thresholds_of(NumericFeature("x", low, low + width, whole=True))
    assert (cuts - np.floor(cuts) == 0.5).all()
    assert len(set(cuts)) == len(cuts)
    # every threshold has a whole number of the range on either side
    assert low < cuts[0]
    assert cuts[-1] < low + width


@pytest.mark.parametrize("width", range(1, 12))
def test_a_short_whole_range_gets_every_threshold_there_is(width):
    assert thresholds_of(NumericFeature("x", 3, 3 + width, whole=True)).tolist() == [3.5 + i for i in range(width)]


def test_a_range_with_a_single_whole_number_keeps_one_harmless_threshold():
    feature = NumericFeature("x", 0.5, 1.4, whole=True)
    cuts = thresholds_of(feature)
    assert cuts.tolist() == [0.5]  # the one whole number, 1, goes right


@pytest.mark.parametrize("c", range(1, 11))
def test_up_to_ten_categories_have_every_two_way_partition_once(c):
    candidates = partition_candidates(c)
    assert candidates.n_candidates == 2 ** (c - 1) - 1
    sides = set()
    for index in range(candidates.n_candidates):
        left = candidates.left_bins(index)
        assert 0 < left.sum() < c
        sides.add(frozenset([frozenset(np.flatnonzero(left)), frozenset(np.flatnonzero(~left))]))
    assert len(sides) == candidates.n_candidates


@pytest.mark.parametrize("c", [11, 12, 40])
def test_more_categories_are_split_one_against_the_rest_and_by_prefix_each_partition_once(c):
    candidates = partition_candidates(c)
    lefts = [frozenset(np.flatnonzero(candidates.left_bins(index)).tolist()) for index in range(candidates.n_candidates)]
    everyone = frozenset(range(c))
    assert {frozenset([side, everyone - side]) for side in lefts} == {
        frozenset([side, everyone - side])
        for side in [frozenset([i]) for i in range(c)] + [frozenset(range(end)) for end in range(1, c)]
    }
    assert len({frozenset([side, everyone - side]) for side in lefts}) == len(lefts) == c + (c - 3)


def test_prefixes_follow_the_declared_order():
    candidates = prefix_candidates(4)
    assert [np.flatnonzero(candidates.left_bins(i)).tolist() for i in range(3)] == [[0], [0, 1], [0, 1, 2]]
    assert prefix_candidates(1).n_candidates == 0


def test_equal_width_bins_divide_the_range():
    grid = equal_width_grid(Schema((NumericFeature("x", -1, 4), CategoricalFeature("c", ("a", "b", "c"))), TARGET), 5)
    np.testing.assert_allclose(grid.features[0].thresholds, [0, 1, 2, 3])
    assert grid.features[0].n_bins == 5
    assert grid.n_candidates == 4 + 2


def test_repeated_thresholds_count_once():
    candidates = thresholds_candidates([2.0, 1.0, 2.0])
    assert candidates.thresholds.tolist() == [1.0, 2.0]
    assert (candidates.n_bins, candidates.n_candidates) == (3, 2)


def test_candidates_are_numbered_through_past_features_without_any():
    features = (
        CategoricalFeature("one", ("a",)),
        CategoricalFeature("two", ("a", "b")),
        CategoricalFeature("still one", ("a",)),
        NumericFeature("x", 0, 2, whole=True),
        CategoricalFeature("last", ("a",)),
    )
    grid = grid_of(*features)
    assert [grid.locate(i) for i in range(grid.n_candidates)] == [(1, 0), (3, 0), (3, 1)]
    assert grid.n_bins == 1 + 2 + 1 + 3 + 1


@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_locate_and_rules_go_through_every_candidate_of_every_feature_in_order(kind):
    grid = multiscale_grid(schema_of(kind))
    expected = [(f, i) for f, feature in enumerate(grid.features) for i in range(feature.n_candidates)]
    assert [grid.locate(number) for number in range(grid.n_candidates)] == expected
    assert len(set(counts.rules_of(grid))) == grid.n_candidates


def test_a_grid_without_any_split_says_so():
    with pytest.raises(SchemaError, match=r"No feature can be split: every feature has a single category\. Declare at least one"):
        grid_of(CategoricalFeature("only", ("one",)))


@given(values=st.lists(st.floats(-3, 3, allow_nan=False), max_size=30), cuts=st.lists(st.floats(-2, 2), min_size=1, max_size=6))
def test_a_value_lies_in_the_bin_below_the_first_threshold_that_reaches_it(values, cuts):
    feature = thresholds_candidates(cuts)
    column = np.array([*values, *cuts], dtype=np.float64)
    assert bin_column(feature, column).tolist() == [counts.bin_of(feature, value) for value in column]


@given(
    values=st.lists(st.integers(-40, 40), min_size=1, max_size=200),
    cuts=st.lists(st.one_of(st.integers(-45, 45).map(float), st.floats(-45, 45)), min_size=1, max_size=9),
    dtype=st.sampled_from([np.int16, np.int32, np.float64]),
)
def test_whole_numbers_bin_alike_by_table_and_by_search(values, cuts, dtype):
    feature = thresholds_candidates(cuts)
    column = np.array(values, dtype=dtype)
    assert bin_column(feature, column).tolist() == [counts.bin_of(feature, value) for value in values]


def test_16_bit_whole_numbers_bin_right_across_the_whole_of_their_range():
    feature = thresholds_candidates([-19999.5, -0.5, 19999.5])
    column = np.arange(-20000, 20001, dtype=np.int16)  # the span of the values is more than 16 bits with a sign hold
    column = np.concatenate([column, column])
    expected = np.searchsorted(feature.thresholds, column.astype(np.float64))
    np.testing.assert_array_equal(bin_column(feature, column), expected)


@pytest.mark.parametrize("n", [1, FEW_ROWS])
def test_without_thresholds_every_value_lies_in_the_one_bin(n):
    assert bin_column(thresholds_candidates([]), np.arange(n, dtype=np.float64)).tolist() == [0] * n


@pytest.mark.parametrize(("n", "dtype"), [(255, np.uint8), (256, np.uint16)])
def test_bins_take_the_smallest_type_that_holds_them(n, dtype):
    binned = bin_column(thresholds_candidates(np.arange(n)), np.array([-1.0, n]))
    assert binned.dtype == dtype
    assert binned.tolist() == [0, n]


def test_categories_are_their_own_bins():
    codes = np.array([2, 0, 1], dtype=np.uint8)
    assert bin_column(prefix_candidates(3), codes) is codes


@pytest.mark.parametrize("make", [multiscale_grid, lambda schema: equal_width_grid(schema, 7)])
@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_the_bins_that_go_left_hold_the_values_the_rule_sends_left(make, kind):
    data = table(schema_of(kind), 60)
    grid = make(data.schema)
    bins = grid.bin(data)
    for number in range(grid.n_candidates):
        feature, index = grid.locate(number)
        rule = rule_of(grid, feature, index)
        expected = [counts.goes_left(rule, value) for value in data.columns[feature]]
        assert grid.features[feature].left_bins(index)[bins[feature]].tolist() == expected
        assert rule.goes_left(data.columns[feature]).tolist() == expected


def test_each_grid_has_bins_of_its_own():
    schema = Schema((NumericFeature("x", 0, 10),), TARGET)
    data = EncodedDataset(schema, (np.array([1.0, 6.0]),), np.zeros(2, dtype=np.uint8))
    two, ten = (equal_width_grid(data.schema, bins).bin(data)[0].tolist() for bins in (2, 10))
    assert (two, ten) == ([0, 1], [0, 5])
    moved = CandidateGrid(data.schema, (thresholds_candidates([7.0]),), "equal width 2")
    assert moved.bin(data)[0].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("low", "width", "has_cells"),
    [
        (0.0, 1.0, True),
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
    cuts = np.unique([-1.7e308, 1.7e308] if width == math.inf else low + width * multiscale_fractions())
    cells = ThresholdCells.of(cuts)
    assert (cells is not None) == has_cells
    if cells is not None:
        inside = generator(5).uniform(low, low + width, 3000)
        beyond = [end * far for end in (-1, 1) for far in (0.0, 5e-324, 1e10, 1.7e308, math.inf, math.nan)]
        values = np.concatenate([inside, cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf), beyond])
        np.testing.assert_array_equal(cells.bins(values), np.searchsorted(cuts, values))
