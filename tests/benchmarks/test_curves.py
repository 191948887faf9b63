"""`curves`: points are means over runs, and every figure is a table."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.__main__ import main
from benchmarks.curves import measure
from benchmarks.curves.measure import Point
from benchmarks.curves.page import FIGURES, _many_trees
from benchmarks.forests.synthetic import synthetic
from dpviz.randomness import generator


def test_figures_2_and_9_say_in_the_stored_points_what_the_papers_say_of_them() -> None:
    stored = pd.read_csv(Path(__file__).parents[2] / "data" / "benchmarks" / "curves.csv")
    # "On small datasets such as vote, the best trees allocate more budget to the leaves": epsilon .1, depth 3, 50 runs.
    vote = stored[(stored.figure == "PrivaTree 2") & (stored.data == "vote") & (stored.x != "its rule")].set_index("x")
    assert set(vote.series) == {"epsilon 0.1, depth 3"}
    assert set(vote.n) == {50}
    leaves = vote.index.str[-3:]
    assert vote["mean"].idxmax().endswith("4/6")
    assert vote["mean"][leaves == "4/6"].min() > vote["mean"][leaves == "1/6"].max() + 2 * math.sqrt(2) * vote.error.max()
    # "A sample of 3,000,000 records with epsilon = 0.1 can achieve comparable results to 30,000 records when epsilon = 1.0."
    by_rows = stored[stored.figure == "forest 9"].set_index(["series", "x"])
    many, few = (by_rows.loc[place] for place in (("epsilon 0.1", "3000000.0"), ("epsilon 1", "30000.0")))
    assert abs(many["mean"] - few["mean"]) <= 2 * math.hypot(many.error, few.error)


def test_the_stored_page_says_how_many_data_sets_do_as_the_paper_says_of_figure_7() -> None:
    folder = Path(__file__).parents[2] / "data" / "benchmarks"
    stored = pd.read_csv(folder / "curves.csv")
    means = stored["mean"][(stored.figure == "forest 7") & (stored.series == "epsilon 0.2") & (stored.x == "100.0")]
    points = [Point("forest 7", "", "epsilon 0.2", 100.0, "", mean, 0.0, 2) for mean in means]
    assert f"{FIGURES['forest 7'][1]}{_many_trees(points)} Runs" in (folder / "curves.md").read_text(encoding="utf-8")
    assert (len(points), _many_trees([])) == (7, "")


@pytest.mark.slow
def test_the_command_measures_every_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng, names = generator(1), ("adult", "compas-two-years", "vote", "adult_train")
    lines = [f"{u},{rng.integers(0, 3)},{'b' if u + rng.integers(0, 4) < 6 else 'a'}" for u in rng.integers(0, 9, 200)]
    for name in names:
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress("\n".join(["u,v,target", *lines]).encode()))
    lines = [f"{0.5 + k % 3 / 100},{k % 29 + 1}" for k in range(60)]
    (tmp_path / "abalone.csv.gz").write_bytes(gzip.compress("\n".join(["Length,Rings", *lines]).encode()))
    entries = [*(f"{name},{name}.csv.gz,target,1" for name in names), "abalone,abalone.csv.gz,Rings,0"]
    (tmp_path / "MANIFEST.csv").write_text("\n".join(["name,file,target,categorical_features", *entries]) + "\n")
    monkeypatch.setattr(measure, "TABLE_1", ("SynthA",))
    monkeypatch.setattr(
        measure, "synthetic", lambda name, *, seed, n_rows=200: synthetic(name, seed=seed, n_rows=min(n_rows, 200))
    )
    monkeypatch.setattr(measure, "PRIVATREE_EPSILONS", (0.1, 1.0))
    monkeypatch.setattr(measure, "DIVIDED", {"vote": ((0.1,), 3, 3)})
    monkeypatch.setattr(measure, "TREES", (1, 3))
    out = tmp_path / "page.md"
    assert main(["curves", "--data", str(tmp_path), "--runs", "2", "--out", str(out)]) == 0
    assert out.read_text().strip() == capsys.readouterr().out.strip()
    assert all(f"## {heading}" in out.read_text() for heading, _, _ in FIGURES.values())
    table = pd.read_csv(out.with_suffix(".csv"))
    assert set(table.figure) == set(FIGURES)
    assert table["mean"].between(0, 1).all()
