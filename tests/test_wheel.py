"""What pip installs: the wheel holds what it must, runs from an empty folder, and gives what the clone gives, to the bit."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpviz
from dpviz.__main__ import main
from dpviz.installation import bundled
from dpviz.io.samples import load_sample
from dpviz.results.exports import export, export_names
from tests.support.installing import build_wheel, clean_environment, install
from tests.support.paths import ROOT, tracked_files

pytestmark = [pytest.mark.slow, pytest.mark.verify]

#: What a user of the library may write: trees of two samples, and one of them in every format.
SCRIPT = """
import dpviz
from dpviz.results.exports import export, form_called, export_names
from dpviz.io.samples import load_sample

for name in ("health", "clinic"):
    text = dpviz.fit("pf-tree", dpviz.encode(*load_sample(name)), epsilon=0.5, max_depth=4, seed=11).to_json()
    open(f"{name}.json", "w", encoding="utf-8").write(text)
for name in export_names():
    try:
        content = export(name, text)
    except dpviz.DpvizError as error:
        content = str(error)
    open(name, "wb").write(content.encode())
print(dpviz.__file__)
"""

#: From a DataFrame to pictures, predictions and a release, with public names alone.
DOOR = """
from pathlib import Path
import dpviz, pandas

rows = pandas.read_json("rows.json")
features = dpviz.NumericFeature("age", 0, 100), dpviz.CategoricalFeature("colour", ("red", "green", "blue"))
schema = dpviz.Schema(features, dpviz.ClassTarget("income", ("low", "high")), n_public=600)
result = dpviz.fit("pf-tree", rows, schema=schema, epsilon=2, seed=11)
result.save("tree.json")
for name, file in (("report", "tree.html"), ("svg", "tree.svg"), ("python", "tree.py"), ("sqlite", "tree.sql")):
    Path(file).write_text(result.export(name), encoding="utf-8")
print(result.score(rows) > 0.8, (result.predict(rows) == dpviz.load_result("tree.json").predict(rows)).all())
with dpviz.open_register("register.sqlite") as register:
    register.declare("clinic", epsilon_cap=1, unit="one patient")
    entry = register.release("clinic", "pf-tree", rows, schema=schema, epsilon=0.75, add_rows=True, file="release.json")
    print(register.balance("clinic").left.epsilon, dpviz.load_result(entry.file).released)
"""
ROWS = {
    "age": [20 + row % 60 for row in range(600)],
    "colour": [("red", "green", "blue")[row % 3] for row in range(600)],
    "income": ["high" if row % 60 > 30 else "low" for row in range(600)],
}
FRAMES = {"pandas": pd.DataFrame, "Polars": pl.DataFrame, "Arrow": pa.table}

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def library(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its programs, after `pip install dpviz`."""
    return install(wheel, tmp_path_factory.mktemp("library"))


def program(library: Path, folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """What a program of the environment does in a folder."""
    command = [str(library / str(words[0])), *map(str, words[1:])]
    return subprocess.run(command, cwd=folder, env=clean_environment(), capture_output=True, text=True, check=False)


@pytest.fixture
def run(library: Path, tmp_path: Path) -> Run:
    """Runs a program of the environment in an empty folder."""
    return partial(program, library, tmp_path)


@pytest.fixture(scope="module")
def written(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the script ran."""
    folder = tmp_path_factory.mktemp("script")
    done = program(library, folder, "python", "-c", SCRIPT)
    assert done.stderr == ""
    assert Path(done.stdout.strip()).is_relative_to(library.parent)
    return folder


def test_the_wheel_holds_the_package_and_what_the_dashboard_needs_and_nothing_else(wheel: Path) -> None:
    names = {file.relative_to(ROOT).as_posix() for file in tracked_files()}
    package = {name for name in names if name.startswith("dpviz/")}
    beside = {name for name in names if name.startswith(("pages/", ".streamlit/")) or name == "app.py"}
    samples = {name for name in names if name.startswith("data/") and name.count("/") == 1 and not name.endswith(".py")}
    samples |= {name for name in names if name.startswith("data/counterexamples/")}
    results = {"data/benchmarks/verdicts.json", "data/benchmarks/differences.md"}
    results |= {"data/reference/dp_deployments.csv", "data/reference/dp_deployments_LICENSE"}
    package |= {file.relative_to(ROOT).as_posix() for file in (ROOT / "dpviz" / "manual").rglob("*") if file.is_file()}
    expected = package | {f"dpviz/_bundled/{name}" for name in beside | samples | results}
    with zipfile.ZipFile(wheel) as archive:
        assert {name for name in archive.namelist() if ".dist-info/" not in name} == expected


def test_the_library_comes_without_the_dashboards_packages(run: Run) -> None:
    names = ["streamlit", "plotly", "pyarrow", "duckdb"]
    code = f"from importlib.util import find_spec; print([name for name in {names} if find_spec(name)])"
    assert run("python", "-c", code).stdout == "[]\n"


@pytest.mark.parametrize("name", ["health", "clinic"])
def test_a_script_reproduces_a_samples_tree_to_the_bit(written: Path, name: str) -> None:
    result = dpviz.fit("pf-tree", dpviz.encode(*load_sample(name)), epsilon=0.5, max_depth=4, seed=11)
    assert (written / f"{name}.json").read_text(encoding="utf-8") == result.to_json()


@pytest.mark.parametrize("name", export_names())
def test_its_exports_are_those_of_the_clone(written: Path, name: str) -> None:
    found = (written / name).read_bytes()
    assert found == export(name, (written / "clinic.json").read_text(encoding="utf-8")).encode()


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("sweep", ["--epsilon", "1", "--learners", "pf-tree,cart", "--folds", "2", "--repeats", "1"]),
        ("robustness", ["--epsilon", "1", "--draws", "20"]),
    ],
)
def test_its_tables_are_those_of_the_clone(run: Run, tmp_path: Path, command: str, more: list[str]) -> None:
    asked = [command, str(bundled("data/clinic.csv.gz")), "--schema", str(bundled("data/clinic.schema.json")), *more]
    done = run("dpviz", *asked, "--out", "installed.csv")
    assert done.returncode == 0, done.stderr
    assert main([*asked, "--out", str(tmp_path / "clone.csv")]) == 0
    assert (tmp_path / "installed.csv").read_bytes() == (tmp_path / "clone.csv").read_bytes()


def test_a_dataframe_goes_in_and_pictures_predictions_and_a_release_come_out(run: Run, tmp_path: Path) -> None:
    """And the document is the one of the clone, from the same rows in any form."""
    pd.DataFrame(ROWS).to_json(tmp_path / "rows.json")
    done = run("python", "-c", DOOR)
    assert (done.stdout, done.stderr) == ("True True\n0.25 True\n", "")
    assert "<svg" in (tmp_path / "tree.html").read_text(encoding="utf-8")
    result = dpviz.load_result(tmp_path / "tree.json")
    for frame in FRAMES.values():
        again = dpviz.fit("pf-tree", frame(ROWS), schema=result.schema, epsilon=2, seed=11)
        assert again.to_json() == (tmp_path / "tree.json").read_text(encoding="utf-8").rstrip("\n")


def test_the_stored_verdicts_come_with_it(run: Run) -> None:
    code = "from dpviz.evaluation.audit.verdicts import stored_run; print(len(stored_run().facts) > 50)"
    assert run("python", "-c", code).stdout == "True\n"


def test_the_dashboard_names_its_extra_in_one_line(run: Run) -> None:
    done = run("dpviz", "app")
    said = "The dashboard needs packages that are not installed: streamlit, plotly, pyarrow. Run: pip install 'dpviz[app]'"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"dpviz: {said}\n")
