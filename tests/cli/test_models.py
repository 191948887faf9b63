"""What is done with a model: predict (keys and labels come out as they went in, one answer per record), evaluate, export."""

import csv
import gzip
import io
import json
import random
import sqlite3
from contextlib import closing
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import dpviz
from dpviz.models.document import model_body, model_from_json
from dpviz.models.new_rows import answers
from dpviz.models.tree import Branch, Leaf, ThresholdRule, Tree
from dpviz.results.exports import export_names, forms
from dpviz.rows import text
from dpviz.table.schema import ClassTarget, NumericFeature, Schema

pytestmark = pytest.mark.filterwarnings("ignore::dpviz.errors.FewRowsWarning")
ODD = ["-100", "+1", "@u2", "=x", "=1+1", "004", "1e3", "7.0", " a", "b ", "NA", "null", "x,y", 'q"q', "=HYPERLINK(1)", "-1+1"]
ODD += ["٣", "\u00a0"]


@pytest.fixture
def model(run, table, schema, tmp_path):
    path = tmp_path / "tree.json"
    assert run("train", table, "--schema", schema, "--epsilon", "9", "--learner", "cart", "--out", path)[0] == 0
    return path


def document(path, schema, low, high):
    """Writes a tree of two leaves."""
    tree = Tree(schema, Branch(ThresholdRule(0, 50.0), low, high))
    path.write_text(json.dumps({"format": "dpviz-tree/1", "kind": "tree", **model_body(tree), "schema": schema.to_dict()}))
    return path


def model_of(path, classes=("no", "yes")):
    schema = Schema((NumericFeature("age", 0, 100),), ClassTarget("y", classes))
    return document(path, schema, Leaf(0, shares=(0.75, 0.25)), Leaf(1, shares=(0.125, 0.875)))


def answered(run, tmp_path, rows, *options, classes=("no", "yes"), out="out.csv"):
    code, _, said = run("predict", model_of(tmp_path / "model.json", classes), rows, *options, "--out", tmp_path / out, "--force")
    assert code == 0, said
    return list(csv.reader(io.StringIO((tmp_path / out).read_text(encoding="utf-8"), newline=""))), said


# --- answers


@pytest.mark.slow
def test_answers_stand_in_the_order_of_the_rows(run, model, tmp_path):
    rows, out = tmp_path / "new.csv", tmp_path / "out.csv"
    rows.write_text('colour,age,name\nred,20,a\nred,"80,b\nblue,30,c\nred,,d\npink,80,e\ngreen,80,f\n', encoding="utf-8")
    code, printed, said = run("predict", model, rows, "--out", out)
    assert code == 0
    assert "Warning: At least 50% of the rows have no answer, most for " in said
    assert [line[0] for line in csv.reader(out.read_text().splitlines())] == ["label", "no", "", "yes", "", "", "yes"]
    assert "Rows               6" in printed
    assert "Without an answer  3" in printed


KEYED = {
    "id": [f"k,{k}" for k in range(6)],
    "age": [20, 80, 30, None, 80, 80],
    "colour": ["red", "red", "blue", "red", "pink", "green"],
}


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


# --- keys and labels


@pytest.mark.parametrize("quoted", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_keys_come_out_as_they_went_in_and_a_guard_is_asked_for(run, tmp_path, quoted):
    rows = tmp_path / "rows.csv"
    pd.DataFrame({"id": ODD, "age": range(20, 20 + 3 * len(ODD), 3)}).to_csv(rows, index=False, quoting=quoted)
    (header, *lines), said = answered(run, tmp_path, rows, "--key", "id")
    assert header == ["id", "label", "p_no", "p_yes"]
    assert [line[0] for line in lines] == ODD
    assert "written as they are; see --guard-formulas" in said
    (_, *lines), said = answered(run, tmp_path, rows, "--key", "id", "--guard-formulas")
    guarded = {"@u2", "=x", "=1+1", "=HYPERLINK(1)", "-1+1"}
    assert [line[0] for line in lines] == [f"'{key}" if key in guarded else key for key in ODD]
    assert "formulas" not in said
    pd.DataFrame({"id": ["a", "-100", "+49170000001"], "age": 30}).to_csv(rows, index=False)
    assert "formulas" not in answered(run, tmp_path, rows, "--key", "id")[1]


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


@pytest.mark.parametrize("classes", [("+1", "-1"), ("=x", "label"), ("p_", "id")])
def test_labels_come_out_as_declared_below_names_that_differ(run, tmp_path, classes):
    cases = [*((key, "csv") for key in ("", "id", "label", "p_label", "value")), ("", "parquet"), ("label", "parquet")]
    for key, kind in cases:
        rows, out = tmp_path / "rows.csv", tmp_path / f"out-{key}.{kind}"
        pd.DataFrame({"age": [20, 80], "more": 1, **({key: ["u", "v"]} if key else {})}).to_csv(rows, index=False)
        words = ("predict", model_of(tmp_path / "m.json", classes), rows, *(["--key", key] if key else []), "--out", out)
        assert run(*words)[0] == 0
        table = pd.read_csv(out, dtype=str) if kind == "csv" else pq.read_table(out).to_pandas()
        names = list(table.columns)
        assert len(set(names)) == len(names) == 3 + bool(key)
        assert names[0] == (key or "label")
        assert table.iloc[:, int(bool(key))].tolist() == list(classes)


def _typed_keys():
    """(the type, three values and no value, what CSV says of them), as files of Arrow and DuckDB have them."""
    D = Decimal
    at = 1_700_000_000_123_456_789
    return [
        (pa.float64(), [1.0, -0.0, 1e20, None], ["1.0", "-0.0", "1e+20", ""]),
        (pa.float64(), [float("inf"), float("-inf"), float("nan"), 0.1], ["inf", "-inf", "nan", "0.1"]),
        (pa.float32(), [0.1, 7, -0.0, None], ["0.10000000149011612", "7.0", "-0.0", ""]),
        (pa.int64(), [2**62, -5, 7, None], ["4611686018427387904", "-5", "7", ""]),
        (pa.uint64(), [2**64 - 1, 0, 7, None], ["18446744073709551615", "0", "7", ""]),
        (pa.bool_(), [True, False, True, None], ["true", "false", "true", ""]),
        (pa.decimal128(6, 2), [D("1.50"), D("-0.00"), D("100.00"), None], ["1.50", "0.00", "100.00", ""]),
        (pa.decimal128(38, 0), [D(10**37 + 1), D(-7), D(0), None], [str(10**37 + 1), "-7", "0", ""]),
        (pa.timestamp("ns"), [at, at + 1, 0, None], ["2023-11-14 22:13:20.123456789", "2023-11-14 22:13:20.123456790"]),
        (pa.timestamp("ns", "Europe/Berlin"), [at, 1, 0, None], ["2023-11-14 23:13:20.123456789+0100"]),
        (pa.timestamp("us", "UTC"), [10**15, 1, 0, None], ["2001-09-09 01:46:40.000000Z"]),
        (pa.timestamp("ms", "+05:30"), [10**12, 1, 0, None], ["2001-09-09 07:16:40.000+0530"]),
        (pa.date32(), [19783, 0, -1, None], ["2024-03-01", "1970-01-01", "1969-12-31", ""]),
        (pa.time64("ns"), [1, 0, 2, None], ["00:00:00.000000001"]),
        (pa.duration("ns"), [1_500_000_001, 0, -1, None], ["1.500000001", "0.000000000", "-0.000000001", ""]),
        (pa.duration("ms"), [1_500, 0, -1, None], ["1.500", "0.000", "-0.001", ""]),
        (pa.string(), [" a ", "NA", "x,y", None], [" a ", "NA", "x,y", ""]),
        (pa.string(), ["e\u0301", "\u00a0", "007", None], ["e\u0301", "\u00a0", "007", ""]),
        (pa.dictionary(pa.int8(), pa.string()), [" a ", "b", "b", None], [" a ", "b", "b", ""]),
        (pa.large_string(), ["nan", "null", "?", None], ["nan", "null", "?", ""]),
        (pa.binary(), [b"a", b"b ", b"", None], ["a", "b ", "", ""]),
    ]


@pytest.mark.parametrize(("source", "packed"), [("parquet", False), ("feather", True)])
@pytest.mark.parametrize(("kind", "keys", "texts"), _typed_keys(), ids=map(str, range(len(_typed_keys()))))
def test_typed_keys_come_out_as_they_went_in(run, tmp_path, kind, keys, texts, source, packed):
    """In Parquet with their type and all of their value; in CSV as the text that says all of it."""
    cells = pa.array(keys, kind)
    rows, table = tmp_path / f"rows.{source}", pa.table({"k": cells, "age": [20.0, 80, 20, None]})
    pq.write_table(table, rows, row_group_size=3) if source == "parquet" else feather.write_feather(table, rows)
    if packed:
        rows = rows.rename(tmp_path / f"rows.{source}.gz")
        rows.write_bytes(gzip.compress(rows.read_bytes()))
    for out in ("o.csv", "o.parquet"):
        code, _, said = run("predict", model_of(tmp_path / "m.json"), rows, "--key", "k", "--out", tmp_path / out)
        assert code == 0, said
        assert "are lost" not in said
    found = pq.read_table(tmp_path / "o.parquet")
    pq.write_table(table, tmp_path / "same.parquet")  # Arrow itself may read another index of a dictionary than was written
    assert (found["k"].type, found["k"].to_pylist()[-1]) == (pq.read_table(tmp_path / "same.parquet")["k"].type, keys[-1])
    assert found["k"].combine_chunks().cast(_plain(kind)).view(_bits(kind)).equals(cells.cast(_plain(kind)).view(_bits(kind)))
    said = pd.read_csv(tmp_path / "o.csv", dtype=str, keep_default_na=False)
    assert said["label"].tolist() == ["no", "yes", "no", ""]
    assert said["k"].tolist()[: len(texts)] == texts


def test_intervals_as_keys_are_texts(run, tmp_path):
    """Parquet has no such type."""
    keys = pa.array([pa.MonthDayNano([14, -2, 5]), pa.MonthDayNano([0, 0, 0]), None])
    feather.write_feather(pa.table({"k": keys, "age": [20.0, 80, 20]}), tmp_path / "rows.feather")
    for out, read in (("o.csv", pd.read_csv), ("o.parquet", pd.read_parquet)):
        answers = "--key", "k", "--out", tmp_path / out
        code, _, said = run("predict", model_of(tmp_path / "m.json"), tmp_path / "rows.feather", *answers)
        assert code == 0, said
        assert read(tmp_path / out)["k"].fillna("").tolist() == ["14M-2d5ns", "0M0d0ns", ""]


def _plain(kind):
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _bits(kind):
    """A type that tells -0.0 from 0.0."""
    return {pa.float64(): pa.int64(), pa.float32(): pa.int32()}.get(kind, _plain(kind))


def test_keys_that_are_a_feature_too_or_stand_in_many_pieces(run, tmp_path, monkeypatch):
    """The key may be one of the model's columns, and a file of many pieces, or a folder of files, has the keys of each."""
    ages = [20.0, 80.5, -0.0, None] * 700
    pq.write_table(pa.table({"age": ages, "more": ages}), tmp_path / "rows.parquet", row_group_size=900)
    code, _, said = run(
        "predict", model_of(tmp_path / "m.json"), tmp_path / "rows.parquet", "--key", "age", "--out", tmp_path / "o.parquet"
    )
    assert code == 0, said
    assert list(map(repr, pq.read_table(tmp_path / "o.parquet")["age"].to_pylist())) == list(map(repr, ages))


@pytest.mark.slow
@pytest.mark.parametrize("others", [pa.int32(), pa.string(), pa.timestamp("ns")])
def test_a_folder_whose_files_have_keys_of_other_types_is_refused_in_parquet(run, refused, tmp_path, others):
    folder = tmp_path / "rows"
    folder.mkdir()
    for place, kind in enumerate((pa.int64(), others)):
        cells = pa.array([5, 7], pa.int64()).cast(kind)
        pq.write_table(pa.table({"k": cells, "age": [20.0, 80.0]}), folder / f"{place}.parquet")
    model = model_of(tmp_path / "m.json")
    said = refused("predict", model, folder, "--key", "k", "--out", tmp_path / "o.parquet")
    assert "'k'" in said
    assert "CSV" in said
    assert not (tmp_path / "o.parquet").exists()
    assert run("predict", model, folder, "--key", "k", "--out", tmp_path / "o.csv")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("source", ["xlsx", "dta", "csv", "csv.gz"])
def test_keys_of_texts_keep_their_blanks_in_every_kind_of_file(run, tmp_path, source):
    frame = pd.DataFrame({"k": [" a", "b  c", "007", "1.50", "NA", "e\u0301"], "age": [20.0, 80, 20, 80, 20, 80]})
    rows = tmp_path / f"rows.{source}"
    {"xlsx": frame.to_excel, "dta": partial(frame.to_stata, write_index=False, version=118)}.get(
        source, partial(frame.to_csv, index=False)
    )(rows, **({"index": False} if source == "xlsx" else {}))
    for out, read in (("o.csv", partial(pd.read_csv, dtype=str, keep_default_na=False)), ("o.parquet", pd.read_parquet)):
        code, _, said = run("predict", model_of(tmp_path / "m.json"), rows, "--key", "k", "--out", tmp_path / out)
        assert code == 0, said
        assert read(tmp_path / out)["k"].tolist() == frame["k"].tolist()


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
    assert dpviz.read_table(b'a,y\n"1\n2",no\n3,yes\n').left_out == (0,)  # rows to train on stay lines


@pytest.mark.parametrize("size", [97, 500, 10**6])
def test_the_first_cell_that_cannot_be_read_is_said_by_its_record_whatever_became_of_those_before(
    run, tmp_path, monkeypatch, size
):
    """Records before it that have no answer, or are none, are counted too: whoever looks for it finds it."""
    monkeypatch.setattr("dpviz.cli.models.is_large", lambda path: True)
    monkeypatch.setattr(text, "_CHUNK_SIZE", size)
    for dropped in ("20", "", "NA", "20,1", '"20'):  # an answer, two missing cells, and two lines that are no record
        lines = ["20"] * 400
        lines[5:300:7] = [dropped] * len(lines[5:300:7])
        lines[321] = lines[370] = "many"
        (tmp_path / "rows.csv").write_text("\n".join(["age,note", *(f"{line},k" for line in lines)]))
        (_, *given), said = answered(run, tmp_path, tmp_path / "rows.csv")
        assert len(given) == 400
        assert "first in row 322" in " ".join(said.split()), dropped


# --- evaluate


def class_and_error(tmp_path):
    """Rows of classes that are called as columns of the printed table are."""
    path = tmp_path / "classes.csv"
    path.write_text("age,y\n20,class\n30,class\n40,class\n90,class\n80,error\n", encoding="utf-8")
    return path


def test_measures_and_the_error_of_every_class_are_shown(run, model, table, tmp_path):
    code, out, err = run("evaluate", model, table)
    assert code == 0
    assert "Rows                 600" in out
    assert "Accuracy             100.0% (95%: 99.4% to 100.0%)" in out
    assert out.index("Most frequent class") < out.index("Accuracy") < out.index("Balanced accuracy")
    assert "AUC                  1.000 (95%: 1.000 to 1.000)" in out
    last = out.splitlines()[-2:]
    assert [line.split()[0] for line in last] == ["no", "yes"]
    assert all(line.endswith("0%") for line in last)
    assert "for their owner only" in err
    rows = tmp_path / "rows.csv"
    rows.write_text("age,colour,label\n80,red,yes\n20,red,yes\n,red,no\n20,pink,no\n", encoding="utf-8")
    _, out, err = run("evaluate", model, rows)
    assert "Most frequent class  100.0%" in out
    assert "Accuracy             50.0%" in out
    assert "2 rows are left out" in err
    found = json.loads(run("evaluate", model_of(tmp_path / "m.json", ("class", "error")), class_and_error(tmp_path), "--json")[1])
    assert found["confusion"][0] == {"class": "class", "class_2": "3", "error": "1", "error_2": "25%"}
    rows.write_text("age,colour,label\n" + "80,red,yes\n" * 19 + "20,red,no\n", encoding="utf-8")
    out = run("evaluate", model, rows)[1]
    assert "Most frequent class  95.0%" in out
    assert out.index("Balanced accuracy") < out.index("\nAccuracy"), "where nearly all rows are of one class"


# --- export; what is written is run in `tests/io`


@pytest.mark.slow
def test_every_form_is_written(run, table, schema, tmp_path):
    model = tmp_path / "model.json"
    assert run("train", table, "--schema", schema, "--epsilon", "2", "--depth", "2", "--seed", "5", "--out", model)[0] == 0
    for name in (*export_names(), "sql"):
        code, said, heard = run("export", model, "--to", name, "--out", tmp_path / f"out-{name}")
        assert (code, heard) == (0, ""), name
        assert (tmp_path / f"out-{name}").stat().st_size > 100
        assert forms().get(name, forms()["sqlite"]).title in said


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
    expected = dpviz.load_result(path).predict(pd.DataFrame(KEYED))
    assert [line[1] for line, answer in zip(found, expected, strict=True) if answer] == [answer for answer in expected if answer]
