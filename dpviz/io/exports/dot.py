"""A drawing in Graphviz's DOT, checked by walking its nodes and edges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dpviz.io.exports.contract import Content, Exportable, Target
from dpviz.io.exports.golden import Row
from dpviz.io.exports.graph import Drawn, drawn, nodes_from, walked
from dpviz.table.schema import Schema

_ESCAPED = {"\\": "\\\\", '"': '\\"'}
_NODE = re.compile(r'^  n(\d+) \[label="((?:[^"\\]|\\.)*)"', re.M)
_EDGE = re.compile(r'^  n(\d+) -> (?=n\d+ \[label="(yes|no)"\];$)n(\d+)', re.M)


def _write(given: Exportable) -> str:
    head = [f"// {fact}" for fact in given.facts]
    look = ['  node [shape=box, style=rounded, fontname="Helvetica"];', '  edge [fontname="Helvetica", fontsize=10];']
    lines = [line for node in drawn(given.function) for line in _node(node)]
    return "\n".join([*head, "digraph tree {", *look, *lines, "}"]) + "\n"


def _node(node: Drawn) -> Iterator[str]:
    """A backslash starts an escape of Graphviz (such as its own name for a node), so it is doubled."""
    label = re.sub(r'[\\"]', lambda found: _ESCAPED[found[0]], node.words)
    yield f'  n{node.place} [label="{label}"{", shape=oval" if node.yes is None else ""}];'
    if node.yes is not None:
        yield f'  n{node.place} -> n{node.yes} [label="yes"];'
        yield f'  n{node.place} -> n{node.no} [label="no"];'


def _run(content: Content, schema: Schema, rows: Sequence[Row]) -> list[str | float]:
    assert isinstance(content, str)
    return walked(nodes_from(content, _NODE, _EDGE, {"\\\\": "\\", '\\"': '"'}), schema, rows)


TARGET = Target(
    name="dot",
    title="Graphviz DOT",
    suffix=".dot",
    mime="text/vnd.graphviz",
    about="A drawing for Graphviz: dot -Tpdf tree.dot.",
    write=_write,
    run=_run,
    ran_in=lambda: "the drawing's own nodes and edges",
    group="picture",
    one_tree=True,
    most_ends=1_000,
    order=60,
)
