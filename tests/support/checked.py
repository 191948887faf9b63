"""An export run where it will run, on rows about every threshold and category, and compared with `predict` on the same rows."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from dpviz.charts.tree.text import node_in_words
from dpviz.errors import UnsupportedModel
from dpviz.io.exports import contract
from dpviz.io.exports.contract import ExportInput, spelled
from dpviz.io.exports.function import Split, nodes
from dpviz.io.exports.rules import rules_of
from dpviz.io.exports.sql import TABLE, identifier
from dpviz.models.base import Model
from dpviz.models.document import model_from_json
from dpviz.models.new_rows import answers, probabilities
from dpviz.models.tree import Tree
from dpviz.results.exports import Form
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, Feature, NumericTarget, Schema

Row = tuple[Any, ...]
#: Sums of boosted trees may be added in another order.
_CLOSE = 1e-9


class Differs(AssertionError):
    """An export that says something else than the model."""


@dataclass(frozen=True)
class Checked:
    """What was written, and on how many rows it agrees with the model; of them so many with an answer."""

    content: Any
    n_rows: int
    n_answers: int
    has_chances: bool


def export(form: Form, given: ExportInput, n_rows: int = 200) -> Checked:
    """`dpviz.io.exports.contract.export`, run on many rows; raises Differs, and whatever the target raises."""
    content, rows = contract.export(form, given), rows_for(given, n_rows)
    wanted, shares = said(given.model, rows)
    found, chances = run(form.name, content, given, rows)
    for row, one, other in zip(rows, wanted, found, strict=True):
        if not _alike(one, other):
            raise Differs(f"says {other!r}, predict {one!r} for {dict(zip(given.schema.feature_names, row, strict=True))!r}")
    if chances is not None:
        if shares is None:
            raise Differs("has probabilities, the model has none")
        np.testing.assert_allclose(np.array(chances, dtype=float), shares, atol=_CLOSE)
    return Checked(content, len(rows), sum(one is not None and one == one for one in wanted), chances is not None)


def _alike(one: Any, other: Any) -> bool:
    if one != one:
        return other is None or other != other
    if isinstance(one, float) and isinstance(other, int | float):
        return abs(one - other) <= _CLOSE * max(1.0, abs(one))
    return one == other


def said(model: Model, rows: Sequence[Row]) -> tuple[list[Any], np.ndarray | None]:
    """(what the model predicts for each row, None or not-a-number where it has no answer; its probabilities if it holds any)."""
    names, columns = model.schema.feature_names, list(zip(*rows, strict=True))
    frame = pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in zip(names, columns, strict=True)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            shares = None if isinstance(model.schema.target, NumericTarget) else probabilities(model, frame)
        except UnsupportedModel:
            shares = None
        return answers(model, frame).tolist(), shares


# --- rows


def rows_for(given: ExportInput, n_rows: int, seed: int = 5) -> list[Row]:
    """Each special cell of each column once, and as many random rows, of which one cell in five is special."""
    rng, schema = np.random.default_rng(seed), given.schema
    try:
        tests = [node.test for tree in given.function.trees for node in nodes(tree) if isinstance(node, Split)]
    except UnsupportedModel:
        tests = []
    marks = {place: [test.mark for test in tests if test.feature == place][:40] for place in range(schema.n_features)}
    special = [list(special_cells(feature, marks[place])) for place, feature in enumerate(schema.features)]
    columns = [
        [_cell(feature, cells, rng) for _ in range(n_rows)] for feature, cells in zip(schema.features, special, strict=True)
    ]
    rows = list(zip(*columns, strict=True))
    usual = tuple(next(iter(usual_cells(feature))) for feature in schema.features)
    rows += [(*usual[:place], cell, *usual[place + 1 :]) for place, cells in enumerate(special) for cell in cells]
    return rows


def date_for(feature: DateFeature, number: int) -> str | None:
    """Some date that counts as this number, written in the declared order; None where there is none."""
    try:
        match feature.part:
            case "year":
                day = date(number, 7, 1)
            case "month":
                day = date(2000, number, 1)
            case "weekday":
                day = date(2000, 1, 2 + number if 1 <= number <= 7 else 0)  # the third was a Monday
            case _:
                day = date.fromordinal(date.fromisoformat(feature.since).toordinal() + number)
    except (ValueError, OverflowError):
        return None
    parts = {"y": f"{day.year:04d}", "m": f"{day.month:02d}", "d": f"{day.day:02d}"}
    return "-".join(parts[letter] for letter in feature.order)


def usual_cells(feature: Feature) -> list[Any]:
    if isinstance(feature, CategoricalFeature):
        return list(feature.categories)
    if isinstance(feature, DateFeature):
        found = (date_for(feature, number) for number in range(int(feature.low), int(feature.high) + 1, 37))
        return [day for day in found if day is not None]
    return np.linspace(feature.low, feature.high, 11).tolist()


def special_cells(feature: Feature, marks: Sequence[float]) -> Iterator[Any]:
    """Thresholds and beside them, the ends of the range and beyond, declared texts, an unknown one, codes, none."""
    yield None
    yield from feature.missing_codes
    if isinstance(feature, CategoricalFeature):
        yield from feature.category_of
        yield "none of them!"
        return
    if isinstance(feature, DateFeature):
        found = (date_for(feature, int(mark) + step) for mark in (*marks, feature.low, feature.high) for step in (-1, 0, 1))
        yield from (day for day in found if day is not None)
        yield "2023-02-29"
        return
    for mark in (*marks, feature.low, feature.high):
        yield from (mark, float(np.nextafter(mark, -np.inf)), float(np.nextafter(mark, np.inf)))
    yield from (2 * feature.low - feature.high, 2 * feature.high - feature.low, -0.0)


def _cell(feature: Feature, special: list[Any], rng: np.random.Generator) -> Any:
    usual = usual_cells(feature)
    if rng.random() < 0.2:
        return special[int(rng.integers(len(special)))]
    if isinstance(feature, CategoricalFeature | DateFeature):
        return usual[int(rng.integers(len(usual)))]
    return float(rng.uniform(feature.low, feature.high))


# --- where they run


def run(name: str, content: Any, given: ExportInput, rows: Sequence[Row]) -> tuple[Sequence[Any], Any]:
    """(prediction of every row, its probabilities or None), from the content alone."""
    match name:
        case "python":
            return _in_python(content, given.schema, rows)
        case "sqlite" | "duckdb":
            return (_in_sqlite if name == "sqlite" else _in_duckdb)(content, given.schema, rows)
        case "rules":
            return _by_rules(given, rows)
        case "svg":
            return _of_svg(content, rows)
    return said(model_from_json(content if name == "json" else inside(content)), rows)


_RUNNER = """

import json, sys
names, rows = json.load(sys.stdin)
rows = [dict(zip(names, row)) for row in rows]
chances = [list(predict_proba(row).values()) for row in rows] if "predict_proba" in globals() else None
json.dump([[predict(row) for row in rows], chances], sys.stdout)
"""


def _in_python(content: str, schema: Schema, rows: Sequence[Row]) -> tuple[Any, Any]:
    """`-I -S`: no folder of the user's, no installed packages, no variables of the environment."""
    with TemporaryDirectory(prefix="dpviz-") as folder:
        script = Path(folder) / "exported.py"
        script.write_text(content + _RUNNER, encoding="utf-8")
        command = [sys.executable, "-I", "-S", str(script)]
        given = json.dumps([schema.feature_names, rows])
        done = subprocess.run(command, input=given, capture_output=True, encoding="utf-8", check=True)
    return tuple(json.loads(done.stdout))


def empty_table(schema: Schema, text_kind: str, number_kind: str) -> str:
    """Creates the table that exported SQL asks."""
    is_text = [isinstance(feature, CategoricalFeature | DateFeature) or feature.missing_codes for feature in schema.features]
    kinds = [text_kind if one else number_kind for one in is_text]
    columns = ", ".join(f"{identifier(name)} {kind}" for name, kind in zip(schema.feature_names, kinds, strict=True))
    return f"CREATE TABLE {TABLE} ({columns})"


def _in_sqlite(content: str, schema: Schema, rows: Sequence[Row]) -> tuple[Any, Any]:
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(empty_table(schema, "", ""))
        base.executemany(f"INSERT INTO {TABLE} VALUES ({', '.join('?' * schema.n_features)})", rows)
        return _split(base.execute(content).fetchall())


def _in_duckdb(content: str, schema: Schema, rows: Sequence[Row]) -> tuple[Any, Any]:
    import duckdb

    with closing(duckdb.connect(":memory:")) as base:
        base.execute("SET threads = 1")
        if len(content) > 20_000:
            base.execute("PRAGMA disable_optimizer")
        base.execute(empty_table(schema, "VARCHAR", "DOUBLE"))
        columns = dict(enumerate(zip(*rows, strict=True)))
        for place, feature in enumerate(schema.features):
            if feature.missing_codes:  # a column of texts
                columns[place] = tuple(repr(cell) if isinstance(cell, float) else cell for cell in columns[place])
        given = pd.DataFrame({f"c{place}": pd.Series(cells, dtype=object) for place, cells in columns.items()})
        base.register("given", given)
        base.execute(f"INSERT INTO {TABLE} SELECT * FROM given")
        return _split(base.execute(content).fetchall())


def _split(rows: list[tuple[Any, ...]]) -> tuple[Any, Any]:
    chances = [row[1:] for row in rows]
    return [row[0] for row in rows], chances if chances and chances[0] else None


def _by_rules(given: ExportInput, rows: Sequence[Row]) -> tuple[Any, Any]:
    """What somebody answers who goes by the words: the rule whose conditions all hold; exactly one, of cells that can be read."""
    rules, found = list(rules_of(given.function)), []
    wanted, _ = said(given.model, rows)
    for row, one in zip(rows, wanted, strict=True):
        cells = dict(zip(map(spelled, given.schema.feature_names), zip(given.schema.features, row, strict=True), strict=True))
        met = [rule for rule in rules if all(_holds(words, cells) for words in rule.conditions)]
        if one is None or one != one:  # the head of the file says that there is no answer
            found.append(None)
            continue
        if len(met) != 1:
            raise Differs(f"{len(met)} rules apply to {row!r}")
        found.append(met[0])
    chances = [rule.end.shares if rule else [np.nan] * len(given.function.names) for rule in found]
    has_chances = given.function.probabilities == "leaf"
    return [rule and rule.answer for rule in found], chances if has_chances else None


def _holds(words: str, cells: dict[str, tuple[Feature, Any]]) -> bool:
    """Whether the cell meets a condition, by its words alone."""
    name = max((name for name in cells if re.search(rf"(^|< |<= ){re.escape(name)} ", words)), key=len)
    feature, cell = cells[name]
    if cell is None or (isinstance(cell, str) and cell in feature.missing_codes):
        return bool(re.search(rf"{re.escape(name)} is missing\b| or missing\b", words))
    before, after = words.split(f"{name} ", 1)
    if not isinstance(feature, CategoricalFeature):
        value = _number_of(feature, cell)
        ends = [(before.split()[::-1], True)] if before else []
        ends.append((after.removesuffix(" or missing").split(), False))
        return all(_compare(value, *end, turned=turned) for end, turned in ends)
    after = after.removeprefix("is ")
    category = feature.category_of.get(str(cell))
    if category is None:
        return bool(re.search(r"(^| or )unknown\b", after))
    is_inverse = re.search(r"(^| or )(not|none of) ", after) is not None
    after = re.sub(r"^((missing|unknown) or )*(one of |none of |not )?", "", after)
    while (shorter := re.sub(r" or (missing|unknown)$", "", after)) != after:
        after = shorter
    return (spelled(category) in _names_in(after)) != is_inverse


def _number_of(feature: Feature, cell: Any) -> float:
    return feature.numbers([cell])[0] if isinstance(feature, DateFeature) else float(cell)


def _compare(value: float, sign: str, mark: str, *, turned: bool) -> bool:
    low, high = (float(mark), value) if turned else (value, float(mark))
    return {"<": low < high, "<=": low <= high, ">": low > high, ">=": low >= high}[sign]


def _names_in(text: str) -> list[str]:
    return re.findall(r'"(?:[^"\\]|\\.)*"|[^",][^,]*', text.replace(", ", ","))


def _of_svg(content: str, rows: Sequence[Row]) -> tuple[Any, Any]:
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
