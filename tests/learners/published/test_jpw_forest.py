"""JPW: its depth rule, its counts, its bill."""

from __future__ import annotations

import numpy as np
import pytest

import dpviz
from dpviz.learners.published.jpw_forest import jpw_depth
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from tests.support.tables import schema_of, table


def schema_with(numbers: int, sizes: tuple[int, ...]) -> Schema:
    features = [NumericFeature(f"n{i}", 0, 1) for i in range(numbers)]
    features += [CategoricalFeature(f"c{i}", tuple(f"v{k}" for k in range(size))) for i, size in enumerate(sizes)]
    return Schema(tuple(features), ClassTarget("y", ("a", "b")))


def test_the_depth_is_the_smaller_of_both_rules() -> None:
    for schema, n, depth in [
        (schema_with(10, ()), 30_000, 5),  # half of the features
        (schema_with(40, ()), 1000, 8),  # log2(1000) - 1
        (schema_with(0, (10,) * 20), 10_000, 3),
        (schema_with(0, (50, 50, 50, 50)), 100, 1),
        (schema_with(0, (1, 1)), 100, 1),
    ]:
        assert jpw_depth(schema, n) == depth


def test_the_bill_is_epsilon_in_equal_parts() -> None:
    ledger = dpviz.fit("jpw-forest", table(schema_of()), epsilon=0.3, seed=1).ledger
    assert ledger.guarantee.epsilon <= 0.3
    assert ledger.guarantee.epsilon == pytest.approx(0.3)
    assert [row.epsilon for row in ledger.rows() if row.mechanism == "geometric"] == pytest.approx([0.03] * 10)


def test_with_hardly_any_noise_the_counts_are_those_of_the_rows() -> None:
    data = table(schema_of("mixed", 3), 200)
    model = dpviz.fit("jpw-forest", data, epsilon=1e6, seed=1, trees=4).model
    totals = np.zeros((4, 3))
    np.add.at(totals, model.splits.tree[model.splits.leaves], model.tallies)
    assert totals.tolist() == [data.class_counts().tolist()] * 4
    np.testing.assert_array_equal(model.labels, model.tallies.argmax(axis=1))


def test_trees_add_up_their_counts() -> None:
    data = table(schema_of("mixed", 3), 200)
    model = dpviz.fit("jpw-forest", data, epsilon=1e6, seed=1, trees=4).model
    assert (model.votes(data).sum(axis=1) > 4).all()
