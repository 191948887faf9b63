"""Sizes, in pixels, of what stands in a card of a tree."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dpviz.figures.tree.labels import rule_parts, text_width, visible
from dpviz.figures.tree.layout import CARD_WIDTH, MARGIN, Layout, Least, cut, tree_layout
from dpviz.models.tree import Branch, Tree, format_value

TEXT, SMALL = 13.0, 11.5
PADDING = 9.0
SWATCH, SIDE_WIDTH = 18.0, 25.0
WIDEST_LEAF, WIDEST_MARK, WIDEST_ROW = 132.0, 60.0, 290.0
#: Rows where the page is narrow: four outlines then stand side by side.
ROW_ON_PAPER = 180.0


def least_widths(tree: Tree, values: Sequence[float], marks: Iterable[str], probability: str) -> Least:
    """Wide enough for what cards and rows say and the marks, within reason; deep trees hang, and need room for yes and no too.

    `values` are the numbers of all leaves, of those too that `tree`, as it is drawn, has a stub for.
    """
    side = SIDE_WIDTH if tree.depth > 3 else 0.0
    names = map(format_value, values) if values else tree.schema.classes
    name = max(text_width(visible(name) + probability, TEXT, bold=True) for name in names)
    mark = max((text_width(visible(mark), SMALL) + 6 for mark in marks if mark), default=0.0)
    card = side + min(WIDEST_LEAF, 2 * PADDING + SWATCH + 6 + name) + min(WIDEST_MARK, mark)
    row = 2 * PADDING + SIDE_WIDTH + max(_questions(tree), default=0.0) + min(WIDEST_MARK, mark)
    return Least(max(CARD_WIDTH, card), max(CARD_WIDTH, min(WIDEST_ROW, row)))


def layout_within(tree: Tree, width: float, height: float) -> Layout:
    """As many levels of a tree as fit, with stubs for what is below; at least the question at the root."""
    for levels in range(max(1, tree.depth), 0, -1):
        drawn = Tree(tree.schema, cut(tree.root, levels))
        least = least_widths(drawn, tree.values, (), "")
        least = replace(least, row=min(least.row, ROW_ON_PAPER))
        layout = tree_layout(drawn, least=least, widest=width - 2 * MARGIN)
        if layout.width <= width and layout.height <= height:
            return layout
    return layout


def _questions(tree: Tree) -> Iterator[float]:
    """Widths of the questions on one line: a bold name, a space, the condition."""
    asked = {placed.node.rule for placed in tree.nodes() if isinstance(placed.node, Branch)}
    for name, condition in (rule_parts(tree.schema, rule) for rule in asked):
        yield text_width(name, TEXT, bold=True) + text_width(f" {condition}", TEXT)
