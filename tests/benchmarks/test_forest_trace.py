"""Inside a forest: empty leaves and flipped labels, counted again by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.forests import trace as module
from benchmarks.forests.trace import ForestTrace, forest_trace
from dpviz.models.packed_forest import PackedForest
from dpviz.privacy.selection import PermuteAndFlip
from dpviz.privacy.sensitivity import COUNT
from dpviz.privacy.smooth import SmoothMajority
from dpviz.privacy.source import Simulation
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, Schema
from dpviz.training.counting.arrays import counter_of
from dpviz.training.forests.forest import ForestShape, fit_packed
from tests.support.tables import schema_of, table


def test_it_counts_what_the_forest_holds() -> None:
    data, shape, rule = table(schema_of("mixed", 3), 150), ForestShape(6, 3, disjoint=True), PermuteAndFlip(0.5, COUNT)
    fitted = fit_packed(counter_of(data), shape, rule, Simulation(3))
    forest, counts = fitted.model, fitted.counts
    dense = counts.dense()
    held = dense.sum(axis=1) > 0
    flipped = [label for label, row in zip(forest.labels[held], dense[held], strict=True) if row[label] < row.max()]
    trace = forest_trace(data, shape, rule, Simulation(3))
    assert trace == ForestTrace(len(dense), int(held.sum()), len(flipped))
    assert trace.empty_share == pytest.approx(1 - held.mean())
    assert trace.flipped_share == pytest.approx(len(flipped) / held.sum())
    assert isinstance(forest, PackedForest)


def test_trees_too_large_to_hold_have_the_same_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    data, shape, rule = table(schema_of("mixed", 2), 400), ForestShape(300, 4, disjoint=True), SmoothMajority(1.0)
    held = forest_trace(data, shape, rule, Simulation(3))
    monkeypatch.setattr(module, "MOST_LEAVES", 1)
    hashed = forest_trace(data, shape, rule, Simulation(4))
    assert hashed.leaves != held.leaves
    assert hashed.leaves == pytest.approx(held.leaves, rel=0.15)
    assert hashed.empty_share == pytest.approx(held.empty_share, abs=0.01)
    assert hashed.flipped_share == pytest.approx(held.flipped_share, abs=0.04)


def test_empty_leaves_are_most_of_a_deep_tree_and_few_of_a_shallow_one() -> None:
    schema = Schema((NumericFeature("x", 0, 1), CategoricalFeature("c", ("r", "g"))), ClassTarget("y", ("a", "b")))
    data = table(schema, 50)
    deep, shallow = (forest_trace(data, ForestShape(20, depth, True), SmoothMajority(1.0), Simulation(1)) for depth in (9, 1))
    assert deep.empty_share > 0.9
    assert shallow.empty_share < 0.6


def test_without_rows_every_leaf_is_empty_and_nothing_is_flipped() -> None:
    trace = forest_trace(table(schema_of(), 0), ForestShape(3, 2, True), SmoothMajority(1.0), Simulation(1))
    assert (trace.empty_share, trace.flipped_share) == (1.0, 0.0)
    assert np.isfinite(trace.leaves)
