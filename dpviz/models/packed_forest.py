"""Forests of large trees, packed into arrays: hundreds of thousands of leaves stay cheap, and a row falls through in no time.

A categorical feature may split into one child per category here; `trees` shows each tree with rules of two sides.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.models.base import OfArrays, VoteMixin, require_same_columns
from dpviz.models.tree import Branch, End, Leaf, Node, SubsetRule, ThresholdRule, Tree, child_per_category
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Schema

LEAF = -1


@dataclass(frozen=True, eq=False)
class PackedTrees(OfArrays):
    """Splits of many trees over the columns of `schema`, without labels: one tree after another, the nodes of each breadth first.

    What a node asks for is all that is held. How many trees there are, and where the children of a node stand, follows from it.
    """

    schema: Schema
    #: Shape (n_nodes,), int16. Position of the feature that is asked for, LEAF at a leaf.
    feature: np.ndarray
    #: Shape (n_nodes,), float64. Values (of a category: codes) up to it go to the first child, others to the second; NaN: one
    #: child per category.
    threshold: np.ndarray

    @classmethod
    def of(cls, schema: Schema, nodes: Sequence[tuple[int, float]]) -> PackedTrees:
        """From (feature, threshold) of every node."""
        feature, threshold = zip(*nodes, strict=True)
        return cls(schema, np.array(feature, dtype=np.int16), np.array(threshold, dtype=np.float64))

    @classmethod
    def concatenate(cls, parts: Sequence[PackedTrees]) -> PackedTrees:
        """The trees of all parts, of which there is at least one, in order."""
        feature, threshold = (np.concatenate([getattr(part, name) for part in parts]) for name in ("feature", "threshold"))
        return cls(parts[0].schema, feature, threshold)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    @cached_property
    def n_children(self) -> np.ndarray:
        """Children of every node, int64 of shape (n_nodes,)."""
        n_children, inner = np.zeros(len(self.feature), dtype=np.int64), np.flatnonzero(self.feature != LEAF)
        n_children[inner] = np.where(np.isnan(self.threshold[inner]), children_by_feature(self.schema)[self.feature[inner]], 2)
        return n_children

    def children(self, node: int) -> range:
        """The children of one node."""
        first = int(self.first_child[node])
        return range(first, first + int(self.n_children[node]))

    @property
    def tree(self) -> np.ndarray:
        """Which tree each node belongs to, int32 of shape (n_nodes,)."""
        return self._places[0]

    @property
    def first_child(self) -> np.ndarray:
        """The first child of every node, int64 of shape (n_nodes,); the others follow. 0 at a leaf."""
        return self._places[1]

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """(tree, first child) of every node: a tree ends with the node that leaves none open."""
        n_children = self.n_children
        ends = n_children.cumsum()
        n_open = np.minimum.accumulate(ends - np.arange(1, len(ends) + 1))
        tree = np.zeros(len(ends), dtype=np.int32)
        np.negative(np.minimum(n_open[:-1], 0), out=tree[1:], casting="unsafe")
        return tree, np.where(n_children > 0, ends - n_children + tree + 1, 0)

    @cached_property
    def roots(self) -> np.ndarray:
        """The first node of every tree, shape (n_trees,)."""
        return np.flatnonzero(np.diff(self.tree, prepend=-1))

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

    def side(self, values: np.ndarray, node: int) -> np.ndarray:
        """Which child of a node each row of `values` goes to, int64 of shape (n_rows,)."""
        value, threshold = values[:, self.feature[node]], self.threshold[node]
        return (value if np.isnan(threshold) else value > threshold).astype(np.int64)

    def leaf_of(self, values: np.ndarray, start: int | np.ndarray) -> np.ndarray:
        """The leaf number each row of `values` (n_rows, n_features) reaches from a node: one for all, or (n_rows,) of its own."""
        node = np.broadcast_to(start, len(values)).astype(np.int64)
        going = np.flatnonzero(self.feature.take(node) != LEAF)
        while len(going):
            here = node.take(going)
            value, threshold = values[going, self.feature.take(here)], self.threshold.take(here)
            step = np.where(np.isnan(threshold), value, value > threshold).astype(np.int64)
            node[going] = here = self.first_child.take(here) + step
            going = going[self.feature.take(here) != LEAF]
        return self.leaf_number.take(node)


def children_by_feature(schema: Schema) -> np.ndarray:
    """How many children a node has that asks for each feature, int64 of shape (n_features,)."""
    return np.array([len(f.categories) if isinstance(f, CategoricalFeature) else 2 for f in schema.features])


def values_of(data: EncodedDataset) -> np.ndarray:
    """Columns side by side, float64 of shape (n_rows, n_features)."""
    return np.column_stack([column.astype(np.float64) for column in data.columns])


class PackedTreesMixin(OfArrays):
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
class PackedForest(PackedTreesMixin, VoteMixin):
    """Packed trees with a label at every leaf; each tree has one vote."""

    splits: PackedTrees
    #: Shape (n_leaves,), uint8. Class codes, in the order of `splits.leaves`.
    labels: np.ndarray
    #: Shape (n_leaves, n_classes), int64, or None. Released noisy counts. Where they are given, trees add up their counts and
    #: `labels` are the largest of each leaf.
    tallies: np.ndarray | None = None

    kind = "packed-forest"

    def labels_by_member(self, data: EncodedDataset) -> Iterator[np.ndarray]:
        """As each tree predicts."""
        return (self.labels[leaf] for leaf in self._leaves(data))

    def votes(self, data: EncodedDataset) -> np.ndarray:
        """Trees that choose each class, or the sum of noisy counts: int64 of shape (n_rows, n_classes)."""
        if self.tallies is None:
            return super().votes(data)
        require_same_columns(self.schema, data.schema)
        votes = np.zeros((data.n_rows, len(self.schema.classes)), dtype=np.int64)
        for leaf in self._leaves(data):
            votes += self.tallies[leaf]
        return votes

    def _leaves(self, data: EncodedDataset) -> Iterator[np.ndarray]:
        """The leaf that each row reaches, tree by tree."""
        values = values_of(data)
        return (self.splits.leaf_of(values, root) for root in self.splits.roots)

    def leaf(self, number: int) -> End:
        """As of a tree, with its counts where they were released."""
        counts = None if self.tallies is None else tuple(self.tallies[number].tolist())
        return Leaf(int(self.labels[number]), counts)


class UnpackedTrees(Sequence[Tree]):
    """Packed trees, unpacked one by one into rules of two sides; `leaf` makes the leaf of a number."""

    def __init__(self, splits: PackedTrees, leaf: Callable[[int], End]) -> None:
        self._splits, self._leaf = splits, leaf

    def __len__(self) -> int:
        return self._splits.n_trees

    def __getitem__(self, index: Any) -> Any:
        """A tree; of a slice a tuple of them."""
        if isinstance(index, slice):
            return tuple(self[place] for place in range(len(self))[index])
        return Tree(self._splits.schema, self._node(int(self._splits.roots[index])))

    def _node(self, place: int) -> Node:
        """The subtree below a node."""
        splits = self._splits
        if splits.feature[place] == LEAF:
            return self._leaf(int(splits.leaf_number[place]))
        feature, threshold = int(splits.feature[place]), float(splits.threshold[place])
        children, declared = [self._node(child) for child in splits.children(place)], splits.schema.features[feature]
        if isinstance(declared, CategoricalFeature) and np.isnan(threshold):
            return child_per_category(feature, children)
        left, right = children
        if isinstance(declared, CategoricalFeature):
            return Branch(SubsetRule(feature, tuple(range(min(int(threshold) + 1, len(declared.categories))))), left, right)
        return Branch(ThresholdRule(feature, threshold), left, right)
