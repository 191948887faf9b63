"""The JSON document: what it says, and what a reader refuses, with the place."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DocumentError, DpvizError, SchemaError
from dpviz.models.document import missing_and_unknown, model_body
from dpviz.models.tree import Leaf, SubsetRule, ThresholdRule, Tree
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.examples import examples
from tests.support.tables import hostile_schema, schema_of, table

RESULT = dpviz.fit("pf-tree", table(schema_of("mixed", 3), 80), epsilon=2.0, depth=3, max_depth=3, seed=1, leaves="labels")
TEXT = RESULT.to_json()
DOCUMENT = json.loads(TEXT)


def read(document) -> Tree:
    return dpviz.model_from_json(json.dumps(document))


def changed(path: str, value) -> dict:
    """The document with another value at a path such as "root.left.op"; `...` removes the entry."""
    document = copy.deepcopy(DOCUMENT)
    *way, last = path.split(".")
    place = document
    for step in way:
        place = place[int(step)] if isinstance(place, list) else place[step]
    key = int(last) if isinstance(place, list) else last
    if value is ...:
        del place[key]
    else:
        place[key] = value
    return document


def first_path(op: str) -> str:
    """Where the first branch with this operator stands."""

    def walk(node, path):
        if "leaf" in node:
            return None
        return path if node["op"] == op else walk(node["left"], path + ".left") or walk(node["right"], path + ".right")

    return walk(DOCUMENT["root"], "root")


NUMERIC, CATEGORICAL = first_path("<="), first_path("in")


def test_the_fixture_has_both_kinds_of_rules():
    assert NUMERIC
    assert CATEGORICAL


def test_the_document_says_everything_once():
    assert list(DOCUMENT) == ["format", "kind", "root", "schema", "learner", "privacy", "versions"]
    assert (DOCUMENT["format"], DOCUMENT["kind"]) == ("dpviz-tree/1", "tree")
    assert DOCUMENT["learner"] == {
        "name": "pf-tree",
        "settings": {"epsilon": 2.0, "max_depth": 3, "depth": 3, "delta": 0.0},
        "parameters": {"leaves": "labels", "lookahead": "auto", "class_weights": None, "level_shares": None},
        "depth": 3,
    }
    privacy = DOCUMENT["privacy"]
    assert list(privacy) == ["neighbours", "guarantee", "risk", "claim", "ledger", "disclosures", "noise"]
    assert privacy["neighbours"] == "add/remove one row"
    assert privacy["guarantee"] == {"epsilon": 2.0, "delta": 0.0}
    assert privacy["claim"]["verdict"] == "holds"
    assert len(privacy["ledger"]) == 3
    assert set(DOCUMENT["versions"]) == {"dpviz", "numpy", "python"}


def leaf_with(**released) -> dict:
    return {**DOCUMENT, "root": {"leaf": "c1", **released}}


def test_counts_and_shares_of_a_leaf_are_read_and_written_as_they_were():
    leaf = Leaf(1, (12, -3, 40), (0.25, 0.0, 0.75))
    body = model_body(Tree(RESULT.schema, leaf))
    assert body == {"root": {"leaf": "c1", "counts": [12, -3, 40], "shares": [0.25, 0.0, 0.75]}}
    assert read({**DOCUMENT, **body}).root == leaf
    assert read(leaf_with()).root == Leaf(1)


@pytest.mark.parametrize(
    ("released", "says"),
    [
        ({"counts": [1, 2]}, "root.counts: One number per class is needed: 3."),
        ({"counts": [1, 2, 3.5]}, r"root.counts\[2\]"),
        ({"shares": [0.5, 0.5, 0.0, 0.0]}, "root.shares: One number per class is needed: 3."),
        ({"shares": [0.5, 0.4, 0.0]}, "root.shares: Shares must not be negative and must add up to 1."),
        ({"shares": [1.5, -0.5, 0.0]}, "root.shares: Shares must not be negative and must add up to 1."),
        ({"shares": [0.5, "0.5", 0.0]}, r"root.shares\[1\]"),
    ],
)
def test_counts_and_shares_that_cannot_be_are_refused_with_their_place(released, says):
    with pytest.raises(DocumentError, match=says):
        read(leaf_with(**released))


def test_branches_hold_names_an_operator_and_directions_and_leaves_hold_class_names():
    def walk(node):
        if "leaf" in node:
            assert set(node) == {"leaf"}
            assert node["leaf"] in ("c0", "c1", "c2")
            return
        sides = {"<=": ["feature", "op", "threshold", "missing"], "in": ["feature", "op", "values", "missing", "unknown"]}
        assert list(node) == [*sides[node["op"]], "left", "right"]
        assert node["feature"] in RESULT.schema.feature_names
        for child in (node["left"], node["right"]):
            walk(child)

    walk(DOCUMENT["root"])


def test_infinity_is_written_as_a_word():
    document = json.loads(dpviz.fit("cart", table(schema_of()), epsilon=1.0, seed=0).to_json())
    assert document["privacy"]["guarantee"]["epsilon"] == "infinity"
    assert document["privacy"]["ledger"][0]["epsilon"] == "infinity"


def test_bytes_and_a_byte_order_mark_are_read():
    assert dpviz.model_from_json(TEXT.encode()) == RESULT.model
    assert dpviz.model_from_json("\ufeff" + TEXT) == RESULT.model


def test_unknown_keys_are_ignored():
    document = copy.deepcopy(DOCUMENT)
    document["remark"] = document["root"]["remark"] = {"any": ["thing"]}
    assert read(document) == RESULT.model


def test_a_document_needs_only_format_kind_root_and_schema():
    assert read({key: DOCUMENT[key] for key in ("format", "kind", "root", "schema")}) == RESULT.model


@pytest.mark.parametrize(
    ("path", "value", "where", "what"),
    [
        ("format", ..., "format", "missing"),
        ("format", "dpviz-tree/2", "format", "The format 'dpviz-tree/2' is not known here"),
        ("format", 1, "format", "must be a text"),
        ("kind", ..., "kind", "missing"),
        ("kind", "jungle", "kind", "'boosted'; got 'jungle'"),
        ("kind", "additive", "kind", "got 'additive'"),  # written by earlier versions
        ("kind", [], "kind", "must be a text; got a list"),
        ("schema", ..., "schema", "missing"),
        ("schema", [], "schema", "must be an object"),
        ("schema.format", "dpviz-schema/9", "schema.format", "not known here"),
        ("schema.features", {}, "schema.features", "must be a list"),
        ("schema.features.0", 3, "schema.features[0]", "must be an object"),
        ("root", ..., "root", "missing"),
        ("root", [], "root", "must be an object"),
        ("root", "c0", "root", "must be an object"),
        ("root.left", ..., "root.left", "missing"),
        ("root.left", None, "root.left", "must be an object"),
        ("root.right.left", 7, "root.right.left", "must be an object"),
        ("root.left", {"leaf": "c9"}, "root.left.leaf", "'c9' is not declared in the schema"),
        ("root.left", {"leaf": 0}, "root.left.leaf", "must be a text"),
        ("root.left", {"leaf": None}, "root.left.leaf", "must be a text"),
        ("root.left", {}, "root.left.feature", "missing"),
        ("root.feature", "shoe size", "root.feature", "'shoe size' is not declared"),
        ("root.feature", 0, "root.feature", "must be a text"),
        ("root.op", "<", "root.op", "'<' does not fit the feature"),
        ("root.op", True, "root.op", "must be a text"),
        (f"{NUMERIC}.op", "in", f"{NUMERIC}.op", "'in' does not fit the feature"),
        (f"{CATEGORICAL}.op", "<=", f"{CATEGORICAL}.op", "'<=' does not fit the feature"),
        (f"{NUMERIC}.threshold", ..., f"{NUMERIC}.threshold", "missing"),
        (f"{NUMERIC}.threshold", "3", f"{NUMERIC}.threshold", "must be a number"),
        (f"{NUMERIC}.threshold", True, f"{NUMERIC}.threshold", "must be a number"),
        (f"{NUMERIC}.threshold", None, f"{NUMERIC}.threshold", "must be a number"),
        (f"{NUMERIC}.threshold", 10**400, f"{NUMERIC}.threshold", "must be a finite number"),
        (f"{CATEGORICAL}.values", "red", f"{CATEGORICAL}.values", "must be a list"),
        (f"{CATEGORICAL}.values", ["pink"], f"{CATEGORICAL}.values", "'pink' is not declared"),
        (f"{CATEGORICAL}.values", [["red"]], f"{CATEGORICAL}.values[0]", "must be a text"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(path, value, where, what):
    with pytest.raises(DocumentError) as problem:
        read(changed(path, value))
    assert problem.value.where == where
    assert what in problem.value.what
    assert problem.value.remedy
    assert str(problem.value).startswith(f"{where}: ")


@pytest.mark.parametrize("text", ["", "{", "nonsense", '{"format": NaN}', "[" * 100_000, "\x00", '{"a": 1, "a": 2}'])
def test_what_is_not_json_is_refused(text):
    with pytest.raises(DocumentError):
        dpviz.model_from_json(text)


@pytest.mark.parametrize("text", ["[]", "3", "null", '"text"'])
def test_json_that_is_no_object_is_refused(text):
    with pytest.raises(DocumentError, match="must be an object"):
        dpviz.model_from_json(text)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_thresholds_are_finite(number):
    document = json.dumps(changed(f"{NUMERIC}.threshold", "HERE")).replace('"HERE"', number)
    with pytest.raises(DocumentError, match="number"):
        dpviz.model_from_json(document)


def nested(levels: int) -> dict:
    root = {"leaf": "c0"}
    for _ in range(levels):
        root = {"feature": "height", "op": "<=", "threshold": 0, "left": {"leaf": "c1"}, "right": root}
    return changed("root", root)


def test_trees_may_be_64_levels_deep_and_no_deeper():
    assert read(nested(64)).depth == 64
    with pytest.raises(DocumentError, match="The tree is deeper than 64 levels"):
        read(nested(65))


def test_a_contradictory_schema_is_refused():
    document = changed("schema.features.0.low", 1e9)
    with pytest.raises(SchemaError, match="height: The range"):
        read(document)
    document = copy.deepcopy(DOCUMENT)
    document["schema"]["target"] = {"kind": "number", "name": "y", "low": 0, "high": 1}
    with pytest.raises(DpvizError):
        read(document)


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.lists(st.text(max_size=3), max_size=3),
    st.sampled_from(["tree", "constant", "<=", "in", "c0", "height", "colour", 10**400]),
)


def places(value, way=()):
    yield way
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*way, key))


READ = {key: DOCUMENT[key] for key in ("format", "kind", "root", "schema")}
PLACES = [way for way in places(READ) if way]


@examples(400)
@given(data=st.data())
@pytest.mark.slow
def test_a_damaged_document_gives_a_model_or_a_dpviz_error(data):
    document = copy.deepcopy(READ)
    for way in data.draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=3)):
        _damage(document, way, data)
    try:
        model = dpviz.model_from_json(json.dumps(document))
    except DpvizError as problem:
        assert problem.what  # noqa: PT017
    else:
        rows = table(model.schema, 5)
        assert model.predict(rows).max() < len(model.schema.classes)


def _damage(document, way, data) -> None:
    place = document
    for step in way[:-1]:
        try:
            place = place[step]
        except (KeyError, IndexError, TypeError):
            return  # an earlier damage took this place away
    action = data.draw(st.sampled_from(["replace", "remove", "swap"]))
    other = READ
    for step in data.draw(st.sampled_from(PLACES)):
        other = other[step]
    try:
        if action == "remove":
            del place[way[-1]]
        else:
            place[way[-1]] = data.draw(junk) if action == "replace" else copy.deepcopy(other)
    except (KeyError, IndexError, TypeError):
        return


@examples(200)
@given(st.text(max_size=60))
def test_any_text_gives_a_dpviz_error(text):
    with pytest.raises(DpvizError):
        dpviz.model_from_json(text)


@examples(100)
@given(st.integers(0, len(TEXT) - 1), st.text(min_size=0, max_size=3))
def test_a_text_cut_and_patched_anywhere_gives_a_model_or_a_dpviz_error(position, patch):
    try:
        model = dpviz.model_from_json(TEXT[:position] + patch + TEXT[position + 1 :])
    except DpvizError as problem:
        assert str(problem)  # noqa: PT017
    else:
        assert model.kind == "tree"


def test_missing_and_unknown_values_go_where_their_stand_ins_go():
    schema = Schema(
        (
            NumericFeature("x", 0, 10, missing_as=3),
            NumericFeature("z", 0, 10),
            CategoricalFeature("c", ("a", "b", "?"), missing_as="?", unknown_as="a"),
            CategoricalFeature("d", ("a", "b")),
        ),
        ClassTarget("y", ("n", "p")),
    )
    assert missing_and_unknown(schema, ThresholdRule(0, 3.0))[0] == "left"
    assert missing_and_unknown(schema, ThresholdRule(0, 2.5))[0] == "right"
    assert missing_and_unknown(schema, ThresholdRule(1, 9.0))[0] == "right"
    assert missing_and_unknown(schema, SubsetRule(2, (0, 1))) == ("right", "left")
    assert missing_and_unknown(schema, SubsetRule(2, (1, 2))) == ("left", "right")
    assert missing_and_unknown(schema, SubsetRule(2, (0, 2))) == ("left", "left")
    assert missing_and_unknown(schema, SubsetRule(3, (0, 1))) == ("right", "right")


def test_directions_stand_in_the_document():
    schema = Schema(
        (CategoricalFeature("c", ("a", "b"), missing_as="a", unknown_as="b"),), ClassTarget("y", ("n", "p")), n_public=100
    )
    data = table(schema, 100)
    data = type(data)(schema, data.columns, data.columns[0])
    root = json.loads(dpviz.fit("cart", data, epsilon=1.0, seed=0).to_json())["root"]
    assert (root["values"], root["missing"], root["unknown"]) == (["a"], "left", "right")


def test_hostile_names_stand_in_the_document_as_they_are():
    data = table(hostile_schema(), 60)
    result = dpviz.fit("pf-tree", data, epsilon=5.0, depth=3, seed=1)
    model = dpviz.model_from_json(result.to_json().encode("utf-8"))
    assert model.schema == data.schema
    np.testing.assert_array_equal(model.predict(data), result.model.predict(data))


def numbers_document() -> dict:
    """The document of a tree that predicts numbers: the same rules, leaves 0.5, 1.5, ..."""
    document = copy.deepcopy(DOCUMENT)
    count = iter(range(100))

    def with_values(node):
        return (
            {"value": next(count) + 0.5}
            if "leaf" in node
            else node | {side: with_values(node[side]) for side in ("left", "right")}
        )

    document["schema"]["target"] = {"kind": "number", "name": "price", "low": 0.0, "high": 50.0, "read_from_data": []}
    document["root"] = with_values(document["root"])
    return document


def test_a_tree_of_numbers_reads_back_exactly():
    document = numbers_document()
    tree = read(document)
    assert tree.values == tuple(place + 0.5 for place in range(tree.n_leaves))
    assert tree.schema.target == NumericTarget("price", 0.0, 50.0)
    assert model_body(tree) == {"root": document["root"]}


@pytest.mark.parametrize("value", [None, "1", True, 10**400])
def test_a_leaf_without_a_finite_number_is_refused_with_its_place(value):
    document = numbers_document()
    document["root"]["left"] = {"value": value}
    with pytest.raises(DocumentError) as problem:
        read(document)
    assert problem.value.where == "root.left.value"


def test_classes_and_numbers_do_not_mix():
    with pytest.raises(DocumentError, match=r"root\.left: This leaf must predict a class"):
        read(changed("root.left", {"value": 1.0}))
    document = numbers_document()
    document["root"]["left"] = {"leaf": "c0"}
    with pytest.raises(DocumentError, match="The target is a number and has no classes"):
        read(document)
    forest = {**numbers_document(), "kind": "forest", "roots": [{"value": 1.0}]}
    with pytest.raises(DocumentError, match="roots: The target is a number and has no classes"):
        read(forest)
