"""A model on one HTML page: tree, guarantee, budget, and in plain words what is and is not promised.

The page is self-contained: no script runs, nothing is fetched, everything from a file is escaped, and it prints. The whole
`dpviz-tree/1` document lies inside as data, so that the page can be checked against the model.
"""

import json
import re
from collections.abc import Iterator
from functools import partial
from html import unescape

from dpviz.figures.publish import report_parts as parts
from dpviz.figures.publish.groups import WIDE, group_rows
from dpviz.figures.publish.page_one import MOST_SENTENCES, Signed, columns, finding, how_sure, signature, worth
from dpviz.figures.publish.report_parts import text
from dpviz.figures.publish.test_result import result_sentences
from dpviz.figures.tree.labels import text_width
from dpviz.figures.tree.layout import layout_within
from dpviz.figures.tree.svg import tree_svg
from dpviz.figures.wording import counted
from dpviz.io.exports.contract import Exportable
from dpviz.io.results import entry_text, test_result_of
from dpviz.learners import registry
from dpviz.models.constant import as_tree
from dpviz.models.tree import Tree
from dpviz.results.document import statement_of

#: A larger tree is drawn for paper only.
MOST_DRAWN = 64
#: Pixels of a drawing on A4: it is made 0.81 times as large, and its smallest letters are 7 points high.
PAPER_WIDTH, PAPER_HEIGHT = 828.0, 470.0
_DRAWN = re.compile(r'(<text class="(name|rule)"[^>]*)>([^<]+)(<tspan class="rule">([^<]*))?<')
_SQUEEZED = 'lengthAdjust="spacingAndGlyphs"'


def drawn_tree(given: Exportable) -> Tree | None:
    """The model as one tree, merged as it is drawn; None for a model of another kind."""
    tree = as_tree(given.model)
    return None if tree is None else tree.merged()


def report_html(given: Exportable, signed: Signed | None = None) -> str:
    """Page one for people who decide, then the annexes. `signed`: what stands beside the signature line."""
    statement, target = statement_of(given.document), given.schema.target.name
    found = given.verdict
    body = "\n".join(
        (
            f"<h1>{text(f'What predicts {target}')}</h1><p class=finding>{text(finding(given, found))}</p>",
            worth(given),
            f"<p class=lead>{text(_lead(given))}</p>",
            f'<div class="verdict {"" if found.kind == "released" else "open"}"><p><strong>{text(found.headline)}</strong></p>',
            f"<p>{text(found.odds)}</p>{parts.plain_bound(found)}</div>",
            *_model(given),
            f"<h2>How sure it is</h2>{parts.bullets(how_sure(given))}",
            columns(found, given),
            *signature(signed or Signed()),
            '<h1 class="annex">Annexes</h1>',
            *_tested(given),
            '<div class="columns"><section><h2>What is promised</h2>',
            parts.bullets(found.promises),
            "</section><section><h2>What is not promised</h2>",
            parts.bullets(parts.not_promised(found.unit, statement.disclosures, statement.noise.warning)),
            "</section></div><h2>Where the budget went</h2>",
            parts.budget_table(statement, found.unit),
            f"<p>{text(found.because)}</p>",
            "<h2>What was taken as public</h2>",
            parts.public_table(given.schema),
            *parts.corrected(given.schema),
            f"<footer>{text(_foot(given))}</footer>",
        )
    )
    inside = f'<script type="application/json" id="document">{_as_data(given.text)}</script>'
    return parts.page_html(f"What predicts {target}", body, inside)


def _as_data(document: str) -> str:
    """JSON that no text inside can end early: a parser of HTML sees no "<" in it."""
    return json.dumps(json.loads(document), ensure_ascii=True).replace("<", "\\u003c")


def _lead(given: Exportable) -> str:
    name = entry_text(given.document, "learner", "name")
    title = registry()[name].title if name in registry() else "an unknown learner" if name == "unknown" else name
    return f"Made by {title}."


def _foot(given: Exportable) -> str:
    version = entry_text(given.document, "versions", "dpviz")
    return (
        f"Made by dpviz {version}. The page holds released values only, and the model's JSON document as data. It loads nothing."
    )


def _model(given: Exportable) -> Iterator[str]:
    tree = drawn_tree(given)
    if tree is None:
        count = len(getattr(given.model, "trees", ())) or getattr(getattr(given.model, "splits", None), "n_trees", 0)
        yield f"<p>{f'The model is {count:,} trees' if count else 'The model is not a tree'}; it is not drawn.</p>"
    else:
        yield from _drawings(tree, f"Tree of {given.schema.target.name}, depth {tree.depth}, {tree.n_leaves:,} leaves")


def _drawings(tree: Tree, title: str) -> Iterator[str]:
    """The tree for a wide screen, for a telephone and for paper; of a large one only what paper has room for."""
    draw = partial(tree_svg, tree, widths=None, selected=None, title=title)
    layout = layout_within(tree, PAPER_WIDTH, PAPER_HEIGHT)
    kept, paper = max(len(placed.path) for placed in layout.nodes), at_measured_width(draw(layout=layout))
    large, left_out = tree.n_leaves > MOST_DRAWN, f" Only the first {counted(kept, 'level')} of {tree.depth} are drawn here."
    if not large:
        yield f"<figure class=screen>{at_measured_width(draw())}{at_measured_width(draw(narrow=True))}{_caption()}</figure>"
    yield f'<figure class="{"" if large else "paper"}">{paper}{_caption(left_out if kept < tree.depth else "")}</figure>'


def _caption(more: str = "") -> str:
    return f"<figcaption>True goes left. Names that do not fit are cut.{more}</figcaption>"


def at_measured_width(svg: str) -> str:
    """Texts of a drawing take the width they were fitted to their boxes with, whatever font a reader has."""
    return _DRAWN.sub(_stretched, svg)


def _stretched(found: re.Match[str]) -> str:
    width = text_width(unescape(found[3]), 13, bold=found[2] == "name") + text_width(unescape(found[5] or ""), 13)
    return f'{found[1]} textLength="{width:.1f}" {_SQUEEZED}>{found[3]}{found[4] or ""}<'


def _tested(given: Exportable) -> Iterator[str]:
    report = test_result_of(given.document, given.schema)
    if report is not None:
        yield f"<h2>How good it is, in full</h2>{parts.bullets(result_sentences(report, given.verdict.unit)[MOST_SENTENCES:])}"
    if rows := group_rows(report):
        yield f"<h2>By group</h2>{parts.rows_table(rows)}<p class=note>{WIDE}</p>"
