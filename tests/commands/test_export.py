"""The export command: any form, and one line for what cannot be."""

import sqlite3

import pytest

from dpviz.io.exports.sql import TABLE
from dpviz.results.exports import export_names, forms


@pytest.fixture
def model(run, table, schema, tmp_path):
    path = tmp_path / "tree.json"
    code, _, _ = run("train", table, "--schema", schema, "--epsilon", "2", "--depth", "2", "--seed", "5", "--out", path)
    assert code == 0
    return path


@pytest.mark.slow
def test_every_form_is_written(run, model, tmp_path):
    for name in (*export_names(), "sql"):
        out = tmp_path / f"out-{name}"
        code, said, heard = run("export", model, "--to", name, "--out", out)
        assert (code, heard) == (0, ""), name
        assert out.stat().st_size > 100
        assert forms().get(name, forms()["sqlite"]).title in said


def test_written_sql_runs(run, model, tmp_path):
    out = tmp_path / "tree.sql"
    run("export", model, "--to", "sql", "--out", out)
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE {TABLE} (age REAL, colour TEXT)")
    base.executemany(f"INSERT INTO {TABLE} VALUES (?, ?)", [(90, "blue"), (3, "red"), (None, None), ("20", " red")])
    found = base.execute(out.read_text(encoding="utf-8"))
    assert [column for column, *_ in found.description] == ["prediction", "p_no", "p_yes"]
    lines = found.fetchall()
    first, second, nothing, third = lines
    assert nothing == (None, None, None)
    assert {answer for answer, *_ in (first, second, third)} <= {"yes", "no"}
    assert [p_no + p_yes for _, p_no, p_yes in (first, second, third)] == pytest.approx([1, 1, 1])


@pytest.mark.parametrize(("name", "now"), [("dot", "svg"), ("mermaid", "svg"), ("markdown", "rules"), ("onnx", "python")])
def test_a_form_that_is_gone_says_what_does_its_work(refused, model, tmp_path, name, now):
    said = refused("export", model, "--to", name, "--out", tmp_path / "o")
    assert f"The export format '{name}' was removed from dpviz. Use '{now}'." in said


def test_an_unknown_form_is_refused_with_a_hint(refused, model, tmp_path):
    assert "There is no export format called 'pyton'. Did you mean 'python'?" in refused(
        "export", model, "--to", "pyton", "--out", tmp_path / "o"
    )


def test_a_file_that_exists_is_kept(refused, run, model, tmp_path):
    out = tmp_path / "o.txt"
    out.write_text("mine")
    assert "The file exists." in refused("export", model, "--to", "rules", "--out", out)
    assert out.read_text() == "mine"
    assert run("export", model, "--to", "rules", "--out", out, "--force")[0] == 0


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "The model file cannot be read: No such file or directory."),
        (b"\xff\xfe\x00", "The model file is not UTF-8 text."),
        (b"{", "It is not JSON"),
        (b"[]", "This must be an object with named entries; got a list."),
        (b'{"format": "dpviz-tree/9"}', "The format 'dpviz-tree/9' is not known here"),
        (b'{"format": "dpviz-tree/1", "kind": "tree", "schema": 3}', "schema"),
    ],
)
def test_what_is_no_model_is_refused(refused, tmp_path, content, says):
    path = tmp_path / "model.json"
    if content is not None:
        path.write_bytes(content)
    assert says in refused("export", path, "--to", "python", "--out", tmp_path / "o")


def test_a_form_that_cannot_hold_the_model_is_refused_and_nothing_is_written(refused, run, table, schema, tmp_path):
    path, out = tmp_path / "linear.json", tmp_path / "o"
    run("train", table, "--schema", schema, "--epsilon", "2", "--learner", "logistic", "--seed", "5", "--out", path)
    assert "A model of kind 'linear' is no tree. Export it as JSON." in refused("export", path, "--to", "sql", "--out", out)
    assert not out.exists()
