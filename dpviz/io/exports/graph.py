"""A tree as nodes and edges: what DOT and Mermaid share. A node's words say which answers a missing or unknown cell gets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpviz.errors import NotExported
from dpviz.io.exports.function import End, Function, Question, Step
from dpviz.io.exports.golden import Row
from dpviz.io.exports.rules import Condition, answer_from, answer_words, condition_from, condition_words
from dpviz.table.schema import Schema


@dataclass(frozen=True, slots=True)
class Drawn:
    """A node as it is drawn: its number from 0, its words, and the numbers that "yes" and "no" lead to (None at a leaf)."""

    place: int
    words: str
    yes: int | None = None
    no: int | None = None


def drawn(function: Function) -> list[Drawn]:
    """Every node of a single tree, the root first."""
    return sorted(_drawn(function, function.trees[0], 0), key=lambda node: node.place)


def _drawn(function: Function, step: Step, place: int) -> Iterator[Drawn]:
    if isinstance(step, End):
        yield Drawn(place, answer_words(function.answer(step)))
        return
    below = list(_drawn(function, step.yes, place + 1))
    after = place + 1 + len(below)
    yield Drawn(place, condition_words(_condition(step.question)), place + 1, after)
    yield from below
    yield from _drawn(function, step.no, after)


def _condition(question: Question) -> Condition:
    """The question as a condition for a yes."""
    if question.threshold is not None:
        return Condition(question.name, high=question.threshold, with_high=not question.strict, missing=question.missing)
    if question.unknown:
        return Condition(question.name, but=question.no, missing=question.missing)
    return Condition(question.name, among=question.yes, missing=question.missing)


def walked(nodes: Sequence[Drawn], schema: Schema, rows: Sequence[Row]) -> list[str | float]:
    """What the drawing predicts for rows. Raises NotExported when its words cannot be read."""
    asked = {node.place: condition_from(node.words, schema) for node in nodes if node.yes is not None}
    said = {node.place: answer_from(node.words, schema) for node in nodes if node.yes is None}
    column = {name: k for k, name in enumerate(schema.feature_names)}
    by_place = {node.place: node for node in nodes}
    return [_walk(by_place, asked, said, column, row) for row in rows]


def _walk(
    nodes: dict[int, Drawn], asked: dict[int, Condition], said: dict[int, str | float], column: dict[str, int], row: Row
) -> str | float:
    place = 0
    while place in asked:
        follows = nodes[place].yes if asked[place].holds(row[column[asked[place].name]]) else nodes[place].no
        if follows is None or follows not in nodes:
            raise NotExported("An edge of the drawing is missing.", remedy="Export the model as JSON.")
        place = follows
    return said[place]


def nodes_from(text: str, node: re.Pattern[str], edge: re.Pattern[str], unescape: dict[str, str]) -> list[Drawn]:
    """The nodes in a drawing: `node` finds (place, words), `edge` finds (from, yes or no, to)."""
    sides: dict[int, dict[str, int]] = {}
    for start, side, end in edge.findall(text):
        sides.setdefault(int(start), {})[side] = int(end)
    shown = re.compile("|".join(map(re.escape, unescape)))
    return [
        Drawn(int(place), shown.sub(lambda found: unescape[found[0]], words), **sides.get(int(place), {}))
        for place, words in node.findall(text)
    ]
