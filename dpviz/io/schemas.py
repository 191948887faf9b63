"""Schema files: the JSON of `dpviz.table.schema_json` on disk."""

from __future__ import annotations

from pathlib import Path

from dpviz.errors import DpvizError
from dpviz.table.schema import Schema
from dpviz.table.schema_json import schema_from_json, schema_to_json


def save_schema(schema: Schema, path: str | Path) -> None:
    """Write `schema` to `path`; DpvizError when that is impossible."""
    text = schema_to_json(schema)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _unusable("written", path, error, "Choose a folder that exists and may be written to.") from error


def load_schema(path: str | Path) -> Schema:
    """Read the schema in `path`; DpvizError when there is no such file, DocumentError or SchemaError when it is no schema."""
    try:
        document = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise _unusable("read", path, error, "Check the path; it must name a schema saved by dpviz.") from error
    return schema_from_json(document)


def _unusable(verb: str, path: str | Path, error: Exception, remedy: str) -> DpvizError:
    reason = getattr(error, "strerror", None) or str(error)
    return DpvizError(f"The schema file cannot be {verb}: {reason}.", where=str(path), remedy=remedy)
