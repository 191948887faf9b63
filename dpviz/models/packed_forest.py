"""Forests of large trees, packed into arrays: hundreds of thousands of leaves stay cheap, and a row falls through in no time.

A categorical feature may split into one child per category here; `trees` shows each tree with rules of two sides.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import overload

import numpy as np

from dpviz.models.base import OfArrays, Voting, require_same_columns
from dpviz.models.tree import Branch, End, Leaf, Node, SubsetRule, ThresholdRule, Tree, child_per_category
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Schema

LEAF = -1


@dataclass(frozen=True, eq=False)
class PackedTrees(OfArrays):
    """Splits of many trees over the columns of `schema`, without labels."""

    schema: Schema
    n_trees: int
    #: Shape (n_nodes,), int32. Which tree each node belongs to, increasing. Within a tree, nodes are in breadth-first order, the
    #: root first.
    tree: np.ndarray
    #: Shape (n_nodes,), int16. Position of the feature that is asked for, LEAF at a leaf.
    feature: np.ndarray
    #: Shape (n_nodes,), float64. Values (of a category: codes) up to it go to the first child, others to the second; NaN: one
    #: child per category.
    threshold: np.ndarray
    #: Shape (n_nodes,), int64. The other children follow; 0 at a leaf.
    first_child: np.ndarray

    @classmethod
    def of(cls, schema: Schema, n_trees: int, nodes: Sequence[tuple[int, int, float, int]]) -> PackedTrees:
        """From (tree, feature, threshold, first child) of every node."""
        tree, feature, threshold, first = map(np.array, zip(*nodes, strict=True))
        arrays = tree.astype(np.int32), feature.astype(np.int16), threshold.astype(np.float64), first.astype(np.int64)
        return cls(schema, n_trees, *arrays)

    @classmethod
    def concatenate(cls, parts: Sequence[PackedTrees]) -> PackedTrees:
        """The trees of all parts, of which there is at least one, in order."""
        starts = accumulate((len(part.tree) for part in parts), initial=0)
        trees = accumulate((part.n_trees for part in parts), initial=0)
        firsts = [np.where(part.first_child > 0, part.first_child + start, 0) for part, start in zip(parts, starts, strict=False)]
        number = np.concatenate([part.tree + tree for part, tree in zip(parts, trees, strict=False)]).astype(np.int32)
        feature, threshold = (np.concatenate([getattr(part, name) for part in parts]) for name in ("feature", "threshold"))
        return cls(parts[0].schema, sum(part.n_trees for part in parts), number, feature, threshold, np.concatenate(firsts))

    @cached_property
    def roots(self) -> np.ndarray:
        """The first node of every tree, shape (n_trees,)."""
        return np.searchsorted(self.tree, np.arange(self.n_trees))

    @cached_property
    def leaves(self) -> np.ndarray:
        """Nodes that are leaves, increasing."""
        return np.flatnonzero(self.feature == LEAF)

    @cached_property
    def leaf_number(self) -> np.ndarray:
        """Place of each leaf among `leaves`, shape (n_nodes,); -1 at a split."""
        number = np.full(len(self.feature), -1, dtype=np.int64)
        number[self.leaves] = np.arange(len(self.leaves))
        return number

    def n_children(self) -> np.ndarray:
        """Children of every node, int64 of shape (n_nodes,)."""
        sizes = np.array([len(f.categories) if isinstance(f, CategoricalFeature) else 2 for f in self.schema.features])
        return np.where(self.feature == LEAF, 0, np.where(np.isnan(self.threshold), sizes[self.feature], 2))

    def n_children_of(self, node: int) -> int:
        """Children of one node."""
        return int(self._n_children[node])

    @cached_property
    def _n_children(self) -> np.ndarray:
        return self.n_children()

    def side(self, values: np.ndarray, node: int) -> np.ndarray:
        """Which child of a node each row of `values` goes to, int64 of shape (n_rows,)."""
        value, threshold = values[:, self.feature[node]], self.threshold[node]
        return (value if np.isnan(threshold) else value > threshold).astype(np.int64)

    def leaf_of(self, values: np.ndarray, start: np.ndarray) -> np.ndarray:
        """The leaf number that each row of `values` (n_rows, n_features) reaches from node `start` (n_rows,)."""
        node = start.astype(np.int64)
        going = np.flatnonzero(self.feature[node] != LEAF)
        while len(going):
            here = node[going]
            value, threshold = values[going, self.feature[here]], self.threshold[here]
            step = np.where(np.isnan(threshold), value, value > threshold).astype(np.int64)
            node[going] = self.first_child[here] + step
            going = going[self.feature[node[going]] != LEAF]
        return self.leaf_number[node]


def values_of(data: EncodedDataset) -> np.ndarray:
    """Columns side by side, float64 of shape (n_rows, n_features)."""
    return np.column_stack([column.astype(np.float64) for column in data.columns])


class OfPackedTrees(OfArrays):
    """Mixin: a model of packed trees that knows what its leaves say."""

    splits: PackedTrees

    @abstractmethod
    def leaf(self, number: int) -> End:
        """The leaf with this number, as one of a tree."""

    @property
    def schema(self) -> Schema:
        """What its features and target are."""
        return self.splits.schema

    @property
    def trees(self) -> Sequence[Tree]:
        """Every tree, made when asked for: one child per category becomes a chain of rules."""
        return UnpackedTrees(self.splits, self.leaf)


@dataclass(frozen=True, eq=False)
class PackedForest(OfPackedTrees, Voting):
    """Packed trees with a label at every leaf; each tree has one vote."""

    splits: PackedTrees
    #: Shape (n_leaves,), uint8. Class codes, in the order of `splits.leaves`.
    labels: np.ndarray
    #: Shape (n_leaves, n_classes), int64, or None. Released noisy counts. Where they are given, trees add up their counts and
    #: `labels` are the largest of each leaf.
    tallies: np.ndarray | None = None

    kind = "packed-forest"

    def votes(self, data: EncodedDataset) -> np.ndarray:
        """Trees that choose each class, or the sum of noisy counts: int64 of shape (n_rows, n_classes)."""
        require_same_columns(self.schema, data.schema)
        values, n_classes = values_of(data), len(self.schema.classes)
        votes = np.zeros((data.n_rows, n_classes), dtype=np.int64)
        rows = np.arange(data.n_rows)
        for root in self.splits.roots:
            leaf = self.splits.leaf_of(values, np.full(data.n_rows, root))
            if self.tallies is None:
                votes[rows, self.labels[leaf]] += 1
            else:
                votes += self.tallies[leaf]
        return votes

    def leaf(self, number: int) -> End:
        """As of a tree, with its counts where they were released."""
        counts = None if self.tallies is None else tuple(self.tallies[number].tolist())
        return Leaf(int(self.labels[number]), counts)


def ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """starts[0], starts[0] + 1, ..., `lengths[0]` of them, then from starts[1] on, and so forth."""
    ends = lengths.cumsum()
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)


class UnpackedTrees(Sequence[Tree]):
    """Packed trees, unpacked one by one into rules of two sides; `leaf` makes the leaf of a number."""

    def __init__(self, splits: PackedTrees, leaf: Callable[[int], End]) -> None:
        self._splits, self._leaf = splits, leaf

    def __len__(self) -> int:
        return self._splits.n_trees

    @overload
    def __getitem__(self, index: int) -> Tree: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Tree]: ...
    def __getitem__(self, index: int | slice) -> Tree | Sequence[Tree]:
        roots = self._splits.roots[index]
        if isinstance(index, slice):
            return tuple(self._tree(int(root)) for root in roots)
        return self._tree(int(roots))

    def __iter__(self) -> Iterator[Tree]:
        return (self[place] for place in range(len(self)))

    def _tree(self, root: int) -> Tree:
        return Tree(self._splits.schema, self._node(root))

    def _node(self, place: int) -> Node:
        """The subtree below a node."""
        splits = self._splits
        if splits.feature[place] == LEAF:
            return self._leaf(int(splits.leaf_number[place]))
        feature, threshold = int(splits.feature[place]), float(splits.threshold[place])
        first, declared = int(splits.first_child[place]), splits.schema.features[feature]
        if not isinstance(declared, CategoricalFeature):
            return Branch(ThresholdRule(feature, threshold), self._node(first), self._node(first + 1))
        if not np.isnan(threshold):
            codes = tuple(range(min(int(threshold) + 1, len(declared.categories))))
            return Branch(SubsetRule(feature, codes), self._node(first), self._node(first + 1))
        return child_per_category(feature, [self._node(first + code) for code in range(len(declared.categories))])
