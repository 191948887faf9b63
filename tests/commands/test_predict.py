"""The predict command: one line of answers per row of the file, in order."""

import csv

import pytest

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
    code, out, _ = run("predict", model, rows, "--out", tmp_path / "out.csv")
    assert code == 0
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
