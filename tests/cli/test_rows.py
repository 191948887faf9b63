"""How commands read rows: what a schema is proposed from, what the reader doubts, and tables that are too large for memory."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import dpviz
from dpviz.__main__ import main
from dpviz.release.register import Register
from dpviz.rows import files
from tests.support.commands import csv_text

# --- a schema


def test_a_schema_is_the_proposal_with_every_value_marked(run, table, tmp_path):
    out = tmp_path / "s.json"
    code, said, heard = run("schema", table, "--target", "label", "--out", out)
    assert code == 0
    assert dpviz.load_schema(out) == dpviz.propose_schema(dpviz.read_table(table), "label")
    assert "Warning: 7 values of the schema were read from the data, not declared" in heard
    assert "No --target" not in heard
    assert said == f"Target    label\nFeatures  2\nFile      {out}\n"
    heard = run("schema", table, "--out", out, "--force")[2]
    assert "Warning: No --target: the last column, 'label', is used." in heard


def test_a_file_without_a_header_is_read_by_the_names_it_is_given(run, tmp_path):
    rows, out = tmp_path / "rows.csv", tmp_path / "s.json"
    rows.write_bytes("3\tklein\tno\n4\tgro\xdf\tyes\n".encode("cp1252"))
    code, _, _ = run("schema", rows, "--names", "size,word,label", "--delimiter", "tab", "--encoding", "cp1252", "--out", out)
    assert code == 0
    schema = dpviz.load_schema(out)
    assert (schema.feature_names, schema.n_public) == (("size", "word"), 2)
    assert schema.features[1].categories == ("gro\xdf", "klein")


# --- what the reader doubts is said once, in the words of the command line, on stderr

SCHEMA = dpviz.Schema(
    (dpviz.NumericFeature("age", 0, 120, missing_as=50), dpviz.CategoricalFeature("town", ("Bern", "Chur"), unknown_as="Bern")),
    dpviz.ClassTarget("y", ("n", "p")),
    n_public=100,
)
LINES = [f"{20 + k % 60},{('Bern', 'Chur')[k % 2]},{'np'[k % 3 % 2]}" for k in range(100)]
COMMANDS = {
    "schema": ("schema", "{data}", "--out", "{out}"),
    "train": ("train", "{data}", "--schema", "{schema}", "--epsilon", "1", "--seed", "0", "--out", "{out}"),
    "train, no schema": ("train", "{data}", "--epsilon", "1", "--seed", "0", "--out", "{out}"),
    "predict": ("predict", "{model}", "{data}", "--out", "{out}"),
    "evaluate": ("evaluate", "{model}", "{data}", "--json"),
    "sweep": ("sweep", "{data}", "--schema", "{schema}", "--epsilon", "1", "--folds", "2", "--repeats", "1", "--out", "{out}"),
}
#: What is added to the file, and what is said.
FAULTS = {
    "letters": (b"41,Z\xfcrich,n", "Warning: Some cells are not UTF-8: letters in them are lost. Name the encoding of the file"),
    "backslash": (b'41,"a \\"b\\" c",n', "Warning: In some lines a backslash stands before a quote"),
    "marks": (b'"12,5",Bern,n', "may be read in two ways (1). Write plain numbers, or declare missing codes. Say which mark"),
    "a short line": (b"41,Bern", "1 line was left out: another number of cells than columns"),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.json"
    data = "\n".join(["age,town,y", *LINES]).encode()
    path.write_text(dpviz.fit("pf-tree", data, schema=SCHEMA, epsilon=1, seed=0).to_json())
    return path


def heard(command: str, content: bytes, model: Path, folder: Path, capsys) -> tuple[int, str, str]:
    data, schema, out = folder / "rows.csv", folder / "schema.json", folder / "out.csv"
    out.unlink(missing_ok=True)
    data.write_bytes(content)
    schema.write_text(SCHEMA.to_json())
    code = main([word.format(data=data, schema=schema, model=model, out=out) for word in COMMANDS[command]])
    return code, *capsys.readouterr()


def with_fault(fault: str) -> bytes:
    return b"\n".join([b"age,town,y", *map(str.encode, LINES), FAULTS[fault][0], b"33,Chur,p"])


def test_every_command_says_once_what_the_reader_noticed(model, tmp_path, capsys):
    cases = [*(("train", fault) for fault in FAULTS), *((one, "letters") for one in COMMANDS if one != "train")]
    for command, fault in cases:
        code, printed, said = heard(command, with_fault(fault), model, tmp_path, capsys)
        assert code == 0
        assert said.count(FAULTS[fault][1]) == 1, command
        assert FAULTS[fault][1] not in printed
        if command == "evaluate":
            assert isinstance(json.loads(printed), dict)


@pytest.mark.parametrize("fault", ["letters", "backslash"])
def test_a_table_in_pieces_is_doubted_too(fault, model, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 100)
    for command in ("train", "predict", "evaluate"):
        assert heard(command, with_fault(fault), model, tmp_path, capsys)[2].count(FAULTS[fault][1]) == 1, command


def test_a_command_that_fails_says_what_may_be_the_reason_before(model, tmp_path, capsys):
    content = b"\n".join([b"age;town,y", *(line.replace(",", ";", 1).encode() for line in LINES)])
    code, _, said = heard("train", content, model, tmp_path, capsys)
    assert code == 2
    *doubts, error = said.splitlines()
    assert error.startswith("dpviz: ")
    assert all(line.startswith("Warning: ") for line in doubts)


# --- a folder, a database and a file that is too large for memory are as the table in memory

ASKED = ("--epsilon", "1", "--max-depth", "3")


def arrow_table():
    return csv.read_csv(pa.py_buffer(csv_text().encode()))


def folder(tmp_path):
    path = tmp_path / "parts"
    path.mkdir()
    for part in range(3):
        parquet.write_table(arrow_table().slice(200 * part, 200), path / f"part-{part}.parquet")
    return [path]


def too_large(tmp_path):
    path = tmp_path / "large.csv"
    path.write_text(csv_text(), encoding="utf-8")
    return [path]


@pytest.fixture(params=[folder, too_large])
def large(request, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 5000)
    return request.param(tmp_path)


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
def test_a_release_is_booked_for_the_rows_wherever_they_are(run, refused, schema, small, large, tmp_path):
    register = tmp_path / "releases.db"
    words = ("--epsilon-cap", "3", "--unit", "one row", "--rows-per-unit", "1", "--register", register)
    assert run("register", "declare", "survey", *words)[0] == 0
    booked = [*ASKED, "--schema", schema, "--data-set", "survey", "--register", register]
    assert "not assigned" in refused("train", *large, *booked, "--out", tmp_path / "x.json")
    refused("train", *large, *booked, "--add-rows", "--learner", "bdpt", "--out", tmp_path / "x.json")  # needs rows
    assert Register(register).balance("survey").spent.epsilon == 0
    code, said, _ = run("train", *large, *booked, "--add-rows", "--out", tmp_path / "one.json")
    assert code == 0, said
    assert run("train", small, *booked, "--out", tmp_path / "two.json")[0] == 0  # known: the same digest of the same rows
    assert Register(register).balance("survey").spent.epsilon == pytest.approx(2)


def test_what_cannot_be_is_refused_before_the_table_is_read(refused, schema, large, tmp_path, monkeypatch):
    monkeypatch.setattr("dpviz.cli.rows.encode_large", lambda *given, **more: pytest.fail("the table was read"))
    out = ["--out", tmp_path / "x.json", *ASKED]
    assert "needs the rows themselves" in refused("train", *large, *out, "--schema", schema, "--learner", "s-gbdt-published")
    assert "it needs a schema" in refused("train", *large, *out)
    assert "--target and --schema cannot be combined" in refused("train", *large, *out, "--schema", schema, "--target", "label")
