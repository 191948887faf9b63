"""A model as a function of raw cells: what every export writes down in its own language.

A cell is a number or missing (numeric column), a text or missing (categories). Rounding and clipping, which `encode` does
before a model sees a number, are worked into the conditions, so that an export needs no encoder: it predicts from the cell as it
stands. A missing or unknown cell without a stand-in in the schema goes right (`models/document.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from dpviz.io.exports.conditions import Condition
from dpviz.models.tree import Rule, ThresholdRule
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
class Split:
    """A condition and what follows: `yes` where the cell meets it, else `no`."""

    condition: Condition
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
        return sorted({step.condition.feature for step in steps(tree) if isinstance(step, Split)})

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


def up_to(mark: float, declared: NumericFeature, feature: int, *, included: bool = True) -> Condition | bool:
    """Is the encoded number up to `mark`, or below it? True or False where clipping sends every number to the same side."""

    def is_met(value: float) -> bool:
        return value < mark or (included and value == mark)

    ends = encoded_number(declared, np.array([declared.low, declared.high])).tolist()
    missing = declared.missing_as is not None and is_met(float(encoded_number(declared, np.array(declared.missing_as))))
    if not is_met(ends[0]):
        return False
    high, with_high = mark, included
    if is_met(ends[1]):
        high, with_high = LARGEST, True
    elif declared.whole:  # halves round to even: what rounds to at most `whole` is up to its half, which belongs to even ones
        whole = math.floor(mark) if included else math.ceil(mark) - 1
        high, with_high = whole + 0.5, whole % 2 == 0
    return Condition(feature, declared.name, high=high, with_high=with_high, missing=missing)


def encoded_number(declared: NumericFeature, values: np.ndarray) -> np.ndarray:
    """What `encode` makes of numbers: rounded where they are whole, then clipped. Not a number stays what it is."""
    if not declared.whole:
        return np.clip(values, declared.low, declared.high)
    return np.clip(np.rint(values), math.ceil(declared.low), math.floor(declared.high))
