"""Where the nodes of a tree stand: plain numbers, no drawing.

The upper levels fan out top-down, parents centred over their children. Where the fan would grow wider than a page, the
subtrees below *hang*: they are set as an indented outline, one row per node, under the node that carries them. A complete
tree of depth 8 is then a few columns of readable rows instead of 256 leaves side by side. `narrow` hangs everything from the
root, which fits a telephone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from dpviz.charts.tree.text import rule_parts, text_width, visible
from dpviz.models.tree import Branch, Leaf, Node, Tree, format_value
from dpviz.table.schema import ClassTarget

MARGIN = 10.0
CARD_WIDTH, MAX_CARD_WIDTH, CARD_HEIGHT, LEAF_HEIGHT = 112.0, 172.0, 48.0, 36.0
GAP, LEVEL_GAP = 10.0, 50.0
ROW_HEIGHT, ROW_GAP, INDENT, MIN_INDENT = 28.0, 5.0, 16.0, 6.0
PAGE_WIDTH, MAX_WIDTH = 1040.0, 1060.0
NARROW_WIDTH = 340.0
#: Stands for a branch below which nothing is drawn for want of room.
CUT_BRANCH = Leaf(0)


@dataclass(frozen=True, slots=True)
class MinWidths:
    """Widths in pixels: what text needs of a card in the fan and of a row that asks something, and the indent of rows.

    `wanted_card`, `wanted_row`, and `wanted` by the path of a card are what whole answers and questions would take where there
    is room to spare.
    """

    card: float = CARD_WIDTH
    row: float = CARD_WIDTH
    indent: float = MIN_INDENT
    wanted_card: float = MAX_CARD_WIDTH
    wanted_row: float = 0.0
    wanted: Mapping[str, float] = field(default_factory=dict)


NO_TEXT = MinWidths()


@dataclass(frozen=True, slots=True)
class NodeBox:
    """A node and its box, in pixels; (x, y) is the upper left corner. `hangs` marks a row of an outline."""

    path: str
    x: float
    y: float
    width: float
    height: float
    node: Node
    hangs: bool = False

    @property
    def id(self) -> str:
        """As `PlacedNode.id`: "root", "root.L", ..."""
        return ".".join(("root", *self.path))

    @property
    def middle(self) -> float:
        """Horizontal centre."""
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        """Lower edge."""
        return self.y + self.height


@dataclass(frozen=True)
class Layout:
    """All boxes, parents first and left before right, and the size of the drawing."""

    nodes: tuple[NodeBox, ...]
    width: float
    height: float

    @cached_property
    def by_path(self) -> dict[str, NodeBox]:
        """Boxes by path."""
        return {placed.path: placed for placed in self.nodes}


def tree_layout(tree: Tree, *, narrow: bool = False, minimum: MinWidths = NO_TEXT, widest: float = MAX_WIDTH) -> Layout:
    """Boxes for every node: a fan with hanging outlines, or with `narrow` one outline 340 px wide.

    The fan is no wider than `widest`. Cards and rows are as wide as `minimum` says, or wider, where the page has room.
    """
    if narrow:
        return outline(tree, minimum=minimum)
    levels = next((n for n in range(tree.depth, 0, -1) if _fan_width(tree.root, n, minimum) <= widest), 0)
    page = min(PAGE_WIDTH, widest)
    card = max(minimum.card, min(minimum.wanted_card, minimum.card + _spare(tree, levels, minimum, page)))
    roomy = replace(minimum, card=card, indent=INDENT)
    fits = roomy if _fan_width(tree.root, levels, roomy) <= widest else replace(minimum, card=card)
    fits = replace(fits, row=max(minimum.row, min(minimum.wanted_row, minimum.row + _spare(tree, levels, fits, page))))
    nodes, _ = _fan(tree.root, "", MARGIN, MARGIN, levels, fits)
    return _make_layout(nodes, max(placed.x + placed.width for placed in nodes))


def outline(tree: Tree, width: float = NARROW_WIDTH, minimum: MinWidths = NO_TEXT) -> Layout:
    """One row per node, each level indented, right edges flush."""
    return _make_layout(_hang(tree.root, "", MARGIN, MARGIN, width - 2 * MARGIN, minimum.row), width - MARGIN)


def align(first: Layout, second: Layout) -> tuple[Layout, Layout]:
    """Two outlines with gaps, so that nodes at the same place of both trees stand at the same height."""
    paths = sorted(first.by_path.keys() | second.by_path.keys())
    top = MARGIN + CARD_HEIGHT + ROW_GAP
    tops = {path: top + row * (ROW_HEIGHT + ROW_GAP) for row, path in enumerate(paths[1:])} | {"": MARGIN}
    moved = ([replace(placed, y=tops[placed.path]) for placed in layout.nodes] for layout in (first, second))
    left, right = (_make_layout(nodes, layout.width - MARGIN) for nodes, layout in zip(moved, (first, second), strict=True))
    return left, right


def _make_layout(nodes: Sequence[NodeBox], right: float) -> Layout:
    ordered = tuple(sorted(nodes, key=lambda placed: placed.path))
    return Layout(ordered, right + MARGIN, max(placed.bottom for placed in ordered) + MARGIN)


def _spare(tree: Tree, levels: int, minimum: MinWidths, page: float) -> float:
    """What a page of this width leaves to every column of the fan."""
    return (page - _fan_width(tree.root, levels, minimum)) // len(_columns(tree.root, levels))


def _columns(node: Node, levels: int) -> list[Node]:
    """The nodes side by side at the lower end of the fan."""
    if not isinstance(node, Branch) or levels == 0:
        return [node]
    return [*_columns(node.left, levels - 1), *_columns(node.right, levels - 1)]


def _fan_width(node: Node, levels: int, minimum: MinWidths) -> float:
    columns = _columns(node, levels)
    widths = []
    for height in map(_height, columns):
        asks = minimum.row + minimum.indent * (height - 1) if height > 1 else 0.0  # the innermost row that asks has room, too
        widths.append(max(minimum.card + INDENT * height, asks))
    return sum(widths) + GAP * (len(columns) - 1)


def _height(node: Node) -> int:
    return 1 + max(_height(node.left), _height(node.right)) if isinstance(node, Branch) else 0


def _fan(node: Node, path: str, x: float, y: float, levels: int, minimum: MinWidths) -> tuple[list[NodeBox], float]:
    """Boxes of the subtree in a block whose upper left corner is (x, y), and the centre of its top card."""
    width = _fan_width(node, levels, minimum)
    if not isinstance(node, Branch) or levels == 0:
        return _hang(node, path, x, y, width, minimum.row), x + width / 2
    next_y = y + CARD_HEIGHT + LEVEL_GAP
    left, left_middle = _fan(node.left, path + "L", x, next_y, levels - 1, minimum)
    right_x = x + _fan_width(node.left, levels - 1, minimum) + GAP
    right, right_middle = _fan(node.right, path + "R", right_x, next_y, levels - 1, minimum)
    middle = (left_middle + right_middle) / 2
    card = max(minimum.card, min(minimum.wanted.get(path, 0.0), 2 * min(middle - x, x + width - middle)))
    return [NodeBox(path, middle - card / 2, y, card, CARD_HEIGHT, node), *left, *right], middle


def _hang(node: Node, path: str, x: float, y: float, width: float, min_row: float) -> list[NodeBox]:
    """An outline: a card on top, below it one row per node in reading order, each level indented, all right edges flush.

    Indents shrink where a deep tree would leave questions less than `min_row`, and further where any row would be narrower
    than a card.
    """
    height = _height(node)
    for_text = max(MIN_INDENT, (width - min_row) / max(1, height - 1))
    step = min(INDENT, for_text, (width - CARD_WIDTH) / max(1, height))
    nodes = [NodeBox(path, x, y, width, CARD_HEIGHT if isinstance(node, Branch) else LEAF_HEIGHT, node)]
    y += CARD_HEIGHT + ROW_GAP
    stack = _children(node, path)
    while stack:
        path_below, child = stack.pop()
        indent = step * (len(path_below) - len(path))
        nodes.append(NodeBox(path_below, x + indent, y, width - indent, ROW_HEIGHT, child, hangs=True))
        y += ROW_HEIGHT + ROW_GAP
        stack += _children(child, path_below)
    return nodes


def _children(node: Node, path: str) -> list[tuple[str, Node]]:
    """Right first, so that a stack hands out the left one first."""
    return [(path + "R", node.right), (path + "L", node.left)] if isinstance(node, Branch) else []


def cut(node: Node, levels: int) -> Node:
    """The subtree with a stub in place of every branch below so many levels of questions."""
    if not isinstance(node, Branch) or not levels:
        return CUT_BRANCH if isinstance(node, Branch) else node
    return replace(node, left=cut(node.left, levels - 1), right=cut(node.right, levels - 1))


# --- sizes, in pixels, of what stands in a card

TEXT, SMALL = 14.0, 13.0
PADDING = 9.0
SWATCH, SIDE_WIDTH = 18.0, 34.0
MAX_LEAF_WIDTH, MAX_MARK_WIDTH, MAX_ROW_WIDTH = 142.0, 66.0, 236.0
#: Of rows and cards where there is room to spare.
MAX_ROOMY_WIDTH = 360.0
#: Rows where the page is narrow: four outlines then stand side by side.
ROW_ON_PAPER = 180.0


def min_widths(tree: Tree, marks: Iterable[str], probability: str) -> MinWidths:
    """Wide enough for what cards and rows say and the marks, within reason; deep trees hang, and their sides need room too."""
    side = SIDE_WIDTH if tree.depth > 3 else 0.0
    target = tree.schema.target
    names = target.classes if isinstance(target, ClassTarget) else map(format_value, tree.values)  # a tree cut short has no leaf
    name = max((text_width(visible(name) + probability, TEXT, bold=True) for name in names), default=0.0)
    mark = max((text_width(visible(mark), SMALL) + 6 for mark in marks if mark), default=0.0)
    leaf, mark_width = 2 * PADDING + SWATCH + 6 + name, min(MAX_MARK_WIDTH, mark)
    card, wanted_card = (side + min(most, leaf) + mark_width for most in (MAX_LEAF_WIDTH, MAX_ROOMY_WIDTH))
    widest, wanted = 0.0, {}
    for placed in tree.nodes():
        if isinstance(placed.node, Branch):
            title, condition = rule_parts(tree.schema, placed.node.rule)
            name = text_width(title, TEXT, bold=True)
            widest = max(widest, name + text_width(f" {condition}", TEXT))
            in_card = max(name + mark_width, text_width(condition, TEXT) + 2)  # its name beside the mark, the condition below
            wanted[placed.path] = min(MAX_ROOMY_WIDTH, 2 * PADDING + in_card)
    row = 2 * PADDING + SIDE_WIDTH + widest + mark_width
    min_row = max(CARD_WIDTH, min(MAX_ROW_WIDTH, row))
    wanted_card = max(MAX_CARD_WIDTH, wanted_card)
    return MinWidths(max(CARD_WIDTH, card), min_row, wanted_card=wanted_card, wanted_row=min(MAX_ROOMY_WIDTH, row), wanted=wanted)


def layout_within(tree: Tree, width: float, height: float) -> Layout:
    """As many levels of a tree as fit, with stubs for what is below; at least the question at the root."""
    for levels in range(max(1, tree.depth), 0, -1):
        visible_tree = Tree(tree.schema, cut(tree.root, levels))
        minimum = min_widths(visible_tree, (), "")
        minimum = replace(minimum, row=min(minimum.row, ROW_ON_PAPER))
        layout = tree_layout(visible_tree, minimum=minimum, widest=width - 2 * MARGIN)
        if layout.width <= width and layout.height <= height:
            return layout
    return layout
