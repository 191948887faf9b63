"""A tree as a drawing of nodes and edges, in Graphviz's DOT and in Mermaid, checked by walking along its edges.

A node's words say which side a missing or unknown cell takes.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dpviz.errors import NotExported
from dpviz.io.exports.conditions import Condition, Row, condition_from, condition_words, without_codes
from dpviz.io.exports.contract import Exportable, Target
from dpviz.io.exports.function import End, Function, Step
from dpviz.io.exports.rules import answer_from, answer_words
from dpviz.table.schema import Schema


@dataclass(frozen=True, slots=True)
class Drawn:
    """A node as it is drawn: its number from 0, its words, and the numbers that "yes" and "no" lead to (None at a leaf)."""

    place: int
    words: str
    yes: int | None = None
    no: int | None = None


def _drawn(function: Function, step: Step, place: int) -> Iterator[Drawn]:
    """Every node below a step, numbered from `place` on, parents first."""
    if isinstance(step, End):
        yield Drawn(place, answer_words(function.answer(step)))
        return
    below = list(_drawn(function, step.yes, place + 1))
    after = place + 1 + len(below)
    yield Drawn(place, condition_words(step.condition), place + 1, after)
    yield from below
    yield from _drawn(function, step.no, after)


def _lines(given: Exportable, node: Callable[[Drawn], Iterator[str]]) -> list[str]:
    return [line for drawn in _drawn(given.function, given.function.trees[0], 0) for line in node(drawn)]


def _nodes_from(text: str, node: re.Pattern[str], edge: re.Pattern[str], unescape: Mapping[str, str]) -> dict[int, Drawn]:
    """The nodes in a drawing by number: `node` finds (place, words), `edge` finds (from, yes or no, to)."""
    sides: dict[int, dict[str, int]] = {}
    for start, side, end in edge.findall(text):
        sides.setdefault(int(start), {})[side] = int(end)
    shown = re.compile("|".join(map(re.escape, unescape)))
    found = ((int(place), shown.sub(lambda match: unescape[match[0]], words)) for place, words in node.findall(text))
    return {place: Drawn(place, words, **sides.get(place, {})) for place, words in found}


def _walked(nodes: Mapping[int, Drawn], schema: Schema, rows: Sequence[Row]) -> tuple[list[str | float], None]:
    """What the drawing predicts for rows. Raises NotExported when it cannot be read."""
    asked = {place: condition_from(node.words, schema) for place, node in nodes.items() if node.yes is not None}
    ends = {place: answer_from(node.words, schema) for place, node in nodes.items() if node.yes is None}
    return [ends[_end(nodes, asked, row)] for row in without_codes(schema, rows)], None


def _end(nodes: Mapping[int, Drawn], asked: Mapping[int, Condition], row: Row) -> int:
    place = 0
    while place in asked:
        follows = nodes[place].yes if asked[place].holds(row[asked[place].feature]) else nodes[place].no
        if follows is None or follows not in nodes:
            raise NotExported("An edge of the drawing is missing.", remedy="Export the model as JSON.")
        place = follows
    return place


# --- DOT

_ESCAPED = {"\\": "\\\\", '"': '\\"', "&": "&amp;"}
_DOT_NODE = re.compile(r'^  n(\d+) \[label="((?:[^"\\]|\\.)*)"', re.M)
_DOT_UNESCAPED = {there: here for here, there in _ESCAPED.items()}
_DOT_EDGE = re.compile(r'^  n(\d+) -> (?=n\d+ \[label="(yes|no)"\];$)n(\d+)', re.M)


def _write_dot(given: Exportable) -> str:
    head = [f"// {fact}" for fact in given.facts]
    style = ['  node [shape=box, style=rounded, fontname="Helvetica"];', '  edge [fontname="Helvetica", fontsize=10];']
    return "\n".join([*head, "digraph tree {", *style, *_lines(given, _dot_node), "}"]) + "\n"


def _dot_node(node: Drawn) -> Iterator[str]:
    """A backslash starts an escape of Graphviz (such as its own name for a node), an ampersand a letter by its name in HTML."""
    label = re.sub(r'[\\"&]', lambda found: _ESCAPED[found[0]], node.words)
    yield f'  n{node.place} [label="{label}"{", shape=oval" if node.yes is None else ""}];'
    if node.yes is not None:
        yield f'  n{node.place} -> n{node.yes} [label="yes"];'
        yield f'  n{node.place} -> n{node.no} [label="no"];'


# --- Mermaid

#: Whatever Mermaid, Markdown or HTML could take for its own is written as Mermaid's code for the character.
_SPECIAL = re.compile(r"""[^\w .,=()+%/-]""", re.ASCII)
#: Mermaid takes %%{...}%% for a directive wherever it stands, also in a comment; without braces there is none.
_NO_DIRECTIVE = str.maketrans("{}", "()")
_MERMAID_NODE = re.compile(r'^  n(\d+)[\[(]+"([^"]*)"', re.M)
_MERMAID_EDGE = re.compile(r"^  n(\d+) -->\|(yes|no)\| n(\d+)$", re.M)


def _write_mermaid(given: Exportable) -> str:
    head = [f"  %% {fact.translate(_NO_DIRECTIVE)}" for fact in given.facts]
    return "\n".join(["flowchart TD", *head, *_lines(given, _mermaid_node)]) + "\n"


def _mermaid_node(node: Drawn) -> Iterator[str]:
    label = _SPECIAL.sub(lambda found: f"#{ord(found[0])};", node.words)
    if node.yes is None:
        yield f'  n{node.place}(["{label}"])'
        return
    yield f'  n{node.place}["{label}"]'
    yield f"  n{node.place} -->|yes| n{node.yes}"
    yield f"  n{node.place} -->|no| n{node.no}"


def _run_mermaid(content: str, schema: Schema, rows: Sequence[Row]) -> tuple[list[str | float], None]:
    codes = {f"#{code};": chr(int(code)) for code in re.findall(r"#(\d+);", content)}
    return _walked(_nodes_from(content, _MERMAID_NODE, _MERMAID_EDGE, codes or {"#35;": "#"}), schema, rows)


_DOT = Target(
    name="dot",
    title="Graphviz DOT",
    suffix=".dot",
    mime="text/vnd.graphviz",
    about="A drawing for Graphviz: dot -Tpdf tree.dot.",
    write=_write_dot,
    run=lambda content, schema, rows: _walked(_nodes_from(content, _DOT_NODE, _DOT_EDGE, _DOT_UNESCAPED), schema, rows),
    ran_in=lambda: "the drawing's own nodes and edges",
    gives_chances=lambda given: False,
    group="picture",
    one_tree=True,
    most_ends=1_000,
    order=60,
)
_MERMAID = replace(
    _DOT,
    name="mermaid",
    title="Mermaid",
    suffix=".mmd",
    mime="text/vnd.mermaid",
    about="A drawing that many wikis and code forges show in a Markdown page.",
    write=_write_mermaid,
    run=_run_mermaid,
    most_ends=500,
    order=61,
)
TARGETS = (_DOT, _MERMAID)
