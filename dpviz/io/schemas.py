"""Schema files: the JSON of `dpviz.table.schema_json` on disk."""

from __future__ import annotations

from pathlib import Path

from dpviz.errors import DpvizError
from dpviz.table.schema import Schema
from dpviz.table.schema_json import schema_from_json


def save_schema(schema: Schema, path: str | Path) -> None:
    """Write `schema` to `path`; DpvizError when that is impossible."""
    schema.save(path)


def load_schema(path: str | Path) -> Schema:
    """Read the schema in `path`; DpvizError when there is no such file, DocumentError or SchemaError when it is no schema."""
    try:
        document = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        what = f"The schema file cannot be read: {getattr(error, 'strerror', None) or error}."
        remedy = "Check the path; it must name a schema saved by dpviz."
        raise DpvizError(what, where=str(path), remedy=remedy) from error
    return schema_from_json(document)
