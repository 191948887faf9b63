"""Schema files: the JSON of `dpviz.table.schema_json` on disk, or a codebook."""

from pathlib import Path

from dpviz.errors import DocumentError
from dpviz.io.codebook import import_codebook
from dpviz.io.limits import MAX_SCHEMA_BYTES
from dpviz.io.text import read_document
from dpviz.table.schema import Schema
from dpviz.table.schema_json import schema_from_json


def save_schema(schema: Schema, path: str | Path) -> None:
    """As `Schema.save`."""
    schema.save(path)


def load_schema(path: str | Path) -> Schema:
    """Read the schema in `path`, JSON or a codebook (.csv) that names its target.

    Raises DpvizError when there is no such file, DocumentError or SchemaError when it is no schema.
    """
    if Path(path).suffix.lower() == ".csv":
        return import_codebook(path)
    remedy = "Check the path; it must name a schema saved by dpviz."
    text = read_document(path, "The schema file", remedy, MAX_SCHEMA_BYTES)
    try:
        return schema_from_json(text)
    except DocumentError as error:
        where = f"{Path(path).name}, {error.where}" if error.where else Path(path).name
        raise DocumentError(error.what, where=where, remedy=error.remedy) from error
