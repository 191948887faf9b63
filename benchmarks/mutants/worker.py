"""A warm process that runs tests on changed copies: heavy libraries are imported once, and a child is forked for every change.

`python -m benchmarks.mutants.worker`, started in a copy of the repository. One request per line on the standard input, one
answer per line on the standard output, both JSON. The process itself never imports dpviz, so every child imports the changed one.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

#: What tests of privacy import and no mutant changes.
HEAVY = (
    "numpy",
    "scipy.special",
    "scipy.optimize",
    "scipy.stats",
    "hypothesis",
    "hypothesis.strategies",
    "pytest",
    "msgspec",
    "dp_accounting",
    "dp_accounting.pld",
    "dp_accounting.rdp",
    "opendp.prelude",
    "joblib",
)
#: Of all plugins only hypothesis, which the tests need.
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin", "--hypothesis-profile", "fast")
#: Seconds after which a child is ended.
PATIENCE = 300.0


def serve() -> None:
    """Answer until the input ends. A request is {"runs": [[test, ...], ...]}; the answer has the exit code of every run of
    pytest, each of which ends at its first failure, and what they printed.
    """
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in HEAVY:
        import_module(name)
    gc.freeze()  # at its end pytest looks for garbage: every child would look through all of this
    for line in sys.stdin:
        print(json.dumps(_in_child(json.loads(line)["runs"])), flush=True)


def _in_child(runs: list[list[str]]) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        os.setsid()
        _run(runs, writing)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as answer:
            in_time = bool(select.select([answer], [], [], PATIENCE)[0])
            said = answer.readline() if in_time else b""  # not to the end: what the tests started may hold the pipe open
    finally:
        os.killpg(child, signal.SIGKILL)  # with all it started
        os.waitpid(child, 0)
    return json.loads(said) if said else {"codes": [], "said": "the process ended" if in_time else "no answer in time"}


def _run(runs: list[list[str]], writing: int) -> None:
    """Run the tests in this process, and leave without the parent's clean-up."""
    import pytest

    log = Path(f".mutants-{os.getpid()}.log")
    silent = os.open(log, os.O_WRONLY | os.O_CREAT)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    codes = [int(pytest.main([*OPTIONS, *tests])) for tests in runs]
    sys.stdout.flush()
    said = log.read_text(encoding="utf-8", errors="replace")[-3000:]
    log.unlink()
    place = getattr(sys.modules.get("dpviz"), "__file__", None)
    if place is not None and not Path(place).is_relative_to(Path.cwd()):
        codes, said = [], f"dpviz was imported from {place}"
    os.write(writing, json.dumps({"codes": codes, "said": said}).encode() + b"\n")
    os._exit(0)


if __name__ == "__main__":
    serve()
