"""Changes that would break privacy, each made in a copy of the repository, where a test must fail.

`mutants.tsv` lists them: file below `dpviz`, function (empty: the whole file), text that occurs once there, what takes its
place, and where below `tests` the tests are. Tests in files called like the changed one run first, then all that are there,
until one fails, and that one must pass without the change.
"""

# Nothing here may import dpviz: the children import the changed one.

from __future__ import annotations

import ast
import compileall
import multiprocessing
import os
import shutil
import signal
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from py_compile import PycInvalidationMode
from queue import Queue
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.arguments import add_workers

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_suffix(".tsv")
#: What the tests need of the repository.
COPIED = ["dpviz", "tests", "benchmarks", "data", "docs", "pages", ".streamlit"]
COPIED += ["pyproject.toml", "app.py", "requirements.txt", "README.md"]
#: Imported once, before children are forked: heavy, and changed by no mutant.
HEAVY = ["numpy", "scipy.optimize", "scipy.stats", "hypothesis.strategies", "pytest", "msgspec", "joblib"]
HEAVY += ["dp_accounting.pld", "dp_accounting.rdp", "opendp.prelude"]
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin", "--hypothesis-profile", "fast")
QUICK, SLOW = ("-m", "not browser and not verify and not slow"), ("-m", "not browser and not verify and slow")
LONG = ("-m", "not browser and verify")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
PASSED, FAILED, NONE_CHOSEN = 0, 1, 5
PATIENCE = 400.0  # seconds


class Mutant(NamedTuple):
    """One line of the table."""

    file: str
    function: str
    old: str
    new: str
    tests: str

    def applied_to(self, text: str) -> str:
        """The file's text with the change. Raises ValueError unless `old` occurs once in the function."""
        is_python = self.file.endswith(".py")
        start, end = _span(text, self.function) if is_python else (0, len(text))
        found = text.count(self.old, start, end)
        if found != 1 or self.old == self.new:
            raise ValueError(f"{self.old!r} occurs {found} times in {self.file}:{self.function}, not once, or is not changed.")
        made = text[:start] + text[start:end].replace(self.old, self.new) + text[end:]
        if is_python:
            ast.parse(made)
        return made

    def stages(self) -> list[list[str]]:
        """What pytest is asked: quick tests, slow ones and those of `make verify`; first of files called like the changed one."""
        place = ROOT / "tests" / self.tests
        alike = [path.relative_to(ROOT).as_posix() for path in sorted(place.rglob(f"test_*{Path(self.file).stem}*.py"))]
        everything = f"tests/{self.tests}"
        nearest = [[*lane, *alike] for lane in (QUICK, SLOW) if alike]
        return [*nearest, *([*lane, everything] for lane in (QUICK, SLOW, LONG))]


def table() -> list[Mutant]:
    """All of them. Raises TypeError for a line that has not five cells."""
    return [Mutant(*line.split("\t")) for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]]


def _span(text: str, name: str) -> tuple[int, int]:
    """Where the function or class of this qualified name stands."""
    node: Any = ast.parse(text)
    for part in filter(None, name.split(".")):
        inside = [found for found in ast.walk(node) if isinstance(found, _SCOPES) and found.name == part and found is not node]
        if not inside:
            raise ValueError(f"There is no {name}.")
        node = inside[-1]
    lines = text.splitlines(keepends=True)
    return (sum(map(len, lines[: node.lineno - 1])), sum(map(len, lines[: node.end_lineno]))) if name else (0, len(text))


@contextmanager
def _copies(count: int) -> Iterator[Queue[Path]]:
    """Folders with a copy of the repository each."""
    with TemporaryDirectory(prefix="dpviz-mutants-") as top:
        found: Queue[Path] = Queue()
        for number in range(count):
            folder = Path(top) / str(number)
            folder.mkdir()
            for name in COPIED:
                (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, folder / name)  # type: ignore[operator]
            # By content: a change may be made and taken back within the second that times of files have.
            compileall.compile_dir(folder / "dpviz", quiet=2, force=True, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
            found.put(folder)
        yield found


def _pytest(folder: Path, stages: Sequence[Sequence[str]]) -> tuple[int, list[str], str]:
    """(pytest's exit code, tests that failed, the end of what was printed) of the first stage that does not pass, in a child."""
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(HEAVY)
    reading, writing = forks.Pipe(duplex=False)
    child = forks.Process(target=_in_child, args=(str(folder), stages, writing))
    child.start()
    writing.close()
    try:
        return reading.recv() if reading.poll(PATIENCE) else (-1, [], "no answer in time")
    except EOFError:
        return -1, [], "the process ended"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid or 0, signal.SIGKILL)  # with all it started
        child.join()


def _in_child(folder: str, stages: Sequence[Sequence[str]], writing: Any) -> None:
    os.setsid()
    os.chdir(folder)
    sys.path.insert(0, folder)
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        del os.environ[name]
    os.environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": folder}
    log = Path(f"mutants-{os.getpid()}.log")
    for stream in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    import pytest

    code, failures = PASSED, _Failures()
    for tests in stages:
        code = int(pytest.main([*OPTIONS, *tests], plugins=[failures]))
        if code not in (PASSED, NONE_CHOSEN):
            break
    where = getattr(sys.modules.get("dpviz"), "__file__", None) or folder
    if where.startswith(folder):
        writing.send((code, failures.found, log.read_text(encoding="utf-8", errors="replace")[-1500:]))
    else:
        writing.send((-1, [], f"dpviz was imported from {where}"))
    signal.pause()


class _Failures:
    """A plugin of pytest that keeps the names of tests that fail."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.found.append(report.nodeid)


def _try_out(mutant: Mutant, made: str, folders: Queue[Path]) -> tuple[str, str]:
    """(the test that failed, why none did), for the changed text of the file."""
    folder = folders.get()
    file = folder / "dpviz" / mutant.file
    text = file.read_text(encoding="utf-8")
    try:
        file.write_text(made, encoding="utf-8")
        code, failed, said = _pytest(folder, mutant.stages())
        if failed and code == FAILED:
            return failed[0], ""
        return "", "no test failed" if code in (PASSED, NONE_CHOSEN) else f"the tests did not run: {said}"
    finally:
        file.write_text(text, encoding="utf-8")
        folders.put(folder)


def missed_mutants(mutants: Sequence[Mutant], *, workers: int = 2, say: Any = print) -> list[str]:
    """What nobody noticed, and why, in words; first of all, changes that cannot be made (ValueError)."""
    # Here, not in the threads below: two that parse at once fail now and then in Python 3.11.
    made = [mutant.applied_to((ROOT / "dpviz" / mutant.file).read_text(encoding="utf-8")) for mutant in mutants]
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    missed: list[str] = []
    by_test: dict[str, Mutant] = {}
    with _copies(workers) as folders, ThreadPoolExecutor(workers) as pool:
        tried = pool.map(partial(_try_out, folders=folders), mutants, made)
        for mutant, (test, why) in zip(mutants, tried, strict=True):
            line = f"{mutant.file}, {mutant.function}: {mutant.old} -> {mutant.new}: "
            say(line + (test or why))
            missed += [] if test else [line + why]
            by_test[test] = mutant
        unchanged = [test for test in by_test if test]
        code, failed, said = _pytest(folders.get(), [["--maxfail=1000", *unchanged]]) if unchanged else (PASSED, [], "")
    missed += [f"{test} fails without {by_test[test].old} -> {by_test[test].new}, too" for test in failed if test in by_test]
    return missed + ([said] if code != PASSED and not failed else [])


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of the topic."""
    parser.add_argument("--only", default="", metavar="TEXT", help="lines of the table that hold this text")
    add_workers(parser)
    parser.set_defaults(run=_run)


def _run(args: Namespace) -> int:
    started = time.perf_counter()
    chosen = [mutant for mutant in table() if args.only in "\t".join(mutant)]
    missed = missed_mutants(chosen, workers=args.workers)
    print(f"\n{len(chosen) - len(missed)} of {len(chosen)} noticed in {time.perf_counter() - started:.0f} s", *missed, sep="\n")
    return int(bool(missed))
