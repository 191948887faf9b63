"""Long work off the page: a few threads for all sessions, the latest wish of each session first, progress, stopping.

A *lane* is one kind of work of one session ("grow", "redraws"). A new job in a lane stops the one before it. Work is a
callable that takes `progress` (tell it the share done) and `stop` (an Event it may look at); what it returns or raises is
kept for whoever asks. The core knows nothing of Streamlit; the last function gives every session the same pool.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotDoneYet
from queue import SimpleQueue
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

import streamlit as st

from dpviz.errors import Cancelled
from dpviz.randomness import random_128_bits

#: At most this many jobs run at once, over all sessions; others wait in line.
WORKERS = 2
#: At most this many results are kept for sessions that may come back for them.
MOST_KEPT = 64
#: Before this share is done nothing is said about the time left.
LEAST_SHARE = 0.03
_NAME = "_session_name"
Work = Callable[[Callable[[float], None], Event], Any]


class Threads:
    """A pool whose threads end with the server: `concurrent.futures` would let it wait for whatever is under way."""

    def __init__(self, workers: int) -> None:
        self._line: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._threads = [Thread(target=self._serve, name=f"dpviz_{number}", daemon=True) for number in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, run: Callable[[], Any]) -> Future[Any]:
        """Put `run` in line."""
        future: Future[Any] = Future()
        self._line.put((future, run))
        return future

    def _serve(self) -> None:
        while (item := self._line.get()) is not None:
            future, run = item
            future.set_running_or_notify_cancel()
            try:
                future.set_result(run())
            except BaseException as error:  # kept for whoever asks for the result
                future.set_exception(error)
            del item, future, run

    def close(self) -> None:
        """Do what is in line, then end."""
        for _ in self._threads:
            self._line.put(None)
        for thread in self._threads:
            thread.join()


class Job:
    """One piece of work. `key` says what it is for; `share` is how much is done, in [0, 1]."""

    def __init__(self, key: str, work: Work) -> None:
        self.key = key
        self.share = 0.0
        self._began: float | None = None
        self._work: Work | None = work
        self._stop = Event()
        self._future: Future[Any] | None = None

    def start(self, pool: Threads) -> None:
        """Put the work in line."""
        self._future = pool.submit(self._run)

    def _run(self) -> Any:
        work, self._work = self._work, None  # it may hold rows, which must not outlive it
        if work is None or self._stop.is_set():
            raise Cancelled
        self._began = monotonic()
        return work(self._tell, self._stop)

    def _tell(self, share: float) -> None:
        self.share = min(1.0, max(self.share, share))

    def stop(self) -> None:
        """Ask it to stop: work in line never starts; work under way ends when it next looks, and may keep what it has."""
        self._stop.set()

    @property
    def has_begun(self) -> bool:
        """False while it waits in line."""
        return self._began is not None

    @property
    def seconds_left(self) -> float | None:
        """Estimated from what is done; None while that is too little to tell."""
        if self._began is None or self.share < LEAST_SHARE:
            return None
        return (monotonic() - self._began) * (1 - self.share) / self.share

    @property
    def is_stopped(self) -> bool:
        """True when it was asked to stop."""
        return self._stop.is_set()

    @property
    def is_done(self) -> bool:
        """True when there is a result or an error."""
        return self._future is not None and self._future.done()

    def wait(self, seconds: float) -> bool:
        """Wait at most this long; True when it is done."""
        if self._future is None:
            return False
        try:
            self._future.exception(timeout=seconds)
        except NotDoneYet:
            return self.is_done
        return True

    def result(self) -> Any:
        """What the work returned. Raises what it raised, and Cancelled when it was stopped before it began. Waits for nobody."""
        if self._future is None or not self._future.done():
            raise NotDoneYet
        return self._future.result()


class Jobs:
    """The jobs of all sessions: one per (session, lane), on a pool of `workers` threads."""

    def __init__(self, workers: int = WORKERS) -> None:
        self._pool = Threads(workers)
        self._jobs: dict[tuple[str, str], Job] = {}
        self._lock = Lock()

    def submit(self, session: str, lane: str, key: str, work: Work) -> Job:
        """The lane's job for `key`: the one that is there, else a new one, and then the one before it is stopped."""
        with self._lock:
            there = self._jobs.get((session, lane))
            if there is not None and there.key == key and not there.is_stopped:
                return there
            if there is not None:
                there.stop()
            self._drop_oldest_done()
            job = self._jobs[session, lane] = Job(key, work)
            job.start(self._pool)
            return job

    def _drop_oldest_done(self) -> None:
        """Sessions end without a word, so results of done jobs are dropped, oldest first, once there are many."""
        done = [place for place, job in self._jobs.items() if job.is_done]
        for place in done[: max(0, len(done) - MOST_KEPT + 1)]:
            del self._jobs[place]

    def find(self, session: str, lane: str, key: str) -> Job | None:
        """The lane's job when it is for `key`, else None."""
        job = self._jobs.get((session, lane))
        return job if job is not None and job.key == key else None

    def current(self, session: str, lane: str) -> Job | None:
        """The lane's job, whatever it is for."""
        return self._jobs.get((session, lane))

    def forget(self, session: str, lane: str) -> None:
        """Stop the lane's job and drop it with its result."""
        with self._lock:
            job = self._jobs.pop((session, lane), None)
        if job is not None:
            job.stop()

    def forget_session(self, session: str) -> None:
        """Stop and drop every job of a session that has ended, with what it holds."""
        for name, lane in list(self._jobs):
            if name == session:
                self.forget(name, lane)

    def close(self) -> None:
        """Stop everything and wait for the threads to end."""
        for session, lane in list(self._jobs):
            self.forget(session, lane)
        self._pool.close()


@st.cache_resource(show_spinner=False)
def shared_jobs() -> Jobs:
    """The pool of this server."""
    return Jobs()


@st.cache_resource(show_spinner=False)
def long_jobs() -> Jobs:
    """For work of many seconds that keeps every core busy by itself: one at a time, so that trees never wait for it."""
    return Jobs(workers=1)


def session_name() -> str:
    """A name for this session that nobody can guess; it never leaves the server."""
    if _NAME not in st.session_state:
        st.session_state[_NAME] = f"{random_128_bits():x}"
    return _while_connected(st.session_state[_NAME])


def _forget_everywhere(session: str) -> None:
    for jobs in (shared_jobs(), long_jobs()):
        jobs.forget_session(session)


@st.cache_resource(scope="session", show_spinner=False, on_release=_forget_everywhere)
def _while_connected(session: str) -> str:
    """The name itself; when the session's browser goes away, so do its jobs and their results."""
    return session
