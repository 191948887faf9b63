"""A tree as SVG: cards with the rule in words, edges as thick as the share that goes along, leaves with a class or a number.

The drawing is complete XML on its own, fetches nothing, and carries its meaning for screen readers: one `tree` of
`treeitem`s, each labelled in words. Every text that came from data passes `visible` and is escaped. Each colour is written twice:
as the light theme's value, for viewers that know no custom properties, then as a property that follows the dashboard or, in a
file of its own, the reader's light or dark preference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr, unescape

from dpviz.charts.theme import (
    DARK,
    DIFFERENCES,
    FONT,
    LIGHT,
    N_COLOURS,
    class_letter,
    css_variables,
    fraction_of_range,
    step_of,
    step_variables,
    text_on,
)
from dpviz.charts.tree.layout import (
    CUT_BRANCH,
    PADDING,
    SIDE_WIDTH,
    SMALL,
    SWATCH,
    TEXT,
    Layout,
    NodeBox,
    min_widths,
    tree_layout,
)
from dpviz.charts.tree.text import (
    SIDES,
    between_in_words,
    fit_pair,
    fit_text,
    is_anywhere,
    is_contradicted,
    leaves_below,
    node_in_words,
    rule_parts,
    text_width,
    unreachable,
    visible,
)
from dpviz.models.tree import Branch, End, Leaf, NumberLeaf, Rule, ThresholdRule, Tree, leaf_in_words

_SHEET = Path(__file__).with_name("style.css").read_text(encoding="utf-8").replace("FONT", FONT).strip()
_CLASS = """.dp-tree .c{n} .box,.dp-tree .c{n} .swatch,.dp-tree .c{n} .share,.dp-tree .c{n} .band{{fill:$class-{n}}}
.dp-tree .c{n}:not([aria-selected="true"]) .box{{stroke:$class-{n}}}
.dp-tree .c{n} .letter{{fill:$on-class-{n}}}"""
#: A leaf's gauge: an outline, filled from below as far as its number lies between the lowest and the highest leaf.
_STEP = """.dp-tree .s{n} .box,.dp-tree .s{n} .level,.dp-tree .s{n} .share,.dp-tree .s{n} .band{{fill:$step-{n}}}
.dp-tree .s{n} .gauge{{fill:none;stroke-width:1.25px;stroke:$step-{n}}}
.dp-tree .s{n}:not([aria-selected="true"]) .box{{stroke:$step-{n}}}"""
_DIFFERENCE = """.dp-tree .{n} .box{{stroke-width:2.5px}}
.dp-tree .{n}:not([aria-selected="true"]) .box{{stroke:${n}}}
.dp-tree .{n} .mark{{fill:${n};font-weight:600}}"""


@cache
def tree_css(*, numbers: bool, pair: bool = False) -> str:
    """The style sheet as text. Names start with `dp-` or are inside `.dp-tree`, so it can live in a page.

    `numbers` adds what leaves with numbers need, `pair` the colours of what differs between two trees.
    """
    plain = {role: getattr(LIGHT, role) for role in ("ground", "raised", "ink", "muted", "line", "edge", "accent")}
    plain |= {f"class-{n}": colour for n, colour in enumerate(LIGHT.classes)}
    plain |= {f"on-class-{n}": text_on(colour) for n, colour in enumerate(LIGHT.classes)}
    plain |= {f"step-{n}": colour for n, colour in enumerate(LIGHT.steps)} | {kind: DIFFERENCES[kind][0] for kind in DIFFERENCES}
    lines = [
        _theme(css_variables(LIGHT), css_variables(DARK)),
        _SHEET,
        *(_CLASS.format(n=n) for n in range(len(LIGHT.classes))),
    ]
    if numbers:
        lines += [_theme(step_variables(LIGHT), step_variables(DARK)), *(_STEP.format(n=n) for n in range(len(LIGHT.steps)))]
    if pair:
        grounds = (";".join(f"--dp-{kind}:{both[ground]}" for kind, both in DIFFERENCES.items()) for ground in (0, 1))
        lines += [_theme(*grounds), *(_DIFFERENCE.format(n=kind) for kind in DIFFERENCES)]
    twice = r"([a-z]+):\$([a-z0-9-]+)"
    return re.sub(twice, lambda match: f"{match[1]}:{plain[match[2]]};{match[1]}:var(--dp-{match[2]})", "\n".join(lines)) + "\n"


def _theme(light: str, dark: str) -> str:
    return (
        f".dp-tree{{{light}}}\n"
        f"@media (prefers-color-scheme:dark){{.dp-tree:not([data-theme=light]){{{dark}}}}}\n"
        f".dp-tree[data-theme=dark]{{{dark}}}"
    )


THINNEST, THICKEST, THICKEST_ROW = 1.25, 12.0, 6.0
#: Nodes that come back in a smaller share of the draws are drawn dashed.
FAINT = 1 / 3
LEFT_TO_RIGHT = "\u200e"
_QUESTIONS = re.compile(r'(<text class="(name|rule)"[^>]*)>([^<]+)(<tspan class="rule">([^<]*))?<')


@dataclass(frozen=True)
class NodeNotes:
    """What is drawn at nodes, by their paths ("L", "LR", ...).

    `row_shares` are shares in [0, 1] of the edge that leads there, of the public budget or of the rows where rows may be shown:
    values outside are clipped, and a path left out draws a thin edge. `rerun_counts` says in how many of `n_draws` reruns a node
    comes back, which is its ink and the note in its corner, unless `marks` has short notes: those of DIFFERENCES have a colour.
    `probabilities` are (share, low, high), the probability of a leaf's label and the ends of its interval, drawn along its lower
    edge. `threshold_ranges` are thresholds with which a question comes back. With `n_draws` alone there is room for all that.
    """

    row_shares: Mapping[str, float] = field(default_factory=dict)
    rerun_counts: Mapping[str, int] = field(default_factory=dict)
    n_draws: int = 0
    probabilities: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    threshold_ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    marks: Mapping[str, str] | None = None


@dataclass(frozen=True)
class TreeDrawing:
    """A drawing in parts: `body` is what stands on its ground, `css` its style sheet, `size` (width, height) in pixels."""

    body: str
    css: str
    size: tuple[float, float]
    title: str
    role: str = "tree"
    is_narrow: bool = False

    def standalone(self, metadata: str = "") -> str:
        """One SVG document with its style sheet; `metadata` is text for programs."""
        data = f"<metadata>{escape(metadata)}</metadata>\n" if metadata else ""
        return self._document(f"{data}<style>{escape(self.css)}</style>\n")

    def embedded(self) -> str:
        """The same for a page that has the style sheet."""
        return self._document("")

    def at_measured_width(self) -> TreeDrawing:
        """Texts take the width they were fitted to their boxes with, whatever font a reader has: half a number misleads."""

        def stretch(match: re.Match[str]) -> str:
            start, kind, words, more, rule_text = match.groups(default="")
            width = text_width(unescape(words), TEXT, bold=kind == "name") + text_width(unescape(rule_text), TEXT)
            return f'{start} textLength="{_n(width)}" lengthAdjust="spacingAndGlyphs">{words}{more}<'

        return replace(self, body=_QUESTIONS.sub(stretch, self.body))

    def _document(self, style: str) -> str:
        (width, height), name = map(_n, self.size), visible(self.title)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="dp-tree" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="{self.role}" aria-label={quoteattr(name)} '
            f'data-layout="{"narrow" if self.is_narrow else "wide"}">\n<title>{escape(name)}</title>\n{style}'
            f'<rect class="dp-ground" width="{width}" height="{height}"/>\n{self.body}\n</svg>\n'
        )


@dataclass(frozen=True)
class _Drawing:
    """What every part of the picture needs to know."""

    tree: Tree
    layout: Layout
    selected: str | None
    notes: NodeNotes

    @cached_property
    def first_stop(self) -> str:
        """The path of the one node the Tab key reaches: the chosen one, else the root."""
        return next((placed.path for placed in self.layout.nodes if placed.id == self.selected), "")

    @cached_property
    def unreachable(self) -> frozenset[str]:
        """The paths of leaves that no row gets to."""
        return unreachable(self.tree)

    @cached_property
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest number of a leaf."""
        return min(self.tree.values), max(self.tree.values)

    @cached_property
    def reach(self) -> tuple[float, float]:
        """The lowest and the highest number of a leaf or its interval: the ends of its bar."""
        ends = [end for leaf in self.tree.leaves if isinstance(leaf, NumberLeaf) for end in (leaf.value, *(leaf.interval or ()))]
        return min(ends), max(ends)


def draw_tree(
    tree: Tree,
    notes: NodeNotes = NodeNotes(),
    *,
    title: str,
    selected: str | None = None,
    narrow: bool = False,
    layout: Layout | None = None,
) -> TreeDrawing:
    """The tree with its notes; its `title` is read out first.

    The node of the id `selected` ("root", "root.L", ...) is drawn as chosen, with the edges that lead to it. With `narrow` the
    drawing is one outline 340 px wide, for telephones. `layout` is where nodes stand instead. It does not depend on what came
    back.
    """
    words = notes.marks.values() if notes.marks is not None else [f"{notes.n_draws} of {notes.n_draws}"] if notes.n_draws else []
    layout = layout or tree_layout(
        tree, narrow=narrow, minimum=min_widths(tree, words, " (only 49%)" if notes.probabilities else "")
    )
    drawing = _Drawing(tree, layout, selected, notes)
    children = [placed for placed in layout.nodes if placed.path]
    lines = [
        '<g role="none" aria-hidden="true">',
        *(_edge(drawing, placed) for placed in sorted(children, key=lambda placed: -_thickness(drawing, placed))),  # thin on top
        *(_side(drawing, placed) for placed in children if not placed.hangs),
        "</g>",
        *(line for placed in layout.nodes for line in _node(drawing, placed)),
    ]
    css = tree_css(numbers=bool(tree.values))
    return TreeDrawing("\n".join(lines), css, (layout.width, layout.height), title, is_narrow=narrow)


def _thickness(drawing: _Drawing, placed: NodeBox) -> float:
    share = min(1.0, max(0.0, drawing.notes.row_shares.get(placed.path, 0.0)))
    return THINNEST + share * ((THICKEST_ROW if placed.hangs else THICKEST) - THINNEST)


def _edge(drawing: _Drawing, placed: NodeBox) -> str:
    parent = drawing.layout.by_path[placed.path[:-1]]
    if placed.hangs:
        trunk, middle = (parent.x + placed.x) / 2, placed.y + placed.height / 2
        line = f"M{_n(trunk)} {_n(parent.bottom)}V{_n(middle)}H{_n(placed.x)}"
    else:
        bend = (parent.bottom + placed.y) / 2
        line = f"M{_n(parent.middle)} {_n(parent.bottom)}C{_n(parent.middle)} {_n(bend)} {_n(placed.middle)} {_n(bend)} "
        line += f"{_n(placed.middle)} {_n(placed.y)}"
    is_selected = drawing.selected is not None and f"{drawing.selected}.".startswith(f"{placed.id}.")
    kind = "edge on" if is_selected else "edge"
    ink = f'opacity="{0.25 + 0.75 * _ink(drawing, placed.path):.2f}"'
    return f'<path class="{kind}" data-to="{placed.id}" d="{line}" stroke-width="{_n(_thickness(drawing, placed))}" {ink}/>'


def _side(drawing: _Drawing, placed: NodeBox) -> str:
    """Yes or no, beside the lower end of an edge of the fan, on the outer side."""
    away = _thickness(drawing, placed) / 2 + 5
    kind, x = ("side end", placed.middle - away) if placed.path.endswith("L") else ("side", placed.middle + away)
    return _text(kind, x, placed.y - 9, SIDES[placed.path[-1]], to=placed.id)


def _node(drawing: _Drawing, placed: NodeBox) -> Iterator[str]:
    mark = _mark(drawing, placed)
    words = node_in_words(drawing.tree, placed.path)
    if placed.node is CUT_BRANCH:
        words += f" {leaves_below(drawing.tree, placed.path)} below it are not drawn."
    if placed.path in drawing.unreachable:
        words += " No row can get here."
    elif placed.path in drawing.notes.probabilities and placed.node is not CUT_BRANCH:
        share, low, high = drawing.notes.probabilities[placed.path]
        words += f" Probability {share:.0%}, between {low:.0%} and {high:.0%}."
    if placed.path in drawing.notes.rerun_counts:
        words += f" Came back in {_times(drawing, placed.path)} draws."
    if mark and drawing.notes.marks is not None:
        words += f" {mark}."
    x, y, width, height = map(_n, (placed.x, placed.y, placed.width, placed.height))
    yield f"<g {_attributes(drawing, placed)} aria-label={quoteattr(words)}>"
    yield f"<title>{escape(words)}</title>"
    radius = 7.0 if isinstance(placed.node, Branch) else placed.height / 2
    yield _rect("ring", placed.x - 3.5, placed.y - 3.5, placed.width + 7, placed.height + 7, radius + 3.5)
    yield _rect("box", placed.x, placed.y, placed.width, placed.height, radius)
    # An inner viewport clips: whatever font a viewer has, no text leaves its box.
    yield f'<svg x="{x}" y="{y}" width="{width}" height="{height}" viewBox="{x} {y} {width} {height}" aria-hidden="true">'
    yield from _texts(drawing, placed, mark)
    yield "</svg></g>"


def _mark(drawing: _Drawing, placed: NodeBox) -> str:
    notes = drawing.notes
    if notes.marks is None:
        return _times(drawing, placed.path) if placed.path in notes.rerun_counts else ""
    return visible(notes.marks[placed.path]) if notes.marks.get(placed.path) else ""


def _times(drawing: _Drawing, path: str) -> str:
    return f"{drawing.notes.rerun_counts.get(path)} of {drawing.notes.n_draws}"


def _ink(drawing: _Drawing, path: str) -> float:
    """Share of the draws in which a node comes back; 1 where nothing is drawn again."""
    return drawing.notes.rerun_counts.get(path, drawing.notes.n_draws) / drawing.notes.n_draws if drawing.notes.n_draws else 1.0


def _attributes(drawing: _Drawing, placed: NodeBox) -> str:
    node, is_selected = placed.node, placed.id == drawing.selected
    kind = "branch"
    if node is CUT_BRANCH:
        kind = "more"
    elif isinstance(node, Leaf):
        kind = f"leaf c{node.label % N_COLOURS}"
    elif isinstance(node, NumberLeaf):
        kind = f"leaf s{step_of(node.value, *drawing.scale)}"
    kind += (" faint" if _ink(drawing, placed.path) < FAINT else "") + (" row" if placed.hangs else "")
    kind += f" {mark}" if (mark := _mark(drawing, placed)) in DIFFERENCES else ""
    stop = 0 if placed.path == drawing.first_stop else -1
    return (
        f'class="node {kind}" role="treeitem" data-path="{placed.id}" tabindex="{stop}" '
        f'aria-level="{len(placed.path) + 1}" aria-setsize="{2 if placed.path else 1}" '
        f'aria-posinset="{2 if placed.path.endswith("R") else 1}" aria-selected="{"true" if is_selected else "false"}"'
    )


def _texts(drawing: _Drawing, placed: NodeBox, mark: str) -> Iterator[str]:
    left, right = placed.x + PADDING, placed.x + placed.width - PADDING
    middle = placed.y + placed.height / 2
    one_line = placed.hangs or not isinstance(placed.node, Branch)
    inset = SIDE_WIDTH if placed.hangs else 0.0
    if drawing.notes.marks is None and placed.node is not CUT_BRANCH and not isinstance(placed.node, Branch):
        words = " ".join(_answer(drawing, placed))
        room = right - left - inset - text_width(mark, SMALL) - 6
        if text_width(words, TEXT, bold=True) > room - SWATCH - 6:
            mark = ""  # what a leaf says is worth more than how often it comes back, which a screen reader is told all the same
    if mark:
        mark_text = fit_text(mark, placed.width * 0.4, SMALL)
        beside_name = False
        if not one_line and isinstance(placed.node, Branch):  # beside a short name: the condition below keeps its whole line
            name, _ = rule_parts(drawing.tree.schema, placed.node.rule)
            needed_width = text_width(name, TEXT, bold=True) + text_width(mark_text, SMALL) + 6
            beside_name = needed_width <= placed.width - 2 * PADDING
        yield _text("mark", right, middle + (4 if one_line else -4.5 if beside_name else 13), mark_text)
        right -= 0 if beside_name else text_width(mark_text, SMALL) + 6
    if placed.hangs:
        yield _text("side", left, middle + 4, SIDES[placed.path[-1]])
        left += SIDE_WIDTH
    if placed.node is CUT_BRANCH:
        yield _text("rule", left, middle + 4.5, leaves_below(drawing.tree, placed.path))
    elif isinstance(placed.node, Branch):
        yield from _rule(drawing, placed.node.rule, left, right, middle, placed)
    else:
        leaf, bar = placed.node, _bar(drawing, placed)
        if isinstance(leaf, NumberLeaf) and leaf.interval is not None and placed.path not in drawing.unreachable:
            value, low, high = (fraction_of_range(end, *drawing.reach) for end in (leaf.value, *leaf.interval))
            bar = value, low, high
        if bar is not None:  # a track along the lower edge, filled to the probability or number, a band for its interval
            share, low, high = bar
            start, width, y = placed.x + 2 * PADDING, placed.width - 4 * PADDING, placed.y + placed.height - 5.0
            yield _rect("track", start, y, width, 2.5, 1)
            yield _rect("share", start, y, share * width, 2.5, 1)
            yield _rect("band", start + low * width, y - 1.25, (high - low) * width, 5, 1.5)
        yield from _leaf_text(drawing, placed, leaf, left, right)


def _bar(drawing: _Drawing, placed: NodeBox) -> tuple[float, float, float] | None:
    """How probable the label of a leaf is, where that is known and a row can get there."""
    return None if placed.path in drawing.unreachable else drawing.notes.probabilities.get(placed.path)


def _leaf_text(drawing: _Drawing, placed: NodeBox, leaf: End, left: float, right: float) -> Iterator[str]:
    """The letter of a class or the gauge of a number, and what the leaf predicts, with its probability where it is known."""
    middle = placed.y + placed.height / 2
    top, bar = middle - SWATCH / 2, _bar(drawing, placed)
    if isinstance(leaf, Leaf):
        yield _rect("swatch", left, top, SWATCH, SWATCH, 5)
        yield _text("letter", left + SWATCH / 2, middle + 4, class_letter(leaf.label))
    else:
        empty = (1 - fraction_of_range(leaf.value, *drawing.scale)) * (SWATCH - 4)
        yield _rect("gauge", left + 4, top, SWATCH - 8, SWATCH, 3)
        yield _rect("level", left + 6, top + 2 + empty, SWATCH - 12, SWATCH - 4 - empty, 1)
    left += SWATCH + 6
    name, *share = _answer(drawing, placed)
    if bar and is_contradicted(leaf):
        in_full = f"({bar[0]:.0%} of its held-out rows)"
        share = [in_full] if text_width(f"{name} {in_full}", TEXT, bold=True) <= right - left else share
    room = right - left - sum(text_width(f" {words}", TEXT, bold=True) for words in share)
    yield _text("name", left, middle + 4.5, " ".join([fit_text(name, room, TEXT, bold=True), *share]))


def _answer(drawing: _Drawing, placed: NodeBox) -> list[str]:
    """What a leaf predicts and, where it is known, how probable that is, or that no row gets there: a long name is cut."""
    assert not isinstance(placed.node, Branch)
    words, bar = [visible(leaf_in_words(drawing.tree.schema, placed.node))], _bar(drawing, placed)
    if placed.path in drawing.unreachable:
        words.append("(no row)")
    elif bar:
        words.append(f"(only {bar[0]:.0%})" if is_contradicted(placed.node) else f"{bar[0]:.0%}")
    return words


def _rule(drawing: _Drawing, rule: Rule, left: float, right: float, middle: float, placed: NodeBox) -> Iterator[str]:
    """The question: one line in an outline, two in a card, with the thresholds it comes back with where there is room."""
    schema = drawing.tree.schema
    name, condition = rule_parts(schema, rule)
    if placed.hangs:
        name, condition = fit_pair(name, condition, right - left, TEXT, is_number=isinstance(rule, ThresholdRule))
        # A left-to-right mark: behind a Hebrew or Arabic name, "≤ 5" would otherwise be set as "5 ≥", on the wrong side.
        line = f'{escape(name)}{"" if name.isascii() else LEFT_TO_RIGHT} <tspan class="rule">{escape(condition)}</tspan>'
        yield f'<text class="name" x="{_n(left)}" y="{_n(middle + 4.5)}">{line}</text>'
    else:
        yield _text("name", left, middle - 4.5, fit_text(name, placed.width - 2 * PADDING, TEXT, bold=True))
        near = drawing.notes.threshold_ranges.get(placed.path)
        is_place = near is not None and near[0] < near[1] and not is_anywhere(schema.features[rule.feature], near)
        more = f"{condition} ({between_in_words(schema, rule, near)})" if near and is_place else condition
        condition = more if text_width(more, TEXT) <= right - left else fit_text(condition, right - left, TEXT)
        yield _text("rule", left, middle + 13, condition)


def _rect(kind: str, x: float, y: float, width: float, height: float, radius: float) -> str:
    """A rounded rectangle of a class of the style sheet."""
    place = f'x="{_n(x)}" y="{_n(y)}"'
    return f'<rect class="{kind}" {place} width="{_n(width)}" height="{_n(height)}" rx="{_n(radius)}"/>'


def _text(kind: str, x: float, y: float, words: str, to: str = "") -> str:
    """One line of text; `to` is the id of a node whose edge it belongs to."""
    belongs = f' data-to="{to}"' if to else ""
    return f'<text class="{kind}"{belongs} x="{_n(x)}" y="{_n(y)}">{escape(words)}</text>'


def _n(value: float) -> str:
    """To a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")
