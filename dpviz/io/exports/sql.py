"""A model as one SELECT for SQLite, and for DuckDB and PostgreSQL: it reads cells as `predict` does, whatever their type.

First every cell becomes what `dpviz.table.encode` makes of it: a number, a category, or NULL where the row has no answer. The
tree follows as CASE expressions over these. What a database cannot tell apart ends the statement with an error. Columns are
written with the alias of their table: SQLite takes a lone "name" that is no column for a text.
"""

import datetime as dt
import math
import re
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from unicodedata import normalize

from dpviz.errors import NotExported
from dpviz.io.exports.conditions import Condition, code_numbers, one_line
from dpviz.io.exports.contract import Exportable, WrittenForm
from dpviz.io.exports.function import LARGEST, End, Function, Step, steps
from dpviz.table.cells import BLANKS, MARKS, Declared, decimal_of
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, Feature, NumericFeature, NumericTarget

TABLE = "rows_to_predict"
#: Writes a number so that the engine reads it back as the same one.
Number = Callable[[float], str]
_DEEPEST_NEST, _GROUP = 12, 100
#: What `str.strip` takes off, and digits beyond 0 to 9 that `float` reads: places of letters.
_STRIPPED = [place for place in range(0x3001) if chr(place).isspace()]
_DIGITS = [place for place in range(128, sys.maxunicode + 1) if chr(place).isdecimal()]
_OTHER_DIGITS = "".join(f"{chr(place)}-{chr(place + 9)}" for place in _DIGITS if int(chr(place)) == 0)
_MISSING, _MOST_MARKS = -2, 4
_SHORTEST = re.compile(r"0|-?[1-9][0-9]*|-?(?:0|[1-9][0-9]*)\.[0-9]*[1-9]")


@dataclass(frozen=True)
class Dialect:
    """How an engine says what a statement needs."""

    number: Number
    has_exp: bool  #: Whether every build has the exponential function, without which scores are no probabilities
    #: (column) -> its cell as a text without blanks at its ends, in SQLite a number where it is stored as one
    text: Callable[[str], str]
    #: (text, the schema's decimal mark) -> the number it spells; NULL where it spells none
    read: Callable[[str, str | None], str]
    #: (text) -> it is a number in plain form: no exponent, no leading zero
    is_plain: Callable[[str], str]
    #: (text) -> an expression that ends the statement with an error
    refuse: Callable[[str], str]
    #: (text) -> the date in it with "-" between the parts; (text, that, order) -> it is a date; (that, which) -> a part of it
    is_date: Callable[[str, str, str], str]
    dashed: Callable[[str], str]
    part: Callable[[str, int], str]
    has_types: bool  #: Whether each column has one type, which the engine names
    as_double: Callable[[str], str]


def _select(given: Exportable, dialect: Dialect) -> str:
    """The whole statement: a row per row of the table, in its order, with `prediction` and, where there are any, `p_CLASS`."""
    function = given.function
    if not dialect.has_exp and function.chances == "odds":
        function = replace(function, chances="none")
    _require_names(function)
    writer = _Writer(function, dialect, given.key)
    about = f"-- Replace {TABLE} by your table. Cells are read as by `dpviz predict`; NULL: no answer."
    return "\n".join([*(f"-- {fact}" for fact in given.facts), about, *writer.notes(), "", *writer.lines()]) + "\n"


class _Writer:
    """One function in one dialect."""

    def __init__(self, function: Function, dialect: Dialect, key: str = "") -> None:
        self.function, self.dialect, self.number = function, dialect, dialect.number
        self.key = identifier(key) if key else ""
        self.nesting = max(map(_nesting, function.trees), default=0)
        schema = function.schema
        self.cells = [_Cell(place, feature, schema.decimal, dialect) for place, feature in enumerate(schema.features)]

    def notes(self) -> Iterator[str]:
        """What somebody who runs it should know."""
        for cell in self.cells:
            if not self.dialect.has_types and cell.has_truths:
                name = spelled_name(cell.declared.name)
                yield f"-- In {name} 0 and 1 end it: SQLite has no truth values. Give 'true' and 'false'."

    def lines(self) -> Iterator[str]:
        key, keep = ([f"r.{self.key} AS k"], ["x.k"]) if self.key else ([], [])
        ordered = ""
        if self.dialect.has_types:  # DuckDB makes a join of a list of names, which keeps no order
            key, keep, ordered = ["row_number() OVER () AS n", *key], ["x.n", *keep], " ORDER BY {}.n"
        yield "WITH texts AS MATERIALIZED ("
        yield from _listed([*key, *(item for cell in self.cells for item in cell.texts())], f"FROM {TABLE} AS r")
        source = "texts"
        if any(cell.is_date for cell in self.cells):
            yield "), dates AS MATERIALIZED ("
            dashed = [f"{cell.dialect.dashed(f'x.t{cell.place}')} AS d{cell.place}" for cell in self.cells if cell.is_date]
            yield from _listed(["x.*", *dashed], "FROM texts AS x")
            source = "dates"
        yield "), numbers AS MATERIALIZED ("
        yield from _listed([*keep, *(item for cell in self.cells for item in cell.numbers())], f"FROM {source} AS x")
        yield "), cells AS MATERIALIZED ("
        yield from _listed([*keep, *(f"{cell.value()} AS c{cell.place}" for cell in self.cells)], "FROM numbers AS x")
        if self.function.is_one_tree:
            yield ")"
            yield "SELECT"
            if self.key:
                yield f"  x.k AS {self.key},"
            names = ['"prediction"', *([] if self.function.chances == "none" else self._chance_names())]
            is_number = isinstance(self.function.schema.target, NumericTarget)
            for place, name in enumerate(names):
                say = partial(self._share, place - 1) if place else self._answer
                before, after = (
                    ("CAST(", " AS double precision)") if self.dialect.has_types and (place or is_number) else ("", "")
                )
                comma = "," if place + 1 < len(names) else ""
                lines = self._case(self.function.trees[0], 2, say)
                yield f"  {before}CASE WHEN {self._usable()} THEN"
                yield from _joined(lines, "    ", "")
                yield f"  END{after} AS {name}{comma}"
            yield f"FROM cells AS x{ordered.format('x')};"
            return
        yield "), sums AS MATERIALIZED ("
        yield "  SELECT"
        yield from (f"    {name}," for name in keep)
        for place in range(len(self.function.start)):
            yield from self._sum(place, "," if place + 1 < len(self.function.start) else "")
        yield "  FROM cells AS x"
        yield ")"
        named = zip(self._chances(), self._chance_names(), strict=False)
        first = f"s.k AS {self.key}, " if self.key else ""
        yield f'SELECT {first}{self._decision()} AS "prediction"' + "".join(f",\n  {chance} AS {name}" for chance, name in named)
        yield f"FROM sums AS s{ordered.format('s')};"

    def _usable(self) -> str:
        """In groups, as sums are."""
        asked = [f"x.c{cell.place} IS NOT NULL" for cell in self.cells]
        parts = [" AND ".join(asked[first : first + _GROUP]) for first in range(0, len(asked), _GROUP)]
        return parts[0] if len(parts) == 1 else " AND ".join(f"({part})" for part in parts)

    def _decision(self) -> str:
        target, function = self.function.schema.target, self.function
        if isinstance(target, NumericTarget):
            low, high = self.number(target.low), self.number(target.high)
            return f"CASE WHEN s.s0 < {low} THEN {low} WHEN s.s0 > {high} THEN {high} ELSE s.s0 END"
        names = [_text(name) for name in target.classes]
        if function.how == "sign":
            return f"CASE WHEN s.s0 > 0 THEN {names[1]} WHEN s.s0 <= 0 THEN {names[0]} END"
        best = (" AND ".join(f"s.s{k} >= s.s{other}" for other in range(k + 1, len(names))) for k in range(len(names) - 1))
        cases = " ".join(f"WHEN {test} THEN {name}" for test, name in zip(best, names, strict=False))
        return f"CASE WHEN s.s0 IS NULL THEN NULL {cases} ELSE {names[-1]} END"

    def _chance_names(self) -> list[str]:
        """Different also for an engine that does not tell capitals apart."""
        taken, found = {"prediction", self.key.strip('"').casefold()}, []
        for name in self.function.names or ():
            wanted = f"p_{name}"
            while wanted.casefold() in taken:
                wanted += " (2)"
            taken.add(wanted.casefold())
            found.append(identifier(wanted))
        return found

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
                return [f"1 / (1 + exp(greatest(least({sign}s.s0, 700.0), -700.0)))" for sign in ("", "-")]
            case "odds":
                every = ", ".join(f"s.s{k}" for k in range(n_sums))
                powers = [f"exp(greatest(s.s{k} - greatest({every}), -700.0))" for k in range(n_sums)]
                return [f"CASE WHEN s.s0 IS NOT NULL THEN {power} / ({' + '.join(powers)}) END" for power in powers]
        return []

    def _sum(self, place: int, comma: str) -> Iterator[str]:
        """In groups: an engine takes a + b + c + ... for as many levels (SQLite: a thousand at most)."""
        asked = [tree for tree in self.function.trees if any(end.amounts[place] for end in steps(tree) if isinstance(end, End))]
        yield f"    CASE WHEN {self._usable()} THEN {self.dialect.as_double(self.number(self.function.start[place]))}"
        for first in range(0, len(asked), _GROUP):
            yield f"    + ({self.dialect.as_double('0')}"
            for tree in asked[first : first + _GROUP]:
                yield from _joined(self._case(tree, 2, lambda end: self.number(end.amounts[place])), "    + ", "")
            yield "    )"
        yield f"    END AS s{place}{comma}"

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
            asked = f"NOT ({self._condition(step.condition)})" if turned else self._condition(step.condition)
            inner = self._case(now, depth + 2, say)
            lines += [f"{pad}  WHEN {asked} THEN {inner[0]}", *inner[1:]]
            step = later
        return [*lines, f"{pad}  ELSE {say(step)}", f"{pad}END"]

    def _answer(self, end: End) -> str:
        answer = self.function.answer(end)
        return _text(answer) if isinstance(answer, str) else self.number(answer)

    def _condition(self, asked: Condition) -> str:
        """Of a cell that was read: missing and unknown ones have been replaced, so that texts are categories."""
        column, declared = f"x.c{asked.feature}", self.function.schema.features[asked.feature]
        if isinstance(declared, NumericFeature):
            return f"{column} {'<=' if asked.with_high else '<'} {self.number(asked.high)}"
        assert isinstance(declared, CategoricalFeature)
        known = asked.among if asked.among is not None else asked.but or ()
        names = [_text(name) for name in declared.categories if name in frozenset(known)]
        if asked.among is None:
            return f"{column} NOT IN ({', '.join(names)})" if names else "1 = 1"
        return f"{column} IN ({', '.join(names)})" if names else "1 = 0"


def _nesting(step: Step) -> int:
    """How many yes sides lie within each other."""
    return 0 if isinstance(step, End) else max(_nesting(step.yes) + 1, _nesting(step.no))


def _joined(lines: list[str], before: str, after: str) -> list[str]:
    joined = [before + lines[0], *lines[1:]]
    joined[-1] += after
    return joined


def _listed(items: Sequence[str], source: str) -> Iterator[str]:
    yield "  SELECT"
    for place, item in enumerate(items):
        yield f"    {item}{',' if place + 1 < len(items) else ''}"
    yield f"  {source}"


# --- cells


class _Cell:
    """How one column is read: its text, what that spells, and the value that a model is given."""

    def __init__(self, place: int, declared: Feature, decimal: str | None, dialect: Dialect) -> None:
        self.place, self.declared, self.decimal, self.dialect = place, declared, decimal, dialect
        codes = dict.fromkeys(declared.missing_codes, _MISSING)
        if isinstance(declared, CategoricalFeature):
            texts = declared.category_of
            names = list(declared.categories)
            codes |= {text: names.index(category) for text, category in texts.items()}
        self.known = Declared(codes)
        self.is_date = isinstance(declared, DateFeature)
        self.has_numerals = any(decimal_of(text) is not None for text in self.known.exact)
        self.has_truths = isinstance(declared, CategoricalFeature) and bool(self.known.truths)
        self.has_moments = any(map(_is_moment, self.known.exact))

    def texts(self) -> Iterator[str]:
        """The cell as a text; the type of its column where that matters."""
        column = f"r.{identifier(self.declared.name)}"
        yield f"{self.dialect.text(column)} AS t{self.place}"
        if self.dialect.has_types and self._needs_type():
            yield f"CAST(pg_typeof({column}) AS text) AS k{self.place}"

    def _needs_type(self) -> bool:
        is_plain_number = isinstance(self.declared, NumericFeature) and not isinstance(self.declared, DateFeature)
        return is_plain_number or self.has_numerals or self.has_moments

    def numbers(self) -> Iterator[str]:
        """What the text spells."""
        text, dialect = f"x.t{self.place}", self.dialect
        if isinstance(self.declared, DateFeature):
            yield f"{self._canonical(text)} AS t{self.place}"
            dashed, order = f"x.d{self.place}", self.declared.order
            for letter in "ymd":
                part = dialect.part(dashed, order.index(letter))
                yield f"CASE WHEN {dialect.is_date(text, dashed, order)} THEN CAST({part} AS integer) END AS {letter}{self.place}"
        elif isinstance(self.declared, NumericFeature):
            yield text
            value = dialect.read(text, self.decimal)
            if dialect.has_types:  # a number of 32 bits is the number that it holds
                kind, narrow = f"x.k{self.place}", f"CAST(CAST({text} AS real) AS double precision)"
                wide = " OR ".join(f"{kind} LIKE '{like}'" for like in ("double%", "numeric%", "decimal%", "%int", "integer"))
                direct = f"WHEN {kind} IN ('real', 'float') THEN {narrow} WHEN {wide} THEN CAST({text} AS double precision)"
                value = f"CASE {direct} ELSE {value} END"
            yield f"{value} AS n{self.place}"
        else:
            yield f"{self._canonical(text)} AS t{self.place}"

    def _canonical(self, text: str) -> str:
        """In an engine with types: the text that `dpviz.table.cells` gives a number or a moment."""
        if not (self.dialect.has_types and self._needs_type()):
            return text
        kind, cases = f"x.k{self.place}", []
        if self.has_numerals:
            narrow = f"CAST(CAST(CAST({text} AS real) AS double precision) AS text)"
            cases.append(f"WHEN {kind} IN ('real', 'float') THEN {_short(narrow)}")
            cases.append(f"WHEN {kind} LIKE 'double%' OR {kind} LIKE 'numeric%' OR {kind} LIKE 'decimal%' THEN {_short(text)}")
        if self.has_moments:
            plain = f"replace(replace(substr({text}, 1, 26), ' 00:00:00', ''), ' ', 'T')"
            cases.append(f"WHEN {kind} LIKE 'timestamp%' THEN {plain}")
        return f"CASE {' '.join(cases)} ELSE {text} END"

    def value(self) -> str:
        """What `encode` makes of the cell before it clips or rounds; NULL where it drops the row."""
        if isinstance(self.declared, CategoricalFeature):
            return self._category(self.declared)
        return self._date(self.declared) if isinstance(self.declared, DateFeature) else self._number()

    def _number(self) -> str:
        text, value = f"x.t{self.place}", f"x.n{self.place}"
        codes = [self.dialect.number(code) for code in code_numbers(self.declared)]
        missing = [f"{text} IS NULL", f"{text} IN ({_texts(dict.fromkeys([*MARKS, *self.known.exact]))})"]
        missing += [f"{value} IN ({', '.join(codes)})"] if codes else []
        most = self.dialect.number(LARGEST)
        return (
            f"CASE WHEN {' OR '.join(missing)} THEN {self._stand_in()} WHEN {value} BETWEEN -{most} AND {most} THEN {value} END"
        )

    def _stand_in(self) -> str:
        assert isinstance(self.declared, NumericFeature)
        return "NULL" if self.declared.missing_as is None else self.dialect.number(float(self.declared.missing_as))

    def _date(self, declared: DateFeature) -> str:
        text, year, month, day = (f"x.{letter}{self.place}" for letter in "tymd")
        missing = [test for test, code in self._matches(text) if code == _MISSING]
        missing += [f"{text} IS NULL", f"{text} IN ({_texts(MARKS)})"]
        leap = f"({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))"
        last = (
            f"CASE WHEN {month} = 2 THEN CASE WHEN {leap} THEN 29 ELSE 28 END WHEN {month} IN (4, 6, 9, 11) THEN 30 ELSE 31 END"
        )
        exists = f"{year} >= 1 AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND {last}"
        return f"CASE WHEN {' OR '.join(missing)} THEN {self._stand_in()} WHEN {exists} THEN {self._date_number(declared)} END"

    def _date_number(self, declared: DateFeature) -> str:
        """A day's number counts March as the first month, so that a leap day comes last; without divisions that round."""
        year, month, day = (f"x.{letter}{self.place}" for letter in "ymd")
        if declared.part in ("year", "month"):
            return year if declared.part == "year" else month
        late = f"(CASE WHEN {month} < 3 THEN 1 ELSE 0 END)"
        shifted, months = f"({year} - {late})", f"({month} + 12 * {late})"
        fourth, hundredth, four_hundredth = (f"({shifted} - {shifted} % {n}) / {n}" for n in (4, 100, 400))
        before = f"(153 * {months} - 457 - (153 * {months} - 457) % 5) / 5"
        ordinal = f"({day} + {before} + 365 * {shifted} + {fourth} - {hundredth} + {four_hundredth} - 306)"
        if declared.part == "weekday":
            return f"({ordinal} + 6) % 7 + 1"
        return f"{ordinal} - {dt.date.fromisoformat(declared.since).toordinal()}"

    def _category(self, declared: CategoricalFeature) -> str:
        text = f"x.t{self.place}"
        missing, unknown = (f"{'NULL' if name is None else _text(name)}" for name in (declared.missing_as, declared.unknown_as))
        cases = []
        for test, code in self._matches(text):
            cases.append(
                f"WHEN {test} THEN {text if code is None else missing if code == _MISSING else _text(declared.categories[code])}"
            )
        cases.append(f"WHEN {text} IS NULL OR {text} IN ({_texts(MARKS)}) THEN {missing}")
        if not self.dialect.has_types:
            moments = {
                text.replace("T", " ") if "T" in text else f"{text} 00:00:00" for text in filter(_is_moment, self.known.exact)
            }
            doubtful = [f"{text} IN ({_texts(sorted(moments.difference(self.known.exact)))})"] if self.has_moments else []
            doubtful += [f"(typeof({text}) <> 'text' AND {text} IN (0, 1))"] if self.has_truths else []
            cases += [f"WHEN {' OR '.join(doubtful)} THEN {self.dialect.refuse(text)}"] if doubtful else []
        return f"CASE {' '.join(cases)} ELSE {unknown} END"

    def _matches(self, text: str) -> Iterator[tuple[str, int | None]]:
        """(a test of the text, what it means; None: the text itself is the category), in the order of `Declared`."""
        names = self.declared.categories if isinstance(self.declared, CategoricalFeature) else ()
        if not self.dialect.has_types:
            stored = {other: code for other, code in self.known.exact.items() if _SHORTEST.fullmatch(other)}
            for code, others in _by_meaning(stored):
                yield f"typeof({text}) <> 'text' AND {text} IN ({', '.join(others)})", code
        itself = [other for other, code in self.known.exact.items() if code >= 0 and names[code] == other]
        if itself:
            yield f"{text} IN ({_texts(itself)})", None
        spellings = {form: code for other, code in self.known.exact.items() for form in _forms(other)}
        others_of = {other: code for other, code in spellings.items() if other not in frozenset(itself)}
        for code, others in _by_meaning(others_of):
            yield f"{text} IN ({_texts(others)})", code
        for code, others in _by_meaning(self.known.numbers):
            yield f"{self.dialect.is_plain(text)} AND {_short(text)} IN ({_texts(others)})", code
        for code, others in _by_meaning(self.known.truths):
            yield f"lower({text}) IN ({_texts(others)})", code


def _is_moment(text: str) -> bool:
    try:
        return dt.datetime.fromisoformat(text).isoformat().startswith(text)
    except ValueError:
        return False


def _by_meaning(codes: Mapping[str, int]) -> Iterable[tuple[int, list[str]]]:
    found = defaultdict[int, list[str]](list)
    for text, code in codes.items():
        found[code].append(text)
    return found.items()


def _forms(text: str) -> Iterator[str]:
    """A text composed, decomposed, and, where few letters can be, in every mixture."""
    letters = [(letter, apart) if (apart := normalize("NFD", letter)) != letter else (letter,) for letter in text]
    if sum(len(forms) > 1 for forms in letters) > _MOST_MARKS:
        yield from (text, normalize("NFD", text))
    else:
        yield from map("".join, product(*letters))


def _short(text: str) -> str:
    """A number in plain form without zeros at its end."""
    cut = f"CASE WHEN {text} LIKE '%.%' THEN rtrim(rtrim({text}, '0'), '.') ELSE {text} END"
    return f"(CASE WHEN {cut} = '-0' THEN '0' ELSE {cut} END)"


# --- names and texts


def identifier(name: str) -> str:
    """A quoted name: quotes inside are doubled, so that a column called `x"; DROP TABLE` stays a column."""
    return '"' + name.replace('"', '""') + '"'


def spelled_name(name: str) -> str:
    """A quoted name for a comment, on one line."""
    return identifier(one_line(name))


def _text(value: str) -> str:
    """A quoted text."""
    return "'" + value.replace("'", "''") + "'"


def _texts(values: Iterable[str]) -> str:
    return ", ".join(map(_text, values))


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


def _sqlite_text(column: str) -> str:
    """Any cell may be stored as any type."""
    text = _blank(f"CAST({column} AS TEXT)", "char", ", ")
    return f"CASE WHEN typeof({column}) IN ('integer', 'real') THEN {column} ELSE {text} END"


def _blank(text: str, letter: str, comma: str) -> str:
    """A text without blanks at its ends, its no-break blanks as others."""
    stripped = f"{letter}({', '.join(map(str, _STRIPPED))})" if comma == ", " else comma.join(f"{letter}({n})" for n in _STRIPPED)
    for blank in BLANKS[1:]:
        text = f"replace({text}, {letter}({ord(blank)}), ' ')"
    return f"trim({text}, {stripped})"


def _sqlite_read(text: str, decimal: str | None) -> str:
    """A text is a number where it is up to infinity once it is compared as one; any that is none is above all numbers."""
    signed = f"replace({text}, char(8722), '-')"
    bare, point, most = f"ltrim({signed}, '+-')", f"replace({signed}, ',', '.')", "CAST(9e999 AS REAL)"
    cases = [f"typeof({text}) <> 'text' THEN CAST({text} AS REAL)"]
    if decimal != ",":
        cases.append(f"instr({text}, ',') = 0 AND {signed} <= {most} THEN CAST({signed} AS REAL)")
    if decimal != ".":
        doubt = [f"{bare} NOT GLOB '{'[0-9]' * n},[0-9][0-9][0-9]'" for n in (1, 2, 3) if decimal is None]
        one = f"instr({text}, '.') = 0 AND length({text}) - length(replace({text}, ',', '')) < 2"
        cases.append(f"{' AND '.join([one, *doubt])} AND {point} <= {most} THEN CAST({point} AS REAL)")
    groups = f"{bare} NOT GLOB '*[^0-9 .,''’eE+-]*' AND {bare} GLOB '[1-9]*[ .,''’][0-9][0-9]*'"
    groups += f" AND {bare} NOT GLOB '*[ .,''’][0-9][ .,''’]*' AND {bare} NOT GLOB '*[ .,''’][ .,''’]*'"
    cases.append(f"{groups} OR {text} GLOB '*[{_OTHER_DIGITS}]*' THEN {_sqlite_refusal(text)}")
    return f"CASE {' '.join(f'WHEN {case}' for case in cases)} END"


def _sqlite_refusal(text: str) -> str:
    """The smallest whole number has no absolute value."""
    return f"abs(-9223372036854775807 - ({text} IS NOT NULL))"


def _sqlite_is_plain(text: str) -> str:
    digits = f"(CASE WHEN substr({text}, 1, 1) = '-' THEN substr({text}, 2) ELSE {text} END)"
    globs = f"{digits} NOT GLOB '*[^0-9.]*' AND {digits} NOT GLOB '*.*.*' AND {digits} NOT GLOB '0[0-9]*'"
    return f"typeof({text}) = 'text' AND {digits} GLOB '[0-9]*' AND {digits} NOT GLOB '*.' AND {globs}"


def _sqlite_is_date(text: str, dashed: str, order: str) -> str:
    digits = [("[0-9][0-9][0-9][0-9]",) if letter == "y" else ("[0-9]", "[0-9][0-9]") for letter in order]
    tests = (f"{dashed} GLOB '{'-'.join(form)}'" for form in product(*digits))
    return f"typeof({text}) = 'text' AND ({' OR '.join(tests)})"


def _sqlite_dashed(text: str) -> str:
    for end in "T ":
        text = f"substr({text}, 1, instr({text} || '{end}', '{end}') - 1)"
    return f"replace(replace({text}, '/', '-'), '.', '-')"


def _sqlite_part(dashed: str, which: int) -> str:
    rest = dashed
    for _ in range(which):
        rest = f"substr({rest}, instr({rest}, '-') + 1)"
    return rest  # CAST reads up to the next dash


SQLITE_DIALECT = Dialect(
    number=_sqlite_number,
    has_exp=False,
    text=_sqlite_text,
    read=_sqlite_read,
    is_plain=_sqlite_is_plain,
    refuse=_sqlite_refusal,
    is_date=_sqlite_is_date,
    dashed=_sqlite_dashed,
    part=_sqlite_part,
    has_types=False,
    as_double=lambda number: number,
)


# --- DuckDB and PostgreSQL

_LONG = 20_000
_POWER = "([eE][+-]?[0-9]+)?"
_WITH_POINT = f"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+){_POWER}$"
_WITH_COMMA = f"^[+-]?([0-9]+,?[0-9]*|,[0-9]+){_POWER}$"
_IN_DOUBT = "^[+-]?[1-9][0-9]{0,2},[0-9]{3}$"
_GROUPED = f"^[+-]?[1-9][0-9]{{0,2}}([ .,''’][0-9]{{2,3}})+([.,][0-9]*)?{_POWER}$"


def _double(value: float) -> str:
    """With an exponent: DuckDB reads 0.1 as a decimal number and 0.1e0 as the floating-point number that a column holds."""
    written = repr(value)
    return written if "e" in written else f"{written}e0"


def _read(text: str, decimal: str | None) -> str:
    """Groups of thousands, and digits beyond 0 to 9, which `predict` may read, are refused by the engine."""
    signed, refused = f"replace({text}, chr(8722), '-')", f"CAST({text} || ' ' AS double precision)"
    cases = [f"{signed} ~ '{_WITH_POINT}' THEN CAST({signed} AS double precision)"] if decimal != "," else []
    if decimal != ".":
        doubt = f" AND NOT {signed} ~ '{_IN_DOUBT}'" if decimal is None else ""
        cases.append(f"{signed} ~ '{_WITH_COMMA}'{doubt} THEN CAST(replace({signed}, ',', '.') AS double precision)")
    cases.append(f"{signed} ~ '{_GROUPED}' OR {text} ~ '^(.|\\n)*[{_OTHER_DIGITS}](.|\\n)*$' THEN {refused}")
    return f"CASE {' '.join(f'WHEN {case}' for case in cases)} END"


def _is_date(text: str, dashed: str, order: str) -> str:
    digits = "[-./]".join("[0-9]{4}" if letter == "y" else "[0-9]{1,2}" for letter in order)
    return f"{text} ~ '^{digits}([T ](.|\\n)*)?$'"


TYPED_DIALECT = Dialect(
    number=_double,
    has_exp=True,
    text=lambda column: _blank(f"CAST({column} AS text)", "chr", " || "),
    read=_read,
    is_plain=lambda text: f"{text} ~ '^-?(0|[1-9][0-9]*)([.][0-9]+)?$'",
    refuse=lambda text: f"CAST({text} AS double precision)",
    is_date=_is_date,
    dashed=lambda text: f"translate(split_part(split_part({text}, 'T', 1), ' ', 1), './', '--')",
    part=lambda dashed, which: f"split_part({dashed}, '-', {which + 1})",
    has_types=True,
    as_double=lambda number: f"CAST({number} AS double precision)",
)


def _write_typed(given: Exportable) -> str:
    """DuckDB's optimizer takes seconds to minutes over a statement of a hundred trees, for nothing."""
    content = _select(given, TYPED_DIALECT)
    note = "-- Long: in DuckDB, after PRAGMA disable_optimizer it starts at once.\n"
    return f"{note}{content}" if len(content) > _LONG else content


SQLITE = WrittenForm(
    name="sqlite",
    title="SQL for SQLite",
    suffix=".sql",
    media_type="application/sql",
    about="One SELECT with CASE. Reads cells as dpviz does, whatever type their column has; no answer: NULL.",
    write=lambda given: _select(given, SQLITE_DIALECT),
    language="sql",
    most_ends=25_000,
    order=30,
)
DUCKDB = replace(
    SQLITE,
    name="duckdb",
    title="SQL for DuckDB and PostgreSQL",
    write=_write_typed,
    order=31,
)
