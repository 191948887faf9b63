"""Keys and labels come out as they went in, and every record has one answer, whatever its cells hold."""

import csv
import io
import json
import random

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz.io.large import csv as large_csv
from dpviz.models.document import model_body, model_from_json
from dpviz.models.new_rows import answers
from dpviz.models.tree import Branch, Leaf, NumberLeaf, ThresholdRule, Tree
from dpviz.table.schema import ClassTarget, NumericFeature, NumericTarget, Schema

pytestmark = pytest.mark.filterwarnings("ignore::dpviz.errors.UnansweredWarning")
ODD = [
    "-100",
    "+1",
    "@u2",
    "=x",
    "=1+1",
    "004",
    "1e3",
    "7.0",
    " a",
    "b ",
    "NA",
    "null",
    "x,y",
    'q"q',
    "=HYPERLINK(1)",
    "-1+1",
    "٣",
    "\u00a0",
]


def model_of(path, classes=("no", "yes")):
    schema = Schema((NumericFeature("age", 0, 100),), ClassTarget("y", classes))
    tree = Tree(schema, Branch(ThresholdRule(0, 50.0), Leaf(0, shares=(0.75, 0.25)), Leaf(1, shares=(0.125, 0.875))))
    path.write_text(json.dumps({"format": "dpviz-tree/1", "kind": "tree", **model_body(tree), "schema": schema.to_dict()}))
    return path


def answered(run, tmp_path, rows, *options, classes=("no", "yes"), out="out.csv"):
    code, _, said = run("predict", model_of(tmp_path / "model.json", classes), rows, *options, "--out", tmp_path / out, "--force")
    assert code == 0, said
    return list(csv.reader(io.StringIO((tmp_path / out).read_text(encoding="utf-8"), newline=""))), said


@pytest.mark.parametrize("quoted", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_keys_come_out_as_they_went_in(run, tmp_path, quoted):
    rows = tmp_path / "rows.csv"
    pd.DataFrame({"id": ODD, "age": range(20, 20 + 3 * len(ODD), 3)}).to_csv(rows, index=False, quoting=quoted)
    (header, *lines), said = answered(run, tmp_path, rows, "--key", "id")
    assert header == ["id", "label", "p_no", "p_yes"]
    assert [line[0] for line in lines] == ODD
    assert "written as they are; see --guard-formulas" in said


def test_a_guard_is_asked_for_and_leaves_numbers_alone(run, tmp_path):
    rows = tmp_path / "rows.csv"
    pd.DataFrame({"id": ODD, "age": 30}).to_csv(rows, index=False)
    (_, *lines), said = answered(run, tmp_path, rows, "--key", "id", "--guard-formulas")
    guarded = {"@u2", "=x", "=1+1", "=HYPERLINK(1)", "-1+1"}
    assert [line[0] for line in lines] == [f"'{key}" if key in guarded else key for key in ODD]
    assert "formulas" not in said


@pytest.mark.parametrize("how", ["csv", "parquet"])
def test_keys_that_have_lost_letters_are_said(run, tmp_path, how):
    for key, is_lost in ((b"\xff\xfe", True), ("\u00e9".encode(), False)):
        rows = tmp_path / f"rows.{how}"
        if how == "csv":
            rows.write_bytes(b"id,age\n" + key + b",30\n")
        else:
            pd.DataFrame({"id": [key], "age": [30]}).to_parquet(rows)
        said = answered(run, tmp_path, rows, "--key", "id")[1]
        assert ("Some keys hold bytes that are not UTF-8" in said) == is_lost


def test_nothing_is_said_where_nothing_looks_like_a_formula(run, tmp_path):
    rows = tmp_path / "rows.csv"
    pd.DataFrame({"id": ["a", "-100", "+49170000001"], "age": 30}).to_csv(rows, index=False)
    assert "formulas" not in answered(run, tmp_path, rows, "--key", "id")[1]


@pytest.mark.parametrize("classes", [("+1", "-1"), ("=x", "label"), ("label", "value"), ("@a", "1.0"), ("p_", "id")])
@pytest.mark.parametrize(
    ("key", "kind"), [*((key, "csv") for key in ("", "id", "label", "p_label", "value")), ("", "parquet"), ("label", "parquet")]
)
def test_labels_come_out_as_declared_below_names_that_differ(run, tmp_path, classes, key, kind):
    rows = tmp_path / "rows.csv"
    pd.DataFrame({"age": [20, 80], "more": 1, **({key: ["u", "v"]} if key else {})}).to_csv(rows, index=False)
    code, _, _ = run(
        "predict", model_of(tmp_path / "m.json", classes), rows, *(["--key", key] if key else []), "--out", tmp_path / f"o.{kind}"
    )
    assert code == 0
    table = pd.read_csv(tmp_path / "o.csv", dtype=str) if kind == "csv" else pq.read_table(tmp_path / "o.parquet").to_pandas()
    names = list(table.columns)
    assert len(set(names)) == len(names) == 3 + bool(key)
    assert names[0] == (key or "label")
    assert table.iloc[:, int(bool(key))].tolist() == list(classes)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("keys", "texts"),
    [
        ([np.inf, -np.inf, np.nan, 1.5], ["inf", "-inf", "", "1.5"]),
        ([1e20, 7.0, np.nan, -0.5], ["100000000000000000000", "7", "", "-0.5"]),
        ([2**62, -5, 0, 7], ["4611686018427387904", "-5", "0", "7"]),
        ([None, "=x", "", "NA"], None),
        ([True, False, True, True], ["true", "false", "true", "true"]),
        (pd.to_datetime(["2024-03-01", None, "2024-03-01 14:30", "1999-12-31"], format="mixed"), None),
    ],
)
def test_typed_keys_come_out_without_a_traceback(run, tmp_path, keys, texts, kind):
    pd.DataFrame({"k": keys, "age": [20.0, 80, 20, np.nan]}).to_parquet(tmp_path / "rows.parquet")
    code, _, said = run(
        "predict", model_of(tmp_path / "m.json"), tmp_path / "rows.parquet", "--key", "k", "--out", tmp_path / f"o.{kind}"
    )
    assert code == 0, said
    if kind == "csv":
        found = pd.read_csv(tmp_path / "o.csv", dtype=str, keep_default_na=False)
        assert found["label"].tolist() == ["no", "yes", "no", ""]
        assert texts is None or found["k"].tolist() == texts
    elif isinstance(keys, list) and isinstance(keys[0], float):
        np.testing.assert_array_equal(pq.read_table(tmp_path / "o.parquet")["k"].to_pandas(), keys)


WIDE = ["plain", "two\nlines", "a\r\nb", "\n", "x\n\n\ny", 'say "hi"\nthere', "1,2\n3,4", "end\n", "", "ends \\"]


def spanning(seed, n_rows=300):
    rng = random.Random(seed)
    return pd.DataFrame(
        {
            "note": [rng.choice(WIDE) for _ in range(n_rows)],
            "age": [rng.randrange(100) for _ in range(n_rows)],
            "id": [f"{rng.choice(ODD)}{k}" for k in range(n_rows)],
            "more": [rng.choice(WIDE) for _ in range(n_rows)],
        }
    )


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_record_has_one_answer_however_many_lines_it_spans(run, tmp_path, ending, delimiter):
    rows = tmp_path / "rows.csv"
    for seed in range(2):
        frame = spanning(seed)
        rows.write_bytes(frame.to_csv(index=False, sep=delimiter, lineterminator=ending).encode())
        wanted = ["no" if age <= 50 else "yes" for age in frame["age"]]
        (_, *lines), _ = answered(run, tmp_path, rows, "--key", "id")
        assert [line[1] for line in lines] == wanted
        assert [line[0] for line in lines] == frame["id"].tolist()
        model = model_from_json((tmp_path / "model.json").read_text())
        for given in (rows, rows.read_bytes()):
            assert answers(model, given).tolist() == wanted


@pytest.mark.parametrize("broken", ['x"y,1,z', '"x,20,k', '"x"y,20,k', '5,"20', '"', '""",3', "1,2,3,4,5", ',"",'])
def test_a_line_that_is_no_record_takes_in_no_other(run, tmp_path, broken):
    rows = tmp_path / "rows.csv"
    good = ["a,20,k1", "b,80,k2", '"c\nc",30,k3', "d,90,k4"]
    for place in range(5):
        rows.write_text("\n".join(["note,age,id", *good[:place], broken, *good[place:], ""]))
        (_, *lines), _ = answered(run, tmp_path, rows)
        labels = [line[0] for line in lines]
        assert labels[:place] + labels[place + 1 :] == ["no", "yes", "no", "yes"]


def test_in_pieces_a_record_has_one_answer_too(run, tmp_path, monkeypatch):
    frame = spanning(11, 400)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.setattr("dpviz.commands.predict.is_large", lambda path: True)
    for size in (97, 500, 4001):
        monkeypatch.setattr(large_csv, "_AT_ONCE", size)
        (_, *lines), _ = answered(run, tmp_path, tmp_path / "rows.csv", "--key", "id")
        assert [line[0] for line in lines] == frame["id"].tolist()
        assert [line[1] for line in lines] == ["no" if age <= 50 else "yes" for age in frame["age"]]


def test_rows_to_train_on_stay_lines():
    assert dpviz.read_table(b'a,y\n"1\n2",no\n3,yes\n').left_out == (0,)


def test_a_number_gives_way_to_a_key_called_value(run, tmp_path):
    schema = Schema((NumericFeature("age", 0, 100),), NumericTarget("y", 0, 1))
    tree = Tree(schema, Branch(ThresholdRule(0, 50.0), NumberLeaf(0.25), NumberLeaf(0.5)))
    (tmp_path / "m.json").write_text(
        json.dumps({"format": "dpviz-tree/1", "kind": "tree", **model_body(tree), "schema": schema.to_dict()})
    )
    (tmp_path / "rows.csv").write_text("value,age\n=a,20\n-3,90\n")
    assert run("predict", tmp_path / "m.json", tmp_path / "rows.csv", "--key", "value", "--out", tmp_path / "o.csv")[0] == 0
    assert (tmp_path / "o.csv").read_text() == "value,value (2)\n=a,0.25\n-3,0.5\n"
