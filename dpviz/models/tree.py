"""A decision tree: leaves, branches and the rules that choose a branch; many that vote. Training types are elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count

import numpy as np

from dpviz.errors import ParameterError, deprecated_name, no_probabilities
from dpviz.models.base import Model, VoteMixin, require_same_columns
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Feature, NumericFeature, Schema


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
MAX_CATEGORIES = 8  # categories in a question on screen; rules as text and exports list all


@dataclass(frozen=True, slots=True)
class Leaf:
    """The end of a path: predicts the class with this code."""

    label: int
    #: Released noisy rows per class, in the order of the schema; None where none were released. May be negative.
    counts: tuple[int, ...] | None = None
    #: Probability of every class, post-processed from released counts; sums to 1.
    shares: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class NumberLeaf:
    """The end of a path: predicts this number, in the target's units (inside a boosted model: what it adds to the score)."""

    value: float
    #: Ends of a 95% interval of the mean of the rows that get here, from released sums; None where none were released.
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class MedianSplit:
    """What a rule is meant to part: targets of at most `median`, a cut near the median, go left if `low_left`. Both released."""

    median: float
    low_left: bool


@dataclass(frozen=True, slots=True)
class Branch:
    """A rule and its two subtrees; `median_split` where a private cut was released with the rule."""

    rule: Rule
    left: Node
    right: Node
    median_split: MedianSplit | None = None
    halves = deprecated_name("halves", "median_split")


End = Leaf | NumberLeaf
Node = Leaf | NumberLeaf | Branch


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A node and its place: `path` is "" for the root, then L and R; depth = len(path)."""

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
    """A tree over the columns of `schema`; its leaves are all classes or all numbers."""

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
            if not isinstance(node, Branch) or step not in "LR":
                raise KeyError(path)
            node = node.left if step == "L" else node.right
        return node

    @cached_property
    def depth(self) -> int:
        """Longest path in edges."""
        return max(placed.depth for placed in self.nodes())

    @cached_property
    def leaves(self) -> tuple[End, ...]:
        """The leaves from left to right."""
        return tuple(placed.node for placed in self.nodes() if not isinstance(placed.node, Branch))

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaves)

    @cached_property
    def values(self) -> tuple[float, ...]:
        """The numbers of the leaves from left to right; empty for a tree of classes."""
        return tuple(leaf.value for leaf in self.leaves if isinstance(leaf, NumberLeaf))

    def predict(self, data: EncodedDataset) -> np.ndarray:
        """Shape (n_rows,): class codes, uint8, or numbers, float64. Raises SchemaError when the columns are not the tree's."""
        require_same_columns(self.schema, data.schema)
        predicted = np.empty(data.n_rows, dtype=np.float64 if self.values else np.uint8)
        _fill(self.root, data.columns, None, predicted)
        return predicted

    def predict_proba(self, data: EncodedDataset) -> np.ndarray:
        """Shares of the classes in each row's leaf: float64 of shape (n_rows, n_classes).

        Raises UnsupportedError when a leaf has no shares, SchemaError when the columns are not the tree's.
        """
        require_same_columns(self.schema, data.schema)
        shares = [leaf.shares for leaf in self.leaves if isinstance(leaf, Leaf) and leaf.shares is not None]
        if len(shares) < self.n_leaves:
            raise no_probabilities(self.kind)
        return np.array(shares)[self.leaf_of_rows(data)]

    def leaf_of_rows(self, data: EncodedDataset) -> np.ndarray:
        """The leaf that each row reaches, int64, numbered from left to right. Private."""
        leaves, numbers = np.empty(data.n_rows, dtype=np.int64), count()
        _fill(_with_leaves(self.root, lambda _: NumberLeaf(next(numbers))), data.columns, None, leaves)
        return leaves

    def relabelled(self, costs: Sequence[Sequence[float]]) -> Tree:
        """The same shares with the labels of least expected cost; `costs[actual][said]`. Post-processing: costs no epsilon.

        Raises UnsupportedError when a leaf has no shares, ParameterError unless `costs` is finite and of that shape.
        """
        table, n_classes = np.array(costs, dtype=np.float64), len(self.schema.classes)
        if table.shape != (n_classes, n_classes) or not np.isfinite(table).all():
            raise ParameterError("relabelled", "costs", costs, f"{n_classes} rows of {n_classes} finite numbers")

        def relabelled(leaf: End) -> Leaf:
            if not isinstance(leaf, Leaf) or leaf.shares is None:
                raise no_probabilities(self.kind)
            return Leaf(int((np.array(leaf.shares) @ table).argmin()), leaf.counts, leaf.shares)

        return Tree(self.schema, _with_leaves(self.root, relabelled))

    def labels_only(self) -> Tree:
        """The same labels at the same places, without counts and shares."""
        return Tree(self.schema, _with_leaves(self.root, lambda leaf: Leaf(leaf.label) if isinstance(leaf, Leaf) else leaf))

    def merged(self) -> Tree:
        """The same function without branches whose two sides predict the same. Post-processing: costs nothing."""
        return Tree(self.schema, _merge(self.root))


class Constant(Tree):
    """A tree that is one leaf without probabilities: predicts the class with code `label`."""

    kind = "constant"

    def __init__(self, schema: Schema, label: int) -> None:
        super().__init__(schema, Leaf(label))


def as_tree(model: Model) -> Tree | None:
    """The model as one complete tree; None for other kinds of model."""
    return model if isinstance(model, Tree) else None


@dataclass(frozen=True)
class Forest(VoteMixin):
    """Trees over the columns of one schema; each has one vote. Without trees every class has none."""

    schema: Schema
    trees: tuple[Tree, ...]
    #: True where every row reached one tree, which was trained on its own rows alone: votes then certify predictions. Files do
    #: not say so.
    are_disjoint: bool = field(default=False, compare=False)

    kind = "forest"

    def __post_init__(self) -> None:
        object.__setattr__(self, "trees", tuple(self.trees))
        for tree in self.trees:
            if tree.schema is not self.schema:
                require_same_columns(self.schema, tree.schema)

    def labels_by_member(self, data: EncodedDataset) -> Iterator[np.ndarray]:
        """As each tree predicts."""
        return (tree.predict(data) for tree in self.trees)


def _fill(node: Node, columns: tuple[np.ndarray, ...], rows: np.ndarray | None, answers: np.ndarray) -> None:
    if not isinstance(node, Branch):
        answers[slice(None) if rows is None else rows] = prediction_of(node)
        return
    column = columns[node.rule.feature]
    left = node.rule.goes_left(column if rows is None else column[rows])
    for child, is_there in ((node.left, left), (node.right, ~left)):
        _fill(child, columns, np.flatnonzero(is_there) if rows is None else rows[is_there], answers)


def _with_leaves(node: Node, new: Callable[[End], End]) -> Node:
    """The same rules with `new(leaf)` in place of every leaf, from left to right."""
    if not isinstance(node, Branch):
        return new(node)
    return Branch(node.rule, _with_leaves(node.left, new), _with_leaves(node.right, new))


def _merge(node: Node) -> Node:
    if not isinstance(node, Branch):
        return node
    left, right = _merge(node.left), _merge(node.right)
    if not isinstance(left, Branch) and left == right:
        return left
    return replace(node, left=left, right=right)


def child_per_category(feature: int, children: Sequence[Node]) -> Node:
    """One child per category, in their order, as a chain of rules of two sides."""
    chain = children[-1]
    for code in reversed(range(len(children) - 1)):
        chain = Branch(SubsetRule(feature, (code,)), children[code], chain)
    return chain


def prediction_of(leaf: End) -> float:
    """The class code of a leaf, or its number."""
    return leaf.label if isinstance(leaf, Leaf) else leaf.value


def leaf_in_words(schema: Schema, leaf: End) -> str:
    """What a leaf predicts, as people read it: the name of its class, or its number."""
    return schema.classes[leaf.label] if isinstance(leaf, Leaf) else format_value(leaf.value)


def rule_in_words(schema: Schema, rule: Rule) -> str:
    """The rule as people read it: "age <= 37.5", "colour is red or blue"; the test for going left. A long list is cut short."""
    feature = schema.features[rule.feature]
    match rule:
        case ThresholdRule():
            unit = f" {feature.unit}" if isinstance(feature, NumericFeature) and feature.unit else ""
            return f"{feature.name} ≤ {format_number(declared_precision(feature, rule.threshold))}{unit}"
        case SubsetRule():
            assert isinstance(feature, CategoricalFeature)
            named = [feature.categories[code] for code in rule.codes]
            if len(named) > MAX_CATEGORIES:
                named[MAX_CATEGORIES - 1 :] = [f"{len(named) - MAX_CATEGORIES + 1} more"]
            return f"{feature.name} is {' or '.join(named)}"


def declared_precision(feature: Feature, threshold: float) -> float:
    """The threshold as people read it; files hold it in full.

    Between whole numbers the lower one, which parts them alike; else to a decimal place of at most a thousandth of the declared
    range. The declaration alone decides: no row and no other threshold is looked at.
    """
    if not isinstance(feature, NumericFeature):
        return threshold
    if feature.whole:
        return math.floor(threshold)
    place = math.floor(math.log10((feature.high - feature.low) / 1000))
    return min(feature.high, max(feature.low, round(threshold, -place)))


def format_number(value: float) -> str:
    """Whole and half numbers as they are, others to six significant digits, no trailing zeros; grouped from 10,000 on."""
    size, group = abs(value), _grouping(float(f"{value:.6g}"))
    if size >= 1e15 or 0 < size < 1e-7:
        return f"{value:.6g}"
    if 0 < size < 1e-4:  # a threshold near the end of its range: three digits, but no exponent
        return np.format_float_positional(value, precision=3, fractional=False, trim="-")
    if float(2 * value).is_integer():  # thresholds of whole numbers: 1,234,567.5 must not read 1,234,570
        return f"{value + 0.0:{group}.1f}".removesuffix(".0")
    return f"{value:{group}.0f}" if size >= 1e5 else f"{value:{group}.6g}"


def format_value(value: float) -> str:
    """A predicted number in at most four significant digits, whole from 1000 on; the model holds it in full."""
    return f"{value + 0.0:{_grouping(round(value))}.0f}" if 1e3 <= abs(value) < 1e15 else f"{value + 0.0:.4g}"


def _grouping(value: float) -> str:
    """Thousands are grouped from 10,000 on: four digits are often a year."""
    return "," if abs(value) >= 1e4 else ""
