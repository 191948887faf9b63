"""How many modules of dpviz something passes on its way: `python -m benchmarks.modules`, with `--names` which.

Counted is every module of the package in which a function runs between a public call and its result; what runs while modules are
imported is not. Each call is made once before it is counted, so that what is kept for later calls is there. The tree is pf-tree
on the loan sample.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import dpviz
from dpviz.__main__ import main

ROOT = Path(dpviz.__file__).parent
_SAMPLE, _SCHEMA = ROOT.parent / "data" / "loans.csv.gz", ROOT.parent / "data" / "loans.schema.json"


@contextmanager
def modules_entered() -> Iterator[set[str]]:
    """The modules, as paths below `dpviz`, in which a function begins to run in this block, in this thread."""
    found: set[str] = set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(str(ROOT)):
            found.add(code.co_filename.removeprefix(f"{ROOT}/"))

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(before)


def calls(folder: Path) -> dict[str, Callable[[int], object]]:
    """What is counted: name -> a call, given how often it was called before."""
    table, schema = dpviz.read_csv(_SAMPLE), dpviz.load_schema(_SCHEMA)
    data, model, register = dpviz.encode(table, schema), folder / "model.json", dpviz.open_register(folder / "releases.sqlite")
    model.write_text(dpviz.fit("pf-tree", data, epsilon=0.5, seed=0).to_json(), encoding="utf-8")
    register.declare("loans", epsilon_cap=1.0, unit="one applicant", rows_per_unit=1)
    return {
        "a row to the document": lambda turn: dpviz.fit("pf-tree", dpviz.encode(table, schema), epsilon=0.5, seed=0).to_json(),
        "an epsilon to the guarantee": lambda turn: dpviz.fit("pf-tree", data, epsilon=0.5, seed=0).ledger.guarantee,
        "a model to SQL": lambda turn: _said(["export", str(model), "--to", "sqlite", "--out", str(folder / f"{turn}.sql")]),
        "a release": lambda turn: register.release("loans", "pf-tree", data, epsilon=0.5, assign=not turn),
    }


def _said(words: list[str]) -> None:
    said = StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = main(words)
    if code:
        raise RuntimeError(f"{words}: {said.getvalue()}")


def measured() -> dict[str, set[str]]:
    """Name of a call -> the modules it enters."""
    found = {}
    with TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        for name, call in calls(Path(folder)).items():
            call(0)
            with modules_entered() as entered:
                call(1)
            found[name] = entered
    return found


if __name__ == "__main__":
    for name, modules in measured().items():
        print(f"{len(modules):3}  {name}")
        if "--names" in sys.argv:
            print(*(f"       {module}" for module in sorted(modules)), sep="\n")
