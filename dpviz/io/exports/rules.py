"""A tree as rules, one per leaf: the tests on its path, merged into one condition per column."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dpviz.io.exports.contract import Exportable, WrittenForm
from dpviz.io.exports.function import End, Function, Split, Step, Test
from dpviz.io.exports.words import number, spelled
from dpviz.models.tree import Leaf
from dpviz.table.schema import CategoricalFeature, NumericFeature, Schema

#: (end, whether it belongs to it) of a range of numbers, or a bit per category that is allowed
_Range = tuple[tuple[float, bool], tuple[float, bool]]
_Allowed = _Range | int


@dataclass(frozen=True, slots=True)
class Rule:
    """One leaf: it predicts `answer` for the rows that meet every condition, one line of words each; `end` has the rest."""

    conditions: tuple[str, ...]
    answer: str | float
    end: End


def rules_of(function: Function) -> Iterator[Rule]:
    """The rules of a single tree, left to right. Leaves that no row can reach are left out."""
    for end, allowed in _leaves(function.trees[0], {}, function.schema):
        words = (_words(function.schema, feature, found) for feature, found in allowed.items())
        yield Rule(tuple(filter(None, words)), function.answer(end), end)


def _leaves(step: Step, allowed: dict[int, _Allowed], schema: Schema) -> Iterator[tuple[End, dict[int, _Allowed]]]:
    if isinstance(step, End):
        yield step, allowed
        return
    yield from _side(step, step.test, step.yes, allowed, schema)
    yield from _side(step, step.test.inverse(schema), step.no, allowed, schema)


def _side(
    step: Split, test: Test, below: Step, allowed: dict[int, _Allowed], schema: Schema
) -> Iterator[tuple[End, dict[int, _Allowed]]]:
    found = _met(test, allowed.get(test.feature), schema)
    if found:
        yield from _leaves(below, {**allowed, test.feature: found}, schema)


def _met(test: Test, before: _Allowed | None, schema: Schema) -> _Allowed | None:
    """What of `before` meets the test; None or 0 where nothing does."""
    if test.sign == "in":
        assert not isinstance(before, tuple)
        wanted = sum(1 << code for code in test.codes)
        return wanted if before is None else wanted & before
    assert not isinstance(before, int)
    low, high = before or ((-math.inf, False), (math.inf, False))
    has_mark = test.sign in ("<=", ">=")
    if test.sign in ("<=", "<"):
        high = min(high, (test.mark, has_mark))
    else:
        low = max(low, (test.mark, has_mark), key=lambda end: (end[0], not end[1]))
    is_empty = low[0] > high[0] or (low[0] == high[0] and not (low[1] and high[1]))
    return None if is_empty else (low, high)


# --- in words


def _words(schema: Schema, feature: int, allowed: _Allowed) -> str:
    """On one line: "20 < age <= 37.5", "housing is one of rent, own or missing"; empty where nothing is asked."""
    declared = schema.features[feature]
    name = spelled(declared.name)
    if isinstance(declared, CategoricalFeature):
        assert isinstance(allowed, int)
        return _category_words(declared, name, allowed)
    assert isinstance(declared, NumericFeature)
    assert isinstance(allowed, tuple)
    (low, with_low), (high, with_high) = allowed
    less, above = "<=" if with_high else "<", ">=" if with_low else ">"
    is_between = not (math.isinf(low) or math.isinf(high))
    text = f"{name} {less} {number(high)}" if math.isinf(low) else f"{name} {above} {number(low)}"
    if is_between:
        text = f"{number(low)} {'<=' if with_low else '<'} {name} {less} {number(high)}"
    instead = declared.missing_as
    meets = instead is not None and _holds(allowed, float(instead))
    return f"{text} or missing" if meets else text


def _holds(allowed: _Range, value: float) -> bool:
    (low, with_low), (high, with_high) = allowed
    return (low < value or (with_low and low == value)) and (value < high or (with_high and value == high))


def _category_words(declared: CategoricalFeature, name: str, allowed: int) -> str:
    inside = [category for code, category in enumerate(declared.categories) if allowed >> code & 1]
    outside = [category for code, category in enumerate(declared.categories) if not allowed >> code & 1]
    if not outside:
        return ""
    tail = [word for word, instead in (("missing", declared.missing_as), ("unknown", declared.unknown_as)) if instead in inside]
    if len(outside) < len(inside) and declared.unknown_as not in outside and declared.missing_as not in outside:
        return (
            f"{name} is {' or '.join([*tail, f'none of {_listed(outside)}' if len(outside) > 1 else f'not {_listed(outside)}'])}"
        )
    return f"{name} is {' or '.join([f'one of {_listed(inside)}' if len(inside) > 1 else _listed(inside), *tail])}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(spelled, names))


def share_words(shares: Sequence[float]) -> str:
    """Probabilities in full, in the order of the classes."""
    return " ".join(map(repr, shares))


# --- the file: every condition on its own line

_LABELS = ("if", "and", "then", "always", "with", "rows")
_INDENT = 2 + max(map(len, _LABELS)) + 1
_NOTE = (
    "A rule applies when all its lines do; exactly one applies to a row that has an answer: none has one with a cell that is "
    "unreadable, or missing or unknown where the schema does not say what it counts as."
)


def _write(given: Exportable) -> str:
    function = given.function
    head = [*given.facts, _NOTE]
    if function.chances == "leaf":
        head.append(f"Probabilities and rows are in this order: {_listed(function.names)}. Rows are counts with noise.")
    lines = [f"# {line}" for line in head]
    for place, rule in enumerate(rules_of(function), start=1):
        lines += ["", f"Rule {place}"]
        lines += [_line("and" if first else "if", words) for first, words in enumerate(rule.conditions)]
        answer = spelled(rule.answer) if isinstance(rule.answer, str) else number(rule.answer)
        lines.append(_line("then" if rule.conditions else "always", answer))
        if function.chances == "leaf":
            lines.append(_line("with", share_words(rule.end.shares)))
        if isinstance(rule.end.leaf, Leaf) and rule.end.leaf.counts is not None:
            counts = rule.end.leaf.counts
            lines.append(_line("rows", f"{sum(counts)} = {' + '.join(map(str, counts))}".replace("+ -", "- ")))
    return "\n".join(lines) + "\n"


def _line(label: str, rest: str) -> str:
    return f"{'  ' + label:<{_INDENT}}{rest}"


RULES = WrittenForm(
    name="rules",
    title="Rules",
    suffix=".txt",
    media_type="text/plain",
    about="One rule per leaf, numbers in full, with its probabilities and the noisy number of its rows.",
    write=_write,
    group="words",
    one_tree=True,
    most_ends=2_000,
    order=50,
)
