"""One random tree: every split is drawn from the declared box of its node, without looking at a row.

The box starts as the declared ranges and category lists and shrinks along the path, so no declared side is ever empty.
Categories and whole numbers are cut between neighbouring codes, each cut equally likely; other numbers are cut at a uniform
point of the range that is left.

Source: Holohan et al. 2019 (diffprivlib); Fletcher & Islam 2017, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from dpviz.accounting.events import Event, Parallel, Sequential
from dpviz.errors import SchemaError
from dpviz.models.hashed_forest import is_cut_between, starting_box
from dpviz.models.tree import Branch, Leaf, Node, Rule, SubsetRule, ThresholdRule
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import UniformChoice, UniformPoint
from dpviz.table.schema import CategoricalFeature, Feature, Schema
from dpviz.training.counted_rows import CountedRows

#: Labels a leaf: (exact class counts, level) -> (class code, event).
LabelLeaf = Callable[[np.ndarray, int], tuple[int, Event]]


@dataclass(frozen=True, slots=True)
class Side:
    """What is left of one feature: codes or whole numbers low .. high (`is_discrete`), or the range [low, high]."""

    low: float
    high: float
    is_discrete: bool

    @property
    def can_split(self) -> bool:
        """False if one value is left."""
        return self.low < self.high


Box = tuple[Side, ...]


def declared_box(schema: Schema) -> Box:
    """The box of the root. Raises SchemaError if no feature has two values."""
    ends = zip(schema.features, *(side.tolist() for side in starting_box(schema)), strict=True)
    box = tuple(Side(low, high, isinstance(it, CategoricalFeature) or is_cut_between(it)) for it, low, high in ends)
    if not any(side.can_split for side in box):
        raise SchemaError(
            "No feature can be split: every feature has a single category.",
            remedy="Declare at least one feature with a range or with two categories.",
        )
    return box


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A node of a random tree: at its end without rule and children."""

    level: int
    event: Event | None = None
    rule: Rule | None = None
    children: tuple[_Drawn, _Drawn] | None = None

    def unlabelled(self) -> Node:
        """The subtree, whose leaves have no label of their own yet."""
        if self.rule is None or self.children is None:
            return Leaf(0)
        left, right = self.children
        return Branch(self.rule, left.unlabelled(), right.unlabelled())

    def labelled(self, counts: Iterator[np.ndarray], label: LabelLeaf) -> tuple[Node, Event]:
        """The subtree and its event, given the class counts of its leaves from left to right."""
        if self.rule is None or self.children is None or self.event is None:
            code, event = label(next(counts), self.level)
            return Leaf(code), event
        (left, left_event), (right, right_event) = (child.labelled(counts, label) for child in self.children)
        return Branch(self.rule, left, right), Sequential((self.event, Parallel((left_event, right_event))))


def grow_randomly(rows: CountedRows, depth: int, label: LabelLeaf, source: NoiseSource) -> tuple[Node, Event]:
    """A tree of random splits, up to `depth` levels as the box allows, and its event. Only the labels cost anything.

    It is drawn, then counted, then labelled, so that whoever counts the rows is asked once.
    """
    drawn = _Drawing(rows.schema, depth, source).node(declared_box(rows.schema), 0)
    (counts,) = rows.leaf_counts(drawn.unlabelled(), None, 1)
    return drawn.labelled(iter(counts), label)


@dataclass(frozen=True)
class _Drawing:
    schema: Schema
    depth: int
    source: NoiseSource

    def node(self, box: Box, level: int) -> _Drawn:
        free = [feature for feature, side in enumerate(box) if side.can_split]
        if level == self.depth or not free:
            return _Drawn(level)
        chosen = UniformChoice().release(len(free), source=self.source, part="node", level=level)
        feature = free[chosen.value]
        below, above = self._cut(box[feature], level)
        left, right = (self.node((*box[:feature], side, *box[feature + 1 :]), level + 1) for side in (below, above))
        return _Drawn(level, chosen.event, _rule(self.schema.features[feature], feature, below), (left, right))

    def _cut(self, side: Side, level: int) -> tuple[Side, Side]:
        """What goes left and what goes right. The cut costs nothing; the event of the feature stands for both."""
        if not side.is_discrete:
            point = UniformPoint().release((side.low, side.high), source=self.source, part="node", level=level).value
            return replace(side, high=point), replace(side, low=point)
        cut = UniformChoice().release(int(side.high - side.low), source=self.source, part="node", level=level).value
        return replace(side, high=side.low + cut), replace(side, low=side.low + cut + 1)


def _rule(declared: Feature, feature: int, below: Side) -> Rule:
    if isinstance(declared, CategoricalFeature):
        return SubsetRule(feature, tuple(range(int(below.low), int(below.high) + 1)))
    return ThresholdRule(feature, below.high + 0.5 if below.is_discrete else below.high)
