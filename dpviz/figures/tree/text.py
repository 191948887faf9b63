"""The text twin of a tree: its rules one by one, its nodes as a table, a path as a sentence.

Names are made `visible` as in the drawing, but not escaped: whoever puts the text into Markdown or HTML does that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dpviz.figures.tree.labels import visible
from dpviz.models.tree import Branch, End, Node, Rule, ThresholdRule, Tree, format_number, leaf_in_words, rule_in_words
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema


@dataclass(frozen=True, slots=True)
class RuleLine:
    """One leaf as a rule.

    Attributes
    ----------
    path : str
        Steps from the root ("LLR").
    conditions : tuple of str
        One per feature on the way, in the order they are first asked; empty when the tree is a single leaf.
    label : str
        The class or number it predicts.
    possible : bool
        False when the conditions exclude each other: a private tree may ask so, and no row gets there.
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


@dataclass(slots=True)
class _Bounds:
    """What a path has asked of one feature: an interval (low, high], or the category codes left."""

    low: float = -math.inf
    high: float = math.inf
    codes: set[int] = field(default_factory=set)


def rule_list(tree: Tree) -> tuple[RuleLine, ...]:
    """One line per leaf, left to right, with the conditions on one feature merged into one."""
    return tuple(_line(tree, placed.path, placed.node) for placed in tree.nodes() if not isinstance(placed.node, Branch))


def node_table(tree: Tree, spent: Mapping[int, float]) -> list[dict[str, str | int | float]]:
    """One row per node, parents first: `id`, `depth`, `rule` (or "→ class", "→ number"), `epsilon` spent at its depth."""
    return [
        {"id": node.id, "depth": node.depth, "rule": node_in_short(tree, node.node), "epsilon": spent.get(node.depth, 0.0)}
        for node in tree.nodes()
    ]


def path_in_words(tree: Tree, path: str) -> str:
    """The answers that lead to the node: "age ≤ 37.5: yes, then housing is rent: no". Raises KeyError for an unknown path."""
    tree.node(path)
    answers = [rule_in_words(tree.schema, rule) + (": yes" if step == "L" else ": no") for rule, step in _questions(tree, path)]
    return ", then ".join(map(visible, answers)) or "the root, where every row starts"


def node_in_short(tree: Tree, node: Node) -> str:
    """The rule of a branch, or what a leaf predicts behind an arrow."""
    words = rule_in_words(tree.schema, node.rule) if isinstance(node, Branch) else f"→ {leaf_in_words(tree.schema, node)}"
    return visible(words)


def _questions(tree: Tree, path: str) -> Iterator[tuple[Rule, str]]:
    """The rules on the way and the step taken at each."""
    for depth, step in enumerate(path):
        node = tree.node(path[:depth])
        assert isinstance(node, Branch)
        yield node.rule, step


def _line(tree: Tree, path: str, leaf: End) -> RuleLine:
    asked: dict[int, _Bounds] = {}
    for rule, step in _questions(tree, path):
        bounds = asked.setdefault(rule.feature, _start(tree.schema, rule.feature))
        _narrow(bounds, rule, yes=step == "L")
    conditions = tuple(visible(_condition(tree.schema, feature, bounds)) for feature, bounds in asked.items())
    possible = all(_is_possible(tree.schema.features[feature], bounds) for feature, bounds in asked.items())
    return RuleLine(path, conditions, visible(leaf_in_words(tree.schema, leaf)), possible)


def _is_possible(column: NumericFeature | CategoricalFeature, bounds: _Bounds) -> bool:
    return bool(bounds.codes) if isinstance(column, CategoricalFeature) else bounds.low < bounds.high


def _start(schema: Schema, feature: int) -> _Bounds:
    column = schema.features[feature]
    return _Bounds(codes=set(range(len(column.categories)))) if isinstance(column, CategoricalFeature) else _Bounds()


def _narrow(bounds: _Bounds, rule: Rule, *, yes: bool) -> None:
    if isinstance(rule, ThresholdRule):
        bounds.high = min(bounds.high, rule.threshold) if yes else bounds.high
        bounds.low = bounds.low if yes else max(bounds.low, rule.threshold)
    elif yes:
        bounds.codes &= set(rule.codes)
    else:
        bounds.codes -= set(rule.codes)


def _condition(schema: Schema, feature: int, bounds: _Bounds) -> str:
    column = schema.features[feature]
    if isinstance(column, CategoricalFeature):
        return _categories_in_words(column, bounds.codes)
    unit = f" {column.unit}" if column.unit else ""
    low, high = format_number(bounds.low), format_number(bounds.high)
    if math.isinf(bounds.low):
        return f"{column.name} ≤ {high}{unit}"
    if math.isinf(bounds.high):
        return f"{column.name} > {low}{unit}"
    return f"{low} < {column.name} ≤ {high}{unit}"


def _categories_in_words(column: CategoricalFeature, codes: set[int]) -> str:
    """The shorter of "is a or b" and "is not c"."""
    inside = [category for code, category in enumerate(column.categories) if code in codes]
    outside = [category for code, category in enumerate(column.categories) if code not in codes]
    if not inside:
        return f"{column.name} is none of its categories"
    if outside and len(outside) < len(inside):
        return f"{column.name} is not {' or '.join(outside)}"
    return f"{column.name} is {' or '.join(inside)}"
