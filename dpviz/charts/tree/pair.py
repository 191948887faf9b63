"""Two trees side by side, or one above the other: the same place at the same height, what differs in colour and in words."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape, quoteattr

from dpviz.charts.tree.layout import NARROW_WIDTH, align, outline
from dpviz.charts.tree.svg import NodeNotes, TreeDrawing, draw_tree, tree_css
from dpviz.charts.tree.text import visible
from dpviz.charts.wording import count_text
from dpviz.models.tree import Branch, Leaf, Node, NumberLeaf, Tree, format_value

#: Width of each tree where they stand side by side, the space between them, and the height of the line above each.
SIDE_WIDTH, BETWEEN, HEAD = 460.0, 16.0, 26.0


@dataclass(frozen=True)
class Side:
    """One of the two trees, as it is shown; `name` stands above the drawing ("Pinned: ε = 0.1")."""

    name: str
    tree: Tree
    notes: NodeNotes


def differences(tree: Tree, other: Tree) -> dict[str, str]:
    """By path of every node of `tree`: "" where `other` has the same, else what is different.

    "changed": the same feature with another threshold or other categories, or another number. "different": another question or
    another answer. What stands below that is about "other rows", or "only here".
    """
    return dict(_differences(tree.root, other.root, ""))


def _differences(node: Node, other: Node | None, path: str, *, is_elsewhere: bool = False) -> Iterator[tuple[str, str]]:
    note = "only here" if other is None else "other rows" if is_elsewhere else _difference(node, other)
    yield path, note
    if isinstance(node, Branch):
        other_children = (other.left, other.right) if isinstance(other, Branch) else (None, None)
        for side, child, its in zip("LR", (node.left, node.right), other_children, strict=True):
            yield from _differences(child, its, path + side, is_elsewhere=is_elsewhere or note == "different")


def _difference(node: Node, other: Node) -> str:
    if isinstance(node, Branch) and isinstance(other, Branch):
        same_feature = node.rule.feature == other.rule.feature
        return "" if node.rule == other.rule else "changed" if same_feature else "different"
    if isinstance(node, Leaf) and isinstance(other, Leaf):
        return "" if node.label == other.label else "different"
    if isinstance(node, NumberLeaf) and isinstance(other, NumberLeaf):
        return "" if format_value(node.value) == format_value(other.value) else "changed"
    return "different"


def draw_pair(pinned: Side, now: Side, *, selected: str | None, narrow: bool = False) -> TreeDrawing:
    """Both trees as one drawing, for the view of a single tree: each is a `tree` of its own for screen readers.

    The node `selected` is drawn as chosen in both. With `narrow` the pinned tree stands below: the other one is dragged.
    """
    sides, width = ((now, pinned), NARROW_WIDTH) if narrow else ((pinned, now), SIDE_WIDTH)
    first, second = (outline(side.tree, width) for side in sides)
    layouts = (first, second) if narrow else align(first, second)
    notes = [differences(side.tree, other.tree) for side, other in (sides, sides[::-1])]
    places = ((0.0, 0.0), (0.0, HEAD + layouts[0].height + BETWEEN) if narrow else (width + BETWEEN, 0.0))
    across = width + places[1][0]
    down = max(y + HEAD + layout.height for (_, y), layout in zip(places, layouts, strict=True))
    body = []
    for side, layout, note, (x, y) in zip(sides, layouts, notes, places, strict=True):
        name, role = visible(side.name), "pinned" if side is pinned else "now"
        marked = replace(side.notes, marks=note)
        inside = draw_tree(side.tree, marked, selected=selected, layout=layout, title=side.name).body
        body += [
            f'<text class="name" x="{x + 10:g}" y="{y + 19:g}" aria-hidden="true">{escape(name)}</text>',
            f'<g role="tree" aria-label={quoteattr(name)} data-side="{role}" transform="translate({x:g} {y + HEAD:g})">',
            f"{inside}\n</g>",
        ]
    css = tree_css(numbers=any(side.tree.values for side in sides), pair=True)
    title = f"{pinned.name}. {now.name}."
    return TreeDrawing("\n".join(body), css, (across, down), title, role="group", is_narrow=True)


def pair_sentence(pinned: Side, now: Side) -> str:
    """How many questions both trees share, and how many differ."""
    notes, pinned_notes = differences(now.tree, pinned.tree), differences(pinned.tree, now.tree)
    if not any(notes.values()) and not any(pinned_notes.values()):
        return "Both trees are the same."
    question_notes = [note for path, note in notes.items() if isinstance(now.tree.node(path), Branch)]
    n_same, changed = question_notes.count(""), question_notes.count("changed")
    kinds = {"as in the pinned tree": n_same, "changed": changed, "different": len(question_notes) - n_same - changed}
    counts = ", ".join(f"{count} {words}" for words, count in kinds.items() if count)
    return (
        f"Of {count_text(len(question_notes), 'question')} now: {counts}." if question_notes else "The tree now asks no question."
    )
