"""A tree as rules, one per leaf: its path's questions, merged into one condition per column. Checked by reading them back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dpviz.errors import NotExported
from dpviz.io.exports.conditions import Condition, Row, condition_from, condition_words, name_from, number, spelled, without_codes
from dpviz.io.exports.contract import CheckedForm, Exportable
from dpviz.io.exports.function import LARGEST, End, Function, Step
from dpviz.table.schema import NumericTarget, Schema


@dataclass(frozen=True, slots=True)
class Rule:
    """One leaf: it predicts `answer` for the rows that meet every condition; `shares` are the probabilities of the classes."""

    conditions: tuple[Condition, ...]
    answer: str | float
    shares: tuple[float, ...] | None = None


def rules_of(function: Function) -> Iterator[Rule]:
    """The rules of a single tree, left to right. Leaves that no row can reach are left out."""
    for end, path in _leaves(function.trees[0], ()):
        merged: dict[int, Condition] = {}
        for item in path:
            merged[item.feature] = merged[item.feature] & item if item.feature in merged else item
        if not any(item.is_impossible for item in merged.values()):
            shares = end.shares if function.chances == "leaf" else None
            yield Rule(tuple(item for item in merged.values() if not item.excludes_nothing), function.answer(end), shares)


def _leaves(step: Step, path: tuple[Condition, ...]) -> Iterator[tuple[End, tuple[Condition, ...]]]:
    if isinstance(step, End):
        yield step, path
        return
    asked = step.condition
    any_number = replace(asked, high=float("inf")) if asked.high == LARGEST else asked
    yield from _leaves(step.yes, (*path, any_number))
    yield from _leaves(step.no, (*path, ~asked))


def answers(rules: Sequence[Rule], schema: Schema, rows: Sequence[Row]) -> tuple[list[str | float], list[tuple[float, ...]]]:
    """(what the rules predict, the probabilities that they give): exactly one must hold for each row, as a reader reads them.

    A cell with a declared code of missing cells is missing. Raises NotExported.
    """
    found = [_rule_for(rules, row) for row in without_codes(schema, rows)]
    return [rule.answer for rule in found], [rule.shares or () for rule in found]


def _rule_for(rules: Sequence[Rule], row: Row) -> Rule:
    found = [rule for rule in rules if all(item.holds(row[item.feature]) for item in rule.conditions)]
    if len(found) != 1:
        raise NotExported(f"{len(found)} rules hold for one row.", remedy="Export the model as JSON.")
    return found[0]


def rule_from(words: Sequence[str], schema: Schema, *, has_shares: bool = False) -> Rule:
    """The rule of these conditions, in words, its answer and, with `has_shares`, the probabilities behind it."""
    *conditions, answer = words[:-1] if has_shares else words
    shares = tuple(map(float, words[-1].split())) if has_shares else None
    return Rule(tuple(condition_from(item, schema) for item in conditions), answer_from(answer, schema), shares)


def share_words(shares: Sequence[float]) -> str:
    """Probabilities in full, in the order of the classes."""
    return " ".join(map(repr, shares))


def _order_of_shares(function: Function) -> list[str]:
    """One line that says which class each probability is of; none where there are no probabilities."""
    if function.chances != "leaf":
        return []
    return [f"Probabilities are in this order: {', '.join(map(spelled, function.schema.classes))}."]


def answer_words(answer: str | float) -> str:
    """The name of a class, or a number in full."""
    return spelled(answer) if isinstance(answer, str) else number(answer)


def answer_from(words: str, schema: Schema) -> str | float:
    """The answer that was put so."""
    return float(words) if isinstance(schema.target, NumericTarget) else name_from(words)


# --- the file: every condition on its own line

_WORDS = ("if", "and", "then", "always", "with")
_INDENT = 2 + max(map(len, _WORDS)) + 1


def _write_text(given: Exportable) -> str:
    note = "A rule applies when all its lines do; exactly one applies to any row."
    head = [f"# {line}" for line in (*given.facts, note, *_order_of_shares(given.function))]
    blocks = [line for place, rule in enumerate(rules_of(given.function), start=1) for line in _block(place, rule)]
    return "\n".join([*head, *blocks]) + "\n"


def _block(place: int, rule: Rule) -> Iterator[str]:
    yield ""
    yield f"Rule {place}"
    for first, condition in enumerate(rule.conditions):
        yield _line("and" if first else "if", condition_words(condition))
    yield _line("then" if rule.conditions else "always", answer_words(rule.answer))
    if rule.shares:
        yield _line("with", share_words(rule.shares))


def _line(word: str, rest: str) -> str:
    return f"{'  ' + word:<{_INDENT}}{rest}"


def _read_text(content: str, schema: Schema) -> Iterator[Rule]:
    for block in content.split("\n\n")[1:]:
        lines = [(line[:_INDENT].strip(), line[_INDENT:]) for line in block.split("\n")]
        told = [(word, rest) for word, rest in lines if word in _WORDS]
        yield rule_from([rest for _, rest in told], schema, has_shares=told[-1][0] == "with")


RULES = CheckedForm(
    name="rules",
    title="Rules",
    suffix=".txt",
    media_type="text/plain",
    about="One rule per leaf, numbers in full. Each rule says whether it also covers missing cells.",
    write=_write_text,
    run=lambda content, schema, rows: answers(list(_read_text(content, schema)), schema, rows),
    ran_in=lambda: "the text, read back",
    group="words",
    one_tree=True,
    most_ends=2_000,
    order=50,
)
