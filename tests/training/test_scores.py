"""Utilities: their values against fractions, and the sensitivity the guarantee stands on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpviz.errors import DpvizError
from dpviz.training.scores import (
    IMPURITY,
    MOST_ROWS,
    SCALE,
    Weighing,
    best_correct_rows,
    half_impurity,
    impurity_utilities,
    labelled_utilities,
    locate_labelled,
)
from tests.support.examples import examples
from tests.support.oracles import counts


@st.composite
def splits(draw, most_classes=5, most_candidates=6, largest=10**6):
    """(left counts of every candidate, counts of the node)."""
    n_classes = draw(st.integers(2, most_classes))
    n_candidates = draw(st.integers(1, most_candidates))
    scale = draw(st.sampled_from([1, 3, 50, largest]))
    left, right = (draw(arrays(np.int64, (n_candidates, n_classes), elements=st.integers(0, scale))) for _ in range(2))
    total = (left + right).max(axis=0)
    return left, total


@st.composite
def one_row_more(draw, **limits):
    """A node, and the same node with one row more: that row goes left under some candidates and right under the others."""
    left, total = draw(splits(**limits))
    label = draw(st.integers(0, len(total) - 1))
    goes_left = draw(arrays(np.bool_, len(left)))
    more_left, more_total = left.copy(), total.copy()
    more_left[goes_left, label] += 1
    more_total[label] += 1
    return (left, total), (more_left, more_total)


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=6))
def test_half_impurity_is_the_fraction_rounded_down(row_counts):
    assert half_impurity(np.array(row_counts)) == counts.half_impurity(row_counts, SCALE)


@given(splits())
def test_impurity_utilities_are_integers_of_both_children(split):
    left, total = split
    utilities = impurity_utilities(left, total)
    assert utilities.dtype == np.int64
    expected = [-counts.half_impurity(side, SCALE) - counts.half_impurity(total - side, SCALE) for side in left]
    assert utilities.tolist() == expected
    assert best_correct_rows(left, total).tolist() == [max(side) + max(total - side) for side in left]


@examples(400)
@given(one_row_more())
@pytest.mark.slow
def test_one_row_more_lowers_impurity_utilities_by_at_most_one_row_and_raises_none(pair):
    before, after = (impurity_utilities(*node) for node in pair)
    change = after - before
    assert change.max() <= 0
    assert change.min() >= -SCALE


def test_the_sensitivity_of_impurity_is_claimed_as_it_is_and_nearly_reached():
    assert IMPURITY.value == SCALE
    assert IMPURITY.monotone
    total = np.array([10**6, 0])
    nobody_left = np.zeros((1, 2), dtype=np.int64)
    change = impurity_utilities(nobody_left, total + np.array([0, 1])) - impurity_utilities(nobody_left, total)
    assert -SCALE <= change[0] < -0.99 * SCALE


def test_the_sensitivity_holds_on_every_small_node():
    # every node of up to 8 + 8 rows of two classes, a row of either class added
    grid = np.stack(np.meshgrid(np.arange(9), np.arange(9), indexing="ij"), axis=-1).reshape(-1, 2)
    for label in (0, 1):
        change = half_impurity(grid + np.eye(2, dtype=int)[label]) - half_impurity(grid)
        assert change.min() >= 0
        assert change.max() <= SCALE


@given(one_row_more(), st.integers(1, 4))
def test_one_row_more_raises_correct_rows_by_zero_or_one(pair, repeats):
    for before, after in (
        [labelled_utilities(*node, repeats) for node in pair],
        [best_correct_rows(*node) for node in pair],
    ):
        assert set((after - before).tolist()) <= {0, 1}
        assert before.dtype == np.int64


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
@pytest.mark.parametrize("repeats", [1, 3])
def test_an_index_of_the_labelled_utilities_is_read_back(n_classes, repeats, rng):
    n_candidates = 4
    left = rng.integers(0, 50, (n_candidates, n_classes))
    total = left.max(axis=0) + rng.integers(0, 50, n_classes)
    utilities = labelled_utilities(left, total, repeats)
    seen = []
    for index, utility in enumerate(utilities):
        candidate, (a, b) = locate_labelled(index, n_candidates, n_classes, repeats)
        seen.append((candidate, a, b))
        right_rows = total[a] if candidate is None else left[candidate, a] + (total - left[candidate])[b]
        assert utility == right_rows
    pairs = [(a, b) for a in range(n_classes) for b in range(n_classes) if a != b]
    assert seen[: n_candidates * len(pairs)] == [(c, a, b) for c in range(n_candidates) for a, b in pairs]
    assert seen[n_candidates * len(pairs) :] == [(None, k, k) for k in range(n_classes)] * repeats


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_scores_do_not_depend_on_the_type_that_holds_the_counts(dtype):
    left = np.array([[3, 0, 7], [100, 90, 80], [0, 0, 0]])
    total = np.array([120, 100, 90])
    # worked out once in fractions; the same on every platform
    golden = [-103563, -104580, -105042]
    exact = [-counts.half_impurity(side, SCALE) - counts.half_impurity(total - side, SCALE) for side in left]
    assert exact == golden
    assert impurity_utilities(left.astype(dtype), total.astype(dtype)).tolist() == golden


def test_the_most_rows_that_are_allowed_do_not_overflow():
    total = np.array([MOST_ROWS // 2, MOST_ROWS - MOST_ROWS // 2])
    left = np.array([[MOST_ROWS // 2, 0], [MOST_ROWS // 4, MOST_ROWS // 4], [0, 0]])
    expected = [-counts.half_impurity(side, SCALE) - counts.half_impurity(total - side, SCALE) for side in left]
    assert impurity_utilities(left, total).tolist() == expected
    thirds = np.full(3, MOST_ROWS // 3)
    assert half_impurity(thirds) == counts.half_impurity(thirds, SCALE)
    many = np.full(100, MOST_ROWS // 100)
    assert half_impurity(many) == counts.half_impurity(many, SCALE) > 0


def test_more_rows_are_refused_instead_of_overflowing():
    with pytest.raises(DpvizError, match="More than 3,000,000,000 rows cannot be scored exactly"):
        impurity_utilities(np.zeros((1, 2), dtype=np.int64), np.array([MOST_ROWS, 1]))


@given(
    st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), min_size=2, max_size=2),
    st.integers(0, 2),
    st.booleans(),
    st.tuples(*[st.floats(0.01, 50)] * 3),
)
def test_a_weighed_row_moves_weighed_utilities_by_at_most_their_sensitivity_and_never_up(counts, of_class, goes_left, weights):
    weighing = Weighing.of(weights)
    left, right = (np.array(side) for side in counts)
    more = np.eye(3, dtype=np.int64)[of_class]
    after = (left + more, right) if goes_left else (left, right + more)
    impurity = [
        impurity_utilities(weighing.counts(one)[None], weighing.counts(one + other))[0] for one, other in ((left, right), after)
    ]
    correct = [
        labelled_utilities(weighing.counts(one)[None], weighing.counts(one + other), 1) for one, other in ((left, right), after)
    ]
    assert 0 <= impurity[0] - impurity[1] <= weighing.impurity.value
    assert (correct[1] >= correct[0]).all()
    assert (correct[1] - correct[0]).max() == weighing.units[of_class] <= weighing.count.value


def test_units_are_whole_proportional_and_at_least_one():
    assert Weighing.of((1.0, 4.0)).units.tolist() == [25, 100]
    assert Weighing.of((1.0, 1e6)).units.tolist() == [1, 100]
    assert Weighing.of(None).units is None
