"""Names, texts and cells in SQL, for SQLite and for DuckDB."""

import math
from collections.abc import Callable

from dpviz.errors import NotExported
from dpviz.io.exports.conditions import is_code
from dpviz.io.exports.function import Function
from dpviz.io.exports.spelling import one_line
from dpviz.table.dates import DateFeature
from dpviz.table.raw import parse_numbers
from dpviz.table.schema import CategoricalFeature, Feature, Schema

TABLE = "rows_to_predict"
#: Writes a number so that the engine reads it back as the same one.
Number = Callable[[float], str]


def identifier(name: str) -> str:
    """A quoted name: quotes inside are doubled, so that a column called `x"; DROP TABLE` stays a column."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A quoted text."""
    return "'" + value.replace("'", "''") + "'"


def dates(schema: Schema) -> list[str]:
    """Names of the columns that hold dates."""
    return [one_line(feature.name) for feature in schema.features if isinstance(feature, DateFeature)]


def require_names(function: Function) -> None:
    """Raise NotExported for column names that SQL cannot hold or tell apart."""
    folded: dict[str, str] = {}
    for name in function.schema.feature_names:
        if "\0" in name:
            raise NotExported(f"SQL cannot name the column {name!r:.80}.", remedy="Rename the column.")
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            what = f"SQL cannot tell the columns {other!r:.80} and {name!r:.80} apart: their names differ by capitals only."
            raise NotExported(what, remedy="Rename one of them.")


def cell_of(feature: Feature, number: Number) -> str:
    """The cell of a column; NULL where it is a declared code of missing cells. A column of numbers holds no other text."""
    column = f"r.{identifier(feature.name)}"
    if isinstance(feature, CategoricalFeature):
        named = (text for text in feature.category_of if is_code(feature, text))
        codes = [text(code) for code in dict.fromkeys((*feature.missing_codes, *named))]
    else:
        codes = [number(code) for code in parse_numbers(feature.missing_codes).tolist() if not math.isnan(code)]
    for code in codes:
        column = f"NULLIF({column}, {code})"
    return column


def empty_table(schema: Schema, text_kind: str, number_kind: str) -> str:
    """Creates the empty table."""
    kinds = [text_kind if isinstance(feature, CategoricalFeature) else number_kind for feature in schema.features]
    columns = ", ".join(f"{identifier(name)} {kind}" for name, kind in zip(schema.feature_names, kinds, strict=True))
    return f"CREATE TABLE {TABLE} ({columns})"
