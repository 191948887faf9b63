"""Every export predicts what the model predicts, in its own target, or it is not offered."""

import ast
import json
import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from dpviz.errors import NotExported
from dpviz.figures.publish.exports import REPORT
from dpviz.io.exports import FORMS, contract
from dpviz.io.exports.conditions import Condition
from dpviz.io.exports.contract import Exportable, WrittenForm, require_fit
from dpviz.io.exports.function import function_of
from dpviz.io.exports.sql import TABLE, identifier, quotient
from dpviz.models.document import model_body
from dpviz.models.tree import Branch, Forest, Leaf, NumberLeaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.columns import Column
from dpviz.table.encode import encode
from dpviz.table.raw import RawTable
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.checked import Differs, export, gives_chances, golden, run
from tests.support.exports_models import (
    CASES,
    HOSTILE,
    IDS,
    NOT_TREES,
    document,
    exportable,
    hostile_tree,
    number_schema,
    schema_with_stand_ins,
)
from tests.support.golden_exports import GoldenRows, golden_rows, holds, said

TARGETS = {form.name: form for form in FORMS}


def fits(target: WrittenForm, given: Exportable) -> bool:
    try:
        require_fit(target, given)
    except NotExported:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("random_rows", [200, pytest.param(10_000, marks=pytest.mark.verify)])
@pytest.mark.parametrize(("learner", "schema"), CASES, ids=IDS)
def test_every_export_agrees_on_golden_rows_and_on_random_ones(learner, schema, random_rows):
    given = exportable(learner, schema)
    given.__dict__["golden"] = golden_rows(given.model, None if learner in NOT_TREES else given.function, random_rows=random_rows)
    assert len(golden(given).rows) > (min(2_000, random_rows // 2) if learner in NOT_TREES else 0.9 * random_rows)
    offered = [target for target in TARGETS.values() if fits(target, given)]
    for target in offered:
        done = export(target, given)
        assert done.n_rows == len(golden(given).rows)
        assert done.has_chances == gives_chances(target, given)
    names = {target.name for target in offered}
    assert names >= ({"json"} if learner in NOT_TREES else {"json", "python", "sqlite", "duckdb"})
    assert ("rules" in names) == (learner not in NOT_TREES and given.function.is_one_tree)


# --- probabilities


def tree_with_shares() -> Tree:
    schema = tree_of_everything(missing_as=0.1).schema
    leaves = [
        Leaf(code, shares=shares) for code, shares in ((0, (1 / 3, 1 / 3, 1 / 3)), (1, (0.1, 0.7, 0.2)), (1, (0.0, 1.0, 0.0)))
    ]
    inner = Branch(SubsetRule(2, (0, 2)), leaves[1], leaves[2])
    return Tree(schema, Branch(ThresholdRule(0, 0.1), leaves[0], inner))


PROBABLE = [name for name, target in TARGETS.items() if target.group != "picture"]


def test_leaves_with_the_same_label_keep_their_own_probabilities():
    for name in PROBABLE:
        given = document(tree_with_shares())
        target = TARGETS[name]
        _, found = run(name, target.write(given), given, golden(given).rows)
        np.testing.assert_allclose(np.array(found, dtype=float), golden(given).chances, atol=1e-12)
        assert len({tuple(row) for row in golden(given).chances.tolist()}) == 3


@pytest.mark.parametrize("name", [name for name in PROBABLE if name != "rules"])
def test_other_probabilities_are_noticed(name):
    given = document(tree_with_shares())
    wrong = document(Tree(given.schema, replace(given.model.root, left=Leaf(0, shares=(1 / 3 + 1e-8, 1 / 3 - 1e-8, 1 / 3)))))
    target = replace(TARGETS[name], write=lambda _: TARGETS[name].write(wrong))
    with pytest.raises(Differs, match="gives the probabilities"):
        export(target, given)


def test_the_report_holds_probabilities_in_full():
    assert export(REPORT, document(tree_with_shares())).has_chances


# --- golden rows


def tree_of_everything(*, unknown_as=None, missing_as=None) -> Tree:
    """A threshold on a real and on a whole column, a set of categories."""
    features = (
        NumericFeature("size", 0, 1, missing_as=missing_as),
        NumericFeature("age", 0, 90, whole=True),
        CategoricalFeature("colour", ("red", "green", "blue"), unknown_as=unknown_as),
    )
    low = Branch(ThresholdRule(1, 37.2), Leaf(0), Leaf(1))
    high = Branch(SubsetRule(2, (0, 2)), Leaf(2), Leaf(1))
    return Tree(Schema(features, ClassTarget("y", ("a", "b", "c"))), Branch(ThresholdRule(0, 0.1), low, high))


def golden_of(tree: Tree, *, random_rows: int) -> GoldenRows:
    return golden_rows(tree, function_of(tree), random_rows=random_rows)


def test_golden_rows_sit_on_every_threshold_and_beside_it():
    found = golden_of(tree_of_everything(missing_as=0.3, unknown_as="red"), random_rows=0)
    assert {row[0] for row in found.rows} >= {0.1, 0.09999999999999999, 0.10000000000000002, -1.0, 2.0, None}
    low = {row[1] for row in found.rows if row[0] is not None and row[0] <= 0.1}
    assert low >= {37.0, 37.49999999999999, 37.5, 37.50000000000001, 38.0}
    high = {row[2] for row in found.rows if row[0] is not None and row[0] > 0.1}
    assert high >= {"red", "green", "blue", "none of them"}


def test_a_number_may_differ_by_rounding_and_by_no_more():
    found = golden_of(Tree(number_schema(), NumberLeaf(3.0)), random_rows=3)
    width = found.schema.target.high - found.schema.target.low
    assert found.first_difference([3.0 + 1e-12 * width] * len(found.rows)) is None
    assert found.first_difference([3.0 - 1e-8 * width] * len(found.rows)) is not None


def test_what_golden_rows_expect_is_what_encoded_rows_are_predicted():
    for schema in [schema_with_stand_ins(3), number_schema()]:
        given = exportable("gbdt", schema)
        expected = golden(given)
        columns = [list(column) for column in zip(*expected.rows, strict=True)]
        texts = [
            [None if cell is None else cell if isinstance(cell, str) else repr(cell) for cell in column] for column in columns
        ]
        target = ["c0" if isinstance(schema.target, ClassTarget) else "0"] * len(expected.rows)
        usable = [
            place
            for place, row in enumerate(zip(*texts, strict=True))
            if not any(cell is None and feature.missing_as is None for cell, feature in zip(row, schema.features, strict=True))
        ]
        raw = [raw_column(f.name, [column[k] for k in usable]) for f, column in zip(schema.features, texts, strict=True)]
        data = encode(RawTable((*raw, raw_column(schema.target.name, [target[k] for k in usable]))), schema)
        assert data.n_rows == len(usable) > 200
        found = given.model.predict(data).tolist()
        wanted = [expected.expected[place] for place in usable]
        assert wanted == (found if isinstance(schema.target, NumericTarget) else [schema.classes[code] for code in found])


def raw_column(name, cells):
    import numpy as np

    texts = tuple(dict.fromkeys(cell for cell in cells if cell is not None))
    place = {text: code for code, text in enumerate(texts)}
    return Column(name, texts, np.array([-1 if cell is None else place[cell] for cell in cells], dtype=np.int32))


def test_an_unknown_category_goes_where_its_stand_in_goes_else_right():
    for unknown_as, says in [(None, "b"), ("red", "c"), ("green", "b")]:
        assert said(tree_of_everything(unknown_as=unknown_as), [(0.5, 1.0, "mauve")])[0] == (says,)


def test_a_missing_number_goes_where_its_stand_in_goes_else_right():
    for missing_as, says in [(None, "c"), (0.1, "a"), (0.2, "c")]:
        assert said(tree_of_everything(missing_as=missing_as), [(None, 37.0, "red")])[0] == (says,)


# --- golden rows notice


@pytest.mark.parametrize("name", ["python", "sqlite", "duckdb", "json"])
def test_a_wrong_export_is_noticed(name):
    target = TARGETS[name]
    spoilt = replace(target, write=lambda given: target.write(given).replace("0.1", "0.10000000000000002"))
    with pytest.raises(Differs, match=r"for .*'size': 0.1000"):
        export(spoilt, document(tree_of_everything()))


def test_a_model_that_is_too_large_or_no_single_tree_is_refused_in_words():
    forest = exportable("jpw-forest", schema_with_stand_ins())
    with pytest.raises(NotExported, match="shows a single tree; this model has many"):
        export(TARGETS["rules"], forest)
    with pytest.raises(NotExported, match=r"has [\d,]+ leaves; SQL for SQLite is offered up to 3"):
        export(replace(TARGETS["sqlite"], most_ends=3), forest)
    with pytest.raises(NotExported, match="is no tree"):
        export(TARGETS["python"], exportable("logistic", schema_with_stand_ins()))


# --- names


@pytest.mark.slow
def test_hostile_names_are_only_names():
    for name in TARGETS:
        done = export(TARGETS[name], hostile_tree())
        assert done.n_rows > 500


def test_a_column_called_drop_table_stays_a_column():
    assert identifier('x"; DROP TABLE rows_to_predict; --') == '"x""; DROP TABLE rows_to_predict; --"'
    base = sqlite3.connect(":memory:")
    given = hostile_tree()
    base.execute(f"CREATE TABLE {TABLE} ({', '.join(map(identifier, given.schema.feature_names))})")
    base.execute(f"INSERT INTO {TABLE} DEFAULT VALUES")
    assert len(base.execute(str(export(TARGETS["sqlite"], given).content)).fetchall()) == 1
    assert base.execute(f"SELECT count(*) FROM {TABLE}").fetchone() == (1,)


def test_columns_that_differ_by_capitals_only_are_refused_for_sql():
    features = (NumericFeature("Age", 0, 1), NumericFeature("age", 0, 1))
    tree = Tree(Schema(features, ClassTarget("y", ("a", "b"))), Branch(ThresholdRule(0, 0.5), Leaf(0), Leaf(1)))
    with pytest.raises(NotExported, match="cannot tell the columns 'Age' and 'age' apart"):
        export(TARGETS["sqlite"], document(tree))
    assert export(TARGETS["python"], document(tree)).n_rows > 10


def test_a_column_the_table_lacks_is_an_error_in_sqlite_and_not_a_text():
    content = str(TARGETS["sqlite"].write(document(tree_of_everything())))
    base = sqlite3.connect(":memory:")
    base.execute(f'CREATE TABLE {TABLE} ("size", "age")')
    with pytest.raises(sqlite3.OperationalError, match=r"no such column: r\.colour"):
        base.execute(content)


# --- single targets


def test_the_python_function_imports_nothing_and_names_every_fact():
    given = exportable("privatree", schema_with_stand_ins())
    content = str(contract.export(TARGETS["python"], given).content)
    assert not [node for node in ast.walk(ast.parse(content)) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert "# A simulation, not a release." in content
    assert all(fact in content for fact in given.facts)


def test_the_python_function_reads_texts_and_blanks_as_a_csv_reader_gives_them():
    content = str(TARGETS["python"].write(document(tree_of_everything(missing_as=0.1))))
    rows = [("0.1", "37", "red"), (" ", "38", "red"), ("many", "1", "red"), ("0.5", "1", "")]
    assert run("python", content, document(tree_of_everything(missing_as=0.1)), rows)[0] == ["a", "b", None, None]  # type: ignore[arg-type]


def test_a_class_with_the_name_of_a_keyword_and_columns_alike_after_cleaning_stay_apart():
    features = tuple(NumericFeature(name, 0, 1) for name in ("class", "a b", "a-b", "A_B", "1", "row", "∆"))
    tree = Leaf(0)
    for place in range(len(features)):
        tree = Branch(ThresholdRule(place, 0.5), tree, Leaf(1))
    content = str(export(TARGETS["python"], document(Tree(Schema(features, ClassTarget("y", ("a", "b"))), tree))).content)
    assert [line.strip().split(" = ")[0] for line in content.splitlines() if "(row[" in line] == [
        "class_2",
        "a_b",
        "a_b_2",
        "a_b_3",
        "column_1",
        "row_2",
        "column",
    ]


def test_rules_say_what_they_mean_in_full():
    text = str(export(TARGETS["rules"], document(tree_of_everything())).content)
    assert "Rule 1\n  if     size <= 0.1\n  and    age < 37.5\n  then   a\n" in text
    assert "  if     size > 0.1\n  and    colour is one of red, blue\n  then   c\n" in text
    assert "  and    colour is not one of red, blue\n" in text
    assert "missing" not in text.split("Rule 1")[1]


def test_rules_cover_missing_cells_where_the_schema_says_what_they_count_as():
    text = str(export(TARGETS["rules"], document(tree_of_everything(missing_as=0.2))).content)
    assert "  if     size > 0.1 or missing\n  and    colour is one of red, blue\n  then   c\n" in text


def test_a_tree_of_numbers_keeps_its_numbers():
    for name in [name for name in TARGETS if name != "json"]:
        schema = Schema((NumericFeature("x", 0, 1),), NumericTarget("y", -5, 5))
        tree = Tree(schema, Branch(ThresholdRule(0, 0.3), NumberLeaf(0.1 + 0.2), NumberLeaf(-1e-7)))
        assert export(TARGETS[name], document(tree)).n_rows > 10


def test_a_single_leaf_and_impossible_questions_are_exported_too():
    for name in TARGETS:
        schema = Schema((NumericFeature("x", 0, 1), CategoricalFeature("c", HOSTILE[:3])), ClassTarget("y", ("a", "b")))
        below = Branch(ThresholdRule(0, 0.8), Leaf(0), Branch(SubsetRule(1, ()), Leaf(0), Leaf(1)))
        for root in (Leaf(1), Branch(ThresholdRule(0, 0.2), below, Leaf(1)), Branch(ThresholdRule(0, 1.0), below, Leaf(1))):
            assert export(TARGETS[name], document(Tree(schema, root))).n_rows > 10


@pytest.mark.slow
def test_more_than_a_thousand_trees_are_added_up_in_sql():
    schema = Schema((NumericFeature("x", 0, 1),), ClassTarget("y", ("a", "b")))
    trees = [Tree(schema, Branch(ThresholdRule(0, place / 1200), Leaf(place % 2), Leaf(1))) for place in range(1, 1200)]
    forest = Forest(schema, tuple(trees))
    body = {"format": "dpviz-tree/1", "kind": "forest", **model_body(forest), "schema": schema.to_dict()}
    for name in ("sqlite", "duckdb"):
        assert export(TARGETS[name], Exportable(json.dumps(body))).n_rows > 500


def test_a_number_that_sqlite_misreads_is_written_as_a_quotient():
    assert quotient(0.30000000000000004) == "(1351079888211149 * 1.0 / 4503599627370496)"
    base = sqlite3.connect(":memory:")
    for value in (0.30000000000000004, 3.141592653589793, -2.220446049250313e-05, 123456.78901234567):
        assert base.execute(f"SELECT {quotient(value)}").fetchone() == (value,)


def test_thresholds_of_seventeen_digits_agree_in_every_target(rng):
    schema = Schema((NumericFeature("x", 0, 10),), NumericTarget("y", 0, 100))
    node = NumberLeaf(0.0)
    for place, threshold in enumerate(sorted(rng.uniform(0, 10, 40).tolist(), reverse=True)):
        node = Branch(ThresholdRule(0, threshold), node, NumberLeaf(place + 1.0))
    for target in TARGETS.values():
        assert export(target, document(Tree(schema, node))).n_rows > 200


class Counted(str):
    """A text that counts how often it is compared."""

    asked = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.asked += 1
        return str.__eq__(self, other)


@pytest.mark.slow
def test_conditions_on_many_categories_are_joined_without_comparing_each_with_each():
    for kinds in [("among", "among"), ("among", "but"), ("but", "among"), ("but", "but")]:
        names, n = [Counted(f"code{k}") for k in range(2_000)], 2_000
        first, second = (
            Condition(0, "c", **{kind: tuple(Counted(str(name)) for name in names[start : start + 1_500])})
            for kind, start in zip(kinds, (0, 400), strict=True)
        )
        Counted.asked = 0
        both = first & second
        assert Counted.asked < 20 * n
        assert {name for name in names if holds(both, name)} == {
            name for name in names if holds(first, name) and holds(second, name)
        }
