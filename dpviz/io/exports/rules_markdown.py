"""Rules as a numbered list in Markdown. Names stand in code spans: nothing in them is markup. Checked by reading it back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dpviz.io.exports.contract import Content, Exportable, Target
from dpviz.io.exports.golden import Row
from dpviz.io.exports.rules import Rule, answer_from, answer_words, answers, condition_from, condition_words, rules_of
from dpviz.table.schema import Schema

_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_RULE = re.compile(r"\d+\. ")


def _write(given: Exportable) -> str:
    head = [f"- {_sentence(fact)}" for fact in given.facts]
    note = "A rule applies when all its conditions do; exactly one applies to any row."
    rules = [f"{place}. {_rule(rule)}" for place, rule in enumerate(rules_of(given.function), start=1)]
    return "\n".join(["# Rules", "", *head, "", note, "", *rules]) + "\n"


def _rule(rule: Rule) -> str:
    conditions = " and ".join(code(condition_words(condition)) for condition in rule.conditions)
    answer = f"**{code(answer_words(rule.answer))}**"
    return f"If {conditions}, then {answer}" if conditions else f"Always {answer}"


def code(text: str) -> str:
    """A code span that shows `text` as it is."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _sentence(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~$&])", r"\\\1", text)


def _run(content: Content, schema: Schema, rows: Sequence[Row]) -> list[str | float]:
    assert isinstance(content, str)
    return answers(list(_read(content, schema)), schema, rows)


def _read(content: str, schema: Schema) -> Iterator[Rule]:
    for line in content.split("\n"):
        if _RULE.match(line):
            *conditions, answer = (_shown(span) for _, span in _SPAN.findall(line))
            yield Rule(tuple(condition_from(words, schema) for words in conditions), answer_from(answer, schema))


def _shown(span: str) -> str:
    return span[1:-1] if span.startswith(" ") and span.endswith(" ") and span.strip() else span


TARGET = Target(
    name="markdown",
    title="Rules, Markdown",
    suffix=".md",
    mime="text/markdown",
    about="One rule per leaf as a numbered list, for a report or a wiki.",
    write=_write,
    run=_run,
    ran_in=lambda: "the Markdown, read back",
    group="words",
    language="markdown",
    one_tree=True,
    most_ends=2_000,
    order=51,
)
