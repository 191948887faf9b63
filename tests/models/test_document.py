"""The JSON document: what it says, and what a reader refuses, with the place."""

import copy
import json
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DocumentError, DpvizError, SchemaError
from dpviz.models.document import missing_and_unknown, model_body
from dpviz.models.tree import Leaf, SubsetRule, ThresholdRule, Tree
from dpviz.results.result import FitResult
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from tests.support.examples import examples
from tests.support.tables import schema_of, table


@cache
def fitted() -> FitResult:
    asked = {"epsilon": 2.0, "depth": 3, "max_depth": 3, "seed": 1, "leaves": "labels"}
    return dpviz.fit("pf-tree", table(schema_of("mixed", 3), 80), **asked)


@cache
def text() -> str:
    return fitted().to_json()


@cache
def written() -> dict:
    """Never changed: tests change a copy."""
    return json.loads(text())


@cache
def needed() -> dict:
    """The entries without which nothing is read."""
    return {key: written()[key] for key in ("format", "kind", "root", "schema")}


def read(document) -> Tree:
    return dpviz.model_from_json(json.dumps(document))


def changed(path: str, value) -> dict:
    """The document with another value at a path such as "root.left.op"; `...` removes the entry."""
    document = copy.deepcopy(written())
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

    return walk(written()["root"], "root")


def leaf_with(**released) -> dict:
    return {**written(), "root": {"leaf": "c1", **released}}


def test_counts_and_shares_of_a_leaf_are_read_and_written_as_they_were():
    leaf = Leaf(1, (12, -3, 40), (0.25, 0.0, 0.75))
    body = model_body(Tree(fitted().schema, leaf))
    assert body == {"root": {"leaf": "c1", "counts": [12, -3, 40], "shares": [0.25, 0.0, 0.75]}}
    assert read({**written(), **body}).root == leaf
    assert read(leaf_with()).root == Leaf(1)


def test_counts_and_shares_that_cannot_be_are_refused_with_their_place():
    for released, says in [
        ({"counts": [1, 2]}, "root.counts: One number per class is needed: 3."),
        ({"counts": [1, 2, 3.5]}, r"root.counts\[2\]"),
        ({"shares": [0.5, 0.5, 0.0, 0.0]}, "root.shares: One number per class is needed: 3."),
        ({"shares": [0.5, 0.4, 0.0]}, "root.shares: Shares must not be negative and must add up to 1."),
        ({"shares": [1.5, -0.5, 0.0]}, "root.shares: Shares must not be negative and must add up to 1."),
        ({"shares": [0.5, "0.5", 0.0]}, r"root.shares\[1\]"),
    ]:
        with pytest.raises(DocumentError, match=says):
            read(leaf_with(**released))


def test_infinity_is_written_as_a_word():
    document = json.loads(dpviz.fit("cart", table(schema_of()), epsilon=1.0, seed=0).to_json())
    assert document["privacy"]["guarantee"]["epsilon"] == "infinity"
    assert document["privacy"]["ledger"][0]["epsilon"] == "infinity"


def test_bytes_and_a_byte_order_mark_are_read():
    assert dpviz.model_from_json(text().encode()) == fitted().model
    assert dpviz.model_from_json("\ufeff" + text()) == fitted().model


def test_unknown_keys_are_ignored():
    document = copy.deepcopy(written())
    document["remark"] = document["root"]["remark"] = {"any": ["thing"]}
    assert read(document) == fitted().model


def test_a_document_needs_only_format_kind_root_and_schema():
    assert read(needed()) == fitted().model


def test_what_is_wrong_is_refused_with_its_place():
    numeric, categorical = first_path("<="), first_path("in")
    for path, value, where, what in [
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
        (f"{numeric}.op", "in", f"{numeric}.op", "'in' does not fit the feature"),
        (f"{categorical}.op", "<=", f"{categorical}.op", "'<=' does not fit the feature"),
        (f"{numeric}.threshold", ..., f"{numeric}.threshold", "missing"),
        (f"{numeric}.threshold", "3", f"{numeric}.threshold", "must be a number"),
        (f"{numeric}.threshold", True, f"{numeric}.threshold", "must be a number"),
        (f"{numeric}.threshold", None, f"{numeric}.threshold", "must be a number"),
        (f"{numeric}.threshold", 10**400, f"{numeric}.threshold", "must be a finite number"),
        (f"{categorical}.values", "red", f"{categorical}.values", "must be a list"),
        (f"{categorical}.values", ["pink"], f"{categorical}.values", "'pink' is not declared"),
        (f"{categorical}.values", [["red"]], f"{categorical}.values[0]", "must be a text"),
    ]:
        with pytest.raises(DocumentError) as problem:
            read(changed(path, value))
        assert problem.value.where == where
        assert what in problem.value.what
        assert problem.value.remedy
        assert str(problem.value).startswith(f"{where}: ")


def test_what_is_not_json_is_refused():
    for text in ["", "{", "nonsense", '{"format": NaN}', "[" * 100_000, "\x00", '{"a": 1, "a": 2}']:
        with pytest.raises(DocumentError):
            dpviz.model_from_json(text)


def test_thresholds_are_finite():
    numeric = first_path("<=")
    for number in ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"]:
        document = json.dumps(changed(f"{numeric}.threshold", "HERE")).replace('"HERE"', number)
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
    document = copy.deepcopy(written())
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


@cache
def every_place() -> list[tuple]:
    return [way for way in places(needed()) if way]


@examples(400)
@given(data=st.data())
@pytest.mark.slow
def test_a_damaged_document_gives_a_model_or_a_dpviz_error(data):
    document = copy.deepcopy(needed())
    for way in data.draw(st.lists(st.sampled_from(every_place()), min_size=1, max_size=3)):
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
    other = needed()
    for step in data.draw(st.sampled_from(every_place())):
        other = other[step]
    try:
        if action == "remove":
            del place[way[-1]]
        else:
            place[way[-1]] = data.draw(junk) if action == "replace" else copy.deepcopy(other)
    except (KeyError, IndexError, TypeError):
        return


@examples(100)
@given(st.integers(0, 10**6), st.text(min_size=0, max_size=3))
def test_a_text_cut_and_patched_anywhere_gives_a_model_or_a_dpviz_error(position, patch):
    position %= len(text())
    try:
        model = dpviz.model_from_json(text()[:position] + patch + text()[position + 1 :])
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


def numbers_document() -> dict:
    """The document of a tree that predicts numbers: the same rules, leaves 0.5, 1.5, ..."""
    document = copy.deepcopy(written())
    count = iter(range(100))

    def estimate_leaf_means(node):
        return (
            {"value": next(count) + 0.5}
            if "leaf" in node
            else node | {side: estimate_leaf_means(node[side]) for side in ("left", "right")}
        )

    document["schema"]["target"] = {"kind": "number", "name": "price", "low": 0.0, "high": 50.0, "read_from_data": []}
    document["root"] = estimate_leaf_means(document["root"])
    return document


def test_a_tree_of_numbers_reads_back_exactly():
    document = numbers_document()
    tree = read(document)
    assert tree.values == tuple(place + 0.5 for place in range(tree.n_leaves))
    assert tree.schema.target == NumericTarget("price", 0.0, 50.0)
    assert model_body(tree) == {"root": document["root"]}


def test_a_leaf_without_a_finite_number_is_refused_with_its_place():
    for value in [None, "1", True, 10**400]:
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
