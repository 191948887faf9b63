"""An export run where it will run, on golden rows, and compared with the model."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

from dpviz.errors import NotExported
from dpviz.figures.tree.text import node_in_words
from dpviz.io.exports import contract
from dpviz.io.exports.conditions import Row
from dpviz.io.exports.contract import Exportable, WrittenForm
from dpviz.io.exports.rules import rules_of
from dpviz.io.exports.sql import TABLE, identifier
from dpviz.models.document import model_from_json
from dpviz.models.tree import Tree
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, Schema
from tests.support.golden_exports import GoldenRows, golden_rows, holds, said, without_codes

Said = tuple[Sequence[Any], Any]


@dataclass(frozen=True)
class Checked:
    """What was written, and on how many rows it agrees with the model, on probabilities too."""

    content: Any
    n_rows: int
    has_chances: bool


class Differs(AssertionError):
    """An export that says something else than the model."""


def golden(given: Exportable) -> GoldenRows:
    """The golden rows of a model."""
    if "golden" not in given.__dict__:
        try:
            function = given.function
        except NotExported:
            function = None
        given.__dict__["golden"] = golden_rows(given.model, function)
    return given.__dict__["golden"]


def gives_chances(form: WrittenForm, given: Exportable) -> bool:
    """Whether the export of this model has probabilities."""
    if form.any_model:
        return golden(given).chances is not None
    known = {"sqlite": ("leaf", "votes"), "svg": ()}.get(form.name, ("leaf", "votes", "odds"))
    return given.function.chances in known


def export(form: WrittenForm, given: Exportable) -> Checked:
    """`dpviz.io.exports.contract.export`, run on every golden row; raises Differs, and whatever the target raises."""
    content, rows = contract.export(form, given).content, golden(given)
    found, chances = run(form.name, content, given, rows.rows)
    difference, has_chances = rows.first_difference(found), gives_chances(form, given)
    if difference is None and has_chances:
        difference = rows.first_other_chance(chances)
    if difference is not None:
        raise Differs(difference)
    return Checked(content, len(rows.rows), has_chances)


def run(name: str, content: Any, given: Exportable, rows: Sequence[Row]) -> Said:
    """(prediction of every row, its probabilities), from the content alone; of rules from what is written down."""
    if name == "rules":
        rules = list(rules_of(given.function))
        found = []
        for row in without_codes(given.schema, rows):
            (rule,) = (rule for rule in rules if all(holds(item, row[item.feature]) for item in rule.conditions))
            found.append(rule)
        return [rule.answer for rule in found], [rule.shares or () for rule in found]
    return _RUNS[name](content, given.schema, rows)


_RUNNER = """

import json, sys
names, rows = json.load(sys.stdin)
rows = [dict(zip(names, row)) for row in rows]
chances = [list(predict_proba(row).values()) for row in rows] if "predict_proba" in globals() else None
json.dump([[predict(row) for row in rows], chances], sys.stdout)
"""


def _in_python(content: str, schema: Schema, rows: Sequence[Row]) -> Said:
    """`-I -S`: no folder of the user's, no installed packages, no variables of the environment."""
    with TemporaryDirectory(prefix="dpviz-") as folder:
        script = Path(folder) / "exported.py"
        script.write_text(content + _RUNNER, encoding="utf-8")
        given = json.dumps([schema.feature_names, [with_dates(schema, row) for row in rows]])
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(script)], input=given, capture_output=True, encoding="utf-8", check=True
        )
    return tuple(json.loads(done.stdout))


def with_dates(schema: Schema, row: Row) -> list[Any]:
    """The row with dates in place of the numbers that stand for them."""
    pairs = zip(schema.features, row, strict=True)
    return [f.date_for(int(cell)) if isinstance(f, DateFeature) and isinstance(cell, float) else cell for f, cell in pairs]


def empty_table(schema: Schema, text_kind: str, number_kind: str) -> str:
    """Creates the table that exported SQL asks."""
    is_text = [isinstance(feature, (CategoricalFeature, DateFeature)) for feature in schema.features]
    kinds = [text_kind if one else number_kind for one in is_text]
    columns = ", ".join(f"{identifier(name)} {kind}" for name, kind in zip(schema.feature_names, kinds, strict=True))
    return f"CREATE TABLE {TABLE} ({columns})"


def _in_sqlite(content: str, schema: Schema, rows: Sequence[Row]) -> Said:
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(empty_table(schema, "TEXT", "REAL"))
        given = [with_dates(schema, row) for row in rows]
        base.executemany(f"INSERT INTO {TABLE} VALUES ({', '.join('?' * schema.n_features)})", given)
        return _split(base.execute(content).fetchall())


def _in_duckdb(content: str, schema: Schema, rows: Sequence[Row]) -> Said:
    """A hundred rows per INSERT: DuckDB plans each statement anew, and one statement for all is slow to bind."""
    import duckdb

    with closing(duckdb.connect(":memory:")) as base:
        base.execute("SET threads = 1")
        if len(content) > 20_000:
            base.execute("PRAGMA disable_optimizer")
        base.execute(empty_table(schema, "VARCHAR", "DOUBLE"))
        for start in range(0, len(rows), 100):
            part = rows[start : start + 100]
            places = ", ".join([f"({', '.join('?' * schema.n_features)})"] * len(part))
            cells = [cell for row in part for cell in with_dates(schema, row)]
            base.execute(f"INSERT INTO {TABLE} VALUES {places}", cells)
        return _split(base.execute(content).fetchall())


def _split(rows: list[tuple[Any, ...]]) -> Said:
    return [row[0] for row in rows], [row[1:] for row in rows]


def _of_svg(content: str, _schema: Schema, rows: Sequence[Row]) -> Said:
    """By the tree inside; every node that is drawn says what that does."""
    space = "{http://www.w3.org/2000/svg}"
    drawing = ElementTree.fromstring(content)
    tree = model_from_json(drawing.findtext(f"{space}metadata") or "")
    assert isinstance(tree, Tree)
    groups = [group for group in drawing.iter(f"{space}g") if group.get("data-path")]
    drawn = {group.get("data-path"): group.findtext(f"{space}title") for group in groups}
    if drawn != {placed.id: node_in_words(tree, placed.path) for placed in tree.nodes()}:
        raise Differs("the drawing shows other nodes than the tree has")
    return said(tree, rows)


def inside(report: str) -> str:
    """The JSON document inside a report."""
    return report.split('<script type="application/json" id="document">')[1].split("</script>")[0]


_RUNS: dict[str, Callable[[Any, Schema, Sequence[Row]], Said]] = {
    "json": lambda content, _, rows: said(model_from_json(content), rows),
    "python": _in_python,
    "sqlite": _in_sqlite,
    "duckdb": _in_duckdb,
    "svg": _of_svg,
    "report": lambda content, _, rows: said(model_from_json(inside(content)), rows),
}
