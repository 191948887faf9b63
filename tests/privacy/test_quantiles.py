"""Joint quantiles: the dynamic programme against enumeration, privacy of the density, and data that break lesser code."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.privacy.quantiles import JointQuantiles
from tests.support.examples import examples
from tests.support.oracles import mechanisms as oracle

LOW, HIGH = -2.0, 5.0
VALUES = st.lists(st.one_of(st.sampled_from([-2.0, 0.0, 1.0, 5.0, 9.0]), st.floats(-3, 6)), max_size=6)


@given(VALUES, st.integers(1, 4), st.floats(0.001, 40))
@examples(120)
@pytest.mark.slow
def test_normaliser_is_the_sum_over_all_ways_to_fill_the_gaps(values, m, epsilon):
    mechanism = JointQuantiles(epsilon, LOW, HIGH, n_quantiles=m)
    _, weights = oracle.quantile_cells(values, LOW, HIGH, m, mechanism.exponent)
    assert mechanism.log_normaliser(np.array(values)) == pytest.approx(math.log(math.fsum(weights.values())), abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["smooth", "lumps", "zero-inflated", "all distinct integers"])
def test_normaliser_is_that_of_all_pairs_of_gaps(shape, rng):
    values = {
        "smooth": lambda: rng.normal(50, 10, 331),
        "lumps": lambda: rng.choice([0, 1, 2, 50, 99, 100, 120], 2000, p=[0.3, 0.2, 0.01, 0.3, 0.1, 0.05, 0.04]),
        "zero-inflated": lambda: np.concatenate((np.zeros(20_000), rng.exponential(10, 200))),
        "all distinct integers": lambda: np.arange(0, 100),
    }[shape]()
    for epsilon, m in product([1e-4, 0.01, 1.0, 100.0], [1, 3, 9]):
        mechanism = JointQuantiles(epsilon, -1.0, 100.0, n_quantiles=m)
        expected = oracle.log_quantile_normaliser(values, -1.0, 100.0, m, mechanism.exponent)
        assert mechanism.log_normaliser(values) == pytest.approx(expected, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("values", [[], [1.0], [LOW, LOW, HIGH], [0.0, 0.0, 0.5, 4.0]])
def test_density_integrates_to_one(values):
    mechanism = JointQuantiles(2.0, LOW, HIGH, n_quantiles=2)
    side = 700
    points = LOW + (np.arange(side) + 0.5) * (HIGH - LOW) / side  # no value lies inside a cell of this grid
    grid = np.stack(np.meshgrid(points, points, indexing="ij"), axis=-1)
    cell = ((HIGH - LOW) / side) ** 2
    density = np.exp(mechanism.log_density(np.array(values), grid))
    on_the_diagonal = np.trace(density) / 2  # half of each such cell is out of order
    assert (density.sum() - on_the_diagonal) * cell == pytest.approx(1, rel=1e-9)


UNIVERSE = [0.0, 0.5, 2.0, 4.0]


def _largest_loss(mechanism):
    """Over all data sets of up to 3 values, all values to add, and output tuples from every combination of gaps."""
    points = [0.1, 0.3, 1.0, 1.5, 2.5, 3.5]
    tuples = np.array(list(combinations_with_replacement(points, mechanism.n_quantiles)))
    datasets = [values for n in range(5) for values in combinations_with_replacement(UNIVERSE, n)]
    law = {values: mechanism.log_density(np.array(values), tuples) for values in datasets}
    return max(
        np.abs(law[values] - law[tuple(sorted((*values, value)))]).max()
        for values in datasets
        if len(values) < 4
        for value in UNIVERSE
    )


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_one_row_never_moves_the_density_by_more_than_epsilon(epsilon, m):
    loss = _largest_loss(JointQuantiles(epsilon, 0.0, 4.0, n_quantiles=m))
    assert epsilon / 2 < loss <= epsilon * (1 + 1e-9)


def test_values_outside_the_range_count_as_its_ends():
    mechanism, points = JointQuantiles(1.0, 0.0, 1.0, n_quantiles=2), np.array([[0.1, 0.4], [0.6, 0.9]])
    outside, ends = (mechanism.log_density(np.array(values), points) for values in ([-3.0, 0.5, 7.0], [0.0, 0.5, 1.0]))
    np.testing.assert_allclose(outside, ends, rtol=1e-12)


def test_a_trellis_draws_what_its_values_do_and_serves_no_other_mechanism(rng):
    values, mechanism = rng.choice([0.0, 1.0, 2.5, 4.0], 50), JointQuantiles(0.5, LOW, HIGH)
    trellis = mechanism.trellis(values)
    for seed in range(20):
        draws = [mechanism.sample(rows, np.random.default_rng(seed)) for rows in (values, trellis)]
        assert np.array_equal(*draws)
    with pytest.raises(AssertionError):
        JointQuantiles(5.0, LOW, HIGH).sample(trellis, rng)


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(0),
        np.full(7, 0.0),
        np.full(50_000, 30.0),
        np.full(7, 100.0),
        np.array([-1e300, 1e300, 55.0]),
        np.concatenate((np.zeros(99_000), np.geomspace(1e-9, 99.0, 1000))),
        np.nextafter(50.0, [0, 100, 50]),
        np.arange(101),
    ],
    ids=["none", "all low", "one lump", "all high", "out of range", "zero-inflated", "one ulp apart", "integers"],
)
def test_quantiles_of_awkward_values_are_in_order_and_in_range(values, rng):
    for epsilon, m in product([0.0, 1e-4, 1.0, 100.0], [1, 9]):
        mechanism = JointQuantiles(epsilon, 0.0, 100.0, n_quantiles=m)
        found = mechanism.sample(values, rng)
        assert found.shape == (m,)
        assert (np.diff(found) >= 0).all()
        assert ((found >= 0) & (found <= 100)).all()
        assert np.isfinite(mechanism.log_density(values, found))
