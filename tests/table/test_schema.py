"""Schemas contradict themselves nowhere, say where values come from, and survive JSON."""

import json
import math
import re
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.errors import DocumentError, DpvizError, SchemaError, UnknownName
from dpviz.table.cells import clean
from dpviz.table.dataset import EncodedDataset
from dpviz.table.dates import ORDERS, PARTS, DateFeature
from dpviz.table.encode import encode
from dpviz.table.schema import (
    FORMAT,
    LEAST_WIDTH,
    CategoricalFeature,
    ClassTarget,
    NumericFeature,
    NumericTarget,
    Schema,
)
from dpviz.table.schema_json import schema_from_dict, schema_from_json
from tests.support.examples import examples
from tests.support.paths import ROOT

AGE = NumericFeature("age", 17, 90, whole=True, read_from_data=("kind", "low", "high"))
JOB = CategoricalFeature("job", ("a", "b", "missing"), missing_as="missing", unknown_as="b")
SCHEMA = Schema((AGE, JOB), ClassTarget("income", ("low", "high"), ("classes",)), 45000, ("n_public",))


# Values


def test_declaring_a_field_takes_its_mark_and_the_kind_away():
    assert AGE.declare(low=16).read_from_data == ("high",)
    assert SCHEMA.declare("age", low=16, high=99).read_fields() == (("income", "classes"), ("n_public", "n_public"))
    assert SCHEMA.declare("income", classes=("x", "y")).classes == ("x", "y")
    assert SCHEMA.declare(n_public=1000).read_from_data == ()


def test_declaring_an_unknown_field_or_column_names_it():
    with pytest.raises(UnknownName, match="'low'"):
        AGE.declare(lo=1)
    with pytest.raises(UnknownName, match="'age'"):
        SCHEMA.declare("agee", low=1)


def test_read_fields_lists_every_value_read_from_the_data():
    assert SCHEMA.read_fields() == (
        ("age", "kind"),
        ("age", "low"),
        ("age", "high"),
        ("income", "classes"),
        ("n_public", "n_public"),
    )


def test_scaling_multiplies_the_public_row_count_only():
    assert SCHEMA.scaled(0.8).n_public == 36000
    assert SCHEMA.scaled(1e-9).n_public == 1
    assert SCHEMA.scaled(0.8).features == SCHEMA.features


def test_equal_numbers_make_equal_schemas_that_print_alike():
    assert repr(NumericFeature("x", 0, np.float64(2))) == repr(NumericFeature("x", 0.0, 2))
    assert repr(Schema((AGE,), ClassTarget("y", ("a", "b")), np.int64(5))) == repr(
        Schema((AGE,), ClassTarget("y", ("a", "b")), 5)
    )


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: NumericFeature("x", 1, 1), "too narrow or infinite"),
        (lambda: NumericFeature("x", math.nan, 1), "low = nan is not a finite number"),
        (lambda: NumericFeature("x", 0, math.inf), "high = inf is not a finite number"),
        (lambda: NumericFeature("x", -1.7e308, 1.7e308), "too narrow or infinite"),
        (lambda: NumericFeature("x", "0", 1), "low = '0' is not a finite number"),
        (lambda: NumericFeature("x", 0, True), "high = True is not a finite number"),
        (lambda: NumericFeature("x", 0, 10**400), "high = an int is not a finite number"),
        (lambda: NumericFeature("x", 0.2, 0.8, whole=True), "contains no whole number"),
        (lambda: NumericFeature("x", 0, 1, missing_as=2), "missing_as = 2 lies outside"),
        (lambda: CategoricalFeature("x", ()), "at least one category"),
        (lambda: CategoricalFeature("x", ("a", "a")), "appears twice"),
        (lambda: CategoricalFeature("x", ("a", " ")), "has no name"),
        (lambda: CategoricalFeature("x", ("a", "b" * 10_001)), "more than 10,000 letters"),
        (lambda: Schema((AGE,), ClassTarget("y" * 10**6, ("a", "b"))), "more than 10,000 letters"),
        (lambda: CategoricalFeature("x", ("a",), missing_as="b"), "missing_as = 'b'"),
        (lambda: CategoricalFeature("x", ("a",), unknown_as="b"), "unknown_as = 'b'"),
        *(
            (lambda codes=codes: NumericFeature("x", 0, 1, missing_codes=codes), "missing code")
            for codes in (("x", "x"), ("",), (9,))
        ),
        (lambda: ClassTarget("x", ("a",)), "at least two classes; got 1"),
        (lambda: ClassTarget("x", tuple(map(str, range(101)))), "101 classes"),
        (lambda: NumericTarget("x", 2, 1), "too narrow or infinite"),
        (lambda: Schema((), ClassTarget("y", ("a", "b"))), "no features"),
        (lambda: Schema((AGE,), ClassTarget("age", ("a", "b"))), "'age' appears twice"),
        (lambda: Schema((AGE,), ClassTarget("y", ("a", "b")), 0), "n_public = 0"),
        (lambda: Schema((AGE,), ClassTarget("y", ("a", "b")), 2.5), "n_public = 2.5"),
        (lambda: Schema((AGE,), NumericTarget("y", 0, 1)).classes, "has no classes"),
    ],
)
def test_a_contradiction_is_a_schema_error_with_a_remedy(make, text):
    with pytest.raises(SchemaError, match=text.replace("(", r"\(")) as caught:
        make()
    assert caught.value.remedy


# JSON


def test_the_document_starts_with_its_format_and_reads_like_the_schema():
    document = json.loads(SCHEMA.to_json())
    assert next(iter(document.items())) == ("format", "dpviz-schema/1")
    assert document["features"][0] == {
        "kind": "numeric",
        "name": "age",
        "low": 17,
        "high": 90,
        "unit": "",
        "whole": True,
        "missing_as": None,
        "read_from_data": ["kind", "low", "high"],
    }
    assert document["target"] == {"kind": "classes", "name": "income", "classes": ["low", "high"], "read_from_data": ["classes"]}
    assert '"low": 17,' in SCHEMA.to_json()


texts = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)
numbers = st.floats(-1e300, 1e300)
pairs = st.tuples(numbers, numbers).map(sorted).filter(lambda pair: pair[1] - pair[0] > LEAST_WIDTH)


@st.composite
def features(draw, name):
    codes = tuple(draw(st.lists(texts.filter(lambda text: clean(text) == text), max_size=2, unique=True)))
    if draw(st.booleans()):
        low, high = draw(pairs)
        missing = draw(st.none() | st.floats(low, high))
        marks = tuple(draw(st.lists(st.sampled_from(["kind", "low", "high"]), unique=True)))
        unit = draw(st.text(st.characters(codec="utf-8")))
        if math.ceil(low) <= math.floor(high) and draw(st.booleans()):
            rule = {"part": draw(st.sampled_from(sorted(PARTS))), "order": draw(st.sampled_from(ORDERS)), "since": "2020-02-29"}
            kind = draw(st.sampled_from([NumericFeature, partial(DateFeature, **rule)]))
            return kind(name, low, high, unit, True, missing, marks, codes)
        return NumericFeature(name, low, high, unit, False, missing, marks, codes)
    categories = draw(st.lists(texts, min_size=1, unique_by=clean))
    options = st.none() | st.sampled_from(categories)
    known = set(map(clean, categories))
    groups = tuple((code, draw(st.sampled_from(categories))) for code in codes if code not in known)
    return CategoricalFeature(name, categories, draw(options), draw(options), ("categories",) * draw(st.booleans()), (), groups)


@st.composite
def schemas(draw):
    *names, goal, person = draw(st.lists(texts, min_size=3, max_size=6, unique=True))
    target = (
        NumericTarget(goal, *draw(pairs))
        if draw(st.booleans())
        else ClassTarget(goal, draw(st.lists(texts, min_size=2, unique_by=clean)), ("classes",))
    )
    more = draw(st.fixed_dictionaries({}, optional={"person": st.just(person), "decimal": st.sampled_from(".,")}))
    more |= {"source": "codebook of 2024"} if draw(st.booleans()) else {}
    return Schema(
        [draw(features(name)) for name in names], target, draw(st.none() | st.integers(1, 10**12)), ("n_public",), **more
    )


@given(schemas())
def test_a_schema_survives_json(schema):
    back = schema_from_json(schema.to_json())
    assert back == schema
    assert (repr(back), back.key) == (repr(schema), schema.key)
    written = json.loads(schema.to_json())
    for column, declared in zip((*written["features"], written["target"]), (*schema.features, schema.target), strict=True):
        for later in ("missing_codes", "groups"):  # so that older schemas hash as they did
            assert (later in column) == (f", {later}=" in declared.key) == bool(getattr(declared, later, ()))
    assert {"person", "decimal", "source"} & written.keys() == {
        name for name in ("person", "decimal", "source") if getattr(schema, name)
    }


def test_unknown_keys_are_ignored_and_optional_ones_may_be_absent():
    document = {
        "format": FORMAT,
        "comment": "by hand",
        "features": [
            {"kind": "numeric", "name": "x", "low": 0, "high": 1, "colour": "red"},
            {"kind": "categorical", "name": "c", "categories": ["a"]},
        ],
        "target": {"kind": "number", "name": "y", "low": 0, "high": 1},
    }
    expected = Schema((NumericFeature("x", 0, 1), CategoricalFeature("c", ("a",))), NumericTarget("y", 0, 1))
    assert schema_from_dict(document) == expected


def changed(*steps, to):
    """The document of SCHEMA with the entry at `steps` replaced; removed when `to` is ..."""
    document = SCHEMA.to_dict()
    place = document
    for step in steps[:-1]:
        place = place[step]
    if to is ...:
        del place[steps[-1]]
    else:
        place[steps[-1]] = to
    return document


@pytest.mark.parametrize(
    ("document", "where", "text"),
    [
        ([], "document", "an object"),
        (changed("format", to=...), "format", "missing"),
        (changed("format", to="dpviz-schema/2"), "format", "'dpviz-schema/2' is not known"),
        (changed("features", to=...), "features", "missing"),
        (changed("features", 1, to="job"), "features[1]", "an object"),
        (changed("features", 1, "kind", to="text"), "features[1].kind", "'numeric', 'categorical'"),
        (changed("features", 0, "name", to=None), "features[0].name", "a text; got null"),
        (changed("features", 0, "low", to=...), "features[0].low", "missing"),
        (changed("features", 0, "low", to="17"), "features[0].low", "a number"),
        (changed("features", 0, "whole", to=1), "features[0].whole", "true or false"),
        (changed("features", 0, "missing_as", to="20"), "features[0].missing_as", "a number"),
        (changed("features", 0, "read_from_data", to=["lo"]), "features[0].read_from_data[0]", "one of"),
        (changed("features", 1, "categories", 2, to=3), "features[1].categories[2]", "a text; got a whole number"),
        (changed("target", to=...), "target", "missing"),
        (changed("target", "kind", to="numeric"), "target.kind", "'classes', 'number'"),
        (changed("target", "classes", to=None), "target.classes", "a list; got null"),
        (changed("n_public", to=1.5), "n_public", "a whole number"),
    ],
)
def test_a_malformed_document_is_located(document, where, text):
    with pytest.raises(DocumentError) as caught:
        schema_from_json(json.dumps(document))
    assert caught.value.where == where
    assert text in caught.value.what
    assert caught.value.remedy


def test_a_document_inside_another_tells_the_whole_path():
    with pytest.raises(DocumentError) as caught:
        schema_from_dict(changed("features", 0, "low", to=None), path="schema")
    assert caught.value.where == "schema.features[0].low"


def test_a_well_formed_contradiction_is_a_schema_error_naming_the_column():
    with pytest.raises(SchemaError, match="age: The range"):
        schema_from_dict(changed("features", 0, "low", to=100))


def outcome_of(make, *given):
    """What `make` returns, or the error a user would see; anything else it raises fails the test."""
    try:
        return make(*given)
    except DpvizError as error:
        return error


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@examples(200)
@given(
    junk,
    st.sampled_from(
        [(), ("features",), ("features", 0), ("target",), ("n_public",), ("features", 0, "low"), ("read_from_data",)]
    ),
)
@pytest.mark.slow
def test_arbitrary_json_anywhere_is_a_schema_or_a_dpviz_error(value, steps):
    document = changed(*steps, to=value) if steps else value
    outcome = outcome_of(schema_from_json, json.dumps(document))
    if isinstance(outcome, DpvizError):
        assert outcome.remedy
    else:
        assert schema_from_json(outcome.to_json()) == outcome


@given(st.text() | st.binary())
def test_arbitrary_text_is_refused_as_a_schema(text):
    with pytest.raises(DpvizError):
        schema_from_json(text)


@pytest.mark.parametrize(("low", "high"), [(0, 5e-324), (-1e-300, 1e-300), (0, 9e-291)])
@pytest.mark.parametrize("kind", [NumericFeature, NumericTarget])
def test_a_range_too_narrow_for_arithmetic_is_refused(kind, low, high):
    with pytest.raises(SchemaError, match="is too narrow"):
        kind("x", low, high)


@pytest.mark.parametrize("width", [LEAST_WIDTH, 1e-100, 1.0])
def test_the_narrowest_range_that_is_taken_can_be_trained_on(width):
    schema = Schema((NumericFeature("x", 0, width),), NumericTarget("y", 0, width), n_public=10)
    values = np.linspace(0, width, 10)
    data = EncodedDataset(schema, (values,), values)
    for learner in ("dp-mean", "s-gbdt"):
        predicted = dpviz.fit(learner, data, epsilon=1.0, depth=1, seed=0).model.predict(data)
        assert ((predicted >= 0) & (predicted <= width)).all()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Schema(("age",), ClassTarget("y", ("n", "p"))), r"features: 'age' is no NumericFeature or CategoricalFeature"),
        (lambda: Schema((NumericFeature("x", 0, 1),), "y"), r"target: 'y' is no ClassTarget or NumericTarget\. Give one"),
        (lambda: encode(b"x,y\n1,n\n", "loans.schema.json"), r"must be a Schema, such as from load_schema .* Got 'loans"),
        (lambda: encode(b"x,y\n1,n\n", {"x": (0, 1)}), r"must be a Schema, such as from load_schema .* Got 'dict'"),
    ],
)
def test_what_is_no_schema_and_no_column_is_told_as_such(make, says):
    with pytest.raises(DpvizError, match=says):
        make()


def test_one_feature_need_not_be_in_a_tuple():
    feature, target = NumericFeature("x", 0, 1), ClassTarget("y", ("n", "p"))
    assert Schema(feature, target) == Schema((feature,), target) == Schema(iter([feature]), target)


def test_the_page_of_the_format_names_every_key_that_is_written():
    page = (ROOT / "docs" / "reference" / "schema-format.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(\w+)`[^|]* \| (.*) \|$", page, re.MULTILINE))
    told["date"] += told["numeric"]
    date = dpviz.DateFeature("day", 2000, 2020)
    for target in (ClassTarget("income", ("low", "high")), NumericTarget("income", 0, 1)):
        written = json.loads(Schema((AGE, JOB, date), target).to_json())
        assert written.keys() <= told.keys()
        for column in (*written["features"], written["target"]):
            own = column.keys() - {"kind", "name", "read_from_data"}
            assert {key for key in own if f"`{key}`" not in told[column["kind"]]} == set()


@pytest.mark.parametrize("pair", [("a", "a "), ("é", "e\u0301"), ("New York", "New\u00a0York")])
def test_categories_that_the_same_cells_are_appear_twice(pair):
    with pytest.raises(SchemaError, match="appears twice"):
        CategoricalFeature("x", pair)
    with pytest.raises(SchemaError, match="appears twice"):
        ClassTarget("x", pair)
    with pytest.raises(SchemaError, match="appears twice"):
        CategoricalFeature("x", (pair[0], "b"), groups=((pair[1], "b"),))
