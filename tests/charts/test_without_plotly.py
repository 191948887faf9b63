"""Drawings and texts do without plotly: the library and its command line are installed without it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.paths import ROOT

CODE = """
import importlib, pkgutil, sys
sys.modules["plotly"] = sys.modules["streamlit"] = None  # importing either fails
import dpviz.charts
for module in pkgutil.walk_packages(dpviz.charts.__path__, "dpviz.charts."):
    importlib.import_module(module.name)
from dpviz.charts.tree.text import rule_list
from dpviz.results.exports import export
from dpviz.models.document import model_from_json
text = open("tests/golden/pf-tree.json", encoding="utf-8").read()
for name in ("svg", "report"):
    assert export(name, text).content
assert rule_list(model_from_json(text))
"""


@pytest.mark.slow
def test_trees_reports_and_texts_are_drawn_without_plotly() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
