"""train, predict and evaluate on a folder, a database and a file that is too large for memory: as on the table in memory."""

import gzip

import duckdb
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from dpviz.release.register import Register
from dpviz.rows import files
from tests.support.commands import csv_text

ASKED = ("--epsilon", "1", "--max-depth", "3")


def arrow_table():
    return csv.read_csv(pa.py_buffer(csv_text().encode()))


def folder(tmp_path):
    path = tmp_path / "parts"
    path.mkdir()
    for part in range(3):
        parquet.write_table(arrow_table().slice(200 * part, 200), path / f"part-{part}.parquet")
    return [path]


def database(tmp_path):
    path = tmp_path / "table.duckdb"
    with duckdb.connect(str(path)) as base:
        base.register("given", arrow_table())
        base.execute("create table one as select * from given")
        base.execute("create table two as select 1 as x")
    return [path, "--sheet", "one"]


def too_large(tmp_path):
    path = tmp_path / "large.csv"
    path.write_text(csv_text(), encoding="utf-8")
    return [path]


@pytest.fixture(params=[folder, database, too_large])
def large(request, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 5000)
    return request.param(tmp_path)


@pytest.fixture
def register(run, tmp_path):
    path = tmp_path / "releases.db"
    words = ("--epsilon-cap", "3", "--unit", "one row", "--rows-per-unit", "1", "--register", path)
    assert run("register", "declare", "survey", *words)[0] == 0
    return path


@pytest.fixture
def small(tmp_path):
    """The same table, packed: small enough for memory."""
    path = tmp_path / "small.csv.gz"
    path.write_bytes(gzip.compress(csv_text().encode()))
    return path


@pytest.mark.slow
def test_a_large_table_gives_the_tree_the_answers_and_the_measures_of_a_small_one(run, schema, small, large, tmp_path):
    written = []
    for number, data in enumerate(([small], large)):
        tree, answers = tmp_path / f"{number}.json", tmp_path / f"{number}.csv"
        code, _, heard = run("train", *data, "--schema", schema, *ASKED, "--seed", "5", "--out", tree)
        assert code == 0
        assert f"Read {data[0].name}: 600 rows, 3 columns.\nEncoded 600 rows.\n" in heard
        said = run("predict", tree, *data, "--out", answers)[1].splitlines()[:2]
        measured = run("evaluate", tree, *data)[1]
        written.append((tree.read_text(encoding="utf-8"), answers.read_text(encoding="utf-8"), said, measured))
    assert written[0] == written[1]
    assert written[0][1].count("\n") == 601


@pytest.mark.slow
def test_a_release_is_booked_for_the_rows_wherever_they_are(run, refused, schema, register, small, large, tmp_path):
    booked = [*ASKED, "--schema", schema, "--data-set", "survey", "--register", register]
    assert "not assigned" in refused("train", *large, *booked, "--out", tmp_path / "x.json")
    code, said, _ = run("train", *large, *booked, "--add-rows", "--out", tmp_path / "one.json")
    assert code == 0, said
    assert run("train", small, *booked, "--out", tmp_path / "two.json")[0] == 0  # known: the same digest of the same rows
    assert Register(register).balance("survey").spent.epsilon == pytest.approx(2)


def test_what_cannot_be_is_refused_before_the_table_is_read(refused, schema, large, tmp_path, monkeypatch):
    monkeypatch.setattr("dpviz.commands.rows.encode_large", lambda *given, **more: pytest.fail("the table was read"))
    out = ["--out", tmp_path / "x.json", *ASKED]
    assert "needs the rows themselves" in refused("train", *large, *out, "--schema", schema, "--learner", "s-gbdt-published")
    assert "it needs a schema" in refused("train", *large, *out)
    assert "--target and --schema cannot be combined" in refused("train", *large, *out, "--schema", schema, "--target", "label")


def test_a_learner_that_needs_rows_is_not_booked(refused, schema, register, large, tmp_path):
    words = ["--data-set", "survey", "--add-rows", "--register", register, "--learner", "bdpt", "--schema", schema]
    refused("train", *large, *ASKED, *words, "--out", tmp_path / "x.json")
    assert Register(register).balance("survey").spent.epsilon == 0
