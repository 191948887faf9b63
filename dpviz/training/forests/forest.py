"""Fitting a random forest: draw the trees, send each row down, label the leaves.

The trees cost nothing. A label costs the epsilon of its tree once, however many leaves there are: leaves of a tree hold
disjoint rows. Trees that hold disjoint rows cost that once altogether; trees that see every row add up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.accounting.events import Event, NoCost, Parallel, Sequential
from dpviz.models.hashed_forest import HashedForest, leaves_reached
from dpviz.models.packed_forest import PackedForest, PackedTrees, values_of
from dpviz.privacy.leaf_labels import LabelLeaves, LabelRule, LeafCounts
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import SecretKeys
from dpviz.table.dataset import EncodedDataset
from dpviz.training.forests.random_trees import draw_trees, rows_to_trees

#: A forest with more leaves (on average) is not written down: labels of all of them would be published.
MOST_LEAVES = 4_000_000


@dataclass(frozen=True)
class Plot:
    """What is to be grown: how many trees of which depth, on disjoint rows or each on all of them."""

    n_trees: int
    depth: int
    disjoint: bool


def fit_packed(data: EncodedDataset, plot: Plot, rule: LabelRule, source: NoiseSource) -> tuple[PackedForest, LeafCounts]:
    """The forest with every leaf labelled, and the exact counts its labels were drawn from (private)."""
    splits = draw_trees(data.schema, plot.n_trees, plot.depth, source)
    counts = leaf_counts(data, splits, plot.disjoint, source)
    return PackedForest(splits, LabelLeaves(rule).choose(counts, source=source)), counts


def leaf_counts(data: EncodedDataset, splits: PackedTrees, disjoint: bool, source: NoiseSource) -> LeafCounts:
    """Exact class counts of every leaf that holds rows."""
    values, n_leaves = values_of(data), len(splits.leaves)
    if disjoint:
        leaf = splits.leaf_of(values, splits.roots[rows_to_trees(data, splits.n_trees, source)])
        return LeafCounts.of(leaf, data.target, n_leaves, data.n_classes)
    leaves = [splits.leaf_of(values, np.full(data.n_rows, root)) for root in splits.roots]
    return LeafCounts.of(np.concatenate(leaves), np.tile(data.target, splits.n_trees), n_leaves, data.n_classes)


def fit_hashed(data: EncodedDataset, plot: Plot, rule: LabelRule, source: NoiseSource) -> tuple[HashedForest, LeafCounts]:
    """The same for trees too large to hold: only leaves that hold rows are listed (and counted)."""
    keys = SecretKeys().choose(plot.n_trees + 1, source=source)
    keys, label_key = keys[:-1], int(keys[-1])
    values = values_of(data)
    if plot.disjoint:
        leaf = leaves_reached(data.schema, plot.depth, values, keys[rows_to_trees(data, plot.n_trees, source)])
        target = data.target
    else:
        reached = (leaves_reached(data.schema, plot.depth, values, np.full(data.n_rows, key)) for key in keys)
        leaf, target = np.concatenate(list(reached)), np.tile(data.target, plot.n_trees)
    leaves, place = np.unique(leaf, return_inverse=True)
    counts = LeafCounts.of(place, target, len(leaves), data.n_classes)
    labels = LabelLeaves(rule).choose(counts, source=source)
    return HashedForest(data.schema, plot.depth, keys, leaves, labels, label_key), counts


def forest_event(plot: Plot, label: Event) -> Event:
    """What labelling costs: one `label` per tree, in parallel on disjoint rows, one after the other on shared ones."""
    one = Sequential((NoCost("node"), label))
    return Parallel((one,) * plot.n_trees) if plot.disjoint else Sequential((one,) * plot.n_trees)
