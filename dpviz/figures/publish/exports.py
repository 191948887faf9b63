"""All forms a model can be exported in: those of `dpviz/io/exports`, and those that are drawn or laid out.

A drawing rounds numbers and cuts long names, so an SVG carries the tree as data too; it is checked by comparing what every
drawn node says with that data, and by predicting from it.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from dpviz.errors import NotExported, UnknownName
from dpviz.figures.publish.report import drawn_tree, report_document, report_html, report_rules
from dpviz.figures.tree.svg import tree_svg
from dpviz.figures.tree.text import node_in_words
from dpviz.io.exports import registry
from dpviz.io.exports.conditions import Row
from dpviz.io.exports.contract import Exportable, Exported, Target, export
from dpviz.io.exports.golden import said
from dpviz.io.exports.rules import answers
from dpviz.models.document import model_body, model_from_json
from dpviz.models.tree import Tree
from dpviz.table.schema import Schema

_SVG = "{http://www.w3.org/2000/svg}"


@cache
def targets() -> Mapping[str, Target]:
    """Name -> Target, in the order they are offered."""
    found = sorted((*registry().values(), SVG, REPORT), key=lambda target: (target.order, target.name))
    return MappingProxyType({target.name: target for target in found})


def export_as(name: str, given: Exportable) -> Exported:
    """Export in the form called `name`, checked. Raises UnknownName and NotExported."""
    if name not in targets():
        raise UnknownName("form of export", name, targets())
    return export(targets()[name], given)


# --- SVG


def _write_svg(given: Exportable) -> str:
    tree = drawn_tree(given)
    assert tree is not None  # one_tree
    title = f"Tree of {given.schema.target.name}. {' '.join(given.facts[1:])}"
    data = {"format": "dpviz-tree/1", "kind": "tree", **model_body(tree), "schema": tree.schema.to_dict()}
    inside = f"<metadata>{escape(json.dumps(data))}</metadata>\n<style>"
    return tree_svg(tree, widths=None, selected=None, title=title).replace("<style>", inside, 1)


def _run_svg(content: str, _schema: Schema, rows: Sequence[Row]) -> tuple[Sequence[str | float], Any]:
    drawing = ElementTree.fromstring(content)
    tree = model_from_json(drawing.findtext(f"{_SVG}metadata") or "")
    assert isinstance(tree, Tree)
    drawn = {
        group.get("data-path"): group.findtext(f"{_SVG}title") for group in drawing.iter(f"{_SVG}g") if group.get("data-path")
    }
    if drawn != {placed.id: node_in_words(tree, placed.path) for placed in tree.nodes()}:
        raise NotExported("The drawing shows other nodes than the tree has.", remedy="Export the model as JSON.")
    return said(tree, rows)


SVG = Target(
    name="svg",
    title="SVG picture",
    suffix=".svg",
    mime="image/svg+xml",
    about="The drawing as a file of its own, in the reader's light or dark; the tree is inside as data.",
    write=_write_svg,
    run=_run_svg,
    ran_in=lambda: "the tree inside, every drawn node compared with it",
    gives_chances=lambda given: False,
    group="picture",
    language="xml",
    one_tree=True,
    most_ends=256,
    order=58,
)


# --- the report


def _run_report(content: str, schema: Schema, rows: Sequence[Row]) -> tuple[Sequence[str | float], Any]:
    """By the document inside; where the page shows rules, they must say the same."""
    found, chances = said(model_from_json(report_document(content)), rows)
    rules = report_rules(content, schema)
    if not rules:
        return found, chances
    by_rules, shares = answers(rules, rows)
    return by_rules, shares if rules[0].shares else chances


REPORT = Target(
    name="report",
    title="Report for a board",
    suffix=".html",
    mime="text/html",
    about="Page one: the finding, the tree, how sure it is, what may be concluded, a line to sign on. Annexes follow. It prints.",
    write=report_html,
    run=_run_report,
    gives_chances=lambda given: given.golden.chances is not None,
    ran_in=lambda: "the page itself, read back",
    group="words",
    language="html",
    any_model=True,
    order=15,
)
