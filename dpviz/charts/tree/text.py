"""Text of trees: what of a name can be shown, how wide it is and where to cut it; rules, nodes and paths in words.

Names come from unchecked files. `visible` removes what could reorder, hide or break the text around it; cutting works on what a
reader sees as one character (a base and its marks stay together). Names are not escaped: who puts the text into Markdown or HTML
does that.
"""

import math
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from dpviz.charts.theme import class_letter
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
    format_value,
    leaf_in_words,
    rule_in_words,
)
from dpviz.table.schema import CategoricalFeature, Feature, NumericFeature, Schema

ELLIPSIS = "…"
_JOINERS = "\u200c\u200d"  # letters of Persian and Indic words, and emoji families, hang on these
_MAX_MARKS = 4

#: Advance widths of Helvetica (Adobe core metrics, rounded up), in thousandths of the size; few interface fonts are wider.
_WIDTHS = {
    **dict.fromkeys("ijl'|", 240),
    **dict.fromkeys(" .,:;/\\!ftI[]-()r`", 320),
    **dict.fromkeys('sckvxyzJ{}*^"', 500),
    **dict.fromkeys("abdeghnopqu0123456789?_$#L", 556),
    **dict.fromkeys("+<>=~≤≥FTZ", 600),
    **dict.fromkeys("ABEKPSVXY&", 670),
    **dict.fromkeys("wCDHNRU", 722),
    **dict.fromkeys("GOQ", 778),
    **dict.fromkeys("mM%", 850),
    **dict.fromkeys("W@…", 1000),
}
_OTHER_WIDTH = 640
_TIGHTER = 0.95  # the dashboard's own font is narrower still
_BOLD = 1.07


def visible(text: str) -> str:
    """`text` on one line, without anything that reaches beyond itself.

    Line breaks become spaces, bidirectional overrides and other format characters go, characters XML cannot hold become
    U+FFFD, and at most four marks stay on one base.
    """
    if text.isascii() and text.isprintable():  # nearly all, and a page shows hundreds
        return " ".join(text.split()) or "�"
    characters: list[str] = []
    marks = 0
    for character in text:
        character_text = _shown(character)
        marks = marks + 1 if unicodedata.category(character)[0] == "M" else 0
        if marks <= _MAX_MARKS:
            characters.append(character_text)
    return " ".join("".join(characters).split()) or "�"


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Estimated width in pixels at this font size."""
    return sum(map(_character_width, text)) * size / 1000 * _TIGHTER * (_BOLD if bold else 1)


def fit_text(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """`text`, or as much of its start as fits `width` with an ellipsis."""
    if text_width(text, size, bold=bold) <= width:
        return text
    room = width - text_width(ELLIPSIS, size, bold=bold)
    beginning = ""
    for cluster in _clusters(text):
        if text_width(beginning + cluster, size, bold=bold) > room:
            break
        beginning += cluster
    return beginning.rstrip() + ELLIPSIS


def fit_pair(name: str, condition: str, width: float, size: float, *, is_number: bool) -> tuple[str, str]:
    """A bold name and the condition behind it on one line; a long name is cut first, until the condition has its share.

    A number has a larger share than a list, for half a number misleads, and where it is long its unit goes before the name.
    """
    space, keep = text_width(" ", size), 0.75 if is_number else 0.5
    if is_number and text_width(name, size, bold=True) + space + text_width(condition, size) > width:
        condition = " ".join(condition.split()[:2])
    condition_width = text_width(condition, size)
    room_for_name = width - space - min(condition_width, max(width * keep, width - space - text_width(name, size, bold=True)))
    name = fit_text(name, room_for_name, size, bold=True)
    return name, fit_text(condition, width - space - text_width(name, size, bold=True), size)


def interval_in_words(interval: tuple[float, float]) -> str:
    """As in "8.6 to 10.1 (95%)"."""
    return f"{format_value(interval[0])} to {format_value(interval[1])} (95%)"


def rule_parts(schema: Schema, rule: Rule) -> tuple[str, str]:
    """The rule in words, in two parts: the feature's name and the condition on it ("age", "≤ 37.5 years")."""
    name = schema.features[rule.feature].name
    return visible(name), visible(rule_in_words(schema, rule)[len(name) :])


def is_anywhere(feature: Feature, between: tuple[float, float]) -> bool:
    """Whether thresholds reach over more than half of the declared range: noise, and no place worth naming."""
    return isinstance(feature, NumericFeature) and between[1] - between[0] > (feature.high - feature.low) / 2


def between_in_words(schema: Schema, rule: Rule, between: tuple[float, float]) -> str:
    """As in "1 to 3": thresholds of other questions about the same number."""
    feature = schema.features[rule.feature]
    low, high = (format_number(declared_precision(feature, threshold)) for threshold in between)
    return low if low == high else f"{low} to {high}"


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if character in _JOINERS:
        return character
    if category in ("Cc", "Zl", "Zp"):
        return " "
    if category == "Cf":
        return ""
    is_noncharacter = ord(character) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(character) <= 0xFDEF
    return "�" if category == "Cs" or is_noncharacter else character


def _character_width(character: str) -> int:
    if character in _WIDTHS:
        return _WIDTHS[character]
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 1050 if unicodedata.east_asian_width(character) in "WF" else _OTHER_WIDTH


def _clusters(text: str) -> Iterator[str]:
    """Bases with the marks and joined characters that follow them."""
    cluster = ""
    for character in text:
        joined = character in _JOINERS or unicodedata.category(character)[0] == "M" or cluster.endswith("\u200d")
        if cluster and not joined:
            yield cluster
            cluster = ""
        cluster += character
    if cluster:
        yield cluster


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


def unreachable(tree: Tree) -> frozenset[str]:
    """The paths of leaves that no row gets to: the questions above them exclude each other."""
    return frozenset(line.path for line in rule_list(tree) if not line.possible)


def path_in_words(tree: Tree, path: str) -> str:
    """The answers that lead to the node: "age ≤ 37.5: true, then housing is rent: false". Raises KeyError for an unknown path."""
    tree.node(path)
    answers = [rule_in_words(tree.schema, rule) + f": {SIDES[step]}" for rule, step in _questions(tree, path)]
    return ", then ".join(map(visible, answers)) or "the root, where every row starts"


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
        description = f"Predicts {visible(leaf_in_words(tree.schema, node))}, class {class_letter(node.label)}"
    elif isinstance(node, NumberLeaf):
        between = "" if node.interval is None else f", mean {interval_in_words(node.interval)}"
        description = f"Predicts {leaf_in_words(tree.schema, node)}{between}"
    else:
        description = f"Asks: {' '.join(rule_parts(tree.schema, node.rule))}?"
    reached = f"reached by {SIDES[path[-1]]}" if path else "the root"
    return f"{description}{'' if description.endswith('?') else '.'} Depth {len(path)}, {reached}."


def _questions(tree: Tree, path: str) -> Iterator[tuple[Rule, str]]:
    for depth, step in enumerate(path):
        node = tree.node(path[:depth])
        assert isinstance(node, Branch)
        yield node.rule, step


def _line(tree: Tree, path: str, leaf: End) -> RuleLine:
    answers_by_feature: dict[int, list[tuple[Rule, bool]]] = {}
    for rule, step in _questions(tree, path):
        answers_by_feature.setdefault(rule.feature, []).append((rule, step == "L"))
    conditions_in_words = [_condition(tree.schema.features[feature], answers) for feature, answers in answers_by_feature.items()]
    conditions = tuple(visible(words) for words, _ in conditions_in_words)
    return RuleLine(
        path, conditions, visible(leaf_in_words(tree.schema, leaf)), all(possible for _, possible in conditions_in_words)
    )


def _condition(column: Feature, answers: list[tuple[Rule, bool]]) -> tuple[str, bool]:
    """What all rules on one feature ask together, in words, and whether any value meets it."""
    if isinstance(column, CategoricalFeature):
        codes = set(range(len(column.categories)))
        for rule, yes in answers:
            subset = set(rule.codes) if isinstance(rule, SubsetRule) else set()
            codes = codes & subset if yes else codes - subset
        return _categories_in_words(column, codes), bool(codes)
    thresholds = [(rule.threshold, yes) for rule, yes in answers if isinstance(rule, ThresholdRule)]
    low = max((threshold for threshold, yes in thresholds if not yes), default=-math.inf)
    high = min((threshold for threshold, yes in thresholds if yes), default=math.inf)
    ends = tuple(end if math.isinf(end) else declared_precision(column, end) for end in (low, high))
    if low < high and ends[0] == ends[1]:  # so close that only their own digits part them
        ends = (low, high)
    return _range_in_words(column, *ends), low < high


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
