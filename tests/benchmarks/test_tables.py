"""`tables`: measured accuracy beside the published, and the page made of it."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.page import CONSTANTS, _times
from dpviz.randomness import generator

PUBLISHED = """version,epsilon,group,dataset,method,mean,stderr
arXiv,0.1,uci,toy,PrivaTree,.9,.01
arXiv,0.1,uci,toy,DPGDF,-,
arXiv,runtime,uci,toy,PrivaTree,<1,0
arXiv,1,uci,toy,decision tree,.20,.001
arXiv,1,numerical,both,PrivaTree,.7,.01
arXiv,1,mixed,both,PrivaTree,.8,.01
arXiv,1,mixed,one,PrivaTree,.9,.01
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = generator(0)
    rows = [f"{rng.integers(0, 9)},{rng.integers(0, 2)},{rng.integers(0, 3)},{'ab'[int(i % 3 == 0)]}" for i in range(400)]
    rows = [f"{row[:-1]}{'b' if row[0] in '01234' else 'a'}" for row in rows]
    (tmp_path / "toy.csv.gz").write_bytes(gzip.compress("\n".join(["u,v,w,target", *rows]).encode()))
    (tmp_path / "MANIFEST.csv").write_text("name,file,target,categorical_features\ntoy,toy.csv.gz,target,1\n")
    (tmp_path / "published.csv").write_text(PUBLISHED)
    return tmp_path


@pytest.mark.slow
def test_the_page_holds_every_learner_beside_what_was_published(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "page.md"
    arguments = ["--data", str(folder), "--published", str(folder / "published.csv"), "--repeats", "1", "--out", str(out)]
    names = ["--learner", "pf-tree", "--learner", "privatree", "--learner", "cart"]
    assert main(["tables", *arguments, *names]) == 0
    page = out.read_text()
    assert page.strip() == capsys.readouterr().out.strip()
    assert "(.900 ± .010)" in page
    assert "(.200 ± .001) †" in page  # nothing like the toy's real accuracy
    assert "PrivaTree: violated" in page
    assert page.count("\n| toy |") >= 4  # three epsilons and the times
    assert page.splitlines()[-1].count(" ± ") == 3


def test_an_unknown_learner_is_one_line_and_exit_code_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", "--data", str(folder), "--learner", "nope"]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


STORED = Path(__file__).parents[2] / "data" / "benchmarks"


@pytest.mark.parametrize("name", ["tables.md", "poisoning.md"])
def test_a_stored_page_says_that_constants_were_chosen_on_its_tables(name: str) -> None:
    page = (STORED / name).read_text(encoding="utf-8")
    assert CONSTANTS in page
    stored = (Path(__file__).parents[2] / "data" / "benchmarks" / "lookahead.csv").read_text(encoding="utf-8")
    chosen_on = set(re.findall(r"^[\d.]+,(\S+?)\*,", stored, re.MULTILINE))
    assert chosen_on & set(re.findall(r"^\| (\S+) \|", page, re.MULTILINE))


def test_the_stored_page_says_of_run_times_what_the_paper_prints() -> None:
    assert _times({}).split("\n\n")[1] in (STORED / "tables.md").read_text(encoding="utf-8")


def test_the_tables_of_the_paper_are_said_to_have_as_many_data_sets_as_were_measured() -> None:
    page = (STORED / "tables.md").read_text(encoding="utf-8")
    found = re.search(r"Of (\d+) data sets of the papers' tables, (\d+) were not measured", page)
    assert found is not None
    here = f"{int(found[1]) - int(found[2])} of {found[1]} data sets"
    with (Path(__file__).parents[2] / "data" / "benchmarks" / "papers_items.csv").open(encoding="utf-8") as file:
        items = {line["item"]: line["differs"] for line in csv.DictReader(file) if line["paper"].startswith("PrivaTree")}
    assert all(items[name].startswith(here) for name in ("Table II", "Table VI", "Table VII"))
