"""Background work: the only place where the dashboard computes off the page, polls and cancels.

A `Task` is made of parts, each with a key of its own: a tree is a task of one part, a chart has a part per curve, a comparison
one per fit. Results are kept by key until the browser goes away, so tasks that share parts compute them once. Keys hold
fingerprints and settings, never rows. Results of a `shared` task are kept for every session: a class that opens one link
computes once. Those are about simulated or public rows.

Work waits in the line of its `priority`, whose threads wait for no other line: a tree on screen never waits for a sweep.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Event, Thread
from time import monotonic
from traceback import format_tb
from typing import Any, Literal

import streamlit as st

from dpviz.app.parts import error
from dpviz.app.streamlit_rerun_fix import wait_in_turn
from dpviz.errors import Cancelled, DpvizError, FailedWork
from dpviz.evaluation.repeat import IDLE, start_workers
from dpviz.progress import Progress, Stop, is_stopped

#: Worker processes for one task. Two at least, so that work leaves the server's own process, which keeps a processor to itself.
WORKERS = max(2, min(8, (os.cpu_count() or 2) - 1))
#: The line a job waits in, and its threads.
Priority = Literal["tree", "short", "path", "bulk"]
THREADS: dict[Priority, int] = {
    "tree": 4,  # a tree on screen, or its release
    "short": 2,  # seconds of work in the server's own process
    "path": 1,  # the tree on screen at other epsilons: seconds of work in worker processes, one at a time
    "bulk": 1,  # sweeps, maps, attacks, certificates, searches: in worker processes of lower priority where it can
}
#: Below this share there is no estimate of the time left.
MIN_SHARE = 0.03
#: Seconds between two polls: of a first result that somebody waits for, of other work, where only the end is news, in line.
EVERY_FIRST, EVERY, EVERY_AT_END, EVERY_IN_LINE = 0.4, 1.0, 2.0, 5.0
#: Of so many parts, what they give is drawn anew when there is so many times as much: the browser makes a chart from scratch.
MANY, MORE = 200, 1.5
STALE = "Settings have changed since: what is shown is stale."
Run = Callable[[Sequence[Hashable], Progress, Stop], Iterable[tuple[Hashable, "Result"]]]


@dataclass(frozen=True)
class Result:
    """What is known of a part: its value, or why there is none. It is not complete when it was stopped half way."""

    value: Any = None
    complete: bool = True
    problem: DpvizError | None = None


@dataclass(frozen=True)
class Task:
    """Something to compute, in parts that each have a key.

    `run(missing keys, progress, stop)` gives the results as they come, with their keys; progress is told for the part under way.
    """

    name: str  #: A task stops work for another one of its name
    keys: tuple[Hashable, ...]
    run: Run
    priority: Priority = "bulk"
    shared: bool = False  #: Its results are kept for all sessions of the server: never what comes from private rows
    fallback_key: Hashable = None  #: Earlier results of the same key are shown while it has none
    asked: Any = None  #: What was asked, for whoever shows its results later; no rows
    keep: int = 50  #: Most other results that stay


def in_parts(
    name: str, makes: Mapping[Any, Callable[..., Any]], *, is_last: Callable[[Any], bool] | None = None, **more: Any
) -> Task:
    """A task whose parts are made one after the other with `progress` and `stop`; `more` as in Task.

    A problem with one part spares the others. A value returned after the work was stopped is not complete. With `is_last` a part
    is made in steps, each shown until the next; it is complete with the step of which that is true.
    """

    def run(missing: Sequence[Hashable], progress: Progress, stop: Stop) -> Iterator[tuple[Hashable, Result]]:
        for key in missing:
            if is_stopped(stop):
                return
            try:
                made = makes[key](progress=progress, stop=stop)
                if is_last is None:
                    yield key, Result(made, not is_stopped(stop))
                else:
                    yield from ((key, Result(value, is_last(value))) for value in made)
            except (Cancelled, FailedWork):  # no answer: what was asked may be asked again
                raise
            except DpvizError as problem:
                yield key, Result(problem=problem.with_traceback(None))

    return Task(name, tuple(makes), run, **more)


def in_one(name: str, key: Hashable, make: Callable[..., Any], **more: Any) -> Task:
    """A task of one part; `more` as in `in_parts`."""
    return in_parts(name, {key: make}, **more)


# --- jobs and their threads


class Job:
    """Work that waits, runs or is done; `share` in [0, 1] is how much is done.

    `error` is what the work raised, FailedWork for what it should never raise; Cancelled where it was stopped before the end.
    """

    def __init__(self, work: Callable[[Progress, Stop], None]) -> None:
        self.share = 0.0
        self.error: DpvizError | None = None
        self.is_stopped = False  #: It was asked to stop
        self.began: float | None = None  #: None while it waits in line
        self._work: Callable[[Progress, Stop], None] | None = work
        self._done = Event()
        #: Waits at most so many seconds; True when it ended, in whatever way.
        self.wait = self._done.wait

    def run(self) -> None:
        """Do the work, in the thread that calls."""
        work, self._work = self._work, None  # it may hold rows, which must not outlive it
        try:
            if work is None or self.is_stopped:
                raise Cancelled
            self.began = monotonic()
            work(self._tell, lambda: self.is_stopped)
        except DpvizError as error:
            self.error = error.with_traceback(None)  # which would hold rows
        except MemoryError:
            self.error = FailedWork("memory")
        except BaseException as error:
            place = "".join(format_tb(error.__traceback__))
            logging.getLogger(__name__).error("%s in work off the page, at\n%s", type(error).__name__, place)
            self.error = FailedWork("internal")
        finally:
            del work
            self._done.set()

    def _tell(self, share: float) -> None:
        self.share = min(1.0, max(self.share, share))

    def stop(self) -> None:
        """Ask it to stop. Work in line never starts and lets go of its rows at once; work under way ends when it next asks."""
        self.is_stopped = True
        self._work = None

    @property
    def is_done(self) -> bool:
        """True when it ended, in whatever way."""
        return self._done.is_set()


class Pool:
    """The threads of a server, and a line before those of each priority."""

    def __init__(self) -> None:
        self.lines: dict[Priority, SimpleQueue[Job | None]] = {priority: SimpleQueue() for priority in THREADS}
        for priority, line in self.lines.items():
            for _ in range(THREADS[priority]):
                # daemons: the server may end while work is under way, which `concurrent.futures` would not let it
                Thread(target=_serve, args=(line,), name=f"dpviz_{priority}", daemon=True).start()

    def submit(self, priority: Priority, work: Callable[[Progress, Stop], None]) -> Job:
        """Put work in line."""
        job = Job(work)
        self.lines[priority].put(job)
        return job


def _serve(line: SimpleQueue[Job | None]) -> None:
    """Do what stands in line, until there is a None in it."""
    while (job := line.get()) is not None:
        job.run()
        del job


@st.cache_resource(show_spinner=False)
def shared_pool() -> Pool:
    """The threads of this server."""
    return Pool()


@st.cache_resource(show_spinner=False, ttl=IDLE)
def launch_workers() -> None:
    """Worker processes start, and import packages, before there is work for them: at most once while idle ones are kept."""
    Thread(target=start_workers, args=(WORKERS,), daemon=True).start()


@st.cache_resource(show_spinner=False)
def shared_results() -> dict[str, dict[Hashable, Result]]:
    """Results that any session may show. None of them is about private rows."""
    return {}


# --- the work of one session


@dataclass(frozen=True, eq=False)
class Status:
    """Where a task stands: a result per part, None where there is none yet, and the `job` that waits or runs."""

    results: tuple[Result | None, ...]
    shown: tuple[Any, ...]  #: Values to show: the task's own, else the last ones of its fallback key; empty where there are none
    asked: Any  #: What `shown` answers
    is_current: bool  #: `shown` answers this task, if only in part
    job: Job | None
    was_stopped: bool  #: Work on it ended before it was done
    failure: DpvizError | None  #: Why the work as a whole failed

    @property
    def values(self) -> tuple[Any, ...]:
        """The task's own values as far as they are there, complete or not."""
        return _values(self.results)

    @property
    def problems(self) -> tuple[DpvizError, ...]:
        """Why there is no result of some part, or of all of them."""
        found = (result.problem for result in self.results if result is not None)
        return tuple(problem for problem in (*found, self.failure) if problem is not None)

    @property
    def n_missing(self) -> int:
        """Parts without a result, or with half of one."""
        return sum(result is None or not result.complete for result in self.results)

    @property
    def is_done(self) -> bool:
        """True when every part has its complete value."""
        return not self.n_missing and not self.problems

    @property
    def result(self) -> Any:
        """The first value shown; None when there is none."""
        return self.shown[0] if self.shown else None


def _values(results: Iterable[Result | None]) -> tuple[Any, ...]:
    return tuple(result.value for result in results if result is not None and result.problem is None)


@dataclass
class Work:
    """Of one session, by name of the task."""

    jobs: dict[str, tuple[Job, tuple[Hashable, ...]]] = field(default_factory=dict)  #: The last job, and the keys it is for
    #: By fallback key, too: the keys that were shown last, and what they answer.
    last: dict[tuple[str, Hashable], tuple[tuple[Hashable, ...], Any]] = field(default_factory=dict)
    results: dict[str, dict[Hashable, Result]] = field(default_factory=dict)

    def stop(self) -> None:
        """Stop every job: the browser went away."""
        for job, _ in self.jobs.values():
            job.stop()


def _work() -> Work:
    if "_work" not in st.session_state:
        st.session_state["_work"] = Work()
    return while_connected(id(st.session_state["_work"]), st.session_state["_work"])


@st.cache_resource(scope="session", show_spinner=False, on_release=Work.stop)
def while_connected(number: int, _work: Work) -> Work:
    """The work of a session, which stops when its browser goes away."""
    return _work


def _results(task: Task) -> dict[Hashable, Result]:
    """The results among which those of the task are kept."""
    return (shared_results() if task.shared else _work().results).setdefault(task.name, {})


def _job(task: Task) -> Job | None:
    """The last job of the task; one of its name for another task is stopped."""
    job, keys = _work().jobs.get(task.name, (None, ()))
    if job is None or keys == task.keys:
        return job
    job.stop()
    return None


def start(task: Task, *, again: bool = False) -> None:
    """Work on what is missing of a task, or (`again`) on all of it anew. Other work of its name is stopped."""
    job, results = _job(task), _results(task)
    if job is not None and not job.is_done and not job.is_stopped:
        return
    keys = set(task.keys)
    others = [key for key in list(results) if key not in keys]
    for key in others[: max(0, len(others) - task.keep)]:  # the oldest
        results.pop(key, None)

    def compute(progress: Progress, stop: Stop) -> None:
        # asked for when the work begins: while it was in line, another session may have found the results
        found = {} if again else dict(results)
        missing = [key for key in task.keys if key not in found or not found[key].complete or found[key].problem]
        if not missing:
            return
        n_done = 0

        def tell(share: float) -> None:
            progress((n_done + share) / len(missing))

        for key, result in task.run(missing, tell, stop):
            results.pop(key, None)  # what is newest stands last
            results[key] = result
            n_done += result.complete or result.problem is not None
            tell(0.0)
        if n_done < len(missing) or is_stopped(stop):
            raise Cancelled

    _work().jobs[task.name] = shared_pool().submit(task.priority, compute), task.keys


def state(task: Task) -> Status:
    """Where a task stands. Work of its name for another task is stopped; what it has done stays.

    Part of a result is current once work on the rest was begun; until then the last results are shown.
    """
    work, kept, job = _work(), _results(task), _job(task)
    is_done = job is not None and job.is_done  # before the results, which are there once it is done
    failure = job.error if job is not None and is_done else None
    was_stopped = isinstance(failure, Cancelled) or (job is not None and not is_done and job.is_stopped)
    results = tuple(kept.get(key) for key in task.keys)
    values, last = _values(results), (task.name, task.fallback_key)
    keys, asked = work.last.get(last, ((), None))
    is_complete = all(result is not None and result.complete for result in results)
    is_current = bool(values) and (is_complete or task.keys == keys or job is not None)
    if is_current:
        work.last[last] = task.keys, task.asked
        shown, asked = values, task.asked
    else:
        shown = _values(kept.get(key) for key in keys)
    running, failure = None if is_done or was_stopped else job, None if was_stopped else failure
    return Status(results, shown, asked, is_current, running, was_stopped, failure)


def autostart(task: Task, seconds: float = 0.0) -> Status:
    """Begin what is missing of a task unless that was stopped or failed, and wait a moment for a first result.

    Where no other is to come, it is the end of the work that is waited for, which comes just after.
    """
    status = state(task)
    if status.n_missing and status.job is None and not status.was_stopped and status.failure is None:
        start(task)
    until = monotonic() + seconds
    while (status := state(task)).job is not None and monotonic() < until:
        has_first = any(result is not None for result in status.results)
        if (has_first and status.n_missing) or status.job.wait(min(0.05, seconds)):
            break
    return state(task)


def values_of(task: Task) -> tuple[Any, ...]:
    """The values there are, whatever work there is."""
    return _values(map(_results(task).get, task.keys))


def all_values(name: str) -> tuple[Any, ...]:
    """Every value that the session keeps under a name, oldest first."""
    return _values(_work().results.get(name, {}).values())


def forget(task: Task) -> None:
    """Let go of what a task found, and of its job: somebody has taken it, or wants it tried anew."""
    for key in task.keys:
        _results(task).pop(key, None)
    _work().jobs.pop(task.name, None)
    _work().last.pop((task.name, task.fallback_key), None)


# --- work on its page. What is said of it stands in a container that is there without any, too: Streamlit makes everything below
# anew when an element more or less stands above it, which would close an open list under the user's hand.

wait_in_turn()


def watch(
    task: Task,
    label: str,
    *,
    unit: str = "",
    render: Callable[[Status], Any] | None = None,
    at_end: bool = False,
    may_stop: bool = True,
) -> None:
    """Progress and Cancel while there is work on a task. The page is drawn again whenever a part is done, and at the end.

    `unit` is what the parts are called, where they are counted instead of a percentage. `render` draws the results so far below
    the progress; then the page is drawn again with the first result and at the end. With `at_end` it is at the end only. No
    Cancel without `may_stop`.
    """
    before, place = state(task), st.container()
    if before.job is None:
        return
    is_many, picture = render is not None and len(task.keys) >= MANY, before
    is_awaited, is_in_line = not before.values, is_many and before.job.began is None
    often = EVERY_FIRST if task.priority == "tree" or is_awaited else EVERY_IN_LINE if is_in_line else EVERY

    @st.fragment(run_every=EVERY_AT_END if at_end else often)
    def poll() -> None:
        nonlocal picture
        status = state(task)
        is_news = (is_awaited and status.values) or (render is None and status.n_missing < before.n_missing)
        begins = is_in_line and status.job is not None and status.job.began is not None
        if status.job is None or ((is_news or begins) and not at_end):
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center"):
            share = 0.0 if status.job is None else status.job.share
            st.progress(share, text=f":material/hourglass_top: {label}, {_progress_text(status, unit)} …")
            kept = "What is done is kept." if len(task.keys) > 1 else None
            if may_stop and st.button("Cancel", key=f"cancel-{task.name}", help=kept) and status.job is not None:
                status.job.stop()
                st.rerun()
        if render is not None and status.values:
            if not is_many or len(status.values) >= MORE * len(picture.values):
                picture = status
            render(picture)

    with place:
        poll()


def _progress_text(status: Status, unit: str) -> str:
    job, n_parts = status.job, len(status.results)
    if job is None or job.began is None:
        return "waiting for other work on this server"
    done = f"{n_parts - status.n_missing:,} of {n_parts:,} {unit}" if unit else f"{job.share:.0%}"
    if job.share < MIN_SHARE:
        return done
    seconds = (monotonic() - job.began) * (1 - job.share) / job.share
    left = f"{max(1, math.ceil(seconds)):,} s" if seconds < 90 else f"{seconds / 60:.0f} min"
    return f"{done}, about {left} left"


def start_button(task: Task, label: str, icon: str, *, on_click: Callable[[Task], None] = start) -> Status:
    """The button that begins a task; disabled when nothing is missing, and while there is work on it."""
    status = state(task)
    is_idle = bool(status.n_missing) and status.job is None
    st.button(label, icon=icon, disabled=not is_idle, key=f"begin-{task.name}", on_click=on_click, args=(task,))
    return status


def show(task: Task, label: str, *, stale: str = STALE, render: Callable[[Status], Any] | None = None) -> Status:
    """Watch the work on a task; without any, say why there is no result, or that the one shown is for other settings.

    `render` as for `watch`.
    """
    status = state(task)
    is_stale = bool(status.shown) and not status.is_current
    kept = "What is shown is the answer before." if is_stale else ""
    with st.container():
        watch(task, label, render=render)
        for problem in status.problems:
            error(problem, kept=kept)
        if status.was_stopped and status.n_missing and len(status.results) > 1:
            words = f"Stopped. What was done is kept; {status.n_missing:,} of {len(status.results):,} are missing."
            st.info(words, icon=":material/pause_circle:")
        elif status.was_stopped and not status.values:
            st.info(f"Stopped before there was an answer. {kept}".strip(), icon=":material/pause_circle:")
        elif is_stale and status.job is None and not status.problems and stale:
            st.info(stale, icon=":material/history:")
    return status
