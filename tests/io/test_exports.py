"""Every export predicts what `predict` does, in its own target, or it is not offered; what a cell means is the same in both."""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from dpviz.charts.publish.exports import SVG
from dpviz.errors import UnsupportedModel
from dpviz.io.exports import FORMS, contract
from dpviz.io.exports.contract import ExportInput, require_fit
from dpviz.io.exports.sql import TABLE, quotient
from dpviz.models.document import model_body
from dpviz.models.packed_forest import LEAF, PackedForest, PackedTrees
from dpviz.models.tree import Branch, Forest, Leaf, Node, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.results.exports import Form, export_names, form_called
from dpviz.table.dates import DateFeature
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.checked import export
from tests.support.exports_models import (
    CASES,
    HOSTILE,
    IDS,
    NOT_TREES,
    OF_EACH_KIND,
    document,
    exportable,
    schema_with_stand_ins,
)
from tests.support.hostile_exports import NAMES, written

TARGETS = {form.name: form for form in FORMS}


def fits(form: Form, given: ExportInput) -> bool:
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
        contract.export(form, given)
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


# --- what they say


@pytest.mark.parametrize("form", [form for form in FORMS if form.name != "json"], ids=lambda form: form.name)
def test_every_fact_travels_in_one_comment_and_the_guarantee_first(form):
    given = exportable("privatree", schema_with_stand_ins())
    content = contract.export(form, given)
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
