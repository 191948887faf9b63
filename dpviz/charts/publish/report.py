"""A model on one HTML page: page one for people who decide, then ledger, schema and test for people who check.

The page is self-contained: no script runs, nothing is fetched, everything from a file is escaped, and it prints. The whole
`dpviz-tree/1` document lies inside as data, so that the page can be checked against the model.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from dpviz.accounting.claim import Disclosure
from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.charts.publish.test_result import (
    WIDE,
    group_rows,
    is_better_than_always,
    majority_comparison,
    percent_with_interval,
    result_sentences,
)
from dpviz.charts.tree.layout import layout_within
from dpviz.charts.tree.svg import draw_tree
from dpviz.charts.tree.text import visible
from dpviz.charts.wording import count_text
from dpviz.io.exports.contract import ExportInput
from dpviz.io.results import entry_text, private_test_of
from dpviz.learners import registry
from dpviz.models.tree import Branch, Tree, as_tree, format_number
from dpviz.results.document import Statement, statement_of
from dpviz.results.verdict import Unit
from dpviz.results.wording import number_text
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, Schema, Target
from dpviz.training.estimate.report import CONFIDENCE, ClassReport

#: A larger tree is drawn for paper only.
MAX_DRAWING_LEAVES = 64
#: Pixels of a drawing on A4: it is made 0.81 times as large, and its smallest letters are 7 points high.
PAPER_WIDTH, PAPER_HEIGHT = 828.0, 470.0
#: Columns that page one names, sentences of the test on it (the others stand in the annexes), categories of a column.
_MAX_COLUMNS, _MAX_SENTENCES, _MAX_CATEGORIES = 3, 3, 12


@dataclass(frozen=True, slots=True)
class SignatureLine:
    """What stands beside the signature line; an empty text is a line to fill in by hand."""

    data_set: str = ""
    date: str = ""
    author: str = ""


def report_html(source: ExportInput, signed: SignatureLine | None = None) -> str:
    """`report.html`, filled in: page one, then the annexes. `signed`: what stands beside the signature line."""
    statement, verdict = statement_of(source.document), source.verdict
    test = private_test_of(source.document, source.schema)
    sentences = [] if test is None else result_sentences(test, verdict.unit)
    learner = entry_text(source.document, "learner", "name")
    learner = registry()[learner].title if learner in registry() else "an unknown learner" if learner == "unknown" else learner
    how_sure = ["Nothing is known about how good this model is: it holds no private test result."]
    if sentences:
        how_sure = [f"{sentences[0]} In brackets: {CONFIDENCE:.0%} intervals.", *sentences[1:_MAX_SENTENCES]]
    worth = "" if test is None else majority_comparison(test)
    if test is not None and worth:  # in the colour of a warning where no test shows that it is better than always one class
        worth = f'<p class="worth{"" if is_better_than_always(test) else " open"}">{text(worth)}</p>'
    plain_bound = text(verdict.plain_bound) if verdict.plain_bound else ""
    if plain_bound:  # one click away from the guesses about the model; paper shows it at once
        counted_from = "Counted from what the algorithm does, not from ε alone."
        plain_bound = f"<details><summary>{counted_from}</summary>{plain_bound}</details>"
    groups = group_rows(test)
    by_group = _table(groups[0], (map(text, row.values()) for row in groups)) if groups else ""
    texts = {
        "target": source.schema.target.name,
        "finding": _finding(source, test),
        "learner": learner,
        "headline": verdict.headline,
        "odds": verdict.odds,
        "because": verdict.because,
        "version": entry_text(source.document, "versions", "dpviz"),
    }
    page = Template(_file("report.html")).substitute(
        {name: text(words) for name, words in texts.items()},
        **{name: text(words) if words else "&nbsp;" for name, words in asdict(signed or SignatureLine()).items()},
        css=_file("report.css"),
        state="" if verdict.kind == "released" else "open",
        worth=worth,
        plain_bound=plain_bound,
        model="\n".join(_model(source)),
        how_sure=_bullets(how_sure),
        conclusions=_bullets(_conclusions(source, tested=test is not None)),
        no_conclusions=_bullets(_no_conclusions(source)),
        test=f"<h2>How good it is, in full</h2>{_bullets(sentences[_MAX_SENTENCES:])}" if sentences else "",
        groups=f"<h2>By group</h2>{by_group}<p class=note>{WIDE}</p>" if groups else "",
        promises=_bullets(verdict.promises),
        not_promised=_bullets(not_promised(verdict.unit, statement.disclosures, statement.noise.warning)),
        ledger=_ledger_table(statement, verdict.unit),
        schema=_schema_table(source.schema),
        # no text inside can end it early: a parser of HTML sees no "<" in it
        document=json.dumps(json.loads(source.text), ensure_ascii=True).replace("<", "\\u003c"),
    )
    return page.rstrip("\n")


@cache
def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").rstrip("\n")


# --- page one


def _finding(source: ExportInput, test: Any) -> str:
    """What the model asks and how often it is right, in one sentence; a second one where it is no release."""
    tree, names = as_tree(source.model), tuple[str, ...]()
    if tree is not None:  # those nearest the root first
        branches = [(placed.path, placed.node) for placed in tree.nodes() if isinstance(placed.node, Branch)]
        branches.sort(key=lambda branch: (len(branch[0]), branch[0]))
        names = tuple(dict.fromkeys(tree.schema.features[node.rule.feature].name for _, node in branches))
    asks = f"asks about {_name_list(names)}" if names else f"uses {source.schema.n_features:,} columns"
    right = f", and is right for {percent_with_interval(test.accuracy)} of the rows" if isinstance(test, ClassReport) else ""
    kind = "" if source.verdict.kind == "released" else " It is not a release, and not for the public."
    return f"The model that predicts {source.schema.target.name} {asks}{right}.{kind}"


def _name_list(names: tuple[str, ...]) -> str:
    first, next_names, more = names[0], names[1:_MAX_COLUMNS], len(names) - _MAX_COLUMNS
    if not next_names:
        return f"{first} only"
    names_in_words = f"{', '.join(next_names)} and {more:,} more" if more > 0 else " and ".join(next_names)
    return f"{first} first, then {names_in_words}"


def _conclusions(source: ExportInput, *, tested: bool) -> Iterator[str]:
    """What somebody who sees page one may take away."""
    if source.verdict.kind == "released":
        unit_words = source.verdict.unit.words
        yield f"How well anyone who sees it can guess whether {unit_words} is in the data: no better than is stated above."
    yield "How the model decides, question by question." if as_tree(source.model) else "Which columns the model may use."
    if tested:
        yield "How good it is on rows like these."


def _no_conclusions(source: ExportInput) -> Iterator[str]:
    if source.verdict.kind != "released":
        yield "That the rows are protected."
    first, noun = ("a question near the top", "tree") if as_tree(source.model) else ("a column it uses", "model")
    yield f"That {first} is a cause: it only predicts."
    yield "That the model is right about one person, or fair to a group."
    yield f"That no other {noun} predicts as well: noise chooses among those that are nearly as good."


# --- the tree on page one


def drawn_tree(source: ExportInput) -> Tree | None:
    """The model as one tree, merged as it is drawn; None for a model of another kind."""
    tree = as_tree(source.model)
    return None if tree is None else tree.merged()


def _model(source: ExportInput) -> Iterator[str]:
    """The tree for a wide screen, for a telephone and for paper; of a large one only what paper has room for."""
    tree = drawn_tree(source)
    if tree is None:
        count = len(getattr(source.model, "trees", ())) or getattr(getattr(source.model, "splits", None), "n_trees", 0)
        yield f"<p>{f'The model is {count:,} trees' if count else 'The model is not a tree'}; it is not drawn.</p>"
        return
    title = f"Tree of {source.schema.target.name}, depth {tree.depth}, {tree.n_leaves:,} leaves"
    draw = partial(draw_tree, tree, title=title)
    layout = layout_within(tree, PAPER_WIDTH, PAPER_HEIGHT)
    paper, n_levels = draw(layout=layout).at_measured_width().standalone(), max(len(placed.path) for placed in layout.nodes)
    is_large, words = tree.n_leaves > MAX_DRAWING_LEAVES, "True goes left. Names that do not fit are cut."
    if not is_large:
        screens = "".join(draw(narrow=narrow).at_measured_width().standalone() for narrow in (False, True))
        yield f"<figure class=screen>{screens}<figcaption>{words}</figcaption></figure>"
    if n_levels < tree.depth:
        words += f" Only the first {count_text(n_levels, 'level')} of {tree.depth} are drawn here."
    yield f'<figure class="{"" if is_large else "paper"}">{paper}<figcaption>{words}</figcaption></figure>'


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


def kept_rows(unit: Unit) -> str:
    """Why a ledger's table of one row is not what a unit with several loses."""
    swapped = ", and a further row may take the place of one that is kept: twice as much" if unit.is_bounded else ""
    return f"This is what one row pays; {unit.words} has up to {unit.rows:,}{swapped}. What is guaranteed counts all of them."


def _ledger_table(statement: Statement, unit: Unit) -> str:
    """Steps of the ledger, alike ones together: how many there are and what one costs."""
    if not statement.ledger:
        return '<p class="note">No step touched the rows.</p>'
    groups: dict[tuple[str, str, str], list[float]] = {}
    for step in statement.steps:
        level = "" if step.level is None else f"{step.level}"
        groups.setdefault((text(step.part), level, text(step.mechanism or step.kind)), []).append(step.epsilon)
    rows = ((*key, f"{len(costs):,}", number_text(max(costs))) for key, costs in groups.items())
    note = f"Steps on disjoint rows do not add up: the costliest counts. Every ε: {NEIGHBOURS}."
    if unit.rows > 1:
        note += " " + kept_rows(unit)
    return f'{_table(("For", "Depth", "Mechanism", "Steps", "ε of one"), rows)}<p class="note">{text(note)}</p>'


# --- the schema


def _schema_table(schema: Schema) -> str:
    """Every column with what was taken as public about it, and whether somebody declared it or it was read from the rows."""
    columns = [(column.name, _known(column), column.read_from_data) for column in (*schema.features, schema.target)]
    count = "not declared" if schema.n_public is None else f"about {schema.n_public:,}"
    columns.append(("Number of rows", count, tuple(field for field in schema.read_from_data if field == "n_public")))
    rows = [
        (text(name), text(meaning), f'<span class="badge{" read" if origin else ""}">{text(origin or "declared")}</span>')
        for name, meaning, fields in columns
        for origin in ["read from the rows: " + ", ".join(fields) if fields else ""]
    ]
    note = f"Corrected after a look at how the rows fit, by a public source: {schema.source}" if schema.source else ""
    return _table(("Column", "Taken as public", "Source"), rows) + (f"\n<p>{text(note)}</p>" if note else "")


def _known(column: Feature | Target) -> str:
    if isinstance(column, (CategoricalFeature, ClassTarget)):
        names = column.categories if isinstance(column, CategoricalFeature) else column.classes
        more = f" and {len(names) - _MAX_CATEGORIES:,} more" if len(names) > _MAX_CATEGORIES else ""
        return f"{'predicted, ' if isinstance(column, ClassTarget) else ''}one of {', '.join(names[:_MAX_CATEGORIES])}{more}"
    span = f"{format_number(column.low)} to {format_number(column.high)}"
    if not isinstance(column, NumericFeature):
        return f"predicted, a number, {span}"
    return f"a number, {'whole, ' if column.whole else ''}{span} {column.unit}".strip()


# --- HTML


def text(words: str) -> str:
    """Text for HTML: on one line, without characters that reach beyond themselves, escaped."""
    return escape(visible(words))


def _bullets(lines: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{text(line)}</li>" for line in lines) + "</ul>"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of cells that are HTML; its head comes again at the top of every page it goes on to."""
    names = "".join(f"<th>{text(name)}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="table"><table><thead><tr>{names}</tr></thead>{lines}</table></div>'
