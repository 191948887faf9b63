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
from dpviz.table.dataset import EncodedDataset
from dpviz.table.dates import DateFeature
from dpviz.table.encode import encode
from dpviz.table.schema import MAX_CLASSES, MIN_WIDTH, CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.table.schema_json import schema_from_dict, schema_from_json
from tests.support.paths import ROOT
from tests.support.schemas import schemas

AGE = NumericFeature("age", 17, 90, whole=True, read_from_data=("kind", "low", "high"))
JOB = CategoricalFeature("job", ("a", "b", "missing"), missing_as="missing", unknown_as="b")
CLASSES = ClassTarget("y", ("a", "b"))
SCHEMA = Schema((AGE, JOB), ClassTarget("income", ("low", "high"), ("classes",)), 45000, ("n_public",))


def test_what_a_schema_says_of_no_column_is_declared_too_and_nothing_is_left_out_in_silence():
    asked = {"person": "who", "rows_per_person": 3, "decimal": ",", "source": "codebook"}
    found = SCHEMA.declare(n_public=1000, **asked)
    assert {name: getattr(found, name) for name in asked} == asked
    for wrong in ("rows_per_persons", "features", "low"):
        with pytest.raises(UnknownName, match=wrong):
            SCHEMA.declare(**{wrong: 3})


def test_what_is_declared_is_no_longer_marked_as_read():
    marks = (("age", "kind"), ("age", "low"), ("age", "high"), ("income", "classes"), ("n_public", "n_public"))
    assert SCHEMA.read_fields() == marks
    assert AGE.declare(low=16).read_from_data == ("high",)
    assert SCHEMA.declare("age", low=16, high=99).read_fields() == marks[3:]
    assert SCHEMA.declare("income", classes=("x", "y")).classes == ("x", "y")
    assert SCHEMA.declare(n_public=1000).read_from_data == ()
    with pytest.raises(UnknownName, match="'low'"):
        AGE.declare(lo=1)
    with pytest.raises(UnknownName, match="'age'"):
        SCHEMA.declare("agee", low=1)


def test_equal_schemas_print_alike_and_a_part_has_its_share_of_the_public_count():
    assert repr(NumericFeature("x", 0, np.float64(2))) == repr(NumericFeature("x", 0.0, 2))
    assert repr(Schema((AGE,), CLASSES, np.int64(5))) == repr(Schema((AGE,), CLASSES, 5))
    assert (SCHEMA.scaled(0.8).n_public, SCHEMA.scaled(1e-9).n_public) == (36000, 1)
    assert SCHEMA.scaled(0.8).features == SCHEMA.features
    feature = NumericFeature("x", 0, 1)
    assert Schema(feature, CLASSES) == Schema((feature,), CLASSES) == Schema(iter([feature]), CLASSES)


DATE_RULES = [({"since": "2020-02-30"}, "no day"), ({"since": 3}, "no day"), ({"order": "ydm"}, "order = 'ydm' is not known")]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: DateFeature("when", 0, 1, part="hour"), "part = 'hour' is not known"),
        (lambda: NumericFeature("x", 1, 1), "too narrow or infinite"),
        (lambda: NumericFeature("x", math.nan, 1), "low = nan is not a finite number"),
        (lambda: NumericFeature("x", 0, math.inf), "high = inf is not a finite number"),
        (lambda: NumericFeature("x", -1.7e308, 1.7e308), "too narrow or infinite"),
        *(
            (partial(kind, "x", *ends), "is too narrow")
            for kind in (NumericFeature, NumericTarget)
            for ends in ((0, 5e-324), (-1e-300, 1e-300), (0, 9e-291), (2, 1))
        ),
        (lambda: NumericFeature("x", "0", 1), "low = '0' is not a finite number"),
        (lambda: NumericFeature("x", 0, True), "high = True is not a finite number"),
        (lambda: NumericFeature("x", 0, 10**400), "high = an int is not a finite number"),
        (lambda: NumericFeature("x", 0.2, 0.8, whole=True), "contains no whole number"),
        *((partial(NumericFeature, "x", 0, 1, unit=unit), "is no text") for unit in (None, 3, ["mg"])),
        *(
            (partial(*column, read_from_data=("Low",)), "read_from_data holds 'Low'")
            for column in ((NumericFeature, "x", 0, 1), (CategoricalFeature, "x", ("a",)), (ClassTarget, "x", ("a", "b")))
        ),
        (lambda: Schema((AGE,), CLASSES, read_from_data=("low",)), "read_from_data holds 'low'"),
        (lambda: NumericFeature("x", 0, 1, missing_as=2), "missing_as = 2 lies outside"),
        (lambda: CategoricalFeature("x", ()), "at least one category"),
        (lambda: CategoricalFeature("x", ("a", "a")), "appears twice"),
        (lambda: CategoricalFeature("x", ("a", " ")), "has no name"),
        (lambda: CategoricalFeature("x", ("a", "b" * 10_001)), "more than 10,000 letters"),
        (lambda: Schema((AGE,), ClassTarget("y" * 10**6, ("a", "b"))), "more than 10,000 letters"),
        (lambda: CategoricalFeature("x", ("a",), missing_as="b"), "missing_as = 'b'"),
        (lambda: CategoricalFeature("x", ("a",), unknown_as="b"), "unknown_as = 'b'"),
        *((partial(NumericFeature, "x", 0, 1, missing_codes=codes), "missing code") for codes in (("x", "x"), ("",), (9,))),
        *(
            (partial(make, "x", ("m", "f"), groups=groups), says)
            for make in (CategoricalFeature, ClassTarget)
            for groups, says in [
                ((("m", "f"),), "appears twice"),
                ((("M", "m"), ("M", "f")), "appears twice"),
                ((("", "m"),), "has no name"),
                ((("M", "x"),), "'M' is to count as 'x', which is not in the list"),
            ]
        ),
        *(
            (partial(make, "x", pair), "appears twice")
            for make in (CategoricalFeature, ClassTarget)
            for pair in (("a", "a "), ("é", "e\u0301"), ("New York", "New\u00a0York"))
        ),
        (lambda: CategoricalFeature("x", ("é", "b"), groups=(("e\u0301", "b"),)), "appears twice"),
        *(
            (partial(CategoricalFeature, "x", known, missing_codes=codes, groups=groups), "and as a code of missing cells")
            for known, codes, groups in [
                (("9", "1"), ("9",), ()),
                (("9", "1"), ("9.0",), ()),
                (("true", "x"), ("TRUE",), ()),
                (("NA", "x"), ("NA",), ()),
                (("é", "x"), ("e\u0301",), ()),
                (("a", "b"), ("c",), (("c", "a"),)),
            ]
        ),
        (lambda: ClassTarget("x", ("a",)), "at least two classes; got 1"),
        (lambda: ClassTarget("x", tuple(map(str, range(101)))), "101 classes"),
        (lambda: Schema((), CLASSES), "no features"),
        (lambda: Schema((AGE,), ClassTarget("age", ("a", "b"))), "'age' appears twice"),
        (lambda: Schema((AGE,), CLASSES, 0), "n_public = 0"),
        (lambda: Schema((AGE,), CLASSES, 2.5), "n_public = 2.5"),
        (lambda: Schema((AGE,), NumericTarget("y", 0, 1)).classes, "has no classes"),
        *((partial(Schema, (AGE,), CLASSES, person=person), "whose row it is") for person in ("age", "y", "", 3)),
        *((partial(Schema, (AGE,), CLASSES, rows_per_person=k), "rows_per_person") for k in (0, -1, 1.5, True, None, "2", 2**31)),
        *((partial(DateFeature, "when", 0, 1, part="month", **rule), says) for rule, says in DATE_RULES),
        (lambda: Schema(("age",), CLASSES), "features: 'age' is no NumericFeature or CategoricalFeature"),
        (lambda: Schema((AGE,), "y"), r"target: 'y' is no ClassTarget or NumericTarget\. Give one"),
        (lambda: encode(b"x,y\n1,n\n", "loans.schema.json"), r"must be a Schema, such as from load_schema .* Got 'loans"),
        (lambda: encode(b"x,y\n1,n\n", {"x": (0, 1)}), r"must be a Schema, such as from load_schema .* Got 'dict'"),
    ],
)
def test_a_contradiction_is_an_error_with_a_remedy(make, text):
    with pytest.raises(DpvizError, match=text) as caught:
        make()
    assert caught.value.remedy or "must be" in text


def test_as_many_classes_are_taken_as_is_said_and_no_more_and_proposed_alike():
    names = tuple(f"k{number:03}" for number in range(MAX_CLASSES + 1))
    most = Schema((AGE,), ClassTarget("y", names[:-1]))
    assert schema_from_json(most.to_json()) == most
    with pytest.raises(SchemaError, match=f"at most {MAX_CLASSES} can be learned"):
        ClassTarget("y", names)
    most_rows, more_rows = (
        dpviz.read_table("\n".join(["age,y", *(f"{20 + k % 50},{name}" for k, name in enumerate(found * 2))]).encode())
        for found in (names[:-1], names)
    )
    assert dpviz.propose_schema(most_rows, target="y").target.classes == names[:-1]
    with pytest.raises(SchemaError, match=f"at most {MAX_CLASSES} classes can be learned"):
        dpviz.propose_schema(more_rows, target="y")


@pytest.mark.parametrize("width", [MIN_WIDTH, 1e-100])
def test_the_narrowest_range_that_is_taken_can_be_trained_on(width):
    schema = Schema((NumericFeature("x", 0, width),), NumericTarget("y", 0, width), n_public=10)
    values = np.linspace(0, width, 10)
    data = EncodedDataset(schema, (values,), values)
    for learner in ("dp-mean", "s-gbdt"):
        predicted = dpviz.fit(learner, data, epsilon=1.0, depth=1, seed=0).model.predict(data)
        assert ((predicted >= 0) & (predicted <= width)).all()


# --- JSON

texts = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)


@pytest.mark.slow
@given(schemas(texts, st.floats(-1e300, 1e300), all_declared=False))
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


def test_the_document_reads_like_the_schema_and_its_page_names_every_key():
    assert json.loads(SCHEMA.to_json())["features"][0] == {
        "kind": "numeric",
        "name": "age",
        "low": 17,
        "high": 90,
        "unit": "",
        "whole": True,
        "missing_as": None,
        "read_from_data": ["kind", "low", "high"],
    }
    assert '"low": 17,' in SCHEMA.to_json()
    page = (ROOT / "docs" / "reference" / "schema-format.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(\w+)`[^|]* \| (.*) \|$", page, re.MULTILINE))
    told["date"] += told["numeric"]
    for target in (SCHEMA.target, NumericTarget("income", 0, 1)):
        written = json.loads(Schema((AGE, JOB, DateFeature("day", 2000, 2020)), target).to_json())
        assert next(iter(written.items())) == ("format", "dpviz-schema/1")
        assert written.keys() <= told.keys()
        for column in (*written["features"], written["target"]):
            own = column.keys() - {"kind", "name", "read_from_data"}
            assert {key for key in own if f"`{key}`" not in told[column["kind"]]} == set()


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


def test_unknown_keys_are_ignored_and_optional_ones_may_be_absent():
    document = {
        "format": "dpviz-schema/1",
        "comment": "by hand",
        "features": [
            {"kind": "numeric", "name": "x", "low": 0, "high": 1, "colour": "red"},
            {"kind": "categorical", "name": "c", "categories": ["a"]},
        ],
        "target": {"kind": "number", "name": "y", "low": 0, "high": 1},
    }
    expected = Schema((NumericFeature("x", 0, 1), CategoricalFeature("c", ("a",))), NumericTarget("y", 0, 1))
    assert schema_from_dict(document) == expected
    with pytest.raises(SchemaError, match="age: The range"):
        schema_from_dict(changed("features", 0, "low", to=100))


@pytest.mark.parametrize(
    ("document", "where", "text"),
    [
        ([], "document", "an object"),
        (changed("format", to=...), "format", "missing"),
        (changed("format", to="dpviz-schema/2"), "format", "'dpviz-schema/2' is not known"),
        (changed("features", to=...), "features", "missing"),
        (changed("features", 1, to="job"), "features[1]", "an object"),
        (changed("features", 1, "kind", to="text"), "features[1].kind", "'numeric', 'categorical'"),
        (changed("features", 0, "low", to="17"), "features[0].low", "a number"),
        (changed("features", 0, "read_from_data", to=["lo"]), "features[0].read_from_data[0]", "one of"),
        (changed("features", 1, "categories", 2, to=3), "features[1].categories[2]", "a text; got a whole number"),
        (changed("target", "kind", to="numeric"), "target.kind", "'classes', 'number'"),
    ],
)
def test_a_malformed_document_is_located_also_inside_another(document, where, text):
    for path, place in (("", where), ("schema", f"schema.{where}" if where != "document" else "schema")):
        with pytest.raises(DocumentError) as caught:
            schema_from_dict(json.loads(json.dumps(document)), path=path)
        assert caught.value.where == place
        assert text in caught.value.what
        assert caught.value.remedy


def test_pairs_of_a_group_may_stand_in_any_list():
    pairs = (("M", "m"), ("F", "f"))
    for written in (list(pairs), list(map(list, pairs)), np.array(pairs), dict(pairs).items()):
        assert CategoricalFeature("x", ("m", "f"), groups=written).groups == pairs
    for written in (("Mm", "Ff"), dict(pairs), [["M"]], [1]):
        with pytest.raises(SchemaError):
            CategoricalFeature("x", ("m", "f"), groups=written)
