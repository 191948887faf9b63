"""`boosting`: the paper's numbers beside ours, and its figures as data."""

from __future__ import annotations

import csv
import gzip
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.__main__ import main
from benchmarks.boosting import entrants as bench_boosting_entrants
from benchmarks.boosting import owners as bench_boosting_owners
from benchmarks.boosting.entrants import (
    ENTRANTS,
    OURS,
    STATIC,
)
from benchmarks.boosting.figures import (
    STATED,
    STATED_STREAMS,
)
from benchmarks.boosting.measure import (
    Mean,
)
from benchmarks.boosting.page import value_text
from tests.support.paths import ROOT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Small tables with the columns of abalone and of a part of adult."""
    rng = np.random.default_rng(1)
    lines = ["Sex,Length,Diameter,Height,WholeWeight,ShuckedWeight,VisceraWeight,ShellWeight,Rings"]
    for x, sex in zip(rng.random(150), rng.choice(list("MFI"), 150), strict=True):
        sizes = ",".join(f"{x * f:.4f}" for f in (0.8, 0.6, 0.2, 2.8, 1.4, 0.7, 1.0))
        lines.append(f"{sex},{sizes},{1 + round(20 * x + 4 * rng.random())}")
    (tmp_path / "abalone.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    lines = ["age,education-num,sex,income"]
    for age, years in zip(rng.integers(17, 91, 150), rng.integers(1, 17, 150), strict=True):
        lines.append(f"{age},{years},{rng.choice(['Male', 'Female'])},{'>50K' if years + rng.integers(0, 4) > 11 else '<=50K'}")
    (tmp_path / "adult.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    manifest = "name,file,target\nabalone,abalone.csv.gz,Rings\nadult_train,adult.csv.gz,income\n"
    (tmp_path / "MANIFEST.csv").write_text(manifest)
    return tmp_path


@pytest.mark.slow
def test_the_command_writes_the_page_it_prints_and_the_figures_beside_it(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    short = [replace(e, params=e.params | {"rounds": 16}) if e.learner.startswith("s-gbdt") else e for e in ENTRANTS]
    monkeypatch.setattr(bench_boosting_entrants, "ENTRANTS", short)
    monkeypatch.setattr(bench_boosting_owners, "OWNERS", (1, 2))
    out = tmp_path / "boosting.md"
    assert main(["boosting", "--data", str(folder), "--quick", "--out", str(out)]) == 0
    page = out.read_text()
    assert page.strip() == capsys.readouterr().out.strip()
    for words in (
        "## Abalone: R²",
        "## Adult: error",
        "## Adult: AUC",
        "## Abalone: rows that come late",
        "## Abalone: several owners",
        "## Time",
    ):
        assert words in page
    table = pd.read_csv(tmp_path / "boosting_figures.csv")
    assert {"1", "4a", "4b", "5a", "5b", "6", "7a", "7b", "8"} <= set(table.figure)
    assert np.isfinite(table["mean"]).all()


def test_the_stored_redesign_is_nowhere_behind_and_nowhere_a_guess_where_no_setting_was_chosen() -> None:
    """Behind: the lead of the best other is beyond two of its standard errors."""
    with (ROOT / "data" / "benchmarks" / "boosting_other_tables.csv").open(encoding="utf-8") as file:
        fresh = [line for line in csv.DictReader(line for line in file if not line.startswith("#")) if " *: " in line["data"]]
    assert len(fresh) == 14
    leads = [[float(number) for number in line["lead of the best other"].split(" ± ")] for line in fresh]
    assert all(lead <= 2 * error for lead, error in leads)
    assert min(float(line[OURS].split(" ±")[0]) for line in fresh) > 0.6


def test_the_stored_page_prints_the_numbers_of_the_paper_and_which_two_its_text_has_the_other_way_round() -> None:
    page = (Path(__file__).parents[2] / "data" / "benchmarks" / "boosting.md").read_text(encoding="utf-8")
    for one in (*STATED, *STATED_STREAMS):
        name = f"{re.escape(one.data)}, {re.escape(one.title)}: {re.escape(one.metric)}"
        printed = re.escape(value_text(one.metric, Mean(one.value, math.nan)))
        epsilon = "-" if math.isinf(one.epsilon) else f"{one.epsilon:g}"
        assert re.search(rf"^\| {name} \| .*\| {epsilon} .*\| {printed} \|", page, re.MULTILINE), one
    (static,) = (one for one in STATED if one.title == STATIC and one.data == "Adult")
    assert f"(17.1% with static noise), against its own figure: {static.value:.1%} is taken" in page
