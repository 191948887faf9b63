"""What every test can rely on: fixed seeds, a deterministic hypothesis, the shared data or a reason, a browser or a reason."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests.support.paths import SEED, SHARED_DATA
from tests.support.serving import installed_browser

IN_CI = os.environ.get("CI") == "true"
#: OpenMP's threads (scikit-learn's) spin while they wait for each other: beside other work, twenty times the time of one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile(
    "dpviz", max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fast", settings.get_profile("dpviz"), max_examples=20)  # make check; make test has three times as many
settings.load_profile("dpviz")
# It draws literals of the modules that a worker happens to have loaded: another run would try other examples.
providers.is_local_module_file = lambda path: False

#: Cases of one test that `make check` tries at most, but those of the contract of learners.
FEW_CASES = 8
#: The longest file of `make verify`.
MUTANTS = "tests/benchmarks/test_mutants.py"


def pytest_configure(config: pytest.Config) -> None:
    """No test writes into the register of whoever runs it; a server that a test starts inherits this one."""
    folder = tempfile.TemporaryDirectory(prefix="dpviz-register-")
    config.add_cleanup(folder.cleanup)
    os.environ["DPVIZ_REGISTER"] = str(Path(folder.name) / "releases.db")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background, where shells have Ctrl-C ignored
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long files first, since one that comes last leaves the other workers idle: those of browsers and others by turns.

    Two browsers at a time would wait for each other, and what they wait for is worked off by one processor alone.
    """
    if config.getoption("--hypothesis-profile", None) == "fast":  # make check
        config.hook.pytest_deselected(items=_beyond_few(items))
    long = Counter({_file(item.nodeid): 0 for item in items})
    long.update(_file(item.nodeid) for item in items if any(map(item.get_closest_marker, ("slow", "browser"))))
    files = sorted(long, key=lambda file: (file != MUTANTS, -long[file]))
    with_browser = [file for file in files if file.startswith("tests/browser/")]
    others = [file for file in files if file not in with_browser]
    place = {file: n for n, file in enumerate(chain.from_iterable(zip_longest(with_browser, others)))}
    items.sort(key=lambda item: place[_file(item.nodeid)])
    for item in items:
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared)


def _beyond_few(items: list[pytest.Item]) -> list[pytest.Item]:
    """Takes from `items`, and returns, all cases of a test but FEW_CASES that are evenly apart."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not any(map(item.get_closest_marker, ("slow", "verify", "browser"))):
            cases.setdefault(item.nodeid.split("[")[0], []).append(item)
    gone = []
    for test, found in cases.items():
        if len(found) > FEW_CASES and not test.startswith("tests/contract/"):
            kept = {place * len(found) // FEW_CASES for place in range(FEW_CASES)}
            gone += [item for place, item in enumerate(found) if place not in kept]
    names = {item.nodeid for item in gone}
    items[:] = [item for item in items if item.nodeid not in names]
    return gone


def pytest_collection_finish() -> None:
    """What stays until the end is not looked through again and again."""
    gc.freeze()


def _file(nodeid: str) -> str:
    return nodeid.split("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file stays on one worker, for what its tests share.

    `--dist loadgroup` promises the same, but pytest 9.2 with pytest-xdist 3.8 ignores the groups (pytest-xdist, issue 1386).
    """
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """With CI=true a skip is a failure, unless the test needs ../shared or a program that cannot be had everywhere."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    may_skip = any(map(item.get_closest_marker, ("shared", "engine")))
    unwanted = report.skipped and not hasattr(report, "wasxfail") and not may_skip
    if IN_CI and unwanted:
        report.outcome = "failed"
        report.longrepr = f"Skipped, which only tests of ../shared or engines may do with CI=true: {report.longrepr}"


@pytest.fixture
def rng() -> np.random.Generator:
    """A fresh generator, the same in every test and every run."""
    return np.random.default_rng(SEED)


@pytest.fixture(params=["threads", pytest.param("processes", marks=pytest.mark.verify)])
def workers_run_in(request: pytest.FixtureRequest) -> Iterator[str]:
    """Workers have processes of their own, whose start takes seconds: of sweeps in make test, else in make verify."""
    if request.param == "processes":
        yield request.param
        return
    from concurrent.futures import ThreadPoolExecutor

    from dpviz.evaluation import repeat

    with ThreadPoolExecutor(2) as threads, pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeat, "processes", lambda workers: threads)
        yield request.param


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public benchmark data beside the clone; skips where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("needs ../shared/data, which is not part of the project")
    return SHARED_DATA


@pytest.fixture(scope="session")
def browser_path() -> str | None:
    """A Chromium to drive: `make test` names it in DPVIZ_BROWSER. None means Playwright's own."""
    if named := installed_browser():
        return named
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        own = Path(driver.chromium.executable_path)
    if not own.exists():
        pytest.skip("no browser: run `make test`, which installs one")
    return None
