"""Sizes, in pixels, of what stands in a card of a tree."""

from __future__ import annotations

from collections.abc import Iterable

from dpviz.figures.tree.labels import text_width, visible
from dpviz.figures.tree.layout import CARD_WIDTH
from dpviz.models.tree import Tree, format_value

TEXT, SMALL = 13.0, 11.5
PADDING = 9.0
SWATCH, SIDE_WIDTH = 18.0, 25.0
WIDEST_LEAF, WIDEST_MARK = 132.0, 60.0


def least_card(tree: Tree, marks: Iterable[str], probability: str) -> float:
    """A card wide enough for what leaves say and the marks, within reason; deep trees hang, and need room for yes and no too."""
    side = SIDE_WIDTH if tree.depth > 3 else 0.0
    names = map(format_value, tree.values) if tree.values else tree.schema.classes
    name = max(text_width(visible(name) + probability, TEXT, bold=True) for name in names)
    mark = max((text_width(visible(mark), SMALL) + 6 for mark in marks if mark), default=0.0)
    return max(CARD_WIDTH, side + min(WIDEST_LEAF, 2 * PADDING + SWATCH + 6 + name) + min(WIDEST_MARK, mark))
