"""The published JSON Schema of `dpviz-tree/1`, made from the types that write and read it.

`python -m dpviz.results.json_schema` writes the file beside this one.
"""

import json
from pathlib import Path
from typing import Any

from msgspec.json import schema_components

from dpviz.accounting.guarantee import NEIGHBOURS
from dpviz.accounting.ledger import LedgerRow
from dpviz.models.document import BODIES, FORMAT, NODE_FORMS, NodeBody
from dpviz.results.document import Document
from dpviz.table.dates import ORDERS, PARTS
from dpviz.table.schema import FORMAT as SCHEMA_FORMAT
from dpviz.table.schema import MAX_CLASSES
from dpviz.table.schema_json import FEATURES, TARGETS, SchemaDocument

DRAFT = "https://json-schema.org/draft/2020-12/schema"
#: The published file; `docs/reference/model-format.md` explains it.
JSON_SCHEMA = Path(__file__).with_name("dpviz-tree-1.schema.json")


def _ref(kind: type) -> dict[str, str]:
    return {"$ref": f"#/$defs/{kind.__name__}"}


_LOSS = {
    "anyOf": [{"type": "number", "minimum": 0}, {"const": "infinity"}],
    "description": "Privacy loss; the word infinity where nothing bounds it.",
}
#: What the types do not say: (definition, entry) -> further keywords.
_FURTHER: dict[tuple[str, str], dict[str, Any]] = {
    ("ClassTarget", "classes"): {"minItems": 2, "maxItems": MAX_CLASSES, "uniqueItems": True},
    ("CategoricalFeature", "categories"): {"minItems": 1, "uniqueItems": True},
    ("DateFeature", "part"): {"enum": list(PARTS)},
    ("DateFeature", "order"): {"enum": list(ORDERS)},
    ("SchemaDocument", "features"): {"minItems": 1, "items": {"oneOf": [_ref(column) for column in FEATURES.values()]}},
    ("SchemaDocument", "target"): {"oneOf": [_ref(column) for column in TARGETS.values()]},
    ("Statement", "neighbours"): {"const": NEIGHBOURS},
    ("TestEntry", "table"): {"items": {**_ref(NodeBody), "required": ["counts"]}},
    ("Statement", "ledger"): {"items": _ref(LedgerRow)},
}


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a document, from the types that write and read it."""
    kinds = {**FEATURES, **TARGETS}
    types = (Document, SchemaDocument, LedgerRow, *BODIES.values(), *kinds.values())
    _, defs = schema_components(types, ref_template="#/$defs/{name}")
    for name, column in kinds.items():
        _require(defs[column.__name__], "kind", {"const": name})
    _require(defs["SchemaDocument"], "format", {"const": SCHEMA_FORMAT})
    defs["Statement"]["required"].append("neighbours")
    for named in ("Claim", "LedgerRow", "PerPerson", "PrivacyLoss"):
        defs[named]["properties"]["epsilon"] = _LOSS
    for (name, entry), further in _FURTHER.items():
        defs[name]["properties"][entry] |= further
    defs["NodeBody"]["anyOf"] = [{"required": list(names)} for names in NODE_FORMS]
    defs["TestEntry"]["anyOf"] = [{"required": ["table"]}, {"required": ["sums", "table_epsilon", "centre", "width"]}]
    neither = {"not": {"anyOf": [{"required": ["seed"]}, {"required": ["warning"]}]}}
    is_release = {"properties": {"source": {"const": "release"}}}
    defs["Noise"] |= {"if": is_release, "then": neither, "else": {"required": ["warning"]}}
    for definition in defs.values():
        definition["description"] = " ".join(definition.get("description", "").split())
        definition.pop("title", None)
    whole = defs.pop("Document")
    whole["properties"] |= {"kind": {"enum": list(BODIES)}, "schema": _ref(SchemaDocument)}
    bodies = [
        {"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": _ref(body)}
        for kind, body in BODIES.items()
    ]
    about: dict[str, Any] = {
        "$schema": DRAFT,
        "$id": "urn:dpviz:dpviz-tree-1",
        "title": FORMAT,
    }
    return {**about, **whole, "allOf": bodies, "$defs": dict(sorted(defs.items()))}


def _require(definition: dict[str, Any], entry: str, said: dict[str, Any]) -> None:
    definition["properties"] = {entry: said, **definition["properties"]}
    definition["required"] = [entry, *definition["required"]]


def json_schema_text() -> str:
    """The published file."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    JSON_SCHEMA.write_text(json_schema_text(), encoding="utf-8")
