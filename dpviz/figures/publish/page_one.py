"""Page one of the report, for people who decide: the finding, the tree, how sure it is, what may be concluded, who signs."""

from collections.abc import Iterator
from dataclasses import dataclass

from dpviz.figures.publish.report_parts import bullets, text
from dpviz.figures.publish.test_result import beside_always, is_better_than_always, percent_with_interval, result_sentences
from dpviz.io.exports.contract import Exportable
from dpviz.io.results import test_result_of
from dpviz.models.constant import as_tree
from dpviz.models.tree import Branch, Tree
from dpviz.results.verdict import Verdict
from dpviz.training.estimate.report import CONFIDENCE, ClassReport

_MOST_NAMED = 3
#: Of the private test result; the others stand in the annexes.
MOST_SENTENCES = 3


@dataclass(frozen=True, slots=True)
class Signed:
    """What stands beside the signature line; an empty text is a line to fill in by hand."""

    data_set: str = ""
    date: str = ""
    author: str = ""


def finding(given: Exportable, found: Verdict) -> str:
    """What the model asks and how often it is right, in one sentence; a second one where it is no release."""
    target, tree, report = given.schema.target.name, as_tree(given.model), test_result_of(given.document, given.schema)
    names = first_questions(tree) if isinstance(tree, Tree) else ()
    asks = f"asks about {_listed(names)}" if names else f"uses {given.schema.n_features:,} columns"
    right = f", and is right for {percent_with_interval(report.accuracy)} of the rows" if isinstance(report, ClassReport) else ""
    kind = "" if found.kind == "released" else " It is not a release, and not for the public."
    return f"The model that predicts {target} {asks}{right}.{kind}"


def worth(given: Exportable) -> str:
    """A line that sets how often the model is right beside what always saying one class reaches; empty without a test.

    In the colour of a warning where the test does not show that it is better.
    """
    report = test_result_of(given.document, given.schema)
    if report is None or not (said := beside_always(report)):
        return ""
    return f'<p class="worth{"" if is_better_than_always(report) else " open"}">{text(said)}</p>'


def first_questions(tree: Tree) -> tuple[str, ...]:
    """Columns the tree asks for, those nearest the root first."""
    places = sorted((len(placed.path), placed.path, placed.node) for placed in tree.nodes() if isinstance(placed.node, Branch))
    names = (tree.schema.features[node.rule.feature].name for _, _, node in places)
    return tuple(dict.fromkeys(names))


def _listed(names: tuple[str, ...]) -> str:
    first, others, more = names[0], names[1:_MOST_NAMED], len(names) - _MOST_NAMED
    if not others:
        return f"{first} only"
    rest = f"{', '.join(others)} and {more:,} more" if more > 0 else " and ".join(others)
    return f"{first} first, then {rest}"


def how_sure(given: Exportable) -> list[str]:
    """The first sentences of the private test result."""
    report = test_result_of(given.document, given.schema)
    if report is None:
        return ["Nothing is known about how good this model is: it holds no private test result."]
    first, *others = result_sentences(report, given.verdict.unit)[:MOST_SENTENCES]
    return [f"{first} In brackets: {CONFIDENCE:.0%} intervals.", *others]


def may_be_concluded(found: Verdict, given: Exportable) -> Iterator[str]:
    """What somebody who sees page one may take away."""
    if found.kind == "released":
        yield f"How well anyone who sees it can guess whether {found.unit.words} is in the data: no better than is stated above."
    yield "How the model decides, question by question." if as_tree(given.model) else "Which columns the model may use."
    if test_result_of(given.document, given.schema) is not None:
        yield "How good it is on rows like these."


def may_not_be_concluded(found: Verdict, given: Exportable) -> Iterator[str]:
    """What it does not say."""
    if found.kind != "released":
        yield f"{found.headline}."
    first, other = ("a question near the top", "tree") if as_tree(given.model) else ("a column it uses", "model")
    yield f"That {first} is a cause: it only predicts."
    yield "That the model is right about one person, or fair to a group."
    yield f"That no other {other} predicts as well: noise chooses among those that are nearly as good."


def columns(found: Verdict, given: Exportable) -> str:
    """What may, and what may not be concluded, side by side."""
    return (
        f'<div class="columns"><section><h2>What may be concluded</h2>{bullets(may_be_concluded(found, given))}</section>'
        f"<section><h2>What may not</h2>{bullets(may_not_be_concluded(found, given))}</section></div>"
    )


def signature(signed: Signed) -> Iterator[str]:
    """Data set, date, author and a line to sign on."""
    yield '<div class="signature">'
    for name, value in (("Data set", signed.data_set), ("Date", signed.date), ("Author", signed.author), ("Signature", "")):
        yield f'<p><span class="line">{text(value) if value else "&nbsp;"}</span>{name}</p>'
    yield "</div>"
