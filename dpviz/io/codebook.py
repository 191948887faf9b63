"""Codebooks: what is publicly known about the columns of a table, in CSV, one line per column and nothing guessed.

People write a codebook from public knowledge, not from the rows, so everything in it counts as declared. What a line says is kept
or refused, never dropped. `docs/reference/codebook.md` describes the form.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpviz.errors import DpvizError, ParameterError, SchemaError
from dpviz.io.csv import read_csv
from dpviz.io.csv_text import csv_text, unguarded
from dpviz.io.limits import LARGEST_SCHEMA
from dpviz.io.text import Source, name_of, read_bytes
from dpviz.table.column_draft import MIDDLE, ColumnDraft, Use, feature_of, number_in, of_column, target_of
from dpviz.table.dates import ORDERS, PARTS
from dpviz.table.notes import Doubt, warn_of
from dpviz.table.schema import Schema

#: The columns of a codebook, in the order of a template; only `name` must be there.
COLUMNS = ("name", "type", "low", "high", "categories", "labels", "missing", "if missing", "if unknown", "unit", "role")
_EVERY = {"name", "type", "missing", "role"}
_NUMBER = {*_EVERY, "low", "high", "if missing", "unit"}
#: Which columns a line of a type may fill.
_HELD = {"": _EVERY, "number": _NUMBER, "integer": _NUMBER, "date": _NUMBER, "leave out": {*COLUMNS}}
_HELD["categories"] = {*_EVERY, "categories", "labels", "if missing", "if unknown"}
_TYPES = "number, integer, categories, date (such as date month dmy) or leave out"
#: What the name of a line begins with that shows how one is written: it is about no column.
EXAMPLE = "# example: "


@dataclass(frozen=True, slots=True)
class Codebook:
    """What a codebook says: a description per column, complete or not, and the columns in the roles target and person."""

    columns: tuple[ColumnDraft, ...]
    target: str | None = None
    person: str | None = None
    notes: tuple[Doubt, ...] = ()  #: What is doubtful about it


def import_codebook(source: Source, *, target: str | None = None, n_public: int | None = None) -> Schema:
    """The schema that a codebook declares. A column with the role person becomes its `person`: `encode` then limits rows.

    Parameters
    ----------
    source : str, Path, bytes or binary file
        CSV with a line per column of the table, and the columns name, type, low, high, categories, labels, missing, if missing,
        if unknown, unit, role, as far as they say something. Types are number, integer, categories, date with its rule ("date
        month dmy", "date days 2020-01-01") and leave out. Of categories such as "1 = yes; 2 = no" the codes count, for cells
        hold them; labels such as "M = m; male = m" say which further texts count as which category.
    target : str, optional
        The column to predict; by default the one whose role is target.
    n_public : int, optional
        A row count that may be known.

    Raises
    ------
    TableError
        The file cannot be read.
    SchemaError, DpvizError
        A column of the codebook is not known; a line says too little, contradicts itself, or holds a number that may mean two;
        the target is not in it.
    """
    book = read_codebook(source, target=target)
    warn_of(book.notes)
    if book.target is None:
        remedy = "Write target in its column 'role', or give target=."
        raise SchemaError("The codebook does not say which column is the target.", remedy=remedy)
    columns = [column for column in book.columns if column.name != book.person and column.use is not Use.LEFT_OUT]
    for column in columns:
        if lacking := column.lacks():
            what = "does not say what it is" if column.use is None else f"gives no {lacking}"
            remedy = "Give it, or the type 'leave out'."
            raise SchemaError(f"The codebook {what}.", field=column.name[:60], remedy=remedy)
    goal = next((column for column in columns if column.name == book.target), None)
    if goal is None:
        what = f"The codebook has no line for the target {book.target!r:.60}, or leaves it out."
        raise SchemaError(what, field=book.target[:60], remedy="Add one, or name another target.")
    features = tuple(feature_of(column) for column in columns if column is not goal)
    return Schema(features, target_of(goal), n_public, person=book.person)


def read_codebook(source: Source, *, target: str | None = None) -> Codebook:
    """What a codebook says; raises what `import_codebook` raises for a file. `target` is predicted whatever it says.

    Rows with missing or unknown cells of which it says nothing are dropped.
    """
    raw = read_bytes(source, LARGEST_SCHEMA)
    if raw.startswith(b"PK") or raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        remedy = "Give CSV with a line per column, as a spreadsheet saves it; load_schema reads a schema in JSON."
        raise SchemaError(f"This is {'a workbook' if raw.startswith(b'PK') else 'JSON'}, not a codebook.", remedy=remedy)
    # It is public, so a cell in quotes may hold several lines. A line per column of the table.
    table = read_csv(raw, name=name_of(source, None), row_wise=False, max_rows=20_000, max_columns=200)
    names = [name.lower() for name in table.names]
    if strange := [place for place, name in enumerate(names, start=1) if name not in COLUMNS]:
        # by its place: rows given by mistake may have no header
        what = f"Column {strange[0]} of the codebook is not known."
        if "variable / field name" in names:
            what = "This is a data dictionary of REDCap, not a codebook."
        raise SchemaError(what, remedy=f"Call its columns {', '.join(COLUMNS)}; leave others out.")
    if "name" not in names:
        raise SchemaError("The codebook has no column 'name'.", remedy="Add it, with the names of the table's columns.")
    cells = [map(unguarded, column.written()) for column in table.columns]  # NA is a text here
    lines = [dict(zip(names, line, strict=True)) for line in zip(*cells, strict=True)]
    if nameless := [place for place, line in enumerate(lines, start=1) if not line["name"]]:
        raise SchemaError(f"Line {nameless[0]} below the names of the codebook's columns names no column.", remedy="Name it.")
    lines = [line for line in lines if not line["name"].startswith(EXAMPLE.strip())]
    name, times = next(iter(Counter(line["name"] for line in lines).most_common(1)), ("", 0))
    if times > 1:
        raise SchemaError(f"The codebook has two lines for {name!r:.60}.", field=name[:60], remedy="Keep one of them.")
    roles: dict[str, str] = {}
    for line in lines:
        if role := line.get("role", "").lower():
            if role not in ("target", "person") or role in roles:
                two = f"names two columns as {role}" if role in roles else "gives a role that is not known"
                remedy = "Write target for one column, and person for one."
                raise SchemaError(f"The codebook {two}.", field=line["name"][:60], remedy=remedy)
            roles[role] = line["name"]
    target = target or roles.get("target")
    return Codebook(tuple(_column(line, target) for line in lines), target, roles.get("person"), tuple(_doubts(lines)))


def _doubts(lines: Sequence[Mapping[str, str]]) -> Iterator[Doubt]:
    """Lists of categories that may be meant in another way than they are read."""
    for line in lines:
        entries = _entries(line.get("categories", ""))
        if len(entries) == 1:
            yield Doubt(f"The codebook gives {line['name']!r:.60} one category alone: write several as a; b; c.")
        elif entries and all(re.match(r"\s*-?\d+\s*[-:).–]\s*[^\W\d]", entry) for entry in entries):
            what = f"Categories of {line['name']!r:.60} seem to be codes with labels, and are read as they stand"
            yield Doubt(f"{what}: write 1 = male; 2 = female where cells hold the codes alone.")


def _column(line: Mapping[str, str], target: str | None) -> ColumnDraft:
    """What a line says."""
    name, field, said = line["name"], line["name"][:60], " ".join(line.get("type", "").lower().split())
    kind, rule = ("date", said.split()[1:]) if said.split()[:1] == ["date"] else (said, [])
    if kind not in _HELD:
        raise SchemaError(f"The type {said!r:.40} is not known.", field=field, remedy=f"Write {_TYPES}.")
    if lost := [column for column, cell in line.items() if cell and column not in _HELD[kind]]:
        which = f"the type {kind!r}" if kind else "a column without a type"
        remedy = "Leave that cell empty, or give another type."
        raise SchemaError(f"The codebook gives {lost[0]!r}, which {which} does not hold.", field=field, remedy=remedy)
    if kind == "leave out":
        return ColumnDraft(name, Use.LEFT_OUT)
    if kind == "date" and name == target:
        raise SchemaError("A date cannot be predicted.", field=field, remedy="Choose another target, or give its classes.")

    def cell(column: str, read: Callable[[str], Any], empty: Any = None) -> Any:
        try:
            return read(line[column]) if line.get(column) else empty
        except DpvizError as error:
            raise SchemaError(error.what, field=f"{field}, {column}", remedy=error.remedy) from None

    missing = cell("missing", codes_in, ())
    if not kind:
        return ColumnDraft(name, missing_codes=missing)
    if kind == "categories":
        instead = line.get("if missing") or None, line.get("if unknown") or None
        lists = {"categories": cell("categories", codes_in, ()), "groups": cell("labels", groups_in, ())}
        draft = ColumnDraft(name, Use.CATEGORIES, missing_codes=missing, **lists)
        return replace(draft, missing_as=instead[0], unknown_as=instead[1])
    date = _date_rule(rule, field) if kind == "date" else {}
    usual = PARTS[date["part"]] if date and date["part"] != "year" else None
    low, high = (cell(end, number_in, number) for end, number in zip(("low", "high"), usual or (None, None), strict=True))
    how: dict[str, Any] = {"unit": line.get("unit", ""), "whole": kind != "number", "missing_codes": missing, **date}
    return ColumnDraft(name, Use.NUMBER, low, high, missing_number=cell("if missing", _stand_in), **how)


def _stand_in(text: str) -> float | str:
    """A number, or the middle of the range."""
    return MIDDLE if text.lower() == MIDDLE else number_in(text)


def _date_rule(words: Sequence[str], field: str) -> dict[str, str]:
    """What a date becomes, how it is written, and since when days count: of each at most one word, in any order."""
    rule: dict[str, str] = {}
    for word in words:
        key = "part" if word in PARTS else "order" if word in ORDERS else "since"
        if key in rule or (key == "since" and not re.fullmatch(r"\d{4}-\d\d-\d\d", word)):
            remedy = f"After date write one of {', '.join(PARTS)}, one of {', '.join(ORDERS)}, for days also a day: 2020-01-01."
            raise SchemaError(f"The rule of a date, {' '.join(words)!r:.40}, is not known.", field=field, remedy=remedy)
        rule[key] = word
    return {"part": "year", **rule}


# --- templates


def codebook_template(names: Iterable[str], schema: Schema | None = None) -> str:
    """A codebook as CSV to fill in, with a line per column; with what `schema` declares where one is given.

    Without one, lines whose names begin with "# example" show how columns are described. They are about no column, and are
    not read. What a schema read from the data is left empty, since all that a codebook says counts as declared. Raises
    ParameterError for names that are not texts.
    """
    names = list(names)
    if not all(isinstance(name, str) for name in names):
        raise ParameterError("codebook_template", "names", names, "a list of texts")
    if schema is not None:
        known = {column.name: of_column(column) for column in (*schema.features, schema.target)}
        columns = [known.get(name, ColumnDraft(name, Use.LEFT_OUT)) for name in names]
        return codebook_text(columns, schema.target.name, schema.person)
    lines = [dict(zip(COLUMNS, line.split(","), strict=True)) for line in _EXAMPLES]
    return _text([*({**line, "name": EXAMPLE + line["name"]} for line in lines), *({"name": name} for name in names)])


def codebook_text(columns: Iterable[ColumnDraft], target: str | None, person: str | None) -> str:
    """What descriptions of columns declare, complete or not, as CSV. What was read from the data is left empty."""
    return _text(_line(column, {target: "target", person: "person"}.get(column.name)) for column in columns)


def _text(lines: Iterable[Mapping[str, Any]]) -> str:
    return csv_text(COLUMNS, [[_kept(line.get(column)) for column in COLUMNS] for line in lines])


def _kept(cell: Any) -> Any:
    """The cell with one more apostrophe where reading would take away its own."""
    return f"'{cell}" if isinstance(cell, str) and unguarded(cell) != cell else cell


#: How columns of five kinds are described.
_EXAMPLES = (
    "age,integer,18,99,,,999; k.A.,,,years,",
    "ward,categories,,,internal medicine; surgery,int. med. = internal medicine,,,,,",
    "admitted,date month dmy,1,12,,,,,,,",
    "patient,leave out,,,,,,,,,person",
    "readmitted,categories,,,no; yes,0 = no; 1 = yes,,,,,target",
)


def _line(column: ColumnDraft, role: str | None) -> dict[str, Any]:
    def said(field: str, empty: Any = None) -> Any:
        return empty if field in column.read_now else getattr(column, field)

    line = {"name": column.name, "missing": list_text(said("missing_codes", ())), "role": role}
    if column.use in (None, Use.LEFT_OUT) or "kind" in column.read_now:
        return {**line, "type": "leave out" if column.use is Use.LEFT_OUT else None}
    if column.use is Use.CATEGORIES:
        lists = {"categories": list_text(said("categories", ())), "labels": groups_text(said("groups", ()))}
        instead = {"if missing": said("missing_as"), "if unknown": said("unknown_as")}
        return {**line, "type": "categories", **lists, **({} if role == "target" else instead)}
    kind = "date" if column.part else "integer" if said("whole") else "number"
    rule = [column.part, column.order, column.since if column.part == "days" else ""] if column.part else []
    ends = {"low": _unmistakable(said("low")), "high": _unmistakable(said("high"))}
    instead = {} if role == "target" else {"if missing": said("missing_number")}
    return {**line, "type": " ".join(filter(None, [kind, *rule])), **ends, **instead, "unit": said("unit")}


def _unmistakable(number: float | None) -> float | str | None:
    """A number that nobody takes for another: 12.3450 rather than 12.345."""
    return f"{number}0" if number is not None and re.fullmatch(r"-?[1-9]\d{0,2}\.\d{3}", str(number)) else number


# --- lists in one cell, of a codebook or of the grid of the Data page
#
# Entries stand one per line, or between semicolons; where there is neither, between bars or commas. What belongs to an entry,
# such as a semicolon or an equals sign, stands in quotes: "a; b"; c. In <=50K none are needed, for <= is no equals sign.

_QUOTED = r'(?<![^\s;|,=])"(?:[^"]|"")*"(?=\s*(?:[;|,=]|$))'
_EQUALS = r"(?<![<>!=])=(?!=)"


def listed_in(text: str) -> tuple[str, ...]:
    """The entries, each once."""
    return tuple(dict.fromkeys(filter(None, map(_whole, _entries(text)))))


def codes_in(text: str) -> tuple[str, ...]:
    """The entries, each once; of "1 = male" the code.

    Raises SchemaError for an equals sign with something else than a code before it, or nothing behind, or "1, male | 2, female".
    """
    entries, codes = _entries(text), []
    if len(entries) > 1 and ";" not in text and "|" in text and all(re.match(r"\s*-?\d+,\s*\S", one) for one in entries):
        remedy = "Write each code, =, and its label, such as 1 = male; 2 = female."
        raise SchemaError("The entries seem to be codes and labels as REDCap writes them.", remedy=remedy)
    for entry in entries:
        code, *label = _split(entry, _EQUALS, at_most=2)
        if label and not (label[0].strip() and re.fullmatch(rf"[\w.+-]+|{_QUOTED}", code.strip())):
            remedy = "Write the code, =, and the label, such as 1 = male; or the value in quotes if = belongs to it."
            raise SchemaError(f"{_whole(entry)!r:.60} is neither a value nor a code with its label.", remedy=remedy)
        codes.append(_whole(code))
    return tuple(dict.fromkeys(filter(None, codes)))


def groups_in(text: str) -> tuple[tuple[str, str], ...]:
    """The pairs of "M = m; male = m": a text, and the category it counts as. Raises SchemaError for an entry that is none."""
    pairs = []
    for entry in _entries(text):
        parts = _split(entry, " = ")
        parts = list(map(_whole, parts if len(parts) == 2 else _split(entry, _EQUALS)))
        if len(parts) != 2 or not all(parts):
            remedy = "Write the text, =, and a category, such as: M = m; male = m."
            raise SchemaError(f"{_whole(entry)!r:.60} does not say which category it counts as.", remedy=remedy)
        pairs.append((parts[0], parts[1]))
    return tuple(dict.fromkeys(pairs))


def list_text(values: Iterable[str]) -> str:
    """The values as `codes_in` and `listed_in` read them."""
    values = tuple(values)
    return "; ".join(_entry(value, len(values)) for value in values)


def groups_text(groups: Iterable[Sequence[str]]) -> str:
    """The pairs as `groups_in` reads them."""
    groups = tuple(groups)
    return "; ".join(f"{_entry(text, len(groups))} = {_entry(label, len(groups))}" for text, label in groups)


def _entries(text: str) -> list[str]:
    mark = next((mark for mark in ("\n", ";", r"\|") if len(_split(text, mark)) > 1), ",")
    return [part for part in _split(text, mark) if part.strip()]


def _split(text: str, mark: str, *, at_most: int = 0) -> list[str]:
    """The parts between marks (a pattern) that are not in quotes."""
    parts: list[str] = []
    start = 0
    for found in re.finditer(f"{_QUOTED}|{mark}", text, re.MULTILINE):
        if not found[0].startswith('"') and len(parts) + 1 != at_most:
            parts.append(text[start : found.start()])
            start = found.end()
    return [*parts, text[start:]]


def _whole(part: str) -> str:
    part = part.strip()
    return part[1:-1].replace('""', '"') if re.fullmatch(_QUOTED, part) else part


def _entry(value: str, n_entries: int) -> str:
    """The value, in quotes where it would be taken apart: by a comma or a bar only where no semicolon stands between entries."""
    marks = ';\n"' if n_entries > 1 else ';|,\n"'
    is_plain = not set(value) & set(marks) and not re.search(_EQUALS, value)
    return value if is_plain else '"{}"'.format(value.replace('"', '""'))
