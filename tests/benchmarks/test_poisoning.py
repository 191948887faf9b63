"""`poisoning`: published guarantees beside measured and proved ones, and the figures' data."""

from __future__ import annotations

import csv
import gzip
import math
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.__main__ import main
from benchmarks.poisoning.measure import PublishedRow
from dpviz.installation import bundled
from dpviz.learners import DEFAULT
from dpviz.randomness import generator

HEAD = "version,table,dataset,method,epsilon,accuracy,guarantee_0_1pct,guarantee_0_5pct,guarantee_1pct"
PUBLISHED = f"""{HEAD}
arXiv,III (numerical),toy,PrivaTree,.01,.700,.699,.690,.680
arXiv,III (numerical),toy,PrivaTree,.1,.90,-,.73,.54
arXiv,III (numerical),toy,DiffPrivLib LR,.1,.550,-,.45,.333
arXiv,VIII (categorical),elsewhere,PrivaTree,.1,.61,.46,.09,.01
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = generator(0)
    lines = [f"{u},{rng.integers(0, 2)},{'b' if u < 5 else 'a'}" for u in rng.integers(0, 9, 400)]
    (tmp_path / "toy.csv.gz").write_bytes(gzip.compress("\n".join(["u,v,target", *lines]).encode()))
    for name, rows in (("mnist01_train", 60), ("mnist01_test", 30)):
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(pictures(rows).encode()))
    entries = ["toy,toy.csv.gz,target", *(f"{name},{name}.csv.gz,label" for name in ("mnist01_train", "mnist01_test"))]
    (tmp_path / "MANIFEST.csv").write_text("\n".join(["name,file,target", *entries]) + "\n")
    (tmp_path / "published.csv").write_text(PUBLISHED)
    return tmp_path


def pictures(rows: int) -> str:
    """Pictures of 6 by 6 pixels: a bright left half is a 0, a bright right half a 1."""
    rng = generator(rows)
    lines = [",".join([*(f"p{i}" for i in range(36)), "label"])]
    for row in range(rows):
        pixels = rng.integers(0, 60, (6, 6))
        pixels[:, :3] += 150 * (row % 2 == 0)
        pixels[:3, 3:] += 150 * (row % 2)
        lines.append(",".join(map(str, [*pixels.ravel(), row % 2])))
    return "\n".join(lines)


def line(*guarantees: float | None, epsilon: float = 0.1) -> PublishedRow:
    return PublishedRow("III (numerical)", "toy", "PrivaTree", epsilon, 0.8, guarantees, 3)


@pytest.mark.slow
def test_the_page_holds_published_measured_and_proved_guarantees(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out" / "page.md"
    out.parent.mkdir()
    few = ["--only", "toy", "--splits", "2", "--hundreds", "1", "--published", str(folder / "published.csv")]
    assert main(["poisoning", "--data", str(folder), "--out", str(out), *few]) == 0
    page = out.read_text()
    assert page.strip() == capsys.readouterr().out.strip()
    assert page.count("\n| toy |") >= 8
    row = next(text for text in page.split("## Epsilon 0.1 ")[1].splitlines() if text.startswith("| toy | 1.0% | 3 |"))
    cells = [cell.strip() for cell in row.split("|")[4:-1]]
    assert (cells[0], cells[2]) == (".54", ".333")
    assert 0 < float(cells[3].split()[0]) < float(cells[4].split()[0])
    assert "not* proved" in page
    with (out.parent / "page_figure_3.csv").open() as file:
        curve = list(csv.DictReader(file))
    assert {entry["learner"] for entry in curve} == {"pf-tree", "privatree", "dpa"}
    rows = [entry for entry in curve if entry["learner"] == "privatree" and entry["epsilon"] == "0.1"]
    fallen = [float(entry["published"]) / float(entry["accuracy"]) for entry in rows]
    assert fallen == pytest.approx([math.exp(-0.1 * int(entry["poisoned_rows"])) for entry in rows], abs=1e-3)
    assert {entry["poisoned_rows"] for entry in curve} == {"0", "1", "2", "3"}


def test_no_stored_success_is_above_what_is_proved_by_more_than_two_errors() -> None:
    with bundled("data/benchmarks/backdoor.csv").open() as file:
        proved = [line for line in csv.DictReader(file) if line["tight"]]
    assert {line["learner"] for line in proved} == {DEFAULT}
    for line in proved:
        error = math.hypot(float(line["success_error"]), float(line["published_error"]))
        assert float(line["success"]) - float(line["tight"]) < 2 * error + 1e-4, line


def test_the_page_about_poisoning_says_what_the_backdoor_does() -> None:
    stored = pd.read_csv(bundled("data") / "benchmarks" / "backdoor.csv")
    most = stored[stored.poisoned_rows == stored.poisoned_rows.max()].set_index(["learner", "epsilon"])
    ours, theirs, less = (most.loc[place] for place in ((DEFAULT, 0.1), ("privatree", 0.1), (DEFAULT, 0.01)))
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "poisoning.md").read_text(encoding="utf-8")
    assert f"works on {ours.success:.1%} of the pictures (PrivaTree: {theirs.success:.1%})" in page
    assert f"At ε = 0.01 it works on {less.success:.1%}, and accuracy on clean rows is {less.accuracy:.1%}" in page
