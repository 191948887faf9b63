"""Rules as plain text, one block per leaf: every condition on its own line. Checked by reading the text back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpviz.io.exports.contract import Content, Exportable, Target
from dpviz.io.exports.golden import Row
from dpviz.io.exports.rules import Rule, answer_from, answer_words, answers, condition_from, condition_words, rules_of
from dpviz.table.schema import Schema

_WORDS = ("if", "and", "then", "always")
_INDENT = 2 + max(map(len, _WORDS)) + 1


def _write(given: Exportable) -> str:
    head = [*(f"# {fact}" for fact in given.facts), "# A rule applies when all its lines do; exactly one applies to any row."]
    blocks = [line for place, rule in enumerate(rules_of(given.function), start=1) for line in _block(place, rule)]
    return "\n".join([*head, *blocks]) + "\n"


def _block(place: int, rule: Rule) -> Iterator[str]:
    yield ""
    yield f"Rule {place}"
    for first, condition in enumerate(rule.conditions):
        yield _line("and" if first else "if", condition_words(condition))
    yield _line("then" if rule.conditions else "always", answer_words(rule.answer))


def _line(word: str, rest: str) -> str:
    return f"{'  ' + word:<{_INDENT}}{rest}"


def _run(content: Content, schema: Schema, rows: Sequence[Row]) -> list[str | float]:
    assert isinstance(content, str)
    return answers(list(_read(content, schema)), schema, rows)


def _read(content: str, schema: Schema) -> Iterator[Rule]:
    conditions = []
    for line in content.split("\n"):
        word, rest = line[:_INDENT].strip(), line[_INDENT:]
        if word in ("if", "and"):
            conditions.append(condition_from(rest, schema))
        elif word in ("then", "always"):
            yield Rule(tuple(conditions), answer_from(rest, schema))
            conditions = []


TARGET = Target(
    name="rules",
    title="Rules, plain text",
    suffix=".txt",
    mime="text/plain",
    about="One rule per leaf, numbers in full. Each rule says whether a missing cell will do.",
    write=_write,
    run=_run,
    ran_in=lambda: "the text, read back",
    group="words",
    one_tree=True,
    most_ends=2_000,
    order=50,
)
