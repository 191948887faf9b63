"""Threads for work off the page, in lanes that do not wait for each other. A job knows its progress and can be stopped.

No result is kept here: work puts what it finds where whoever submitted it will look. Nothing here knows Streamlit.
"""

import logging
import math
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from threading import Event, Lock, Thread
from time import monotonic
from traceback import format_tb
from typing import Literal
from weakref import WeakSet

from dpviz.errors import Cancelled, DpvizError, OutOfMemory, Unforeseen
from dpviz.progress import Progress, Stop

#: Below this share there is no estimate of the time left.
LEAST_SHARE = 0.03
Work = Callable[[Progress, Stop], None]


#: The line a job waits in. Lanes have threads of their own, so a tree never waits for draws, a sweep, a map or an attack.
Lane = Literal["tree", "short", "path", "bulk"]
THREADS: dict[Lane, int] = {
    "tree": 4,  # a tree on screen, or its release
    "short": 2,  # seconds of work in the server's own process
    "path": 1,  # the tree on screen at other epsilons: seconds of work in worker processes, one at a time
    "bulk": 1,  # sweeps, maps, attacks, certificates, searches: in worker processes of lower priority where it can
}


class Job:
    """Work that waits, runs or is done; `share` in [0, 1] is how much is done.

    `error` is what the work raised, Unforeseen for what it should never raise; Cancelled when it was stopped before it was done.
    """

    def __init__(self, work: Work, patience: float = math.inf) -> None:
        self.share = 0.0
        self.error: DpvizError | None = None
        self._work: Work | None = work
        self._patience = patience
        self._last_seen = monotonic()
        self._began: float | None = None
        self._stop, self._done = Event(), Event()

    def run(self) -> None:
        """Do the work, in the thread that calls."""
        work, self._work = self._work, None  # it may hold rows, which must not outlive it
        try:
            if work is None or self._is_unwanted():
                raise Cancelled
            self._began = monotonic()
            work(self._tell, self._is_unwanted)
        except DpvizError as error:
            self.error = error.with_traceback(None)  # which would hold rows
        except MemoryError:
            self.error = OutOfMemory()
        except BaseException as error:
            place = "".join(format_tb(error.__traceback__))
            logging.getLogger(__name__).error("%s in work off the page, at\n%s", type(error).__name__, place)
            self.error = Unforeseen()
        finally:
            del work
            self._done.set()

    def _tell(self, share: float) -> None:
        self.share = min(1.0, max(self.share, share))

    def _is_unwanted(self) -> bool:
        return self._stop.is_set() or monotonic() - self._last_seen > self._patience

    def stop(self) -> None:
        """Ask it to stop. Work in line never starts and lets go of its rows at once; work under way ends when it next asks."""
        self._stop.set()
        self._work = None

    def mark_seen(self) -> None:
        """Say that somebody still waits for it: after `patience` seconds without, it stops."""
        self._last_seen = monotonic()

    @property
    def has_begun(self) -> bool:
        """False while it waits in line."""
        return self._began is not None

    @property
    def is_stopped(self) -> bool:
        """True when it was asked to stop."""
        return self._stop.is_set()

    @property
    def is_done(self) -> bool:
        """True when it ended, in whatever way."""
        return self._done.is_set()

    @property
    def seconds_left(self) -> float | None:
        """Estimated from what is done; None while that is too little to tell."""
        if self._began is None or self.share < LEAST_SHARE:
            return None
        return (monotonic() - self._began) * (1 - self.share) / self.share

    def wait(self, seconds: float) -> bool:
        """Wait at most this long; True when it is done."""
        return self._done.wait(seconds)


class Pool:
    """Threads per lane, and the jobs of every session, so that they end with it."""

    def __init__(self, threads: Mapping[Lane, int] = THREADS) -> None:
        self._lines: dict[Lane, SimpleQueue[Job | None]] = {lane: SimpleQueue() for lane in threads}
        self._jobs: dict[str, WeakSet[Job]] = {}
        self._lock = Lock()
        # daemons: the server may end while work is under way, which the threads of `concurrent.futures` would not let it
        self._threads = [
            (lane, Thread(target=_serve, args=(self._lines[lane],), name=f"dpviz_{lane}_{number}", daemon=True))
            for lane, count in threads.items()
            for number in range(count)
        ]
        for _, thread in self._threads:
            thread.start()

    def submit(self, session: str, lane: Lane, work: Work, patience: float = math.inf) -> Job:
        """Put work in line."""
        job = Job(work, patience)
        with self._lock:
            self._jobs.setdefault(session, WeakSet()).add(job)
        self._lines[lane].put(job)
        return job

    def n_waiting(self, lane: Lane) -> int:
        """Jobs in line, also those that were stopped there."""
        return self._lines[lane].qsize()

    def end_session(self, session: str) -> None:
        """Stop every job of a session that is gone."""
        with self._lock:
            jobs = list(self._jobs.pop(session, ()))
        for job in jobs:
            job.stop()

    def close(self, *, wait: bool = True) -> None:
        """Stop everything and let the threads end."""
        for session in list(self._jobs):
            self.end_session(session)
        for lane, _ in self._threads:
            self._lines[lane].put(None)
        for _, thread in self._threads if wait else ():
            thread.join()


def _serve(line: SimpleQueue[Job | None]) -> None:
    while (job := line.get()) is not None:
        job.run()
        del job
