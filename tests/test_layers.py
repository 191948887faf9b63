"""The contracts on imports in pyproject.toml: kept, complete, and none of them asleep."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]

#: What breaks each contract: (the start of its name, a file, what is written at its end).
OFFENDERS = (
    ("A package imports", "dpviz/table/roles.py", "from dpviz.privacy.source import ExactNoise"),
    ("A package imports", "dpviz/io/roles.py", "def f():\n    import dpviz.evaluation.metrics"),
    ("A package imports", "dpviz/cli/roles.py", "from dpviz.app import state"),
    ("A package imports", "dpviz/attic/__init__.py", ""),
    ("Benchmarks stand", "dpviz/cli/roles.py", "from benchmarks import page"),
    ("No package imports", "dpviz/learners/roles.py", "from dpviz import fit"),
    ("Streamlit stays", "dpviz/charts/roles.py", "import streamlit as st"),
    ("Streamlit stays", "dpviz/app/roles.py", "import plotly.graph_objects as go"),
    ("Streamlit stays", "dpviz/learners/roles.py", "def f():\n    import opendp.prelude as dp"),
    ("Packages that compute", "dpviz/table/roles.py", "def f():\n    import pandas as pd"),
    ("Capabilities", "dpviz/app/learn/roles.py", "import dpviz.app.publish"),
    ("Questions", "dpviz/evaluation/audit/roles.py", "import dpviz.evaluation.plan"),
    ("Figures", "dpviz/charts/tree/roles.py", "from dpviz.charts.robustness import headline"),
)


def linted(folder: Path) -> tuple[int, dict[str, bool]]:
    """(exit code, whether each contract is kept, by its name without line breaks)."""
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    said = re.sub(r"\s+", " ", done.stdout)
    names = [contract["name"] for contract in CONTRACTS]
    assert all(name in said for name in names), done.stdout + done.stderr
    return done.returncode, {name: f"{name} KEPT" in said for name in names}


@pytest.mark.slow
def test_every_contract_is_kept() -> None:
    code, kept = linted(ROOT)
    assert (code, [name for name, is_kept in kept.items() if not is_kept]) == (0, []), "run: lint-imports"


@pytest.mark.parametrize("package", ["app", "evaluation", "charts"])
def test_every_capability_is_under_contract(package: str) -> None:
    declared = {name for contract in CONTRACTS for name in contract.get("modules", ()) if name.startswith(f"dpviz.{package}.")}
    folders = {file.parent.name for file in (ROOT / "dpviz" / package).glob("*/__init__.py")}
    files = {file.stem for file in (ROOT / "dpviz" / package).glob("*.py")}
    all_folders, all_names = ({f"dpviz.{package}.{name}" for name in names} for names in (folders, folders | files))
    assert all_folders <= declared <= all_names


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layers")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in ("dpviz", "benchmarks"):
        shutil.copytree(
            ROOT / package, folder / package, ignore=lambda _, names: [n for n in names if "." in n and n[-3:] != ".py"]
        )
    return folder


@pytest.mark.parametrize(("contract", "file", "text"), OFFENDERS)
@pytest.mark.slow
def test_every_contract_bites(copied: Path, contract: str, file: str, text: str) -> None:
    offender = copied / file
    offender.parent.mkdir(exist_ok=True)
    offender.write_text(text, encoding="utf-8")
    try:
        code, kept = linted(copied)
    finally:
        offender.unlink()
        if not list(offender.parent.iterdir()):
            offender.parent.rmdir()
    assert code == 1
    assert [name for name, is_kept in kept.items() if not is_kept and name.startswith(contract)]
