"""PrivaTree's noisy histograms: what they cost, how categories are ordered, what Gini is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.errors import NotReleasable
from dpviz.table.candidates import multiscale_grid
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.nodes import left_counts
from dpviz.training.noisy_histograms import weighted_gini
from tests.support.oracles import counts
from tests.support.recording import Recording
from tests.support.tables import schema_of, table


@given(st.lists(st.tuples(*[st.integers(0, 40)] * 4), min_size=1, max_size=8))
def test_weighted_gini_is_the_fraction(rows):
    left = np.array([row[:2] for row in rows])
    right = np.array([row[2:] for row in rows])
    expected = [float(counts.weighted_gini(*sides)) for sides in zip(left, right, strict=True)]
    np.testing.assert_allclose(weighted_gini(left, left + right), expected, atol=1e-12)


def test_left_counts_of_noisy_numbers_are_sums_of_bins(rng):
    grid = multiscale_grid(schema_of("mixed"))
    noisy = rng.normal(size=(grid.n_bins, 2))
    left = left_counts(grid, noisy)
    for number in range(0, grid.n_candidates, 7):
        feature, index = grid.locate(number)
        bins = grid.offsets[feature] + np.flatnonzero(grid.features[feature].left_bins(index))
        np.testing.assert_allclose(left[number], noisy[bins].sum(axis=0), atol=1e-9)


def fitted(schema, target, codes, **asked):
    import dpviz

    data = EncodedDataset(schema, (codes.astype(np.uint8),), target.astype(np.uint8))
    return dpviz.fit("privatree", data, **({"epsilon": 1e6, "depth": 1, "seed": 1, "shares": (1, 1, 1)} | asked))


def test_with_two_classes_categories_go_left_by_their_share_of_the_second():
    # shares of class 1: a .9, b .1, c .8, d .2 - the best prefix of the sorted order is {b, d}
    schema = Schema((CategoricalFeature("c", tuple("abcd")),), ClassTarget("y", ("n", "p")))
    codes = np.repeat(np.arange(4), 10)
    target = np.concatenate([np.arange(10) < ones for ones in (9, 1, 8, 2)])
    assert fitted(schema, target, codes).model.root.rule.codes == (1, 3)


def test_with_three_classes_categories_keep_their_declared_order():
    # {b, d} would be pure; prefixes of the declared order are {a}, {a, b}, {a, b, c}
    schema = Schema((CategoricalFeature("c", tuple("abcd")),), ClassTarget("y", ("n", "p", "q")))
    codes = np.repeat(np.arange(4), 10)
    target = np.repeat([1, 0, 1, 0], 10)
    assert fitted(schema, target, codes).model.root.rule.codes in {(0,), (0, 1, 2)}


def test_a_pure_node_ends_the_branch_unless_grown_complete():
    import dpviz

    schema = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("n", "p")), n_public=100)
    x = np.linspace(0, 1, 100)
    data = EncodedDataset(schema, (x,), np.zeros(100, dtype=np.uint8))
    assert dpviz.fit("privatree", data, epsilon=1.0, depth=3, seed=0).model.depth == 0
    grown = dpviz.fit("privatree", data, epsilon=1.0, depth=3, seed=0, grow_complete=True).model
    assert [placed.depth for placed in grown.nodes()].count(3) == 8


def test_one_histogram_release_covers_all_features_of_a_kind():
    import dpviz

    data = table(schema_of("mixed"), 60)
    source = Recording(4)
    result = dpviz.fit("privatree", data, epsilon=1.0, depth=1, source=source, grow_complete=True)
    geometric = [(mechanism, values) for mechanism, values, _ in source.draws if mechanism.title == "geometric"]
    assert [mechanism.l1 for mechanism, _ in geometric] == [2, 2]  # two numbers, two categories
    for (mechanism, values), group in zip(geometric, ("numeric", "categorical"), strict=True):
        assert mechanism.epsilon == 2 * result.plan.of("node", 0, group)
        assert values.sum() == 2 * data.n_rows  # every row once per feature


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_nothing_is_released_whether_or_not_this_schema_asks_for_quantiles(kind):
    import dpviz

    with pytest.raises(NotReleasable, match="A mechanism of PrivaTree has no exact sampler"):
        dpviz.fit("privatree", table(schema_of(kind), 20), epsilon=1.0, depth=1, accept_rows=True)
