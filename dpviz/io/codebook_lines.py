"""Lines of a codebook, read from CSV, Excel or JSON: what each says about a column, complete or not."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpviz.errors import DpvizError, SchemaError
from dpviz.io.limits import LARGEST_SCHEMA
from dpviz.io.tables.read import read_table
from dpviz.io.text import Source, name_of, read_bytes
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


def read_codebook(source: Source, *, sheet: str | int | None = None) -> tuple[Entry, ...]:
    """The lines of a codebook, complete or not; raises what `import_codebook` raises for a file."""
    raw = read_bytes(source, LARGEST_SCHEMA)
    if raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return _checked(_from_json(parse_json(raw)))
    table = read_table(raw, name=name_of(source, None), sheet=sheet, max_rows=20_000, max_columns=200)
    known = _FIELD_OF
    fields = [known.get(_plain(name), "") for name in table.names]
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
    part, order = said.get("part", "").lower(), said.get("order", "").lower()
    listed: dict[str, Any] = {"values": _codes(values), "groups": groups_in(said.get("groups", ""), field=said["name"][:60])}
    listed |= {"missing_codes": _codes(said.get("missing_codes", ""))}
    words = {field: said.get(field, "") for field in ("unit", "missing_as", "unknown_as")}
    return Entry(said["name"], kind, low, high, part=part, order=order, **listed, **words)  # type: ignore[arg-type]


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
    known = _FIELD_OF
    limits = line.get("constraints") if isinstance(line.get("constraints"), dict) else {}
    missing = {"missing codes": line.get("missingValues", common)} if line.get("missingValues", common) else {}
    said = {**line, **limits, **missing}  # type: ignore[dict-item]
    return {field: _text(value) for key, value in said.items() if (field := known.get(_plain(str(key))))}


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(_text(item.get("value") if isinstance(item, dict) else item) for item in value)
    if isinstance(value, bool):
        return _TRUTH[value]
    return "" if value is None or isinstance(value, dict) else str(value)
