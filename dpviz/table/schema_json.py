"""Schemas read from JSON: format "dpviz-schema/1". `Schema.to_json` writes it.

Readers ignore keys they do not know and refuse versions they do not know. What is malformed is a `DocumentError` whose
`where` is the path inside the document, such as `features[2].low`; what is well formed but contradicts itself is a
`SchemaError`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dpviz.table.dates import DateFeature
from dpviz.table.schema import FORMAT, CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.table.strict_json import parse_json, read, read_kind, require_format, wrong

#: By kind, as documents call it.
FEATURES: dict[str, type] = {kind.kind: kind for kind in (NumericFeature, CategoricalFeature, DateFeature)}
TARGETS: dict[str, type] = {kind.kind: kind for kind in (ClassTarget, NumericTarget)}


@dataclass(frozen=True)
class SchemaDocument:
    """What is publicly known about a table: its columns, the one to predict, and how many rows there are."""

    features: tuple[Any, ...]
    target: Any
    n_public: int | None = None
    read_from_data: tuple[str, ...] = ()
    person: str | None = None
    decimal: str | None = None
    source: str = ""
    rows_per_person: int = 1


def schema_from_json(text: str | bytes) -> Schema:
    """The schema in a JSON text (or its UTF-8 bytes); raises DocumentError, SchemaError."""
    return schema_from_dict(parse_json(text))


def schema_from_dict(document: Any, *, path: str = "") -> Schema:
    """The schema in parsed JSON; `path` is its place in a larger document, for error texts."""
    require_format(document, FORMAT, path)
    fields = read(SchemaDocument, document, path)
    _require_known(fields.read_from_data, ("n_public", "features"), path)
    features = tuple(_column(FEATURES, item, f"{path}.features[{k}]") for k, item in enumerate(fields.features))
    target = _column(TARGETS, fields.target, f"{path}.target")
    return Schema(**vars(fields) | {"features": features, "target": target})


def _column(kinds: Mapping[str, type], document: Any, path: str) -> Any:
    kind: Any = read_kind(kinds, document, path)
    read_from_data = read(tuple[str, ...], document.get("read_from_data", []), f"{path}.read_from_data")
    _require_known(read_from_data, kind.sourced_fields(), path)
    return read(kind, document, path)


def _require_known(read_from_data: Iterable[str], known: Iterable[str], path: str) -> None:
    """As `Schema` and its columns require, which know no place in a document."""
    for place, field in enumerate(read_from_data):
        if field not in known:
            what = f"This must be one of {', '.join(map(repr, sorted(known)))}; got {field!r:.60}."
            raise wrong(what, f"{path}.read_from_data[{place}]")
