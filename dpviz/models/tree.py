"""A decision tree: leaves, branches, and the rules that choose a branch. Training types are elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.models.base import require_same_columns
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema


@dataclass(frozen=True, slots=True)
class ThresholdRule:
    """Values of the numeric feature at position `feature` that are <= `threshold` go left."""

    feature: int
    threshold: float

    def goes_left(self, values: np.ndarray) -> np.ndarray:
        """Bool per value."""
        return values <= self.threshold


@dataclass(frozen=True, slots=True)
class SubsetRule:
    """Rows of the categorical feature at position `feature` whose code is in `codes` go left."""

    feature: int
    codes: tuple[int, ...]

    def goes_left(self, values: np.ndarray) -> np.ndarray:
        """Bool per category code."""
        table = np.zeros(max((*self.codes, int(values.max(initial=0)))) + 1, dtype=bool)
        table[list(self.codes)] = True
        return table[values]


Rule = ThresholdRule | SubsetRule


@dataclass(frozen=True, slots=True)
class Leaf:
    """The end of a path: predicts the class with this code."""

    label: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A rule and its two subtrees."""

    rule: Rule
    left: Node
    right: Node


Node = Leaf | Branch


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A node and where it stands: `path` is "" for the root, then L and R; depth = len(path)."""

    path: str
    node: Node

    @property
    def depth(self) -> int:
        """Edges from the root."""
        return len(self.path)

    @property
    def id(self) -> str:
        """A name for the path that is never empty: "root", "root.L", "root.L.R", ..."""
        return ".".join(("root", *self.path))


@dataclass(frozen=True)
class Tree:
    """A tree over the columns of `schema`."""

    schema: Schema
    root: Node

    kind = "tree"

    def nodes(self) -> Iterator[PlacedNode]:
        """Every node, parents first, left before right."""
        stack = [PlacedNode("", self.root)]
        while stack:
            placed = stack.pop()
            yield placed
            if isinstance(placed.node, Branch):
                stack += [PlacedNode(placed.path + "R", placed.node.right), PlacedNode(placed.path + "L", placed.node.left)]

    def node(self, path: str) -> Node:
        """The node at the end of `path` ("" is the root; L and R are steps). Raises KeyError for a path the tree lacks."""
        node = self.root
        for step in path:
            if isinstance(node, Leaf) or step not in "LR":
                raise KeyError(path)
            node = node.left if step == "L" else node.right
        return node

    @cached_property
    def depth(self) -> int:
        """Longest path in edges."""
        return max(placed.depth for placed in self.nodes())

    @cached_property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return sum(isinstance(placed.node, Leaf) for placed in self.nodes())

    def predict(self, data: EncodedDataset) -> np.ndarray:
        """Class codes of shape (n_rows,), uint8. Raises SchemaError when the columns are not the tree's."""
        require_same_columns(self.schema, data.schema)
        labels = np.empty(data.n_rows, dtype=np.uint8)
        _label(self.root, data.columns, None, labels)
        return labels

    def merged(self) -> Tree:
        """The same function without branches whose two sides predict the same. Post-processing: costs nothing."""
        return Tree(self.schema, _merge(self.root))


def _label(node: Node, columns: tuple[np.ndarray, ...], rows: np.ndarray | None, labels: np.ndarray) -> None:
    if isinstance(node, Leaf):
        labels[slice(None) if rows is None else rows] = node.label
        return
    column = columns[node.rule.feature]
    if rows is None:
        left = node.rule.goes_left(column)
        _label(node.left, columns, np.flatnonzero(left), labels)
        _label(node.right, columns, np.flatnonzero(~left), labels)
        return
    left = node.rule.goes_left(column[rows])
    _label(node.left, columns, rows[left], labels)
    _label(node.right, columns, rows[~left], labels)


def _merge(node: Node) -> Node:
    if isinstance(node, Leaf):
        return node
    left, right = _merge(node.left), _merge(node.right)
    if isinstance(left, Leaf) and left == right:
        return left
    return Branch(node.rule, left, right)


def rule_in_words(schema: Schema, rule: Rule) -> str:
    """The rule as people read it: "age <= 37.5", "colour is red or blue"; the test for going left."""
    feature = schema.features[rule.feature]
    match rule:
        case ThresholdRule():
            unit = f" {feature.unit}" if isinstance(feature, NumericFeature) and feature.unit else ""
            return f"{feature.name} ≤ {format_number(rule.threshold)}{unit}"
        case SubsetRule():
            assert isinstance(feature, CategoricalFeature)
            return f"{feature.name} is {' or '.join(feature.categories[code] for code in rule.codes)}"


def format_number(value: float) -> str:
    """Whole and half numbers as they are, others to six significant digits; thousands grouped, no trailing zeros."""
    size = abs(value)
    if size >= 1e15 or 0 < size < 1e-4:
        return f"{value:.6g}"
    if float(2 * value).is_integer():  # thresholds of whole numbers: 1,234,567.5 must not read 1,234,570
        return f"{value + 0.0:,.1f}".removesuffix(".0")
    return f"{value:,.0f}" if size >= 1e5 else f"{value:,.6g}"
