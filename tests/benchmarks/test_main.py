"""`speed` prints ratios; what they are is for people to judge."""

import re

import pytest

from benchmarks import speed as bench_speed
from benchmarks.speed import Line, Target
from dpviz.io.csv import read_csv
from dpviz.learners import get_learner, learner_names
from dpviz.table.encode import encode
from tests.support.commands import SCHEMA, csv_text


@pytest.fixture
def folder(tmp_path, table):
    (tmp_path / "prices.csv").write_text("a,price\n" + "\n".join(f"{n % 7},{n}.5" for n in range(50)) + "\n", encoding="utf-8")
    manifest = "name,file,rows,target\ncolours,table.csv,600,label\nprices,prices.csv,50,price\n"
    (tmp_path / "MANIFEST.csv").write_text(manifest, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_every_learner_is_compared_with_scikit_learn_and_data_sets_with_a_numeric_target_are_left_out(run, folder):
    code, out, err = run("speed", "--data", folder, "--rounds", "1")
    assert (code, err) == (0, "")
    assert "colours: 600 rows, 2 features" in out
    assert "(add/remove one row)" in out
    assert re.search(r"^scikit-learn tree +[\d.]+ ms +1\.00$", out, re.MULTILINE)
    for name in (name for name in learner_names() if "classes" in get_learner(name).tasks):
        assert re.search(rf"^{name}, first fit +[\d.]+ ms +[\d.]+$", out, re.MULTILINE)
        assert re.search(rf"^{name}, peak memory +[\d.]+ MB +[\d.]+$", out, re.MULTILINE)
    assert re.search(r"^pf-tree, repeated fit +[\d.]+ ms +[\d.]+$", out, re.MULTILINE)
    assert re.search(r"^predict every row +[\d.]+ ms$", out, re.MULTILINE)
    assert "prices" not in out


@pytest.mark.slow
def test_targets_are_shown_for_large_tables_and_missing_one_is_no_failure(run, folder, monkeypatch):
    monkeypatch.setattr(bench_speed, "FEWEST_ROWS", 1)
    monkeypatch.setattr(bench_speed, "_PREDICTION", Target("<", 0.0, " ms"))
    monkeypatch.setattr(bench_speed, "_MEMORY", Target("<", 1e9))
    monkeypatch.setattr(bench_speed, "registry", lambda: {name: get_learner(name) for name in ("pf-tree", "privatree")})
    code, out, _ = run("speed", "--data", folder, "--only", "colours", "--rounds", "1")
    assert code == 0
    assert re.search(r"^predict every row .* < 0 ms +NOT MET$", out, re.MULTILINE)
    assert re.search(r"^pf-tree, peak memory .* < 1e\+09 +met$", out, re.MULTILINE)
    assert re.search(r"^pf-tree, first fit .* <= 0\.25 +(met|NOT MET)$", out, re.MULTILINE)
    assert re.search(r"^privatree, first fit .* <= 3 +(met|NOT MET)$", out, re.MULTILINE)


def test_the_loan_sample_is_measured_by_default(run, monkeypatch):
    monkeypatch.setattr("benchmarks.__main__.measure", lambda data, rounds: [Line("a job", float(data.n_rows), "rows")])
    code, out, _ = run("speed", "--rounds", "1")
    assert code == 0
    assert "loans: 20,000 rows" in out
    assert re.search(r"^a job +20000", out, re.MULTILINE)


def test_wrong_folders_and_names_are_one_line(refused, folder, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "There is no MANIFEST.csv." in refused("speed", "--data", tmp_path / "empty")
    assert "Did you mean 'colours'?" in refused("speed", "--data", folder, "--only", "colour")
    assert "--only: There is no manifest to choose from." in refused("speed", "--only", "adult")
    assert "required: TOPIC" in refused()
    assert "must be a whole number from 1 to 1000, got '0'" in refused("speed", "--rounds", "0")
    (folder / "table.csv").unlink()
    assert "'table.csv' cannot be read" in refused("speed", "--data", folder)


def test_a_ratio_is_the_time_beside_the_reference_in_the_same_round():
    times = {bench_speed.REFERENCE: [10.0, 100.0, 20.0], "job": [5.0, 20.0, 10.0]}
    assert bench_speed._time_line("job", times) == Line("job", 10.0, "ms", 0.5)


def test_the_limit_itself_is_met_only_where_it_is_included():
    assert Target("<=", 3).met_by(3)
    assert not Target("<", 3).met_by(3)
    assert not Line("x", 1.0, "ms", 3.5, Target("<=", 3)).is_met
    assert Line("x", 1.0, "ms", None, Target("<", 5)).is_met


def test_peak_memory_counts_what_a_fit_takes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(csv_text(), encoding="utf-8")
    data = encode(read_csv(path), SCHEMA)
    line = bench_speed._memory_line("job, first fit", lambda: bytearray(10_000_000), data.nbytes)
    assert 10.0 <= line.measured < 10.1
    assert line.ratio == pytest.approx(line.measured * 1e6 / data.nbytes)
