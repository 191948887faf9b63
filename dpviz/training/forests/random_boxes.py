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


def grow_randomly(rows: CountedRows, depth: int, label: LabelLeaf, source: NoiseSource) -> tuple[Node, Event]:
    """A tree of random splits, up to `depth` levels as the box allows, and its event. Only the labels cost anything.

    It is drawn, then counted, then labelled, so that whoever counts the rows is asked once.
    """
    splits: list[Event] = []  # those of the drawn nodes, parents first, left before right
    root = _drawn(rows.schema, declared_box(rows.schema), 0, depth, splits, source)
    (counts,) = rows.leaf_counts(root, None, 1)
    return _labelled(root, 0, iter(splits), iter(counts), label)


def _drawn(schema: Schema, box: Box, level: int, depth: int, splits: list[Event], source: NoiseSource) -> Node:
    """A subtree whose leaves have no label of their own yet."""
    free = [feature for feature, side in enumerate(box) if side.can_split]
    if level == depth or not free:
        return Leaf(0)
    chosen = UniformChoice().release(len(free), source=source, part="node", level=level)
    splits.append(chosen.event)
    feature = free[chosen.value]
    below, above = _cut(box[feature], level, source)
    boxes = ((*box[:feature], side, *box[feature + 1 :]) for side in (below, above))
    left, right = (_drawn(schema, inside, level + 1, depth, splits, source) for inside in boxes)
    return Branch(_rule(schema.features[feature], feature, below), left, right)


def _cut(side: Side, level: int, source: NoiseSource) -> tuple[Side, Side]:
    """What goes left and what goes right. The cut costs nothing; the event of the feature stands for both."""
    if not side.is_discrete:
        point = UniformPoint().release((side.low, side.high), source=source, part="node", level=level).value
        return replace(side, high=point), replace(side, low=point)
    cut = UniformChoice().release(int(side.high - side.low), source=source, part="node", level=level).value
    return replace(side, high=side.low + cut), replace(side, low=side.low + cut + 1)


def _rule(declared: Feature, feature: int, below: Side) -> Rule:
    if isinstance(declared, CategoricalFeature):
        return SubsetRule(feature, tuple(range(int(below.low), int(below.high) + 1)))
    return ThresholdRule(feature, below.high + 0.5 if below.is_discrete else below.high)


def _labelled(
    node: Node, level: int, splits: Iterator[Event], counts: Iterator[np.ndarray], label: LabelLeaf
) -> tuple[Node, Event]:
    """The subtree and its event, given the class counts of its leaves from left to right."""
    if not isinstance(node, Branch):
        code, event = label(next(counts), level)
        return Leaf(code), event
    split = next(splits)
    (left, left_event), (right, right_event) = (
        _labelled(child, level + 1, splits, counts, label) for child in (node.left, node.right)
    )
    return Branch(node.rule, left, right), Sequential((split, Parallel((left_event, right_event))))
