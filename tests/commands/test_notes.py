"""What the reader noticed is printed by every command that reads a table, once, in the words of the command line, on stderr."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import dpviz
from dpviz.__main__ import main

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
    "evaluate": ("evaluate", "{model}", "{data}"),
    "sweep": ("sweep", "{data}", "--schema", "{schema}", "--epsilon", "1", "--folds", "2", "--repeats", "1", "--out", "{out}"),
}
#: What is added to the file, and what is said.
FAULTS = {
    "letters": (b"41,Z\xfcrich,n", "Warning: Some cells are not UTF-8: letters in them are lost. Name the encoding of the file"),
    "backslash": (b'41,"a \\"b\\" c",n', "Warning: In some lines a backslash stands before a quote"),
    "marks": (
        b'"12,5",Bern,n',
        "may be read in two ways (1). Write plain numbers, or declare missing codes. Say which mark",
    ),
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
    data.write_bytes(content)
    schema.write_text(SCHEMA.to_json())
    code = main([word.format(data=data, schema=schema, model=model, out=out) for word in COMMANDS[command]])
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    ("command", "fault"), [*(("train", fault) for fault in FAULTS), *((one, "letters") for one in COMMANDS if one != "train")]
)
def test_every_command_says_once_what_the_reader_noticed(command, fault, model, tmp_path, capsys):
    line, words = FAULTS[fault]
    content = b"\n".join([b"age,town,y", *map(str.encode, LINES), line, b"33,Chur,p"])
    code, printed, said = heard(command, content, model, tmp_path, capsys)
    assert code == 0
    assert said.count(words) == 1
    assert words not in printed


@pytest.mark.parametrize("fault", ["letters", "backslash"])
def test_a_table_in_pieces_is_doubted_too(fault, model, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("dpviz.rows.files.MAX_BYTES", 100)
    line, words = FAULTS[fault]
    content = b"\n".join([b"age,town,y", *map(str.encode, LINES), line, b"33,Chur,p"])
    for command in ("train", "predict", "evaluate"):
        assert heard(command, content, model, tmp_path, capsys)[2].count(words) == 1, command
        (tmp_path / "out.csv").unlink(missing_ok=True)


def test_a_command_that_fails_says_what_may_be_the_reason_before(model, tmp_path, capsys):
    content = b"\n".join([b"age;town,y", *(line.replace(",", ";", 1).encode() for line in LINES)])
    code, _, said = heard("train", content, model, tmp_path, capsys)
    assert code == 2
    *doubts, error = said.splitlines()
    assert error.startswith("dpviz: ")
    assert all(line.startswith("Warning: ") for line in doubts)


def test_python_says_the_same(model, tmp_path, capsys):
    line, _ = FAULTS["letters"]
    content = b"\n".join([b"age,town,y", *map(str.encode, LINES), line])
    said = heard("train", content, model, tmp_path, capsys)[2]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dpviz.encode(content, SCHEMA)
    doubts = {str(one.message.doubt) for one in caught if isinstance(one.message, dpviz.errors.ReadingWarning)}
    assert doubts
    assert all(f"Warning: {doubt}" in said for doubt in doubts)


def test_notes_are_no_part_of_json(model, tmp_path, capsys):
    data = tmp_path / "rows.csv"
    data.write_bytes(b"\n".join([b"age,town,y", *map(str.encode, LINES), FAULTS["letters"][0]]))
    assert main(["evaluate", str(model), str(data), "--json"]) == 0
    printed, said = capsys.readouterr()
    assert isinstance(json.loads(printed), dict)
    assert "not UTF-8" in said
