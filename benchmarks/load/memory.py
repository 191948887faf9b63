"""Memory of the server over a thousand page loads and hundreds of sweeps: does it stay flat?

A real server (`dpviz app`) in a process of its own. Every page load is a new session that reads one page to its end and goes
away; every sweep is a new session on the Compare page that waits for its last curve. What a session leaves behind for good would
add up. Streamlit keeps up to 128 sessions for two minutes after their browsers have gone, and allocators keep some of what was
freed, so memory rises until so many visits of a kind have taken the places of others; what counts is the trend afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from scipy.stats import theilslopes

from benchmarks.load.measure import server
from benchmarks.load.visitor import Visitor
from benchmarks.processes import below

PAGES = ("", "data", "budget", "compare", "robustness", "plan", "audit", "publish", "register", "learn", "epsilon")
#: A small comparison on the smallest sample: 37 fits.
SWEEP = "data=clinic&draws=3&splits=1&steps=1"
AT_ONCE = 4
#: Sessions without a browser that Streamlit keeps.
KEPT = 128
PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class Sample:
    """After so many minutes and visits: megabytes of the server and of its workers, the server's threads and open files."""

    minutes: float
    loads: int
    sweeps: int
    server: float
    workers: float
    threads: int
    files: int


@dataclass(frozen=True)
class Memory:
    """What was measured; `failed` counts visits that saw an exception or did not come to their end."""

    samples: tuple[Sample, ...]
    failed: int


def measure_memory(*, loads: int, sweeps: int, every: int) -> Memory:
    """Let visitors in, first those who load pages; look at the server after `every` loads, and after a fifth as many sweeps."""
    failed, start = 0, monotonic()
    with server() as (address, process), ThreadPoolExecutor(AT_ONCE) as crowd:
        samples = [_sample(process, start, 0, 0)]
        for done, ok in _visits(crowd, partial(_load, address), loads, every):
            failed += ok.count(False)
            samples.append(_sample(process, start, done, 0))
        for done, ok in _visits(crowd, partial(_sweep, address), sweeps, max(1, every // 5)):
            failed += ok.count(False)
            samples.append(_sample(process, start, loads, done))
    return Memory(tuple(samples), failed)


def _visits(crowd: ThreadPoolExecutor, visit: Callable[[int], bool], count: int, every: int) -> Iterator[tuple[int, list[bool]]]:
    """(visits so far, how the last ones ended), a lot at a time."""
    for start in range(0, count, every):
        numbers = range(start, min(count, start + every))
        yield numbers[-1] + 1, list(crowd.map(visit, numbers))


def _load(address: str, number: int) -> bool:
    visitor = Visitor(address, PAGES[number % len(PAGES)], "")
    visitor.open()
    is_read = visitor.finish(PATIENCE)
    visitor.close()
    return is_read and not visitor.failed


def _sweep(address: str, number: int) -> bool:
    visitor = Visitor(address, "compare", SWEEP)
    visitor.open()
    waited = visitor.watch(is_whole, PATIENCE)
    visitor.close()
    return waited is not None and not visitor.failed


def is_whole(element: Any) -> bool:
    """All fits are there: they can be downloaded."""
    return element.WhichOneof("type") == "download_button" and element.download_button.label.startswith("Download every fit")


def _sample(process: int, start: float, loads: int, sweeps: int) -> Sample:
    """From /proc, so on Linux."""
    own = status(process)
    workers = sum(status(child)["VmRSS"] for child in below(process))
    files = len(list(Path(f"/proc/{process}/fd").iterdir()))
    return Sample((monotonic() - start) / 60, loads, sweeps, own["VmRSS"] / 1024, workers / 1024, own["Threads"], files)


def status(process: int) -> dict[str, int]:
    """Kilobytes in memory and threads of a process; zeros once it has ended."""
    found = {"VmRSS": 0, "Threads": 0}
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return found
    return found | {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines) if name in found}


def trend(samples: Sequence[Sample]) -> float:
    """Megabytes of the server per hundred visits, from the sample on at which the kept sessions are full; nan before that.

    The median of the slopes between all pairs of samples (Theil-Sen): a leak grows with every visit, an allocator in rare steps.
    """
    visits = np.array([one.loads + one.sweeps for one in samples], float)
    is_full = visits - visits[0] >= KEPT
    if is_full.sum() < 2:
        return float("nan")
    return float(theilslopes(np.array([one.server for one in samples])[is_full], visits[is_full]).slope * 100)
