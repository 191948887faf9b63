"""A tree as rules, one per leaf: its path's questions, merged into one condition per column."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dpviz.io.exports.conditions import Condition, condition_words, number, spelled
from dpviz.io.exports.contract import Exportable, WrittenForm
from dpviz.io.exports.function import LARGEST, End, Function, Step


@dataclass(frozen=True, slots=True)
class Rule:
    """One leaf: it predicts `answer` for the rows that meet every condition; `shares` are the probabilities of the classes."""

    conditions: tuple[Condition, ...]
    answer: str | float
    shares: tuple[float, ...] | None = None


def rules_of(function: Function) -> Iterator[Rule]:
    """The rules of a single tree, left to right. Leaves that no row can reach are left out.

    A missing cell meets a condition only where the schema says what it counts as: elsewhere its row has no answer.
    """
    for end, path in _leaves(function.trees[0], ()):
        merged: dict[int, Condition] = {}
        for item in path:
            merged[item.feature] = merged[item.feature] & item if item.feature in merged else item
        asked = [_without_missing(item, function) for item in merged.values()]
        if not any(item.is_impossible for item in asked):
            shares = end.shares if function.chances == "leaf" else None
            kept = (item for item in asked if not _any_missing(item, function).excludes_nothing)
            yield Rule(tuple(kept), function.answer(end), shares)


def _has_missing(asked: Condition, function: Function) -> bool:
    declared = function.schema.features[asked.feature]
    return declared.missing_as is not None


def _any_missing(asked: Condition, function: Function) -> Condition:
    return asked if _has_missing(asked, function) else replace(asked, missing=True)


def _without_missing(asked: Condition, function: Function) -> Condition:
    return asked if _has_missing(asked, function) else replace(asked, missing=False)


def _leaves(step: Step, path: tuple[Condition, ...]) -> Iterator[tuple[End, tuple[Condition, ...]]]:
    if isinstance(step, End):
        yield step, path
        return
    asked = step.condition
    any_number = replace(asked, high=float("inf")) if asked.high == LARGEST else asked
    yield from _leaves(step.yes, (*path, any_number))
    yield from _leaves(step.no, (*path, ~asked))


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


# --- the file: every condition on its own line

_WORDS = ("if", "and", "then", "always", "with")
_INDENT = 2 + max(map(len, _WORDS)) + 1


def _write_text(given: Exportable) -> str:
    note = (
        "A rule applies when all its lines do; exactly one applies to a row that has an answer: none has one with a cell that is"
    )
    note += " unreadable, or missing or unknown where the schema does not say what it counts as."
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


RULES = WrittenForm(
    name="rules",
    title="Rules",
    suffix=".txt",
    media_type="text/plain",
    about="One rule per leaf, numbers in full. Each rule says whether it also covers missing cells.",
    write=_write_text,
    group="words",
    one_tree=True,
    most_ends=2_000,
    order=50,
)
