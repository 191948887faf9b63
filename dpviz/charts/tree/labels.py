"""Text in boxes: what of a name can be shown, how wide it is, and where to cut it.

Names come from unchecked files. `visible` removes what could reorder, hide or break the text around it; cutting
works on what a reader sees as one character (a base and its marks stay together).
"""

import unicodedata
from collections.abc import Iterator

from dpviz.models.tree import Rule, declared_precision, format_number, format_value, rule_in_words
from dpviz.table.schema import Feature, NumericFeature, Schema

ELLIPSIS = "…"
_JOINERS = "\u200c\u200d"  # letters of Persian and Indic words, and emoji families, hang on these
_MOST_MARKS = 4

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
    kept: list[str] = []
    marks = 0
    for character in text:
        shown = _shown(character)
        marks = marks + 1 if unicodedata.category(character)[0] == "M" else 0
        if marks <= _MOST_MARKS:
            kept.append(shown)
    return " ".join("".join(kept).split()) or "�"


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Estimated width in pixels at this font size."""
    return sum(map(_character_width, text)) * size / 1000 * _TIGHTER * (_BOLD if bold else 1)


def fitted(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """`text`, or as much of its start as fits `width` with an ellipsis."""
    if text_width(text, size, bold=bold) <= width:
        return text
    room = width - text_width(ELLIPSIS, size, bold=bold)
    kept = ""
    for cluster in _clusters(text):
        if text_width(kept + cluster, size, bold=bold) > room:
            break
        kept += cluster
    return kept.rstrip() + ELLIPSIS


def fitted_pair(name: str, rest: str, width: float, size: float, *, is_number: bool) -> tuple[str, str]:
    """A bold name and the condition behind it on one line; a long name is cut first, until the condition has its share.

    A number has a larger share than a list, for half a number misleads, and where it is long its unit goes before the name.
    """
    space, keep = text_width(" ", size), 0.75 if is_number else 0.5
    if is_number and text_width(name, size, bold=True) + space + text_width(rest, size) > width:
        rest = " ".join(rest.split()[:2])
    wanted = text_width(rest, size)
    room_for_name = width - space - min(wanted, max(width * keep, width - space - text_width(name, size, bold=True)))
    name = fitted(name, room_for_name, size, bold=True)
    return name, fitted(rest, width - space - text_width(name, size, bold=True), size)


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
