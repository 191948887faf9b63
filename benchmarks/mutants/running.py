"""Makes every change in a copy of the repository and runs the tests it names there."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from py_compile import PycInvalidationMode
from queue import Queue
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from benchmarks.mutants.mutant import Mutant
from dpviz.errors import DpvizError

ROOT = Path(__file__).resolve().parents[2]
#: What the tests need of the repository.
COPIED_FOLDERS = ("dpviz", "tests", "benchmarks", "data", "pages")
COPIED_FILES = ("pyproject.toml", "app.py")
PASSED, FAILED = 0, 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the tests said to one change. `survived` lists the named tests that did not fail; `error` says why none could."""

    mutant: Mutant
    survived: tuple[str, ...]
    error: str
    seconds: float

    @property
    def is_caught(self) -> bool:
        """True when every named test failed."""
        return not self.survived and not self.error


class Workshop:
    """A copy of the repository in a folder, and the warm process that runs tests in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED_FILES:
            shutil.copy(ROOT / name, folder / name)
        for name in COPIED_FOLDERS:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(folder / "dpviz", quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PYTHON"))}
        one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.mutants.worker"],
            cwd=folder,
            env=kept | one_thread,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Workshop:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.__exit__(kind, error, trace)

    def ask(self, runs: Sequence[Sequence[str]]) -> dict[str, Any]:
        """{"codes": pytest's exit code for every run of some tests, "said": the end of what they printed}."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"runs": [list(tests) for tests in runs]}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        return json.loads(answer) if answer else {"codes": [], "said": "the warm process ended"}

    def try_out(self, mutant: Mutant) -> Outcome:
        """Make the change, run its tests, and take it back."""
        started = time.perf_counter()
        file = self.folder / mutant.file
        text = file.read_text(encoding="utf-8")
        file.write_text(mutant.applied_to(text), encoding="utf-8")
        try:
            answer = self.ask([[test] for test in mutant.tests])
        finally:
            file.write_text(text, encoding="utf-8")
        codes = answer["codes"]
        broken = [code for code in codes if code not in (PASSED, FAILED)]
        error = answer["said"] if broken or len(codes) < len(mutant.tests) else ""
        survived = tuple(test for test, code in zip(mutant.tests, codes, strict=False) if code == PASSED)
        return Outcome(mutant, survived, error, time.perf_counter() - started)


def try_all(mutants: Iterable[Mutant], *, workers: int = 1) -> list[Outcome]:
    """The outcome of every mutant, in order. Raises DpvizError if one of their tests fails without any change."""
    todo = list(mutants)
    with ExitStack() as stack:
        shops: Queue[Workshop] = Queue()
        for _ in range(workers):
            folder = stack.enter_context(TemporaryDirectory(prefix="dpviz-mutants-"))
            shops.put(stack.enter_context(Workshop(Path(folder))))
        require_passing(shops.queue[0], sorted({test for mutant in todo for test in mutant.tests}))
        pool = stack.enter_context(ThreadPoolExecutor(workers))
        return list(pool.map(partial(_one, shops), todo))


def _one(shops: Queue[Workshop], mutant: Mutant) -> Outcome:
    shop = shops.get()
    try:
        return shop.try_out(mutant)
    finally:
        shops.put(shop)


def require_passing(shop: Workshop, tests: Sequence[str]) -> None:
    """Raise DpvizError if one of the tests fails without any change: it would catch everything."""
    answer = shop.ask([tests])
    if answer["codes"] != [PASSED]:
        raise DpvizError(f"A test fails without any change. {answer['said'][-600:]}", remedy="Mend it first.")
