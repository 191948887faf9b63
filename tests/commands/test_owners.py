"""The owners command: a model from several files, and what late rows are worth."""

import json

import pytest

import dpviz
from dpviz.owners import owner_process
from tests.commands.conftest import csv_text
from tests.owners.in_threads import OwnerInThread


@pytest.fixture(autouse=True)
def _in_threads(monkeypatch):
    monkeypatch.setattr(owner_process.subprocess, "Popen", OwnerInThread)


@pytest.fixture
def parts(tmp_path):
    """The table of 600 rows, at three owners."""
    head, *lines = csv_text().splitlines()
    paths = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for path, (start, end) in zip(paths, ((0, 100), (100, 300), (300, 600)), strict=True):
        path.write_text("\n".join([head, *lines[start:end]]) + "\n", encoding="utf-8")
    return paths


FEW = ("--epsilon", "2", "--param", "rounds=8")


def test_the_written_model_is_the_one_python_trains(run, parts, schema, tmp_path):
    out = tmp_path / "model.json"
    asked = ("--public-seed", "3", "--seed", "5", "--colluding", "1", "--out", out)
    code, said, _ = run("owners", "train", *parts, "--schema", schema, *FEW, *asked)
    assert code == 0
    declared = dpviz.load_schema(schema)
    rows = [dpviz.encode(dpviz.read_csv(part), declared) for part in parts]
    how = {"epsilon": 2, "public_seed": 3, "seed": 5, "colluding": 1, "rounds": 8}
    assert out.read_text(encoding="utf-8") == dpviz.train_federated(rows, **how, schema=declared).result.to_json() + "\n"
    assert "Guarantee    would be epsilon = 2, delta = 5e-08 (add/remove one row) if released\n" in said
    assert "Owners       3. For the rows of the others, epsilon = 2 if 1 pool, " in said


def test_without_a_seed_it_is_a_release_that_no_register_counts(run, parts, schema, tmp_path):
    out = tmp_path / "model.json"
    asked = ("--public-seed", "3", "--param", "rounds=2", "--epsilon", "2", "--out", out)
    code, said, heard = run("owners", "train", *parts, "--schema", schema, *asked)
    privacy = json.loads(out.read_text(encoding="utf-8"))["privacy"]
    assert (code, privacy["noise"], privacy["disclosures"]) == (0, {"source": "release"}, [])
    assert "Guarantee    epsilon = 2, delta = 5e-08 (add/remove one row)\n" in said
    assert heard == "No register counts this release. Every owner must keep account of it.\n"


def test_a_release_on_far_fewer_rows_than_declared_is_refused(refused, run, parts, schema, tmp_path):
    asked = ("--schema", schema, "--public-seed", "3", *FEW, "--out", tmp_path / "model.json")
    assert "Far fewer rows are used than the 600 that are declared" in refused("owners", "train", *parts[:2], *asked)
    assert run("owners", "train", *parts[:2], *asked, "--accept-rows")[0] == 0


def test_bad_input_is_one_line(refused, parts, schema, tmp_path):
    asked = ("--schema", schema, "--public-seed", "3", *FEW, "--out", tmp_path / "model.json")
    assert "the rows of at least two owners" in refused("owners", "train", parts[0], *asked, "--seed", "1")
    assert "'colluding' parameter of train_federated must be a whole number from 0 to 2" in refused(
        "owners", "train", *parts, *asked, "--colluding", "3"
    )
    said = refused("owners", "train", "postgresql://me:secret@place/base?table=t", *parts, *asked)
    assert "must be a file: only" in said
    assert "secret" not in said
    assert "no feature called 'weight'" in refused("owners", "stream", parts[0], "--schema", schema, *FEW, "--feature", "weight")


def test_late_rows_are_followed_in_every_way(run, table, schema):
    code, said, _ = run("owners", "stream", table, "--schema", schema, *FEW, "--param", "extra_rounds=4", "--feature", "age")
    assert code == 0
    title, head, *lines = said.strip().splitlines()
    assert title == "Share of wrong classes (add/remove one row). For the owner of the rows only."
    assert head.split("  ")[0] == "WAY"
    data = dpviz.encode(dpviz.read_csv(table), dpviz.load_schema(schema))
    stream = dpviz.stream_of(*data.split(0.2, seed=0), "age", 0.3)
    for line, way in zip(lines, ("stop", "new rows alone", "filter", "from the start"), strict=True):
        course = dpviz.train_on_stream(stream, way, epsilon=2, seed=0, rounds=8, extra_rounds=4)
        assert line.startswith(way)
        assert line.split()[-2:] == [f"{course.after('new'):.4g}", f"{course.ledger.guarantee.epsilon:g}"]
