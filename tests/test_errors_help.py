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


def fitted(learner="pf-tree", rows=FRAME, **asked):
    return dpviz.fit(learner, rows, schema=SCHEMA, **{"epsilon": 1, "seed": 0, **asked})


def test_what_is_wrong_is_said_with_its_place_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("rows.csv", index=False)
    (tmp_path / "clinic.schema.json").write_text(SCHEMA.to_json()[:-20])
    (tmp_path / "rows.parquet").write_bytes(b"cut short")
    for wrong, error, says in (
        (lambda: dpviz.ClassTarget("y", (0, 1)), SchemaError, "0 is no text. Write it as in the table"),
        (lambda: dpviz.ClassTarget("y", "yn"), SchemaError, "one text, not a list"),
        (lambda: fitted(rows=FRAME.rename(columns={"age": "Age"})), SchemaError, "called so but for capitals"),
        (lambda: dpviz.load_schema("clinic.schema.json"), DocumentError, r"clinic.schema.json"),
        (lambda: dpviz.read_table("rows.parquet"), TableError, r"no \.parquet file((?!elimiter).)*$"),
        (lambda: dpviz.read_table("mysql://clinic/rows"), TableError, "mysql:// is the address of a place"),
        (lambda: dpviz.read_table("rows.csv", sheet="May"), TableError, r"'rows\.csv' is no workbook, so it has no sheet 'May'"),
        (lambda: dpviz.sweep(["pf-tree"], FRAME, schema=SCHEMA, epsilon=1), ParameterError, "epsilon"),
        (lambda: fitted("s-gbdt", delta=0.0), ParameterError, "above 0, or None for 5e-08"),
    ):
        with pytest.raises(error, match=says):
            wrong()


@pytest.mark.slow
def test_an_automatic_delta_is_automatic_also_when_a_result_is_read_back(tmp_path):
    automatic = fitted("s-gbdt")
    assert (automatic.ledger.guarantee.delta, fitted("s-gbdt", delta=1e-6).ledger.guarantee.delta) == (5e-8, 1e-6)
    assert fitted(delta=0.0).ledger.guarantee.delta == 0
    automatic.save(tmp_path / "model.json")
    found = dpviz.load_result(tmp_path / "model.json")
    assert (found.settings.delta, found.plan.delta) == (None, 5e-8)


@pytest.mark.parametrize(
    ("learner", "asked", "says"),
    [
        ("pf-tree", {"delta": 1e-6}, "delta has no effect"),
        ("pf-tree", {"depth": 2, "level_shares": (1, 2)}, "level_shares has no effect: its 2 levels are chosen together"),
        ("s-gbdt", {"max_depth": 8}, "max_depth = 8 has no effect: 's-gbdt' takes . levels at most by its rule. depth=8 fixes"),
    ],
    ids=["delta", "level_shares", "max_depth"],
)
def test_what_has_no_effect_says_so(learner, asked, says):
    with pytest.warns(WithoutEffect, match=says):
        fitted(learner, **asked)


def test_an_old_name_of_an_error_is_the_new_one_and_says_so():
    for old, new in (("SpendsAgain", dpviz.errors.RepeatedSpendWarning), ("Unforeseen", dpviz.errors.InternalError)):
        with pytest.warns(DeprecationWarning, match=f"{old} is called {new.__name__} now"):
            assert getattr(dpviz.errors, old) is new
