"""Outcomes as SQL: one CASE per column, made of the schema and the column's type alone. Written for an engine by SQLGlot.

Every test is exact: literals are cast to the column's own type, single floats are widened to double (which changes none), and
nothing is computed, rounded or clipped. NULL is tested first; not-a-number equals itself in all three engines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.expressions import Expression

from dpviz.engines.kinds import ColumnKind
from dpviz.engines.outcomes import DROPPED, Outcomes
from dpviz.table.cells import MISSING_MARKS

#: What Python takes off the ends of a text.
BLANKS = "".join(chr(code) for code in range(0x110000) if chr(code).isspace())


@dataclass(frozen=True, slots=True)
class Words:
    """What differs between engines beyond what SQLGlot knows.

    `weekday` is the part of a date that is 1 on Monday and 7 on Sunday; `collation` compares texts byte by byte, whatever the
    column declares (empty where a column of another collation has another type).
    """

    dialect: str
    weekday: str
    collation: str


def column(name: str) -> Expression:
    """A column, its name quoted."""
    return exp.column(exp.to_identifier(name, quoted=True))


def double(value: float) -> Expression:
    """A number, to the last bit."""
    return _literal(repr(value), ColumnKind("double"))


def outcome_of(cell: Expression, found: Outcomes, words: Words) -> Expression:
    """The outcome of a cell."""
    match found.kind.kind:
        case "text":
            return _of_text(cell, found, words.collation)
        case "boolean":
            return _of_boolean(cell, found)
        case "date":
            return _of_date(cell, found, words.weekday)
        case _:
            return _of_number(cell, found)


def _of_text(cell: Expression, found: Outcomes, collation: str) -> Expression:
    text: Expression = exp.Trim(this=cell, expression=exp.Literal.string(BLANKS), position="BOTH")
    if collation:
        text = exp.paren(exp.Collate(this=text, expression=exp.to_identifier(collation, quoted=True)))
    case = exp.case().when(cell.is_(exp.null()), _number(found.missing), copy=False)
    for outcome in dict.fromkeys(outcome for _, outcome in found.texts):
        texts = [exp.Literal.string(text) for text, own in found.texts if own == outcome]
        case = case.when(text.isin(*texts), _number(outcome), copy=False)
    case = case.when(text.isin(*map(exp.Literal.string, sorted(MISSING_MARKS))), _number(found.missing), copy=False)
    return case.else_(_number(found.otherwise), copy=False)


def _of_boolean(cell: Expression, found: Outcomes) -> Expression:
    of = dict(found.texts)
    case = exp.case().when(cell.is_(exp.null()), _number(found.missing), copy=False)
    return case.when(cell, _number(of["true"]), copy=False).else_(_number(of["false"]), copy=False)


def _of_date(cell: Expression, found: Outcomes, weekday: str) -> Expression:
    """Days outside the range of Python's dates drop their row, as they do in a file."""
    first, last = (_literal(found.kind.literal(place), found.kind) for place in found.kind.ends)
    case = exp.case().when(cell.is_(exp.null()), _number(found.missing), copy=False)
    case = case.when(
        exp.or_(exp.LT(this=cell, expression=first), exp.GT(this=cell, expression=last)), _number(DROPPED), copy=False
    )
    case = _between(case, cell, found)
    if not found.part:
        return case.else_(_steps(cell, found.kind, found.steps, found.otherwise), copy=False)
    part = exp.Extract(this=exp.var("MONTH" if found.part == "month" else weekday), expression=cell)
    for number, outcome in found.texts:
        case = case.when(exp.EQ(this=part, expression=exp.Literal.number(number)), _number(outcome), copy=False)
    return case.else_(_number(found.otherwise), copy=False)


def _of_number(cell: Expression, found: Outcomes) -> Expression:
    case = exp.case().when(cell.is_(exp.null()), _number(found.missing), copy=False)
    if found.kind.is_floating:
        cell = exp.cast(cell, exp.DataType.build("double"))
        for word, outcome in zip(("NaN", "-Infinity", "Infinity"), (found.missing, *found.infinite), strict=True):
            case = case.when(exp.EQ(this=cell, expression=_literal(word, found.kind)), _number(outcome), copy=False)
    if found.kind.has_nan:
        case = case.when(exp.EQ(this=cell, expression=_literal("NaN", found.kind)), _number(found.missing), copy=False)
    case = _between(case, cell, found)
    return case.else_(_steps(cell, found.kind, found.steps, found.otherwise), copy=False)


def _between(case: Expression, cell: Expression, found: Outcomes) -> Expression:
    for first, last, outcome in found.between:
        ends = _literal(first, found.kind), _literal(last, found.kind)
        case = case.when(exp.Between(this=cell, low=ends[0], high=ends[1]), _number(outcome), copy=False)
    return case


def _steps(cell: Expression, kind: ColumnKind, steps: Sequence[tuple[str, int]], above: int) -> Expression:
    """By halving: six comparisons instead of forty-seven."""
    if not steps:
        return _number(above)
    middle = len(steps) // 2
    literal, outcome = steps[middle]
    lower = _steps(cell, kind, steps[:middle], outcome)
    test = exp.LTE(this=cell, expression=_literal(literal, kind))
    return exp.case().when(test, lower).else_(_steps(cell, kind, steps[middle + 1 :], above), copy=False)


def _number(outcome: int) -> Expression:
    return exp.convert(outcome)


def _literal(text: str, kind: ColumnKind) -> Expression:
    return exp.cast(exp.Literal.string(text), exp.DataType.build(_type(kind)))


def _type(kind: ColumnKind) -> str:
    if kind.kind == "decimal":
        return f"decimal({kind.digits}, {kind.scale})"
    return {"whole": "bigint", "date": "date"}.get(kind.kind, "double")
