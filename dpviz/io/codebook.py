"""Codebooks: what is publicly known about the columns of a table, one line per column, as people keep them in CSV, Excel or JSON.

A codebook is written by people from public knowledge, not read from the rows, so everything in it counts as declared.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dpviz.errors import DpvizError, ParameterError, SchemaError
from dpviz.io.csv import read_csv
from dpviz.io.csv_text import csv_text, unguarded
from dpviz.io.limits import LARGEST_SCHEMA
from dpviz.io.lists import codes_in, groups_in, groups_text, list_text
from dpviz.io.records import TextColumn
from dpviz.io.tables.read import read_table
from dpviz.io.text import Source, name_of, read_bytes
from dpviz.table.column_draft import ColumnDraft, Use, feature_of, number_in, target_of
from dpviz.table.dates import ORDERS, PARTS
from dpviz.table.raw import RawColumn
from dpviz.table.schema import Feature, Schema, Target
from dpviz.table.strict_json import parse_json

#: Field -> how codebooks call its column, in small letters; the first is how we do.
_HEADERS = {
    "name": "name, variable, variable name, var, column, column name, field, field name, feature, spalte, merkmal",
    "kind": "type, kind, data type, datatype, variable type, level, measurement level, scale, typ, datentyp, skala",
    "low": "min, minimum, low, lower, lower bound, from, von",
    "high": "max, maximum, high, upper, upper bound, to, bis",
    "values": "values, categories, codes, levels, classes, enum, allowed values, value labels, range, werte, kategorien",
    "missing_codes": "missing codes, missing, missing values, missing value, missingvalues, na codes, fehlend, fehlende werte",
    "unit": "unit, units, einheit",
    "part": "date as, date part, datum als",
    "order": "date written, date order",
    "since": "date since, days since",
    "groups": "groups, grouping, also written, synonyms, recode, zusammengefasst",
    "missing_as": "if missing, missing as",
    "unknown_as": "if unknown, unknown as",
    "role": "role, rolle",
}
_KINDS = {
    "number": "number, numeric, numerical, float, double, decimal, real, continuous, metric, interval, ratio, zahl, numerisch",
    "whole": "integer, int, whole, whole number, count, discrete, year, ganzzahl",
    "categories": "categories, categorical, category, factor, string, text, str, char, nominal, ordinal, boolean, bool, binary, "
    "enum, kategorie, kategorial",
    "date": "date, datetime, timestamp, datum",
    "leave out": "leave out, id, identifier, key, ignore, skip, drop, weglassen",
}
_FIELD_OF = {word: field for field, words in _HEADERS.items() for word in words.split(", ")}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split(", ")}
_RANGE = re.compile(r"[\[(]?\s*([-+−]?[\d.,'’ ]+?)\s*(?:-|–|\.\.\.?|…|to|bis|;)\s*([-+−]?[\d.,'’ ]+?)\s*[\])]?")
_TRUTH = ("false", "true")
Ends = tuple[float | None, float | None]
#: What the name of a line begins with that shows how one is written: it is about no column.
EXAMPLE = "# example: "
_ROLES = {"target": "target", "ziel": "target", "person": "person", "person id": "person", "": ""}


#: How we call the columns of a codebook, in order.
HEADER = tuple(words.split(", ")[0] for words in _HEADERS.values())


@dataclass(frozen=True, slots=True)
class Codebook:
    """A codebook as it was read: a description per column, complete or not.

    `target` and `person` are the columns that it says are to be predicted and whose row it is; None where it does not say.
    `unread` are columns of the codebook itself that mean nothing here.
    """

    columns: tuple[ColumnDraft, ...]
    target: str | None = None
    person: str | None = None
    unread: tuple[str, ...] = ()


def import_codebook(
    source: Source, *, target: str | None = None, sheet: str | int | None = None, n_public: int | None = None
) -> Schema:
    """The schema that a codebook declares. A column with the role person becomes its `person`: `encode` then limits rows.

    Parameters
    ----------
    source : str, Path, bytes or binary file
        CSV or Excel with a line per column of the table (name, type, min, max, values, missing codes, in usual spellings), or
        JSON: a list of such objects, or a Frictionless Table Schema. Of values such as "1=yes; 2=no" the codes count, for cells
        hold them; groups such as "M=m; male=m" say which further texts count as which value.
    target : str, optional
        The column to predict; by default the one whose role is target.
    sheet : str or int, optional
        Of a workbook.
    n_public : int, optional
        A row count that may be known.

    Raises
    ------
    TableError, DocumentError
        The file cannot be read.
    SchemaError, DpvizError
        A line says too little, contradicts itself, or holds a number that may mean two; the target is not in it.
    """
    book = read_codebook(source, sheet=sheet, target=target)
    columns = {column.name: column for column in book.columns if column.name != book.person}
    if (target := book.target) is None:
        remedy = "Write target in its column 'role', or give target=."
        raise SchemaError("The codebook does not say which column is the target.", remedy=remedy)
    if target not in columns:
        what = f"The codebook has no line for the target {target!r:.60}."
        raise SchemaError(what, field=target, remedy="Add one, or name another target.")
    _require_complete(columns[target])
    features = [column for column in columns.values() if column.name != target and column.use is not Use.LEFT_OUT]
    for column in features:
        _require_complete(column)
    return Schema(tuple(map(feature_of, features)), target_of(columns[target]), n_public, person=book.person)


def _require_complete(column: ColumnDraft) -> None:
    """Raise SchemaError for what the codebook leaves open."""
    name = column.name[:60]
    if column.use in (None, Use.LEFT_OUT):
        raise SchemaError("The codebook does not say what it is.", field=name, remedy="Give its type, or 'leave out'.")
    if lacking := column.lacks():
        what = {"low": "min", "high": "max", "categories": "values"}[lacking.split()[0]]
        remedy = f"Give {what}, or the type 'leave out'."
        raise SchemaError(f"The codebook gives no {what}.", field=name, remedy=remedy)


def codebook_template(names: Iterable[str], schema: Schema | None = None) -> str:
    """A codebook as CSV to fill in, with a line per column; with what `schema` declares where one is given.

    Without one, lines whose names begin with "# example" show how columns are described. They are about no column, and are
    not read. Raises ParameterError for names that are not texts.
    """
    names = list(names)
    if not all(isinstance(name, str) for name in names):
        raise ParameterError("codebook_template", "names", names, "a list of texts")
    if schema is None:
        return csv_text(HEADER, [*map(_example, _EXAMPLES), *(_line(name, None) for name in names)])
    known = {column.name: column for column in (*schema.features, schema.target)}
    return csv_text(HEADER, [_line(name, known.get(name), schema) for name in names])


#: How columns of four kinds are described.
_EXAMPLES: tuple[dict[str, str], ...] = (
    {"name": "age", "kind": "whole", "low": "18", "high": "99", "missing_codes": "999; k.A.", "unit": "years"},
    {"name": "ward", "kind": "categories", "values": "internal medicine; surgery", "groups": "int. med. = internal medicine"},
    {"name": "admitted", "kind": "date", "low": "1", "high": "12", "part": "month", "order": "dmy"},
    {"name": "patient", "kind": "leave out", "role": "person"},
    {"name": "readmitted", "kind": "categories", "values": "no; yes", "groups": "0 = no; 1 = yes", "role": "target"},
)


def _example(line: dict[str, str]) -> list[str | None]:
    return [f"{EXAMPLE}{line[field]}" if field == "name" else line.get(field) for field in _HEADERS]


def _line(name: str, column: Feature | Target | None, schema: Schema | None = None) -> list[Any]:
    said = {} if column is None else column.to_dict()
    kind = {"numeric": "whole" if said.get("whole") else "number", "categorical": "categories", "classes": "categories"}
    values = said.get("categories") or said.get("classes") or ()
    return [
        name,
        kind.get(said.get("kind", ""), said.get("kind") or (None if schema is None else "leave out")),
        _unmistakable(said.get("low")),
        _unmistakable(said.get("high")),
        list_text(values) or None,
        list_text(said.get("missing_codes", ())) or None,
        *(said.get(field) or None for field in ("unit", "part", "order")),
        said.get("since") if said.get("part") == "days" else None,
        groups_text(said.get("groups", ())) or None,
        *(said.get(field) for field in ("missing_as", "unknown_as")),
        None if schema is None else "target" if name == schema.target.name else "person" if name == schema.person else None,
    ]


def _unmistakable(number: float | None) -> float | str | None:
    """A number that nobody takes for another: 12.3450 rather than 12.345."""
    return f"{number}0" if number is not None and re.fullmatch(r"-?[1-9]\d{0,2}\.\d{3}", str(number)) else number


# --- lines


def read_codebook(source: Source, *, sheet: str | int | None = None, target: str | None = None) -> Codebook:
    """What a codebook says; raises what `import_codebook` raises for a file. `target` is predicted whatever it says.

    Nothing that a line says is dropped: where its type cannot hold it, the line contradicts itself. Of missing and unknown cells
    of which it says nothing, rows are dropped.
    """
    raw = read_bytes(source, LARGEST_SCHEMA)
    if raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return _read(_from_json(parse_json(raw)), True, target)
    options: dict[str, Any] = {"name": name_of(source, None), "max_rows": 20_000, "max_columns": 200}
    if raw.startswith(b"PK"):
        table = read_table(raw, sheet=sheet, **options)
    else:  # it is public, so a cell in quotes may hold several lines
        table = read_csv(raw, row_wise=False, **options)
    _require_no_redcap(table.names)
    fields = [_FIELD_OF.get(_plain(name), "") for name in table.names]
    if "name" not in fields:
        remedy = f"Call the column of names 'name'; others may be {', '.join(HEADER[1:])}."
        raise SchemaError("The codebook has no column with the names of the table's columns.", remedy=remedy)
    columns = {
        field: _cells(column)
        for field, column in zip(fields, table.columns, strict=True)
        if field
    }
    lines = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    unread = tuple(name for name, field in zip(table.names, fields, strict=True) if not field)
    return _read(lines, raw.startswith(b"PK"), target, unread)  # a workbook holds numbers, which have one meaning


def _cells(column: RawColumn) -> list[str | None]:
    """The cells; in a file of text NA is a text, for a column or a category may be called so."""
    if isinstance(column, TextColumn):
        return [unguarded(text) or None for text in column.written()]
    return [None if code < 0 else column.texts[code] for code in column.codes.tolist()]


def _require_no_redcap(names: Sequence[str]) -> None:
    """Raise SchemaError for a data dictionary of REDCap, which has columns of its own."""
    ours = {"Variable / Field Name": "name", "Choices, Calculations, OR Slider Labels": "values"}
    ours |= {"Text Validation Min": "min", "Text Validation Max": "max"}
    found = {theirs: name for theirs, name in ours.items() if theirs in names}
    if len(found) > 1:
        what = "This is a data dictionary of REDCap, not a codebook."
        listed = ", ".join(f"{theirs!r} {name}" for theirs, name in found.items())
        remedy = f"Call {listed}, and add type (number, integer, categories, date or leave out) and role (target)."
        raise SchemaError(what, remedy=remedy)


def _read(
    lines: Iterable[Mapping[str, str | None]], by_program: bool, target: str | None, unread: tuple[str, ...] = ()
) -> Codebook:
    about = [line for line in lines if line.get("name") and not str(line["name"]).startswith(EXAMPLE.strip())]
    roles = {role: _in_role(role, about) for role in ("target", "person")}
    target = target or roles["target"]
    return Codebook(_checked([_column(line, by_program, target) for line in about]), target, roles["person"], unread)


def _in_role(role: str, lines: Iterable[Mapping[str, str | None]]) -> str | None:
    """The one column in this role."""
    said = [(str(line["name"]).strip(), _plain(line.get("role") or "")) for line in lines]
    strange = next((name for name, word in said if word not in _ROLES), None)
    if strange is not None:
        raise SchemaError("The codebook gives a role that is not known.", field=strange[:60], remedy="Write target or person.")
    names = [name for name, word in said if _ROLES[word] == role]
    if len(names) > 1:
        raise SchemaError(f"The codebook names two columns as {role}.", field=names[1][:60], remedy="Keep one of them.")
    return names[0] if names else None


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w]+|_", " ", text.lower()).split())


def _checked(columns: Sequence[ColumnDraft]) -> tuple[ColumnDraft, ...]:
    seen: set[str] = set()
    for column in columns:
        if column.name in seen:
            what = f"The codebook has two lines for {column.name!r:.60}."
            raise SchemaError(what, field=column.name[:60], remedy="Keep one of them.")
        seen.add(column.name)
    return tuple(columns)


def _column(line: Mapping[str, str | None], by_program: bool, target: str | None) -> ColumnDraft:
    said = {field: (text or "").strip() for field, text in line.items()}
    name, kind, part = said["name"], _kind(said), said.get("part", "").lower()
    if kind == "leave out":
        return ColumnDraft(name, Use.LEFT_OUT)
    low, high = (_number(said, field, by_program) for field in ("low", "high"))
    if name == target and (part or kind == "date"):
        raise SchemaError("A date cannot be predicted.", field=name[:60], remedy="Choose another target, or give its classes.")
    if kind in ("number", "whole", "") and low is None and high is None and (found := _RANGE.fullmatch(said.get("values", ""))):
        low, high = (number_in(end, point_is_decimal=by_program) for end in found.groups())
        kind, said["values"] = kind or "number", ""
    field = f"{name[:60]}, values"
    values, is_open = codes_in(said.get("values", ""), field=field), low is None and high is None
    if not values and _plain(said.get("kind", "")) in ("boolean", "bool"):
        values = _TRUTH
    whole_codes = kind == "whole" and bool(values) and (name == target or (is_open and len(values) > 1))
    if kind == "categories" or whole_codes or (values and not kind and not part):
        use: Use | None = Use.CATEGORIES
    else:
        use = Use.NUMBER if kind or part or not is_open else None
    _require_held(said, use, kind == "date" or bool(part), values, (low, high))
    if use is Use.NUMBER and (kind == "date" or part):
        part = part or "year"
        usual = (None, None) if part == "year" else PARTS.get(part) or (None, None)
        low, high = (usual[place] if end is None else end for place, end in enumerate((low, high)))
    missing = said.get("missing_as", "")
    return ColumnDraft(
        name,
        use,
        low,
        high,
        said.get("unit", ""),
        whole=use is Use.NUMBER and bool(kind == "whole" or part),
        part=part,
        order=said.get("order", "").lower() or ORDERS[0],
        since=said.get("since", "") or "1970-01-01",
        missing_codes=codes_in(said.get("missing_codes", ""), field=f"{name[:60]}, missing codes"),
        categories=values,
        groups=groups_in(said.get("groups", ""), field=f"{name[:60]}, groups"),
        missing_number=number_in(missing) if missing and use is Use.NUMBER else None,
        missing_as=missing if missing and use is not Use.NUMBER else None,
        unknown_as=said.get("unknown_as", "") or None,
    )


def _require_held(said: Mapping[str, str], use: Use | None, is_date: bool, values: Sequence[str], ends: Ends) -> None:
    """Raise SchemaError for a cell that says what a column of this use cannot hold: it would be lost without a word."""
    lost: dict[Use | None, tuple[str, ...]] = {
        Use.NUMBER: ("values", "groups", "unknown_as", *(() if is_date else ("order", "since"))),
        Use.CATEGORIES: ("unit", "part", "order", "since", *(() if _within(values, ends) else ("low", "high"))),
    }
    kind = "categories" if use is Use.CATEGORIES else "a date" if is_date else "a number"
    for field in lost.get(use, ()):
        if said.get(field):
            what = f"The codebook gives {_HEADERS[field].split(',')[0]!r} for {kind}, which cannot hold it."
            raise SchemaError(what, field=said["name"][:60], remedy="Leave that cell empty, or give another type.")
    for field, known in {"part": tuple(PARTS), "order": ORDERS}.items():
        if said.get(field) and said[field].lower() not in known:
            what = f"{_HEADERS[field].split(',')[0]} = {said[field]!r:.40} is not known."
            raise SchemaError(what, field=said["name"][:60], remedy=f"Give one of {', '.join(map(repr, known))}.")


def _within(values: Sequence[str], ends: Ends) -> bool:
    """True where the values are numbers within a range, which then says nothing more."""
    low, high = (end if end is not None else other for end, other in zip(ends, (-math.inf, math.inf), strict=True))
    with suppress(DpvizError):
        return all(low <= number_in(value) <= high for value in values)  # type: ignore[operator]
    return False


def _number(said: Mapping[str, str], field: str, by_program: bool) -> float | None:
    if not said.get(field):
        return None
    try:
        return number_in(said[field], point_is_decimal=by_program)
    except DpvizError as error:
        raise SchemaError(error.what, field=f"{said['name'][:60]}, {field}", remedy=error.remedy) from None


def _kind(said: Mapping[str, str]) -> str:
    word = _plain(said.get("kind", ""))
    if word and word not in _KIND_OF:
        what = f"The type {word!r:.40} is not known."
        raise SchemaError(what, field=said["name"][:60], remedy="Write number, integer, categories, date or leave out.")
    return _KIND_OF.get(word, "")


def _from_json(document: Any) -> list[dict[str, str | None]]:
    """A list of objects, or a Frictionless Table Schema (also inside a resource's `schema`)."""
    if isinstance(document, dict) and isinstance(document.get("schema"), dict):
        document = document["schema"]
    lines = document.get("fields") if isinstance(document, dict) else document
    if not isinstance(lines, list) or not all(isinstance(line, dict) for line in lines):
        remedy = "Give a list of objects with 'name', or a Frictionless Table Schema with 'fields'."
        raise SchemaError("This JSON is no codebook.", remedy=remedy)
    common = document.get("missingValues", []) if isinstance(document, dict) else []
    return [_flat(line, common) for line in lines if line.get("name")]


def _flat(line: Mapping[str, Any], common: Any) -> dict[str, str | None]:
    limits = line.get("constraints") if isinstance(line.get("constraints"), dict) else {}
    missing = {"missing codes": line.get("missingValues", common)} if line.get("missingValues", common) else {}
    said = {**line, **limits, **missing}  # type: ignore[dict-item]
    if line.get("type") == "boolean" and "enum" not in said:
        said |= _boolean(line)
    return {field: _text(value) for key, value in said.items() if (field := _FIELD_OF.get(_plain(str(key))))}


def _boolean(line: Mapping[str, Any]) -> dict[str, str]:
    """False and true, with the spellings that the line lists; capitals make no difference to encoding."""
    usual = {"true": ["true", "1"], "false": ["false", "0"]}
    listed = [(text, word) for word in usual for text in map(str, line.get(f"{word}Values") or usual[word])]
    return {"groups": groups_text(dict.fromkeys(pair for pair in listed if pair[0].lower() not in usual))}


def _text(value: Any) -> str:
    if isinstance(value, list):
        return list_text(filter(None, (_text(item.get("value") if isinstance(item, dict) else item) for item in value)))
    if isinstance(value, bool):
        return _TRUTH[value]
    return "" if value is None or isinstance(value, dict) else str(value)
