"""What import-linter, ruff and mypy cannot say: where events are made, files touched, exact counts seen and colours typed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EVENTS = "dpviz.accounting.events"
#: What mechanisms make, and who may say that a step costs nothing.
COSTS = {"Step", "RandomPartition"}
SAY_NO_COST = {"dpviz/training/growing.py", "dpviz/training/forests.py"}
WRITES = {"open", "io.open", "os.open", "os.remove", "os.rename", "os.replace"}
WRITES |= {"write_text", "write_bytes", "unlink", "rename", "mkdir", "rmdir", "symlink_to"}
#: What screens may make a path of: their own place and Streamlit's, and a file the register names.
PATHS = {"__file__", "learn.__file__", "streamlit.__file__", "record.file"}
COLOUR = re.compile(r"(?<![&\w])#(?:[0-9a-fA-F]{3,4}){1,2}\b|\b(?:rgb|hsl)a?\(")
FILES = [
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "dpviz").rglob("*.py"))
]


@cache
def nodes(text: str) -> list[ast.AST]:
    """Of a file, parsed once for all rules."""
    return list(ast.walk(ast.parse(text)))


def events_made(path: str, text: str) -> Iterator[str]:
    """Events with a cost, made outside of `privacy` and `accounting`: a step could look cheaper than it is."""
    if path.startswith(("dpviz/privacy/", "dpviz/accounting/")):
        return
    if "events" not in text:
        return
    imported = [
        node for node in nodes(text) if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("accounting.events")
    ]
    names = {alias.asname or alias.name: alias.name for node in imported for alias in node.names}
    for node in nodes(text):
        if isinstance(node, ast.Call):
            if path in SAY_NO_COST and ast.unparse(node).startswith("Step(Free(), "):
                continue
            *owner, last = ast.unparse(node.func).split(".")
            if (names.get(last) if not owner else last if owner[-1] == "events" else None) in COSTS:
                yield f"{path}:{node.lineno}: {last}"


def files_touched(path: str, text: str) -> Iterator[str]:
    """No path comes from a browser: screens open, write and remove no file."""
    if not path.startswith(("app.py", "pages/", "dpviz/app/")):
        return
    for node in nodes(text):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            foreign = called == "Path" and ast.unparse(node.args[0] if node.args else node) not in PATHS
            if called in WRITES or called.split(".")[-1] in WRITES - {"open"} or foreign:
                yield f"{path}:{node.lineno}: {called}"


def exact_counts_seen(path: str, text: str) -> Iterator[str]:
    """The line between raw and released: models, io and release know nothing of exact traces."""
    if path.startswith(("dpviz/models/", "dpviz/io/", "dpviz/release/")):
        yield from (f"{path}: {found}" for found in re.findall(r"\b(?:exact_trace|ExactTrace|forest_trace|ForestTrace)\b", text))


def colours_typed(path: str, text: str) -> Iterator[str]:
    """Colours of charts and screens stand in the theme."""
    if path.startswith(("app.py", "pages/", "dpviz/app/", "dpviz/charts/")) and path != "dpviz/charts/theme.py":
        texts = [node.value for node in nodes(text) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        yield from (f"{path}: {found}" for part in texts for found in COLOUR.findall(part))


@pytest.mark.slow
@pytest.mark.parametrize("rule", [events_made, files_touched, exact_counts_seen, colours_typed])
def test_the_code_keeps_the_rule(rule) -> None:
    assert [found for path in FILES for found in rule(path, (ROOT / path).read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (events_made, "dpviz/learners/x.py", f"from {EVENTS} import Step\nStep(PureDP(1.0), 'leaf')"),
        (events_made, "dpviz/learners/x.py", f"from {EVENTS} import Step as S\nS(c, 'node')"),
        (
            events_made,
            "dpviz/training/x.py",
            "from dpviz.accounting import events\nevents.Step(c, 'tree')",
        ),
        (events_made, "dpviz/training/x.py", f"import {EVENTS}\n{EVENTS}.RandomPartition((), ())"),
        (events_made, "dpviz/learners/x.py", f"from {EVENTS} import Step\nStep(Free(), 'leaf')"),
        (files_touched, "dpviz/app/x.py", "def f(name):\n    return open(name)"),
        (files_touched, "pages/x.py", "path.write_text('a')"),
        (files_touched, "dpviz/app/x.py", "Path(name)"),
        (exact_counts_seen, "dpviz/io/x.py", "result.exact_trace"),
        (colours_typed, "dpviz/app/x.py", "fill = 'rgba(0,0,0,.5)'"),
    ],
)
def test_the_rule_bites(rule, path: str, text: str) -> None:
    assert list(rule(path, text))


def test_style_sheets_take_their_colours_from_the_theme() -> None:
    sheets = [*(ROOT / "dpviz" / "app").rglob("*.css"), *(ROOT / "dpviz" / "app").rglob("*.js")]
    assert {sheet.name: found for sheet in sheets if (found := COLOUR.findall(sheet.read_text(encoding="utf-8")))} == {}


@pytest.mark.slow
def test_importing_dpviz_loads_no_heavy_package() -> None:
    heavy = ["streamlit", "plotly", "opendp", "sklearn", "pandas", "pyarrow", "joblib", "openpyxl", "scipy"]
    for code, none in (
        ("import dpviz", [*heavy, "numpy", "msgspec", "sqlite3", "dpviz.learners"]),
        ("import dpviz; [getattr(dpviz, name) for name in dpviz.__all__]", [*heavy, "pyreadstat"]),
    ):
        code += f"\nimport sys; print(*[name for name in {none} if name in sys.modules])"
        assert (
            subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
            == []
        )
