"""A model as one SELECT: CASE expressions over the columns of a table. What SQLite and DuckDB share.

Columns are always written with the table's alias before them: SQLite takes a lone "name" that is no column for a text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dpviz.errors import NotExported
from dpviz.io.exports.contract import Exportable
from dpviz.io.exports.function import End, Function, Question, Split, Step, steps
from dpviz.table.schema import NumericTarget

TABLE = "rows_to_predict"
_DEEPEST_NEST, _GROUP = 12, 100


@dataclass(frozen=True)
class Dialect:
    """What differs: how a number is written so that it is read back as the same one."""

    number: Callable[[float], str]


def identifier(name: str) -> str:
    """A quoted name: quotes inside are doubled, so that a column called `x"; DROP TABLE` stays a column."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A quoted text."""
    return "'" + value.replace("'", "''") + "'"


def select(given: Exportable, dialect: Dialect) -> str:
    """The whole statement: one row and one column, `prediction`, per row of the table, in its order of rows."""
    function = given.function
    _require_names(function)
    writer = _Writer(function, dialect)
    head = [*(f"-- {fact}" for fact in given.facts), f"-- Put your table in the place of {TABLE}. NULL is a missing cell.", ""]
    return "\n".join([*head, *writer.lines()]) + "\n"


def _require_names(function: Function) -> None:
    folded: dict[str, str] = {}
    for name in function.schema.feature_names:
        if "\0" in name:
            raise NotExported(f"SQL cannot name the column {name!r:.80}.", remedy="Rename the column.")
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            what = f"SQL cannot tell the columns {other!r:.80} and {name!r:.80} apart: their names differ by capitals only."
            raise NotExported(what, remedy="Rename one of them.")


class _Writer:
    """One function in one dialect."""

    def __init__(self, function: Function, dialect: Dialect) -> None:
        self.function, self.number = function, dialect.number
        self.nesting = max(map(nesting, function.trees), default=0)

    def lines(self) -> Iterator[str]:
        if self.function.is_one_tree:
            yield "SELECT"
            yield from _joined(self._case(self.function.trees[0], 1, self._answer), "  ", ' AS "prediction"')
            yield f"FROM {TABLE} AS r;"
            return
        yield f'SELECT {self._decision()} AS "prediction"'
        yield "FROM ("
        yield "  SELECT"
        for place in range(len(self.function.start)):
            yield from self._sum(place, "," if place + 1 < len(self.function.start) else "")
        yield f"  FROM {TABLE} AS r"
        yield ") AS s;"

    def _decision(self) -> str:
        target, function = self.function.schema.target, self.function
        if isinstance(target, NumericTarget):
            low, high = self.number(target.low), self.number(target.high)
            return f"CASE WHEN s.s0 < {low} THEN {low} WHEN s.s0 > {high} THEN {high} ELSE s.s0 END"
        names = [text(name) for name in target.classes]
        if function.how == "sign":
            return f"CASE WHEN s.s0 > 0 THEN {names[1]} ELSE {names[0]} END"
        best = (" AND ".join(f"s.s{k} >= s.s{other}" for other in range(k + 1, len(names))) for k in range(len(names) - 1))
        cases = " ".join(f"WHEN {test} THEN {name}" for test, name in zip(best, names, strict=False))
        return f"CASE {cases} ELSE {names[-1]} END"

    def _sum(self, place: int, comma: str) -> Iterator[str]:
        """In groups: an engine takes a + b + c + ... for as many levels (SQLite: a thousand at most)."""
        asked = [tree for tree in self.function.trees if any(end.amounts[place] for end in steps(tree) if isinstance(end, End))]
        yield f"    {self.number(self.function.start[place])}"
        for first in range(0, len(asked), _GROUP):
            yield "    + ("
            for tree in asked[first : first + _GROUP]:
                sign = "    " if tree is asked[first] else "    + "
                yield from _joined(self._case(tree, 2, lambda end: self.number(end.amounts[place])), sign, "")
            yield "    )"
        yield f"    AS s{place}{comma}"

    def _case(self, step: Step, depth: int, say: Callable[[End], str]) -> list[str]:
        """Lines without the first one's indent. The side left for later is the next WHEN, so that only the other one nests."""
        if isinstance(step, End):
            return [say(step)]
        pad = "  " * depth
        lines = ["CASE"]
        while not isinstance(step, End):
            turned = self._is_turned(step)
            now, later = (step.no, step.yes) if turned else (step.yes, step.no)
            asked = f"({self._condition(step.question)}) IS NOT TRUE" if turned else self._condition(step.question)
            inner = self._case(now, depth + 2, say)
            lines += [f"{pad}  WHEN {asked} THEN {inner[0]}", *inner[1:]]
            step = later
        return [*lines, f"{pad}  ELSE {say(step)}", f"{pad}END"]

    def _is_turned(self, split: Split) -> bool:
        """A parser's stack is short (SQLite: a hundred symbols), so where yes sides nest deep, the shallower side goes first."""
        return self.nesting > _DEEPEST_NEST and nesting(split.yes) > nesting(split.no)

    def _answer(self, end: End) -> str:
        answer = self.function.answer(end)
        return text(answer) if isinstance(answer, str) else self.number(answer)

    def _condition(self, question: Question) -> str:
        """NULL makes a comparison unknown, and an unknown WHEN is passed over: a missing cell goes right by itself."""
        column = f"r.{identifier(question.name)}"
        if question.threshold is not None:
            asked = f"{column} {'<' if question.strict else '<='} {self.number(question.threshold)}"
        elif question.unknown:
            asked = f"{column} NOT IN ({', '.join(map(text, question.no))})" if question.no else f"{column} IS NOT NULL"
        else:
            asked = f"{column} IN ({', '.join(map(text, question.yes))})" if question.yes else "1 = 0"
        return f"({asked} OR {column} IS NULL)" if question.missing else asked


def nesting(step: Step) -> int:
    """How many yes sides lie within each other."""
    deepest = inside = 0
    stack = [(step, 0)]
    while stack:
        step, inside = stack.pop()
        deepest = max(deepest, inside)
        if isinstance(step, Split):
            stack += [(step.yes, inside + 1), (step.no, inside)]
    return deepest


def _joined(lines: list[str], before: str, after: str) -> list[str]:
    first, *rest = lines
    joined = [before + first, *rest]
    joined[-1] += after
    return joined


def is_short(value: float) -> bool:
    """True for a number of at most 15 significant digits, which every SQL engine reads exactly."""
    return float(f"{value:.15g}") == value


def quotient(value: float) -> str:
    """The number as whole number divided by a power of two: exact in every engine that reads whole numbers below 2^63."""
    mantissa, exponent = math.frexp(value)
    whole, power = int(mantissa * 2**53), 53 - exponent
    while whole % 2 == 0 and power > 0:
        whole, power = whole // 2, power - 1
    return f"({whole} * 1.0 / {2**power})" if 0 <= power <= 62 else repr(value)
