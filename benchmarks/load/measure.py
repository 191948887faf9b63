"""Twenty people on one server, five of them comparing: the share of tree requests that settle within two seconds.

A real server (`dpviz app`) in a process of its own, and a websocket per visitor, over which everything goes that a
browser would send. The visitors of the Tree page arrive over ten seconds, each with a draw number of its own, so that no two
ask for the same tree; then each asks for another epsilon after a pause of 2 to 6 seconds. A request settles when the drawing
of the tree asked for has arrived whole. The others keep the Compare page computing all the time. Time in the browser is not
part of it, the time the visitors themselves take on the same machine is.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from types import MappingProxyType

import numpy as np

from benchmarks.load.visitor import Visitor, tree_at
from benchmarks.processes import below, seconds_used
from dpviz.errors import DpvizError
from dpviz.randomness import generator, seed_from

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 2.0
ARRIVE_WITHIN = 10.0
PAUSE = (2.0, 6.0)
#: Who waits longer than this gives up.
PATIENCE = 60.0
FIRST_EPSILON = 1.0


@dataclass(frozen=True, slots=True)
class Request:
    """One tree that somebody waited for; `seconds` is None where it never came. `is_first`: with its page, in a new session."""

    is_first: bool
    seconds: float | None

    @property
    def is_in_time(self) -> bool:
        """Settled within the limit."""
        return self.seconds is not None and self.seconds <= LIMIT


@dataclass(frozen=True)
class Load:
    """What was measured with `sessions` on the server, `comparing` of them on the Compare page.

    `processor_seconds` is what the server and its workers used; `failed` counts sessions that saw an exception.
    """

    sessions: int
    comparing: int
    seconds: float
    requests: tuple[Request, ...]
    processor_seconds: float
    failed: int


def measure(*, sessions: int, comparing: int, seconds: float, seed: int = 0) -> Load:
    """Let them all in, for so many seconds after the last has arrived."""
    with server() as (address, process):
        found = _visit(address, sessions, comparing, seconds, seed)
        used = sum(map(seconds_used, (process, *below(process))))
    requests = tuple(request for requests, _ in found for request in requests)
    failed = sum(has_failed for _, has_failed in found)
    return Load(sessions, comparing, seconds, requests, used, failed)


def _visit(address: str, sessions: int, comparing: int, seconds: float, seed: int) -> list[tuple[list[Request], bool]]:
    until, gone = monotonic() + ARRIVE_WITHIN + seconds, Event()
    with ThreadPoolExecutor(sessions) as crowd:
        busy = [crowd.submit(_compare, address, gone) for _ in range(comparing)]
        looking = [crowd.submit(_look, address, number, until, seed) for number in range(sessions - comparing)]
        try:
            found = [one.result() for one in looking]
        finally:
            gone.set()
        for one in busy:
            one.result()  # raises what sent it away early
        return found


def _look(address: str, number: int, until: float, seed: int) -> tuple[list[Request], bool]:
    """One visitor of the Tree page."""
    rng = generator(seed_from(seed, number))
    sleep(rng.uniform(0, ARRIVE_WITHIN))
    start = monotonic()
    visitor = Visitor(address, "", f"draw={1000 + number}")
    visitor.open()
    waited = visitor.watch(tree_at(FIRST_EPSILON), PATIENCE)
    requests = [Request(True, None if waited is None else monotonic() - start)]
    wishes = iter(rng.permutation(np.arange(2, 100)) / 100)
    while waited is not None:
        visitor.watch(lambda element: False, rng.uniform(*PAUSE))
        if monotonic() > until:
            break
        epsilon = float(next(wishes))
        visitor.choose_epsilon(epsilon)
        waited = visitor.watch(tree_at(epsilon), PATIENCE)
        requests.append(Request(False, waited))
    visitor.close()
    return requests, visitor.failed


def _compare(address: str, gone: Event) -> None:
    """One who keeps the Compare page computing: its first curves begin by themselves, what is missing is asked for."""
    visitor = Visitor(address, "compare", "")
    visitor.open()
    while not gone.is_set():
        visitor.watch(lambda element: False, 1.0)
        visitor.press("Refine") or visitor.press("Go on with") or visitor.press("Compute")
    visitor.close()


@contextmanager
def server(places: Mapping[str, str] = MappingProxyType({}), log: Path = Path(os.devnull)) -> Iterator[tuple[str, int]]:
    """A fresh server, its environment changed by `places`: its host and port, and the number of its process."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "dpviz", "app", "--no-browser", "--port", str(port)]
    environment = {**os.environ, **places, "PYTHONPATH": str(ROOT), "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none"}
    with log.open("wb") as said:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=said, stderr=said)
    try:
        _await(port, process)
        yield f"localhost:{port}", process.pid
    finally:
        process.terminate()
        process.wait()


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    until = monotonic() + 60
    while monotonic() < until and process.poll() is None:
        with socket.socket() as probe:
            if not probe.connect_ex(("localhost", port)):
                return
        sleep(0.1)
    raise DpvizError("The server of the load test does not answer.", remedy="Try `make run` and read what it says.")


def seconds_of(requests: Sequence[Request]) -> np.ndarray:
    """Waits; the patience of a visitor where nothing came."""
    return np.array([PATIENCE if request.seconds is None else request.seconds for request in requests])
