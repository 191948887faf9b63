"""What is asked of encoded rows: each question adds what it counts of some rows to a sum.

Counts are those of `dpviz.training` on the rows of a batch. Questions go to executors as they are, and nothing here asks where
rows lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpviz.models.tree import Branch, Node, ThresholdRule, Tree
from dpviz.rows.records import Encoding
from dpviz.table.candidates import CandidateGrid, FeatureCandidates
from dpviz.table.dataset import EncodedDataset
from dpviz.training.counted_rows import ArrayRows, Measure
from dpviz.training.nodes import BinnedRows, Kind, Place, ends_of, mirrored

_HALF = np.uint64(32)
_MIX = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))


class Question(Protocol):
    """Something that is counted of every row by itself, so that the counts of batches add up."""

    def zeros(self, encoding: Encoding, n_rows: int) -> np.ndarray:
        """The counts of no rows, among at most so many."""

    def add(self, found: np.ndarray, encoding: Encoding, data: EncodedDataset, parts: np.ndarray | None) -> None:
        """Add those of some rows, and of their parts where these are told."""


@dataclass(frozen=True)
class Classes:
    """Rows per class."""

    def zeros(self, encoding: Encoding, n_rows: int) -> np.ndarray:
        """None."""
        return np.zeros(len(encoding.schema.classes), dtype=np.int64)

    def add(self, found: np.ndarray, encoding: Encoding, data: EncodedDataset, parts: np.ndarray | None) -> None:
        """Rows per class."""
        found += ArrayRows(data).class_counts()


@dataclass(frozen=True)
class Level:
    """Class counts of the nodes at some places of a tree, of part 0 where there are parts; `cuts`: the classes are bands."""

    grid: CandidateGrid
    n_classes: int
    cuts: np.ndarray | None
    places: Sequence[Place]
    kind: Kind

    def zeros(self, encoding: Encoding, n_rows: int) -> np.ndarray:
        """No rows, by node, bins and class."""
        bins = [self.grid.n_bins] * (1 if self.kind == "bins" else 2)
        is_small = self.kind == "pairs" and n_rows < 1 << 31
        return np.zeros((len(self.places), *bins, self.n_classes), dtype=np.int32 if is_small else np.int64)

    def add(self, found: np.ndarray, encoding: Encoding, data: EncodedDataset, parts: np.ndarray | None) -> None:
        """Rows of each node, as `BinnedRows.add` does."""
        target = data.target if self.cuts is None else np.searchsorted(self.cuts, data.target).astype(np.uint8)
        rows = BinnedRows(self.grid, encoding.bins(data, self.grid.features), target, self.n_classes, has_every_bin=True)
        rows.add(found, self.places, self.kind, parts)

    def whole(self, found: np.ndarray) -> np.ndarray:
        """The counts, once every row is among them."""
        return found if self.kind == "bins" else mirrored(found, ends_of(feature.n_bins for feature in self.grid.features))


@dataclass(frozen=True)
class Leaves:
    """Rows by part, leaf and class: `CountedRows.leaf_counts`."""

    root: Node
    n_parts: int

    def zeros(self, encoding: Encoding, n_rows: int) -> np.ndarray:
        """No rows."""
        schema = encoding.schema
        return np.zeros((self.n_parts, Tree(schema, self.root).n_leaves, len(schema.classes)), dtype=np.int64)

    def add(self, found: np.ndarray, encoding: Encoding, data: EncodedDataset, parts: np.ndarray | None) -> None:
        """Rows by part, leaf and class."""
        found += ArrayRows(data).leaf_counts(asked(self.root, encoding), parts, self.n_parts)


@dataclass(frozen=True)
class Sums:
    """Sums over the rows of a part, by leaf: `CountedRows.sums`."""

    measure: Measure
    root: Node
    part: int

    def zeros(self, encoding: Encoding, n_rows: int) -> np.ndarray:
        """Nothing."""
        return np.zeros((Tree(encoding.schema, self.root).n_leaves, self.measure.width), dtype=np.int64)

    def add(self, found: np.ndarray, encoding: Encoding, data: EncodedDataset, parts: np.ndarray | None) -> None:
        """Sums by leaf."""
        found += ArrayRows(data).sums(self.measure, asked(self.root, encoding), parts, self.part)


@dataclass(frozen=True)
class Digest:
    """Sums over hashes of the rows' bins and targets, and over their squares, in halves: equal for equal rows in any order."""

    def zeros(self, encoding: Encoding, n_rows: int) -> np.ndarray:
        """Of no rows."""
        return np.zeros(4, dtype=np.int64)

    def add(self, found: np.ndarray, encoding: Encoding, data: EncodedDataset, parts: np.ndarray | None) -> None:
        """Halves of the sums, modulo 2^64, of these rows."""
        hashes = np.zeros(data.n_rows, dtype=np.uint64)
        target = data.target + 0.0 if data.target.dtype.kind == "f" else data.target.astype(np.int64)  # zero has one form
        for column in (*encoding.bins(data, encoding.candidates), target.view(np.int64)):
            hashes ^= column.astype(np.int64).view(np.uint64)
            hashes += _MIX[0]
            hashes *= _MIX[1]
            hashes ^= hashes >> np.uint64(29)
            hashes *= _MIX[2]
            hashes ^= hashes >> _HALF
        for place, whole in ((0, int(hashes.sum())), (2, int(np.dot(hashes, hashes)))):
            found[place : place + 2] += np.array([whole % (1 << 32), whole >> 32])


def asked(root: Node, encoding: Encoding) -> Node:
    """The tree that asks for what records hold."""
    if not encoding.is_binned:
        return root
    found = by_bins(root, encoding.candidates)
    assert found is not None
    return found


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
