"""Errors name the file, the column and the nearest name there is, and say what to do."""

from __future__ import annotations

import pandas as pd
import pytest

import dpviz
from dpviz.errors import DocumentError, ParameterError, SchemaError, TableError, WithoutEffect

FRAME = pd.DataFrame({"age": [20 + k % 60 for k in range(300)], "rent": [k % 7 for k in range(300)]})
FRAME["y"] = ["yes" if age > 50 else "no" for age in FRAME["age"]]
FEATURES = (dpviz.NumericFeature("age", 0, 100), dpviz.NumericFeature("rent", 0, 10))
SCHEMA = dpviz.Schema(FEATURES, dpviz.ClassTarget("y", ("no", "yes")), n_public=300)


@pytest.mark.parametrize(
    ("classes", "says"),
    [((0, 1), "0 is no text. Write it as in the table"), ("yn", "one text, not a list")],
)
def test_classes_are_a_list_of_texts(classes, says):
    with pytest.raises(SchemaError, match=says):
        dpviz.ClassTarget("y", classes)


def test_a_column_that_is_called_otherwise_is_not_quoted():
    with pytest.raises(SchemaError, match="called so but for capitals"):
        dpviz.fit("pf-tree", FRAME.rename(columns={"age": "Age"}), schema=SCHEMA, epsilon=1, seed=0)


def test_a_schema_that_cannot_be_read_is_named(tmp_path):
    path = tmp_path / "clinic.schema.json"
    path.write_text(SCHEMA.to_json()[:-20])
    with pytest.raises(DocumentError, match=r"clinic.schema.json"):
        dpviz.load_schema(path)


def test_a_file_that_is_not_what_its_name_says_gets_no_advice_on_delimiters(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(b"cut short")
    with pytest.raises(TableError, match=r"no \.parquet file") as error:
        dpviz.read_table(tmp_path / "rows.parquet")
    assert "elimiter" not in str(error.value)


def test_an_address_is_told_from_a_file():
    with pytest.raises(TableError, match="mysql:// is the address of a place"):
        dpviz.read_table("mysql://clinic/rows")


def test_a_sheet_of_what_has_none_is_refused(tmp_path):
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(TableError, match=r"'rows\.csv' is no workbook, so it has no sheet 'May'"):
        dpviz.read_table(tmp_path / "rows.csv", sheet="May")


def test_an_axis_of_a_sweep_is_a_list():
    with pytest.raises(ParameterError, match="epsilon"):
        dpviz.sweep(["pf-tree"], FRAME, schema=SCHEMA, epsilon=1)


@pytest.mark.slow
def test_a_delta_of_zero_where_one_is_needed_is_refused_and_none_is_automatic():
    with pytest.raises(ParameterError, match="above 0, or None for 5e-08"):
        dpviz.fit("s-gbdt", FRAME, schema=SCHEMA, epsilon=1, delta=0.0, seed=0)
    automatic, asked = (dpviz.fit("s-gbdt", FRAME, schema=SCHEMA, epsilon=1, delta=delta, seed=0) for delta in (None, 1e-6))
    assert (automatic.ledger.guarantee.delta, asked.ledger.guarantee.delta) == (5e-8, 1e-6)
    assert dpviz.fit("pf-tree", FRAME, schema=SCHEMA, epsilon=1, delta=0.0, seed=0).ledger.guarantee.delta == 0


def test_an_automatic_delta_is_automatic_when_a_result_is_read_back(tmp_path):
    dpviz.fit("s-gbdt", FRAME, schema=SCHEMA, epsilon=1, seed=0).save(tmp_path / "model.json")
    found = dpviz.load_result(tmp_path / "model.json")
    assert (found.settings.delta, found.plan.delta) == (None, 5e-8)


def test_what_has_no_effect_says_so():
    with pytest.warns(WithoutEffect, match="delta has no effect"):
        dpviz.fit("pf-tree", FRAME, schema=SCHEMA, epsilon=1, delta=1e-6, seed=0)
    with pytest.warns(WithoutEffect, match="level_shares has no effect: its 2 levels are chosen together"):
        dpviz.fit("pf-tree", FRAME, schema=SCHEMA, epsilon=1, depth=2, level_shares=(1, 2), seed=0)
    with pytest.warns(
        WithoutEffect, match="max_depth = 8 has no effect: 's-gbdt' takes . levels at most by its rule. depth=8 fixes them"
    ):
        dpviz.fit("s-gbdt", FRAME, schema=SCHEMA, epsilon=1, max_depth=8, seed=0)
