"""Codebooks: what is publicly known about the columns of a table, in CSV, one line per column and nothing guessed.

People write a codebook from public knowledge, not from the rows, so everything in it counts as declared. What a line says is kept
or refused, never dropped. `docs/reference/codebook.md` describes the form.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpviz.errors import DpvizError, ParameterError, SchemaError
from dpviz.io.csv import read_lines
from dpviz.io.csv_text import csv_text, remove_guard
from dpviz.io.limits import MAX_SCHEMA_BYTES
from dpviz.io.options import ReadOptions
from dpviz.io.text import GZIP, UTF16_MARKS, Source, encoding_of, gunzip, name_of, read_bytes
from dpviz.table.column_draft import MIDDLE, ColumnDraft, Use, draft_of, feature_of, read_number, target_of
from dpviz.table.dates import ORDERS, PARTS
from dpviz.table.notes import Doubt, warn_of_doubts
from dpviz.table.schema import Schema

#: The columns of a codebook, in the order of a template; only `name` must be there.
COLUMNS = ("name", "type", "low", "high", "categories", "labels", "missing", "if missing", "if unknown", "unit", "role")
_MISSING = {"missing": "missing_codes"}
_NUMBER = {"low": "low", "high": "high", **_MISSING, "if missing": "missing_number", "unit": "unit"}
_CATEGORIES = {"categories": "categories", "labels": "groups", **_MISSING, "if missing": "missing_as", "if unknown": "unknown_as"}
#: By type: the columns that a line may fill, and what they are of a `ColumnDraft`.
_FIELDS: dict[str, dict[str, str]] = {"": _MISSING, **dict.fromkeys(("number", "integer", "date"), _NUMBER)}
_FIELDS["categories"] = _CATEGORIES
_LEFT_OUT = "leave out"


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
    warn_of_doubts(book.notes)
    if book.target is None:
        remedy = "Write target in its column 'role', or give target=."
        raise SchemaError("The codebook does not say which column is the target.", remedy=remedy)
    columns = {column.name: column for column in book.columns if column.name != book.person and column.use is not Use.LEFT_OUT}
    for column in columns.values():
        if lacking := column.lacks():
            what = "does not say what it is" if column.use is None else f"gives no {lacking}"
            remedy = "Give it, or the type 'leave out'."
            raise SchemaError(f"The codebook {what}.", field=column.name[:60], remedy=remedy)
    if book.target not in columns:
        what = f"The codebook has no line for the target {book.target!r:.60}, or leaves it out."
        raise SchemaError(what, field=book.target[:60], remedy="Add one, or name another target.")
    goal = columns.pop(book.target)
    return Schema(tuple(map(feature_of, columns.values())), target_of(goal), n_public, person=book.person)


def read_codebook(source: Source, *, target: str | None = None) -> Codebook:
    """What a codebook says; raises what `import_codebook` raises for a file. `target` is predicted whatever it says.

    Rows with missing or unknown cells of which it says nothing are dropped.
    """
    raw = read_bytes(source, MAX_SCHEMA_BYTES)
    raw = gunzip(raw, MAX_SCHEMA_BYTES) if raw.startswith(GZIP) else raw
    if raw.startswith(b"PK") or raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        kind = "a Frictionless description" if re.search(rb'"(fields|resources)"\s*:\s*\[', raw) else "JSON"
        kind = "a workbook" if raw.startswith(b"PK") else kind
        remedy = "Give CSV with a line per column, as a spreadsheet saves it; load_schema reads a schema in JSON."
        raise SchemaError(f"This is {kind}, not a codebook.", remedy=remedy)
    # It is public, so its encoding may follow from all of it, and a cell in quotes may hold several lines.
    encoding = None if raw.startswith(UTF16_MARKS) else encoding_of(raw, None)[0]
    options = ReadOptions(name_of(source, None), max_rows=20_000, max_columns=200, encoding=encoding, by_record=True)
    table = read_lines(raw, options)  # a line per column of the table
    warn_of_doubts(table.notes)
    names = [name.lower() for name in table.names]
    if strange := [place for place, name in enumerate(names) if name not in COLUMNS]:
        what = f"Column {strange[0] + 1} is not known."
        if "variable / field name" in names:
            what = "This is a data dictionary of REDCap, not a codebook."
        elif {"name", "type"} <= {*names}:  # a header; the first line of rows given by mistake may be a row, which is not quoted
            what = f"Column {strange[0] + 1}, {table.names[strange[0]]!r:.40}, is not known."
        raise SchemaError(what, remedy=f"Call the columns of a codebook {', '.join(COLUMNS)}; leave others out.")
    if "name" not in names:
        raise SchemaError("The codebook has no column 'name'.", remedy="Add it, with the names of the table's columns.")
    cells = [map(remove_guard, column.texts_with()) for column in table.columns]  # NA is a text here
    lines, roles = dict[str, dict[str, str]](), dict[str, str]()
    for place, values in enumerate(zip(*cells, strict=True), start=1):
        line = dict(zip(names, values, strict=True))
        name, role = line["name"], line.get("role", "").lower()
        what, remedy = "", "Write target for one column, and person for one."
        if not name:
            what, remedy = f"Line {place} below the names of the codebook's columns names no column.", "Name it."
        elif name in lines:
            what, remedy = f"The codebook has two lines for {name!r:.60}.", "Keep one of them."
        elif role not in ("", "target", "person"):
            what = "The codebook gives a role that is not known."
        elif role in roles:
            what = f"The codebook names two columns as {role}."
        if what:
            raise SchemaError(what, field=name[:60], remedy=remedy)
        lines[name] = line
        roles |= {role: name} if role else {}
    target = target or roles.get("target")
    columns = tuple(_column(line, is_target=name == target) for name, line in lines.items())
    alone = (name for name, line in lines.items() if len(_entries(line.get("categories", ""))) == 1)
    notes = [Doubt(f"The codebook gives {name!r:.60} one category alone: write several as a; b; c.") for name in alone]
    if encoding == "cp1252":
        notes.append(Doubt("The codebook is not UTF-8: read as Windows-1252. Check its letters, or save it in UTF-8."))
    return Codebook(columns, target, roles.get("person"), tuple(notes))


def _column(line: Mapping[str, str], *, is_target: bool) -> ColumnDraft:
    """What a line says."""
    name, field = line["name"], line["name"][:60]
    kind, *words = line.get("type", "").lower().split() or [""]
    if [kind, *words] == _LEFT_OUT.split():
        return ColumnDraft(name, Use.LEFT_OUT)
    if kind not in _FIELDS or (words and kind != "date"):
        remedy = f"Write number, integer, categories, date (such as date month dmy) or {_LEFT_OUT}."
        raise SchemaError(f"The type {line['type']!r:.40} is not known.", field=field, remedy=remedy)
    if kind == "date" and is_target:
        raise SchemaError("A date cannot be predicted.", field=field, remedy="Choose another target, or give its classes.")
    for column, cell in line.items():
        if cell and column not in ("name", "type", "role", *_FIELDS[kind]):
            which = f"the type {kind!r}" if kind else "a column without a type"
            remedy = "Leave that cell empty, or give another type."
            raise SchemaError(f"The codebook gives {column!r}, which {which} does not hold.", field=field, remedy=remedy)
    values: dict[str, Any] = {ours: None for column, ours in _FIELDS[kind].items() if column.startswith("if ")}
    if kind == "date":
        values |= _date_rule(words, field)
        usual = PARTS[values["part"]] if values["part"] != "year" else None
        values |= zip(("low", "high"), usual or (None, None), strict=True)
    for column, name_of_field in _FIELDS[kind].items():
        if cell := line.get(column, ""):
            try:
                values[name_of_field] = _READERS.get(name_of_field, str)(cell)
            except DpvizError as error:
                raise SchemaError(error.what, field=f"{field}, {column}", remedy=error.remedy) from None
    use = Use.CATEGORIES if kind == "categories" else Use.NUMBER if kind else None
    return ColumnDraft(name, use, whole=kind in ("integer", "date"), **values)


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

    What a schema read from the data is left empty, since all that a codebook says counts as declared. Raises ParameterError for
    names that are not texts.
    """
    names = list(names)
    if not all(isinstance(name, str) for name in names):
        raise ParameterError("codebook_template", "names", names, "a list of texts")
    if schema is None:
        return codebook_text(map(ColumnDraft, names), None, None)
    known = {column.name: draft_of(column) for column in (*schema.features, schema.target)}
    columns = [known.get(name, ColumnDraft(name, Use.LEFT_OUT)) for name in names]
    return codebook_text(columns, schema.target.name, schema.person)


def codebook_text(columns: Iterable[ColumnDraft], target: str | None, person: str | None) -> str:
    """What descriptions of columns declare, complete or not, as CSV. What was read from the data is left empty."""
    lines = [_line(column, {target: "target", person: "person"}.get(column.name)) for column in columns]
    cells = [[line.get(column) for column in COLUMNS] for line in lines]
    for line in cells:  # one more apostrophe where reading would take away its own
        line[:] = (f"'{cell}" if isinstance(cell, str) and remove_guard(cell) != cell else cell for cell in line)
    return csv_text(COLUMNS, cells)


def _line(column: ColumnDraft, role: str | None) -> dict[str, Any]:
    kind = _LEFT_OUT if column.use is Use.LEFT_OUT else ""
    if column.use in (Use.NUMBER, Use.CATEGORIES) and "kind" not in column.read_now:
        is_whole = column.whole and "whole" not in column.read_now
        kind = "categories" if column.use is Use.CATEGORIES else "date" if column.part else "integer" if is_whole else "number"
    line: dict[str, Any] = {"name": column.name, "type": kind, "role": role}
    if kind == "date":
        line["type"] = " ".join(filter(None, [kind, column.part, column.order, column.since if column.part == "days" else ""]))
    for name, field in _FIELDS.get(kind, _MISSING).items():
        if field not in column.read_now and not (role == "target" and name.startswith("if ")):
            value = getattr(column, field)
            line[name] = value if value is None else _WRITERS.get(field, str)(value)
    return line


def _unmistakable(number: float) -> float | str:
    """A number that nobody takes for another: 12.3450 rather than 12.345."""
    return f"{number}0" if re.fullmatch(r"-?[1-9]\d{0,2}\.\d{3}", str(number)) else number


# --- lists in one cell, of a codebook or of the grid of the Data page
#
# Entries stand one per line, or between semicolons; where there is neither, between bars or commas. What belongs to an entry,
# such as a semicolon or an equals sign, stands in quotes: "a; b"; c. In <=50K none are needed, for <= is no equals sign.

_QUOTED = r'(?<![^\s;|,=])"(?:[^"]|"")*"(?=\s*(?:[;|,=]|$))'
_EQUALS = r"(?<![<>!=])=(?!=)"
_CODE = rf"[\w.+-]+|{_QUOTED}"
_LABELLED = re.compile(r"\s*-?\d+\s*[-:).–,]\s*[^\W\d]")


def codes_in(text: str) -> tuple[str, ...]:
    """The entries, each once; of "1 = male" the code.

    Raises SchemaError for an equals sign with something else than a code before it, or nothing behind; where entries beside
    codes with labels are no codes, or one code has two labels; and where all entries seem to be codes with labels: "1: male".
    """
    entries = _entries(text)
    if len(entries) > 1 and all(map(_LABELLED.match, entries)):
        remedy = "Write 1 = male; 2 = female where cells hold the codes, or each value in quotes."
        raise SchemaError("The entries seem to be codes with labels, such as REDCap writes them.", remedy=remedy)
    parts = [[part.strip() for part in _split(entry, _EQUALS)] for entry in entries]
    has_labels, label_of = any(len(part) > 1 for part in parts), dict[str, list[str]]()
    for entry, (code, *label) in zip(entries, parts, strict=True):
        is_code = not has_labels or re.fullmatch(_CODE, code)
        if not is_code or label[:1] == [""] or label_of.setdefault(_whole(code), label) != label:
            remedy = "Write the code, =, and the label, such as 1 = male; or the value in quotes if = belongs to it."
            raise SchemaError(f"{_whole(entry)!r:.60} is neither a value nor a code with its label.", remedy=remedy)
    return tuple(filter(None, label_of))


def groups_in(text: str) -> tuple[tuple[str, str], ...]:
    """The pairs of "M = m; male = m": a text, and the category it counts as. Raises SchemaError for an entry that is none."""
    pairs = []
    for entry in _entries(text):
        spelling, *category = map(_whole, _split(entry, _EQUALS))
        if not spelling or len(category) != 1 or not category[0]:
            remedy = "Write the text, =, and a category, such as: M = m; male = m."
            raise SchemaError(f"{_whole(entry)!r:.60} does not say which category it counts as.", remedy=remedy)
        pairs.append((spelling, category[0]))
    return tuple(dict.fromkeys(pairs))


def list_text(values: Iterable[str]) -> str:
    """The values as `codes_in` reads them."""
    values = tuple(values)
    return "; ".join(_entry(value, is_alone=len(values) == 1) for value in values)


def groups_text(groups: Iterable[Sequence[str]]) -> str:
    """The pairs as `groups_in` reads them."""
    return "; ".join(" = ".join(_entry(text, is_alone=True) for text in pair) for pair in groups)


def _entries(text: str) -> list[str]:
    parts = next((parts for mark in ("\n", ";", r"\|", ",") if len(parts := _split(text, mark)) > 1), [text])
    return [part for part in parts if part.strip()]


def _split(text: str, mark: str) -> list[str]:
    """The parts between marks (a pattern) that are not in quotes."""
    ends = [match.span() for match in re.finditer(f"{_QUOTED}|{mark}", text, re.MULTILINE) if match[0][0] != '"']
    starts = [0, *(end for _, end in ends)]
    return [text[start:end] for start, (end, _) in zip(starts, [*ends, (len(text), 0)], strict=True)]


def _whole(part: str) -> str:
    part = part.strip()
    return part[1:-1].replace('""', '"') if re.fullmatch(_QUOTED, part) else part


def _entry(value: str, *, is_alone: bool) -> str:
    """The value, in quotes where it would be taken apart: by a comma or a bar only where no semicolon stands between entries."""
    is_plain = not set(value) & set(';|,\n"' if is_alone else ';\n"') and not re.search(_EQUALS, value)
    return value if is_plain and not _LABELLED.match(value) else '"{}"'.format(value.replace('"', '""'))


#: How a field is read from a cell, and written to one; others are texts.
_READERS: dict[str, Callable[[str], Any]] = {"categories": codes_in, "groups": groups_in, "missing_codes": codes_in}
_READERS |= {"low": read_number, "high": read_number}
_READERS["missing_number"] = lambda text: MIDDLE if text.lower() == MIDDLE else read_number(text)
_WRITERS: dict[str, Callable[[Any], Any]] = {"categories": list_text, "groups": groups_text, "missing_codes": list_text}
_WRITERS |= dict.fromkeys(("low", "high", "missing_number"), _unmistakable)
