"""Declared codes of missing cells: they count as missing, by text or by value, and older schemas stay as they were."""

import json
from dataclasses import replace

import pytest

import dpviz
from dpviz.errors import SchemaError
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema
from dpviz.table.schema_json import schema_from_json

AGE = NumericFeature("age", 0, 120, missing_as=0, missing_codes=("999", "k.A."))
SCHEMA = Schema((AGE, CategoricalFeature("town", ("a", "b"), missing_as="b", missing_codes=("-",))), ClassTarget("y", ("n", "p")))
ROWS = b"age,town,y\n999,a,n\n999.0,-,p\nk.A.,a,n\n30,b,p\n<0,a,n\n"


def test_cells_with_a_code_are_missing_by_text_or_by_value():
    data = dpviz.encode(dpviz.read_csv(ROWS), SCHEMA)
    assert data.columns[0].tolist() == [0, 0, 0, 30]
    assert data.columns[1].tolist() == [0, 1, 0, 1]
    assert data.report.missing_mapped == (("age", 3), ("town", 1))
    assert data.report.dropped_unknown == (("age", 1),)


def test_a_number_nobody_can_read_drops_its_row_unless_it_is_declared_a_code():
    declared = replace(SCHEMA, features=(AGE.declare(missing_codes=("<0",)), SCHEMA.features[1]))
    data = dpviz.encode(dpviz.read_csv(ROWS), declared)
    assert data.report.dropped_unknown == (("age", 1),), "k.A. is none now"
    assert data.columns[0].tolist() == [120, 120, 30, 0]


def test_a_code_of_a_numeric_target_drops_the_row():
    schema = Schema((CategoricalFeature("town", ("a", "b", "-")),), NumericTarget("age", 0, 120, missing_codes=("999",)))
    assert dpviz.encode(dpviz.read_csv(ROWS), schema).target.tolist() == [30]


def test_codes_are_written_and_read_and_a_schema_without_prints_as_before():
    assert schema_from_json(SCHEMA.to_json()) == SCHEMA
    plain = AGE.declare(missing_codes=())
    assert repr(plain) == (
        "NumericFeature(name='age', low=0.0, high=120.0, unit='', whole=False, missing_as=0.0, read_from_data=())"
    )
    assert "missing_codes" not in json.dumps(plain.to_dict())
    assert "missing_codes=('999', 'k.A.')" in repr(AGE), "other codes, other rows: another fingerprint"


@pytest.mark.parametrize("codes", [("x", "x"), ("",), (" ",), (9,)])
def test_codes_that_are_none_are_refused(codes):
    with pytest.raises(SchemaError, match="missing code"):
        NumericFeature("age", 0, 1, missing_codes=codes)
