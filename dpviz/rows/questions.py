"""What sources add up of encoded rows besides the counts of `dpviz.training.counted_rows`: nodes of a level, and a digest.

What is added goes to executors as it is, and nothing here asks where rows lie.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpviz.models.tree import Branch, Node, ThresholdRule
from dpviz.table.candidates import CandidateGrid, FeatureCandidates, bin_column
from dpviz.table.dataset import EncodedDataset
from dpviz.training.nodes import BinnedRows, Kind, Place

_HALF = np.uint64(32)
_MIX = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))


def add_level(
    grid: CandidateGrid,
    is_binned: bool,
    cuts: np.ndarray | None,
    places: Sequence[Place],
    kind: Kind,
    found: np.ndarray,
    rows: EncodedDataset,
    parts: np.ndarray | None,
) -> None:
    """Class counts of nodes at some places of a tree, of part 0 where there are parts, as `BinnedRows.add` adds them.

    `is_binned`: columns hold the bins of the grid; `cuts`: the classes are bands of the target.
    """
    bins = rows.columns if is_binned else tuple(map(bin_column, grid.features, rows.columns))
    target = rows.target if cuts is None else np.searchsorted(cuts, rows.target).astype(np.uint8)
    BinnedRows(grid, bins, target, found.shape[-1], has_every_bin=True).add(found, places, kind, parts)


def add_digest(
    candidates: Sequence[FeatureCandidates] | None, found: np.ndarray, rows: EncodedDataset, parts: np.ndarray | None
) -> None:
    """Sums over hashes of the rows' bins and targets, and over their squares, in halves: equal for equal rows in any order.

    `candidates`: what rows are binned by, None where columns hold bins.
    """
    bins = rows.columns if candidates is None else tuple(map(bin_column, candidates, rows.columns))
    hashes = np.zeros(rows.n_rows, dtype=np.uint64)
    target = rows.target + 0.0 if rows.target.dtype.kind == "f" else rows.target.astype(np.int64)  # zero has one form
    for column in (*bins, target.view(np.int64)):
        hashes ^= column.astype(np.int64).view(np.uint64)
        hashes += _MIX[0]
        hashes *= _MIX[1]
        hashes ^= hashes >> np.uint64(29)
        hashes *= _MIX[2]
        hashes ^= hashes >> _HALF
    for place, whole in ((0, int(hashes.sum())), (2, int(np.dot(hashes, hashes)))):
        found[place : place + 2] += np.array([whole % (1 << 32), whole >> 32])


def by_bins(node: Node, features: Sequence[FeatureCandidates]) -> Node | None:
    """The tree that asks for bins where `node` asks for values; None where a rule divides a bin."""
    if not isinstance(node, Branch):
        return node
    left, right, rule = by_bins(node.left, features), by_bins(node.right, features), node.rule
    if isinstance(rule, ThresholdRule):
        cuts = features[rule.feature].thresholds
        assert cuts is not None
        places = np.flatnonzero(cuts == rule.threshold)
        if not len(places):
            return None
        rule = ThresholdRule(rule.feature, float(places[0]))  # bin b holds values in (thresholds[b-1], thresholds[b]]
    return None if left is None or right is None else Branch(rule, left, right)
