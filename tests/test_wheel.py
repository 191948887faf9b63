"""What pip installs: the wheel holds what it must, runs from an empty folder, and gives what the clone gives, to the bit."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import dpviz
from dpviz.__main__ import main
from dpviz.figures.publish.exports import targets
from dpviz.installation import bundled
from dpviz.io.samples import load_sample
from tests.installing import build_wheel, install
from tests.test_project import ROOT, tracked_files

pytestmark = pytest.mark.slow

#: Of the exports, those that need an extra.
EXTRA_OF = {"onnx": "onnx", "duckdb": "duckdb"}
SCRIPT = """
import sys, dpviz
from dpviz.io.samples import load_sample
result = dpviz.fit("pf-tree", dpviz.encode(*load_sample(sys.argv[1])), epsilon=0.5, max_depth=4, seed=11)
open("tree.json", "w", encoding="utf-8").write(result.to_json() + "\\n")
print(dpviz.__file__)
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def library(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`pip install dpviz`: its Python."""
    return install(wheel, tmp_path_factory.mktemp("library"))


@pytest.fixture
def run(library: Path, tmp_path: Path) -> Run:
    """Runs a program of the environment in an empty folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}

    def run(program: str, *words: object) -> subprocess.CompletedProcess[str]:
        command = [str(library.parent / program), *map(str, words)]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return run


def test_the_wheel_holds_the_package_and_what_the_dashboard_needs_and_nothing_else(wheel: Path) -> None:
    names = {file.relative_to(ROOT).as_posix() for file in tracked_files()}
    package = {name for name in names if name.startswith("dpviz/")}
    beside = {name for name in names if name.startswith(("pages/", ".streamlit/")) or name == "app.py"}
    samples = {name for name in names if name.startswith("data/") and name.count("/") == 1 and not name.endswith(".py")}
    expected = package | {f"dpviz/_bundled/{name}" for name in beside | samples | {"data/benchmarks/verdicts.json"}}
    with zipfile.ZipFile(wheel) as archive:
        assert {name for name in archive.namelist() if ".dist-info/" not in name} == expected


def test_the_library_comes_without_the_dashboards_packages(run: Run) -> None:
    names = ["streamlit", "plotly", "pyarrow", "onnx", "duckdb"]
    code = f"from importlib.util import find_spec; print([name for name in {names} if find_spec(name)])"
    assert run("python", "-c", code).stdout == "[]\n"


@pytest.mark.parametrize("name", ["loans", "clinic"])
def test_a_script_reproduces_a_samples_tree_to_the_bit(run: Run, library: Path, tmp_path: Path, name: str) -> None:
    done = run("python", "-c", SCRIPT, name)
    assert done.stderr == ""
    assert Path(done.stdout.strip()).is_relative_to(library.parents[1])
    result = dpviz.fit("pf-tree", dpviz.encode(*load_sample(name)), epsilon=0.5, max_depth=4, seed=11)
    assert (tmp_path / "tree.json").read_text(encoding="utf-8") == result.to_json() + "\n"


@pytest.mark.parametrize("target", targets())
def test_its_exports_are_those_of_the_clone_or_name_the_extra_they_need(run: Run, tmp_path: Path, target: str) -> None:
    run("python", "-c", SCRIPT, "clinic")
    done = run("dpviz", "export", "tree.json", "--to", target, "--out", "installed")
    if target in EXTRA_OF:
        assert done.returncode == 2
        assert done.stderr.endswith(f". Run: pip install 'dpviz[{EXTRA_OF[target]}]'\n")
        assert done.stderr.count("\n") == 1
        return
    assert (done.returncode, done.stderr) == (0, "")
    assert main(["export", str(tmp_path / "tree.json"), "--to", target, "--out", str(tmp_path / "clone")]) == 0
    assert (tmp_path / "installed").read_bytes() == (tmp_path / "clone").read_bytes()


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("sweep", ["--epsilon", "1", "--learners", "pf-tree,cart,logistic", "--folds", "2", "--repeats", "1", "--workers", "2"]),
        ("poison", ["--epsilon", "1", "--draws", "50"]),
    ],
)
def test_its_tables_are_those_of_the_clone(run: Run, tmp_path: Path, command: str, more: list[str]) -> None:
    asked = [command, str(bundled("data/clinic.csv.gz")), "--schema", str(bundled("data/clinic.schema.json")), *more]
    done = run("dpviz", *asked, "--out", "installed.csv")
    assert done.returncode == 0, done.stderr
    assert main([*asked, "--out", str(tmp_path / "clone.csv")]) == 0
    assert (tmp_path / "installed.csv").read_bytes() == (tmp_path / "clone.csv").read_bytes()


def test_a_tree_is_released_and_booked(run: Run) -> None:
    rows = [bundled("data/clinic.csv.gz"), "--schema", bundled("data/clinic.schema.json")]
    assert run("dpviz", "register", "declare", "stays", "--epsilon-cap", "1", "--register", "own.db").returncode == 0
    words = [*rows, "--epsilon", "0.5", "--data-set", "stays", "--assign", "--register", "own.db", "--out", "release.json"]
    done = run("dpviz", "train", *words)
    assert done.returncode == 0, done.stderr
    listed = run("dpviz", "register", "list", "--register", "own.db", "--out", "register.json")
    assert listed.returncode == 0, listed.stderr


def test_the_stored_verdicts_come_with_it(run: Run) -> None:
    code = "from dpviz.evaluation.audit.verdicts import stored_run; print(len(stored_run().results) > 50)"
    assert run("python", "-c", code).stdout == "True\n"


def test_the_dashboard_names_its_extra_in_one_line(run: Run) -> None:
    done = run("dpviz", "app")
    said = "The dashboard needs packages that are not installed: streamlit, plotly, pyarrow. Run: pip install 'dpviz[app]'"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"dpviz: {said}\n")


def test_the_schema_of_its_documents_comes_with_it(run: Run) -> None:
    code = "from dpviz.io.exports.json_document import JSON_SCHEMA; print(JSON_SCHEMA.read_text(encoding='utf-8'))"
    assert json.loads(run("python", "-c", code).stdout)["$schema"]
