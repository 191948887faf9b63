"""A model as a function of raw cells: what every export writes down in its own language.

A cell is a number or missing (numeric column), a text or missing (categories). Rounding and clipping, which `encode` does
before a model sees a number, are worked into the questions, so that an export needs no encoder: it predicts from the cell as it
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
from dpviz.models.boosted import BoostedTrees
from dpviz.models.constant import Constant
from dpviz.models.forest import Forest
from dpviz.models.packed_forest import LEAF, PackedForest, PackedTrees
from dpviz.models.tree import Branch, Leaf, Node, NumberLeaf, Rule, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, NumericFeature, NumericTarget, Schema

#: The largest number there is: every number is up to it.
LARGEST = float(np.finfo(np.float64).max)
#: Longer paths overflow the stack of one target or another.
LONGEST_PATH = 250
#: one: the tree's own answer. most: the class with the largest sum. sign: a sum above 0 means the second class. sum: the sum.
Decision = Literal["one", "most", "sign", "sum"]


@dataclass(frozen=True, slots=True)
class Question:
    """What decides between two sides; "yes" is the left one.

    Attributes
    ----------
    feature, name : int, str
        The column.
    threshold : float or None
        Numbers up to it (`strict`: below it) are a yes. None for categories.
    yes, no : tuple of str
        Every declared category, by its side.
    missing, unknown : bool
        True where a missing cell, or a text that is no category, is a yes.
    """

    feature: int
    name: str
    threshold: float | None = None
    strict: bool = False
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    missing: bool = False
    unknown: bool = False

    def asks(self, cell: float | str | None) -> bool:
        """The answer for one cell."""
        if cell is None:
            return self.missing
        if self.threshold is None:
            return cell in self.yes or (self.unknown and cell not in self.no)
        number = float(cell)
        return number < self.threshold if self.strict else number <= self.threshold


@dataclass(frozen=True, slots=True)
class End:
    """The end of a path: a class code or a number, or what the tree adds to each sum."""

    amounts: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """A question and what follows each answer."""

    question: Question
    yes: Step
    no: Step


Step = End | Split


@dataclass(frozen=True)
class Function:
    """Trees over raw cells and how their answers become a prediction. `start`: what each sum starts from."""

    schema: Schema
    trees: tuple[Step, ...]
    how: Decision
    start: tuple[float, ...] = (0.0,)

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
        return sorted({step.question.feature for step in steps(tree) if isinstance(step, Split)})

    def answer(self, end: End) -> str | float:
        """What an end of a single tree predicts: the name of a class, or a number."""
        return end.amounts[0] if self.names is None else self.names[int(end.amounts[0])]


def steps(tree: Step) -> Iterator[Step]:
    """Every step, parents first, yes before no."""
    stack = [tree]
    while stack:
        step = stack.pop()
        yield step
        if isinstance(step, Split):
            stack += [step.no, step.yes]


def follow(tree: Step, cells: tuple[Any, ...]) -> End:
    """The end that a row reaches."""
    while isinstance(tree, Split):
        tree = tree.yes if tree.question.asks(cells[tree.question.feature]) else tree.no
    return tree


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
    return Function(tree.schema, (_from_node(tree, lambda leaf: (float(_said(leaf)),)),), "one")


def _said(leaf: Leaf | NumberLeaf) -> float:
    return leaf.label if isinstance(leaf, Leaf) else leaf.value


def _of_forest(forest: Forest) -> Function:
    votes = _votes(len(forest.schema.classes))
    trees = tuple(_from_node(tree, lambda leaf: votes[leaf.label]) for tree in forest.trees)
    return _voting(forest.schema, trees)


def _voting(schema: Schema, trees: tuple[Step, ...]) -> Function:
    n_sums = 1 if len(schema.classes) == 2 else len(schema.classes)
    return Function(schema, trees, "sign" if n_sums == 1 else "most", (0.0,) * n_sums)


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
    return _voting(forest.schema, _from_packed(forest.splits, amounts))


def _of_boosted(model: BoostedTrees) -> Function:
    n_sums, splits = model.n_scores, model.splits
    turn = splits.tree[splits.leaves] % n_sums
    amounts = np.zeros((len(turn), n_sums))
    amounts[np.arange(len(turn)), turn] = model.values
    how: Decision = "sum" if isinstance(model.schema.target, NumericTarget) else "sign" if n_sums == 1 else "most"
    trees = _from_packed(splits, [tuple(row) for row in amounts.tolist()])
    return Function(model.schema, trees, how, (model.initial,) * n_sums)


# --- trees


def _split(question: Question | bool, yes: Step, no: Step) -> Step:
    """Without questions whose answer is known or changes nothing."""
    if isinstance(question, bool):
        return yes if question else no
    return yes if isinstance(yes, End) and yes == no else Split(question, yes, no)


def _require_short(depth: int) -> None:
    if depth > LONGEST_PATH:
        what = f"A path of this model asks more than {LONGEST_PATH} questions, which is too deep for an export."
        raise NotExported(what, remedy="Export it as JSON, or train with a smaller depth or fewer categories.")


def _from_node(tree: Tree, amounts: Callable[[Any], tuple[float, ...]]) -> Step:
    _require_short(tree.depth)

    def read(node: Node) -> Step:
        if not isinstance(node, Branch):
            return End(amounts(node))
        return _split(question_of(tree.schema, node.rule), read(node.left), read(node.right))

    return read(tree.root)


def _from_packed(splits: PackedTrees, amounts: list[tuple[float, ...]]) -> tuple[Step, ...]:
    reader = _PackedReader(splits, amounts)
    return tuple(reader.read(int(root), 0) for root in splits.roots)


class _PackedReader:
    """Reads nodes of packed trees; one child per category becomes one question after the other."""

    def __init__(self, splits: PackedTrees, amounts: list[tuple[float, ...]]) -> None:
        self.splits, self.amounts = splits, amounts

    def read(self, place: int, depth: int) -> Step:
        _require_short(depth)
        splits = self.splits
        if splits.feature[place] == LEAF:
            return End(self.amounts[splits.leaf_number[place]])
        feature, threshold, first = int(splits.feature[place]), float(splits.threshold[place]), int(splits.first_child[place])
        declared = splits.schema.features[feature]
        if isinstance(declared, CategoricalFeature) and math.isnan(threshold):
            return self._one_each(feature, len(declared.categories), first, depth)
        rule: Rule = ThresholdRule(feature, threshold)
        if isinstance(declared, CategoricalFeature):
            rule = SubsetRule(feature, tuple(range(min(int(threshold) + 1, len(declared.categories)))))
        return _split(question_of(splits.schema, rule), self.read(first, depth + 1), self.read(first + 1, depth + 1))

    def _one_each(self, feature: int, count: int, first: int, depth: int) -> Step:
        chain = self.read(first + count - 1, depth + count)
        for code in reversed(range(count - 1)):
            asked = question_of(self.splits.schema, SubsetRule(feature, (code,)))
            chain = _split(asked, self.read(first + code, depth + code + 1), chain)
        return chain


# --- questions


def question_of(schema: Schema, rule: Rule) -> Question | bool:
    """The rule as a question about a raw cell; True or False where every cell gets the same answer."""
    declared = schema.features[rule.feature]
    if isinstance(rule, ThresholdRule):
        assert isinstance(declared, NumericFeature)
        return _about_number(rule, declared)
    assert isinstance(declared, CategoricalFeature)
    left = {declared.categories[code] for code in rule.codes}
    if not left:
        return False
    yes = tuple(name for name in declared.categories if name in left)
    no = tuple(name for name in declared.categories if name not in left)
    sides = {"missing": declared.missing_as in left, "unknown": declared.unknown_as in left}
    return Question(rule.feature, declared.name, yes=yes, no=no, **sides)


def _about_number(rule: ThresholdRule, declared: NumericFeature) -> Question | bool:
    """Clipping: a threshold outside the range gives every number the same answer. Rounding: see `_before_rounding`."""
    stand_in = declared.missing_as
    missing = stand_in is not None and bool(encoded_number(declared, np.array([stand_in]))[0] <= rule.threshold)
    low, high = encoded_number(declared, np.array([declared.low, declared.high])).tolist()
    if rule.threshold < low:
        return False
    if rule.threshold >= high:
        return Question(rule.feature, declared.name, LARGEST, missing=missing)
    threshold, strict = _before_rounding(rule.threshold) if declared.whole else (rule.threshold, False)
    return Question(rule.feature, declared.name, threshold, strict, missing=missing)


def _before_rounding(threshold: float) -> tuple[float, bool]:
    """Which numbers round to at most `threshold`, halves to even: those up to, or below, the half above its whole part."""
    whole = math.floor(threshold)
    return whole + 0.5, whole % 2 != 0


def encoded_number(declared: NumericFeature, values: np.ndarray) -> np.ndarray:
    """What `encode` makes of numbers: rounded where they are whole, then clipped. Not a number stays what it is."""
    if not declared.whole:
        return np.clip(values, declared.low, declared.high)
    return np.clip(np.rint(values), math.ceil(declared.low), math.floor(declared.high))
