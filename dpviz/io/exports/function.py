"""A model as a function of raw cells: what every export writes down in its own language.

A cell is a number or missing (numeric column), a text or missing (categories). Rounding and clipping, which `encode` does
before a model sees a number, are worked into the conditions, so that an export needs no encoder: it predicts from the cell as it
stands. A missing or unknown cell without a stand-in in the schema goes right (`models/document.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from dpviz.errors import NotExported
from dpviz.io.exports.conditions import Condition
from dpviz.models.boosted import BoostedTrees
from dpviz.models.constant import Constant
from dpviz.models.packed_forest import OfPackedTrees, PackedForest, PackedTrees
from dpviz.models.tree import Branch, Forest, Leaf, Node, NumberLeaf, Rule, ThresholdRule, Tree, said_by
from dpviz.table.schema import CategoricalFeature, NumericFeature, NumericTarget, Schema

#: The largest number there is: every number is up to it.
LARGEST = float(np.finfo(np.float64).max)
#: one: the tree's own answer. most: the class with the largest sum. sign: a sum above 0 means the second class. sum: the sum.
Decision = Literal["one", "most", "sign", "sum"]
#: Where probabilities of the classes come from. leaf: they stand at the ends. votes: each class's share of the trees. odds: the
#: softmax of the sums; a single sum is the log-odds of the second class. none: the model holds none, or its sums do not say.
Probabilities = Literal["none", "leaf", "votes", "odds"]


@dataclass(frozen=True, slots=True)
class End:
    """The end of a path: a class code or a number, or what the tree adds to each sum. `shares`: a single tree's probabilities."""

    amounts: tuple[float, ...]
    shares: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Conditional:
    """A condition and what follows: `yes` where the cell meets it, else `no`."""

    condition: Condition
    yes: Step
    no: Step


Step = End | Conditional


@dataclass(frozen=True)
class Function:
    """Trees over raw cells and how their answers become a prediction. `start`: what each sum starts from."""

    schema: Schema
    trees: tuple[Step, ...]
    how: Decision
    start: tuple[float, ...] = (0.0,)
    chances: Probabilities = "none"

    @cached_property
    def n_ends(self) -> int:
        """Ends of paths in all trees."""
        return sum(isinstance(step, End) for tree in self.trees for step in steps(tree))

    @property
    def is_one_tree(self) -> bool:
        """True for a tree whose ends are the predictions."""
        return self.how == "one"

    @property
    def names(self) -> tuple[str, ...] | None:
        """What can be predicted: the class names, None for numbers."""
        return None if isinstance(self.schema.target, NumericTarget) else self.schema.classes

    def features_of(self, tree: Step) -> list[int]:
        """Positions of the features the tree asks for, increasing."""
        return sorted({step.condition.feature for step in steps(tree) if isinstance(step, Conditional)})

    def answer(self, end: End) -> str | float:
        """What an end of a single tree predicts: the name of a class, or a number."""
        return end.amounts[0] if self.names is None else self.names[int(end.amounts[0])]


def steps(tree: Step) -> Iterator[Step]:
    """Every step, parents first, yes before no."""
    stack = [tree]
    while stack:
        step = stack.pop()
        yield step
        if isinstance(step, Conditional):
            stack += [step.no, step.yes]


# --- conditions


def condition_of(schema: Schema, rule: Rule) -> Condition | bool:
    """The rule as a condition on a raw cell; True or False where every cell takes the same side."""
    declared = schema.features[rule.feature]
    if isinstance(rule, ThresholdRule):
        assert isinstance(declared, NumericFeature)
        return up_to(rule.threshold, declared, rule.feature)
    assert isinstance(declared, CategoricalFeature)
    left = {declared.categories[code] for code in rule.codes}
    if not left:
        return False
    missing, category_of = declared.missing_as in left, declared.category_of
    if declared.unknown_as in left:
        others = tuple(text for text, category in category_of.items() if category not in left)
        return Condition(rule.feature, declared.name, but=others, missing=missing)
    among = tuple(text for text, category in category_of.items() if category in left)
    return Condition(rule.feature, declared.name, among=among, missing=missing)


def up_to(mark: float, declared: NumericFeature, feature: int) -> Condition | bool:
    """Is the encoded number up to `mark`? True or False where clipping sends every number to the same side."""

    def is_met(value: float) -> bool:
        return value <= mark

    ends = encoded_number(declared, np.array([declared.low, declared.high])).tolist()
    missing = declared.missing_as is not None and is_met(float(encoded_number(declared, np.array(declared.missing_as))))
    if not is_met(ends[0]):
        return False
    high, with_high = mark, True
    if is_met(ends[1]):
        high = LARGEST
    elif declared.whole:  # halves round to even: what rounds to at most `whole` is up to its half, which belongs to even ones
        whole = math.floor(mark)
        high, with_high = whole + 0.5, whole % 2 == 0
    return Condition(feature, declared.name, high=high, with_high=with_high, missing=missing)


def encoded_number(declared: NumericFeature, values: np.ndarray) -> np.ndarray:
    """What `encode` makes of numbers: rounded where they are whole, then clipped. Not a number stays what it is."""
    if not declared.whole:
        return np.clip(values, declared.low, declared.high)
    return np.clip(np.rint(values), math.ceil(declared.low), math.floor(declared.high))


# --- models read as functions


#: Longer paths overflow the stack of one target or another.
LONGEST_PATH = 250


def function_of(model: Any) -> Function:
    """The model over raw cells. Raises NotExported for a kind that is no tree or trees, or is too deep."""
    makers: dict[type, Callable[[Any], Function]] = {
        Tree: _of_tree,
        Constant: lambda constant: _of_tree(Tree(constant.schema, Leaf(constant.label))),
        Forest: _of_forest,
        PackedForest: _of_packed_forest,
        BoostedTrees: _of_boosted,
    }
    if type(model) not in makers:
        raise NotExported(f"A model of kind {model.kind!r} is no tree.", remedy="Export it as JSON.")
    return makers[type(model)](model)


def _of_tree(tree: Tree) -> Function:
    leaves = [placed.node for placed in tree.nodes() if not isinstance(placed.node, Branch)]
    has_shares = all(isinstance(leaf, Leaf) and leaf.shares is not None for leaf in leaves)
    return Function(tree.schema, (_from_node(tree, _end),), "one", chances="leaf" if has_shares else "none")


def _end(leaf: Leaf | NumberLeaf) -> End:
    return End((float(said_by(leaf)),), leaf.shares if isinstance(leaf, Leaf) else None)


def _of_forest(forest: Forest) -> Function:
    votes = _votes(len(forest.schema.classes))
    trees = tuple(_from_node(tree, lambda leaf: End(votes[leaf.label])) for tree in forest.trees)
    return _voting(forest.schema, trees, "votes" if trees else "none")


def _voting(schema: Schema, trees: tuple[Step, ...], chances: Probabilities) -> Function:
    n_sums = 1 if len(schema.classes) == 2 else len(schema.classes)
    return Function(schema, trees, "sign" if n_sums == 1 else "most", (0.0,) * n_sums, chances)


def _votes(n_classes: int) -> list[tuple[float, ...]]:
    """What a vote for each class adds; for two classes one sum, which the second class pulls above 0."""
    one_each = np.eye(n_classes).tolist()
    return [(-1.0,), (1.0,)] if n_classes == 2 else [tuple(row) for row in one_each]


def _of_packed_forest(forest: PackedForest) -> Function:
    if forest.tallies is None:
        votes = _votes(len(forest.schema.classes))
        amounts = [votes[label] for label in forest.labels.tolist()]
    else:
        tallies = forest.tallies.astype(np.float64)
        shown = tallies[:, 1:] - tallies[:, :1] if tallies.shape[1] == 2 else tallies
        amounts = [tuple(row) for row in shown.tolist()]
    return _voting(forest.schema, _from_packed(forest.splits, amounts), "votes" if forest.tallies is None else "none")


def _of_boosted(model: BoostedTrees) -> Function:
    n_sums, splits = model.n_scores, model.splits
    turn = splits.tree[splits.leaves] % n_sums
    amounts = np.zeros((len(turn), n_sums))
    amounts[np.arange(len(turn)), turn] = model.values
    how: Decision = "sum" if isinstance(model.schema.target, NumericTarget) else "sign" if n_sums == 1 else "most"
    trees = _from_packed(splits, [tuple(row) for row in amounts.tolist()])
    return Function(model.schema, trees, how, (model.initial,) * n_sums, "none" if how == "sum" else "odds")


# --- trees


def _split(condition: Condition | bool, yes: Step, no: Step) -> Step:
    """Without a split that every cell passes the same way, or whose sides end alike."""
    if isinstance(condition, bool):
        return yes if condition else no
    return yes if isinstance(yes, End) and yes == no else Conditional(condition, yes, no)


def _require_short(depth: int) -> None:
    if depth > LONGEST_PATH:
        what = f"A path of this model has more than {LONGEST_PATH} splits, which is too deep for an export."
        raise NotExported(what, remedy="Export it as JSON, or train with a smaller depth or fewer categories.")


def _from_node(tree: Tree, end: Callable[[Any], End]) -> Step:
    _require_short(tree.depth)

    def read(node: Node) -> Step:
        if not isinstance(node, Branch):
            return end(node)
        return _split(condition_of(tree.schema, node.rule), read(node.left), read(node.right))

    return read(tree.root)


def _from_packed(splits: PackedTrees, amounts: list[tuple[float, ...]]) -> tuple[Step, ...]:
    _require_short(_longest_path(splits))
    return tuple(_from_node(tree, lambda leaf: End(amounts[int(leaf.value)])) for tree in _Numbered(splits).trees)


def _longest_path(splits: PackedTrees) -> int:
    """In rules of two sides: one child per category becomes a chain of them."""
    depth, counts = np.zeros(len(splits.feature), dtype=np.int64), splits.n_children()
    for place in np.flatnonzero(counts):  # parents come first
        children = np.arange(counts[place])
        depth[splits.first_child[place] + children] = depth[place] + np.minimum(children + 1, counts[place] - 1)
    return int(depth.max(initial=0))


@dataclass(frozen=True, eq=False)
class _Numbered(OfPackedTrees):
    """Packed trees whose leaves say their own number."""

    splits: PackedTrees

    def leaf(self, number: int) -> NumberLeaf:
        return NumberLeaf(float(number))
