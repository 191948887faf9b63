"""A drawing in Mermaid, which wikis and code forges show, checked by walking its nodes and edges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dpviz.io.exports.contract import Content, Exportable, Target
from dpviz.io.exports.golden import Row
from dpviz.io.exports.graph import Drawn, drawn, nodes_from, walked
from dpviz.table.schema import Schema

#: Whatever Mermaid, Markdown or HTML could take for its own is written as Mermaid's code for the character.
_SPECIAL = re.compile(r"""[^\w .,=()+%/-]""", re.ASCII)
_NODE = re.compile(r'^  n(\d+)[\[(]+"([^"]*)"', re.M)
_EDGE = re.compile(r"^  n(\d+) -->\|(yes|no)\| n(\d+)$", re.M)


def _write(given: Exportable) -> str:
    head = [f"%% {fact}" for fact in given.facts]
    lines = [line for node in drawn(given.function) for line in _node(node)]
    return "\n".join(["flowchart TD", *(f"  {line}" for line in head), *lines]) + "\n"


def _node(node: Drawn) -> Iterator[str]:
    label = _SPECIAL.sub(_code, node.words)
    if node.yes is None:
        yield f'  n{node.place}(["{label}"])'
        return
    yield f'  n{node.place}["{label}"]'
    yield f"  n{node.place} -->|yes| n{node.yes}"
    yield f"  n{node.place} -->|no| n{node.no}"


def _code(found: re.Match[str]) -> str:
    return f"#{ord(found[0])};"


def _run(content: Content, schema: Schema, rows: Sequence[Row]) -> list[str | float]:
    assert isinstance(content, str)
    codes = {f"#{code};": chr(int(code)) for code in re.findall(r"#(\d+);", content)}
    return walked(nodes_from(content, _NODE, _EDGE, codes or {"#35;": "#"}), schema, rows)


TARGET = Target(
    name="mermaid",
    title="Mermaid",
    suffix=".mmd",
    mime="text/vnd.mermaid",
    about="A drawing that many wikis and code forges show in a Markdown page.",
    write=_write,
    run=_run,
    ran_in=lambda: "the drawing's own nodes and edges",
    group="picture",
    one_tree=True,
    most_ends=500,
    order=61,
)
