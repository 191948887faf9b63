"""Forms of a model that are drawn or laid out: a picture, a report, and what a notebook shows.

A drawing rounds numbers and cuts long names, so an SVG carries the tree as data too.
"""

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape

from dpviz.charts.publish.report import SignatureLine, drawn_tree, report_html
from dpviz.charts.tree.svg import draw_tree
from dpviz.errors import DpvizError, RefusedRelease
from dpviz.io.exports.contract import ExportInput, export
from dpviz.models.document import FORMAT, model_body
from dpviz.models.tree import Branch, Leaf, Node, NumberLeaf, Rule, SubsetRule, ThresholdRule, Tree
from dpviz.results.exports import Form, forms
from dpviz.table.schema import CategoricalFeature, NumericTarget, Schema, Target


def report_to_sign(source: ExportInput, signed: SignatureLine) -> str:
    """The report with what stands beside its signature line, as an export. Raises UnsupportedError."""
    return export(replace(REPORT, write=partial(report_html, signed=signed)), source)


# --- a notebook: the picture is an image of its own, so that no style sheet reaches it and it reaches none

#: A picture of more leaves cannot be read.
_MAX_LEAVES = 64


def _notebook_html(source: ExportInput) -> str:
    """The document as HTML that stands in a page: no script, nothing fetched, every text escaped."""
    verdict = source.verdict
    learner = str(source.document["learner"]["name"])
    words = f"{learner} predicts {source.schema.target.name} from {source.schema.n_features:,} columns."
    finding = f"<p><strong>{escape(verdict.headline)}.</strong> {escape(verdict.because)}</p>"
    return f"<div>{finding}{_picture(source, words)}<p><small>{escape(words)}</small></p></div>"


def _picture(source: ExportInput, words: str) -> str:
    tree = drawn_tree(source)
    if tree is None or tree.n_leaves > _MAX_LEAVES:
        many = "many trees" if tree is None else f"{tree.n_leaves:,} leaves"
        return f"<p>A model of {many}: not drawn.</p>"
    drawing = draw_tree(tree, title=words).at_measured_width().standalone()
    packed = b64encode(drawing.encode()).decode("ascii")
    return f'<img style="max-width:100%" alt="{escape(words)}" src="data:image/svg+xml;base64,{packed}">'


def _write_svg(source: ExportInput) -> str:
    tree = drawn_tree(source)
    assert tree is not None  # one_tree
    title = f"Tree of {source.schema.target.name}. {' '.join(source.facts[1:])}"
    data = {"format": "dpviz-tree/1", "kind": "tree", **model_body(tree), "schema": tree.schema.to_dict()}
    return draw_tree(tree, title=title).at_measured_width().standalone(json.dumps(data))


SVG = Form(
    name="svg",
    title="SVG picture",
    suffix=".svg",
    media_type="image/svg+xml",
    about="The drawing as a file of its own, in the reader's light or dark; the tree is inside as data.",
    write=_write_svg,
    group="picture",
    language="xml",
    one_tree=True,
    most_ends=256,
    order=58,
)


REPORT = Form(
    name="report",
    title="Report for a board",
    suffix=".html",
    media_type="text/html",
    about="Page one: the finding, the tree, how sure it is, what may be concluded, a line to sign on. Annexes follow. It prints.",
    write=report_html,
    group="words",
    language="html",
    any_model=True,
    order=15,
)


NOTEBOOK = Form(
    name="notebook",
    title="In a notebook",
    suffix=".html",
    media_type="text/html",
    about="The tree as a picture, and its guarantee, as a part of another page.",
    write=_notebook_html,
    group="words",
    language="html",
    any_model=True,
    is_listed=False,
)
FORMS = (SVG, REPORT, NOTEBOOK)


# --- every form tried on a tree of a schema before anything is released by it: what cannot be made later is known now


#: What a release must have: its file, and the page that is signed.
NEEDED = ("json", "report")


@dataclass(frozen=True, slots=True)
class Proof:
    """`formats`: titles of the forms that hold the tree; `missing`: title -> why another did not."""

    formats: tuple[str, ...]
    missing: dict[str, str]


def proof_of(schema: Schema) -> Proof:
    """Which forms hold a tree that asks about every column.

    Raises RefusedRelease where one of NEEDED does not.
    """
    tree = tree_of(schema)
    document = {"format": FORMAT, "kind": tree.kind, **model_body(tree), "schema": schema.to_dict()}
    source, formats, missing = ExportInput(json.dumps(document)), [], {}
    for name, form in forms().items():
        try:
            export(form, source)
            formats.append(form.title)
        except DpvizError as problem:
            if name in NEEDED:
                remedy = "Nothing was spent. Rename the column or category that is named, or report this with the schema."
                raise RefusedRelease(f"No release of these columns: {problem.what}", remedy=remedy) from problem
            missing[form.title] = problem.what
    return Proof(tuple(formats), missing)


def proof_sentence(proof: Proof) -> str:
    """What was tried, and what there will not be."""
    sentence = f"Tried on a tree of these columns: {len(proof.formats)} export formats hold it."
    return " ".join([sentence, *(f"No {title}: {why}" for title, why in proof.missing.items())])


def tree_of(schema: Schema) -> Tree:
    """A tree with a split on every column, as flat as it can be, whose leaves differ from their siblings."""
    rules: list[Rule] = [
        SubsetRule(place, tuple(range((len(feature.categories) + 1) // 2)))
        if isinstance(feature, CategoricalFeature)
        else ThresholdRule(place, (feature.low + feature.high) / 2)
        for place, feature in enumerate(schema.features)
    ]

    def node(rules: Sequence[Rule], place: int) -> Node:
        if not rules:
            return _leaf(schema.target, place)
        return Branch(rules[0], node(rules[1::2], 2 * place), node(rules[2::2], 2 * place + 1))

    return Tree(schema, node(rules, 0))


def _leaf(target: Target, place: int) -> Leaf | NumberLeaf:
    if isinstance(target, NumericTarget):
        return NumberLeaf(target.low + (target.high - target.low) * (place % 7) / 7)
    n, label = len(target.classes), place % len(target.classes)
    return Leaf(label, shares=tuple((2.0 if code == label else 1.0) / (n + 1) for code in range(n)))
