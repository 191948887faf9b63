"""Every topic measures a table and writes what it prints; `all` runs them one after the other."""

from __future__ import annotations

import gzip
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import boosting, curves, entrants, forests, growth, poisoning
from benchmarks.__main__ import TOPICS
from benchmarks.forests import table_6
from benchmarks.measured import means
from benchmarks.synthetic import synthetic
from dpviz.learners import get_learner, learner_names

ACCURACIES = """version,epsilon,group,dataset,method,mean,stderr
arXiv,0.1,uci,vote,PrivaTree,.9,.01
arXiv,0.1,uci,vote,DPGDF,-,
arXiv,runtime,uci,vote,PrivaTree,<1,0
arXiv,1,uci,vote,decision tree,.20,.001
corrected,1,uci,vote,decision tree,.999,.5
arXiv,1,numerical,both,PrivaTree,.7,.01
arXiv,1,mixed,both,PrivaTree,.8,.01
"""
GUARANTEES = """version,table,dataset,method,epsilon,accuracy,guarantee_0_1pct,guarantee_0_5pct,guarantee_1pct
arXiv,III (numerical),vote,PrivaTree,.1,.90,-,.73,.54
arXiv,VIII (categorical),elsewhere,PrivaTree,.1,.61,.46,.09,.01
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Small tables with the names and the columns of the papers', and what the papers print of one."""
    rng = np.random.default_rng(1)
    tables = {}
    lines = ["Sex,Length,Diameter,Height,WholeWeight,ShuckedWeight,VisceraWeight,ShellWeight,Rings"]
    for x, sex in zip(rng.random(150), rng.choice(list("MFI"), 150), strict=True):
        sizes = ",".join(f"{x * f:.4f}" for f in (0.8, 0.6, 0.2, 2.8, 1.4, 0.7, 1.0))
        lines.append(f"{sex},{sizes},{1 + round(20 * x + 4 * rng.random())}")
    tables["abalone"] = (lines, "Rings", 1)
    lines = ["age,education-num,sex,income"]
    for age, years in zip(rng.integers(17, 91, 150), rng.integers(1, 17, 150), strict=True):
        lines.append(f"{age},{years},{rng.choice(['Male', 'Female'])},{'>50K' if years + rng.integers(0, 4) > 11 else '<=50K'}")
    tables["adult_train"] = (lines, "income", 1)
    lines = [
        "u,v,w,target",
        *(f"{u},{rng.integers(2)},{rng.integers(3)},{'b' if u < 5 else 'a'}" for u in rng.integers(0, 9, 400)),
    ]
    tables |= dict.fromkeys(("adult", "compas-two-years", "vote"), (lines, "target", 1))
    data = tmp_path / "data"
    data.mkdir()
    for name, (lines, _, _) in tables.items():
        (data / f"{name}.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    entries = [f"{name},{name}.csv.gz,{target},{count}" for name, (_, target, count) in tables.items()]
    (data / "MANIFEST.csv").write_text("\n".join(["name,file,target,categorical_features", *entries]) + "\n")
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "privatree_tables.csv").write_text(ACCURACIES)
    (tmp_path / "reference" / "privatree_poisoning_tables.csv").write_text(GUARANTEES)
    return data


@pytest.fixture
def table(run, folder, tmp_path, capsys):
    """table("speed", ...) -> what it wrote, once that is what it printed."""

    def table(topic: str, *options: object) -> pd.DataFrame:
        out = tmp_path / f"{topic}.csv"
        code, printed, err = run(topic, *options, "--out", out)
        assert (code, err) == (0, "")
        first, *_ = out.read_text(encoding="utf-8").splitlines()
        assert first.startswith("# ")
        assert f"python -m benchmarks {topic}" in first
        found = pd.read_csv(out, comment="#")
        assert len(printed.splitlines()) == len(found) + 1
        return found

    return table


@pytest.mark.verify
def test_speed_compares_every_learner_with_scikit_learn(table, folder):
    found = table("speed", "--data", folder, "--repeats", 1)
    assert set(found.data) == {"adult_train", "adult", "compas-two-years", "vote"}  # abalone's target is a number
    (at,) = (part.set_index("what") for name, part in found.groupby("data") if name == "vote")
    assert at.ratio["scikit-learn tree"] == 1
    for name in (name for name in learner_names() if "classes" in get_learner(name).tasks):
        assert at.measured[f"{name}, first fit"] > 0
        assert at.measured[f"{name}, peak memory"] > 0
    assert {"pf-tree, repeated fit", "predict every row"} <= set(at.index)
    assert found.target.isna().all()  # so few rows


@pytest.mark.slow
def test_speed_measures_boosted_trees_at_size_by_both_clocks(table, monkeypatch):
    monkeypatch.setattr("benchmarks.speed.AT_SIZE", growth.Size(rows=600, columns=2))
    monkeypatch.setattr("benchmarks.speed.bench_data", lambda *_: iter(()))
    at = table("speed", "--repeats", 1).set_index("what")
    for how in ("by the clock", "by the processor"):
        assert at.ratio[f"scikit-learn boosted trees, {how}"] == 1
        assert at.ratio[f"s-gbdt, {how}"] > 0


@pytest.mark.slow
def test_growth_changes_one_size_at_a_time_and_says_the_exponent(table, monkeypatch):
    monkeypatch.setattr(growth, "USUAL", growth.Size(rows=500, columns=3))
    monkeypatch.setattr(growth, "AXES", {"rows": (500, 1000), "categories": (2, 5), "depth": (1, 2, 5000)})
    found = table("growth", "--repeats", 1, "--most", 1000)
    assert len(found) == len(growth.LEARNERS) * 6
    for (axis, _), lines in found.groupby(["axis", "learner"]):
        usual = {name: getattr(growth.USUAL, name) for name in ("rows", "columns", "categories", "depth") if name != axis}
        assert (lines[list(usual)] == pd.Series(usual)).all().all()
        steps = np.diff(np.log(lines.megabytes)) / np.diff(np.log(lines[axis]))
        assert lines.megabytes_exponent.iloc[1:].tolist() == pytest.approx(steps, abs=1e-3)
        assert math.isnan(lines.megabytes_exponent.iloc[0])


@pytest.mark.slow
def test_accuracy_stands_beside_what_is_printed_in_every_version(table, folder):
    names = ["--learner", "pf-tree", "--learner", "privatree", "--learner", "cart"]
    found = table("accuracy", "--data", folder, "--only", "vote", "--repeats", 1, *names)
    assert len(found) == 3 * 3 + 1  # the tree without privacy has two printed versions at epsilon 1
    tree = found[found.learner.str.startswith("Decision tree")]
    assert tree["mean"].nunique() == 1
    assert tree.set_index("version").found[["arXiv", "corrected"]].tolist() == ["differs", "same"]  # .20 is nothing like it
    (ours,) = found[(found.learner == "PrivaTree: violated") & (found.epsilon == 0.1)].itertuples()
    assert (ours.printed, ours.printed_error, ours.n) == (0.9, 0.01, 5)


@pytest.mark.slow
def test_poisoning_certifies_beside_corollary_2(table, folder, monkeypatch):
    monkeypatch.setattr(poisoning, "SPLITS", 3)
    found = table("poisoning", "--data", folder, "--splits", 2, "--repeats", 1)
    assert set(found.data) == {"vote"}
    assert set(found.learner) == {"pf-tree", "privatree", "logistic", "dpa"}
    curve = found[(found.learner == "privatree") & (found.epsilon == 0.1)]
    assert (curve.published / curve["mean"]).tolist() == pytest.approx(
        [math.exp(-0.1 * k) for k in curve.poisoned_rows], rel=1e-4
    )
    assert curve.printed.dropna().tolist() == [0.9, 0.73, 0.54]
    ours = found[found.learner == "pf-tree"]
    assert (ours.published <= ours.tight + 1e-9).all()
    assert (ours.tight_low <= ours.tight + 1e-9).all()


@pytest.mark.verify
def test_forests_measure_what_the_paper_states(table, folder, monkeypatch):
    monkeypatch.setattr(forests, "TABLE_1", ("SynthA",))
    monkeypatch.setattr(forests, "synthetic", lambda name, seed: synthetic(name, seed=seed, n_rows=200))
    found = table("forests", "--data", folder, "--only", "SynthA", "--only", "Adult", "--repeats", 2)
    assert {"accuracy", "auc", "f1", "seconds", "empty", "flipped", "depth", "right labels"} == set(found.metric)
    empty = found[(found.metric == "empty") & (found.data == "SynthA")].set_index("what").printed
    assert empty[["1 trees", "30 trees"]].tolist() == [49.8, 68.5]


@pytest.mark.verify
def test_curves_and_boosting_measure_every_figure(table, folder, monkeypatch):
    monkeypatch.setattr(curves, "TABLE_1", ("SynthA",))
    monkeypatch.setattr(
        curves, "synthetic", lambda name, *, seed, n_rows=200: synthetic(name, seed=seed, n_rows=min(n_rows, 200))
    )
    monkeypatch.setattr(curves, "PRIVATREE_EPSILONS", (0.1, 1.0))
    monkeypatch.setattr(curves, "DIVIDED", {"vote": ((0.1,), 3, 3)})
    monkeypatch.setattr(curves, "TREES", (1, 3))
    found = table("curves", "--data", folder, "--repeats", 2)
    assert {"PrivaTree 1", "PrivaTree 2", "forest 5b", "forest 7", "forest 8", "forest 9", "forest 10", "S-GBDT 3"} == set(
        found.figure
    )
    assert found["mean"].between(0, 1).all()
    short = [replace(e, params=e.params | {"rounds": 16}) if e.learner.startswith("s-gbdt") else e for e in entrants.ENTRANTS]
    monkeypatch.setattr(entrants, "ENTRANTS", short)
    monkeypatch.setattr(boosting, "OWNERS", (1, 2))
    found = table("boosting", "--data", folder, "--quick", "--folds", 2)
    assert {("Abalone", "fit"), ("Abalone", "stream"), ("Abalone", "owners"), ("Adult", "fit"), ("Adult", "stream")} == set(
        zip(found.data, found.what, strict=True)
    )
    assert np.isfinite(found["mean"]).all()
    best = found[found.metric == "score"].set_index(["data", "learner", "epsilon"])["mean"]
    for name in (entrants.PUBLISHED, entrants.RIVAL):
        assert best["Adult", f"{name}, best at each epsilon", 0.54].max() >= best["Adult", name, 0.54].max()


@pytest.mark.slow
def test_all_runs_every_topic_and_says_what_cannot_run(run, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.risk.EPSILONS", (1.0,))
    monkeypatch.setattr("benchmarks.__main__.TOPICS", {name: TOPICS[name] for name in ("risk", "rivals")})
    monkeypatch.setattr("benchmarks.rivals.find_spec", lambda name: None)
    code, _, err = run("all", "--data", folder, "--out", tmp_path / "out")
    assert code == 1
    assert "diffprivlib" in err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["risk.csv"]


def test_means_average_a_fold_first_and_leave_out_what_is_no_number():
    rows = pd.DataFrame({"data": "a", "fold": [0, 0, 1], "score": [1.0, 3.0, 4.0], "auc": [math.nan, 1.0, math.nan]})
    found = means(rows, ["data"], ["score", "auc"]).set_index("metric")
    assert (found["mean"]["score"], found.error["score"], found.n["score"]) == (3.0, 1.0, 2)
    assert (found["mean"]["auc"], found.n["auc"]) == (1.0, 1)
    assert math.isnan(found.error["auc"])


def test_table_6_is_reproduced_to_a_tenth_by_both_laws() -> None:
    for _, _, original, new, smooth, exponential, pf in table_6():
        assert smooth == pytest.approx(original, abs=0.11)
        assert exponential == pytest.approx(new, abs=0.051)
        assert pf > exponential


def test_wrong_folders_and_names_are_one_line(refused, folder, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "There is no MANIFEST.csv." in refused("speed", "--data", tmp_path / "empty")
    assert "Did you mean 'vote'?" in refused("speed", "--data", folder, "--only", "votes")
    assert "--only: There is no manifest to choose from." in refused("speed", "--only", "adult")
    assert "required: TOPIC" in refused()
    assert "must be a whole number from 1 to 1000, got '0'" in refused("speed", "--repeats", "0")
    assert "nope" in refused("accuracy", "--data", folder, "--learner", "nope")
    (folder / "vote.csv.gz").unlink()
    assert "'vote.csv.gz' cannot be read" in refused("speed", "--data", folder, "--only", "vote")
