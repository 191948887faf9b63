"""A model as one SELECT, CASE expressions over the columns of a table, for SQLite and for DuckDB; each is checked in its engine.

Columns are always written with the table's alias before them: SQLite takes a lone "name" that is no column for a text.
"""

import math
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import lru_cache, partial

from dpviz.errors import NotExported
from dpviz.io.exports.conditions import Condition, code_numbers, is_code, one_line
from dpviz.io.exports.contract import Exportable, WrittenForm
from dpviz.io.exports.function import End, Function, Step, steps
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, Feature, NumericTarget

TABLE = "rows_to_predict"
#: Writes a number so that the engine reads it back as the same one.
Number = Callable[[float], str]
_DEEPEST_NEST, _GROUP = 12, 100


def _select(given: Exportable, number: Number, *, has_exp: bool) -> str:
    """The whole statement: a row per row of the table, in its order, with `prediction` and, where there are any, `p_CLASS`.

    `has_exp`: whether every build of the engine has the exponential function, without which scores are no probabilities.
    """
    function = given.function if has_exp or given.function.chances != "odds" else replace(given.function, chances="none")
    _require_names(function)
    writer = _Writer(function, number, given.key)
    head = [*(f"-- {fact}" for fact in given.facts), f"-- Replace {TABLE} by your table. NULL is a missing cell."]
    dates = [identifier(one_line(item.name)) for item in function.schema.features if isinstance(item, DateFeature)]
    head += [f"-- Give the date {name} as that number." for name in dates]
    return "\n".join([*head, "", *writer.lines()]) + "\n"


class _Writer:
    """One function in one dialect."""

    def __init__(self, function: Function, number: Number, key: str = "") -> None:
        self.function, self.number = function, number
        self.key = identifier(key) if key else ""
        self.nesting = max(map(_nesting, function.trees), default=0)

    def lines(self) -> Iterator[str]:
        if self.function.is_one_tree:
            yield "SELECT"
            if self.key:
                yield f"  r.{self.key} AS {self.key},"
            names = ['"prediction"', *([] if self.function.chances == "none" else self._chance_names())]
            for place, name in enumerate(names):
                say = partial(self._share, place - 1) if place else self._answer
                comma = "," if place + 1 < len(names) else ""
                yield from _joined(self._case(self.function.trees[0], 1, say), "  ", f" AS {name}{comma}")
            yield f"FROM {TABLE} AS r;"
            return
        named = zip(self._chances(), self._chance_names(), strict=False)
        first = f"s.k AS {self.key}, " if self.key else ""
        yield f'SELECT {first}{self._decision()} AS "prediction"' + "".join(f",\n  {chance} AS {name}" for chance, name in named)
        yield "FROM ("
        yield "  SELECT"
        if self.key:
            yield f"    r.{self.key} AS k,"
        for place in range(len(self.function.start)):
            yield from self._sum(place, "," if place + 1 < len(self.function.start) else "")
        yield f"  FROM {TABLE} AS r"
        yield ") AS s;"

    def _decision(self) -> str:
        target, function = self.function.schema.target, self.function
        if isinstance(target, NumericTarget):
            low, high = self.number(target.low), self.number(target.high)
            return f"CASE WHEN s.s0 < {low} THEN {low} WHEN s.s0 > {high} THEN {high} ELSE s.s0 END"
        names = [_text(name) for name in target.classes]
        if function.how == "sign":
            return f"CASE WHEN s.s0 > 0 THEN {names[1]} ELSE {names[0]} END"
        best = (" AND ".join(f"s.s{k} >= s.s{other}" for other in range(k + 1, len(names))) for k in range(len(names) - 1))
        cases = " ".join(f"WHEN {test} THEN {name}" for test, name in zip(best, names, strict=False))
        return f"CASE {cases} ELSE {names[-1]} END"

    def _chance_names(self) -> list[str]:
        return [identifier(f"p_{name}") for name in self.function.names or ()]

    def _share(self, place: int, end: End) -> str:
        assert end.shares is not None
        return self.number(end.shares[place])

    def _chances(self) -> list[str]:
        """The probability of every class from the sums."""
        count, n_sums = self.number(float(len(self.function.trees))), len(self.function.start)
        match self.function.chances:
            case "votes" if n_sums == 1:
                return [f"(1.0 {sign} s.s0 / {count}) / 2" for sign in "-+"]
            case "votes":
                return [f"s.s{k} / {count}" for k in range(n_sums)]
            case "odds" if n_sums == 1:
                return [f"1 / (1 + exp(least({sign}s.s0, 700.0)))" for sign in ("", "-")]
            case "odds":
                every = ", ".join(f"s.s{k}" for k in range(n_sums))
                total = " + ".join(f"exp(s.s{k} - greatest({every}))" for k in range(n_sums))
                return [f"exp(s.s{k} - greatest({every})) / ({total})" for k in range(n_sums)]
        return []

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
        """Lines without the first one's indent. The side left for later is the next WHEN, so that only the other one nests.

        A parser's stack is short (SQLite: a hundred symbols), so where yes sides nest deep, the shallower side goes first.
        """
        if isinstance(step, End):
            return [say(step)]
        pad = "  " * depth
        lines = ["CASE"]
        while not isinstance(step, End):
            turned = self.nesting > _DEEPEST_NEST and _nesting(step.yes) > _nesting(step.no)
            now, later = (step.no, step.yes) if turned else (step.yes, step.no)
            asked = f"({self._condition(step.condition)}) IS NOT TRUE" if turned else self._condition(step.condition)
            inner = self._case(now, depth + 2, say)
            lines += [f"{pad}  WHEN {asked} THEN {inner[0]}", *inner[1:]]
            step = later
        return [*lines, f"{pad}  ELSE {say(step)}", f"{pad}END"]

    def _answer(self, end: End) -> str:
        answer = self.function.answer(end)
        return _text(answer) if isinstance(answer, str) else self.number(answer)

    def _condition(self, asked: Condition) -> str:
        """NULL makes a comparison unknown, and an unknown WHEN is passed over: a missing cell goes right by itself."""
        column = _cell_of(self.function.schema.features[asked.feature], self.number)
        if asked.is_number:
            test = f"{column} {'<=' if asked.with_high else '<'} {self.number(asked.high)}"
        elif asked.among is None:
            test = f"{column} NOT IN ({', '.join(map(_text, asked.but))})" if asked.but else f"{column} IS NOT NULL"
        else:
            test = f"{column} IN ({', '.join(map(_text, asked.among))})" if asked.among else "1 = 0"
        return f"({test} OR {column} IS NULL)" if asked.missing else test


def _nesting(step: Step) -> int:
    """How many yes sides lie within each other."""
    return 0 if isinstance(step, End) else max(_nesting(step.yes) + 1, _nesting(step.no))


def _joined(lines: list[str], before: str, after: str) -> list[str]:
    joined = [before + lines[0], *lines[1:]]
    joined[-1] += after
    return joined


# --- names, texts and cells


def identifier(name: str) -> str:
    """A quoted name: quotes inside are doubled, so that a column called `x"; DROP TABLE` stays a column."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    """A quoted text."""
    return "'" + value.replace("'", "''") + "'"


def _require_names(function: Function) -> None:
    """Raise NotExported for column names that SQL cannot hold or tell apart."""
    folded: dict[str, str] = {}
    for name in function.schema.feature_names:
        if "\0" in name:
            raise NotExported(f"SQL cannot name the column {name!r:.80}.", remedy="Rename the column.")
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            what = f"SQL cannot tell the columns {other!r:.80} and {name!r:.80} apart: their names differ by capitals only."
            raise NotExported(what, remedy="Rename one of them.")


def _cell_of(feature: Feature, number: Number) -> str:
    """The cell of a column; NULL where it is a declared code of missing cells. A column of numbers holds no other text."""
    column = f"r.{identifier(feature.name)}"
    if isinstance(feature, CategoricalFeature):
        named = (name for name in feature.category_of if is_code(feature, name))
        codes = [_text(code) for code in dict.fromkeys((*feature.missing_codes, *named))]
    else:
        codes = [number(code) for code in code_numbers(feature)]
    for code in codes:
        column = f"NULLIF({column}, {code})"
    return column


# --- SQLite


@lru_cache(maxsize=65_536)
def _sqlite_number(value: float) -> str:
    """SQLite misreads about one in a thousand numbers of 17 digits by a last bit; those are written as a quotient."""
    written = repr(value)
    if float(f"{value:.15g}") == value:  # every engine reads 15 digits exactly
        return written
    with closing(sqlite3.connect(":memory:")) as base:
        is_read = base.execute(f"SELECT {written}").fetchone()[0] == value
    return written if is_read else quotient(value)


def quotient(value: float) -> str:
    """The number as whole number divided by a power of two: exact in every engine that reads whole numbers below 2^63."""
    mantissa, exponent = math.frexp(value)
    whole, power = int(mantissa * 2**53), 53 - exponent
    while whole % 2 == 0 and power > 0:
        whole, power = whole // 2, power - 1
    return f"({whole} * 1.0 / {2**power})" if 0 <= power <= 62 else repr(value)


# --- DuckDB

_LONG = 20_000


def _duckdb_number(value: float) -> str:
    """With an exponent: DuckDB reads 0.1 as a decimal number and 0.1e0 as the floating-point number that a column holds."""
    written = repr(value)
    return written if "e" in written else f"{written}e0"


def _write_duckdb(given: Exportable) -> str:
    """DuckDB's optimizer takes seconds to minutes over a statement of a hundred trees, for nothing."""
    content = _select(given, _duckdb_number, has_exp=True)
    return f"-- Long: after PRAGMA disable_optimizer it starts at once.\n{content}" if len(content) > _LONG else content


SQLITE = WrittenForm(
    name="sqlite",
    title="SQL for SQLite",
    suffix=".sql",
    media_type="application/sql",
    about="One SELECT with CASE. Missing: NULL. Dates: the number they become.",
    write=lambda given: _select(given, _sqlite_number, has_exp=False),
    language="sql",
    most_ends=25_000,
    order=30,
)
DUCKDB = replace(
    SQLITE,
    name="duckdb",
    title="SQL for DuckDB",
    write=_write_duckdb,
    order=31,
)
