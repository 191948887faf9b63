"""A tree as rules, one per leaf: what a path asks of each column, merged into one condition, and those words read back.

The words are exact: numbers in full, names in quotes where they are not simple, and whether a missing cell will do.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dpviz.errors import NotExported
from dpviz.io.exports.function import LARGEST, End, Function, Question, Step
from dpviz.io.exports.golden import Cell, Row
from dpviz.io.exports.spelling import number, spelled
from dpviz.table.schema import CategoricalFeature, NumericTarget, Schema


@dataclass(frozen=True, slots=True)
class Condition:
    """What a path asks of one column.

    Attributes
    ----------
    name : str
    low, high : float
        Numbers between them; `with_low`, `with_high` say whether the ends belong to it.
    among : tuple of str, or None
        Texts that will do; None for a number, and for a column where `but` says which will not.
    but : tuple of str, or None
    missing : bool
        True when a missing cell will do.
    """

    name: str
    low: float = -math.inf
    high: float = math.inf
    with_low: bool = False
    with_high: bool = False
    among: tuple[str, ...] | None = None
    but: tuple[str, ...] | None = None
    missing: bool = True

    def holds(self, cell: Cell) -> bool:
        """Whether the cell meets it."""
        if cell is None:
            return self.missing
        if self.among is not None or self.but is not None:
            return cell in self.among if self.among is not None else cell not in (self.but or ())
        value = float(cell)
        above = value >= self.low if self.with_low else value > self.low
        return above and (value <= self.high if self.with_high else value < self.high)

    @property
    def excludes_nothing(self) -> bool:
        """True when every cell meets it."""
        return self.missing and self.among is None and not self.but and math.isinf(self.low) and math.isinf(self.high)

    @property
    def is_impossible(self) -> bool:
        """True when no cell meets it: a private tree may ask for that."""
        empty = self.low > self.high or (self.low == self.high and not (self.with_low and self.with_high))
        return not self.missing and (empty if self.among is None else not self.among)


@dataclass(frozen=True, slots=True)
class Rule:
    """One leaf: it predicts `answer` for the rows that meet every condition."""

    conditions: tuple[Condition, ...]
    answer: str | float


def rules_of(function: Function) -> Iterator[Rule]:
    """The rules of a single tree, left to right. Leaves that no row can reach are left out."""
    for end, answers_given in _leaves(function.trees[0], ()):
        conditions = _merged(function.schema, answers_given)
        if not any(condition.is_impossible for condition in conditions):
            yield Rule(tuple(item for item in conditions if not item.excludes_nothing), function.answer(end))


def _leaves(step: Step, path: tuple[tuple[Question, bool], ...]) -> Iterator[tuple[End, tuple[tuple[Question, bool], ...]]]:
    if isinstance(step, End):
        yield step, path
        return
    yield from _leaves(step.yes, (*path, (step.question, True)))
    yield from _leaves(step.no, (*path, (step.question, False)))


def _merged(schema: Schema, path: Sequence[tuple[Question, bool]]) -> list[Condition]:
    asked: dict[int, Condition] = {}
    for question, said in path:
        declared = schema.features[question.feature]
        start = Condition(declared.name, but=() if isinstance(declared, CategoricalFeature) else None)
        narrow = _number if question.threshold is not None else _category
        before = asked.get(question.feature, start)
        asked[question.feature] = replace(narrow(before, question, said), missing=before.missing and question.missing == said)
    return list(asked.values())


def _number(now: Condition, question: Question, said: bool) -> Condition:
    threshold = question.threshold
    assert threshold is not None
    if said and (threshold, not question.strict) < (now.high, now.with_high) and threshold != LARGEST:
        return replace(now, high=threshold, with_high=not question.strict)
    if not said and (threshold, not question.strict) > (now.low, not now.with_low):
        return replace(now, low=threshold, with_low=question.strict)
    return now


def _category(now: Condition, question: Question, said: bool) -> Condition:
    """The side that unknown texts take is told by what it leaves out, the other by what it holds."""
    inside, outside = (question.yes, question.no) if said else (question.no, question.yes)
    if question.unknown != said:
        held = inside if now.among is None else now.among
        return replace(now, among=tuple(name for name in held if name in inside and name not in (now.but or ())), but=None)
    if now.among is not None:
        return replace(now, among=tuple(name for name in now.among if name not in outside))
    return replace(now, but=tuple(dict.fromkeys((*(now.but or ()), *outside))))


# --- in words


def condition_words(asked: Condition) -> str:
    """On one line: "20 < age <= 37.5", "housing is one of rent, own or missing"."""
    name = spelled(asked.name)
    if asked.among is None and asked.but is None:
        return _number_words(asked, name)
    if asked.among is not None and not asked.among:
        return f"{name} is missing"
    return f"{name} is {_texts_words(asked)}{' or missing' if asked.missing else ''}"


def _texts_words(asked: Condition) -> str:
    if asked.among is not None:
        return _list(asked.among)
    return f"not {_list(asked.but)}" if asked.but else "given"


def _list(names: Sequence[str]) -> str:
    return f"{'one of ' if len(names) > 1 else ''}{', '.join(map(spelled, names))}"


def _number_words(asked: Condition, name: str) -> str:
    tail = " or missing" if asked.missing else ""
    less, more = ("<=" if asked.with_high else "<"), (">=" if asked.with_low else ">")
    if math.isinf(asked.low) and math.isinf(asked.high):
        return f"{name} is given"
    if math.isinf(asked.low):
        return f"{name} {less} {number(asked.high)}{tail}"
    if math.isinf(asked.high):
        return f"{name} {more} {number(asked.low)}{tail}"
    if asked.low > asked.high:
        return f"{name} is missing"
    return f"{number(asked.low)} {'<=' if asked.with_low else '<'} {name} {less} {number(asked.high)}{tail}"


# --- read back

_NAME = r'(?P<name>"(?:[^"\\]|\\.)*"|[^"<>]+?)'
_FIGURE = r"[-+0-9.e]+"
_RANGE = re.compile(rf"(?P<low>{_FIGURE}) (?P<lower><=?) {_NAME} (?P<upper><=?) (?P<high>{_FIGURE})(?P<missing> or missing)?")
_SIDE = re.compile(rf"{_NAME} (?P<sign><=?|>=?) (?P<mark>{_FIGURE})(?P<missing> or missing)?")
_GIVEN = re.compile(rf"{_NAME} is (?P<what>given or missing|given|missing)")
_LIST = re.compile(rf"{_NAME} is (?P<without>not )?(?:one of )?(?P<names>.+?)(?P<missing> or missing)?")
_ITEM = re.compile(r'"(?:[^"\\]|\\.)*"|[^",]+')


def condition_from(words: str, schema: Schema) -> Condition:
    """The condition that `condition_words` has put into these words."""
    readers = ((_RANGE, _from_range), (_SIDE, _from_side), (_GIVEN, _from_given), (_LIST, _from_list))
    for form, read in readers:
        found = form.fullmatch(words)
        if found is not None and name_from(found["name"]) in schema.feature_names:
            return read(found, name_from(found["name"]))
    raise NotExported(f"The rule {words!r:.100} cannot be read back.", remedy="Export the model as JSON.")


def name_from(word: str) -> str:
    """The name that was spelled so."""
    return json.loads(word) if word.startswith('"') else word


def _from_range(found: re.Match[str], name: str) -> Condition:
    low, high = found["lower"] == "<=", found["upper"] == "<="
    missing = found["missing"] is not None
    return Condition(name, float(found["low"]), float(found["high"]), with_low=low, with_high=high, missing=missing)


def _from_side(found: re.Match[str], name: str) -> Condition:
    mark, missing = float(found["mark"]), found["missing"] is not None
    if found["sign"].startswith("<"):
        return Condition(name, high=mark, with_high=found["sign"] == "<=", missing=missing)
    return Condition(name, low=mark, with_low=found["sign"] == ">=", missing=missing)


def _from_given(found: re.Match[str], name: str) -> Condition:
    if found["what"] == "missing":
        return Condition(name, among=(), missing=True)
    return Condition(name, but=(), missing=found["what"] != "given")


def _from_list(found: re.Match[str], name: str) -> Condition:
    names = tuple(name_from(item.strip()) for item in _ITEM.findall(found["names"]))
    missing = found["missing"] is not None
    return Condition(name, but=names, missing=missing) if found["without"] else Condition(name, among=names, missing=missing)


def answers(rules: Sequence[Rule], schema: Schema, rows: Sequence[Row]) -> list[str | float]:
    """What the rules predict: exactly one must hold for each row. Raises NotExported."""
    place = {name: k for k, name in enumerate(schema.feature_names)}
    return [_answer(rules, place, row) for row in rows]


def _answer(rules: Sequence[Rule], place: dict[str, int], row: Row) -> str | float:
    found = [rule.answer for rule in rules if all(item.holds(row[place[item.name]]) for item in rule.conditions)]
    if len(found) != 1:
        raise NotExported(f"{len(found)} rules hold for one row.", remedy="Export the model as JSON.")
    return found[0]


def answer_words(answer: str | float) -> str:
    """The name of a class, or a number in full."""
    return spelled(answer) if isinstance(answer, str) else number(answer)


def answer_from(words: str, schema: Schema) -> str | float:
    """The answer that was put so."""
    return float(words) if isinstance(schema.target, NumericTarget) else name_from(words)
