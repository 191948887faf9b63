"""A tree in words: its rules one by one, a node in short, a path as a sentence.

Names are made `visible` as in the drawing, but not escaped: whoever puts the text into Markdown or HTML does that.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from dpviz.charts.theme import class_letter
from dpviz.charts.tree.labels import interval_in_words, rule_parts, visible
from dpviz.models.tree import (
    Branch,
    End,
    Leaf,
    Node,
    NumberLeaf,
    Rule,
    SubsetRule,
    ThresholdRule,
    Tree,
    declared_precision,
    format_number,
    leaf_in_words,
    rule_in_words,
)
from dpviz.table.schema import CategoricalFeature, Feature, NumericFeature

SIDES = {"L": "true", "R": "false"}


@dataclass(frozen=True, slots=True)
class RuleLine:
    """One leaf as a rule: the steps from the root ("LLR"), and the class or number it predicts.

    `conditions` has one per feature on the way, in the order they are first asked; none when the tree is a single leaf.
    `possible` is False when they exclude each other: a private tree may ask so, and no row gets there.
    """

    path: str
    conditions: tuple[str, ...]
    label: str
    possible: bool = True

    @property
    def text(self) -> str:
        """The rule on one line: "20 < age ≤ 37.5 and housing is rent → yes"."""
        conditions = " and ".join(self.conditions) or "always"
        return f"{conditions} → {self.label}" + ("" if self.possible else " (no row can get here)")


def rule_list(tree: Tree) -> tuple[RuleLine, ...]:
    """One line per leaf, left to right, with the conditions on one feature merged into one."""
    return tuple(_line(tree, placed.path, placed.node) for placed in tree.nodes() if not isinstance(placed.node, Branch))


def path_in_words(tree: Tree, path: str) -> str:
    """The answers that lead to the node: "age ≤ 37.5: true, then housing is rent: false". Raises KeyError for an unknown path."""
    tree.node(path)
    answers = [rule_in_words(tree.schema, rule) + f": {SIDES[step]}" for rule, step in _questions(tree, path)]
    return ", then ".join(map(visible, answers)) or "the root, where every row starts"


def node_in_short(tree: Tree, node: Node) -> str:
    """The rule of a branch, or what a leaf predicts behind an arrow."""
    words = rule_in_words(tree.schema, node.rule) if isinstance(node, Branch) else f"→ {leaf_in_words(tree.schema, node)}"
    return visible(words)


def is_contradicted(node: Node) -> bool:
    """Whether the counts of a leaf speak for another class than the one it predicts: its label comes from other rows."""
    return isinstance(node, Leaf) and node.shares is not None and node.shares[node.label] < max(node.shares)


def leaves_below(tree: Tree, path: str) -> str:
    """How many leaves the branch at `path` leads to."""
    return f"{sum(not isinstance(placed.node, Branch) for placed in tree.nodes() if placed.path.startswith(path)):,} leaves"


def node_in_words(tree: Tree, path: str) -> str:
    """What a screen reader says of a node: what it asks or predicts, how it is reached. Raises KeyError for an unknown path."""
    node = tree.node(path)
    if isinstance(node, Leaf):
        what = f"Predicts {visible(leaf_in_words(tree.schema, node))}, class {class_letter(node.label)}"
    elif isinstance(node, NumberLeaf):
        between = "" if node.interval is None else f", mean {interval_in_words(node.interval)}"
        what = f"Predicts {leaf_in_words(tree.schema, node)}{between}"
    else:
        what = f"Asks: {' '.join(rule_parts(tree.schema, node.rule))}?"
    reached = f"reached by {SIDES[path[-1]]}" if path else "the root"
    return f"{what}{'' if what.endswith('?') else '.'} Depth {len(path)}, {reached}."


def _questions(tree: Tree, path: str) -> Iterator[tuple[Rule, str]]:
    for depth, step in enumerate(path):
        node = tree.node(path[:depth])
        assert isinstance(node, Branch)
        yield node.rule, step


def _line(tree: Tree, path: str, leaf: End) -> RuleLine:
    asked: dict[int, list[tuple[Rule, bool]]] = {}
    for rule, step in _questions(tree, path):
        asked.setdefault(rule.feature, []).append((rule, step == "L"))
    found = [_condition(tree.schema.features[feature], answers) for feature, answers in asked.items()]
    conditions = tuple(visible(words) for words, _ in found)
    return RuleLine(path, conditions, visible(leaf_in_words(tree.schema, leaf)), all(possible for _, possible in found))


def _condition(column: Feature, answers: list[tuple[Rule, bool]]) -> tuple[str, bool]:
    """What all rules on one feature ask together, in words, and whether any value meets it."""
    if isinstance(column, CategoricalFeature):
        codes = set(range(len(column.categories)))
        for rule, yes in answers:
            held = set(rule.codes) if isinstance(rule, SubsetRule) else set()
            codes = codes & held if yes else codes - held
        return _categories_in_words(column, codes), bool(codes)
    thresholds = [(rule.threshold, yes) for rule, yes in answers if isinstance(rule, ThresholdRule)]
    low = max((threshold for threshold, yes in thresholds if not yes), default=-math.inf)
    high = min((threshold for threshold, yes in thresholds if yes), default=math.inf)
    said = tuple(end if math.isinf(end) else declared_precision(column, end) for end in (low, high))
    if low < high and said[0] == said[1]:  # so close that only their own digits part them
        said = (low, high)
    return _range_in_words(column, *said), low < high


def _range_in_words(column: NumericFeature, low: float, high: float) -> str:
    unit = f" {column.unit}" if column.unit else ""
    if math.isinf(high):
        return f"{column.name} > {format_number(low)}{unit}"
    least = "" if math.isinf(low) else f"{format_number(low)} < "
    return f"{least}{column.name} ≤ {format_number(high)}{unit}"


def _categories_in_words(column: CategoricalFeature, codes: set[int]) -> str:
    """The shorter of "is a or b" and "is not c"."""
    inside = [category for code, category in enumerate(column.categories) if code in codes]
    outside = [category for category in column.categories if category not in inside]
    if not inside:
        return f"{column.name} is none of its categories"
    if outside and len(outside) < len(inside):
        return f"{column.name} is not {' or '.join(outside)}"
    return f"{column.name} is {' or '.join(inside)}"
