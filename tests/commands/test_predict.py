"""The predict command: one line of answers per row of the file, in order."""

import csv
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz.table.schema import NumericFeature, NumericTarget, Schema


@pytest.fixture
def model(run, table, schema, tmp_path):
    path = tmp_path / "tree.json"
    code, _, _ = run("train", table, "--schema", schema, "--epsilon", "9", "--learner", "cart", "--out", path)
    assert code == 0
    return path


def rows_of(path):
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


def test_answers_stand_in_the_order_of_the_rows(run, model, tmp_path):
    rows = tmp_path / "new.csv"
    rows.write_text('colour,age,name\nred,20,a\nred,"80,b\nblue,30,c\nred,,d\npink,80,e\ngreen,80,f\n', encoding="utf-8")
    code, out, said = run("predict", model, rows, "--out", tmp_path / "out.csv")
    assert code == 0
    assert "Warning: At least 50% of the rows have no answer, most for " in said
    assert [line[0] for line in rows_of(tmp_path / "out.csv")] == ["label", "no", "", "yes", "", "", "yes"]
    assert "Rows               6" in out
    assert "Without an answer  3" in out


def test_numbers_are_written_as_values(run, tmp_path):
    rows, declared, model = (tmp_path / name for name in ("rows.csv", "rows.schema.json", "model.json"))
    rows.write_text("age,rent\n" + "".join(f"{k},{k % 7}\n" for k in range(200)), encoding="utf-8")
    Schema((NumericFeature("age", 0, 200),), NumericTarget("rent", 0, 10), n_public=200).save(declared)
    run("train", rows, "--schema", declared, "--epsilon", "9", "--learner", "cart-regression", "--out", model)
    code, _, _ = run("predict", model, rows, "--out", tmp_path / "out.csv")
    header, *lines = rows_of(tmp_path / "out.csv")
    assert (code, header, len(lines)) == (0, ["value"], 200)
    assert all(0 <= float(value) <= 10 for (value,) in lines)


def test_a_file_without_the_columns_is_refused(refused, model, tmp_path):
    rows = tmp_path / "new.csv"
    rows.write_text("colour,name\nred,a\n", encoding="utf-8")
    assert "has no column 'age'" in refused("predict", model, rows, "--out", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_the_rows_are_never_overwritten(refused, model, table):
    assert "overwrite its own input" in refused("predict", model, table, "--out", table, "--force")


KEYED = {
    "id": [f"k,{k}" for k in range(6)],
    "age": [20, 80, 30, None, 80, 80],
    "colour": ["red", "red", "blue", "red", "pink", "green"],
}


@pytest.mark.filterwarnings("ignore::dpviz.errors.UnansweredWarning")
@pytest.mark.parametrize(
    ("kind", "out", "key"),
    [("csv", "csv", True), ("parquet", "parquet", True), ("csv", "parquet", False), ("parquet", "csv", False)],
)
def test_answers_are_written_as_csv_or_parquet_with_a_key_or_without(run, model, tmp_path, kind, out, key):
    rows, target = tmp_path / f"rows.{kind}", tmp_path / f"out.{out}"
    frame = pd.DataFrame(KEYED)
    frame.to_csv(rows, index=False) if kind == "csv" else frame.to_parquet(rows, index=False)
    code, _, _ = run("predict", model, rows, "--out", target, *(["--key", "id"] if key else []))
    assert code == 0
    found = pd.read_csv(target) if out == "csv" else pq.read_table(target).to_pandas()
    assert list(found.columns) == [*(["id"] if key else []), "label", "p_no", "p_yes"]
    expected = dpviz.load_result(model).predict(frame).tolist()
    assert expected.count(None) == 2
    assert [None if pd.isna(label) else label for label in found["label"]] == expected
    np.testing.assert_array_equal(found[["p_no", "p_yes"]].to_numpy(), dpviz.load_result(model).predict_proba(frame))
    if key:
        assert found["id"].tolist() == KEYED["id"]


@pytest.mark.slow
def test_numbers_that_are_all_different_are_written_one_by_one(run, tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.uniform(0, 1, 3000), "b": rng.uniform(0, 1, 3000)})
    frame["y"] = frame["a"] + frame["b"]
    frame.loc[5, "a"] = None
    schema = Schema((NumericFeature("a", 0, 1), NumericFeature("b", 0, 1)), NumericTarget("y", 0, 2), n_public=3000)
    result = dpviz.fit("s-gbdt", frame, schema=schema, epsilon=5, seed=1)
    (tmp_path / "model.json").write_text(result.to_json())
    frame.to_parquet(tmp_path / "rows.parquet")
    for name in ("out.csv", "out.parquet"):
        assert run("predict", tmp_path / "model.json", tmp_path / "rows.parquet", "--out", tmp_path / name)[0] == 0
    expected = result.predict(frame)
    assert len(np.unique(expected)) > 1000
    lines = [float(line or "nan") for (line,) in rows_of(tmp_path / "out.csv")[1:]]
    np.testing.assert_array_equal(lines, expected)
    np.testing.assert_array_equal(pq.read_table(tmp_path / "out.parquet")["value"].to_pandas(), expected)


@pytest.mark.filterwarnings("ignore::dpviz.errors.UnansweredWarning")
@pytest.mark.parametrize("learner", ["cart", "s-gbdt"])
@pytest.mark.slow
def test_sql_has_a_key_in_front_when_one_is_named(run, table, schema, tmp_path, learner):
    path, out = tmp_path / "model.json", tmp_path / "tree.sql"
    assert run("train", table, "--schema", schema, "--epsilon", "9", "--learner", learner, "--seed", "1", "--out", path)[0] == 0
    code, _, said = run("export", path, "--to", "sqlite", "--key", "id", "--out", out)
    assert code == 0, said
    with closing(sqlite3.connect(":memory:")) as base:
        pd.DataFrame(KEYED).to_sql("rows_to_predict", base, index=False)
        found = base.execute(out.read_text(encoding="utf-8")).fetchall()
    assert [line[0] for line in found] == KEYED["id"]
    answers = dpviz.load_result(path).predict(pd.DataFrame(KEYED))
    assert [line[1] for line, answer in zip(found, answers, strict=True) if answer] == [answer for answer in answers if answer]


def test_a_key_is_for_sql_alone(refused, model, tmp_path):
    assert "no key is needed" in refused("export", model, "--to", "python", "--key", "id", "--out", tmp_path / "tree.py")
