"""Utilities: their values against fractions, and the sensitivity the guarantee stands on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpviz.errors import DpvizError
from dpviz.training.scores import (
    IMPURITY,
    MAX_ROWS,
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

WEIGHINGS = st.none() | st.lists(st.floats(0.01, 50), min_size=5, max_size=5).map(tuple)


@st.composite
def splits(draw, most_candidates=6, largest=10**6):
    """(left counts of every candidate, counts of the node)."""
    n_classes, n_candidates = draw(st.integers(2, 5)), draw(st.integers(1, most_candidates))
    scale = draw(st.sampled_from([1, 3, 50, largest]))
    left, right = (draw(arrays(np.int64, (n_candidates, n_classes), elements=st.integers(0, scale))) for _ in range(2))
    return left, (left + right).max(axis=0)


@st.composite
def one_row_more(draw):
    """A node, the same with one row more, its class: the row goes left under some candidates and right under the others."""
    left, total = draw(splits())
    label = draw(st.integers(0, len(total) - 1))
    goes_left = draw(arrays(np.bool_, len(left)))
    more_left, more_total = left.copy(), total.copy()
    more_left[goes_left, label] += 1
    more_total[label] += 1
    return (left, total), (more_left, more_total), label


def by_fractions(left, total) -> list[int]:
    return [-counts.half_impurity(side, SCALE) - counts.half_impurity(total - side, SCALE) for side in left]


@given(splits())
def test_utilities_are_whole_and_those_of_both_children_in_fractions(split):
    left, total = split
    assert impurity_utilities(left, total).dtype == np.int64
    assert impurity_utilities(left, total).tolist() == by_fractions(left, total)
    assert best_correct_rows(left, total).tolist() == [max(side) + max(total - side) for side in left]


@examples(400)
@given(one_row_more(), st.integers(1, 4), WEIGHINGS)
@pytest.mark.slow
def test_one_row_more_moves_utilities_by_at_most_their_sensitivity_in_one_direction(pair, repeats, weights):
    """Impurity falls, correct rows rise, weighed or not."""
    *nodes, label = pair
    weighing = Weighing.of(None if weights is None else weights[: len(nodes[0][1])])
    units = 1 if weights is None else int(weighing.units[label])
    before, after = ([weighing.counts(part) for part in node] for node in nodes)
    fallen = impurity_utilities(*before) - impurity_utilities(*after)
    assert 0 <= fallen.min() <= fallen.max() <= weighing.impurity.value
    risen = labelled_utilities(*after, repeats) - labelled_utilities(*before, repeats)
    assert set(risen.tolist()) <= {0, units}
    assert units <= weighing.count.value
    if weights is None:
        assert weighing.impurity == IMPURITY
        assert set((best_correct_rows(*after) - best_correct_rows(*before)).tolist()) <= {0, 1}


def test_the_sensitivity_of_impurity_holds_on_every_small_node_and_is_nearly_reached():
    assert (IMPURITY.value, IMPURITY.monotone) == (SCALE, True)
    grid = np.stack(np.meshgrid(np.arange(9), np.arange(9), indexing="ij"), axis=-1).reshape(-1, 2)
    for label in (0, 1):  # a row of either class is added to up to 8 + 8 rows
        change = half_impurity(grid + np.eye(2, dtype=int)[label]) - half_impurity(grid)
        assert 0 <= change.min() <= change.max() <= SCALE
    nobody, total = np.zeros((1, 2), dtype=np.int64), np.array([10**6, 0])
    (change,) = impurity_utilities(nobody, total + np.array([0, 1])) - impurity_utilities(nobody, total)
    assert -SCALE <= change < -0.99 * SCALE


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("repeats", [1, 3])
def test_an_index_of_the_labelled_utilities_is_read_back(n_classes, repeats, rng):
    left = rng.integers(0, 50, (4, n_classes))
    total = left.max(axis=0) + rng.integers(0, 50, n_classes)
    seen = []
    for index, utility in enumerate(labelled_utilities(left, total, repeats)):
        candidate, (a, b) = locate_labelled(index, 4, n_classes, repeats)
        seen.append((candidate, a, b))
        assert utility == (total[a] if candidate is None else left[candidate, a] + (total - left[candidate])[b])
    pairs = [(a, b) for a in range(n_classes) for b in range(n_classes) if a != b]
    assert seen[: 4 * len(pairs)] == [(c, a, b) for c in range(4) for a, b in pairs]
    assert seen[4 * len(pairs) :] == [(None, k, k) for k in range(n_classes)] * repeats


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_scores_do_not_depend_on_the_type_that_holds_the_counts(dtype):
    left, total = np.array([[3, 0, 7], [100, 90, 80], [0, 0, 0]]), np.array([120, 100, 90])
    golden = [-103563, -104580, -105042]  # worked out once; the same on every platform
    assert by_fractions(left, total) == golden
    assert impurity_utilities(left.astype(dtype), total.astype(dtype)).tolist() == golden


def test_the_most_rows_that_are_allowed_do_not_overflow_and_units_are_whole():
    half, quarter = MAX_ROWS // 2, MAX_ROWS // 4
    total, left = np.array([half, MAX_ROWS - half]), np.array([[half, 0], [quarter, quarter], [0, 0]])
    assert impurity_utilities(left, total).tolist() == by_fractions(left, total)
    for parts in (3, 100):
        node = np.full(parts, MAX_ROWS // parts)
        assert half_impurity(node) == counts.half_impurity(node, SCALE) > 0
    with pytest.raises(DpvizError, match=r"At most 3,000,000,000 rows can be scored exactly; with class weights.* 30,000,000"):
        impurity_utilities(np.zeros((1, 2), dtype=np.int64), np.array([MAX_ROWS, 1]))
    assert Weighing.of((1.0, 4.0)).units.tolist() == [25, 100]
    assert Weighing.of((1.0, 1e6)).units.tolist() == [1, 100]
    assert Weighing.of(None).units is None


@pytest.mark.parametrize("n_rows", [99_999, 200_003, 100_000_007, 2_999_999_999])
def test_a_quotient_just_below_a_whole_number_is_rounded_down(n_rows):
    """Of so many rows 1024 times half the impurity is 1/n below a whole number, which a quotient in float64 may reach."""
    first = pow(32, -1, n_rows)
    for node in ([first, n_rows - first], [first, 0, n_rows - first]):
        expected = counts.half_impurity(np.array(node), SCALE)
        assert SCALE * first * (n_rows - first) == (expected + 1) * n_rows - 1
        assert half_impurity(np.array(node)) == expected
