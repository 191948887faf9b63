"""A model as one SELECT for SQLite, and for DuckDB and PostgreSQL: it reads cells as `predict` does, whatever their type.

First every cell becomes what `dpviz.table.encode` makes of it: a number, a category, or NULL where the row has no answer. The
tree follows as CASE expressions over these. What a database cannot tell apart ends the statement with an error. Columns are
written with the alias of their table: SQLite takes a lone "name" that is no column for a text.
"""

import datetime as dt
import math
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product
from unicodedata import normalize

from dpviz.errors import UnsupportedError
from dpviz.io.exports.contract import ExportInput, one_line
from dpviz.io.exports.function import MISSING, Condition, Function, Leaf, Node, Split, declared_texts, names_of, nodes
from dpviz.results.exports import Form
from dpviz.table.cells import BLANKS, MARKS, Marks, decimal_of, number_of, shortest
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, Feature, NumericFeature, NumericTarget

TABLE = "rows_to_predict"
_GROUP = 100
_LONG = 20_000
_MAX_FLOAT = sys.float_info.max
#: What `str.strip` takes off: places of letters.
_STRIPPED = [place for place in range(0x3001) if chr(place).isspace()]
#: A text of more letters with accents is found composed and decomposed, not in every mixture.
_MAX_ACCENTS = 4


_POWER = "([eE][+-]?[0-9]+)?"
_BY_COMMAS = "([1-9][0-9]{0,2}(,[0-9]{3})+|[1-9][0-9]?(,[0-9]{2})+,[0-9]{3})"
_BY_POINTS = "[1-9][0-9]{0,2}([.][0-9]{3})+"


def quotient(value: float) -> str:
    """The number as whole number divided by a power of two: exact in every engine that reads whole numbers below 2^63."""
    numerator, denominator = value.as_integer_ratio()
    return f"({numerator} * 1.0 / {denominator})" if denominator < 2**63 and abs(numerator) < 2**53 else repr(value)


def _dashed(text: str) -> str:
    for end in "T ":
        text = f"substr({text}, 1, instr({text} || '{end}', '{end}') - 1)"
    return f"replace(replace({text}, '/', '-'), '.', '-')"


@cache
def _other_digits() -> str:
    """Digits beyond 0 to 9 that `float` reads, as ranges of a pattern."""
    zeros = (chr(place) for place in range(128, sys.maxunicode + 1) if chr(place).isdecimal() and int(chr(place)) == 0)
    return "".join(f"{zero}-{chr(ord(zero) + 9)}" for zero in zeros)


@lru_cache(maxsize=65_536)
def _is_read(number: str) -> bool:
    with closing(sqlite3.connect(":memory:")) as base:
        return bool(base.execute(f"SELECT {number}").fetchone()[0] == float(number))


class _Sqlite:
    """Each cell has a type of its own; not every build has exp, without which scores are no probabilities."""

    has_types, char, stripped = False, "char", f"char({', '.join(map(str, _STRIPPED))})"
    #: A number of 64 bits, as all are; what ends the statement with an error: the smallest whole number has no absolute value.
    double, refuse = "{}", "abs(-9223372036854775807 - ({} IS NOT NULL))"

    def number(self, value: float) -> str:
        """SQLite misreads about one in a thousand numbers of 17 digits by a last bit; those are written as a quotient."""
        text = repr(value)
        if float(f"{value:.15g}") == value:  # every engine reads 15 digits exactly
            return text
        return text if _is_read(text) else quotient(value)

    def read(self, text: str, marks: Marks) -> str:
        """A text is a number where it is up to infinity once it is compared as one; any that is none is above all numbers."""
        signed = f"replace({text}, char(8722), '-')"
        bare, point, infinity = f"ltrim({signed}, '+-')", f"replace({signed}, ',', '.')", "CAST(9e999 AS REAL)"
        cases = [f"typeof({text}) <> 'text' THEN CAST({text} AS REAL)"]
        if marks is not Marks.COMMA:
            cases.append(f"instr({text}, ',') = 0 AND {signed} <= {infinity} THEN CAST({signed} AS REAL)")
        if marks is not Marks.POINT:
            is_unknown = marks is Marks.UNKNOWN
            doubt = [f"{bare} NOT GLOB '[1-9]{'[0-9]' * n},[0-9][0-9][0-9]'" for n in (0, 1, 2) if is_unknown]
            at_most_one_comma = f"instr({text}, '.') = 0 AND length({text}) - length(replace({text}, ',', '')) < 2"
            cases.append(f"{' AND '.join([at_most_one_comma, *doubt])} AND {point} <= {infinity} THEN CAST({point} AS REAL)")
        groups = f"{bare} NOT GLOB '*[^0-9 .,''’eE+-]*' AND {bare} GLOB '[1-9]*[ .,''’][0-9][0-9]*'"
        groups += f" AND {bare} NOT GLOB '*[ .,''’][0-9][ .,''’]*' AND {bare} NOT GLOB '*[ .,''’][ .,''’]*'"
        cases.append(f"{groups} OR {text} GLOB '*[{_other_digits()}]*' THEN {self.refuse.format(text)}")
        return f"CASE {' '.join(f'WHEN {case}' for case in cases)} END"

    def is_plain(self, text: str) -> str:
        digits = f"(CASE WHEN substr({text}, 1, 1) = '-' THEN substr({text}, 2) ELSE {text} END)"
        globs = f"{digits} NOT GLOB '*[^0-9.]*' AND {digits} NOT GLOB '*.*.*' AND {digits} NOT GLOB '0[0-9]*'"
        return f"typeof({text}) = 'text' AND {digits} GLOB '[0-9]*' AND {digits} NOT GLOB '*.' AND {globs}"

    def is_date(self, text: str, order: str) -> str:
        digits = [("[0-9][0-9][0-9][0-9]",) if letter == "y" else ("[0-9]", "[0-9][0-9]") for letter in order]
        tests = (f"{_dashed(text)} GLOB '{'-'.join(form)}'" for form in product(*digits))
        return f"typeof({text}) = 'text' AND ({' OR '.join(tests)})"

    def part(self, text: str, index: int) -> str:
        tail = _dashed(text)
        for _ in range(index):
            tail = f"substr({tail}, instr({tail}, '-') + 1)"
        return tail  # CAST reads up to the next dash


class _Typed:
    """DuckDB and PostgreSQL: each column has one type, which the engine names."""

    has_types, char, stripped = True, "chr", " || ".join(f"chr({place})" for place in _STRIPPED)
    #: A number of 64 bits; what ends the statement with an error: no text that is asked for is a number.
    double = refuse = "CAST({} AS double precision)"

    def number(self, value: float) -> str:
        """With an exponent: DuckDB reads 0.1 as a decimal number and 0.1e0 as the floating-point number that a column holds."""
        text = repr(value)
        return text if "e" in text else f"{text}e0"

    def read(self, text: str, marks: Marks) -> str:
        """The cases of `dpviz.table.cells.number_of`, in its order; digits beyond 0 to 9 are refused by the engine."""
        signed = f"replace({text}, chr(8722), '-')"
        with_point, with_comma = marks is not Marks.COMMA, marks is not Marks.POINT
        forms = [(f"([0-9]+[.]?[0-9]*|[.][0-9]+){_POWER}", signed)] if with_point else []
        forms += [("[1-9][0-9]{0,2},[0-9]{3}", "")] if marks is Marks.UNKNOWN else []  # may be two numbers
        if with_comma:
            forms.append((f"([0-9]+,?[0-9]*|,[0-9]+){_POWER}", f"replace({signed}, ',', '.')"))
            forms.append((f"{_BY_POINTS}(,[0-9]*{_POWER})?", f"replace(replace({signed}, '.', ''), ',', '.')"))
        if with_point:
            forms.append((f"{_BY_COMMAS}([.][0-9]*{_POWER})?", f"replace({signed}, ',', '')"))
        decimals = "." * with_point + "," * with_comma
        for blank in (" ", "\u2009", "''", "’"):
            grouped = f"[1-9][0-9]{{0,2}}({blank}[0-9]{{3}})+([{decimals}][0-9]*)?"
            forms.append((grouped, f"replace(replace({signed}, '{blank}', ''), ',', '.')"))
        cases = [
            f"{signed} ~ '^[+-]?({form})$' THEN {f'CAST({plain} AS double precision)' if plain else 'NULL'}"
            for form, plain in forms
        ]
        cases.append(f"{text} ~ '^(.|\\n)*[{_other_digits()}](.|\\n)*$' THEN CAST({text} || ' ' AS double precision)")
        return f"CASE {' '.join(f'WHEN {case}' for case in cases)} END"

    def is_plain(self, text: str) -> str:
        """It is a number in plain form: no exponent, no leading zero."""
        return f"{text} ~ '^-?(0|[1-9][0-9]*)([.][0-9]+)?$'"

    def is_date(self, text: str, order: str) -> str:
        digits = "[-./]".join("[0-9]{4}" if letter == "y" else "[0-9]{1,2}" for letter in order)
        return f"{text} ~ '^{digits}([T ](.|\\n)*)?$'"

    def part(self, text: str, index: int) -> str:
        dashed = f"translate(split_part(split_part({text}, 'T', 1), ' ', 1), './', '--')"
        return f"split_part({dashed}, '-', {index + 1})"


_Dialect = _Sqlite | _Typed


# --- the statement


def _select(model: ExportInput, dialect: _Dialect) -> str:
    """The whole statement: a row per row of the table, in its order, with `prediction` and, where there are any, `p_CLASS`."""
    function = model.function
    if not dialect.has_types and function.probabilities == "odds":
        function = replace(function, probabilities="none")
    _require_names(function)
    writer = _Writer(function, dialect, model.key)
    about = f"-- Replace {TABLE} by your table. Cells are read as by `dpviz predict`; NULL: no answer."
    return "\n".join([*(f"-- {fact}" for fact in model.facts), about, *writer.notes(), "", *writer.lines()]) + "\n"


class _Writer:
    """One function in one dialect."""

    def __init__(self, function: Function, dialect: _Dialect, key: str) -> None:
        self.function, self.dialect, self.number = function, dialect, dialect.number
        self.key = identifier(key) if key else ""
        schema = function.schema
        marks = Marks(schema.decimal or "")
        self.cells = [_Cell(place, feature, marks, dialect) for place, feature in enumerate(schema.features)]
        usable = [f"x.c{cell.place} IS NOT NULL" for cell in self.cells]
        groups = [" AND ".join(usable[first : first + _GROUP]) for first in range(0, len(usable), _GROUP)]
        self.is_usable = groups[0] if len(groups) == 1 else " AND ".join(f"({group})" for group in groups)

    def notes(self) -> Iterator[str]:
        """What somebody who runs it should know."""
        what = "digits in groups, such as 1,311.5, or with digits beyond 0 to 9"
        if self.dialect.has_types:
            what = "digits beyond 0 to 9, and in PostgreSQL those beyond 1e308 or nearer to 0 than 1e-307,"
        if any(cell.is_number for cell in self.cells):
            yield f"-- Numbers in cells of text with {what} end it with an error: give them in a column of numbers."
        if self.dialect.has_types:
            yield "-- Bytes end it, in DuckDB those beyond plain letters: decode them into a text."
            yield "-- Moments with a zone end it, unless the session's zone is UTC: SET TimeZone = 'UTC'."
        for cell in () if self.dialect.has_types else self.cells:
            name = identifier(one_line(cell.declared.name))
            if cell.has_truths:
                yield f"-- In {name} 0 and 1 end it: SQLite has no truth values. Give 'true' and 'false'."
            if cell.has_moments:
                yield f"-- In {name} moments with a blank end it. Give dates as 2024-03-01 and moments as 2024-03-01T14:30:00."

    def lines(self) -> Iterator[str]:
        """Texts, numbers and cells of all rows, then their answers."""
        key, keep = ([f"r.{self.key} AS k"], ["x.k"]) if self.key else ([], [])
        ordered = ""
        if self.dialect.has_types:  # DuckDB makes a join of a list of names, which keeps no order
            key, keep, ordered = ["row_number() OVER () AS n", *key], ["x.n", *keep], " ORDER BY x.n"
        yield "WITH texts AS MATERIALIZED ("
        yield from _select_lines([*key, *(item for cell in self.cells for item in cell.texts())], f"FROM {TABLE} AS r")
        yield "), numbers AS MATERIALIZED ("
        yield from _select_lines([*keep, *(item for cell in self.cells for item in cell.numbers())], "FROM texts AS x")
        yield "), cells AS MATERIALIZED ("
        yield from _select_lines([*keep, *(f"{cell.value()} AS c{cell.place}" for cell in self.cells)], "FROM numbers AS x")
        source = "cells"
        if not self.function.is_one_tree:
            yield "), sums AS MATERIALIZED ("
            sums = (f"{self._sum(place)} AS s{place}" for place in range(len(self.function.start)))
            yield from _select_lines([*keep, *sums], "FROM cells AS x")
            source = "sums"
        yield ")"
        answers = [f'{self._prediction()} AS "prediction"']
        answers += [f"{share} AS {name}" for share, name in zip(self._probabilities(), self._probability_names(), strict=False)]
        key_column = [f"x.k AS {self.key}"] if self.key else []
        yield from _select_lines([*key_column, *answers], f"FROM {source} AS x{ordered};", pad="")

    def _prediction(self) -> str:
        target, function = self.function.schema.target, self.function
        if function.is_one_tree:
            is_number = isinstance(target, NumericTarget)
            return self._leaves(
                lambda end: self.number(end.amounts[0]) if is_number else _text(str(function.answer(end))), is_number
            )
        if isinstance(target, NumericTarget):
            low, high = self.number(target.low), self.number(target.high)
            return f"CASE WHEN x.s0 < {low} THEN {low} WHEN x.s0 > {high} THEN {high} ELSE x.s0 END"
        names = [_text(name) for name in target.classes]
        if function.how == "sign":
            return f"CASE WHEN x.s0 > 0 THEN {names[1]} WHEN x.s0 <= 0 THEN {names[0]} END"
        best = (" AND ".join(f"x.s{k} >= x.s{rival}" for rival in range(k + 1, len(names))) for k in range(len(names) - 1))
        cases = " ".join(f"WHEN {test} THEN {name}" for test, name in zip(best, names, strict=False))
        return f"CASE WHEN x.s0 IS NULL THEN NULL {cases} ELSE {names[-1]} END"

    def _leaves(self, answer_of: Callable[[Leaf], str], is_number: bool) -> str:
        """What a single tree says of a row that has an answer."""
        case = f"CASE WHEN {self.is_usable} THEN\n    {self._case(self.function.trees[0], 2, answer_of)}\n  END"
        return self.dialect.double.format(case) if is_number else case

    def _probability_names(self) -> list[str]:
        """Different also for an engine that does not tell capitals apart."""
        used_names, identifiers = {"prediction", self.key.strip('"').casefold()}, []
        for name in self.function.names:
            column = f"p_{name}"
            while column.casefold() in used_names:
                column += " (2)"
            used_names.add(column.casefold())
            identifiers.append(identifier(column))
        return identifiers

    def _probabilities(self) -> list[str]:
        """The probability of every class."""
        count, n_sums = self.number(float(len(self.function.trees))), len(self.function.start)
        match self.function.probabilities:
            case "leaf":
                places = range(len(self.function.names))
                return [self._leaves(lambda end, place=place: self.number(end.shares[place]), True) for place in places]  # type: ignore[misc]
            case "votes" if n_sums == 1:
                return [f"(1.0 {sign} x.s0 / {count}) / 2" for sign in "-+"]
            case "votes":
                return [f"x.s{k} / {count}" for k in range(n_sums)]
            case "odds" if n_sums == 1:
                shares = (f"1 / (1 + exp(greatest(least({sign}x.s0, 700.0), -700.0)))" for sign in ("", "-"))
                return [f"CASE WHEN x.s0 IS NOT NULL THEN {share} END" for share in shares]  # greatest passes over NULL
            case "odds":
                every = ", ".join(f"x.s{k}" for k in range(n_sums))
                powers = [f"exp(greatest(x.s{k} - greatest({every}), -700.0))" for k in range(n_sums)]
                return [f"CASE WHEN x.s0 IS NOT NULL THEN {power} / ({' + '.join(powers)}) END" for power in powers]
        return []

    def _sum(self, place: int) -> str:
        """In groups: an engine takes a + b + c + ... for as many levels (SQLite: a thousand at most)."""
        trees = [tree for tree in self.function.trees if any(end.amounts[place] for end in nodes(tree) if isinstance(end, Leaf))]
        lines = [f"CASE WHEN {self.is_usable} THEN {self.dialect.double.format(self.number(self.function.start[place]))}"]
        for first in range(0, len(trees), _GROUP):
            lines.append(f"    + ({self.dialect.double.format('0')}")
            amounts = (self._case(tree, 2, lambda end: self.number(end.amounts[place])) for tree in trees[first : first + _GROUP])
            lines += [f"    + {amount}" for amount in amounts]
            lines.append("    )")
        return "\n".join([*lines, "    END"])

    def _case(self, node: Node, depth: int, answer_of: Callable[[Leaf], str]) -> str:
        """The no side is the next WHEN, so that only yes sides nest."""
        if isinstance(node, Leaf):
            return answer_of(node)
        pad, lines = "  " * depth, ["CASE"]
        while isinstance(node, Split):
            lines.append(f"{pad}  WHEN {self._test(node.test)} THEN {self._case(node.yes, depth + 2, answer_of)}")
            node = node.no
        return "\n".join([*lines, f"{pad}  ELSE {answer_of(node)}", f"{pad}END"])

    def _test(self, test: Condition) -> str:
        is_others, names = names_of(self.function.schema, test)
        comparison = f"{'NOT ' if is_others else ''}IN ({_texts(names)})" if names else f"{test.sign} {self.number(test.mark)}"
        return f"x.c{test.feature} {comparison}"


def _select_lines(items: Sequence[str], source: str, pad: str = "  ") -> Iterator[str]:
    yield f"{pad}SELECT"
    yield ",\n".join(f"{pad}  {item}" for item in items)
    yield f"{pad}{source}"


# --- cells


class _Cell:
    """How one column is read: its text, what that spells, and the value that a model is given."""

    def __init__(self, place: int, declared: Feature, marks: Marks, dialect: _Dialect) -> None:
        self.place, self.declared, self.marks, self.dialect = place, declared, marks, dialect
        self.text, self.kind = f"x.t{place}", f"x.k{place}"
        self.categories = declared.categories if isinstance(declared, CategoricalFeature) else ()
        self.spellings = declared_texts(declared)
        self.is_number = isinstance(declared, NumericFeature) and not isinstance(declared, DateFeature)
        self.has_numerals = any(decimal_of(text) is not None for text in self.spellings.exact)
        self.has_truths = bool(self.categories and self.spellings.truths)
        self.has_moments = any(map(_is_moment, self.spellings.exact))

    def texts(self) -> Iterator[str]:
        """The cell as a text, in SQLite a number where it is stored as one; in an engine with types that of its column."""
        column, dialect = f"r.{identifier(self.declared.name)}", self.dialect
        text = f"CAST({column} AS text)"
        for blank in BLANKS[1:]:
            text = f"replace({text}, {dialect.char}({ord(blank)}), ' ')"
        text = f"trim({text}, {dialect.stripped})"
        if not dialect.has_types:
            text = f"CASE WHEN typeof({column}) IN ('integer', 'real') THEN {column} ELSE {text} END"
        yield f"{text} AS t{self.place}"
        if dialect.has_types:
            yield f"CAST(pg_typeof({column}) AS text) AS k{self.place}"

    def numbers(self) -> Iterator[str]:
        """What the text spells."""
        text, kind, dialect = self.text, self.kind, self.dialect
        if self.is_number:
            yield text
            value = dialect.read(text, self.marks)
            if dialect.has_types:  # a number of 32 bits is the number that it holds
                narrow = f"CAST(CAST({text} AS real) AS double precision)"
                wide = " OR ".join(f"{kind} LIKE '{like}'" for like in ("double%", "numeric%", "decimal%", "%int", "integer"))
                direct = f"WHEN {kind} IN ('real', 'float') THEN {narrow} WHEN {wide} THEN CAST({text} AS double precision)"
                value = f"CASE WHEN {self._is_doubtful()} THEN {dialect.refuse.format(text)} {direct} ELSE {value} END"
            yield f"{value} AS n{self.place}"
            return
        yield f"{self._canonical()} AS t{self.place}"
        if isinstance(self.declared, DateFeature):
            for letter in "ymd":
                cases = [
                    f"WHEN {dialect.is_date(text, order)} THEN CAST({dialect.part(text, order.index(letter))} AS integer)"
                    for order in dict.fromkeys((self.declared.order, "ymd"))
                ]
                yield f"CASE {' '.join(cases)} END AS {letter}{self.place}"

    def _is_doubtful(self) -> str:
        """In an engine with types: bytes that it spells with backslashes, or a moment by another clock than UTC's."""
        spelled_bytes = f"{self.kind} IN ('blob', 'bytea') AND strpos({self.text}, chr(92)) > 0"
        return f"{spelled_bytes} OR {self.kind} = 'timestamp with time zone' AND {self.text} NOT LIKE '%+00'"

    def _canonical(self) -> str:
        """In an engine with types: the text that `dpviz.table.cells` gives a number or a moment."""
        text, kind = self.text, self.kind
        if not self.dialect.has_types:
            return text
        cases = [f"WHEN {self._is_doubtful()} THEN CAST({self.dialect.refuse.format(text)} AS text)"]
        if self.has_numerals:
            narrow = f"CAST(CAST(CAST({text} AS real) AS double precision) AS text)"
            cases.append(f"WHEN {kind} IN ('real', 'float') THEN {_short(narrow)}")
            cases.append(f"WHEN {kind} LIKE 'double%' OR {kind} LIKE 'numeric%' OR {kind} LIKE 'decimal%' THEN {_short(text)}")
        if self.has_moments:
            local = f"regexp_replace({text}, '[+-][0-9]+(:[0-9]+)*$', '')"  # without its zone
            plain = f"replace(replace(substr({local}, 1, 26), ' 00:00:00', ''), ' ', 'T')"
            cases.append(f"WHEN {kind} LIKE 'timestamp%' THEN {plain}")
        return f"CASE {' '.join(cases)} ELSE {text} END"

    def value(self) -> str:
        """What `encode` makes of the cell before it clips or rounds; NULL where it drops the row."""
        if isinstance(self.declared, CategoricalFeature):
            return self._category(self.declared)
        return self._date(self.declared) if isinstance(self.declared, DateFeature) else self._number()

    def _number(self) -> str:
        text, value = self.text, f"x.n{self.place}"
        codes = [self.dialect.number(code) for code in map(number_of, self.declared.missing_codes) if not math.isnan(code)]
        missing = [f"{text} IS NULL", f"{text} IN ({_texts(dict.fromkeys([*MARKS, *self.spellings.exact]))})"]
        missing += [f"{value} IN ({', '.join(codes)})"] if codes else []
        largest = self.dialect.number(_MAX_FLOAT)
        usable_case = f"WHEN {value} BETWEEN -{largest} AND {largest} THEN {value}"
        return f"CASE WHEN {' OR '.join(missing)} THEN {self._stand_in()} {usable_case} END"

    def _stand_in(self) -> str:
        replacement = self.declared.missing_as
        return "NULL" if replacement is None else self.dialect.number(float(replacement))

    def _date(self, declared: DateFeature) -> str:
        year, month, day = (f"x.{letter}{self.place}" for letter in "ymd")
        missing = [test for test, code in self._matches() if code == MISSING]
        missing += [f"{self.text} IS NULL", f"{self.text} IN ({_texts(MARKS)})"]
        leap = f"({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))"
        february = f"CASE WHEN {leap} THEN 29 ELSE 28 END"
        last = f"CASE WHEN {month} = 2 THEN {february} WHEN {month} IN (4, 6, 9, 11) THEN 30 ELSE 31 END"
        exists = f"{year} >= 1 AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND {last}"
        number = {"year": year, "month": month}.get(declared.part) or _day_number(declared, year, month, day)
        return f"CASE WHEN {' OR '.join(missing)} THEN {self._stand_in()} WHEN {exists} THEN {number} END"

    def _category(self, declared: CategoricalFeature) -> str:
        text = self.text
        missing, unknown = ("NULL" if name is None else _text(name) for name in (declared.missing_as, declared.unknown_as))
        cases = []
        for test, code in self._matches():
            category = text if code is None else missing if code == MISSING else _text(self.categories[code])
            cases.append(f"WHEN {test} THEN {category}")
        cases.append(f"WHEN {text} IS NULL OR {text} IN ({_texts(MARKS)}) THEN {missing}")
        doubtful = []
        if not self.dialect.has_types and self.has_moments:
            exact = self.spellings.exact
            moments = {text.replace("T", " ") if "T" in text else f"{text} 00:00:00" for text in filter(_is_moment, exact)}
            doubtful.append(f"{text} IN ({_texts(sorted(moments.difference(exact)))})")
        if not self.dialect.has_types and self.has_truths:
            doubtful.append(f"(typeof({text}) <> 'text' AND {text} IN (0, 1))")
        cases += [f"WHEN {' OR '.join(doubtful)} THEN {self.dialect.refuse.format(text)}"] if doubtful else []
        return f"CASE {' '.join(cases)} ELSE {unknown} END"

    def _matches(self) -> Iterator[tuple[str, int | None]]:
        """(a test of the text, what it means; None: the text itself is the category), in the order of `Declared`."""
        text, exact = self.text, self.spellings.exact
        if not self.dialect.has_types:
            by_number = {spelling: code for spelling, code in exact.items() if shortest(spelling) == spelling}
            for code, spellings in _by_meaning(by_number):
                yield f"typeof({text}) <> 'text' AND {text} IN ({', '.join(spellings)})", code
        categories = [spelling for spelling, code in exact.items() if code >= 0 and self.categories[code] == spelling]
        if categories:
            yield f"{text} IN ({_texts(categories)})", None
        other_spellings = {form: code for spelling, code in exact.items() for form in _forms(spelling)}
        for category in categories:
            other_spellings.pop(category)
        for code, spellings in _by_meaning(other_spellings):
            yield f"{text} IN ({_texts(spellings)})", code
        for code, spellings in _by_meaning(self.spellings.numbers):
            yield f"{self.dialect.is_plain(text)} AND {_short(text)} IN ({_texts(spellings)})", code
        for code, spellings in _by_meaning(self.spellings.truths):
            yield f"lower({text}) IN ({_texts(spellings)})", code


def _day_number(declared: DateFeature, year: str, month: str, day: str) -> str:
    """March counts as the first month, so that a leap day comes last; without divisions that round."""
    late = f"(CASE WHEN {month} < 3 THEN 1 ELSE 0 END)"
    shifted, months = f"({year} - {late})", f"({month} + 12 * {late})"
    fourth, hundredth, four_hundredth = (f"({shifted} - {shifted} % {n}) / {n}" for n in (4, 100, 400))
    days_before = f"(153 * {months} - 457 - (153 * {months} - 457) % 5) / 5"
    ordinal = f"({day} + {days_before} + 365 * {shifted} + {fourth} - {hundredth} + {four_hundredth} - 306)"
    if declared.part == "weekday":
        return f"({ordinal} + 6) % 7 + 1"
    return f"{ordinal} - {dt.date.fromisoformat(declared.since).toordinal()}"


def _is_moment(text: str) -> bool:
    try:
        return dt.datetime.fromisoformat(text).isoformat().startswith(text)
    except ValueError:
        return False


def _by_meaning(codes: Mapping[str, int]) -> Iterable[tuple[int, list[str]]]:
    texts = defaultdict[int, list[str]](list)
    for text, code in codes.items():
        texts[code].append(text)
    return texts.items()


def _forms(text: str) -> Iterator[str]:
    """A text composed, decomposed, and, where few letters can be, in every mixture."""
    letters = [(letter, apart) if (apart := normalize("NFD", letter)) != letter else (letter,) for letter in text]
    if sum(len(forms) > 1 for forms in letters) > _MAX_ACCENTS:
        yield from (text, normalize("NFD", text))
    else:
        yield from map("".join, product(*letters))


def _short(text: str) -> str:
    """A number in plain form without zeros at its end."""
    digits = f"CASE WHEN {text} LIKE '%.%' THEN rtrim(rtrim({text}, '0'), '.') ELSE {text} END"
    return f"(CASE WHEN {digits} = '-0' THEN '0' ELSE {digits} END)"


# --- names and texts


def identifier(name: str) -> str:
    """A quoted name: quotes inside are doubled, so that a column called `x"; DROP TABLE` stays a column."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _texts(values: Iterable[str]) -> str:
    return ", ".join(map(_text, values))


def _require_names(function: Function) -> None:
    """Raise UnsupportedError for column names that SQL cannot hold or tell apart."""
    folded: dict[str, str] = {}
    for name in function.schema.feature_names:
        if "\0" in name:
            raise UnsupportedError(f"SQL cannot name the column {name!r:.80}.", remedy="Rename the column.")
        first = folded.setdefault(name.casefold(), name)
        if first != name:
            what = f"SQL cannot tell the columns {first!r:.80} and {name!r:.80} apart: their names differ by capitals only."
            raise UnsupportedError(what, remedy="Rename one of them.")


# --- the forms


def _write_typed(model: ExportInput) -> str:
    """DuckDB's optimizer and PostgreSQL's compiler take seconds to minutes over a statement of a hundred trees, for nothing."""
    content = _select(model, _Typed())
    note = "-- Long: it is much faster after PRAGMA disable_optimizer in DuckDB, and after SET jit = off in PostgreSQL.\n"
    return f"{note}{content}" if len(content) > _LONG else content


SQLITE = Form(
    name="sqlite",
    title="SQL for SQLite",
    suffix=".sql",
    media_type="application/sql",
    about="One SELECT with CASE. Reads cells as dpviz does, whatever type their column has; no answer: NULL.",
    write=lambda model: _select(model, _Sqlite()),
    language="sql",
    most_ends=25_000,
    order=30,
)
DUCKDB = replace(SQLITE, name="duckdb", title="SQL for DuckDB and PostgreSQL", write=_write_typed, order=31)
