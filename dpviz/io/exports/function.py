"""A model as a function of cells that were read: what every export writes down in its own language.

A cell is a number as it stands, or the name of a category; missing and unknown ones have been replaced as the schema says, and a
row that it drops has no answer. Rounding and clipping, which `encode` does before a model sees a number, are in the tests.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from dpviz.errors import UnsupportedError
from dpviz.models.boosted import BoostedTrees
from dpviz.models.packed_forest import PackedForest, PackedTrees
from dpviz.models.tree import Branch, End, Forest, Rule, ThresholdRule, Tree, as_tree, prediction_of
from dpviz.models.tree import Leaf as ClassLeaf
from dpviz.models.tree import Node as ModelNode
from dpviz.table.cells import DeclaredTexts
from dpviz.table.schema import CategoricalFeature, Feature, NumericFeature, NumericTarget, Schema

#: Longer paths overflow the stack of one target or another.
MAX_PATH_LENGTH = 250
#: Nested deeper than this, the shallower side of a test goes first: parsers have short stacks (SQLite: a hundred symbols).
_DEEPEST_NEST = 12
#: What a declared code of missing cells means among categories.
MISSING = -2
_INVERSE: dict[str, Literal["<=", "<", ">", ">="]] = {"<=": ">", "<": ">=", ">": "<=", ">=": "<"}
#: one: the tree's own answer. most: the class with the largest sum. sign: a sum above 0 means the second class. sum: the sum.
Decision = Literal["one", "most", "sign", "sum"]
#: Where probabilities of the classes come from. leaf: they stand at the ends. votes: each class's share of the trees. odds: the
#: softmax of the sums; a single sum is the log-odds of the second class. none: the model holds none, or its sums do not say.
Probabilities = Literal["none", "leaf", "votes", "odds"]


@dataclass(frozen=True, slots=True)
class Leaf:
    """The end of a path: a class code or a number, or what the tree adds to each sum; `leaf` of a single tree."""

    amounts: tuple[float, ...]
    leaf: End | None = None

    @property
    def shares(self) -> tuple[float, ...]:
        """Probabilities of the classes, as far as the leaf holds any."""
        return self.leaf.shares or () if isinstance(self.leaf, ClassLeaf) else ()

    @property
    def counts(self) -> tuple[int, ...] | None:
        """Released noisy rows per class, where the leaf holds any."""
        return self.leaf.counts if isinstance(self.leaf, ClassLeaf) else None


@dataclass(frozen=True, slots=True)
class Condition:
    """What a cell of the column at `feature` must be: a number on a side of `mark`, or a category with one of `codes`."""

    feature: int
    sign: Literal["<=", "<", ">", ">=", "in"]
    mark: float = 0.0
    codes: tuple[int, ...] = ()

    def inverse(self, schema: Schema) -> Condition:
        """What every other cell is."""
        if self.sign != "in":
            return replace(self, sign=_INVERSE[self.sign])
        declared = schema.features[self.feature]
        assert isinstance(declared, CategoricalFeature)
        return replace(self, codes=tuple(sorted({*range(len(declared.categories))}.difference(self.codes))))


@dataclass(frozen=True, slots=True)
class Split:
    """A test and what follows: `yes` where the cell meets it, else `no`. `nesting`: how many yes sides lie within each other."""

    test: Condition
    yes: Node
    no: Node
    nesting: int


Node = Leaf | Split
#: What the cells of a column must be: the test from below and the test from above, or None; or the categories that are left.
Requirement = tuple[Condition | None, Condition | None] | frozenset[int]


@dataclass(frozen=True)
class Function:
    """Trees over cells and how their answers become a prediction. `start`: what each sum starts from."""

    schema: Schema
    trees: tuple[Node, ...]
    how: Decision
    start: tuple[float, ...] = (0.0,)
    probabilities: Probabilities = "none"

    @cached_property
    def n_ends(self) -> int:
        """Ends of paths in all trees."""
        return sum(isinstance(node, Leaf) for tree in self.trees for node in nodes(tree))

    @property
    def is_one_tree(self) -> bool:
        """True for a tree whose ends are the predictions."""
        return self.how == "one"

    @property
    def names(self) -> tuple[str, ...]:
        """What can be predicted: the class names, none for numbers."""
        return () if isinstance(self.schema.target, NumericTarget) else self.schema.classes

    def answer(self, end: Leaf) -> str | float:
        """What an end of a single tree predicts: the name of a class, or a number."""
        return self.names[int(end.amounts[0])] if self.names else end.amounts[0]


def nodes(tree: Node) -> Iterator[Node]:
    """Every node, parents first, yes before no."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Split):
            stack += [node.no, node.yes]


def names_of(schema: Schema, test: Condition) -> tuple[bool, list[str]]:
    """(False, the categories that meet a test) or, where they are fewer, (True, all others); no names for a test of a number."""
    declared = schema.features[test.feature]
    if not isinstance(declared, CategoricalFeature):
        return False, []
    others = test.inverse(schema).codes
    is_others = len(others) < len(test.codes)
    return is_others, [declared.categories[code] for code in (others if is_others else test.codes)]


def declared_texts(feature: Feature) -> DeclaredTexts:
    """Which text of a column means which of its categories, and which `MISSING`."""
    codes = dict.fromkeys(feature.missing_codes, MISSING)
    if isinstance(feature, CategoricalFeature):
        codes |= {text: feature.categories.index(category) for text, category in feature.category_of.items()}
    return DeclaredTexts(codes)


# --- tests


def _condition_of(schema: Schema, rule: Rule) -> Condition | bool:
    """The rule as a test of a cell that was read; True or False where every cell takes the same side."""
    declared = schema.features[rule.feature]
    if isinstance(rule, ThresholdRule):
        assert isinstance(declared, NumericFeature)
        return _up_to(rule.threshold, declared, rule.feature)
    assert isinstance(declared, CategoricalFeature)
    codes = tuple(sorted(set(rule.codes)))
    return Condition(rule.feature, "in", codes=codes) if 0 < len(codes) < len(declared.categories) else bool(codes)


def _up_to(mark: float, declared: NumericFeature, feature: int) -> Condition | bool:
    low, high = (math.ceil(declared.low), math.floor(declared.high)) if declared.whole else (declared.low, declared.high)
    if not low <= mark:
        return False
    if high <= mark:  # clipping
        return True
    if not declared.whole:
        return Condition(feature, "<=", mark)
    whole = math.floor(mark)  # halves round to even: what rounds to at most `whole` is up to its half, which belongs to even ones
    return Condition(feature, "<=" if whole % 2 == 0 else "<", whole + 0.5)


def conjunction(requirement: Requirement | None, test: Condition) -> Requirement | None:
    """What meets a requirement and one more test; None where nothing does."""
    if test.sign == "in":
        assert not isinstance(requirement, tuple)
        codes = frozenset(test.codes) if requirement is None else requirement.intersection(test.codes)
        return codes or None
    assert not isinstance(requirement, frozenset)
    low, high = requirement or (None, None)
    if test.sign in ("<=", "<"):
        high = test if high is None or (test.mark, test.sign == "<=") < (high.mark, high.sign == "<=") else high
    else:
        low = test if low is None or (test.mark, test.sign == ">") > (low.mark, low.sign == ">") else low
    is_empty = low is not None and high is not None and not (meets(low.mark, high) and meets(high.mark, low))
    return None if is_empty else (low, high)


def meets(value: float, test: Condition | None) -> bool:
    """Whether a number meets a test; every one meets none."""
    signs = {"<=": operator.le, "<": operator.lt, ">": operator.gt, ">=": operator.ge}
    return test is None or bool(signs[test.sign](value, test.mark))


# --- models read as functions


def function_of(model: Any) -> Function:
    """The model over cells. Raises UnsupportedError for a kind that is no tree or trees, or is too deep."""
    tree, schema = as_tree(model), model.schema
    if tree is not None:
        has_shares = all(isinstance(leaf, ClassLeaf) and leaf.shares is not None for leaf in tree.leaves)
        node = _node_of(tree, lambda leaf: Leaf((float(prediction_of(leaf)),), leaf))
        return Function(schema, (node,), "one", probabilities="leaf" if has_shares else "none")
    if not isinstance(model, Forest | PackedForest | BoostedTrees):
        raise UnsupportedError(f"A model of kind {model.kind!r} is no tree.", remedy="Export it as JSON.")
    if not isinstance(model, Forest):
        _require_short(_longest_path(model.splits))
    if isinstance(model, BoostedTrees):
        n_sums, is_number = model.n_scores, isinstance(schema.target, NumericTarget)
        trees = tuple(_node_of(tree, partial(_leaf_sums, place % n_sums, n_sums)) for place, tree in enumerate(model.trees))
        how: Decision = "sum" if is_number else "sign" if n_sums == 1 else "most"
        return Function(schema, trees, how, (model.initial,) * n_sums, "none" if is_number else "odds")
    adds_counts = isinstance(model, PackedForest) and model.tallies is not None
    trees = tuple(_node_of(tree, partial(_vote, len(schema.classes), adds_counts)) for tree in model.trees)
    n_sums = 1 if len(schema.classes) == 2 else len(schema.classes)
    probabilities: Probabilities = "votes" if trees and not adds_counts else "none"
    return Function(schema, trees, "sign" if n_sums == 1 else "most", (0.0,) * n_sums, probabilities)


def _leaf_sums(place: int, n_sums: int, leaf: End) -> Leaf:
    """What a leaf of a boosted model adds to each sum."""
    return Leaf(tuple(float(prediction_of(leaf)) if place == k else 0.0 for k in range(n_sums)))


def _vote(n_classes: int, adds_counts: bool, leaf: End) -> Leaf:
    """One vote, or the released counts of the leaf; of two classes one sum, which the second class pulls above 0."""
    assert isinstance(leaf, ClassLeaf)
    amounts = leaf.counts if adds_counts and leaf.counts else tuple(int(leaf.label == k) for k in range(n_classes))
    return Leaf((float(amounts[1] - amounts[0]),) if n_classes == 2 else tuple(map(float, amounts)))


# --- trees


def _node_of(tree: Tree, end: Callable[[End], Leaf]) -> Node:
    """Without tests that every cell which gets there passes the same way, or whose sides end alike and count no rows."""
    _require_short(tree.depth)
    schema = tree.schema

    def read(node: ModelNode, requirements: Mapping[int, Requirement]) -> Node:
        if not isinstance(node, Branch):
            return end(node)
        test = _condition_of(schema, node.rule)
        if isinstance(test, bool):
            return read(node.left if test else node.right, requirements)
        inverse, requirement = test.inverse(schema), requirements.get(test.feature)
        yes_cells, no_cells = conjunction(requirement, test), conjunction(requirement, inverse)
        if yes_cells is None or no_cells is None:
            return read(node.right if yes_cells is None else node.left, requirements)
        yes, no = (
            read(node.left, {**requirements, test.feature: yes_cells}),
            read(node.right, {**requirements, test.feature: no_cells}),
        )
        if isinstance(yes, Leaf) and yes == no and yes.counts is None:
            return yes
        if _nesting_depth(yes) > _nesting_depth(no) and _nesting_depth(yes) >= _DEEPEST_NEST:
            test, yes, no = inverse, no, yes
        return Split(test, yes, no, max(_nesting_depth(yes) + 1, _nesting_depth(no)))

    return read(tree.root, {})


def _nesting_depth(node: Node) -> int:
    return node.nesting if isinstance(node, Split) else 0


def _require_short(depth: int) -> None:
    if depth > MAX_PATH_LENGTH:
        what = f"A path of this model has more than {MAX_PATH_LENGTH} splits, which is too deep for an export."
        raise UnsupportedError(what, remedy="Export it as JSON, or train with a smaller depth or fewer categories.")


def _longest_path(splits: PackedTrees) -> int:
    """In rules of two sides: one child per category becomes a chain of them."""
    depth, counts = np.zeros(len(splits.feature), dtype=np.int64), splits.n_children
    for place in np.flatnonzero(counts):  # parents come first
        children = np.arange(counts[place])
        depth[splits.first_child[place] + children] = depth[place] + np.minimum(children + 1, counts[place] - 1)
    return int(depth.max(initial=0))
