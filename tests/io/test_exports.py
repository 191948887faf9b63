"""Every export predicts what `predict` does, in its own target, or it is not offered; what a cell means is the same in both."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date
from functools import cache
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from xml.etree import ElementTree

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from pandas import DataFrame

from dpviz.charts.publish.exports import SVG
from dpviz.charts.tree.text import node_in_words, unreachable
from dpviz.errors import SchemaError, UnsupportedError
from dpviz.io.csv_text import csv_text, frame_csv
from dpviz.io.exports import FORMS, contract
from dpviz.io.exports.contract import ExportInput, quote_name, require_fit
from dpviz.io.exports.function import Split, nodes
from dpviz.io.exports.rules import rules_of
from dpviz.io.exports.sql import TABLE, identifier, quotient
from dpviz.models.base import Model
from dpviz.models.document import model_from_json
from dpviz.models.new_rows import answers, probabilities
from dpviz.models.packed_forest import LEAF, PackedForest, PackedTrees
from dpviz.models.tree import Branch, Forest, Leaf, Node, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.results.exports import Form, export_names, form_called
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema
from tests.support.examples import examples
from tests.support.exports_models import (
    ATTACKS,
    CASES,
    IDS,
    NOT_TREES,
    OF_EACH_KIND,
    document,
    exportable,
    inside,
    schema_with_stand_ins,
    written,
)
from tests.support.nasty_names import NAMES, SYNTAX

Row = tuple[Any, ...]
#: Sums of boosted trees may be added in another order.
_CLOSE = 1e-9


class Agreement(NamedTuple):
    """On how many rows an export agrees with its model; of them so many with an answer."""

    n_rows: int
    n_answers: int
    has_probabilities: bool


def agreement(form: Form, given: ExportInput, n_rows: int = 200) -> Agreement:
    """Of an export that is run on many rows; raises AssertionError where it says something else, and what the target raises."""
    content, rows = contract.export(form, given), rows_for(given, n_rows)
    expected, model_probabilities = predictions(given.model, rows)
    answered, export_probabilities = run(form.name, content, given, rows)
    for row, one, other in zip(rows, expected, answered, strict=True):
        assert _alike(one, other), dict(zip(given.schema.feature_names, row, strict=True))
    if export_probabilities is not None:
        assert model_probabilities is not None
        np.testing.assert_allclose(np.array(export_probabilities, dtype=float), model_probabilities, atol=_CLOSE)
    n_answers = sum(one is not None and one == one for one in expected)
    return Agreement(len(rows), n_answers, export_probabilities is not None)


def _alike(one: Any, other: Any) -> bool:
    if one != one:
        return other is None or other != other
    if isinstance(one, float) and isinstance(other, int | float):
        return abs(one - other) <= _CLOSE * max(1.0, abs(one))
    return one == other


def predictions(model: Model, rows: Sequence[Row]) -> tuple[list[Any], np.ndarray | None]:
    """(what the model predicts for each row, None or not-a-number where it has no answer; its probabilities if it holds any)."""
    names, columns = model.schema.feature_names, list(zip(*rows, strict=True))
    frame = pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in zip(names, columns, strict=True)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            shares = None if isinstance(model.schema.target, NumericTarget) else probabilities(model, frame)
        except UnsupportedError:
            shares = None
        return answers(model, frame).tolist(), shares


# --- rows


def rows_for(given: ExportInput, n_rows: int, seed: int = 5) -> list[Row]:
    """Each special cell of each column once, and as many random rows, of which one cell in five is special."""
    rng, schema = np.random.default_rng(seed), given.schema
    try:
        tests = [node.test for tree in given.function.trees for node in nodes(tree) if isinstance(node, Split)]
    except UnsupportedError:
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


@cache
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
    return predictions(model_from_json(content if name == "json" else inside(content)), rows)


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
    wanted, _ = predictions(given.model, rows)
    for row, one in zip(rows, wanted, strict=True):
        cells = dict(zip(map(quote_name, given.schema.feature_names), zip(given.schema.features, row, strict=True), strict=True))
        met = [rule for rule in rules if all(_holds(words, cells) for words in rule.conditions)]
        if one is None or one != one:  # the head of the file says that there is no answer
            found.append(None)
            continue
        assert len(met) == 1, row
        found.append(met[0])
    chances = [rule.end.shares if rule else [np.nan] * len(given.function.names) for rule in found]
    has_probabilities = given.function.probabilities == "leaf"
    return [rule and rule.answer for rule in found], chances if has_probabilities else None


def _holds(words: str, cells: dict[str, tuple[Feature, Any]]) -> bool:
    """Whether the cell meets a condition, by its words alone: one that is missing or unknown is none of the names, too."""
    name = max((name for name in cells if re.search(rf"(^|< |<= ){re.escape(name)} ", words)), key=len)
    feature, cell = cells[name]
    if cell is None or (isinstance(cell, str) and cell in feature.missing_codes):
        return bool(re.search(rf"{re.escape(name)} is (missing\b|(unknown or )?(not|none of) )| or missing\b", words))
    before, after = words.split(f"{name} ", 1)
    if not isinstance(feature, CategoricalFeature):
        value = _number_of(feature, cell)
        ends = [(before.split()[::-1], True)] if before else []
        ends.append((after.removesuffix(" or missing").split(), False))
        return all(_compare(value, *end, turned=turned) for end, turned in ends)
    after = after.removeprefix("is ")
    category = feature.category_of.get(str(cell))
    if category is None:
        return bool(re.search(r"(^| or )unknown\b|^(missing or )?(not|none of) ", after))
    is_inverse = re.search(r"(^| or )(not|none of) ", after) is not None
    after = re.sub(r"^((missing|unknown) or )*(one of |none of |not )?", "", after)
    while (shorter := re.sub(r" or (missing|unknown)$", "", after)) != after:
        after = shorter
    return (quote_name(category) in _names_in(after)) != is_inverse


def _number_of(feature: Feature, cell: Any) -> float:
    return feature.numbers([cell])[0] if isinstance(feature, DateFeature) else float(cell)


def _compare(value: float, sign: str, mark: str, *, turned: bool) -> bool:
    low, high = (float(mark), value) if turned else (value, float(mark))
    return {"<": low < high, "<=": low <= high, ">": low > high, ">=": low >= high}[sign]


def _names_in(text: str) -> list[str]:
    return re.findall(r'"(?:[^"\\]|\\.)*"|[^",][^,]*', text.replace(", ", ","))


def _of_svg(content: str, rows: Sequence[Row]) -> tuple[Any, Any]:
    """By the tree inside; every node that is drawn says what that does, and whether a row gets there."""
    space = "{http://www.w3.org/2000/svg}"
    drawing = ElementTree.fromstring(content)
    tree = model_from_json(drawing.findtext(f"{space}metadata") or "")
    assert isinstance(tree, Tree)
    groups = [group for group in drawing.iter(f"{space}g") if group.get("data-path")]
    drawn = {group.get("data-path"): group.findtext(f"{space}title") for group in groups}
    nowhere = dict.fromkeys(unreachable(tree), " No row can get here.")
    assert drawn == {placed.id: node_in_words(tree, placed.path) + nowhere.get(placed.path, "") for placed in tree.nodes()}
    return predictions(tree, rows)


#: Names that would break a careless writer of some language.
HOSTILE = (
    *('x"; DROP TABLE rows_to_predict; --', "it's", "a\\b\\", "line\nbreak\r\n\ttab", "</script>", "🌳 ünï \u202ecödé"),
    *("x" * 200, "a, b or missing", "`code` **bold** #35; %s {0} $x", "NULL", "1", " spaced ", "is not one of"),
    *("'''\"\"\"", "class", "row", "-1", "a-b", "a b", "a_b"),
)
TARGETS = {form.name: form for form in FORMS}


def fits(form: Form, given: ExportInput) -> bool:
    try:
        require_fit(form, given)
    except UnsupportedError:
        return False
    return True


# --- every kind of model


AGREEING = [
    pytest.param(*case, n_rows, id=f"{name}-{n_rows}", marks=[] if n_rows == 200 else pytest.mark.verify)
    for case, name in zip(CASES, IDS, strict=True)
    for n_rows in (200, 20_000)
    if n_rows > 200 or name in OF_EACH_KIND
]


@pytest.mark.slow
@pytest.mark.parametrize("depths", [(0, 1, 3, 5), pytest.param((0, 1, 3, 6, 8), marks=pytest.mark.verify)])
@pytest.mark.parametrize("name", export_names())
def test_random_models_agree_and_break_ties_as_the_model_does(name, depths, rng):
    form = form_called(name)
    trees = [Tree(schema, grown(schema, rng, depth)) for schema in (SCHEMA, NUMBERS) for depth in depths]
    forests = [Forest(schema, tuple(Tree(schema, grown(schema, rng, 4)) for _ in range(6))) for schema in (SCHEMA, TWO)]
    forests += [packed(schema, rng, with_counts=with_counts) for schema in (SCHEMA, TWO) for with_counts in (False, True)]
    done = [agreement(form, given) for given in map(document, (*trees, *forests)) if fits(form, given)]
    assert min(each.n_answers for each in done) > 100
    n_drawn = sum(tree.n_leaves <= SVG.most_ends for tree in trees)
    assert len(done) == {"rules": len(trees), "svg": n_drawn}.get(name, len(trees) + len(forests))


@pytest.mark.slow
@pytest.mark.parametrize(("learner", "schema", "n_rows"), AGREEING)
def test_every_export_agrees_with_predict(learner, schema, n_rows):
    given = exportable(learner, schema)
    offered = {name: agreement(form, given, n_rows) for name, form in TARGETS.items() if fits(form, given)}
    assert all(done.n_rows > n_rows < 2 * done.n_answers for done in offered.values())
    is_tree = learner not in NOT_TREES
    assert set(offered) >= ({"json", "python", "sqlite", "duckdb"} if is_tree else {"json"})
    assert ("rules" in offered) == (is_tree and given.function.is_one_tree)
    if is_tree:
        chances = {"leaf": True, "votes": True, "odds": None}.get(given.function.probabilities, False)
        assert offered["python"].has_probabilities == (chances is not False)
        assert offered["sqlite"].has_probabilities == (chances is True), "SQLite lacks exp in many builds"


COLOURS = ("red", "green", "blue", "or missing", *(name for name in HOSTILE if " or missing" not in name))
FEATURES = (
    NumericFeature("size", -1, 2.5, missing_as=0.1),
    NumericFeature("age", 0.5, 9.5, whole=True, missing_as=2.5),
    NumericFeature("count", -7, 7, whole=True),
    NumericFeature(HOSTILE[0], 0, 1e-280),
    CategoricalFeature("colour", COLOURS, missing_as="blue", unknown_as="red"),
    CategoricalFeature(HOSTILE[3], ("a", "b", "c"), unknown_as="c"),
    CategoricalFeature(HOSTILE[5], ("one",), missing_as="one"),
    DateFeature("year", 1900, 2030, order="dmy", missing_as=1950, missing_codes=("k.A.", "01.01.1900")),
    DateFeature("day", 1, 7, part="weekday"),
    DateFeature("since", -40, 4000, part="days", since="2012-02-29", order="mdy"),
    NumericFeature("x", -5, 5, missing_as=2, missing_codes=("999", "-1.0", "k.A.")),
    CategoricalFeature("c", ("a", "7", "b"), missing_as="b", missing_codes=("9", "-", "a\nb"), groups=(("A", "a"), ("70", "b"))),
)
SCHEMA = Schema(FEATURES, ClassTarget("y\u2028", ("no", *HOSTILE[:2])))
NUMBERS = Schema(FEATURES, NumericTarget("y", -10, 10))
TWO = Schema(FEATURES, ClassTarget("y", HOSTILE[3:5]))


def grown(schema: Schema, rng: np.random.Generator, depth: int) -> Node:
    """Trees no learner would grow: impossible questions, thresholds outside the range and on halves, empty and full sets."""
    if depth == 0 or rng.random() < 0.15:
        if isinstance(schema.target, NumericTarget):
            return NumberLeaf(float(rng.normal(0, 5)))
        shares = rng.dirichlet(np.ones(len(schema.classes))).tolist()
        return Leaf(int(rng.integers(len(schema.classes))), tuple(rng.integers(-3, 9, len(shares)).tolist()), tuple(shares))
    place = int(rng.integers(len(FEATURES)))
    feature = FEATURES[place]
    if isinstance(feature, CategoricalFeature):
        rule = SubsetRule(place, tuple(np.flatnonzero(rng.random(len(feature.categories)) < 0.5).tolist()))
    else:
        width = feature.high - feature.low
        threshold = float(rng.choice([rng.uniform(feature.low, feature.high), rng.integers(-9, 10), rng.integers(-9, 10) + 0.5]))
        threshold = float(rng.choice([threshold, feature.low, feature.high, feature.low - width, feature.high + width, -0.0]))
        rule = ThresholdRule(place, threshold)
    return Branch(rule, grown(schema, rng, depth - 1), grown(schema, rng, depth - 1))


def packed(schema: Schema, rng: np.random.Generator, *, with_counts: bool) -> PackedForest:
    """Four trees: two children at thresholds, one per category at their lists, negative counts too."""
    nodes: list[tuple[int, float]] = []
    for _ in range(4):
        waiting = [0]
        while waiting:
            depth = waiting.pop(0)
            feature = LEAF if depth > 2 else int(rng.integers(len(FEATURES)))
            declared = FEATURES[feature] if feature != LEAF else None
            many = isinstance(declared, CategoricalFeature)
            threshold = np.nan if declared is None or many else float(rng.uniform(declared.low, declared.high))
            children = 0 if declared is None else len(declared.categories) if many else 2
            nodes.append((feature, threshold))
            waiting += [depth + 1] * children
    splits = PackedTrees.of(schema, nodes)
    n_leaves, n_classes = len(splits.leaves), len(schema.classes)
    tallies = rng.integers(-3, 9, (n_leaves, n_classes)) if with_counts else None
    labels = rng.integers(0, n_classes, n_leaves) if tallies is None else tallies.argmax(axis=1)
    return PackedForest(splits, labels.astype(np.uint8), tallies)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sqlite", "duckdb", "python"])
def test_many_trees_deep_chains_and_thresholds_of_seventeen_digits(name, rng):
    schema = Schema((NumericFeature("x", 0, 10),), ClassTarget("y", ("a", "b")))
    cuts = sorted(rng.uniform(0, 10, 62).tolist())
    forest = Forest(schema, tuple(Tree(schema, Branch(ThresholdRule(0, k / 120), Leaf(k % 2), Leaf(1))) for k in range(1, 1200)))
    left: Node = Leaf(0)
    right: Node = Leaf(0)
    for place, cut in enumerate(cuts):
        left = Branch(ThresholdRule(0, cut), left, Leaf(place % 2))
        right = Branch(ThresholdRule(0, cuts[-1 - place]), Leaf(place % 2), right)
    for model in (forest, Tree(schema, left), Tree(schema, right)):
        assert agreement(TARGETS[name], document(model)).n_rows > 200
    assert quotient(0.30000000000000004) == "(1351079888211149 * 1.0 / 4503599627370496)", "SQLite misreads the decimal text"


@pytest.mark.verify
def test_thirty_columns_of_nine_hundred_categories_take_seconds(rng):
    features = tuple(CategoricalFeature(f"c{k}", tuple(f"code {j}" for j in range(900))) for k in range(30))
    schema = Schema(features, ClassTarget("y", ("a", "b")))

    def node(depth: int) -> Node:
        if not depth:
            return Leaf(int(rng.integers(2)), shares=(0.25, 0.75))
        codes = tuple(rng.choice(900, 450, replace=False).tolist())
        return Branch(SubsetRule(int(rng.integers(30)), codes), node(depth - 1), node(depth - 1))

    given = document(Tree(schema, node(6)))
    for name, form in {**TARGETS, "report": form_called("report")}.items():
        start = time.process_time()
        contract.export(form, given)
        assert time.process_time() - start < 15, name


def test_a_name_is_spelled_once_however_many_leaves_it_stands_at():
    """Else rules of thirty columns of 900 categories take minutes, as `make verify` measures."""
    feature = CategoricalFeature("c", tuple(f"code {k}" for k in range(64)))
    schema = Schema((feature,), ClassTarget("y", ("a", "b")))

    def node(low: int, high: int) -> Node:
        middle = (low + high) // 2
        if high - low == 2:
            return Leaf(middle % 2, shares=(0.25, 0.75) if low % 4 else (0.75, 0.25))
        return Branch(SubsetRule(0, tuple(range(low, middle))), node(low, middle), node(middle, high))

    contract.quote_name.cache_clear()
    contract.export(TARGETS["rules"], document(Tree(schema, node(0, 64))))
    spelled_names = contract.quote_name.cache_info()
    assert spelled_names.misses <= 64 + len(("c", "y", "a", "b"))
    assert spelled_names.hits > 0


# --- what cannot be exported


@pytest.mark.slow
def test_a_model_that_is_too_large_or_no_single_tree_is_refused_in_words():
    forest = exportable("jpw-forest", schema_with_stand_ins())
    with pytest.raises(UnsupportedError, match="shows a single tree; this model has many"):
        contract.export(TARGETS["rules"], forest)
    with pytest.raises(UnsupportedError, match=r"has [\d,]+ leaves; SQL for SQLite is offered up to 3"):
        contract.export(replace(TARGETS["sqlite"], most_ends=3), forest)
    with pytest.raises(UnsupportedError, match="is no tree"):
        contract.export(TARGETS["python"], exportable("logistic", schema_with_stand_ins()))
    capitals = Schema((NumericFeature("Age", 0, 1), NumericFeature("age", 0, 1)), ClassTarget("y", ("a", "b")))
    with pytest.raises(UnsupportedError, match="cannot tell the columns 'Age' and 'age' apart"):
        contract.export(TARGETS["sqlite"], document(Tree(capitals, Leaf(0))))
    with pytest.raises(UnsupportedError, match="name of an answer"):
        contract.export(TARGETS["sqlite"], ExportInput(document(Tree(capitals, Leaf(0))).text, key="P_A"))


# --- names


class Elements(HTMLParser):
    """(element, attribute) of everything a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[tuple[str, str]] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {(tag, ""), *((tag, name) for name, _ in attrs)}


@pytest.mark.slow
def test_a_name_in_a_drawing_or_report_makes_no_element_and_no_link() -> None:
    for name in ATTACKS:
        drawn, plain = (ElementTree.fromstring(written(each, "svg")) for each in (name, "plain"))
        assert {node.tag for node in drawn.iter()} == {node.tag for node in plain.iter()}
        assert not [key for node in drawn.iter() for key in node.attrib if key.endswith(("href", "src")) or key.startswith("on")]
        assert Elements(written(name, "report")).found == Elements(written("plain", "report")).found


# --- what they say


@pytest.mark.parametrize("form", [form for form in FORMS if form.name != "json"], ids=lambda form: form.name)
def test_every_fact_travels_in_one_comment_and_the_guarantee_first(form):
    given = exportable("privatree", schema_with_stand_ins())
    content = contract.export(form, given)
    head = content.split("\n\n")[0]
    assert all(fact in head for fact in given.facts)
    assert set("εδ∞").isdisjoint(head), "a terminal may lack them"
    assert "A simulation, not a release." in head


def test_rules_say_what_they_mean_in_full():
    features = (
        NumericFeature("size", 0, 1, missing_as=0.2),
        NumericFeature("age", 0, 90, whole=True),
        CategoricalFeature("colour", ("red", "green", "blue"), unknown_as="red"),
    )
    leaf = Leaf(1, counts=(3, -1, 40), shares=(0.1, 0.0, 0.9))
    high = Branch(SubsetRule(2, (0, 2)), Leaf(2, shares=(0.0, 0.0, 1.0)), leaf)
    low = Branch(ThresholdRule(1, 37.2), Leaf(0, shares=(1.0, 0.0, 0.0)), leaf)
    tree = Tree(Schema(features, ClassTarget("y", ("a", "b", "c"))), Branch(ThresholdRule(0, 0.1), low, high))
    text = str(TARGETS["rules"].write(document(tree)))
    assert "Rule 1\n  if     size <= 0.1\n  and    age < 37.5\n  then   a\n  with   1.0 0.0 0.0\n" in text
    assert "  if     size > 0.1 or missing\n  and    colour is unknown or not green\n  then   c\n" in text
    assert "  and    colour is green\n  then   b\n  with   0.1 0.0 0.9\n  rows   42 = 3 - 1 + 40\n" in text


def test_rules_count_the_rows_of_every_leaf_also_of_two_that_are_alike():
    schema = Schema((NumericFeature("size", 0, 1), NumericFeature("age", 0, 90)), ClassTarget("y", ("a", "b")))
    counted, uncounted = Leaf(1, counts=(2, 5), shares=(0.3, 0.7)), Leaf(1, shares=(0.3, 0.7))
    for leaf, n_rules in ((counted, 2), (uncounted, 1)):
        text = str(TARGETS["rules"].write(document(Tree(schema, Branch(ThresholdRule(0, 0.1), leaf, leaf)))))
        assert text.count("\nRule ") == n_rules
        assert text.count("rows   7 = 2 + 5") == (n_rules if leaf is counted else 0)


def test_a_column_the_table_lacks_is_an_error_in_sqlite_and_not_a_text():
    content = str(TARGETS["sqlite"].write(document(Tree(SCHEMA, Leaf(0)))))
    base = sqlite3.connect(":memory:")
    base.execute(f'CREATE TABLE {TABLE} ("size", "age")')
    with pytest.raises(sqlite3.OperationalError, match=r"no such column: r\.count"):
        base.execute(content)


# --- the programs that exports are made for read them: a name from a file is a text there, and nothing else

#: Names into which all pieces of syntax are put.
TOGETHER = 40


def for_many_names(form: str, check: Callable[[str, str], None], count: int = 60) -> None:
    """`check(name, export)` for every piece of syntax, and for made-up names; some may stand in no schema or no such file."""

    def checked(name: str) -> bool:
        try:
            text = written(name, form)
        except (UnsupportedError, SchemaError):
            return False
        check(name, text)
        return True

    @examples(count)
    @given(NAMES)
    @example("a&amp;b")
    def made_up(name: str) -> None:
        checked(name)

    together = ["".join(SYNTAX[start::TOGETHER]) for start in range(TOGETHER)]
    assert sum(map(checked, together)) > 0.9 * TOGETHER
    made_up()


@pytest.mark.slow
def test_sqlite_reads_and_does_nothing_else() -> None:
    base = sqlite3.connect(":memory:")
    done: set[tuple[int, str | None]] = set()

    def note(action: int, *about: str | None) -> int:
        done.add((action, about[1] if action == sqlite3.SQLITE_FUNCTION else None))
        return sqlite3.SQLITE_OK

    def does(name: str, text: str) -> set[tuple[int, str | None]]:
        base.execute(f"CREATE TABLE {TABLE} ({identifier(f'{name} of')})")
        done.clear()
        base.set_authorizer(note)
        rows = base.execute(text).fetchall()
        base.set_authorizer(None)
        assert rows == []
        base.execute(f"DROP TABLE {TABLE}")
        return set(done)

    plain = does("plain", written("plain", "sqlite"))

    def check(name: str, text: str) -> None:
        assert does(name, text) <= plain

    for_many_names("sqlite", check)


@pytest.mark.slow
def test_duckdb_finds_one_query() -> None:
    def check(name: str, text: str) -> None:
        (statement,) = duckdb.extract_statements(text)
        assert statement.type == duckdb.StatementType.SELECT

    for_many_names("duckdb", check)


#: Runs exported functions, and prints what Python's audit hooks tell of each: events such as import, open, exec, os.system.
BARE = """
import json, sys
texts, told = json.load(sys.stdin), []
sys.addaudithook(lambda event, about: told[-1].add(event) if told else None)
for column, text in texts:
    told.append(set())
    inside = {"__name__": "exported"}
    exec(compile(text, "exported", "exec"), inside)
    inside["predict"]({column: "b"})
print(json.dumps([sorted(events) for events in told]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("count", [20, pytest.param(60, marks=pytest.mark.verify)])
def test_a_bare_python_runs_nothing_but_the_function(count: int) -> None:
    texts = [("plain of", written("plain", "python"))]
    for_many_names("python", lambda name, text: texts.append((f"{name} of", text)), count)
    command = [sys.executable, "-I", "-c", BARE]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    plain, *others = map(set, json.loads(done.stdout))
    assert "compile" in plain
    assert [text for (_, text), events in zip(texts[1:], others, strict=True) if not events <= plain] == []


@pytest.mark.slow
@given(NAMES)
@example("\x0b=1+1")
@example("a\rb")
def test_a_workbook_takes_no_cell_of_a_table_for_a_formula(name: str) -> None:
    table = [[name, 1], [f" {name}", -2.5]]
    texts = (csv_text([name, "number"], table), frame_csv(DataFrame(table, columns=[name, "number"])))
    cell = Workbook().active.cell(1, 1)
    for text in texts:
        lines = list(csv.reader(StringIO(text, newline="")))
        assert [len(line) for line in lines] == [2, 2, 2]
        for found, asked in zip(lines, (name, name, f" {name}"), strict=True):
            assert found[0] in (asked, f"'{asked}")
            cell.value = ILLEGAL_CHARACTERS_RE.sub("", found[0])
            assert cell.data_type == "s"
