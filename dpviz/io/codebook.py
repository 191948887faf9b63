"""Codebooks: what is publicly known about the columns of a table, one line per column, as people keep them in CSV, Excel or JSON.

A codebook is written by people from public knowledge, not read from the rows, so everything in it counts as declared.
"""

import re
from collections.abc import Iterable
from typing import Any

from dpviz.errors import SchemaError
from dpviz.io.codebook_lines import HEADER, Entry, read_codebook
from dpviz.io.csv_text import csv_text
from dpviz.io.text import Source
from dpviz.table.dates import ORDERS, PARTS, DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema, Target
from dpviz.table.written_numbers import number_in


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
        fallback: dict[str, Any] = {"missing_as": entry.missing_as or None, "unknown_as": entry.unknown_as or None}
        further: dict[str, Any] = {"missing_codes": entry.missing_codes, "groups": entry.groups}
        return CategoricalFeature(entry.name, _needed(entry, "values", entry.values), **fallback, **further)
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
