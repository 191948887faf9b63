"""`tables`: measured accuracy beside the published, and the page made of it."""

from __future__ import annotations

import csv
import gzip
import math
import re
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.corrected import corrected_parts
from benchmarks.data import bench_data
from benchmarks.page import CONSTANTS, _times, markdown_table, tables_page
from benchmarks.tables import Cell, lead, read_published, without_repeats
from dpviz.errors import DpvizError
from dpviz.randomness import generator
from dpviz.table.schema import CategoricalFeature, NumericFeature

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


def cell(learner: str, mean: float, error: float = 0.01, published: tuple[float, float] | None = None) -> Cell:
    return Cell("toy", 0.1, learner, mean, error, published)


def test_the_manifest_says_how_many_features_are_categories(folder: Path) -> None:
    (_, data), *_ = bench_data(folder, None)
    kinds = {feature.name: type(feature) for feature in data.schema.features}
    assert kinds == {"u": NumericFeature, "v": CategoricalFeature, "w": NumericFeature}


def test_runtimes_and_gaps_are_no_published_accuracy(folder: Path) -> None:
    assert read_published(folder / "published.csv") == {
        ("arXiv", 0.1, "toy", "PrivaTree"): (0.9, 0.01),
        ("arXiv", 1.0, "toy", "decision tree"): (0.2, 0.001),
        ("arXiv", 1.0, "both", "PrivaTree"): (0.7, 0.01),
        ("arXiv", 1.0, "both_cat", "PrivaTree"): (0.8, 0.01),
        ("arXiv", 1.0, "one", "PrivaTree"): (0.9, 0.01),
    }


def test_a_file_without_published_accuracy_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(PUBLISHED.splitlines()[0] + "\narXiv,0.1,uci,toy,DPGDF,-,\n")
    with pytest.raises(DpvizError, match="no published accuracy"):
        read_published(path)


@pytest.mark.parametrize(
    ("mean", "published", "off"),
    [(0.80, None, False), (0.80, (0.814, 0.0), False), (0.80, (0.83, 0.001), True), (0.80, (0.83, 0.02), False)],
)
def test_a_cell_is_off_beyond_two_errors_and_015(mean: float, published: tuple[float, float] | None, off: bool) -> None:
    assert cell("privatree", mean, 0.001, published).is_off is off


def test_leading_means_within_one_error_of_every_learner_that_spends_epsilon() -> None:
    ours = cell("pf-tree", 0.80)
    assert not list(lead([ours, cell("privatree", 0.80 + 0.99 * math.hypot(0.01, 0.01)), cell("cart", 0.99)]))
    (found,) = lead([ours, cell("privatree", 0.80 + 1.01 * math.hypot(0.01, 0.01))])
    assert found[3].learner == "privatree"


def test_private_cells_are_counted_apart_and_data_sets_with_the_same_rows_once() -> None:
    def cells(data: str, mean: float) -> list[Cell]:
        private = [Cell(data, epsilon, "privatree", mean, 0.001, (0.8, 0.001)) for epsilon in (0.1, 1.0)]
        exact = [Cell(data, epsilon, "cart", 0.9, 0.001, (0.9, 0.001)) for epsilon in (0.1, 1.0)]
        return [*private, *exact, *(Cell(data, epsilon, "pf-tree", 0.7, 0.001, None) for epsilon in (0.1, 1.0))]

    page = tables_page([*cells("electricity", 0.8), *cells("electricity_cat", 0.5)], {}, repeats=3, made="Made now.")
    assert "2 of 4 cells of private learners are as published" in page
    assert "counting data sets with the same rows once, 2 of 2." in page
    assert "one cell for all epsilons, 2 of 2 are." in page
    assert "in 2 of 4 cells; counting data sets with the same rows once, in 0 of 2." in page
    assert "--repeats 3`" in page
    assert without_repeats(cells("electricity_cat", 0.5)) == cells("electricity_cat", 0.5)


def test_corrected_columns_stand_beside_the_first_and_missing_data_are_named() -> None:
    published = {
        ("arXiv", 1.0, "adult", "BDPT"): (0.81, 0.001),
        ("corrected", 1.0, "adult", "BDPT"): (0.90, 0.001),
        ("corrected", 1.0, "adult", "PrivaTree"): (0.82, 0.001),
        ("arXiv", 1.0, "higgs", "BDPT"): (0.5, 0.001),
    }
    cells = [
        Cell("adult", 1.0, "bdpt", 0.81, 0.001, (0.81, 0.001)),
        Cell("adult", 1.0, "privatree-corrected", 0.82, 0.001, (0.82, 0.001)),
        *(Cell("adult", epsilon, "privatree-corrected", 0.75, 0.004, None) for epsilon in (0.01, 0.1)),
    ]
    columns, viii, absent = corrected_parts(cells, published)
    assert "| adult | 1 | .810 ± .001 (.900 ± .001) † |" in columns
    assert "Of its cells 0 of 1 are as measured here; of the first version's" in columns
    assert columns.splitlines()[2].endswith("1 of 1.")
    assert "| adult | 0.01 | .750 ± .004 | .75 | - |" in viii
    assert "| adult | 0.1 | .750 ± .004 | .79 | † |" in viii
    assert absent.endswith("1 were not measured, because the folder does not hold them: higgs.")
    assert corrected_parts([], {}) == []


def test_cells_with_bars_stay_one_cell() -> None:
    assert markdown_table(["a|b"], [["c|d"]]).splitlines()[2] == "| c\\|d |"


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
