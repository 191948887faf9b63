"""Codebooks: what is publicly known about the columns of a table, one line per column, as people keep them in CSV, Excel or JSON.

A codebook is written by people from public knowledge, not read from the rows, so everything in it counts as declared.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpviz.errors import DpvizError, SchemaError
from dpviz.io.csv_text import csv_text
from dpviz.io.limits import LARGEST_SCHEMA
from dpviz.io.tables.read import read_table
from dpviz.io.text import Source, name_of, read_bytes
from dpviz.table.dates import ORDERS, PARTS, DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema, Target
from dpviz.table.strict_json import parse_json
from dpviz.table.written_numbers import number_in

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
    "groups": "groups, grouping, also written, synonyms, recode, zusammengefasst",
    "missing_as": "if missing, missing as",
    "unknown_as": "if unknown, unknown as",
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


@dataclass(frozen=True)
class Entry:
    """One line of a codebook. `kind` is "number", "whole", "categories", "date", "leave out", or empty where it says nothing."""

    name: str
    kind: str = ""
    low: float | None = None
    high: float | None = None
    values: tuple[str, ...] = ()
    groups: tuple[tuple[str, str], ...] = ()
    missing_codes: tuple[str, ...] = ()
    unit: str = ""
    part: str = ""
    order: str = ""
    missing_as: str = ""
    unknown_as: str = ""


#: How we call the columns of a codebook, in order.
HEADER = tuple(words.split(", ")[0] for words in _HEADERS.values())


def import_codebook(source: Source, *, target: str, sheet: str | int | None = None, n_public: int | None = None) -> Schema:
    """The schema that a codebook declares.

    Parameters
    ----------
    source : str, Path, bytes or binary file
        CSV or Excel with a line per column of the table (name, type, min, max, values, missing codes, in usual spellings), or
        JSON: a list of such objects, or a Frictionless Table Schema. Of values such as "1=yes; 2=no" the codes count, for cells
        hold them; groups such as "M=m; male=m" say which further texts count as which value.
    target : str
        The column to predict.
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
    entries = {entry.name: entry for entry in read_codebook(source, sheet=sheet)}
    if target not in entries:
        what = f"The codebook has no line for the target {target!r:.60}."
        raise SchemaError(what, field=target, remedy="Add one, or name another target.")
    features = tuple(_feature(entry) for entry in entries.values() if entry.name != target and entry.kind != "leave out")
    return Schema(features, _target(entries[target]), n_public)


def codebook_template(names: Iterable[str], schema: Schema | None = None) -> str:
    """A codebook as CSV to fill in, with a line per column; with what `schema` declares where one is given."""
    known = {} if schema is None else {column.name: column for column in (*schema.features, schema.target)}
    return csv_text(HEADER, [_line(name, known.get(name), schema is not None) for name in names])


def _line(name: str, column: Feature | Target | None, is_known: bool) -> list[Any]:
    said = {} if column is None else column.to_dict()
    kind = {"numeric": "whole" if said.get("whole") else "number", "categorical": "categories", "classes": "categories"}
    values = said.get("categories") or said.get("classes") or ()
    return [
        name,
        kind.get(said.get("kind", ""), said.get("kind") or ("leave out" if is_known else None)),
        _unmistakable(said.get("low")),
        _unmistakable(said.get("high")),
        "; ".join(values) or None,
        "; ".join(said.get("missing_codes", ())) or None,
        *(said.get(field) or None for field in ("unit", "part", "order")),
        "; ".join(f"{text} = {label}" for text, label in said.get("groups", ())) or None,
        *(said.get(field) for field in ("missing_as", "unknown_as")),
    ]


def _unmistakable(number: float | None) -> float | str | None:
    """A number that nobody takes for another: 12.3450 rather than 12.345."""
    return f"{number}0" if number is not None and re.fullmatch(r"-?[1-9]\d{0,2}\.\d{3}", str(number)) else number


def _feature(entry: Entry) -> Feature:
    if entry.kind == "categories" or (entry.values and not entry.kind):
        about: dict[str, Any] = {"missing_as": entry.missing_as or None, "unknown_as": entry.unknown_as or None}
        about |= {"missing_codes": entry.missing_codes, "groups": entry.groups}
        return CategoricalFeature(entry.name, _needed(entry, "values", entry.values), **about)
    if entry.kind == "date":
        part = entry.part or "year"
        fixed = PARTS.get(part)
        low, high = (entry.low, entry.high) if fixed is None or part == "year" or entry.low is not None else fixed
        rule: dict[str, Any] = {"part": part, "order": entry.order or ORDERS[0]}
        return DateFeature(entry.name, _needed(entry, "min", low), _needed(entry, "max", high), **_of_number(entry), **rule)
    _require_kind(entry)
    low, high = _needed(entry, "min", entry.low), _needed(entry, "max", entry.high)
    return NumericFeature(entry.name, low, high, whole=entry.kind == "whole", **_of_number(entry))


def _of_number(entry: Entry) -> dict[str, Any]:
    missing = number_in(entry.missing_as) if entry.missing_as else None
    return {"unit": entry.unit, "missing_as": missing, "missing_codes": entry.missing_codes}


def _target(entry: Entry) -> Target:
    if entry.kind == "categories" or (entry.values and entry.kind != "number"):
        return ClassTarget(entry.name, _needed(entry, "values", entry.values), groups=entry.groups)
    _require_kind(entry)
    low, high = _needed(entry, "min", entry.low), _needed(entry, "max", entry.high)
    return NumericTarget(entry.name, low, high, missing_codes=entry.missing_codes)


def _require_kind(entry: Entry) -> None:
    if not entry.kind and entry.low is None and entry.high is None:
        raise SchemaError("The codebook does not say what it is.", field=entry.name[:60], remedy="Give its type, or 'leave out'.")


def _needed(entry: Entry, what: str, value: Any) -> Any:
    if value is None or value == ():
        raise SchemaError(
            f"The codebook gives no {what}.", field=entry.name[:60], remedy=f"Give {what}, or the type 'leave out'."
        )
    return value


# --- lines


def read_codebook(source: Source, *, sheet: str | int | None = None) -> tuple[Entry, ...]:
    """The lines of a codebook, complete or not; raises what `import_codebook` raises for a file."""
    raw = read_bytes(source, LARGEST_SCHEMA)
    if raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return _checked(_from_json(parse_json(raw)))
    table = read_table(raw, name=name_of(source, None), sheet=sheet, max_rows=20_000, max_columns=200)
    fields = [_FIELD_OF.get(_plain(name), "") for name in table.names]
    if "name" not in fields:
        remedy = f"Call the column of names 'name'; others may be {', '.join(HEADER[1:])}."
        raise SchemaError("The codebook has no column with the names of the table's columns.", remedy=remedy)
    columns = {
        field: [None if code < 0 else column.texts[code] for code in column.codes.tolist()]
        for field, column in zip(fields, table.columns, strict=True)
        if field
    }
    lines = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    by_program = raw.startswith(b"PK")  # a workbook holds numbers, which have one meaning
    return _checked([_entry(line, by_program) for line in lines if line["name"]])


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w]+|_", " ", text.lower()).split())


def _checked(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    seen: set[str] = set()
    for entry in entries:
        if entry.name in seen:
            what = f"The codebook has two lines for {entry.name!r:.60}."
            raise SchemaError(what, field=entry.name[:60], remedy="Keep one of them.")
        seen.add(entry.name)
    return tuple(entries)


def _entry(line: Mapping[str, str | None], by_program: bool) -> Entry:
    said = {field: (text or "").strip() for field, text in line.items()}
    low, high = (_number(said, field, by_program) for field in ("low", "high"))
    kind, values = _kind(said), said.get("values", "")
    if kind in ("number", "whole", "") and low is None and high is None and (found := _RANGE.fullmatch(values)):
        low, high = (number_in(end, point_is_decimal=by_program) for end in found.groups())
        kind, values = kind or "number", ""
    listed = _codes(values), groups_in(said.get("groups", ""), field=said["name"][:60]), _codes(said.get("missing_codes", ""))
    rule = said.get("unit", ""), said.get("part", "").lower(), said.get("order", "").lower()
    return Entry(said["name"], kind, low, high, *listed, *rule, said.get("missing_as", ""), said.get("unknown_as", ""))


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


def _codes(text: str) -> tuple[str, ...]:
    """Values of one cell: one per line, or between semicolons, bars or commas; of "1=yes" the code."""
    listed = (re.split(r"\s*=\s*", part, maxsplit=1)[0].strip().strip("\"'") for part in listed_in(text))
    return tuple(dict.fromkeys(code for code in listed if code))


def listed_in(text: str) -> tuple[str, ...]:
    """The entries of one cell, each once: one per line, or between semicolons, bars or commas."""
    mark = next((mark for mark in ("\n", ";", "|") if mark in text), ",")
    return tuple(dict.fromkeys(part.strip() for part in text.split(mark) if part.strip()))


def groups_in(text: str, *, field: str = "") -> tuple[tuple[str, str], ...]:
    """The pairs of "M = m; male = m": a text, and the category it counts as. Raises SchemaError for an entry that is none."""
    pairs = [tuple(side.strip() for side in part.partition("=")[::2]) for part in listed_in(text)]
    for part, (written, label) in zip(listed_in(text), pairs, strict=True):
        if not (written and label):
            what = f"{part!r:.40} does not say which category it counts as."
            raise SchemaError(what, field=field, remedy="Write the text, =, and a category, such as: M = m; male = m.")
    return tuple(pairs)  # type: ignore[arg-type]


def _from_json(document: Any) -> list[Entry]:
    """A list of objects, or a Frictionless Table Schema (also inside a resource's `schema`)."""
    if isinstance(document, dict) and isinstance(document.get("schema"), dict):
        document = document["schema"]
    lines = document.get("fields") if isinstance(document, dict) else document
    if not isinstance(lines, list) or not all(isinstance(line, dict) for line in lines):
        remedy = "Give a list of objects with 'name', or a Frictionless Table Schema with 'fields'."
        raise SchemaError("This JSON is no codebook.", remedy=remedy)
    common = document.get("missingValues", []) if isinstance(document, dict) else []
    return [_entry(_flat(line, common), by_program=True) for line in lines if line.get("name")]


def _flat(line: Mapping[str, Any], common: Any) -> dict[str, str | None]:
    limits = line.get("constraints") if isinstance(line.get("constraints"), dict) else {}
    missing = {"missing codes": line.get("missingValues", common)} if line.get("missingValues", common) else {}
    said = {**line, **limits, **missing}  # type: ignore[dict-item]
    return {field: _text(value) for key, value in said.items() if (field := _FIELD_OF.get(_plain(str(key))))}


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(_text(item.get("value") if isinstance(item, dict) else item) for item in value)
    if isinstance(value, bool):
        return _TRUTH[value]
    return "" if value is None or isinstance(value, dict) else str(value)
