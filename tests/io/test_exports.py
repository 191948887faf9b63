"""Every export predicts what `predict` does, in its own target, or it is not offered; what a cell means is the same in both."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
import time
import warnings
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpviz.charts.publish.exports import SVG
from dpviz.errors import UnsupportedModel
from dpviz.io.exports import FORMS, contract
from dpviz.io.exports.contract import ExportInput, WrittenForm, require_fit
from dpviz.io.exports.sql import TABLE, identifier, quotient
from dpviz.models.document import model_body
from dpviz.models.new_rows import answers
from dpviz.models.packed_forest import LEAF, PackedForest, PackedTrees
from dpviz.models.tree import Branch, Forest, Leaf, Node, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.results.exports import export_names, form_called
from dpviz.table.cells import MISSING_MARKS
from dpviz.table.dates import ORDERS, PARTS, DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, Feature, NumericFeature, NumericTarget, Schema
from tests.support.checked import export
from tests.support.exports_models import (
    CASES,
    IDS,
    NOT_TREES,
    OF_EACH_KIND,
    document,
    exportable,
    hostile_tree,
    schema_with_stand_ins,
)
from tests.support.hostile_exports import NAMES, written

TARGETS = {form.name: form for form in FORMS}


def fits(form: WrittenForm, given: ExportInput) -> bool:
    try:
        require_fit(form, given)
    except UnsupportedModel:
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
@pytest.mark.parametrize(("learner", "schema", "n_rows"), AGREEING)
def test_every_export_agrees_with_predict(learner, schema, n_rows):
    given = exportable(learner, schema)
    offered = {name: export(form, given, n_rows) for name, form in TARGETS.items() if fits(form, given)}
    assert all(done.n_rows > n_rows < 2 * done.n_answers for done in offered.values())
    is_tree = learner not in NOT_TREES
    assert set(offered) >= ({"json", "python", "sqlite", "duckdb"} if is_tree else {"json"})
    assert ("rules" in offered) == (is_tree and given.function.is_one_tree)
    if is_tree:
        chances = {"leaf": True, "votes": True, "odds": None}.get(given.function.probabilities, False)
        assert offered["python"].has_chances == (chances is not False)
        assert offered["sqlite"].has_chances == (chances is True), "SQLite lacks exp in many builds"


COLOURS = ("red", "green", "blue", "or missing", "none of them")
FEATURES = (
    NumericFeature("size", -1, 2.5, missing_as=0.1),
    NumericFeature("age", 0.5, 9.5, whole=True, missing_as=2.5),
    NumericFeature("count", -7, 7, whole=True),
    NumericFeature("tiny", 0, 1e-280),
    CategoricalFeature("colour", COLOURS, missing_as="blue", unknown_as="red"),
    CategoricalFeature("town", ("a", "b", "c"), unknown_as="c"),
    CategoricalFeature("only", ("one",), missing_as="one"),
    DateFeature("year", 1900, 2030, order="dmy", missing_as=1950, missing_codes=("k.A.", "01.01.1900")),
    DateFeature("day", 1, 7, part="weekday"),
    DateFeature("since", -40, 4000, part="days", since="2012-02-29", order="mdy"),
    NumericFeature("x", -5, 5, missing_as=2, missing_codes=("999", "-1.0", "k.A.")),
    CategoricalFeature("c", ("a", "7", "b"), missing_as="b", missing_codes=("9", "-", "a\nb"), groups=(("A", "a"), ("70", "b"))),
)
SCHEMA = Schema(FEATURES, ClassTarget("y", ("no", "yes", "perhaps")))
NUMBERS = Schema(FEATURES, NumericTarget("y", -10, 10))
TWO = Schema(FEATURES, ClassTarget("y", ("no", "yes")))


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


def exportable_of(model: Any) -> ExportInput:
    body = {"format": "dpviz-tree/1", "kind": model.kind, **model_body(model), "schema": model.schema.to_dict()}
    return ExportInput(json.dumps(body))


@pytest.mark.slow
@pytest.mark.parametrize("name", export_names())
def test_random_models_agree_and_break_ties_as_the_model_does(name, rng):
    form = form_called(name)
    trees = [Tree(schema, grown(schema, rng, depth)) for schema in (SCHEMA, NUMBERS) for depth in (0, 1, 3, 6, 8)]
    forests = [Forest(schema, tuple(Tree(schema, grown(schema, rng, 4)) for _ in range(6))) for schema in (SCHEMA, TWO)]
    forests += [packed(schema, rng, with_counts=with_counts) for schema in (SCHEMA, TWO) for with_counts in (False, True)]
    done = [export(form, given) for given in map(exportable_of, (*trees, *forests)) if fits(form, given)]
    assert min(each.n_answers for each in done) > 100
    assert len(done) == {"rules": 10, "svg": sum(tree.n_leaves <= SVG.most_ends for tree in trees)}.get(name, 16)


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
        assert export(TARGETS[name], exportable_of(model)).n_rows > 200
    assert quotient(0.30000000000000004) == "(1351079888211149 * 1.0 / 4503599627370496)", "SQLite misreads the decimal text"


@pytest.mark.slow
def test_thirty_columns_of_nine_hundred_categories_take_seconds(rng):
    features = tuple(CategoricalFeature(f"c{k}", tuple(f"code {j}" for j in range(900))) for k in range(30))
    schema = Schema(features, ClassTarget("y", ("a", "b")))

    def node(depth: int) -> Node:
        if not depth:
            return Leaf(int(rng.integers(2)), shares=(0.25, 0.75))
        codes = tuple(rng.choice(900, 450, replace=False).tolist())
        return Branch(SubsetRule(int(rng.integers(30)), codes), node(depth - 1), node(depth - 1))

    given = exportable_of(Tree(schema, node(6)))
    for name, form in {**TARGETS, "report": form_called("report")}.items():
        start = time.process_time()
        form.export(given.text)
        assert time.process_time() - start < 15, name


# --- what cannot be exported


@pytest.mark.slow
def test_a_model_that_is_too_large_or_no_single_tree_is_refused_in_words():
    forest = exportable("jpw-forest", schema_with_stand_ins())
    with pytest.raises(UnsupportedModel, match="shows a single tree; this model has many"):
        contract.export(TARGETS["rules"], forest)
    with pytest.raises(UnsupportedModel, match=r"has [\d,]+ leaves; SQL for SQLite is offered up to 3"):
        contract.export(replace(TARGETS["sqlite"], most_ends=3), forest)
    with pytest.raises(UnsupportedModel, match="is no tree"):
        contract.export(TARGETS["python"], exportable("logistic", schema_with_stand_ins()))
    capitals = Schema((NumericFeature("Age", 0, 1), NumericFeature("age", 0, 1)), ClassTarget("y", ("a", "b")))
    with pytest.raises(UnsupportedModel, match="cannot tell the columns 'Age' and 'age' apart"):
        contract.export(TARGETS["sqlite"], document(Tree(capitals, Leaf(0))))
    with pytest.raises(UnsupportedModel, match="name of an answer"):
        contract.export(TARGETS["sqlite"], ExportInput(document(Tree(capitals, Leaf(0))).text, key="P_A"))


# --- names


@pytest.mark.slow
def test_hostile_names_are_only_names():
    for name in ("json", "python", "sqlite", "duckdb"):
        assert export(TARGETS[name], hostile_tree()).n_rows > 500
    lines = str(TARGETS["rules"].write(hostile_tree())).splitlines()
    assert {line.split()[0] for line in lines if line} == {"#", "Rule", "if", "and", "then"}
    base, given = sqlite3.connect(":memory:"), hostile_tree()
    base.execute(f"CREATE TABLE {TABLE} ({', '.join(map(identifier, given.schema.feature_names))})")
    base.execute(f"INSERT INTO {TABLE} DEFAULT VALUES")
    assert len(base.execute(str(TARGETS["sqlite"].write(given))).fetchall()) == 1
    assert base.execute(f"SELECT count(*) FROM {TABLE}").fetchone() == (1,), "no table was dropped"


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
    for name in NAMES:
        drawn, plain = (ElementTree.fromstring(written(each, "svg")) for each in (name, "plain"))
        assert {node.tag for node in drawn.iter()} == {node.tag for node in plain.iter()}
        assert not [key for node in drawn.iter() for key in node.attrib if key.endswith(("href", "src")) or key.startswith("on")]
        assert Elements(written(name, "report")).found == Elements(written("plain", "report")).found


@pytest.mark.slow
def test_columns_alike_after_cleaning_and_names_of_the_function_itself_stay_apart():
    names = ["a b", "class", "a-b", "A_B", "1", "row", "∆", "MARKS", "number_in", "cells", "leaf", "math", "found"]
    names += ["x_texts", "x"]
    tree: Node = Leaf(0)
    for place in range(len(names)):
        tree = Branch(ThresholdRule(place, 0.5), tree, Leaf(1))
    schema = Schema(tuple(NumericFeature(name, 0, 1) for name in names), ClassTarget("y", ("a", "b")))
    assert export(TARGETS["python"], document(Tree(schema, tree))).n_rows > 10


# --- what they say


@pytest.mark.parametrize("form", [form for form in FORMS if form.name != "json"], ids=lambda form: form.name)
def test_every_fact_travels_in_one_comment_and_the_guarantee_first(form):
    given = exportable("privatree", schema_with_stand_ins())
    content = str(contract.export(form, given).content)
    head = content.split("\n\n")[0]
    assert all(fact in head for fact in given.facts)
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


def test_a_column_the_table_lacks_is_an_error_in_sqlite_and_not_a_text():
    content = str(TARGETS["sqlite"].write(exportable_of(Tree(SCHEMA, Leaf(0)))))
    base = sqlite3.connect(":memory:")
    base.execute(f'CREATE TABLE {TABLE} ("size", "age")')
    with pytest.raises(sqlite3.OperationalError, match=r"no such column: r\.count"):
        base.execute(content)


# --- cells: the Python function


def function_of(feature: Feature, decimal: str | None = None) -> tuple[Tree, Any]:
    """A tree that parts cells of this column as finely as can be, and the function that it becomes."""
    n = len(feature.categories) if isinstance(feature, CategoricalFeature) else 12
    schema = Schema((feature,), ClassTarget("y", tuple(f"y{k}" for k in range(max(n, 2)))), decimal=decimal)
    node: Node = Leaf(n - 1)
    for k in reversed(range(n - 1)):
        if isinstance(feature, CategoricalFeature):
            rule: Any = SubsetRule(0, (k,))
        else:
            rule = ThresholdRule(0, feature.low + (feature.high - feature.low) * (k + 1) / n)
        node = Branch(rule, Leaf(k), node)
    space: dict[str, Any] = {}
    exec(str(TARGETS["python"].write(document(Tree(schema, node)))), space)
    return Tree(schema, node), space["predict"]


SPELLED = ("1", "042", "42", "5E1", "2.5", "1.50", "NA", "true", "FALSE", "Zu\u0308rich", "New York", "2024-03-01 00:00:00", "-0")
COLUMNS = [
    *((NumericFeature("c", -2000, 2000, missing_as=50), decimal) for decimal in (None, ".", ",")),
    (NumericFeature("c", -10, 100, missing_as=77, missing_codes=("1", "2.50", "inf", "k.A.")), "."),
    (CategoricalFeature("c", (*SPELLED, "other"), missing_codes=("7", "k.A.", "yes")), None),
    (CategoricalFeature("c", (*SPELLED, "other"), missing_as="other", unknown_as="42"), None),
    (CategoricalFeature("c", ("1.0", "0", "yes", "male"), groups=(("1", "1.0"), ("M", "male"), ("true", "yes"))), None),
    *(
        (DateFeature("c", *(PARTS[part] or (-10_000, 50_000)), part=part, order=order, missing_codes=("-", "0.0")), None)
        for part, order in zip([*PARTS], [*ORDERS, "ymd"], strict=True)
    ),
]
TYPED = [
    *(1, 1.0, -7, 80.4, 1234.5, True, False, None, float("nan"), float("inf"), float("-inf"), 2**53 + 1, 10**30, 1e-7, -0.0, 42),
    *(np.float64(2.5), np.float32(0.1), np.float32(80.5), np.int8(1), np.uint64(2**63), np.bool_(True), np.False_, np.str_("1")),
    *(np.float64("nan"), np.datetime64("NaT", "ns"), np.datetime64("2024-03-01"), np.datetime64("2024-03-01T14:30:00")),
    *(np.timedelta64(90, "s"), dt.timedelta(seconds=1), pd.Timedelta(81, "s"), np.longdouble(2.5)),
    *(Decimal("1.0"), Decimal("2.50"), Decimal("1E+1"), Decimal("NaN"), Decimal("-0"), Decimal("Infinity"), pd.NA, pd.NaT),
    *(pd.Timestamp("2024-03-01"), pd.Timestamp("2024-03-01 14:30", tz="Europe/Berlin"), dt.time(14, 30), b"1.0", b"NA"),
    *(dt.date(2024, 3, 1), dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 1, 14, 30), dt.datetime(2024, 3, 1, tzinfo=dt.UTC)),
]
DIGITS = st.text("0123456789", min_size=1, max_size=4)
BETWEEN = st.sampled_from(["", ",", ".", "_", "e", ",,", ".,", " ", "'", "\u2009", "\u00a0"])
NUMERALS = st.tuples(
    st.sampled_from(["", "+", "-", "−", " ", "\u00a0"]),
    DIGITS,
    BETWEEN,
    DIGITS,
    BETWEEN,
    st.sampled_from(["", "000", "5", "e3", "E-2", " ", "%", "f"]),
).map("".join)
PIECES = st.sampled_from(["2020", "1999", "0001", "9999", "12", "02", "2", "29", "31", "30", "0", "13", "٣", "", "x"])
DATES = st.tuples(
    PIECES,
    st.sampled_from("-./ "),
    PIECES,
    st.sampled_from("-./ "),
    PIECES,
    st.sampled_from(["", " ", "T", "T12:00", " 12:00", "\t", "T\n"]),
).map("".join)
SPELLINGS = (
    *("inf", "-Infinity", "1e999", "0x10", "१२", "True", "TRUE", ".5", "5.", ",", "-", "na", "1.0", "01", "42.0", "50", "+1"),
    *("Zürich", "New\u00a0York", "1,0", "0.0", "-0.0", "None", "1.0.0", "k.A.", "YES", "M"),
)
ODD = st.sampled_from([*sorted(MISSING_MARKS), *SPELLED, *SPELLINGS])
CELLS = st.one_of(NUMERALS, DATES, ODD, ODD.map(lambda text: f" {text} "), st.text(max_size=5), st.sampled_from(TYPED))
#: What a column of numbers of 64 bits holds: it reads them whatever its decimal mark, also in a column of objects.
UNMARKED = (float, np.floating, Decimal, dt.timedelta, np.timedelta64)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(COLUMNS)))
def test_every_cell_is_read_as_predict_reads_it(place):
    tree, predict = function_of(*COLUMNS[place])

    def check(cell: Any) -> None:
        is_number = isinstance(cell, UNMARKED) and tree.schema.decimal == ","
        kind = float if is_number and isinstance(cell, float | np.floating) else object
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            [wanted] = answers(tree, pd.DataFrame({"c": pd.Series([cell], dtype=kind)})).tolist()
        if not is_number or kind is float:
            assert predict({"c": cell}) == wanted, repr(cell)

    @given(CELLS)
    @example("1,311")
    @example("1,311.5")
    @example("1.311,5")
    @example("1,23,456")
    @example("80,2")
    def made_up(cell: Any) -> None:
        check(cell)

    for cell in TYPED:
        check(cell)
    made_up()
