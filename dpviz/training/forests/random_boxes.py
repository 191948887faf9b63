"""One random tree: every split is drawn from the declared box of its node, without looking at a row.

The box starts as the declared ranges and category lists and shrinks along the path, so no declared side is ever empty.
Categories and whole numbers are cut between neighbouring codes, each cut equally likely; other numbers are cut at a uniform
point of the range that is left.

Source: Holohan et al. 2019 (diffprivlib); Fletcher & Islam 2017, section 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpviz.accounting.events import Event, Parallel, Sequential
from dpviz.errors import SchemaError
from dpviz.models.tree import Branch, Leaf, Node, Rule, SubsetRule, ThresholdRule
from dpviz.privacy.source import NoiseSource
from dpviz.privacy.uniform import UniformChoice, UniformPoint
from dpviz.table.dataset import EncodedDataset
from dpviz.table.schema import CategoricalFeature, Feature, Schema

#: Labels a leaf: (exact class counts, level) -> (class code, event).
LabelLeaf = Callable[[np.ndarray, int], tuple[int, Event]]
#: A range of more whole numbers than this is cut like any other range.
_MOST_CUTS = 2**53


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
    box = tuple(map(_side, schema.features))
    if not any(side.can_split for side in box):
        raise SchemaError(
            "No feature can be split: every feature has a single category.",
            remedy="Declare at least one feature with a range or with two categories.",
        )
    return box


def _side(feature: Feature) -> Side:
    if isinstance(feature, CategoricalFeature):
        return Side(0, len(feature.categories) - 1, is_discrete=True)
    if feature.whole and feature.high - feature.low < _MOST_CUTS:
        return Side(math.ceil(feature.low), math.floor(feature.high), is_discrete=True)
    return Side(feature.low, feature.high, is_discrete=False)


def grow_randomly(data: EncodedDataset, depth: int, label: LabelLeaf, source: NoiseSource) -> tuple[Node, Event]:
    """A tree of random splits, up to `depth` levels as the box allows, and its event. Only the labels cost anything."""
    return _Growing(data, depth, label, source).node(np.arange(data.n_rows), declared_box(data.schema), 0)


@dataclass(frozen=True)
class _Growing:
    data: EncodedDataset
    depth: int
    label: LabelLeaf
    source: NoiseSource

    def node(self, rows: np.ndarray, box: Box, level: int) -> tuple[Node, Event]:
        free = [feature for feature, side in enumerate(box) if side.can_split]
        if level == self.depth or not free:
            code, event = self.label(np.bincount(self.data.target[rows], minlength=self.data.n_classes), level)
            return Leaf(code), event
        chosen = UniformChoice().release(len(free), source=self.source, part="node", level=level)
        feature = free[chosen.value]
        below, above = self._cut(box[feature], level)
        rule = _rule(self.data.schema.features[feature], feature, below)
        goes_left = rule.goes_left(self.data.columns[feature][rows])
        left, left_event = self.node(rows[goes_left], _with(box, feature, below), level + 1)
        right, right_event = self.node(rows[~goes_left], _with(box, feature, above), level + 1)
        return Branch(rule, left, right), Sequential((chosen.event, Parallel((left_event, right_event))))

    def _cut(self, side: Side, level: int) -> tuple[Side, Side]:
        """What goes left and what goes right. The cut costs nothing; the event of the feature stands for both."""
        if not side.is_discrete:
            point = UniformPoint().release((side.low, side.high), source=self.source, part="node", level=level).value
            return replace(side, high=point), replace(side, low=point)
        cut = UniformChoice().release(int(side.high - side.low), source=self.source, part="node", level=level).value
        return replace(side, high=side.low + cut), replace(side, low=side.low + cut + 1)


def _with(box: Box, feature: int, side: Side) -> Box:
    return (*box[:feature], side, *box[feature + 1 :])


def _rule(declared: Feature, feature: int, below: Side) -> Rule:
    if isinstance(declared, CategoricalFeature):
        return SubsetRule(feature, tuple(range(int(below.low), int(below.high) + 1)))
    return ThresholdRule(feature, below.high + 0.5 if below.is_discrete else below.high)
