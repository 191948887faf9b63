"""Forms of a model that are drawn or laid out: a picture, a report, and what a notebook shows.

A drawing rounds numbers and cuts long names, so an SVG carries the tree as data too.
"""

import json
from base64 import b64encode
from dataclasses import replace
from functools import partial
from html import escape

from dpviz.charts.publish.report import Signed, drawn_tree, report_html
from dpviz.charts.tree.svg import draw_tree
from dpviz.io.exports.contract import ExportInput, WrittenForm, export
from dpviz.models.document import model_body
from dpviz.results.exports import Exported


def report_to_sign(source: ExportInput, signed: Signed) -> Exported:
    """The report with what stands beside its signature line, as an export. Raises NotExported."""
    return export(replace(REPORT, write=partial(report_html, signed=signed)), source)


# --- a notebook: the picture is an image of its own, so that no style sheet reaches it and it reaches none

#: A picture of more leaves cannot be read.
_MOST_LEAVES = 64


def notebook_html(source: ExportInput) -> str:
    """The document as HTML that stands in a page: no script, nothing fetched, every text escaped."""
    found = source.verdict
    learner = str(source.document["learner"]["name"])
    words = f"{learner} predicts {source.schema.target.name} from {source.schema.n_features:,} columns."
    said = f"<p><strong>{escape(found.headline)}.</strong> {escape(found.because)}</p>"
    return f"<div>{said}{_picture(source, words)}<p><small>{escape(words)}</small></p></div>"


def _picture(source: ExportInput, words: str) -> str:
    tree = drawn_tree(source)
    if tree is None or tree.n_leaves > _MOST_LEAVES:
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


SVG = WrittenForm(
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


REPORT = WrittenForm(
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


NOTEBOOK = WrittenForm(
    name="notebook",
    title="In a notebook",
    suffix=".html",
    media_type="text/html",
    about="The tree as a picture, and its guarantee, as a part of another page.",
    write=notebook_html,
    group="words",
    language="html",
    any_model=True,
    is_listed=False,
)
FORMS = (SVG, REPORT, NOTEBOOK)
