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
from dpviz.table.dataset import EncodedDataset
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


def changed(path: str, value, document: dict | None = None) -> dict:
    """The document with another value at a path such as "root.left.op"; `...` removes the entry."""
    document = copy.deepcopy(document or written())
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


def first_path(op: str, node: dict | None = None, path: str = "root") -> str | None:
    """Where the first branch with this operator stands."""
    node = node or written()["root"]
    if "leaf" in node:
        return None
    return (
        path
        if node["op"] == op
        else first_path(op, node["left"], path + ".left") or first_path(op, node["right"], path + ".right")
    )


@cache
def of_numbers() -> dict:
    """The document of a tree that predicts numbers: the same rules, leaves 0.5, 1.5, ..."""
    count = iter(range(100))

    def valued(node):
        if "leaf" in node:
            return {"value": next(count) + 0.5}
        return node | {side: valued(node[side]) for side in ("left", "right")}

    target = {"kind": "number", "name": "price", "low": 0.0, "high": 50.0, "read_from_data": []}
    return changed("root", valued(written()["root"]), changed("schema.target", target))


def nested(levels: int) -> dict:
    root = {"leaf": "c0"}
    for _ in range(levels):
        root = {"feature": "height", "op": "<=", "threshold": 0, "left": {"leaf": "c1"}, "right": root}
    return changed("root", root)


def test_what_is_read():
    remarked = changed("remark", 3, changed("root.remark", {"any": ["thing"]}))
    for source in (text().encode(), "\ufeff" + text(), json.dumps(needed()), json.dumps(remarked)):
        assert dpviz.model_from_json(source) == fitted().model
    assert read(nested(64)).depth == 64
    leaf = Leaf(1, (12, -3, 40), (0.25, 0.0, 0.75))
    body = model_body(Tree(fitted().schema, leaf))
    assert body == {"root": {"leaf": "c1", "counts": [12, -3, 40], "shares": [0.25, 0.0, 0.75]}}
    assert read({**written(), **body}).root == leaf
    tree = read(of_numbers())
    assert tree.values == tuple(place + 0.5 for place in range(tree.n_leaves))
    assert tree.schema.target == NumericTarget("price", 0.0, 50.0)
    assert model_body(tree) == {"root": of_numbers()["root"]}


def test_infinity_is_written_as_a_word():
    document = json.loads(dpviz.fit("cart", table(schema_of()), epsilon=1.0, seed=0).to_json())
    assert document["privacy"]["guarantee"]["epsilon"] == "infinity"
    assert document["privacy"]["ledger"][0]["epsilon"] == "infinity"


SHARES = "Shares must not be negative and must add up to 1."
#: (path, its value, where the problem is, what it is); "<=" and "in" stand for the first branch with this operator.
WRONG = [
    ("format", ..., "format", "missing"),
    ("format", "dpviz-tree/2", "format", "The format 'dpviz-tree/2' is not known here"),
    ("kind", "jungle", "kind", "'boosted'; got 'jungle'"),
    ("kind", "additive", "kind", "got 'additive'"),  # written by earlier versions
    ("kind", [], "kind", "must be a text; got a list"),
    ("schema", [], "schema", "must be an object"),
    ("schema.format", "dpviz-schema/9", "schema.format", "not known here"),
    ("schema.features.0", 3, "schema.features[0]", "must be an object"),
    ("root", [], "root", "must be an object"),
    ("root.left", ..., "root.left", "missing"),
    ("root.right.left", 7, "root.right.left", "must be an object"),
    ("root.left", {"leaf": "c9"}, "root.left.leaf", "'c9' is not declared in the schema"),
    ("root.left", {"leaf": None}, "root.left.leaf", "must be a text"),
    ("root.left", {"value": 1.0}, "root.left", "This leaf must predict a class"),
    ("root.left", {"leaf": "c1", "counts": [1, 2]}, "root.left.counts", "One number per class is needed: 3."),
    ("root.left", {"leaf": "c1", "counts": [1, 2, 3.5]}, "root.left.counts[2]", ""),
    ("root.left", {"leaf": "c1", "shares": [0.5, 0.5, 0.0, 0.0]}, "root.left.shares", "One number per class is needed: 3."),
    ("root.left", {"leaf": "c1", "shares": [0.5, 0.4, 0.0]}, "root.left.shares", SHARES),
    ("root.left", {"leaf": "c1", "shares": [1.5, -0.5, 0.0]}, "root.left.shares", SHARES),
    ("root.left", {"leaf": "c1", "shares": [0.5, "0.5", 0.0]}, "root.left.shares[1]", ""),
    ("root.feature", "shoe size", "root.feature", "'shoe size' is not declared"),
    ("root.op", "<", "root.op", "'<' does not fit the feature"),
    ("<=.op", "in", "<=.op", "'in' does not fit the feature"),
    ("in.op", "<=", "in.op", "'<=' does not fit the feature"),
    *(("<=.threshold", value, "<=.threshold", "must be a number") for value in ("3", True, None)),
    ("<=.threshold", ..., "<=.threshold", "missing"),
    ("<=.threshold", 10**400, "<=.threshold", "must be a finite number"),
    ("in.values", "red", "in.values", "must be a list"),
    ("in.values", ["pink"], "in.values", "'pink' is not declared"),
    ("in.values", [["red"]], "in.values[0]", "must be a text"),
]
WRONG_NUMBERS = [
    *(("root.left", {"value": value}, "root.left.value", "") for value in (None, "1", True, 10**400)),
    ("root.left", {"leaf": "c0"}, "root.left.leaf", "The target is a number and has no classes"),
]


def placed(path: str) -> str:
    for op in ("<=", "in"):
        if path.startswith(f"{op}."):
            return str(first_path(op)) + path[len(op) :]
    return path


def test_what_is_wrong_is_refused_with_its_place():
    for document, cases in ((written(), WRONG), (of_numbers(), WRONG_NUMBERS)):
        for path, value, where, what in cases:
            with pytest.raises(DocumentError) as problem:
                read(changed(placed(path), value, document))
            assert problem.value.where == placed(where)
            assert what in problem.value.what
            assert problem.value.remedy
    with pytest.raises(DocumentError, match="The tree is deeper than 64 levels"):
        read(nested(65))
    with pytest.raises(DocumentError, match="roots: The target is a number and has no classes"):
        read({**of_numbers(), "kind": "forest", "roots": [{"value": 1.0}]})
    with pytest.raises(SchemaError, match="height: The range"):
        read(changed("schema.features.0.low", 1e9))
    with pytest.raises(DpvizError):
        read(changed("schema.target", {"kind": "number", "name": "y", "low": 0, "high": 1}))


def test_what_is_not_json_is_refused():
    numbers = [
        json.dumps(changed(placed("<=.threshold"), "HERE")).replace('"HERE"', one) for one in ("NaN", "-Infinity", "1e999")
    ]
    for source in ["", "{", "nonsense", '{"format": NaN}', "[" * 100_000, "\x00", '{"a": 1, "a": 2}', *numbers]:
        with pytest.raises(DocumentError):
            dpviz.model_from_json(source)


# --- damage of any kind

JUNK = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5), st.just([]), st.just({})),
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


def at(document, way):
    for step in way:
        document = document[step]
    return document


@examples(400)
@given(data=st.data())
@pytest.mark.slow
def test_a_damaged_document_gives_a_model_or_a_dpviz_error(data):
    document = copy.deepcopy(needed())
    for way in data.draw(st.lists(st.sampled_from(every_place()), min_size=1, max_size=3)):
        action = data.draw(st.sampled_from(["replace", "remove", "swap"]))
        other = at(needed(), data.draw(st.sampled_from(every_place())))
        try:
            place = at(document, way[:-1])
            if action == "remove":
                del place[way[-1]]
            else:
                place[way[-1]] = data.draw(JUNK) if action == "replace" else copy.deepcopy(other)
        except (KeyError, IndexError, TypeError):
            pass  # an earlier damage took this place away
    try:
        model = dpviz.model_from_json(json.dumps(document))
    except DpvizError as problem:
        assert problem.what  # noqa: PT017
    else:
        assert model.predict(table(model.schema, 5)).max() < len(model.schema.classes)


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


# --- missing and unknown values


def test_missing_and_unknown_values_go_where_their_stand_ins_go():
    schema = Schema(
        (
            NumericFeature("x", 0, 10, missing_as=3),
            NumericFeature("z", 0, 10),
            CategoricalFeature("c", ("a", "b", "?"), missing_as="?", unknown_as="a"),
            CategoricalFeature("d", ("a", "b")),
        ),
        ClassTarget("y", ("n", "p")),
        n_public=100,
    )
    for rule, sides in [
        (ThresholdRule(0, 3.0), ("left",)),
        (ThresholdRule(0, 2.5), ("right",)),
        (ThresholdRule(1, 9.0), ("right",)),
        (SubsetRule(2, (0, 1)), ("right", "left")),
        (SubsetRule(2, (1, 2)), ("left", "right")),
        (SubsetRule(2, (0, 2)), ("left", "left")),
        (SubsetRule(3, (0, 1)), ("right", "right")),
    ]:
        assert missing_and_unknown(schema, rule)[: len(sides)] == sides
    rows = table(schema, 100)
    data = EncodedDataset(schema, rows.columns, (rows.columns[2] == 1).astype(rows.target.dtype))
    root = json.loads(dpviz.fit("cart", data, epsilon=1.0, max_depth=2, seed=0).to_json())["root"]
    assert root["feature"] == "c"
    sides = {True: "left", False: "right"}
    assert (root["missing"], root["unknown"]) == (sides["?" in root["values"]], sides["a" in root["values"]])
