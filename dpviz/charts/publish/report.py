"""A model on one HTML page: page one for people who decide, then ledger, schema and test for people who check.

The page is self-contained: no script runs, nothing is fetched, everything from a file is escaped, and it prints. The whole
`dpviz-tree/1` document lies inside as data, so that the page can be checked against the model.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from html import escape, unescape
from pathlib import Path
from typing import Any

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.charts.chart import Rows
from dpviz.charts.publish.test_result import (
    WIDE,
    beside_always,
    group_rows,
    is_better_than_always,
    percent_with_interval,
    result_sentences,
)
from dpviz.charts.tree.labels import text_width, visible
from dpviz.charts.tree.layout import layout_within
from dpviz.charts.tree.svg import draw_tree
from dpviz.charts.wording import counted
from dpviz.io.exports.contract import Exportable
from dpviz.io.results import entry_text, test_result_of
from dpviz.learners import registry
from dpviz.models.constant import as_tree
from dpviz.models.tree import Branch, Tree, format_number
from dpviz.results.document import Statement, statement_of
from dpviz.results.verdict import Unit, Verdict
from dpviz.results.wording import number_text
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, Schema, Target
from dpviz.training.estimate.report import CONFIDENCE, ClassReport

#: A larger tree is drawn for paper only.
MOST_DRAWN = 64
#: Pixels of a drawing on A4: it is made 0.81 times as large, and its smallest letters are 7 points high.
PAPER_WIDTH, PAPER_HEIGHT = 828.0, 470.0
#: Columns that page one names, sentences of the test on it (the others stand in the annexes), categories of a column.
_MOST_NAMED, _MOST_SENTENCES, _MOST_CATEGORIES = 3, 3, 12
_ALLOWED = "default-src 'none'; style-src 'unsafe-inline'"
_DRAWN = re.compile(r'(<text class="(name|rule)"[^>]*)>([^<]+)(<tspan class="rule">([^<]*))?<')
_SQUEEZED = 'lengthAdjust="spacingAndGlyphs"'


@dataclass(frozen=True, slots=True)
class Signed:
    """What stands beside the signature line; an empty text is a line to fill in by hand."""

    data_set: str = ""
    date: str = ""
    author: str = ""


def report_html(given: Exportable, signed: Signed | None = None) -> str:
    """Page one for people who decide, then the annexes. `signed`: what stands beside the signature line."""
    statement, target, found = statement_of(given.document), given.schema.target.name, given.verdict
    test = test_result_of(given.document, given.schema)
    sentences = [] if test is None else result_sentences(test, found.unit)
    body = "\n".join(
        (
            f"<h1>{text(f'What predicts {target}')}</h1><p class=finding>{text(_finding(given, test))}</p>",
            _beside_always(test),
            f"<p class=lead>{text(f'Made by {_learner(given)}.')}</p>",
            f'<div class="verdict {"" if found.kind == "released" else "open"}"><p><strong>{text(found.headline)}</strong></p>',
            f"<p>{text(found.odds)}</p>{_plain_bound(found)}</div>",
            *_model(given),
            f"<h2>How sure it is</h2>{_bullets(_how_sure(sentences))}",
            '<div class="columns"><section><h2>What may be concluded</h2>',
            f"{_bullets(_conclusions(given, tested=test is not None))}</section>",
            f"<section><h2>What may not</h2>{_bullets(_no_conclusions(given))}</section></div>",
            *_signature(signed or Signed()),
            '<h1 class="annex">Annexes</h1>',
            f"<h2>How good it is, in full</h2>{_bullets(sentences[_MOST_SENTENCES:])}" if sentences else "",
            f"<h2>By group</h2>{_rows_table(rows)}<p class=note>{WIDE}</p>" if (rows := group_rows(test)) else "",
            f'<div class="columns"><section><h2>What is promised</h2>{_bullets(found.promises)}',
            "</section><section><h2>What is not promised</h2>",
            _bullets(not_promised(found.unit, statement.disclosures, statement.noise.warning)),
            f"</section></div><h2>Where the budget went</h2>{_budget_table(statement, found.unit)}<p>{text(found.because)}</p>",
            f"<h2>What was taken as public</h2>{_public_table(given.schema)}",
            f"<footer>{text(_foot(given))}</footer>",
        )
    )
    inside = f'<script type="application/json" id="document">{_as_data(given.text)}</script>'
    return page_html(f"What predicts {target}", body, inside)


# --- page one


def _finding(given: Exportable, test: Any) -> str:
    """What the model asks and how often it is right, in one sentence; a second one where it is no release."""
    tree = as_tree(given.model)
    names = () if tree is None else _first_questions(tree)
    asks = f"asks about {_listed(names)}" if names else f"uses {given.schema.n_features:,} columns"
    right = f", and is right for {percent_with_interval(test.accuracy)} of the rows" if isinstance(test, ClassReport) else ""
    kind = "" if given.verdict.kind == "released" else " It is not a release, and not for the public."
    return f"The model that predicts {given.schema.target.name} {asks}{right}.{kind}"


def _first_questions(tree: Tree) -> tuple[str, ...]:
    """Columns the tree asks for, those nearest the root first."""
    places = sorted((len(placed.path), placed.path, placed.node) for placed in tree.nodes() if isinstance(placed.node, Branch))
    return tuple(dict.fromkeys(tree.schema.features[node.rule.feature].name for _, _, node in places))


def _listed(names: tuple[str, ...]) -> str:
    first, others, more = names[0], names[1:_MOST_NAMED], len(names) - _MOST_NAMED
    if not others:
        return f"{first} only"
    rest = f"{', '.join(others)} and {more:,} more" if more > 0 else " and ".join(others)
    return f"{first} first, then {rest}"


def _beside_always(test: Any) -> str:
    """How often it is right beside always saying one class; in the colour of a warning where no test shows that it is better."""
    said = "" if test is None else beside_always(test)
    return f'<p class="worth{"" if is_better_than_always(test) else " open"}">{text(said)}</p>' if said else ""


def _learner(given: Exportable) -> str:
    name = entry_text(given.document, "learner", "name")
    return registry()[name].title if name in registry() else "an unknown learner" if name == "unknown" else name


def _plain_bound(found: Verdict) -> str:
    """One click away from the guesses about the model: what its epsilon alone allows. Paper shows it at once."""
    words = text(found.plain_bound)
    said = "Counted from what the algorithm does, not from ε alone."
    return f"<details><summary>{said}</summary>{words}</details>" if words else ""


def _how_sure(sentences: list[str]) -> list[str]:
    if not sentences:
        return ["Nothing is known about how good this model is: it holds no private test result."]
    return [f"{sentences[0]} In brackets: {CONFIDENCE:.0%} intervals.", *sentences[1:_MOST_SENTENCES]]


def _conclusions(given: Exportable, *, tested: bool) -> Iterator[str]:
    """What somebody who sees page one may take away."""
    if given.verdict.kind == "released":
        whose = given.verdict.unit.words
        yield f"How well anyone who sees it can guess whether {whose} is in the data: no better than is stated above."
    yield "How the model decides, question by question." if as_tree(given.model) else "Which columns the model may use."
    if tested:
        yield "How good it is on rows like these."


def _no_conclusions(given: Exportable) -> Iterator[str]:
    if given.verdict.kind != "released":
        yield f"{given.verdict.headline}."
    first, other = ("a question near the top", "tree") if as_tree(given.model) else ("a column it uses", "model")
    yield f"That {first} is a cause: it only predicts."
    yield "That the model is right about one person, or fair to a group."
    yield f"That no other {other} predicts as well: noise chooses among those that are nearly as good."


def _signature(signed: Signed) -> Iterator[str]:
    yield '<div class="signature">'
    for name, value in (("Data set", signed.data_set), ("Date", signed.date), ("Author", signed.author), ("Signature", "")):
        yield f'<p><span class="line">{text(value) if value else "&nbsp;"}</span>{name}</p>'
    yield "</div>"


# --- the tree on page one


def drawn_tree(given: Exportable) -> Tree | None:
    """The model as one tree, merged as it is drawn; None for a model of another kind."""
    tree = as_tree(given.model)
    return None if tree is None else tree.merged()


def _model(given: Exportable) -> Iterator[str]:
    """The tree for a wide screen, for a telephone and for paper; of a large one only what paper has room for."""
    tree = drawn_tree(given)
    if tree is None:
        count = len(getattr(given.model, "trees", ())) or getattr(getattr(given.model, "splits", None), "n_trees", 0)
        yield f"<p>{f'The model is {count:,} trees' if count else 'The model is not a tree'}; it is not drawn.</p>"
        return
    title = f"Tree of {given.schema.target.name}, depth {tree.depth}, {tree.n_leaves:,} leaves"
    draw = partial(draw_tree, tree, title=title)
    layout = layout_within(tree, PAPER_WIDTH, PAPER_HEIGHT)
    kept, paper = max(len(placed.path) for placed in layout.nodes), _at_measured_width(draw(layout=layout).standalone())
    large, left_out = tree.n_leaves > MOST_DRAWN, f" Only the first {counted(kept, 'level')} of {tree.depth} are drawn here."
    if not large:
        screens = _at_measured_width(draw().standalone()) + _at_measured_width(draw(narrow=True).standalone())
        yield f"<figure class=screen>{screens}{_caption()}</figure>"
    yield f'<figure class="{"" if large else "paper"}">{paper}{_caption(left_out if kept < tree.depth else "")}</figure>'


def _caption(more: str = "") -> str:
    return f"<figcaption>True goes left. Names that do not fit are cut.{more}</figcaption>"


def _at_measured_width(svg: str) -> str:
    """Texts of a drawing take the width they were fitted to their boxes with, whatever font a reader has."""

    def stretched(found: re.Match[str]) -> str:
        width = text_width(unescape(found[3]), 13, bold=found[2] == "name") + text_width(unescape(found[5] or ""), 13)
        return f'{found[1]} textLength="{width:.1f}" {_SQUEEZED}>{found[3]}{found[4] or ""}<'

    return _DRAWN.sub(stretched, svg)


# --- what is not promised, and the ledger


def not_promised(unit: Unit, disclosures: Sequence[Disclosure] = (), warning: str | None = None) -> list[str]:
    """What no epsilon covers, in plain words."""
    lines = [f"Not covered by the guarantee: {item.what}" for item in disclosures[:6]]
    if len(disclosures) > 6:
        lines.append(f"And {len(disclosures) - 6:,} more such disclosures; the JSON document lists them.")
    if not unit.is_bounded:
        more = "several" if unit.rows == 1 else f"more than {unit.rows:,}"
        lines.append(f"A person with {more} rows: the guarantee is about {unit.words}, and weakens with each further row.")
    return [
        *([warning] if warning else []),
        *lines,
        "Other releases from the same rows: each one adds to the loss.",
        "What holds for people in general: a model may say that smokers fall ill, also about a smoker who took no part.",
        "That the model is right about new rows, or fair.",
    ]


def _budget_table(statement: Statement, unit: Unit) -> str:
    """Steps of the ledger, alike ones together: how many there are and what one costs."""
    if not statement.ledger:
        return '<p class="note">No step touched the rows.</p>'
    groups: dict[tuple[str, Any, str], list[float]] = {}
    for step in statement.steps:
        groups.setdefault((step.part, step.level, step.mechanism or step.kind), []).append(step.epsilon)
    largest = max((max(costs) for costs in groups.values() if math.isfinite(max(costs))), default=0.0)
    rows = "".join(_budget_row(*key, costs, largest) for key, costs in groups.items())
    head = "<th>For</th><th>Depth</th><th>Mechanism</th>"
    head += "<th class=number>Steps</th><th class=number>ε of one</th><th class=bar-cell></th>"
    note = f"Steps on disjoint rows do not add up: the costliest counts. Every ε: {NEIGHBOURS}."
    if unit.rows > 1:
        note += f" For {unit.words} with up to {unit.rows:,} rows, {unit.rows:,} times as much."
    return f'<div class="table"><table><tr>{head}</tr>{rows}</table></div><p class="note">{text(note)}</p>'


def _budget_row(part: str, level: int | None, how: str, costs: list[float], largest: float) -> str:
    most = max(costs)
    width = 100 * most / largest if largest and math.isfinite(most) else 0.0
    size = 'width="100" height="10" viewBox="0 0 100 10" preserveAspectRatio="none"'
    bar = f'<svg {size} aria-hidden="true"><rect class="bar" width="{width:.1f}" height="10" rx="2"/></svg>'
    cells = f"<td>{text(part)}</td><td>{'' if level is None else level}</td><td>{text(how)}</td>"
    numbers = f"<td class=number>{len(costs):,}</td><td class=number>{number_text(most)}</td>"
    return f"<tr>{cells}{numbers}<td class=bar-cell>{bar}</td></tr>"


# --- the schema


def _public_table(schema: Schema) -> str:
    """Every column with what was taken as public about it, and whether somebody declared it or it was read from the rows."""
    known = [(column.name, _known(column), column.read_from_data) for column in (*schema.features, schema.target)]
    count = "not declared" if schema.n_public is None else f"about {schema.n_public:,}"
    known.append(("Number of rows", count, tuple(field for field in schema.read_from_data if field == "n_public")))
    rows = "".join(f"<tr><td>{text(name)}</td><td>{text(said)}</td><td>{_badge(read)}</td></tr>" for name, said, read in known)
    head = "<tr><th>Column</th><th>Taken as public</th><th>Source</th></tr>"  # again at the top of every page it goes on to
    source = f"Corrected after a look at how the rows fit, by a public source: {schema.source}" if schema.source else ""
    more = f"\n<p>{text(source)}</p>" if source else ""
    return f'<div class="table"><table><thead>{head}</thead>{rows}</table></div>{more}'


def _known(column: Feature | Target) -> str:
    if isinstance(column, (CategoricalFeature, ClassTarget)):
        names = column.categories if isinstance(column, CategoricalFeature) else column.classes
        more = f" and {len(names) - _MOST_CATEGORIES:,} more" if len(names) > _MOST_CATEGORIES else ""
        return f"{'predicted, ' if isinstance(column, ClassTarget) else ''}one of {', '.join(names[:_MOST_CATEGORIES])}{more}"
    span = f"{format_number(column.low)} to {format_number(column.high)}"
    if not isinstance(column, NumericFeature):
        return f"predicted, a number, {span}"
    return f"a number, {'whole, ' if column.whole else ''}{span} {column.unit}".strip()


def _badge(read: tuple[str, ...]) -> str:
    if not read:
        return '<span class="badge">declared</span>'
    return f'<span class="badge read">read from the rows: {text(", ".join(read))}</span>'


# --- HTML


def text(words: str) -> str:
    """Text for HTML: on one line, without characters that reach beyond themselves, escaped."""
    return escape(visible(words))


def page_html(title: str, body: str, after: str = "") -> str:
    """A self-contained page: no script runs, nothing is fetched, and it prints. `after` stands behind what is shown."""
    return "\n".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_ALLOWED}">',
            f"<title>{text(title)}</title><style>{_css()}</style></head><body><main>",
            f"{body}</main>{after}</body></html>",
        )
    )


@cache
def _css() -> str:
    return Path(__file__).with_name("report.css").read_text(encoding="utf-8")


def _bullets(lines: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{text(line)}</li>" for line in lines) + "</ul>"


def _rows_table(rows: Rows) -> str:
    head = "".join(f"<th>{text(name)}</th>" for name in rows[0])
    lines = "".join(f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in row.values())}</tr>" for row in rows)
    return f'<div class="table"><table><thead><tr>{head}</tr></thead>{lines}</table></div>'


def _foot(given: Exportable) -> str:
    version = entry_text(given.document, "versions", "dpviz")
    return (
        f"Made by dpviz {version}. The page holds released values only, and the model's JSON document as data. It loads nothing."
    )


def _as_data(document: str) -> str:
    """JSON that no text inside can end early: a parser of HTML sees no "<" in it."""
    return json.dumps(json.loads(document), ensure_ascii=True).replace("<", "\\u003c")
