"""Forms of a model that are written down: the JSON document, code, rules. Pictures are in `dpviz/charts/publish/exports.py`."""

from dpviz.io.exports.contract import JSON, ExportInput, export
from dpviz.io.exports.python import PYTHON
from dpviz.io.exports.rules import RULES
from dpviz.io.exports.sql import DUCKDB, SQLITE

__all__ = ["FORMS", "ExportInput", "export"]
FORMS = (JSON, PYTHON, SQLITE, DUCKDB, RULES)
